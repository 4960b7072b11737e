/*
 * The packet handler, called in ways of runtimes that no available release has: batches with barriers and INVALID
 * packets inside, batches past the end of the ring, extended dispatches, queues that come and go during an unload.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime_fixture.h"

/* --- tests, in the order of one process's life --- */

static void onload_hooks_a_new_queue(void **state)
{
    (void)state;
    fill_tables();
    assert_true(OnLoad(&root, 1, 0, NULL));
    assert_ptr_not_equal(core.slot[7], (void *)plain_queue);
    hsa_status_t (*freeze)(hsa_executable_t, const char *) = core.slot[86];
    assert_int_equal(freeze((hsa_executable_t){9}, NULL), HSA_STATUS_SUCCESS);
    assert_ptr_equal(app_queue(), &the_queue);
    assert_non_null(handler);
    assert_int_equal(segment_sizes[0], 0); /* UINT32_MAX isn't passed on */
    assert_int_equal(segment_sizes[1], 0);
}

static void one_packet_is_timed(void **state)
{
    (void)state;
    packet_t p = kernel_packet(KERNEL, 0), before = p;
    hand_over(&p, 1);
    assert_int_equal(writes, 1);
    assert_int_equal(written_count, 1);
    assert_memory_equal(&p, &before, sizeof p); /* the runtime's packet is unchanged */
    assert_int_not_equal(written[0].completion_signal.handle, 0);
    written[0].completion_signal.handle = 0;
    assert_memory_equal(&written[0], &before, sizeof p);

    p = kernel_packet(KERNEL, 0);
    hand_over(&p, 1);
    complete(&written[0], 1000000, 700);
    struct rtl_queue *line = counters_of();
    wait_completed(line, 1);
    uint32_t row = RTL_KERNEL_FIRST;
    assert_int_equal(AT(rtl_tool.segment.histograms[row].count), 1);
    assert_int_equal(AT(rtl_tool.segment.histograms[row].total_ns), 7000);
    assert_int_equal(AT(rtl_tool.segment.kernels[row].name_length), NAME - 3);
    assert_int_equal(line->dispatches, 2);
    assert_int_equal(line->injected, 2);
    assert_int_equal(AT(rtl_tool.segment.dispatches[(uint64_t)0 * RTL_KERNELS_MAX + row].calls), 2);
    assert_int_equal(AT(rtl_tool.segment.dispatches[row].grid[0]), 640);
}

static void a_completed_signal_comes_back(void **state)
{
    (void)state;
    struct rtl_queue *line = counters_of();
    uint64_t before = line->completed, made = atomic_load(&((struct rtl_tracker *)handler_data)->pool->made);
    for (int i = 0; i < 10000; i++) {
        packet_t p = kernel_packet(KERNEL, 0);
        hand_over(&p, 1);
        assert_int_not_equal(written[0].completion_signal.handle, 0);
        complete(&written[0], 2000000 + (uint64_t)i * 100, (uint64_t)(i % 3)); /* a duration of 0 ticks is legal */
        if (i % 16 == 15)
            wait_completed(line, before + (uint64_t)i + 1);
    }
    wait_completed(line, before + 10000);
    assert_int_equal(line->untimed[RTL_UNTIMED_BAD_TIME], 0);
    /* no signal was made for it */
    assert_int_equal(atomic_load(&((struct rtl_tracker *)handler_data)->pool->made), made);
}

static void bad_times_are_counted_as_such(void **state)
{
    (void)state;
    struct rtl_queue *line = counters_of();
    uint64_t before = AT(line->completed);
    packet_t p = kernel_packet(KERNEL, 0);
    hand_over(&p, 1);
    complete(&written[0], 5000, (uint64_t)-100); /* ends before it starts */
    hand_over(&p, 1);
    complete(&written[0], 0, 0); /* never written */
    wait_completed(line, before + 2);
    assert_int_equal(line->untimed[RTL_UNTIMED_BAD_TIME], 2);
}

