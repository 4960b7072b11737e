/*
 * Reports about a queue's dispatches, with known times: gaps and waits, kernels without memory for their times, signals
 * that pass from a timed kernel to an untimed one. Also a queue that must not fill up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { PLACES = 64, NAMES = 64 };
#include "code_objects.h"

#include "intercept/track/kernel_rows.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

enum { KERNELS = 24, OCTAVES = 30 };

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* The system may have no more memory for the segment. */
static _Atomic bool no_memory;
__attribute__((visibility("default"))) int madvise(void *at, size_t length, int advice)
{
    static int (*real)(void *, size_t, int);
    if (atomic_load(&no_memory) && advice == MADV_POPULATE_WRITE) {
        errno = ENOMEM;
        return -1;
    }
    if (!real) {
        void *symbol = dlsym(RTLD_NEXT, "madvise");
        memcpy(&real, &symbol, sizeof real);
    }
    return real(at, length, advice);
}

/* From now on the runtime may reuse the kernel's address. */
static bool gone_before;
static hsa_status_t executable_goes(hsa_executable_t executable)
{
    gone_before = !rtl_map_find(&rtl_kernel_map, object_of(executable.handle));
    return HSA_STATUS_SUCCESS;
}

static void load(void)
{
    fill_tables();
    core.slot[84] = (void *)executable_goes;
    fill_symbols();
    assert_true(OnLoad(&root, 1, 0, NULL));
    hsa_status_t (*freeze)(hsa_executable_t, const char *) = core.slot[86];
    for (uint64_t i = 0; i < KERNELS; i++)
        assert_int_equal(freeze((hsa_executable_t){i}, NULL), HSA_STATUS_SUCCESS);
}

static const struct rtl_histogram *gaps(void)
{
    return &rtl_tool.segment.histograms[RTL_HISTOGRAM_GAP(((struct rtl_tracker *)handler_data)->slot)];
}

static const struct rtl_histogram *waits(void)
{
    return &rtl_tool.segment.histograms[RTL_HISTOGRAM_WAIT(((struct rtl_tracker *)handler_data)->slot)];
}

static void dispatch_at(uint64_t start, uint64_t ticks)
{
    packet_t p = kernel_packet(object_of(1), 0);
    uint64_t before = AT(counters_of()->completed);
    hand_over(&p, 1);
    complete(&written[0], start, ticks);
    wait_completed(counters_of(), before + 1);
}

