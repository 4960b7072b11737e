/*
 * Resources returned when a queue is destroyed, a load ends or the process exits, and state carried over to the next
 * queue or load: the slot's counters, signals and stand-ins, busy and idle times, the worker's tallies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime_fixture.h"
#include "intercept/worker/worker.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static bool destroying_works = true, profiling_works = true;
static int joins_refused; /* from now on this many are refused */
static int destroyed, plain_ones, intercept_ones;

static hsa_status_t queue_goes(hsa_queue_t *queue)
{
    (void)queue;
    destroyed++;
    return destroying_works ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
}

static hsa_status_t joins(hsa_queue_t *queue, rtl_packet_handler registered, void *data)
{
    return joins_refused-- > 0 ? HSA_STATUS_ERROR : intercept_register(queue, registered, data);
}

static hsa_status_t makes_plain(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type, rtl_queue_error error,
                                void *data, uint32_t private_segment, uint32_t group_segment, hsa_queue_t **queue)
{
    plain_ones++;
    return plain_queue(agent, size, type, error, data, private_segment, group_segment, queue);
}

static hsa_status_t makes_intercept(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type, rtl_queue_error error,
                                    void *data, uint32_t private_segment, uint32_t group_segment, hsa_queue_t **queue)
{
    intercept_ones++;
    return intercept_queue(agent, size, type, error, data, private_segment, group_segment, queue);
}

static hsa_status_t profiles(hsa_queue_t *queue, int on)
{
    (void)queue, (void)on;
    return profiling_works ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
}

static void load(void)
{
    fill_tables();
    core.slot[7] = (void *)makes_plain;
    core.slot[9] = (void *)queue_goes;
    ext.slot[37] = (void *)makes_intercept;
    ext.slot[2] = (void *)profiles;
    ext.slot[38] = (void *)joins;
    assert_true(OnLoad(&root, 1, 0, NULL));
}

static struct rtl_tracker *the_tap(void)
{
    return handler_data;
}

