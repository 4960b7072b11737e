/* Changes the mode in force (mode.h). */
#include "intercept/worker/mode.h"

#include "intercept/base/tool.h"
#include "intercept/track/app_signals.h"
#include "intercept/track/barrier.h"
#include "intercept/track/copy_profiling.h"
#include "intercept/track/copy_slots.h"
#include "intercept/worker/collect.h"
#include "intercept/worker/ticks.h"

void rtl_requests_apply(struct rtl_requests *requests, uint64_t word, uint64_t now_ns)
{
    struct rtl_control_request request;
    if (rtl_control_decode(word, &request)) {
        if (request.heartbeat != requests->heartbeat) {
            requests->heartbeat = request.heartbeat;
            requests->heartbeat_at = now_ns;
            requests->watched = true;
        }
        if (request.mode != RTL_MODE_NONE && request.number != requests->number) {
            requests->mode = (enum rtl_mode)request.mode;
            requests->number = request.number;
        }
    }
    if (now_ns - requests->heartbeat_at > RTL_HEARTBEAT_NS)
        requests->watched = false;
}

enum rtl_policy rtl_requests_policy(const struct rtl_requests *requests)
{
    switch (requests->mode) {
    case RTL_MODE_OFF:
        return RTL_PASS_ON;
    case RTL_MODE_LITE:
        return RTL_TIME_UNSIGNALLED;
    case RTL_MODE_AUTO:
        return requests->watched ? RTL_TIME : RTL_COUNT;
    default:
        return RTL_TIME;
    }
}

enum rtl_activity rtl_requests_activity(const struct rtl_requests *requests)
{
    enum rtl_policy policy = rtl_requests_policy(requests);
    return policy == RTL_PASS_ON ? RTL_ACTIVITY_OFF : policy == RTL_COUNT ? RTL_ACTIVITY_COUNTING : RTL_ACTIVITY_TIMING;
}

uint64_t rtl_requests_mask(const struct rtl_requests *requests)
{
    return rtl_requests_policy(requests) == RTL_COUNT ? RTL_CONTROL_REQUEST | RTL_CONTROL_HEARTBEAT
                                                      : RTL_CONTROL_REQUEST;
}

static struct {
    struct rtl_requests requests; /* load, then worker */
    /* worker */
    enum { SETTLED, LEAVING, QUIET } leaving; /* the application's signals are still followed, but won't be for long */
    uint64_t published, seen, mask; /* as last stored: words that dispatches read are written only when they change */
} in_force;

/* Publish the word that dispatches compare the page with, and the state that viewers show. Not the policy. */
static void publish_mode(uint64_t word)
{
    enum rtl_activity activity = rtl_requests_activity(&in_force.requests);
    uint64_t word_in_force = RTL_IN_FORCE(in_force.requests.mode, activity, in_force.requests.number),
             mask = rtl_requests_mask(&in_force.requests);
    if (in_force.seen != word)
        rtl_control_set_seen(in_force.seen = word);
    if (in_force.mask != mask)
        rtl_control_set_mask(in_force.mask = mask);
    if (in_force.published != word_in_force) {
        in_force.published = word_in_force;
        rtl_segment_set_in_force(&rtl_tool.segment, in_force.requests.mode, activity, in_force.requests.number);
    }
}

void rtl_mode_start(enum rtl_mode started)
{
    in_force.requests = (struct rtl_requests){.mode = started};
    rtl_control_listen(rtl_tool.segment.control);
    rtl_policy_set(rtl_requests_policy(&in_force.requests));
    /* the word of a new page: the worker or the first dispatch sees requests made since */
    publish_mode(rtl_tool.segment.control == &rtl_control_none
                     ? 0
                     : rtl_control_encode((struct rtl_control_request){.mode = RTL_MODE_NONE}));
}

bool rtl_mode_again(void)
{
    in_force.leaving = SETTLED; /* no worker runs */
    return rtl_policy_now() == RTL_TIME;
}

/* Create as many signals as a process that starts timed has: then dispatches needn't create them. */
static void make_signals(struct rtl_pool *pool)
{
    uint32_t numbers[RTL_SIGNALS_START];
    uint32_t there = atomic_load_explicit(&pool->created, memory_order_relaxed);
    if (there < RTL_SIGNALS_START)
        rtl_pool_return(pool, numbers, rtl_pool_make(pool, numbers, RTL_SIGNALS_START - there));
}

static void change_policy(struct rtl_collector *collector, enum rtl_policy from, enum rtl_policy to)
{
    if (to >= RTL_TIME_UNSIGNALLED) {
        make_signals(collector->pool);
        rtl_ticks_restart();
    }
    if (to == RTL_TIME) {
        if (in_force.leaving == SETTLED) { /* signals weren't followed so far */
            rtl_app_signals_follow();
            rtl_barrier_everywhere();
            rtl_app_signals_mark_unknown();
        }
        in_force.leaving = SETTLED;
    }
    rtl_policy_set(to); /* release: a dispatch that sees this policy also sees the signals created for it */
    if (from == RTL_TIME) {
        rtl_barrier_everywhere(); /* dispatches that begin later see the policy */
        in_force.leaving = LEAVING;
    }
}

static bool any_inside(void)
{
    for (struct rtl_tracker *tracker = atomic_load_explicit(&rtl_trackers, memory_order_acquire); tracker;
         tracker = tracker->next)
        if (atomic_load_explicit(&tracker->inside, memory_order_acquire))
            return true;
    return false;
}

/* After a change of mode, kernels and copies in flight on the application's signals are still collected, and until
 * then the signals stay followed: reuse of one ends its last use. Done when no dispatch or copy that began before is
 * inside, and none is in flight a round later. */
static void stop_following(const struct rtl_collector *collector)
{
    if (in_force.leaving == QUIET && !collector->open_stand_ins && !rtl_copies_pending()) {
        rtl_app_signals_unfollow();
        rtl_copy_profiling_release();
        in_force.leaving = SETTLED;
    } else if (in_force.leaving == LEAVING && !any_inside() && !rtl_copies_inside()) {
        in_force.leaving = QUIET;
    }
}

void rtl_mode_apply(struct rtl_collector *collector, uint64_t now_ns)
{
    uint64_t word = rtl_control_word();
    rtl_requests_apply(&in_force.requests, word, now_ns);
    enum rtl_policy from = rtl_policy_now(), to = rtl_requests_policy(&in_force.requests);
    if (in_force.leaving != SETTLED)
        stop_following(collector);
    if (from != to)
        change_policy(collector, from, to);
    publish_mode(word);
}
