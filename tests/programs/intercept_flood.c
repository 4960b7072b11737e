/*
 * intercept_flood.c - floods: QUEUES queues of SIZE packets that one thread keeps full. intercept_flood [LAUNCHES]:
 * that many kernels a queue in each flood. Each line on standard input starts another flood, of other kernels. Prints
 * resident memory in kB when the queues have been full for a while and at the end, the process's CPU time, then the
 * lines of intercept_scenes.
 */
#include "intercept_hsa.h"

#include <sys/resource.h>

enum { QUEUES = 4, SIZE = 16384, KERNELS = 16, FLOODS = FAMILY / KERNELS };

static long resident(void)
{
    char line[256];
    long kb = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmRSS: %ld", &kb) == 1)
            break;
    if (status)
        fclose(status);
    return kb;
}

static long cpu_ms(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000 +
           (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000;
}

static void flood(hsa_queue_t *const *queue, const uint64_t *object, long launches)
{
    for (long i = 0; i < launches; i++) {
        for (int q = 0; q < QUEUES; q++)
            launch(queue[q], object[i % KERNELS]);
        if (i == launches / 8 * 7)
            printf("resident in it %ld\n", resident());
    }
    for (int q = 0; q < QUEUES; q++)
        drain(queue[q]);
}

int main(int argc, char **argv)
{
    static struct family fast;
    hsa_queue_t *queue[QUEUES];
    long launches = argc > 1 ? atol(argv[1]) : 60000;
    int made = 0, c;
    if (!open_runtime())
        die("no GPU");
    load_family(&fast, "fast");
    for (int q = 0; q < QUEUES; q++)
        queue[q] = open_queue(SIZE);
    do {
        if (made == FLOODS)
            die("too many floods");
        flood(queue, fast.object + made * KERNELS, launches);
        printf("resident behind it %ld\ncpu %ld ms\n", resident(), cpu_ms());
        for (int k = 0; k < KERNELS; k++) {
            long each = launches / KERNELS + (k < launches % KERNELS);
            printf("launched fast%02d %ld\n", made * KERNELS + k, QUEUES * each);
        }
        made++;
        printf("holding %d\n", made);
        fflush(stdout);
        c = getchar();
    } while (c != EOF);
    for (int q = 0; q < QUEUES; q++)
        must(hsa_queue_destroy(queue[q]), "destroy");
    unload_family(&fast);
    must(hsa_shut_down(), "shut down");
    return 0;
}
