/*
 * Measure the time to submit a dispatch: raw HSA, one queue, K kernels in turn, a doorbell each.
 *
 * dispatch_hsa DISPATCHES KERNELS [each | flow | signalled | latency | batch | threads N | copies | queues | turns]
 * [hold]: prints "ns_per_dispatch MEDIAN P99 RATE". The median and the 99th percentile are over the means of chunks of
 * 512 dispatches; RATE is dispatches per second over the whole run, with the waits between chunks. The wait after each
 * chunk, which is not part of the time, keeps the queue from filling up. `each`: chunks of one, to show slow single
 * dispatches; includes the time of the clock. `flow`: wait only for a place in the queue, so RATE is that of the
 * slowest part. `signalled`: each dispatch carries a signal of the program, which the program sets first. `latency`:
 * wait for the signal of each dispatch with a spinning thread; times are from before the submission to after the wait,
 * and "ns_waited MEDIAN" is the part after the submission. `batch`: 64 packets for each doorbell. `threads N`: N
 * threads, each with a queue on its own GPU (as far as there are enough); the median is over all chunks. `queues`:
 * DISPATCHES on each of 8 queues of 16,384 packets; prints "resident_kb N" after half and after all. `turns`: repeat
 * for each line on standard input, printing one line each, until that is closed. `copies`: copies of 64 bytes to the
 * GPU instead of dispatches, a signal each, waiting after each chunk. `hold`: stay until standard input is closed.
 */
#include "../programs/intercept_hsa.h"

#include <pthread.h>

enum { CHUNK = 512 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool given(int argc, char **argv, const char *word)
{
    for (int i = 3; i < argc; i++)
        if (!strcmp(argv[i], word))
            return true;
    return false;
}

static hsa_signal_t own[CHUNK];

/* Returns the time from before the submission to after the wait; `*waited` becomes the part after the submission. */
static double wait_for_one(hsa_queue_t *queue, uint64_t object, hsa_signal_t signal, double *waited)
{
    uint64_t start = clock_ns();
    hsa_signal_store_relaxed(signal, 1);
    launch_packet(queue, object, signal, BARRIER_BIT, true);
    uint64_t submitted = clock_ns();
    while (hsa_signal_load_scacquire(signal) >= 1)
        __builtin_ia32_pause();
    uint64_t end = clock_ns();
    *waited = (double)(end - submitted);
    return (double)(end - start);
}

/* Returns the time to submit one copy of a chunk, from host memory to the memory that the agents report as the GPU's.
 */
static double copy_chunk(char *block)
{
    for (int i = 0; i < CHUNK; i++)
        hsa_signal_store_relaxed(own[i], 1);
    uint64_t start = clock_ns();
    for (int i = 0; i < CHUNK; i++)
        must(hsa_amd_memory_async_copy(block, gpu_agent, block + 2048, cpu_agent, 64, 0, NULL, own[i]), "copy");
    double mean = (double)(clock_ns() - start) / CHUNK;
    for (int i = 0; i < CHUNK; i++)
        while (hsa_signal_load_scacquire(own[i]) >= 1)
            __builtin_ia32_pause();
    return mean;
}

/* --- many threads --- */

enum { THREADS = 64, BATCH = 64 };
static hsa_agent_t gpus[THREADS];
static unsigned gpu_count;

static hsa_status_t see_gpu(hsa_agent_t agent, void *data)
{
    hsa_device_type_t type;
    (void)data;
    must(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type), "agent");
    if (type == HSA_DEVICE_TYPE_GPU && gpu_count < THREADS)
        gpus[gpu_count++] = agent;
    return HSA_STATUS_SUCCESS;
}

static struct lane {
    pthread_t thread;
    hsa_queue_t *queue;
    const uint64_t *objects;
    double *mean;
    unsigned long chunks;
    pthread_barrier_t *start;
} lanes[THREADS];