static void own_signals_and_other_packets_pass_untouched(void **state)
{
    (void)state;
    struct rtl_queue *line = counters_of();
    uint64_t own = line->untimed[RTL_UNTIMED_UNSAFE_SIGNAL], dispatches = line->dispatches, packets = AT(line->packets);
    packet_t p = kernel_packet(KERNEL, 0xabc0); /* an unknown signal: its memory isn't read */
    hand_over(&p, 1);
    assert_ptr_equal(written_from, &p); /* not even copied */
    assert_int_equal(line->untimed[RTL_UNTIMED_UNSAFE_SIGNAL], own + 1);
    for (unsigned type = 0; type < 256; type++) {
        if (type == HSA_PACKET_TYPE_KERNEL_DISPATCH)
            continue;
        packet_t q = other_packet(type, type);
        hand_over(&q, 1);
        assert_ptr_equal(written_from, &q);
        assert_memory_equal(&written[0], &q, sizeof q);
    }
    assert_int_equal(line->dispatches, dispatches + 1);
    assert_int_equal(line->packets, packets + 256);
}

/* The kernel's total shows the last recorded duration. */
static uint64_t total_ns(void)
{
    return AT(rtl_tool.segment.histograms[RTL_KERNEL_FIRST].total_ns);
}

static uint64_t untimed_for(enum rtl_untimed_reason reason)
{
    return AT(counters_of()->untimed[reason]);
}

static void signals_of_the_application_are_read_before_they_are_used_again(void **state)
{
    (void)state;
    struct rtl_queue *line = counters_of();
    hsa_signal_t signal = app_signal(1);
    amd_signal_t *memory = (amd_signal_t *)(uintptr_t)signal.handle;
    packet_t p = kernel_packet(KERNEL, signal.handle), b = other_packet(HSA_PACKET_TYPE_BARRIER_AND, 1);
    b.completion_signal = signal;
    uint64_t completed = AT(line->completed), total = total_ns();

    memory->start_ts = memory->end_ts = 1; /* old values in the signal's memory */
    /* kernel, kernel at once, barrier at once, kernel, copy at once, kernel, destroyed at once */
    for (uint64_t i = 1; i <= 5; i++) {
        __atomic_store_n(&memory->value, 1, __ATOMIC_RELAXED);
        packet_t *next = i == 3 ? &b : &p;
        hand_over(next, 1);
        assert_ptr_equal(written_from, next);
        assert_int_equal(memory->start_ts, 0);
        assert_int_equal(memory->end_ts, 0);
        complete(&written[0], 20000000 + i * 100000, i * 7);
        assert_int_equal(memory->end_ts, 20000000 + i * 100000 + i * 7); /* its values are unchanged */
        if (i == 4) {
            app_copy(signal);
            __atomic_store_n(&memory->start_ts, 3, __ATOMIC_RELAXED); /* a copy kernel leaves times of its own */
            __atomic_store_n(&memory->end_ts, 3, __ATOMIC_RELAXED);
        }
    }
    app_signal_destroy(signal); /* frees it: a sanitizer reports any later read */
    wait_completed(line, completed + 4);
    assert_int_equal(total_ns(), total + 70 * (1 + 2 + 4 + 5));
}

static void signals_on_several_packets_at_once_stay_shared(void **state)
{
    (void)state;
    struct rtl_queue *line = counters_of();
    uint64_t completed = AT(line->completed), shared = untimed_for(RTL_UNTIMED_SHARED_SIGNAL), total = total_ns();
    hsa_signal_t signal = app_signal(2);
    packet_t p[2] = {kernel_packet(KERNEL, signal.handle), kernel_packet(KERNEL, signal.handle)};
    hand_over(p, 2); /* in one batch */
    assert_ptr_equal(written_from, p);
    complete(&written[0], 30000000, 7);
    complete(&written[1], 30000000, 7);
    hand_over(p, 1); /* and alone */
    complete(&written[0], 30000000, 7);
    wait_completed(line, completed + 3);
    assert_int_equal(untimed_for(RTL_UNTIMED_SHARED_SIGNAL), shared + 3);
    app_signal_destroy(signal);

    /* a kernel after a barrier in flight, a copy after a kernel, a kernel after a copy that is waited for */
    for (int i = 0; i < 3; i++) {
        signal = app_signal(2);
        p[0] = other_packet(HSA_PACKET_TYPE_BARRIER_AND, 1);
        p[0].completion_signal = signal;
        p[1] = kernel_packet(KERNEL, signal.handle);
        if (i == 0)
            hand_over(&p[0], 1);
        else if (i == 2)
            app_copy(signal);
        hand_over(&p[1], 1);
        if (i == 1)
            app_copy(signal);
        complete(&written[0], 31000000, 9);
        wait_completed(line, completed + 4 + (uint64_t)i);
        assert_int_equal(untimed_for(RTL_UNTIMED_SHARED_SIGNAL), shared + 4 + (uint64_t)i);
        app_signal_destroy(signal);
    }
    assert_int_equal(total_ns(), total);
}

