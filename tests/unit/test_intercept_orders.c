/*
 * Lock-free agreements between dispatches and the worker, in every order of steps (interleave.h): parking against a
 * packet pushed just now, and leaving a mode against a dispatch that began before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "interleave.h"

#include "intercept/base/hsa_clock.h"

/* The clock stands still: a bounded wait never times out. */
#define rtl_clock_now() 1000000000ull

/* Compile the sources again, with steps; functions that they call elsewhere are the library's own. */
#define rtl_barrier_everywhere   step_barrier_everywhere
#define rtl_barrier_prepare      step_barrier_prepare
#define rtl_barrier_in_doubt     step_barrier_in_doubt
#define rtl_wake                 step_wake
#define rtl_wakeup_announce      step_wakeup_announce
#define rtl_wakeup_revoke        step_wakeup_revoke
#define rtl_wakeup_sleep         step_wakeup_sleep
#define rtl_packet_make_ready    step_packet_make_ready
#define rtl_packet_refill        step_packet_refill
#define rtl_packet_see_signalled step_packet_see_signalled
#define rtl_packet_see_signal    step_packet_see_signal
#define rtl_packet_see_extended  step_packet_see_extended
#define rtl_packet_more          step_packet_more
#define rtl_packet_more_here     step_packet_more_here
#define rtl_packet_set_probed    step_packet_set_probed
#define rtl_dispatch             step_dispatch
#define rtl_requests_apply       step_requests_apply
#define rtl_requests_policy      step_requests_policy
#define rtl_requests_activity    step_requests_activity
#define rtl_requests_mask        step_requests_mask
#define rtl_mode_start           step_mode_start
#define rtl_mode_again           step_mode_again
#define rtl_mode_apply           step_mode_apply
#define rtl_worker_pool          step_worker_pool
#define rtl_worker_settle        step_worker_settle
#define rtl_worker_stop          step_worker_stop
#define rtl_worker_again         step_worker_again
#define rtl_worker_forget        step_worker_forget

#include "intercept/track/barrier.c"
#include "intercept/track/wakeup.c"
#include "intercept/hooks/packets.c"
#include "intercept/hooks/intercept_queue.c"
#include "intercept/worker/mode.c"
#include "intercept/worker/worker.c"

/* --- one queue, one worker --- */

static struct rtl_collector collector;
static struct rtl_pool *pool;
static struct rtl_recorder *recorder;
static struct rtl_gpu gpu;
static struct rtl_tracker tracker;
static struct rtl_control page;
static amd_signal_t own_signal;
static bool without_membarrier;

static bool make_one(hsa_signal_t *signal)
{
    static amd_signal_t made[RTL_SIGNALS_BATCH]; /* more signals than are ever in use at once */
    static unsigned n;
    signal->handle = (uintptr_t)&made[n++ % RTL_SIGNALS_BATCH];
    return true;
}

static void unmake(hsa_signal_t signal)
{
    (void)signal;
}

static void fill_pool(void)
{
    static const struct rtl_signal_maker maker = {make_one, unmake};
    tracker.pool = pool = rtl_pool_create(&maker, 8);
    rtl_pool_make(pool, tracker.cache, 4);
    rtl_pool_acquire_stand_ins(pool, tracker.stand_ins, 4);
}

static int prepare(void **state)
{
    static const struct rtl_segment_config config = {.mode = RTL_MODE_DEFAULT, .library_version = "test"};
    char why[200];
    (void)state;
    if (rtl_segment_create(&rtl_tool.segment, &config, why, sizeof why) != 0)
        return -1;
    recorder = rtl_recorder_create(&rtl_tool.segment);
    tracker.counters = &rtl_tool.segment.queues[0];
    tracker.dispatches = rtl_tool.segment.dispatches;
    tracker.gpu = &gpu;
    gpu.shared = &rtl_tool.segment.agents[0];
    tracker.pending.slot = calloc(16, sizeof tracker.pending.slot[0]);
    tracker.pending.mask = 15;
    tracker.batch = 4;
    tracker.rows_ready = RTL_KERNEL_FIRST;
    fill_pool();
    rtl_trackers = &tracker;
    return 0;
}

static int clean_up(void **state)
{
    (void)state;
    free(tracker.pending.slot);
    rtl_pool_free(pool);
    rtl_recorder_destroy(recorder);
    return 0;
}