/* The worker may release a queue's tracker after the destruction has returned. */
static void wait_free(struct rtl_tracker *tracker)
{
    for (int i = 0; i < patience() && atomic_load(&tracker->state) != RTL_TRACKER_FREE; i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    assert_int_equal(atomic_load(&tracker->state), RTL_TRACKER_FREE);
}

static void dispatch_at(uint64_t start, uint64_t ticks)
{
    packet_t p = kernel_packet(KERNEL, 0);
    uint64_t before = AT(counters_of()->completed);
    hand_over(&p, 1);
    complete(&written[0], start, ticks);
    wait_completed(counters_of(), before + 1);
}

/* --- the process exits as most do: without a call to the runtime, which may not call OnUnload --- */

static void see_what_exit_left(void)
{
    const struct rtl_header *header = rtl_tool.segment.header;
    bool wound_up = AT(counters_of()->untimed[RTL_UNTIMED_ABANDONED]) == 1 && AT(counters_of()->completed) == 2 &&
                    AT(rtl_tool.segment.histograms[0].count) + AT(rtl_tool.segment.histograms[1].count) == 1;
    _exit(wound_up && AT(header->state) == RTL_STATE_UNLOADED ? 0 : 1);
}

static void exit_accounts_for_all_dispatches(void **state)
{
    int status = 0;
    (void)state;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        atexit(see_what_exit_left); /* registered before the library's handler: runs after it */
        load();
        packet_t p = kernel_packet(KERNEL, 0);
        app_queue();
        hand_over(&p, 1);
        complete(&written[0], 1000000, 7);
        hand_over(&p, 1);
        exit(3);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* --- queues --- */

static void the_next_queue_in_a_slot_continues_its_counters(void **state)
{
    (void)state;
    load();
    for (uint64_t i = 0; i < 3; i++) {
        hsa_queue_t *queue = app_queue();
        struct rtl_tracker *tracker = the_tap();
        struct rtl_queue *line = counters_of();
        assert_int_equal(tracker->slot, 0);
        assert_int_equal(AT(line->dispatches_before), 3 * i);
        assert_int_equal(AT(line->generation) % 2, 0);
        assert_int_equal(AT(line->generation), atomic_load(&tracker->generation));
        assert_int_equal(AT(line->live), 1);
        assert_int_equal(AT(line->queue_id), 5);
        assert_int_equal(AT(line->real_id), 6);
        assert_int_equal(AT(line->real_key), RTL_QUEUE_KEY(INACTIVE_SIGNAL));
        for (uint64_t n = 0; n < 3; n++)
            dispatch_at(1000000 + 1000 * n, 10);
        app_queue_destroy(queue);
        wait_free(tracker);
        assert_int_equal(AT(line->dispatches), 3 * i + 3);
        assert_int_equal(AT(line->live), 0);
        assert_true(AT(line->destroyed_mono_ns) >= AT(line->created_mono_ns));
    }
}

/*
 * A queue holds a batch of signals and a batch of stand-ins, and returns both. Each queue here has one kernel more in
 * flight than the one before, so that it needs more than completed kernels returned.
 */
static void a_queue_returns_its_signals_and_stand_ins(void **state)
{
    enum { MOST = 40 };
    hsa_signal_t signal[MOST];
    uint64_t created = 0;
    (void)state;
    for (int i = 0; i < MOST; i++)
        signal[i] = app_signal(1);
    for (int i = 0; i < MOST; i++) {
        hsa_queue_t *queue = app_queue();
        struct rtl_tracker *tracker = the_tap();
        struct rtl_pool *pool = tracker->pool;
        uint64_t before = AT(counters_of()->completed);
        packet_t p[MOST];
        for (int n = 0; n <= i; n++) {
            p[n] = kernel_packet(KERNEL, signal[n].handle);
            __atomic_store_n(&((amd_signal_t *)(uintptr_t)signal[n].handle)->value, 1, __ATOMIC_RELAXED);
            hand_over(&p[n], 1);
        }
        for (int n = 0; n <= i; n++)
            complete(&p[n], 2000000 + (uint64_t)n, 10);
        wait_completed(counters_of(), before + (uint64_t)i + 1);
        dispatch_at(2000100, 10);
        app_queue_destroy(queue);
        wait_free(tracker);
        /* the worker returns all of them at the end of the round in which the queue became free */
        for (int n = 0; n < patience() && rtl_pool_free_count(pool) != atomic_load(&pool->created); n++)
            nanosleep(&(struct timespec){0, 1000000}, NULL);
        assert_int_equal(rtl_pool_free_count(pool), atomic_load(&pool->created));
        created = created ? created : atomic_load(&pool->created);
        assert_int_equal(atomic_load(&pool->created), created);
        assert_in_range(atomic_load(&pool->stand_ins), 1, 3 * RTL_SIGNALS_BATCH); /* not a batch for each queue */
    }
    for (int i = 0; i < MOST; i++)
        app_signal_destroy(signal[i]);
}

/* The signal limit grows with each queue and shrinks when it is destroyed; the segment publishes it. A queue's tracker
 * has a ring as large as the queue, also when a smaller tracker is free.
 */
static void the_signal_limit_follows_the_queues(void **state)
{
    static const uint32_t sizes[] = {64, 16384, 64, 1 << 20, UINT32_MAX};
    enum { MANY = sizeof sizes / sizeof sizes[0] };
    const struct rtl_header *header = rtl_tool.segment.header;
    struct rtl_tracker *tracker[MANY];
    int reason = 0;
    struct rtl_gpu *gpu = rtl_gpu_find((hsa_agent_t){77});
    struct rtl_pool *pool = rtl_worker_pool(&reason);
    uint64_t packets = 0, alone = AT(header->signals_limit);
    (void)state;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MANY; i++) {
            tracker[i] = rtl_tracker_open(gpu, pool, RTL_NO_REASON, false, sizes[i]);
            assert_non_null(tracker[i]);
            packets += sizes[i];
            uint32_t limit = rtl_signals_limit(0, packets), slots = tracker[i]->pending.mask + 1;
            assert_true(limit > alone || limit == RTL_SIGNALS_LIMIT);
            assert_int_equal(AT(header->signals_limit), limit);
            assert_int_equal(atomic_load(&pool->limit), limit);
            assert_in_range(slots, sizes[i] < RTL_PENDING_MOST ? sizes[i] : RTL_PENDING_MOST, RTL_PENDING_MOST);
        }
        for (int i = MANY; i-- > 0;) {
            packets -= sizes[i];
            rtl_tracker_close(tracker[i]);
            assert_int_equal(AT(header->signals_limit), rtl_signals_limit(0, packets));
            rtl_worker_settle(tracker[i]);
            wait_free(tracker[i]);
        }
    }
    assert_int_equal(AT(header->signals_limit), alone);
    uint32_t trackers = 0; /* a larger queue's tracker serves a smaller queue, too */
    for (struct rtl_tracker *each = atomic_load(&rtl_trackers); each; each = each->next)
        trackers++;
    assert_in_range(trackers, MANY, 2 * MANY);
}