static void a_barrier_holds_only_the_next_dispatch(void **state)
{
    (void)state;
    const struct rtl_tracker *tracker = handler_data;
    packet_t b = other_packet(HSA_PACKET_TYPE_BARRIER_AND, 1), untimed = kernel_packet(KERNEL, 0x8000);
    hsa_signal_t other = app_signal(1);
    memcpy((char *)&b + offsetof(hsa_barrier_and_packet_t, dep_signal), &other, sizeof other);
    b.completion_signal.handle = 0;
    hand_over(&b, 1);
    assert_int_equal(tracker->barrier, RTL_PENDING_BARRIER);
    hand_over(&untimed, 1);
    assert_int_equal(tracker->barrier, 0);
    app_signal_destroy(other);
}

static void signals_without_times_are_counted_as_such(void **state)
{
    (void)state;
    struct rtl_queue *line = counters_of();
    uint64_t completed = AT(line->completed), gone = untimed_for(RTL_UNTIMED_SIGNAL_GONE);
    uint64_t bad = untimed_for(RTL_UNTIMED_BAD_TIME);
    hsa_signal_t signal = app_signal(1);
    packet_t p = kernel_packet(KERNEL, signal.handle);
    hand_over(&p, 1);
    app_signal_destroy(signal); /* while the kernel runs */
    wait_completed(line, completed + 1);
    assert_int_equal(untimed_for(RTL_UNTIMED_SIGNAL_GONE), gone + 1);

    signal = app_signal(1); /* a queue whose profiling the application switched off */
    p = kernel_packet(KERNEL, signal.handle);
    hand_over(&p, 1);
    __atomic_fetch_sub(&((amd_signal_t *)(uintptr_t)signal.handle)->value, 1, __ATOMIC_RELEASE);
    wait_completed(line, completed + 2);
    assert_int_equal(untimed_for(RTL_UNTIMED_BAD_TIME), bad + 1);
    app_signal_destroy(signal);
}

static void signals_for_other_processes_are_left_alone(void **state)
{
    (void)state;
    uint64_t unsafe = untimed_for(RTL_UNTIMED_UNSAFE_SIGNAL);
    hsa_signal_t signal = {0};
    hsa_status_t (*create)(hsa_signal_value_t, uint32_t, const hsa_agent_t *, uint64_t, hsa_signal_t *) = ext.slot[33];
    any_attributes = true;
    assert_int_equal(create(1, 0, NULL, HSA_AMD_SIGNAL_IPC, &signal), HSA_STATUS_SUCCESS);
    any_attributes = false;
    amd_signal_t *memory = (amd_signal_t *)(uintptr_t)signal.handle;
    memory->start_ts = 5;
    packet_t p = kernel_packet(KERNEL, signal.handle);
    hand_over(&p, 1);
    assert_int_equal(memory->start_ts, 5);
    assert_int_equal(untimed_for(RTL_UNTIMED_UNSAFE_SIGNAL), unsafe + 1);
    app_signal_destroy(signal);
}

/* A packet of an unwatched queue may use any signal: from then on the library leaves all of them alone. */
static void an_unwatched_queue_ends_following_of_signals(void **state)
{
    (void)state;
    struct rtl_queue *line = counters_of();
    uint64_t completed = AT(line->completed), unsafe = untimed_for(RTL_UNTIMED_UNSAFE_SIGNAL), total = total_ns();
    uint64_t shared = untimed_for(RTL_UNTIMED_SHARED_SIGNAL);
    hsa_signal_t over = app_signal(1), under_way = app_signal(1);
    packet_t p = kernel_packet(KERNEL, over.handle), q = kernel_packet(KERNEL, under_way.handle);
    hand_over(&q, 1);
    hand_over(&p, 1);
    complete(&written[0], 40000000, 11);
    intercept_works = false;
    assert_ptr_equal(app_queue(), &the_queue);
    intercept_works = true;
    wait_completed(line, completed + 2);
    assert_int_equal(total_ns(), total + 110);
    assert_int_equal(untimed_for(RTL_UNTIMED_SHARED_SIGNAL), shared + 1);
    hand_over(&p, 1);
    assert_int_equal(untimed_for(RTL_UNTIMED_UNSAFE_SIGNAL), unsafe + 1);
    app_signal_destroy(over);
    app_signal_destroy(under_way);
    assert_int_equal(AT(rtl_tool.segment.header->queues_refused), 1);
}