static void set(void)
{
    memset(&collector, 0, sizeof collector);
    collector.pool = pool;
    collector.recorder = recorder;
    tracker.state = RTL_TRACKER_LIVE;
    tracker.reason = RTL_NO_REASON;
    tracker.inside = 0;
    tracker.cached = tracker.stand_ins_cached = 4;
    tracker.pending.tail = tracker.pending.head = 0;
    tracker.pending.head_seen = 0;
    tracker.first = tracker.last = tracker.cursor = RTL_NO_SIGNAL;
    tracker.reading = RTL_NO_SIGNAL;
    tracker.open = 0;
    for (uint32_t i = 0; i < 4; i++) {
        rtl_signal_arm(rtl_pool_signal(pool, tracker.cache[i]));
        rtl_signal_arm(rtl_pool_signal(pool, tracker.stand_ins[i]));
    }
    rtl_app_signal_remove((hsa_signal_t){(uintptr_t)&own_signal});
    memset(&own_signal, 0, sizeof own_signal);
    own_signal.kind = AMD_SIGNAL_KIND_USER;
    own_signal.value = 1;
    rtl_app_signal_add((hsa_signal_t){(uintptr_t)&own_signal});
    rtl_app_signals_start(true);

    completion.state = RUNNING;
    completion.kick = 0;
    doubt = false;
    stepping.no_membarrier = without_membarrier;
    rtl_hot.fence = without_membarrier;
    rtl_hot.parked = 0;
    rtl_hot.recording = true;
    memset(&in_force, 0, sizeof in_force);
    step_mode_start(RTL_MODE_DEFAULT);
    page.word = rtl_control_encode((struct rtl_control_request){.mode = RTL_MODE_NONE});
    rtl_hot.control = &page;
    rtl_hot.control_seen = in_force.seen = page.word;
}

/* --- the application --- */

static void pass(const void *packets, uint64_t n)
{
    (void)packets, (void)n;
}

static void dispatch(uint64_t n, hsa_signal_t signal, uint16_t type)
{
    hsa_kernel_dispatch_packet_t packets[2];
    memset(packets, 0, sizeof packets);
    for (uint64_t i = 0; i < n; i++) {
        packets[i].header = (uint16_t)(type << HSA_PACKET_HEADER_TYPE);
        packets[i].completion_signal = signal;
    }
    step_dispatch(packets, n, 0, &tracker, pass);
}

static void dispatches_one(void)
{
    dispatch(1, (hsa_signal_t){0}, HSA_PACKET_TYPE_KERNEL_DISPATCH);
}

static void dispatches_a_batch(void)
{
    dispatch(2, (hsa_signal_t){0}, HSA_PACKET_TYPE_KERNEL_DISPATCH);
}

static void dispatches_signalled(void)
{
    dispatch(1, (hsa_signal_t){(uintptr_t)&own_signal}, HSA_PACKET_TYPE_KERNEL_DISPATCH);
}

/* The request first, as rtl-top sends it, then the last packet of the process. */
static void is_told_and_dispatches(void)
{
    struct rtl_control_request request = {.number = 1, .mode = RTL_MODE_LITE};
    atomic_store((_Atomic uint64_t *)&page.word, rtl_control_encode(request));
    dispatch(1, (hsa_signal_t){0}, HSA_PACKET_TYPE_BARRIER_AND);
}

/* --- the worker --- */

static void parks(void)
{
    struct rhythm r = {.pause = PAUSE_MIN};
    park(&collector, &r, completion.kick);
}

static void minds_and_parks(void)
{
    struct rhythm r = {.pause = PAUSE_MIN};
    step_mode_apply(&collector, 1);
    park(&collector, &r, completion.kick);
}

static const char *nobody_sleeps_on_work(void)
{
    bool asleep = stepping.thread[0].asleep != 0;
    if (!stepping.thread[1].done)
        return "the dispatch doesn't return";
    if (asleep && rtl_pending_count(&tracker.pending))
        return "a dispatch is in flight and the worker sleeps";
    if (asleep && rtl_control_request_pending())
        return "a request was not read and the worker sleeps";
    return !asleep && !stepping.thread[0].done ? "the worker can't continue" : NULL;
}

static void try_all_from(void (*before)(void), void (*worker_does)(void), void (*application_does)(void),
                         const char *(*check)(void))
{
    void (*const bodies[])(void) = {worker_does, application_does};
    for (int without = 0; without < 2; without++) {
        without_membarrier = without;
        assert_null(step_all_orders(before, bodies, 2, check));
        assert_true(stepping.runs > 1); /* there was a choice */
        print_message("# %llu orders\n", (unsigned long long)stepping.runs);
    }
}

