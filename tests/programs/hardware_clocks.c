/*
 * hardware_clocks.c - kernels that spin for a known time by the GPU's own clock, for tests/hardware: hardware_clocks
 * SCENE [--hold].
 *
 * durations  spin_0, spin_1 and spin_2 (100 us, 0.5 ms, 2 ms), thirty times each, one at a time. Prints, in the
 *            GPU's ticks: "launched NAME N"; "clock NAME N MIN", the shortest time between a kernel's first and last
 *            reading of the clock; "stamps NAME N MIN", the same for the times on its signal; "outside N TICKS", how
 *            many kernels read the clock outside of those times, and by how much at most. "executed N of M": N is 0 on
 *            a GPU that does not execute. "hz N": the clock's rate by the runtime's conversion, some percent off.
 * busy       spin_busy, 40 times on each of four queues at once. Prints "lasted NS" (host time from first submission to
 *            last end) and "sum TICKS" (of all durations, which overlap).
 * index      when a queue's read index moves while spin_index runs alone, five times. Prints "ahead N" (beyond the
 *            submitted packets), "back N" (it decreased), "short N" (not moved half a second after the kernel's end),
 *            "past N of M" (polls that found it beyond the running kernel).
 */
#include "intercept_hsa.h"

#include <hsa/amd_hsa_signal.h>
#include <inttypes.h>

enum { REPEATS = 30, LANES = 4, EACH = 40, SLOT = 512, LOOKS = 5 };

static uint64_t objects[5]; /* in the order of names */
static const char *const names[] = {"spin_0", "spin_1", "spin_2", "spin_busy", "spin_index"};
enum { DURATIONS = 3, BUSY = 3, INDEX = 4 };

struct argument { /* a kernel's argument and its results */
    uint64_t ticks, *clocks;
    uint32_t *runs;
    char rest[256]; /* hidden arguments that compilers add */
    uint64_t answer[2];
    uint32_t flag;
};
_Static_assert(sizeof(struct argument) <= SLOT, "one fits into a slot");
static char *arguments; /* LANES * EACH slots */

static struct argument *kernel_argument(unsigned i, uint64_t ticks)
{
    struct argument *a = (struct argument *)(void *)(arguments + (size_t)i * SLOT);
    memset(a, 0, sizeof *a);
    a->ticks = ticks;
    a->clocks = a->answer;
    a->runs = &a->flag;
    return a;
}

/* Convert the GPU's ticks to ns with the runtime. */
static double ns_of_ticks(uint64_t from, uint64_t to)
{
    uint64_t a = 0, b = 0;
    must(hsa_amd_profiling_convert_tick_to_system_domain(gpu_agent, from, &a), "convert");
    must(hsa_amd_profiling_convert_tick_to_system_domain(gpu_agent, to, &b), "convert");
    return (double)b - (double)a;
}

static void load_spins(void)
{
    size_t size;
    hsa_code_object_reader_t reader;
    hsa_executable_t executable;
    char *bytes = read_code("spin", &size);
    must(hsa_code_object_reader_create_from_memory(bytes, size, &reader), "reader");
    must(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &executable),
         "executable");
    must(hsa_executable_load_agent_code_object(executable, gpu_agent, reader, NULL, NULL), "load");
    must(hsa_executable_freeze(executable, NULL), "freeze");
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        char name[32];
        hsa_executable_symbol_t symbol;
        snprintf(name, sizeof name, "%s.kd", names[i]);
        must(hsa_executable_get_symbol_by_name(executable, name, &gpu_agent, &symbol), name);
        must(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &objects[i]), "object");
    }
    must(hsa_amd_memory_pool_allocate(kernarg_pool, LANES * EACH * SLOT, 0, (void **)&arguments), "arguments");
    must(hsa_amd_agents_allow_access(1, &gpu_agent, NULL, arguments), "access");
}

