/*
 * What somebody observes from outside: a raw HSA program that does as it is told, line by line on standard input.
 *
 * observe_play [QUEUES [PACKETS A RING [plain]]] (plain: the GPU writes no times): makes its queues, loads kernels
 * fast00 to fast99 and says "ready". Then run N EVERY KERNELS US   N dispatches of KERNELS kernels, unevenly, round the
 * queues; every EVERYth carries a signal (0: none); US microseconds of rest after each 16 (so that it lasts) cycle N N
 * times a queue that is made, gets ten dispatches and goes load                     more kernels, more00 to more99, of
 * which `run` takes the next ones done                     waits until everything has completed, tells "launched KERNEL
 * N" and "done" Each is answered by "ok". It ends when standard input does.
 */
#include "intercept_hsa.h"

enum { QUEUES = 120, SIGNALS = 512 };

static struct family families[2];
static unsigned long launched[2][FAMILY];
static hsa_queue_t *queues[QUEUES];
static hsa_signal_t signals[SIGNALS];
static unsigned queue_count = 1, family_count = 1;
static uint64_t state = 1;

static unsigned draw(unsigned below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    unsigned n = (unsigned)(state >> 33);
    unsigned a = n % below, b = n / below % below;
    return a < b ? a : b; /* the first ones more often */
}

static void launch_one(hsa_queue_t *queue, unsigned kernel, hsa_signal_t signal)
{
    struct family *f = &families[family_count - 1];
    launch_packet(queue, f->object[kernel], signal, BARRIER_BIT, true);
    launched[family_count - 1][kernel]++;
}

static void rest(unsigned us)
{
    if (us)
        nanosleep(&(struct timespec){.tv_sec = us / 1000000, .tv_nsec = (long)(us % 1000000) * 1000}, NULL);
}

static void run(unsigned long n, unsigned every, unsigned kernels, unsigned us)
{
    unsigned next = 0;
    for (unsigned long i = 0; i < n; i++) {
        hsa_signal_t signal = {0};
        if (every && i % every == 0) {
            signal = signals[next++ % SIGNALS];
            while (hsa_signal_load_scacquire(signal) > 0)
                sched_yield();
            hsa_signal_store_relaxed(signal, 1);
        }
        launch_one(queues[i % queue_count], draw(kernels), signal);
        if (i % 16 == 15)
            rest(us);
    }
}

static void cycle(unsigned long n)
{
    for (unsigned long i = 0; i < n; i++) {
        hsa_queue_t *queue = open_queue(64);
        for (int k = 0; k < 10; k++) {
            launch_one(queue, (unsigned)k, (hsa_signal_t){0});
            rest(5000);
        }
        drain(queue);
        must(hsa_queue_destroy(queue), "destroy");
    }
}

static void done(void)
{
    static const char *const prefix[] = {"fast", "more"};
    for (unsigned i = 0; i < queue_count; i++)
        drain(queues[i]);
    for (unsigned f = 0; f < family_count; f++)
        for (unsigned k = 0; k < FAMILY; k++)
            if (launched[f][k])
                printf("launched %s%02u %lu\n", prefix[f], k, launched[f][k]);
    puts("done");
}

int main(int argc, char **argv)
{
    char line[128];
    unsigned long n;
    unsigned every, kernels, us, packets = argc > 2 ? (unsigned)atoi(argv[2]) : 4096;
    queue_count = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    if (!queue_count || queue_count > QUEUES)
        die("how many queues?");
    if (!open_runtime())
        die("no GPU");
    load_family(&families[0], "fast");
    for (unsigned i = 0; i < queue_count; i++) {
        queues[i] = open_queue(packets);
        must(hsa_amd_profiling_set_profiler_enabled(queues[i], argc <= 3), "profiling");
    }
    for (int i = 0; i < SIGNALS; i++)
        must(hsa_signal_create(0, 0, NULL, &signals[i]), "signal");
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "run %lu %u %u %u", &n, &every, &kernels, &us) == 4 && kernels && kernels <= FAMILY)
            run(n, every, kernels, us);
        else if (sscanf(line, "cycle %lu", &n) == 1)
            cycle(n);
        else if (strcmp(line, "load\n") == 0 && family_count == 1)
            load_family(&families[family_count++], "more");
        else if (strcmp(line, "done\n") == 0)
            done();
        else
            die("run, cycle, load or done?");
        puts("ok");
        fflush(stdout);
    }
    for (unsigned i = 0; i < queue_count; i++)
        must(hsa_queue_destroy(queues[i]), "destroy");
    must(hsa_shut_down(), "shut down");
    return 0;
}