static void try_all(void (*worker_does)(void), void (*application_does)(void), const char *(*check)(void))
{
    try_all_from(set, worker_does, application_does, check);
}

static void parking_misses_no_dispatch(void **state)
{
    (void)state;
    stepping.watches = 0;
    step_watch(&rtl_hot.parked, sizeof rtl_hot.parked);
    step_watch(&tracker.pending.tail, sizeof tracker.pending.tail);
    try_all(parks, dispatches_one, nobody_sleeps_on_work);
    try_all(parks, dispatches_a_batch, nobody_sleeps_on_work);
    try_all(parks, dispatches_signalled, nobody_sleeps_on_work);
}

static void parking_misses_no_request(void **state)
{
    (void)state;
    stepping.watches = 0;
    step_watch(&rtl_hot.parked, sizeof rtl_hot.parked);
    step_watch(&rtl_hot.control_seen, sizeof rtl_hot.control_seen);
    step_watch(&page.word, sizeof page.word);
    try_all(minds_and_parks, is_told_and_dispatches, nobody_sleeps_on_work);
}

/* Timing ends; then the worker runs as many rounds as it takes with nothing in flight. */
static void leaves(void)
{
    change_policy(&collector, RTL_TIME, RTL_COUNT);
    for (int round = 0; round < 3 && in_force.leaving != SETTLED; round++) {
        stop_following(&collector);
        (void)atomic_load(&tracker.pending.tail); /* a step; the call is none */
        rtl_collect_pending(&collector, &tracker);
    }
}

static const char *nobody_is_left_behind(void)
{
    rtl_collect_pending(&collector, &tracker);
    if (collector.open_stand_ins && !rtl_app_signals_followed)
        return "a kernel is in flight on a signal that is no longer followed";
    return stepping.thread[0].done && stepping.thread[1].done ? NULL : "a thread can't continue";
}

static void leaving_a_mode_waits_for_earlier_dispatches(void **state)
{
    (void)state;
    stepping.watches = 0;
    step_watch(&rtl_hot.policy, sizeof rtl_hot.policy);
    step_watch(&tracker.inside, sizeof tracker.inside);
    step_watch(&tracker.pending.tail, sizeof tracker.pending.tail);
    step_watch(&rtl_app_signals_followed, sizeof rtl_app_signals_followed);
    try_all(leaves, dispatches_signalled, nobody_is_left_behind);
}

/* The runtime unloads. The unload waits for dispatches that began before, and accounts for each once. */
static uint64_t abandoned_before;

static void set_with_a_pool(void)
{
    rtl_pool_free(pool);
    fill_pool();
    set();
    abandoned_before = tracker.counters->untimed[RTL_UNTIMED_ABANDONED];
}

static void winds_up(void)
{
    struct rhythm r = {.pause = PAUSE_MIN};
    atomic_store(&tracker.reason, RTL_UNTIMED_SHUTDOWN); /* as in rtl_trackers_stop */
    wind_up_worker(&collector, &r);
}

static const char *nothing_comes_behind(void)
{
    uint64_t abandoned = tracker.counters->untimed[RTL_UNTIMED_ABANDONED] - abandoned_before;
    if (rtl_pending_count(&tracker.pending))
        return "a dispatch in flight is never accounted for";
    if (abandoned != pool->created)
        return "a signal in flight went back to the runtime, or an idle one did not";
    return stepping.thread[0].done && stepping.thread[1].done ? NULL : "a thread can't continue";
}

static void an_unload_waits_for_earlier_dispatches(void **state)
{
    (void)state;
    stepping.watches = 0;
    step_watch(&tracker.reason, sizeof tracker.reason);
    step_watch(&tracker.inside, sizeof tracker.inside);
    step_watch(&tracker.pending.tail, sizeof tracker.pending.tail);
    try_all_from(set_with_a_pool, winds_up, dispatches_one, nothing_comes_behind);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parking_misses_no_dispatch),
        cmocka_unit_test(parking_misses_no_request),
        cmocka_unit_test(leaving_a_mode_waits_for_earlier_dispatches),
        cmocka_unit_test(an_unload_waits_for_earlier_dispatches),
    };
    return cmocka_run_group_tests(tests, prepare, clean_up);
}