static void a_queue_whose_destruction_fails_stays_traced(void **state)
{
    (void)state;
    hsa_status_t (*destroy)(hsa_queue_t *) = core.slot[9];
    hsa_queue_t *queue = app_queue();
    struct rtl_tracker *tracker = the_tap();
    struct rtl_queue *line = counters_of();
    destroying_works = false;
    assert_int_equal(destroy(queue), HSA_STATUS_ERROR); /* the runtime's own answer */
    destroying_works = true;
    assert_int_equal(AT(line->live), 1);
    dispatch_at(3000000, 10);
    app_queue_destroy(queue);
    assert_int_equal(AT(line->live), 0);
    wait_free(tracker);
}

static void an_intercept_queue_without_a_handler_is_replaced(void **state)
{
    (void)state;
    uint64_t refused = AT(rtl_tool.segment.header->queues_refused);
    joins_refused = 1;
    destroyed = plain_ones = intercept_ones = 0;
    hsa_queue_t *queue = app_queue();
    assert_ptr_equal(queue, &the_queue);
    assert_int_equal(intercept_ones, 1);
    assert_int_equal(plain_ones, 1); /* the application has this one */
    assert_int_equal(destroyed, 1);
    assert_int_equal(AT(rtl_tool.segment.header->queues_refused), refused + 1);
    app_queue_destroy(queue);
    assert_int_equal(destroyed, 2);
    profiling_works = false;
    queue = app_queue();
    profiling_works = true;
    assert_true(AT(rtl_tool.segment.header->notes) & RTL_NOTE_NOT_PROFILED);
    app_queue_destroy(queue);
}

/* Another tool makes the queues: the library registers on intercept queues, and replaces plain ones. */
static void another_tools_queue_is_joined_or_replaced(void **state)
{
    (void)state;
    uint64_t refused = AT(rtl_tool.segment.header->queues_refused);
    rtl_tool.chained = true;
    for (int plain = 0; plain < 3; plain++) {
        joins_refused = plain;
        destroyed = plain_ones = intercept_ones = 0;
        hsa_queue_t *queue = app_queue();
        assert_ptr_equal(queue, &the_queue);
        assert_int_equal(plain_ones, 1);
        assert_int_equal(intercept_ones, plain > 0);
        assert_int_equal(destroyed, plain > 0); /* the replaced queue, which the application never sees */
        assert_int_equal(AT(rtl_tool.segment.header->queues_refused), refused + (plain == 2));
        app_queue_destroy(queue);
    }
    joins_refused = 0;
    rtl_tool.chained = false;
}

static void a_cooperative_queue_stays_plain(void **state)
{
    (void)state;
    uint64_t refused = AT(rtl_tool.segment.header->queues_refused);
    hsa_queue_t *queue = NULL;
    hsa_status_t (*create)(hsa_agent_t, uint32_t, hsa_queue_type32_t, rtl_queue_error, void *, uint32_t, uint32_t,
                           hsa_queue_t **) = core.slot[7];
    intercept_ones = 0;
    assert_int_equal(create((hsa_agent_t){77}, RING, HSA_QUEUE_TYPE_COOPERATIVE, NULL, NULL, 0, 0, &queue), 0);
    assert_int_equal(intercept_ones, 0);
    assert_int_equal(AT(rtl_tool.segment.header->queues_refused), refused + 1);
    app_queue_destroy(queue);
}