/* A packet as in the runtime's public headers from step 0x0D on, with the fields at other offsets than a kernel
 * dispatch's.
 */
static packet_t extended_packet(uint64_t own)
{
    static const uint8_t fields[12] = {5, 0, 0, 0, 3, 0, 2, 0, 4, 2, 1, 0}; /* clusters 5 3 2, workgroups 4 2 1 */
    packet_t p = kernel_packet(KERNEL, own);
    p.header = HSA_PACKET_TYPE_VENDOR_SPECIFIC << HSA_PACKET_HEADER_TYPE;
    p.setup = 3; /* amd_format, and a setup of 0 */
    p.workgroup_size_x = 64;
    p.workgroup_size_y = 2;
    p.workgroup_size_z = 1;
    memcpy((char *)&p + 12, fields, sizeof fields);
    return p;
}

static void extended_dispatches_are_decoded_by_their_format(void **state)
{
    (void)state;
    struct rtl_queue *line = counters_of();
    uint64_t dispatches = AT(line->dispatches), completed = AT(line->completed), total = total_ns();
    const struct rtl_dispatches *kernel = &rtl_tool.segment.dispatches[RTL_KERNEL_FIRST];
    uint64_t calls = AT(kernel->calls);
    packet_t p = extended_packet(0), before = p;
    hand_over(&p, 1);
    assert_int_equal(line->dispatches, dispatches + 1);
    assert_int_equal(AT(kernel->calls), calls + 1);
    assert_int_equal(AT(kernel->grid[0]), 5 * 4 * 64);
    assert_int_equal(AT(kernel->grid[1]), 3 * 2 * 2);
    assert_int_equal(AT(kernel->grid[2]), 2 * 1 * 1);
    assert_int_equal(AT(kernel->workgroup[1]), 2);
    complete(&written[0], 50000000, 13);
    written[0].completion_signal.handle = 0;
    assert_memory_equal(&written[0], &before, sizeof p); /* its other fields are unchanged */
    hsa_signal_t signal = app_signal(1);
    p = extended_packet(signal.handle);
    hand_over(&p, 1);
    assert_ptr_equal(written_from, &p);
    complete(&written[0], 50000100, 4);
    wait_completed(line, completed + 2);
    assert_int_equal(total_ns(), total + 130 + 40);
    app_signal_destroy(signal);

    p = extended_packet(0);
    p.setup = 2; /* barrier_value */
    hand_over(&p, 1);
    assert_ptr_equal(written_from, &p);
    rtl_tool.extended = false; /* an older runtime: the format has no meaning there */
    p.setup = 3;
    hand_over(&p, 1);
    rtl_tool.extended = true;
    assert_ptr_equal(written_from, &p);
    assert_int_equal(line->dispatches, dispatches + 2);
}

