/*
 * The mode in force as dispatches see it, on a stand-in runtime: auto without a viewer, a viewer that comes and goes,
 * every mode into every other one. The application's signals across these changes: no kernel gets another kernel's
 * times, whatever used the signals while the library did not follow them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "runtime_fixture.h"

#include "intercept/worker/mode.h"
#include "intercept/track/app_signals.h"

static struct rtl_control *page; /* as a viewer has it */
static uint16_t requests, heartbeats;

static void say(uint8_t mode)
{
    struct rtl_control_request request = {.heartbeat = heartbeats, .number = requests, .mode = mode};
    __atomic_store_n(&page->word, rtl_control_encode(request), __ATOMIC_RELEASE);
}

static struct rtl_in_force in_force(void)
{
    struct rtl_in_force now;
    assert_true(rtl_in_force_read(__atomic_load_n(&rtl_tool.segment.header->in_force, __ATOMIC_ACQUIRE), &now));
    return now;
}

/* A packet that is no kernel makes the worker read the control page. */
static void nudge(void)
{
    packet_t p = other_packet(HSA_PACKET_TYPE_BARRIER_AND, 1);
    p.completion_signal.handle = 0;
    hand_over(&p, 1);
}

static void wait_for(enum rtl_activity activity, uint16_t number)
{
    for (int i = 0; i < patience() && (in_force().activity != activity || in_force().number != number); i++) {
        nudge();
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    assert_int_equal(in_force().activity, activity);
    assert_int_equal(in_force().number, number);
}

static void change(enum rtl_mode mode)
{
    requests++;
    say((uint8_t)mode);
    wait_for(mode == RTL_MODE_OFF    ? RTL_ACTIVITY_OFF
             : mode == RTL_MODE_AUTO ? RTL_ACTIVITY_COUNTING
                                     : RTL_ACTIVITY_TIMING,
             requests);
    assert_int_equal(in_force().mode, mode);
}

static uint64_t reason(enum rtl_untimed_reason which)
{
    return AT(*rtl_queue_untimed(counters_of(), which));
}

static uint64_t total_ns(void)
{
    return AT(rtl_tool.segment.histograms[RTL_KERNEL_FIRST].total_ns);
}

/* The library follows the application's signals until the last kernel has finished, and a moment longer. */
static void wait_left(void)
{
    for (int i = 0; i < patience() && atomic_load(&rtl_app_signals_followed); i++) {
        requests++; /* keeps the worker awake */
        say(in_force().mode);
        nudge();
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    assert_false(atomic_load(&rtl_app_signals_followed));
}

/* --- tests, in the order of one process's life --- */

static void auto_without_a_viewer_only_counts(void **state)
{
    (void)state;
    setenv("RTL_MODE", "auto", 1);
    fill_tables();
    assert_true(OnLoad(&root, 1, 0, NULL));
    hsa_status_t (*freeze)(hsa_executable_t, const char *) = core.slot[86];
    assert_int_equal(freeze((hsa_executable_t){9}, NULL), HSA_STATUS_SUCCESS);
    assert_non_null(app_queue());
    page =
        mmap(NULL, RTL_CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, (int)rtl_tool.segment.header->control_fd, 0);
    assert_true(page != MAP_FAILED);

    struct rtl_queue *line = counters_of();
    hsa_signal_t signal = app_signal(1);
    amd_signal_t *memory = (amd_signal_t *)(uintptr_t)signal.handle;
    memory->start_ts = memory->end_ts = 5;
    packet_t p[6];
    for (int i = 0; i < 6; i++)
        p[i] = kernel_packet(KERNEL, i % 3 == 1 ? signal.handle : 0);
    for (int i = 0; i < 3; i++) {
        hand_over(&p[i], 1);
        assert_ptr_equal(written_from, &p[i]); /* not even copied */
    }
    hand_over(p, 6);
    assert_ptr_equal(written_from, p);
    assert_int_equal(memory->start_ts, 5); /* its signals are untouched, too */
    assert_int_equal(line->dispatches, 9);
    assert_int_equal(line->packets, 9);
    assert_int_equal(reason(RTL_UNTIMED_UNWATCHED), 9);
    assert_int_equal(sum_untimed(line), 9);
    assert_int_equal(line->injected, 0);
    assert_int_equal(atomic_load(&((struct rtl_tracker *)handler_data)->pool->made), 0);
    assert_int_equal(rtl_tool.segment.dispatches[RTL_KERNEL_FIRST].calls, 9);
    assert_int_equal(rtl_tool.segment.dispatches[RTL_KERNEL_FIRST].untimed, 9);
    app_signal_destroy(signal);
}

static void a_viewer_starts_the_timing(void **state)
{
    (void)state;
    struct rtl_queue *line = counters_of();
    uint64_t before = AT(line->completed);
    for (int i = 0; i < patience() && in_force().activity != RTL_ACTIVITY_TIMING; i++) {
        heartbeats++;
        say(RTL_MODE_NONE);
        nudge();
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    assert_int_equal(in_force().activity, RTL_ACTIVITY_TIMING);
    assert_int_equal(in_force().mode, RTL_MODE_AUTO);
    packet_t p = kernel_packet(KERNEL, 0);
    hand_over(&p, 1);
    assert_int_not_equal(written[0].completion_signal.handle, 0);
    complete(&written[0], 1000000, 700);
    wait_completed(line, before + 1);
    assert_int_equal(total_ns(), 7000);
    assert_true(atomic_load(&((struct rtl_tracker *)handler_data)->pool->made) >= RTL_SIGNALS_START);
    /* no more heartbeats: timing ends while kernels go on */
    for (int i = 0; i < patience() && in_force().activity == RTL_ACTIVITY_TIMING; i++) {
        hand_over(&p, 1);
        if (written[0].completion_signal.handle)
            complete(&written[0], 1000000, 1);
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    assert_int_equal(in_force().activity, RTL_ACTIVITY_COUNTING);
    assert_true(reason(RTL_UNTIMED_UNWATCHED) >= 9);
}

/* A kernel in flight keeps its time when timing ends, also when its signal is reused at once. */
static void a_kernel_in_flight_keeps_its_time_across_a_mode_change(void **state)
{
    (void)state;
    struct rtl_queue *line = counters_of();
    change(RTL_MODE_DEFAULT);
    static const enum rtl_mode down[] = {RTL_MODE_AUTO, RTL_MODE_LITE, RTL_MODE_OFF};
    for (int i = 0; i < 3; i++) {
        uint64_t completed = AT(line->completed), total = total_ns();
        hsa_signal_t signal = app_signal(1), other = app_signal(1);
        packet_t p = kernel_packet(KERNEL, signal.handle), q = kernel_packet(KERNEL, 0);
        packet_t r = kernel_packet(KERNEL, other.handle);
        hand_over(&q, 1);
        packet_t ours = written[0];
        hand_over(&r, 1);
        hand_over(&p, 1);
        change(down[i]);
        complete(&p, 5000000, 100);
        __atomic_store_n(&((amd_signal_t *)(uintptr_t)signal.handle)->value, 1, __ATOMIC_RELAXED);
        hand_over(&p, 1); /* this one isn't timed */
        complete(&p, 6000000, 900000);
        complete(&ours, 7000000, 10);
        complete(&r, 8000000, 1);
        wait_completed(line, completed + 3);
        assert_int_equal(total_ns(), total + 1000 + 100 + 10);
        app_signal_destroy(signal);
        app_signal_destroy(other);
        wait_left();
        change(RTL_MODE_DEFAULT);
    }
}

/* The use of a signal during lite is unknown; later kernels on it are timed if they can be distinguished. */
static void signals_used_in_lite_are_timed_again(void **state)
{
    (void)state;
    struct rtl_queue *line = counters_of();
    change(RTL_MODE_LITE);
    wait_left();
    hsa_signal_t usual = app_signal(1), counter = app_signal(2), copied = app_signal(1);
    packet_t p = kernel_packet(KERNEL, usual.handle), c = kernel_packet(KERNEL, counter.handle);
    packet_t d = kernel_packet(KERNEL, copied.handle);
    uint64_t own = reason(RTL_UNTIMED_OWN_SIGNAL);
    hand_over(&p, 1);
    complete(&p, 1000, 33);
    hand_over(&c, 1); /* in flight: the first of two kernels on one signal */
    app_copy(copied);
    assert_int_equal(reason(RTL_UNTIMED_OWN_SIGNAL), own + 2);

    change(RTL_MODE_DEFAULT);
    uint64_t completed = AT(line->completed), total = total_ns(), shared = reason(RTL_UNTIMED_SHARED_SIGNAL);
    __atomic_store_n(&((amd_signal_t *)(uintptr_t)usual.handle)->value, 1, __ATOMIC_RELAXED);
    hand_over(&p, 1);
    hand_over(&c, 1);
    hand_over(&d, 1);
    complete(&c, 2000, 900000); /* the first one, which the library did not see */
    wait_completed(line, completed + 1);
    assert_int_equal(reason(RTL_UNTIMED_SHARED_SIGNAL), shared + 1);
    complete(&p, 3000, 5);
    complete(&d, 3000, 6);
    wait_completed(line, completed + 3);
    assert_int_equal(total_ns(), total + 50 + 60);
    app_signal_destroy(usual);
    app_signal_destroy(counter);
    app_signal_destroy(copied);
}

static void off_only_passes_packets_on(void **state)
{
    (void)state;
    struct rtl_queue *line = counters_of();
    change(RTL_MODE_OFF);
    uint64_t dispatches = AT(line->dispatches), packets = AT(line->packets), untimed = sum_untimed(line);
    const struct rtl_tracker *tracker = handler_data;
    uint64_t handed_on = tracker->written; /* the queue's fill level depends on this count, so every mode keeps it */
    packet_t p[3] = {kernel_packet(KERNEL, 0), other_packet(HSA_PACKET_TYPE_BARRIER_AND, 0), kernel_packet(KERNEL, 0)};
    p[1].completion_signal.handle = 0;
    hand_over(p, 1);
    assert_ptr_equal(written_from, p);
    hand_over(p, 3);
    assert_ptr_equal(written_from, p);
    assert_int_equal(written_count, 3);
    packet_t *last = &ring[RING - 1]; /* a batch past the end of the ring is joined as in other modes */
    memcpy(last, &p[0], sizeof p[0]);
    memcpy(ring, &p[1], 2 * sizeof p[1]);
    hand_over(last, 3);
    assert_int_equal(written_count, 3);
    assert_memory_equal(written, p, sizeof p);
    assert_int_equal(tracker->written, handed_on + 1 + 3 + 3);
    assert_int_equal(AT(line->dispatches), dispatches);
    assert_int_equal(AT(line->packets), packets);
    assert_int_equal(sum_untimed(line), untimed);
    change(RTL_MODE_AUTO);
    hand_over(p, 3);
    assert_int_equal(AT(line->dispatches), dispatches + 2);
    assert_int_equal(sum_untimed(line), untimed + 2);
}

static _Atomic bool enough;

/* Change modes as fast as requests allow, with invalid words in between. */
static void *changes(void *data)
{
    static const uint8_t modes[] = {RTL_MODE_LITE, RTL_MODE_DEFAULT, RTL_MODE_FULL, RTL_MODE_AUTO};
    (void)data;
    for (uint64_t i = 1; !atomic_load(&enough); i++) {
        uint64_t word =
            rtl_control_encode((struct rtl_control_request){(uint16_t)i, (uint16_t)(i / 50), modes[i / 50 % 4]});
        __atomic_store_n(&page->word, i % 7 ? word : i * 0x9e3779b97f4a7c15ull, __ATOMIC_RELEASE);
    }
    return NULL;
}

enum { THREADS = 3, EACH = 40000 };

/* The application's part: each kernel has a unique duration, derived from the number on its signal. */
static void *dispatches(void *data)
{
    uint64_t *wrong = data;
    hsa_queue_t *queue = app_queue();
    hsa_signal_t signal = app_signal(1);
    amd_signal_t *memory = (amd_signal_t *)(uintptr_t)signal.handle;
    for (uint64_t i = 0; i < EACH; i++) {
        packet_t p = kernel_packet(KERNEL, i % 3 ? 0 : signal.handle);
        __atomic_store_n(&memory->value, 1, __ATOMIC_RELAXED);
        hand_over(&p, 1);
        if (written[0].completion_signal.handle)
            complete(&written[0], 1000000 + i * 100, 10);
        if (i % 3 == 0)
            *wrong += memory->end_ts != 1000000 + i * 100 + 10;
    }
    struct rtl_queue *line = counters_of();
    wait_completed(line, AT(line->injected));
    app_signal_destroy(signal);
    app_queue_destroy(queue);
    return NULL;
}

static void counts_are_exact_during_mode_changes(void **state)
{
    (void)state;
    change(RTL_MODE_DEFAULT);
    struct rtl_queue *queues = rtl_tool.segment.queues;
    uint64_t before = 0, dispatched = 0, untimed = 0, completed = 0, timed = 0, wrong[THREADS] = {0};
    uint64_t count = AT(rtl_tool.segment.histograms[RTL_KERNEL_FIRST].count), total = total_ns();
    for (int q = 0; q < RTL_QUEUES_MAX; q++)
        before += AT(queues[q].dispatches) - sum_untimed(&queues[q]);
    uint64_t was = 0;
    for (int q = 0; q < RTL_QUEUES_MAX; q++)
        was += AT(queues[q].dispatches);
    pthread_t thread[THREADS], changer;
    assert_int_equal(pthread_create(&changer, NULL, changes, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, dispatches, &wrong[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    atomic_store(&enough, true);
    pthread_join(changer, NULL);
    for (int q = 0; q < RTL_QUEUES_MAX; q++) {
        dispatched += AT(queues[q].dispatches);
        untimed += sum_untimed(&queues[q]);
        completed += AT(queues[q].completed);
    }
    timed = AT(rtl_tool.segment.histograms[RTL_KERNEL_FIRST].count) - count;
    assert_int_equal(dispatched - was, THREADS * EACH);
    assert_int_equal(timed, dispatched - untimed - before);
    assert_true(timed > 0 && completed > 0);
    assert_int_equal(total_ns() - total, timed * 100); /* each with its own time */
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(wrong[i], 0);
}

static void the_mode_survives_a_reload(void **state)
{
    (void)state;
    requests += 1000; /* later than the requests of the thread above */
    change(RTL_MODE_LITE);
    OnUnload();
    fill_tables();
    assert_true(OnLoad(&root, 1, 0, NULL));
    hsa_status_t (*freeze)(hsa_executable_t, const char *) = core.slot[86];
    assert_int_equal(freeze((hsa_executable_t){9}, NULL), HSA_STATUS_SUCCESS);
    assert_non_null(app_queue());
    assert_int_equal(in_force().mode, RTL_MODE_LITE);
    assert_false(atomic_load(&rtl_app_signals_followed));
    uint64_t own = reason(RTL_UNTIMED_OWN_SIGNAL);
    hsa_signal_t signal = app_signal(1);
    packet_t p = kernel_packet(KERNEL, signal.handle);
    hand_over(&p, 1);
    assert_int_equal(reason(RTL_UNTIMED_OWN_SIGNAL), own + 1);
    app_signal_destroy(signal);
    change(RTL_MODE_DEFAULT);
    OnUnload();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(auto_without_a_viewer_only_counts),
        cmocka_unit_test(a_viewer_starts_the_timing),
        cmocka_unit_test(a_kernel_in_flight_keeps_its_time_across_a_mode_change),
        cmocka_unit_test(signals_used_in_lite_are_timed_again),
        cmocka_unit_test(off_only_passes_packets_on),
        cmocka_unit_test(counts_are_exact_during_mode_changes),
        cmocka_unit_test(the_mode_survives_a_reload),
    };
    return cmocka_run_group_tests(tests, NULL, free_signals);
}