/* A queue opened during the unload, before the worker knows it: its kernels would never be timed. */
static void a_queue_opened_during_the_unload_is_not_timed(void **state)
{
    (void)state;
    rtl_trackers_stop();
    hsa_queue_t *queue = app_queue();
    rtl_trackers_start();
    uint64_t untimed = AT(counters_of()->untimed[RTL_UNTIMED_SHUTDOWN]);
    packet_t p = kernel_packet(KERNEL, 0);
    hand_over(&p, 1);
    assert_int_equal(written[0].completion_signal.handle, 0);
    assert_int_equal(AT(counters_of()->untimed[RTL_UNTIMED_SHUTDOWN]), untimed + 1);
    app_queue_destroy(queue);
    OnUnload();
}

static void the_gpu_is_described(void **state)
{
    const struct rtl_agent *gpu = &rtl_tool.segment.agents[0];
    (void)state;
    assert_int_equal(AT(rtl_tool.segment.header->agent_count), 1);
    assert_string_equal(gpu->name, "gfx000");
    assert_int_equal(gpu->bdf, 3 << 16 | 3); /* this runtime answers 3 to every question, also for domain and address */
    assert_int_equal(gpu->compute_units, 3);
    assert_int_equal(gpu->tick_hz, 100000000);
    assert_int_equal(gpu->agent_handle, 77);
    assert_int_equal(AT(gpu->state), 1);
}

/* --- a second load of the runtime --- */

static uint64_t gaps_of(int class)
{
    return AT(rtl_tool.segment.agents[0].idle[class].count);
}

static void times_and_tallies_continue_in_the_next_load(void **state)
{
    const struct rtl_agent *gpu = &rtl_tool.segment.agents[0];
    const struct rtl_header *header = rtl_tool.segment.header;
    (void)state;
    for (uint64_t i = 0; i < 3; i++) {
        uint64_t busy = AT(gpu->busy_ns), small = gaps_of(0), large = gaps_of(1);
        uint64_t small_ns = AT(gpu->idle[0].total_ns), created = AT(header->signals_created);
        uint64_t cpu = AT(header->worker_cpu_ns), agents = AT(header->agent_count);
        load();
        hsa_queue_t *queue = app_queue();
        dispatch_at(4000000, 100);
        dispatch_at(4000600, 100);  /* 5 us later */
        dispatch_at(4005700, 1000); /* 50 us */
        assert_int_equal(AT(gpu->busy_ns), busy + 12000);
        app_queue_destroy(queue);
        wait_free(the_tap());
        OnUnload();
        assert_int_equal(AT(gpu->busy_ns), busy + 12000);
        assert_int_equal(gaps_of(0), small + 1);
        assert_int_equal(AT(gpu->idle[0].total_ns), small_ns + 5000);
        assert_int_equal(gaps_of(1), large + 1);
        assert_true(AT(header->signals_created) > created);
        assert_int_equal(AT(header->signals_destroyed), AT(header->signals_created)); /* none is in flight */
        assert_true(AT(header->worker_cpu_ns) > cpu);
        assert_int_equal(AT(header->agent_count), agents); /* the same GPU, though its handle may differ */
        assert_int_equal(AT(header->state), RTL_STATE_UNLOADED);
    }
}

/* --- a delayed worker --- */

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RACES_ARE_SEEN 1
#endif
#endif
#if defined(RACES_ARE_SEEN) || defined(__SANITIZE_THREAD__)
enum { RACES = 1 }; /* the runtime's functions and the agent's handle change while a delayed worker uses them */
#else
enum { RACES = 0 };
#endif

static _Atomic bool asked, may_answer;

/* The runtime's conversion of a tick blocks until the test releases it. */
static hsa_status_t answers_late(hsa_agent_t agent, uint64_t tick, uint64_t *time)
{
    atomic_store(&asked, true);
    while (!atomic_load(&may_answer))
        usleep(1000);
    return convert(agent, tick, time);
}

/* The runtime is loaded again while the previous worker still collects: that worker keeps its state, and its results
 * are not lost.
 */