static void *submit(void *data)
{
    struct lane *lane = data;
    for (unsigned i = 0; i < 8 * CHUNK; i++) {
        launch(lane->queue, lane->objects[i % FAMILY]);
        if (i % CHUNK == CHUNK - 1)
            drain(lane->queue);
    }
    pthread_barrier_wait(lane->start);
    for (unsigned long c = 0; c < lane->chunks; c++) {
        uint64_t start = clock_ns();
        for (unsigned i = 0; i < CHUNK; i++)
            launch_packet(lane->queue, lane->objects[i % FAMILY], (hsa_signal_t){0}, BARRIER_BIT, true);
        lane->mean[c] = (double)(clock_ns() - start) / CHUNK;
        drain(lane->queue);
    }
    return NULL;
}

static int many_threads(unsigned threads, unsigned long wanted, const struct family *family)
{
    unsigned long chunks = wanted / threads / CHUNK + 1;
    double *mean = malloc(threads * chunks * sizeof *mean);
    pthread_barrier_t start;
    must(hsa_iterate_agents(see_gpu, NULL), "agents");
    pthread_barrier_init(&start, NULL, threads + 1);
    for (unsigned t = 0; t < threads; t++) {
        lanes[t] =
            (struct lane){.objects = family->object, .mean = mean + t * chunks, .chunks = chunks, .start = &start};
        must(hsa_queue_create(gpus[t % gpu_count], 4096, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX,
                              &lanes[t].queue),
             "queue");
        pthread_create(&lanes[t].thread, NULL, submit, &lanes[t]);
    }
    pthread_barrier_wait(&start);
    uint64_t begun = clock_ns();
    for (unsigned t = 0; t < threads; t++)
        pthread_join(lanes[t].thread, NULL);
    double seconds = (double)(clock_ns() - begun) / 1e9;
    qsort(mean, threads * chunks, sizeof *mean, ascending);
    printf("ns_per_dispatch %.1f %.1f %.0f\n", mean[threads * chunks / 2], mean[threads * chunks * 99 / 100],
           (double)threads * (double)chunks * CHUNK / seconds);
    fflush(stdout);
    for (unsigned t = 0; t < threads; t++)
        must(hsa_queue_destroy(lanes[t].queue), "destroy queue");
    must(hsa_shut_down(), "shut down");
    free(mean);
    return 0;
}

/* --- many large queues --- */

static void print_resident(void)
{
    char line[200];
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (!strncmp(line, "VmRSS:", 6))
            printf("resident_kb %ld\n", strtol(line + 6, NULL, 10));
    if (status)
        fclose(status);
}

static int large_queues(unsigned long wanted, const struct family *family)
{
    enum { QUEUES = 8, SLOTS = 16384 };
    hsa_queue_t *queues[QUEUES];
    for (int q = 0; q < QUEUES; q++)
        queues[q] = open_queue(SLOTS);
    for (int half = 0; half < 2; half++) {
        for (int q = 0; q < QUEUES; q++)
            for (unsigned long i = 0; i < wanted / 2; i++) {
                launch(queues[q], family->object[i % FAMILY]);
                if (i % 4096 == 4095 || i + 1 == wanted / 2)
                    drain(queues[q]);
            }
        print_resident();
    }
    for (int q = 0; q < QUEUES; q++)
        must(hsa_queue_destroy(queues[q]), "destroy queue");
    must(hsa_shut_down(), "shut down");
    return 0;
}

/* --- in turns with other processes --- */

static int take_turns(unsigned long wanted, unsigned kernels, const struct family *family)
{
    unsigned long chunks = wanted / CHUNK + 1, kernel = 0;
    double *mean = malloc(chunks * sizeof *mean);
    hsa_queue_t *queue = open_queue(4096);
    if (!mean)
        die("no memory");
    for (int turn = -1; turn < 0 || getchar() != EOF; turn++) { /* turn -1 warms up, without a request */
        uint64_t begun = clock_ns();
        for (unsigned long c = 0; c < chunks; c++) {
            uint64_t start = clock_ns();
            for (int i = 0; i < CHUNK; i++) {
                launch_packet(queue, family->object[kernel], (hsa_signal_t){0}, BARRIER_BIT, true);
                kernel = kernel + 1 == kernels ? 0 : kernel + 1;
            }
            mean[c] = (double)(clock_ns() - start) / CHUNK;
            drain(queue);
        }
        double seconds = (double)(clock_ns() - begun) / 1e9;
        qsort(mean, chunks, sizeof *mean, ascending);
        printf("ns_per_dispatch %.1f %.1f %.0f\n", mean[chunks / 2], mean[chunks * 99 / 100],
               (double)chunks * CHUNK / seconds);
        fflush(stdout);
    }
    must(hsa_queue_destroy(queue), "destroy queue");
    must(hsa_shut_down(), "shut down");
    free(mean);
    return 0;
}