static uint64_t spin(hsa_queue_t *queue, unsigned kernel, struct argument *a, hsa_signal_t signal)
{
    uint64_t index;
    hsa_kernel_dispatch_packet_t *packet = reserve_slot(queue, &index);
    memset((char *)packet + 4, 0, sizeof *packet - 4);
    packet->workgroup_size_x = packet->workgroup_size_y = packet->workgroup_size_z = 1;
    packet->grid_size_x = packet->grid_size_y = packet->grid_size_z = 1;
    packet->kernel_object = objects[kernel];
    packet->kernarg_address = a;
    packet->completion_signal = signal;
    publish_packet(queue, packet, KERNEL_HEADER | BARRIER_BIT, 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS, index,
                   true);
    return index;
}

static void wait_for(hsa_signal_t signal)
{
    while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) >= 1)
        ;
}

static hsa_queue_t *timed_queue(void)
{
    hsa_queue_t *queue = open_queue(256);
    must(hsa_amd_profiling_set_profiler_enabled(queue, true), "profiling");
    return queue;
}

/* The clock's rate, between the ends of two kernels: the runtime converts only recent ticks. */
static uint64_t measure_ticks_a_ms(void)
{
    hsa_queue_t *queue = timed_queue();
    hsa_signal_t signal;
    uint64_t end[2];
    must(hsa_signal_create(0, 0, NULL, &signal), "signal");
    for (int i = 0; i < 2; i++) {
        const amd_signal_t *memory = (const amd_signal_t *)(uintptr_t)signal.handle;
        if (i)
            nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        hsa_signal_store_relaxed(signal, 1);
        spin(queue, BUSY, kernel_argument(0, 0), signal);
        wait_for(signal);
        end[i] = memory->end_ts;
    }
    must(hsa_signal_destroy(signal), "destroy signal");
    must(hsa_queue_destroy(queue), "destroy queue");
    double ns = ns_of_ticks(end[0], end[1]);
    if (end[1] <= end[0] || ns <= 0)
        die("the times of two kernels, one after the other, make no sense");
    return (uint64_t)((double)(end[1] - end[0]) / ns * 1e6 + 0.5);
}

static void scene_durations(uint64_t ticks_a_ms)
{
    static const unsigned tenths[DURATIONS] = {1, 5, 20}; /* tenths of a millisecond */
    hsa_queue_t *queue = timed_queue();
    hsa_signal_t signal;
    unsigned executed = 0, outside = 0;
    int64_t far = 0;
    must(hsa_signal_create(0, 0, NULL, &signal), "signal");
    for (unsigned k = 0; k < DURATIONS; k++) {
        uint64_t clock_min = 0, stamps_min = 0;
        for (unsigned i = 0; i < REPEATS; i++) {
            struct argument *a = kernel_argument(0, ticks_a_ms * tenths[k] / 10);
            const amd_signal_t *memory = (const amd_signal_t *)(uintptr_t)signal.handle;
            hsa_signal_store_relaxed(signal, 1);
            spin(queue, k, a, signal);
            wait_for(signal);
            uint64_t start = memory->start_ts, end = memory->end_ts, stamps = end - start;
            stamps_min = i == 0 || stamps < stamps_min ? stamps : stamps_min;
            if (!a->flag)
                continue;
            uint64_t clock = a->answer[1] - a->answer[0];
            clock_min = clock_min == 0 || clock < clock_min ? clock : clock_min;
            executed++;
            int64_t before = (int64_t)(start - a->answer[0]), behind = (int64_t)(a->answer[1] - end);
            int64_t most = before > behind ? before : behind;
            outside += most > 0;
            far = most > far ? most : far;
        }
        printf("launched %s %d\n", names[k], REPEATS);
        printf("clock %s %d %" PRIu64 "\n", names[k], REPEATS, clock_min);
        printf("stamps %s %d %" PRIu64 "\n", names[k], REPEATS, stamps_min);
    }
    printf("executed %u of %d\noutside %u %" PRId64 "\n", executed, REPEATS * DURATIONS, outside, far);
    must(hsa_signal_destroy(signal), "destroy signal");
    must(hsa_queue_destroy(queue), "destroy queue");
}