static void gaps_are_counted_from_the_latest_end(void **state)
{
    (void)state;
    load();
    hsa_queue_t *queue = app_queue();
    dispatch_at(1000000, 100); /* no gap before the first kernel */
    assert_int_equal(AT(gaps()->count), 0);
    dispatch_at(1000350, 400); /* 250 ticks later */
    assert_int_equal(AT(gaps()->count), 1);
    assert_int_equal(AT(gaps()->total_ns), 2500);
    assert_int_equal(AT(gaps()->min_ns), 2500);
    dispatch_at(1000400, 50); /* beside that one, and ends before it */
    assert_int_equal(AT(gaps()->total_ns), 2500);
    assert_int_equal(AT(gaps()->min_ns), 0);
    dispatch_at(1001750, 10); /* 1000 after the end of the longer one */
    assert_int_equal(AT(gaps()->count), 3);
    assert_int_equal(AT(gaps()->total_ns), 12500);
    assert_int_equal(AT(gaps()->max_ns), 10000);
    dispatch_at(1001760, 10); /* back to back */
    assert_int_equal(AT(gaps()->count), 4);
    assert_int_equal(AT(gaps()->total_ns), 12500);
    struct rtl_tracker *tracker = handler_data;
    app_queue_destroy(queue);
    for (int i = 0; i < patience() && atomic_load(&tracker->state) != RTL_TRACKER_FREE; i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    app_queue(); /* the next queue's first kernel has no gap either */
    dispatch_at(1002000, 10);
    assert_int_equal(AT(gaps()->count), 4);
}

/* Kernels without the barrier bit complete in any order, and new ones arrive meanwhile. */
static void overtaking_kernels_are_all_timed(void **state)
{
    enum { FLYING = 20, SWAPS = 100 };
    static packet_t in_flight[FLYING];
    packet_t p = kernel_packet(object_of(2), 0);
    uint64_t completed = AT(counters_of()->completed);
    (void)state;
    srand(1);
    for (int i = 0; i < FLYING; i++) {
        hand_over(&p, 1);
        in_flight[i] = written[0];
    }
    for (uint64_t i = 0; i < SWAPS; i++) {
        int which = rand() % FLYING;
        complete(&in_flight[which], 1100000 + i * 100, 1);
        wait_completed(counters_of(), ++completed);
        hand_over(&p, 1);
        in_flight[which] = written[0];
    }
    for (int i = 0; i < FLYING; i++)
        complete(&in_flight[i], 1200000, 1);
    wait_completed(counters_of(), completed + FLYING);
}

static void an_unloaded_kernels_address_is_forgotten_in_time(void **state)
{
    (void)state;
    const uint64_t *unknown = &rtl_tool.segment.dispatches[RTL_KERNEL_UNKNOWN].calls;
    packet_t p = kernel_packet(object_of(5), 0);
    uint64_t completed = AT(counters_of()->completed), before = AT(*unknown);
    hsa_status_t (*destroy)(hsa_executable_t) = core.slot[84];
    for (uint64_t i = 0; i < 2; i++) {
        hand_over(&p, 1);
        complete(&written[0], 1500000, 1);
        wait_completed(counters_of(), completed + 1 + i);
        assert_int_equal(AT(*unknown), before + i);
        assert_int_equal(destroy((hsa_executable_t){5}), HSA_STATUS_SUCCESS);
        assert_true(gone_before);
    }
}

static uint64_t boot_ns(void)
{
    uint64_t now;
    info(HSA_SYSTEM_INFO_TIMESTAMP, &now);
    return now;
}

/* From submission to start; this runtime's GPU has its system's clock divided by ten. */
static void waits_are_counted_from_the_submission(void **state)
{
    (void)state;
    dispatch_at(boot_ns() / 10, 1); /* the line to host time is calibrated again */
    for (int i = 0; i < 3; i++) {
        packet_t p = kernel_packet(object_of(1), 0);
        uint64_t before = AT(counters_of()->completed), total = AT(waits()->total_ns), count = AT(waits()->count);
        uint64_t earliest = boot_ns();
        hand_over(&p, 1);
        uint64_t latest = boot_ns();
        while (boot_ns() < latest + 30000000)
            nanosleep(&(struct timespec){0, 1000000}, NULL);
        uint64_t start = (latest + 10000000) / 10; /* it waited 10 ms, and took 20 */
        complete(&written[0], start, boot_ns() / 10 - start);
        wait_completed(counters_of(), before + 1);
        uint64_t waited = AT(waits()->total_ns) - total;
        assert_int_equal(AT(waits()->count), count + 1);
        assert_in_range(waited, 10000000 - 5000000, start * 10 - earliest + 5000000);
    }
}

/* A dispatch that reuses a timed kernel's signal reads its times first, even if it can't be timed itself. */
static void an_untimed_kernel_keeps_the_earlier_times(void **state)
{
    (void)state;
    struct rtl_tracker *tracker = handler_data;
    struct rtl_queue *line = counters_of();
    const struct rtl_histogram *times = &rtl_tool.segment.histograms[RTL_KERNEL_FIRST];
    hsa_signal_t signal = app_signal(1);
    amd_signal_t *memory = (amd_signal_t *)(uintptr_t)signal.handle;
    uint64_t completed = AT(line->completed), total = AT(times->total_ns);
    packet_t p = kernel_packet(object_of(1), signal.handle);
    hand_over(&p, 1);
    complete(&p, 2000000, 12);
    __atomic_store_n(&memory->value, 1, __ATOMIC_RELAXED);
    uint32_t stand_ins = atomic_load(&tracker->pool->stand_ins), at_hand = tracker->stand_ins_cached;
    tracker->stand_ins_cached = 0; /* no stand-in is free */
    atomic_store(&tracker->pool->stand_ins, RTL_SIGNALS_LIMIT);
    hand_over(&p, 1);
    assert_int_equal(AT(line->untimed[RTL_UNTIMED_NO_ROOM]), 1);
    assert_int_equal(memory->start_ts, 0);
    assert_int_equal(memory->end_ts, 0);
    complete(&p, 2000100, 900);
    atomic_store(&tracker->pool->stand_ins, stand_ins);
    tracker->stand_ins_cached = at_hand;
    wait_completed(line, completed + 1);
    assert_int_equal(AT(times->total_ns), total + 120);
    app_signal_destroy(signal);
}

/* An unknown kind of packet may write anything to its signal: its times belong to no kernel from then on. */
static void an_unknown_packets_signal_gives_no_times(void **state)
{
    static const unsigned barrier = HSA_PACKET_TYPE_BARRIER_AND, vendor = HSA_PACKET_TYPE_VENDOR_SPECIFIC;
    (void)state;
    struct rtl_queue *line = counters_of();
    for (int known = 0; known < 2; known++) {
        hsa_signal_t signal = app_signal(1);
        uint64_t shared = AT(line->untimed[RTL_UNTIMED_SHARED_SIGNAL]), completed = AT(line->completed);
        packet_t p = kernel_packet(object_of(1), signal.handle), other = other_packet(known ? barrier : vendor, 1);
        other.setup = 77; /* a vendor's packet format */
        other.completion_signal = signal;
        hand_over(&other, 1);
        complete(&other, 2500000, 100);
        __atomic_store_n(&((amd_signal_t *)(uintptr_t)signal.handle)->value, 1, __ATOMIC_RELAXED);
        hand_over(&p, 1);
        complete(&p, 2600000, 5);
        wait_completed(line, completed + 1);
        assert_int_equal(AT(line->untimed[RTL_UNTIMED_SHARED_SIGNAL]), shared + !known);
        app_signal_destroy(signal);
    }

    /* an invalid slot holds an old packet, or half of a new one */
    hsa_signal_t signal = app_signal(1);
    packet_t invalid = other_packet(HSA_PACKET_TYPE_INVALID, 1);
    invalid.completion_signal = signal;
    complete(&invalid, 2700000, 1);
    hand_over(&invalid, 1);
    assert_int_equal(((amd_signal_t *)(uintptr_t)signal.handle)->start_ts, 2700000);
    uint64_t shared = AT(line->untimed[RTL_UNTIMED_SHARED_SIGNAL]), completed = AT(line->completed);
    packet_t p = kernel_packet(object_of(1), signal.handle);
    hand_over(&p, 1);
    complete(&p, 2800000, 1);
    wait_completed(line, completed + 1);
    assert_int_equal(AT(line->untimed[RTL_UNTIMED_SHARED_SIGNAL]), shared);
    app_signal_destroy(signal);
}

/* Every kind of timed dispatch wakes a parked worker. */
static void each_kind_of_dispatch_wakes_the_worker(void **state)
{
    (void)state;
    hsa_signal_t signal = app_signal(1);
    packet_t p[2] = {kernel_packet(object_of(1), 0), kernel_packet(object_of(1), 0)};
    p[1].completion_signal = signal;
    for (int kind = 0; kind < 3; kind++) {
        uint64_t n = kind == 2 ? 2 : 1, completed = AT(counters_of()->completed);
        for (int i = 0; i < patience() && !AT(rtl_tool.segment.header->parked); i++)
            nanosleep(&(struct timespec){0, 1000000}, NULL);
        assert_int_equal(atomic_load(&rtl_hot.parked), 1);
        __atomic_store_n(&((amd_signal_t *)(uintptr_t)signal.handle)->value, 1, __ATOMIC_RELAXED);
        hand_over(kind == 1 ? &p[1] : p, n);
        assert_int_equal(atomic_load(&rtl_hot.parked), 0); /* it doesn't park while something is in flight */
        for (uint64_t i = 0; i < n; i++)
            complete(&written[i], 3000000 + (uint64_t)kind * 1000, 10);
        wait_completed(counters_of(), completed + n);
    }
    app_signal_destroy(signal);
}

/* On runtimes that need it, a dispatch waits while three quarters of the queue are in use, for a bounded time. */
static void a_full_queue_delays_the_dispatch(void **state)
{
    (void)state;
    static packet_t in_flight[RING];
    struct rtl_tracker *tracker = handler_data;
    struct rtl_tracker *before = tracker;
    rtl_tool.fragile = true; /* as on a runtime before 6.0 */
    app_queue();
    tracker = handler_data;
    assert_ptr_not_equal(tracker, before);
    packet_t p = kernel_packet(object_of(1), 0);
    for (int i = 0; i < RING * 3 / 4 + 1; i++) {
        assert_true(tracker->stuck_at == UINT64_MAX); /* so far none has waited in vain */
        hand_over(&p, 1);
        in_flight[i] = written[0];
    }
    assert_int_equal(tracker->stuck_at, 0);
    for (int i = 0; i < RING * 3 / 4 + 1; i++)
        complete(&in_flight[i], 4000000 + (uint64_t)i, 1);
    wait_completed(counters_of(), RING * 3 / 4 + 1);
    for (int i = 0; i < patience() && AT(rtl_tool.segment.header->signals_peak) < RING * 3 / 4 + 1; i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    assert_int_equal(AT(rtl_tool.segment.header->signals_peak), RING * 3 / 4 + 1); /* the maximum at once */
    rtl_tool.fragile = false;
    OnUnload();
}

/* The present memory is used; from then on kernels are counted as untimed for lack of memory. */
static void times_without_memory_are_counted(void **state)
{
    (void)state;
    struct rtl_queue *line = counters_of();
    uint64_t before = AT(line->dispatches) - sum_untimed(line), timed = 0, n = 0;
    for (int i = 0; i < patience() && !AT(rtl_tool.segment.header->parked); i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    for (uint32_t row = 0; row < RTL_KERNELS_MAX; row++)
        before -= AT(rtl_tool.segment.histograms[row].count); /* of other queues; may be below 0 */
    atomic_store(&no_memory, true);
    for (uint64_t octave = 0; octave < OCTAVES; octave++)
        for (uint64_t kernel = 0; kernel < KERNELS; kernel++, n++) {
            packet_t p = kernel_packet(object_of(kernel), 0);
            uint64_t completed = AT(line->completed);
            hand_over(&p, 1);
            complete(&written[0], 5000000, 16ull << octave);
            wait_completed(line, completed + 1);
        }
    atomic_store(&no_memory, false);
    for (uint32_t row = 0; row < RTL_KERNELS_MAX; row++)
        timed += AT(rtl_tool.segment.histograms[row].count);
    assert_true(AT(line->untimed[RTL_UNTIMED_NO_MEMORY]) > 0);
    assert_true(AT(line->dispatches) - sum_untimed(line) - timed == before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaps_are_counted_from_the_latest_end),
        cmocka_unit_test(overtaking_kernels_are_all_timed),
        cmocka_unit_test(an_unloaded_kernels_address_is_forgotten_in_time),
        cmocka_unit_test(waits_are_counted_from_the_submission),
        cmocka_unit_test(an_untimed_kernel_keeps_the_earlier_times),
        cmocka_unit_test(an_unknown_packets_signal_gives_no_times),
        cmocka_unit_test(each_kind_of_dispatch_wakes_the_worker),
        cmocka_unit_test(times_without_memory_are_counted),
        cmocka_unit_test(a_full_queue_delays_the_dispatch),
    };
    return cmocka_run_group_tests(tests, NULL, free_signals);
}