int main(int argc, char **argv)
{
    unsigned long wanted = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
    unsigned kernels = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 100;
    bool flow = given(argc, argv, "flow");
    struct family family;
    if (!open_runtime() || kernels < 1 || kernels > FAMILY)
        die("no GPU, or wrong usage");
    bool signalled = given(argc, argv, "signalled");
    bool latency = given(argc, argv, "latency");
    bool each = given(argc, argv, "each"), copies = given(argc, argv, "copies");
    bool batch = given(argc, argv, "batch");
    void *block = NULL;
    load_family(&family, "hsa_");
    if (given(argc, argv, "turns"))
        return take_turns(wanted, kernels, &family);
    if (given(argc, argv, "queues"))
        return large_queues(wanted, &family);
    if (argc > 4 && !strcmp(argv[3], "threads")) {
        unsigned threads = (unsigned)strtoul(argv[4], NULL, 10);
        if (threads < 1 || threads > THREADS)
            die("1 to 64 threads");
        return many_threads(threads, wanted, &family);
    }
    for (int i = 0; (signalled || latency || copies) && i < CHUNK; i++)
        must(hsa_signal_create(0, 0, NULL, &own[i]), "signal");
    if (copies) {
        must(hsa_amd_memory_pool_allocate(kernarg_pool, 4096, 0, &block), "memory");
        must(hsa_amd_agents_allow_access(1, &gpu_agent, NULL, block), "access");
    }
    hsa_queue_t *queue = open_queue(4096);
    unsigned long chunks = latency || each ? wanted : wanted / CHUNK + 1, kernel = 0;
    const int in_chunk = each ? 1 : CHUNK;
    double *mean = malloc(chunks * sizeof *mean), *waited = calloc(chunks, sizeof *waited);
    if (!mean || !waited)
        die("no memory");

    for (unsigned i = 0; i < 8 * CHUNK; i++) { /* warm up: rows, signals, pages */
        launch(queue, family.object[i % kernels]);
        if (i % CHUNK == CHUNK - 1)
            drain(queue);
    }
    uint64_t begun = clock_ns();
    for (unsigned long c = 0; c < chunks; c++) {
        if (latency) {
            mean[c] = wait_for_one(queue, family.object[c % kernels], own[c % CHUNK], &waited[c]);
            continue;
        }
        if (copies) {
            mean[c] = copy_chunk(block);
            continue;
        }
        uint64_t start = clock_ns();
        for (int i = 0; i < in_chunk; i++) {
            if (signalled)
                hsa_signal_store_relaxed(own[i], 1);
            launch_packet(queue, family.object[kernel], own[i], BARRIER_BIT, !batch || i % BATCH == BATCH - 1);
            kernel = kernel + 1 == kernels ? 0 : kernel + 1;
        }
        mean[c] = (double)(clock_ns() - start) / in_chunk;
        if (each ? c % CHUNK == CHUNK - 1 : !flow || c + 1 == chunks)
            drain(queue);
    }
    double seconds = (double)(clock_ns() - begun) / 1e9;
    qsort(mean, chunks, sizeof *mean, ascending);
    printf("ns_per_dispatch %.1f %.1f %.0f\n", mean[chunks / 2], mean[chunks * 99 / 100],
           (double)chunks * (latency ? 1 : in_chunk) / seconds);
    if (latency) {
        qsort(waited, chunks, sizeof *waited, ascending);
        printf("ns_waited %.1f\n", waited[chunks / 2]);
    }
    fflush(stdout);
    if (given(argc, argv, "hold"))
        hold();
    for (int i = 0; i < CHUNK && own[i].handle; i++)
        must(hsa_signal_destroy(own[i]), "destroy signal");
    free(mean);
    free(waited);
    if (block)
        hsa_amd_memory_pool_free(block);
    must(hsa_queue_destroy(queue), "destroy queue");
    must(hsa_shut_down(), "shut down");
    return 0;
}