static void batches_are_decided_packet_by_packet(void **state)
{
    (void)state;
    struct rtl_queue *line = counters_of();
    static const uint64_t sizes[] = {2, 3, 4, 5, 7, 64, 255, 256, 257, 1000, RING};
    srand(3);
    for (unsigned s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        uint64_t n = sizes[s], kernels = 0, foreign = 0, timed = 0;
        packet_t *batch = calloc(n, sizeof *batch), *before = calloc(n, sizeof *batch);
        for (uint64_t i = 0; i < n; i++) {
            int kind = rand() % 7;
            batch[i] = kind == 0   ? other_packet(HSA_PACKET_TYPE_INVALID, i)
                       : kind == 1 ? other_packet(HSA_PACKET_TYPE_BARRIER_AND, i)
                       : kind == 2 ? kernel_packet(KERNEL, 0x8000 + i)
                       : kind == 6 ? kernel_packet(KERNEL, app_signal(1).handle)
                                   : kernel_packet(kind == 3 ? 0x123440 : KERNEL, 0);
            kernels += kind >= 2;
            foreign += kind == 2;
        }
        memcpy(before, batch, n * sizeof *batch);
        uint64_t dispatches = line->dispatches, injected = line->injected,
                 unsafe = AT(line->untimed[RTL_UNTIMED_UNSAFE_SIGNAL]);
        uint64_t completed = AT(line->completed);
        hand_over(batch, n);
        assert_int_equal(writes, 1); /* the runtime's rule: the writer is called once */
        assert_int_equal(written_count, n);
        assert_memory_equal(batch, before, n * sizeof *batch);
        for (uint64_t i = 0; i < n; i++) {
            bool ours = written[i].completion_signal.handle != before[i].completion_signal.handle;
            bool own = before[i].header == HSA_PACKET_TYPE_KERNEL_DISPATCH && !ours &&
                       before[i].completion_signal.handle > 0x8000 + RING;
            if (own) {
                complete(&written[i], 9000000, 5);
                timed++;
            }
            if (ours) {
                assert_int_equal(before[i].completion_signal.handle, 0);
                assert_int_equal(before[i].header, HSA_PACKET_TYPE_KERNEL_DISPATCH);
                complete(&written[i], 9000000, 5);
                timed++;
            }
            written[i].completion_signal = before[i].completion_signal;
        }
        assert_memory_equal(written, before, n * sizeof *batch);
        assert_int_equal(line->dispatches, dispatches + kernels);
        assert_int_equal(line->injected, injected + timed);
        assert_int_equal(line->untimed[RTL_UNTIMED_UNSAFE_SIGNAL], unsafe + foreign);
        assert_int_equal(timed, kernels - foreign);
        wait_completed(line, completed + timed);
        for (uint64_t i = 0; i < n; i++)
            if (before[i].header == HSA_PACKET_TYPE_KERNEL_DISPATCH &&
                before[i].completion_signal.handle > 0x8000 + RING)
                app_signal_destroy(before[i].completion_signal);
        free(batch);
        free(before);
    }
    assert_true(AT(rtl_tool.segment.header->notes) & RTL_NOTE_UNKNOWN_KERNEL); /* 0x123440 */
}

static void batches_larger_than_the_ring_are_only_passed_on(void **state)
{
    (void)state;
    struct rtl_queue *line = counters_of();
    uint64_t batch = line->untimed[RTL_UNTIMED_BATCH], dispatches = AT(line->dispatches);
    uint64_t completed = AT(line->completed);
    for (int i = 0; i < RING; i++)
        ring[i] = kernel_packet(KERNEL, 0);
    written_count = writes = 0;
    handler(&ring[RING - 10], 10, 0, handler_data, take); /* up to the end of the ring: complete */
    assert_int_equal(line->untimed[RTL_UNTIMED_BATCH], batch);
    assert_int_equal(line->dispatches, dispatches + 10);
    for (int i = 0; i < 10; i++)
        complete(&written[i], 9900000, 1);
    wait_completed(line, completed + 10);

    /* larger than the queue: too large to be rewritten */
    static packet_t large[2 * RING];
    for (int i = 0; i < 2 * RING; i++)
        large[i] = kernel_packet(KERNEL, 0);
    hand_over(large, 2 * RING);
    assert_ptr_equal(written_from, large);
    assert_int_equal(line->untimed[RTL_UNTIMED_BATCH], batch + 2 * RING);
}

static uint64_t passed_count;
static void pass_only(const void *packets, uint64_t count)
{
    (void)packets;
    passed_count = count;
}

static void batches_past_the_end_of_the_ring_are_not_read(void **state)
{
    (void)state;
    struct rtl_queue *line = counters_of();
    uint64_t batch = line->untimed[RTL_UNTIMED_BATCH], dispatches = AT(line->dispatches);
    handler(&ring[RING - 3], RING + 1, 0, handler_data, pass_only); /* more than the queue holds */
    assert_int_equal(passed_count, RING + 1);
    assert_int_equal(line->dispatches, dispatches + 3);
    assert_int_equal(line->untimed[RTL_UNTIMED_BATCH], batch + 3);
    handler(&ring[0], 1, 0, handler_data, NULL); /* no writer: no effect and no crash */
    handler(&ring[0], 0, 0, handler_data, pass_only);
    assert_int_equal(passed_count, 0);
}

