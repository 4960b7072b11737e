/*
 * How long submitting a dispatch takes: raw HSA, one queue, K kernels in turn, a doorbell each.
 *
 * dispatch_hsa DISPATCHES KERNELS [each | flow | signalled | latency | copies] [hold]: prints
 * "ns_per_dispatch MEDIAN P99 RATE", where the median and the 99th percentile are over chunks of 512 dispatches (of
 * their mean) and RATE is dispatches a second over the whole run with the waits between chunks. The wait after each
 * chunk, which isn't part of the time, keeps the queue from filling up.
 * `each`: chunks of one, so that what a few dispatches have to bear is seen; the clock's own time is in it.
 * With `flow` nothing is waited for but a place in the queue: RATE is then what the slowest part of all keeps up with.
 * `signalled`: each dispatch carries a signal of the program's, which it sets first. `latency`: each dispatch is waited
 * for on its signal, with a spinning thread, and the times are from before the submission to after the wait.
 * `copies`: instead of dispatches, copies of 64 bytes to the GPU, a signal each, in chunks that are waited for.
 * With `hold` the process stays until its standard input is closed.
 */
#include "../programs/intercept_hsa.h"

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

static uint64_t wait_for_one(hsa_queue_t *queue, uint64_t object, hsa_signal_t signal)
{
    uint64_t start = clock_ns();
    hsa_signal_store_relaxed(signal, 1);
    launch_packet(queue, object, signal, BARRIER_BIT, true);
    while (hsa_signal_load_scacquire(signal) >= 1)
        __builtin_ia32_pause();
    return clock_ns() - start;
}

/* What the submission of a chunk of copies takes, a copy: from host memory to what the agents say is the GPU's. */
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
    void *block = NULL;
    load_family(&family, "hsa_");
    for (int i = 0; (signalled || latency || copies) && i < CHUNK; i++)
        must(hsa_signal_create(0, 0, NULL, &own[i]), "signal");
    if (copies) {
        must(hsa_amd_memory_pool_allocate(kernarg_pool, 4096, 0, &block), "memory");
        must(hsa_amd_agents_allow_access(1, &gpu_agent, NULL, block), "access");
    }
    hsa_queue_t *queue = open_queue(4096);
    unsigned long chunks = latency || each ? wanted : wanted / CHUNK + 1, kernel = 0;
    const int in_chunk = each ? 1 : CHUNK;
    double *mean = malloc(chunks * sizeof *mean);

    for (unsigned i = 0; i < 8 * CHUNK; i++) { /* warm up: rows, signals, pages */
        launch(queue, family.object[i % kernels]);
        if (i % CHUNK == CHUNK - 1)
            drain(queue);
    }
    uint64_t begun = clock_ns();
    for (unsigned long c = 0; c < chunks; c++) {
        if (latency) {
            mean[c] = (double)wait_for_one(queue, family.object[c % kernels], own[c % CHUNK]);
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
            launch_packet(queue, family.object[kernel], own[i], BARRIER_BIT, true);
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
    fflush(stdout);
    if (given(argc, argv, "hold"))
        hold();
    for (int i = 0; i < CHUNK && own[i].handle; i++)
        must(hsa_signal_destroy(own[i]), "destroy signal");
    free(mean);
    if (block)
        hsa_amd_memory_pool_free(block);
    must(hsa_queue_destroy(queue), "destroy queue");
    must(hsa_shut_down(), "shut down");
    return 0;
}