static void scene_busy(uint64_t ticks_a_ms)
{
    hsa_queue_t *queue[LANES];
    static hsa_signal_t signals[LANES * EACH];
    uint64_t sum = 0;
    for (unsigned q = 0; q < LANES; q++)
        queue[q] = timed_queue();
    for (unsigned i = 0; i < LANES * EACH; i++)
        must(hsa_signal_create(1, 0, NULL, &signals[i]), "signal");
    uint64_t start = clock_ns();
    for (unsigned i = 0; i < LANES * EACH; i++)
        spin(queue[i % LANES], BUSY, kernel_argument(i, ticks_a_ms / 2), signals[i]);
    for (unsigned i = 0; i < LANES * EACH; i++)
        wait_for(signals[i]);
    uint64_t lasted = clock_ns() - start;
    for (unsigned i = 0; i < LANES * EACH; i++) {
        const amd_signal_t *memory = (const amd_signal_t *)(uintptr_t)signals[i].handle;
        sum += memory->end_ts - memory->start_ts;
        must(hsa_signal_destroy(signals[i]), "destroy signal");
    }
    for (unsigned q = 0; q < LANES; q++)
        must(hsa_queue_destroy(queue[q]), "destroy queue");
    printf("launched spin_busy %d\nlasted %" PRIu64 "\nsum %" PRIu64 "\n", LANES * EACH, lasted, sum);
}

static void scene_index(uint64_t ticks_a_ms)
{
    hsa_queue_t *queue = timed_queue();
    hsa_signal_t signal;
    unsigned ahead = 0, back = 0, behind = 0;
    unsigned long looks = 0, past = 0;
    must(hsa_signal_create(0, 0, NULL, &signal), "signal");
    for (unsigned i = 0; i < LOOKS; i++) {
        struct argument *a = kernel_argument(0, ticks_a_ms * 2);
        hsa_signal_store_relaxed(signal, 1);
        uint64_t index = spin(queue, INDEX, a, signal), last = index;
        uint64_t begun = 0;
        while (hsa_signal_load_scacquire(signal) >= 1) {
            uint64_t at = hsa_queue_load_read_index_scacquire(queue);
            ahead += at > index + 1;
            back += at < last;
            last = at;
            /* Half a millisecond into the kernel its launch is complete. */
            if (!begun && __atomic_load_n(&a->flag, __ATOMIC_ACQUIRE))
                begun = clock_ns();
            if (begun && clock_ns() - begun > 500000) {
                looks++;
                past += at > index;
            }
        }
        for (uint64_t until = clock_ns() + 500000000ull; last <= index && clock_ns() < until;)
            last = hsa_queue_load_read_index_scacquire(queue);
        behind += last <= index;
    }
    printf("launched spin_index %d\nahead %u\nback %u\nshort %u\npast %lu of %lu\n", LOOKS, ahead, back, behind, past,
           looks);
    must(hsa_signal_destroy(signal), "destroy signal");
    must(hsa_queue_destroy(queue), "destroy queue");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*play)(uint64_t ticks_a_ms);
    } scenes[] = {{"durations", scene_durations}, {"busy", scene_busy}, {"index", scene_index}};
    if (!open_runtime())
        die("no GPU");
    load_spins();
    uint64_t ticks_a_ms = measure_ticks_a_ms();
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        if (argc < 2 || strcmp(argv[1], scenes[i].name) != 0)
            continue;
        printf("hz %" PRIu64 "\n", ticks_a_ms * 1000);
        scenes[i].play(ticks_a_ms);
        puts("hardware_clocks: PASS");
        fflush(stdout);
        if (argc > 2 && strcmp(argv[2], "--hold") == 0)
            hold();
        must(hsa_amd_memory_pool_free(arguments), "free");
        must(hsa_shut_down(), "shut down");
        return 0;
    }
    die("durations, busy or index?");
}
