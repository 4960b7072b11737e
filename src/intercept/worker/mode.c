/* Changes the mode in force (mode.h). */
#include "intercept/worker/mode.h"

#include "intercept/base/tool.h"
#include "intercept/track/app_signals.h"
#include "intercept/track/barrier.h"
#include "intercept/track/copy_profiling.h"
#include "intercept/track/copy_slots.h"
#include "intercept/worker/collect.h"

/* --- what was said --- */

void rtl_requests_apply(struct rtl_requests *said, uint64_t word, uint64_t now_ns)
{
    struct rtl_control_request wish;
    if (rtl_control_decode(word, &wish)) {
        if (wish.beat != said->beat) {
            said->beat = wish.beat;
            said->beat_at = now_ns;
            said->watched = true;
        }
        if (wish.mode != RTL_MODE_NONE && wish.number != said->number) {
            said->mode = (enum rtl_mode)wish.mode;
            said->number = wish.number;
        }
    }
    if (now_ns - said->beat_at > RTL_HEARTBEAT_NS)
        said->watched = false;
}

enum rtl_policy rtl_requests_policy(const struct rtl_requests *said)
{
    switch (said->mode) {
    case RTL_MODE_OFF:
        return RTL_PASS_ON;
    case RTL_MODE_LITE:
        return RTL_TIME_UNSIGNALLED;
    case RTL_MODE_AUTO:
        return said->watched ? RTL_TIME : RTL_COUNT;
    default:
        return RTL_TIME;
    }
}

enum rtl_activity rtl_requests_activity(const struct rtl_requests *said)
{
    enum rtl_policy policy = rtl_requests_policy(said);
    return policy == RTL_PASS_ON ? RTL_ACTIVITY_OFF : policy == RTL_COUNT ? RTL_ACTIVITY_COUNTING : RTL_ACTIVITY_TIMING;
}

uint64_t rtl_requests_mask(const struct rtl_requests *said)
{
    return rtl_requests_policy(said) == RTL_COUNT ? RTL_CONTROL_REQUEST | RTL_CONTROL_HEARTBEAT : RTL_CONTROL_REQUEST;
}

/* --- what it does --- */

static struct {
    struct rtl_requests said; /* load, then worker */
    /* worker */
    enum { SETTLED, LEAVING, QUIET } leaving; /* the application's signals are followed, and soon not any more */
    uint64_t published, seen, mask;           /* as they were stored last: in lines that every dispatch reads */
} mode;

/* What dispatches look at but for the policy itself. Only rtl_mode_apply stores the word of the page that it heard. */
static void publish(uint64_t word)
{
    enum rtl_activity force = rtl_requests_activity(&mode.said);
    uint64_t in_force = RTL_IN_FORCE(mode.said.mode, force, mode.said.number), mask = rtl_requests_mask(&mode.said);
    if (mode.seen != word)
        rtl_control_set_seen(mode.seen = word);
    if (mode.mask != mask)
        rtl_control_set_mask(mode.mask = mask);
    if (mode.published != in_force) {
        mode.published = in_force;
        rtl_segment_set_in_force(&rtl_tool.segment, mode.said.mode, force, mode.said.number);
    }
}

void rtl_mode_start(enum rtl_mode started)
{
    mode.said = (struct rtl_requests){.mode = started};
    rtl_control_listen(rtl_tool.segment.control);
    rtl_policy_set(rtl_requests_policy(&mode.said));
    /* as the page is made: what somebody said since is heard by the worker, or by the first dispatch */
    publish(rtl_tool.segment.control == &rtl_control_none
                ? 0
                : rtl_control_encode((struct rtl_control_request){.mode = RTL_MODE_NONE}));
}

bool rtl_mode_again(void)
{
    mode.leaving = SETTLED; /* no worker is there */
    return rtl_policy_now() == RTL_TIME;
}

/* So many as a process that starts with timing has from the start: dispatches find them, instead of making some. */
static void make_signals(struct rtl_pool *pool)
{
    uint16_t numbers[RTL_SIGNALS_START];
    uint32_t there = atomic_load_explicit(&pool->created, memory_order_relaxed);
    if (there < RTL_SIGNALS_START)
        rtl_pool_give(pool, numbers, rtl_pool_make(pool, numbers, RTL_SIGNALS_START - there));
}

static void change(struct rtl_collector *harvest, enum rtl_policy from, enum rtl_policy to)
{
    if (to >= RTL_TIME_UNSIGNALLED)
        make_signals(harvest->pool);
    if (to == RTL_TIME) {
        if (mode.leaving == SETTLED) { /* nobody has followed so far */
            rtl_app_signals_follow();
            rtl_barrier_everywhere();
            rtl_app_signals_mark_unknown();
        }
        mode.leaving = SETTLED;
    }
    rtl_policy_set(to); /* who sees it sees what was done for it */
    if (from == RTL_TIME) {
        rtl_barrier_everywhere(); /* a dispatch that begins behind this sees the policy */
        mode.leaving = LEAVING;
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

/*
 * Kernels and copies in flight on the application's signals are still harvested after the mode has changed, and for so
 * long those signals are followed: whoever uses one again ends what it was on. It is over when no dispatch or copy is
 * inside that began before, and a round later none is in flight.
 */
static void leave(const struct rtl_collector *harvest)
{
    if (mode.leaving == QUIET && !harvest->open_cards && !rtl_copies_pending()) {
        rtl_app_signals_leave();
        rtl_copy_profiling_rest();
        mode.leaving = SETTLED;
    } else if (mode.leaving == LEAVING && !any_inside() && !rtl_copies_inside()) {
        mode.leaving = QUIET;
    }
}

void rtl_mode_apply(struct rtl_collector *harvest, uint64_t now_ns)
{
    uint64_t word = rtl_control_word();
    rtl_requests_apply(&mode.said, word, now_ns);
    enum rtl_policy from = rtl_policy_now(), to = rtl_requests_policy(&mode.said);
    if (mode.leaving != SETTLED)
        leave(harvest);
    if (from != to)
        change(harvest, from, to);
    publish(word);
}
