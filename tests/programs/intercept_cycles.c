/*
 * intercept_cycles.c - does in seconds what a process does in months: creates and destroys queues and code objects, and
 * uses many queues from many threads.
 *
 * intercept_cycles queues N | executables N | crowd: prints "launched KERNEL N" and "signalled KERNEL N" as
 * intercept_scenes does. For N cycles it also prints "memory CYCLES rss KB maps N fds N" (the process in /proc after a
 * tenth of the cycles, when everything has been used once, and after all) and "reused N" (kernels at the address of an
 * earlier one with another name). Then "holding" until standard input closes.
 */
#include "intercept_hsa.h"

#include <dirent.h>
#include <pthread.h>

static struct family family;

static unsigned long lines_of(const char *path)
{
    unsigned long lines = 0;
    FILE *file = fopen(path, "re");
    if (!file)
        die(path);
    for (int c = getc(file); c != EOF; c = getc(file))
        lines += c == '\n';
    fclose(file);
    return lines;
}

static void print_memory(unsigned long cycles)
{
    unsigned long pages = 0, fds = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file || fscanf(file, "%*u %lu", &pages) != 1)
        die("statm");
    fclose(file);
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
        fds++;
    closedir(folder);
    printf("memory %lu rss %lu maps %lu fds %lu\n", cycles, pages * (unsigned long)sysconf(_SC_PAGESIZE) / 1024,
           lines_of("/proc/self/maps"), fds);
}

/* One queue a cycle; two of three are destroyed with work in flight. */
static void cycle_queues(unsigned long cycles)
{
    unsigned long launched[5] = {0};
    load_family(&family, "hsa_");
    for (unsigned long i = 0; i < cycles; i++) {
        hsa_queue_t *queue = open_queue(64);
        for (unsigned long j = 0; j <= i % 5; j++) {
            launch(queue, family.object[j]);
            launched[j]++;
        }
        if (i % 3 == 0)
            drain(queue);
        must(hsa_queue_destroy(queue), "destroy queue");
        if (i + 1 == cycles / 10 || i + 1 == cycles)
            print_memory(i + 1);
    }
    for (int j = 0; j < 5; j++)
        printf("launched hsa_%02d %lu\n", j, launched[j]);
}

/*
 * Two code objects in turn, with different kernel names that end up at equal addresses. A few are loaded at a time, so
 * that the program need not wait for each.
 */
enum { EACH = 3, AT_ONCE = 8 }; /* kernels dispatched of each executable; executables loaded at a time */

static uint64_t object_of(hsa_executable_t executable, const char *prefix, unsigned index)
{
    char name[16];
    uint64_t object = 0;
    hsa_executable_symbol_t symbol;
    snprintf(name, sizeof name, "%s%02u.kd", prefix, index);
    must(hsa_executable_get_symbol_by_name(executable, name, &gpu_agent, &symbol), name);
    must(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object), name);
    return object;
}

/* True if the previous kernel at that address had another name. */
static bool had_another(uint64_t object, unsigned which)
{
    static struct {
        uint64_t object;
        unsigned which;
    } met[1024];
    for (unsigned i = 0; i < sizeof met / sizeof met[0]; i++) {
        if (met[i].object && met[i].object != object)
            continue;
        bool another = met[i].object && met[i].which != which;
        met[i].object = object;
        met[i].which = which;
        return another;
    }
    return false;
}

static void cycle_executables(unsigned long cycles)
{
    static const char *const prefix[2] = {"odd_", "even"};
    unsigned long launched[2][EACH] = {{0}}, reused = 0;
    hsa_executable_t executable[AT_ONCE] = {{0}};
    struct family image[2];
    for (int i = 0; i < 2; i++) {
        load_family(&image[i], prefix[i]);
        must(hsa_executable_destroy(image[i].executable), "destroy executable");
    }
    hsa_queue_t *queue = open_queue(1024);
    for (unsigned long i = 0; i < cycles; i++) {
        unsigned slot = i % AT_ONCE, which = (i / AT_ONCE + i) % 2;
        if (slot == 0)
            drain(queue);
        if (executable[slot].handle)
            must(hsa_executable_destroy(executable[slot]), "destroy executable");
        must(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL,
                                       &executable[slot]),
             "executable");
        must(hsa_executable_load_agent_code_object(executable[slot], gpu_agent, image[which].reader, NULL, NULL),
             "load");
        must(hsa_executable_freeze(executable[slot], NULL), "freeze");
        for (unsigned k = 0; k < EACH; k++) {
            uint64_t object = object_of(executable[slot], prefix[which], k);
            reused += had_another(object, which);
            for (unsigned long n = 0; n <= (i + k) % 4; n++) {
                launch(queue, object);
                launched[which][k]++;
            }
        }
        if (i + 1 == cycles / 10 || i + 1 == cycles)
            print_memory(i + 1);
    }
    drain(queue);
    for (unsigned i = 0; i < AT_ONCE; i++)
        must(hsa_executable_destroy(executable[i]), "destroy executable");
    for (unsigned i = 0; i < 2; i++)
        for (unsigned k = 0; k < EACH; k++)
            printf("launched %s%02u %lu\n", prefix[i], k, launched[i][k]);
    must(hsa_queue_destroy(queue), "destroy queue");
    printf("reused %lu\n", reused);
}

/* 32 threads with two queues each; every tenth kernel has an application's signal that the thread waits for. */
enum { THREADS = 32, ROUNDS = 5000 };

static void *feed_queues(void *data)
{
    unsigned id = (unsigned)(uintptr_t)data;
    hsa_queue_t *queue[2] = {open_queue(1024), open_queue(256)};
    hsa_signal_t own;
    must(hsa_signal_create(1, 0, NULL, &own), "signal");
    for (unsigned i = 0; i < ROUNDS; i++) {
        if (i % 10 == 9) {
            hsa_signal_store_relaxed(own, 1);
            launch_packet(queue[i / 10 % 2], family.object[50 + id % 4], own, BARRIER_BIT, true);
            while (hsa_signal_wait_scacquire(own, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) >= 1)
                ;
        } else {
            launch(queue[i % 2], family.object[(id + i) % 30]);
        }
    }
    for (int i = 0; i < 2; i++) {
        drain(queue[i]);
        must(hsa_queue_destroy(queue[i]), "destroy queue");
    }
    must(hsa_signal_destroy(own), "destroy signal");
    return NULL;
}

static void crowd(void)
{
    pthread_t thread[THREADS];
    unsigned long launched[FAMILY] = {0};
    load_family(&family, "hsa_");
    for (uintptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, feed_queues, (void *)i) != 0)
            die("no thread");
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        for (unsigned n = 0; n < ROUNDS; n++)
            launched[n % 10 == 9 ? 50 + i % 4 : (i + n) % 30]++;
    }
    for (unsigned k = 0; k < FAMILY; k++)
        if (launched[k])
            printf("%s hsa_%02u %lu\n", k < 50 ? "launched" : "signalled", k, launched[k]);
}

int main(int argc, char **argv)
{
    unsigned long cycles = argc > 2 ? strtoul(argv[2], NULL, 10) : 10000;
    const char *what = argc > 1 ? argv[1] : "";
    if (!open_runtime())
        die("no GPU");
    if (strcmp(what, "queues") == 0)
        cycle_queues(cycles);
    else if (strcmp(what, "executables") == 0)
        cycle_executables(cycles);
    else if (strcmp(what, "crowd") == 0)
        crowd();
    else
        die("queues, executables or crowd");
    hold();
    must(hsa_shut_down(), "shut down");
    return 0;
}