static void dispatches_of_a_destroyed_queue_are_accounted_for(void **state)
{
    (void)state;
    struct rtl_queue *line = counters_of();
    packet_t p = kernel_packet(KERNEL, 0);
    hand_over(&p, 1);
    hand_over(&p, 1);
    complete(&written[0], 10000000, 10);
    uint64_t gone = AT(line->untimed[RTL_UNTIMED_QUEUE_GONE]);
    app_queue_destroy(&the_queue);
    /* the destruction waits for the worker, but only briefly: on a busy machine the count comes later */
    for (int i = 0; i < 60000 && AT(line->untimed[RTL_UNTIMED_QUEUE_GONE]) < gone + 2; i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    /* one_packet_is_timed left one in flight, and this test another one */
    assert_int_equal(AT(line->untimed[RTL_UNTIMED_QUEUE_GONE]), gone + 2);
    assert_int_equal(line->injected, AT(line->completed));
    assert_int_equal(line->live, 0);
    uint64_t timed = 0;
    for (uint32_t row = 0; row < 4; row++)
        timed += AT(rtl_tool.segment.histograms[row].count);
    assert_int_equal(line->dispatches, timed + sum_untimed(line));
}

static void a_queue_that_cannot_be_intercepted_is_plain(void **state)
{
    (void)state;
    intercept_works = false;
    assert_ptr_equal(app_queue(), &the_queue);
    assert_int_equal(AT(rtl_tool.segment.header->queues_refused), 2);
    assert_true(AT(rtl_tool.segment.header->notes) & RTL_NOTE_QUEUE_NOT_INTERCEPTED);
    app_queue_destroy(&the_queue);
    hardware_works = false;
    assert_null(app_queue()); /* the runtime's own error; nothing to count */
    assert_int_equal(AT(rtl_tool.segment.header->queues_refused), 2);
    intercept_works = hardware_works = true;
}

static void late_calls_after_unloading_do_no_harm(void **state)
{
    (void)state;
    assert_ptr_equal(app_queue(), &the_queue);
    struct rtl_queue *line = counters_of();
    packet_t p = kernel_packet(KERNEL, 0);
    hand_over(&p, 1);
    uint64_t dispatches = AT(line->dispatches);
    hsa_signal_t in_flight = written[0].completion_signal;
    OnUnload();
    signal_gone(in_flight); /* the library never destroys it: a GPU may still write to it */
    assert_int_equal(line->untimed[RTL_UNTIMED_ABANDONED], 1);
    assert_int_equal(AT(rtl_tool.segment.header->state), RTL_STATE_UNLOADED);
    hand_over(&p, 1);
    assert_int_equal(written[0].completion_signal.handle, 0);
    assert_int_equal(line->dispatches, dispatches + 1);
    assert_int_equal(line->untimed[RTL_UNTIMED_SHUTDOWN], 1);
    app_queue_destroy(&the_queue);
    OnUnload();
}

static void a_second_load_continues(void **state)
{
    (void)state;
    void *old = handler_data;
    fill_tables();
    assert_true(OnLoad(&root, 1, 0, NULL));
    assert_true(OnLoad(&root, 1, 0, NULL)); /* listed twice */
    assert_int_equal(AT(rtl_tool.segment.header->state), RTL_STATE_LIVE);
    assert_ptr_equal(app_queue(), &the_queue);
    assert_ptr_not_equal(handler_data, old); /* a late call for the earlier queue is possible */
    packet_t p = kernel_packet(KERNEL, 0);
    handler(&p, 1, 0, old, take);
    struct rtl_queue *line = counters_of();
    uint64_t before = AT(line->completed);
    hand_over(&p, 1);
    complete(&written[0], 11000000, 10);
    wait_completed(line, before + 1);
    app_queue_destroy(&the_queue);
    OnUnload();
}

/* --- queues that come and go while the runtime unloads the library --- */

enum { OPENERS = 3, UNLOADS = 20 };
static _Atomic uint64_t handed_over;
static _Atomic bool enough;

static void *opens_and_closes(void *data)
{
    packet_t p = kernel_packet(KERNEL, 0);
    while (!atomic_load(&enough)) {
        hsa_queue_t *queue = app_queue();
        for (int i = 0; i < 8; i++) {
            hand_over(&p, 1);
            atomic_fetch_add(&handed_over, 1);
            if (written[0].completion_signal.handle && i < 6)
                complete(&written[0], 12000000, 10);
        }
        app_queue_destroy(queue);
    }
    return data;
}

struct sums {
    uint64_t dispatches, timed, untimed;
};

static struct sums add_up(void)
{
    struct sums sums = {0, 0, 0};
    for (uint32_t slot = 0; slot < RTL_QUEUES_MAX; slot++) {
        sums.dispatches += AT(rtl_tool.segment.queues[slot].dispatches);
        sums.untimed += sum_untimed(&rtl_tool.segment.queues[slot]);
    }
    for (uint32_t row = 0; row < 4; row++)
        sums.timed += AT(rtl_tool.segment.histograms[row].count);
    return sums;
}

static void queues_created_and_destroyed_during_unloads_are_accounted_for(void **state)
{
    (void)state;
    struct sums before = add_up();
    for (int round = 0; round < UNLOADS; round++) {
        pthread_t thread[OPENERS];
        fill_tables();
        assert_true(OnLoad(&root, 1, 0, NULL));
        hsa_status_t (*freeze)(hsa_executable_t, const char *) = core.slot[86];
        assert_int_equal(freeze((hsa_executable_t){9}, NULL), HSA_STATUS_SUCCESS);
        atomic_store(&enough, false);
        uint64_t so_far = atomic_load(&handed_over);
        for (uintptr_t i = 0; i < OPENERS; i++)
            assert_int_equal(pthread_create(&thread[i], NULL, opens_and_closes, (void *)i), 0);
        while (atomic_load(&handed_over) < so_far + 20 * OPENERS)
            nanosleep(&(struct timespec){0, 100000}, NULL);
        OnUnload();
        so_far = atomic_load(&handed_over);
        while (atomic_load(&handed_over) < so_far + 20 * OPENERS)
            nanosleep(&(struct timespec){0, 100000}, NULL);
        atomic_store(&enough, true);
        for (int i = 0; i < OPENERS; i++)
            pthread_join(thread[i], NULL);
    }
    struct sums after = add_up();
    assert_int_equal(after.dispatches - before.dispatches, atomic_load(&handed_over));
    assert_int_equal(after.dispatches - before.dispatches, after.timed - before.timed + after.untimed - before.untimed);
    assert_true(after.timed > before.timed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(onload_hooks_a_new_queue),
        cmocka_unit_test(one_packet_is_timed),
        cmocka_unit_test(a_completed_signal_comes_back),
        cmocka_unit_test(bad_times_are_counted_as_such),
        cmocka_unit_test(own_signals_and_other_packets_pass_untouched),
        cmocka_unit_test(signals_of_the_application_are_read_before_they_are_used_again),
        cmocka_unit_test(signals_on_several_packets_at_once_stay_shared),
        cmocka_unit_test(a_barrier_holds_only_the_next_dispatch),
        cmocka_unit_test(signals_without_times_are_counted_as_such),
        cmocka_unit_test(signals_for_other_processes_are_left_alone),
        cmocka_unit_test(extended_dispatches_are_decoded_by_their_format),
        cmocka_unit_test(batches_are_decided_packet_by_packet),
        cmocka_unit_test(batches_larger_than_the_ring_are_only_passed_on),
        cmocka_unit_test(batches_past_the_end_of_the_ring_are_not_read),
        cmocka_unit_test(an_unwatched_queue_ends_following_of_signals),
        cmocka_unit_test(dispatches_of_a_destroyed_queue_are_accounted_for),
        cmocka_unit_test(a_queue_that_cannot_be_intercepted_is_plain),
        cmocka_unit_test(late_calls_after_unloading_do_no_harm),
        cmocka_unit_test(a_second_load_continues),
        cmocka_unit_test(queues_created_and_destroyed_during_unloads_are_accounted_for),
    };
    return cmocka_run_group_tests(tests, NULL, free_signals);
}
