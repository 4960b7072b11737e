/*
 * hardware_signals.c - prints what an application reads from its own signals, for tests/hardware: hardware_signals
 * [--hold].
 *
 * 2,048 short kernels of ten names on one queue, 32 at a time; each keeps its signal until all 32 are read. Prints,
 * times in ns:
 *   launched NAME N          own NAME N TOTAL MIN MAX       by hsa_amd_profiling_get_dispatch_time
 *   raw NAME N TOTAL MIN MAX      in the GPU's ticks, from the signals' memory
 *   waits N P50 P99          from before a packet was written to its start, by the same clock
 *   early NS                 the most by which a start preceded its submission (0: none did)
 *   late NS                  the most by which an end followed the moment at which it was observed
 *   backwards N              how many ended before they started
 */
#include "intercept_hsa.h"

#include <hsa/amd_hsa_signal.h>
#include <inttypes.h>

enum { KERNELS = 10, AT_ONCE = 32, ROUNDS = 64 };

static struct own {
    uint64_t count, total, min, max, ticks, ticks_min, ticks_max;
} own[KERNELS];
static uint64_t waits[AT_ONCE * ROUNDS];
static unsigned wait_count, backwards;
static uint64_t early, late;

static uint64_t system_ns(void)
{
    static uint64_t hz;
    uint64_t at;
    if (!hz)
        must(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &hz), "frequency");
    must(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &at), "time");
    return (uint64_t)((double)at * (1e9 / (double)hz));
}

static void add_value(uint64_t *total, uint64_t *min, uint64_t *max, uint64_t count, uint64_t value)
{
    *total += value;
    if (count == 1 || value < *min)
        *min = value;
    if (value > *max)
        *max = value;
}

static void read_one(unsigned kernel, hsa_signal_t signal, uint64_t submitted, uint64_t known)
{
    const amd_signal_t *memory = (const amd_signal_t *)(uintptr_t)signal.handle;
    hsa_amd_profiling_dispatch_time_t time = {0, 0};
    struct own *o = &own[kernel];
    must(hsa_amd_profiling_get_dispatch_time(gpu_agent, signal, &time), "time");
    if (time.end < time.start || memory->end_ts < memory->start_ts) {
        backwards++;
        return;
    }
    o->count++;
    add_value(&o->total, &o->min, &o->max, o->count, time.end - time.start);
    add_value(&o->ticks, &o->ticks_min, &o->ticks_max, o->count, memory->end_ts - memory->start_ts);
    waits[wait_count++] = time.start > submitted ? time.start - submitted : 0;
    if (submitted > time.start && submitted - time.start > early)
        early = submitted - time.start;
    if (time.end > known && time.end - known > late)
        late = time.end - known;
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    struct family family;
    hsa_signal_t signals[AT_ONCE];
    uint64_t submitted[AT_ONCE], known[AT_ONCE];
    if (!open_runtime())
        die("no GPU");
    load_family(&family, "sign");
    hsa_queue_t *queue = open_queue(1024);
    /* A tool enables profiling by itself; without a tool the application must. */
    must(hsa_amd_profiling_set_profiler_enabled(queue, true), "profiling");
    for (int i = 0; i < AT_ONCE; i++)
        must(hsa_signal_create(0, 0, NULL, &signals[i]), "signal");
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < AT_ONCE; i++) {
            hsa_signal_store_relaxed(signals[i], 1);
            submitted[i] = system_ns();
            launch_packet(queue, family.object[(round + i) % KERNELS], signals[i], BARRIER_BIT, true);
        }
        for (unsigned i = 0; i < AT_ONCE; i++) {
            while (hsa_signal_wait_scacquire(signals[i], HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                             HSA_WAIT_STATE_ACTIVE) >= 1)
                ;
            known[i] = system_ns();
        }
        for (unsigned i = 0; i < AT_ONCE; i++)
            read_one((round + i) % KERNELS, signals[i], submitted[i], known[i]);
    }
    qsort(waits, wait_count, sizeof *waits, ascending);
    for (unsigned k = 0; k < KERNELS; k++) {
        const struct own *o = &own[k];
        unsigned launched = 0;
        for (unsigned i = 0; i < AT_ONCE * ROUNDS; i++)
            launched += (i / AT_ONCE + i % AT_ONCE) % KERNELS == k;
        printf("launched sign%02u %u\n", k, launched);
        printf("own sign%02u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", k, o->count, o->total, o->min, o->max);
        printf("raw sign%02u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", k, o->count, o->ticks, o->ticks_min,
               o->ticks_max);
    }
    if (wait_count)
        printf("waits %u %" PRIu64 " %" PRIu64 "\n", wait_count, waits[wait_count / 2], waits[wait_count * 99 / 100]);
    printf("early %" PRIu64 "\nlate %" PRIu64 "\nbackwards %u\n", early, late, backwards);
    puts("hardware_signals: PASS");
    fflush(stdout);
    if (argc > 1 && strcmp(argv[1], "--hold") == 0)
        hold();
    for (int i = 0; i < AT_ONCE; i++)
        must(hsa_signal_destroy(signals[i]), "destroy signal");
    must(hsa_queue_destroy(queue), "destroy queue");
    unload_family(&family);
    must(hsa_shut_down(), "shut down");
    return 0;
}