static void a_delayed_worker_keeps_its_state_across_a_load(void **state)
{
    const struct rtl_agent *gpu = &rtl_tool.segment.agents[0];
    uint64_t busy = AT(gpu->busy_ns);
    (void)state;
    if (RACES)
        skip();
    load();
    app_queue();
    const struct rtl_gpu *kept = rtl_gpu_known((hsa_agent_t){77});
    atomic_store(&may_answer, true);
    rtl_tool.hsa.amd_profiling_convert_tick_to_system_domain = answers_late;
    dispatch_at(4000000, 100);
    atomic_store(&may_answer, false);
    atomic_store(&asked, false);
    packet_t p = kernel_packet(KERNEL, 0);
    hand_over(&p, 1);
    complete(&written[0], 4000000 + 1000000000, 100); /* so much later that the library asks the runtime again */
    while (!atomic_load(&asked))
        usleep(1000);
    OnUnload(); /* the unload stops waiting for the worker after a time limit */
    double slope = kept->line.slope;
    uint64_t total = kept->busy.total, hz = kept->rate.hz;
    load();
    app_queue_destroy(app_queue());
    assert_ptr_equal(rtl_gpu_known((hsa_agent_t){77}), kept);
    assert_true(kept->line.slope == slope && slope > 0);
    assert_int_equal(kept->busy.total, total);
    assert_int_equal(kept->rate.hz, hz);
    atomic_store(&may_answer, true);
    OnUnload();
    for (int i = 0; i < patience() && AT(gpu->busy_ns) < busy + 2000; i++)
        usleep(1000);
    assert_int_equal(AT(gpu->busy_ns), busy + 2000);
    bool timed = false; /* after that worker has ended, the next load has its own */
    for (int i = 0; i < patience() && !timed; i++) {
        load();
        hsa_queue_t *queue = app_queue();
        timed = the_tap()->pool != NULL;
        if (timed)
            dispatch_at(4000000, 100);
        else
            usleep(1000);
        app_queue_destroy(queue);
        OnUnload();
    }
    assert_int_equal(AT(gpu->busy_ns), busy + 3000);
}

static hsa_status_t signal_goes_slowly(hsa_signal_t signal)
{
    usleep(20000);
    return signal_gone(signal);
}

/* The unload stops waiting while the worker still destroys signals, however many there are. */
static void an_unload_does_not_wait_for_slow_signals(void **state)
{
    (void)state;
    load();
    rtl_tool.hsa.signal_destroy = signal_goes_slowly;
    hsa_queue_t *queue = app_queue();
    struct rtl_pool *pool = the_tap()->pool;
    assert_non_null(pool);
    dispatch_at(5000000, 100);
    app_queue_destroy(queue);
    OnUnload();
    bool ended = false; /* then the next load has its own worker */
    for (int i = 0; i < patience() && !ended; i++) {
        load();
        rtl_tool.hsa.signal_destroy = signal_goes_slowly;
        queue = app_queue();
        ended = the_tap()->pool != NULL;
        app_queue_destroy(queue);
        OnUnload();
    }
    assert_true(ended);
    assert_true(atomic_load(&pool->destroyed) > 0);
    assert_true(atomic_load(&pool->destroyed) < atomic_load(&pool->made));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_accounts_for_all_dispatches),
        cmocka_unit_test(the_next_queue_in_a_slot_continues_its_counters),
        cmocka_unit_test(a_queue_returns_its_signals_and_stand_ins),
        cmocka_unit_test(the_signal_limit_follows_the_queues),
        cmocka_unit_test(a_queue_whose_destruction_fails_stays_traced),
        cmocka_unit_test(an_intercept_queue_without_a_handler_is_replaced),
        cmocka_unit_test(another_tools_queue_is_joined_or_replaced),
        cmocka_unit_test(a_cooperative_queue_stays_plain),
        cmocka_unit_test(a_queue_opened_during_the_unload_is_not_timed),
        cmocka_unit_test(the_gpu_is_described),
        cmocka_unit_test(times_and_tallies_continue_in_the_next_load),
        cmocka_unit_test(a_delayed_worker_keeps_its_state_across_a_load),
        cmocka_unit_test(an_unload_does_not_wait_for_slow_signals),
    };
    return cmocka_run_group_tests(tests, NULL, free_signals);
}
