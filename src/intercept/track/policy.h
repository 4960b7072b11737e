/*
 * The policy that dispatches and copies follow, and how they see that somebody asks for another one.
 *
 * The worker alone decides (worker/mode.h): it reads the word of the control page (shm/control.h) and publishes the
 * policy here, with the word as it was and the bits of it that would change something. A dispatch compares the page's
 * word with that one: one load more than it would need otherwise, and no clock.
 */
#ifndef RTL_INTERCEPT_POLICY_H
#define RTL_INTERCEPT_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "intercept/track/hot_line.h"
#include "shm/control.h"

/* What dispatches get. In this order: each does what the one before does, and more. */
enum rtl_policy {
    RTL_PASS_ON,          /* not even counted */
    RTL_COUNT,            /* counted, not timed */
    RTL_TIME_UNSIGNALLED, /* and timed, but for those that carry signals of the application's */
    RTL_TIME,
};

/* Any (acquire): who sees a policy also sees what the worker prepared for it. */
static inline enum rtl_policy rtl_policy_now(void)
{
    return (enum rtl_policy)atomic_load_explicit(&rtl_hot.policy, memory_order_acquire);
}

/* The same for copies: sequentially consistent, behind rtl_copy_enter, which the worker looks at after it has changed
 * the policy. */
static inline enum rtl_policy rtl_policy_now_ordered(void)
{
    return (enum rtl_policy)atomic_load(&rtl_hot.policy);
}

/* Load, worker. */
static inline void rtl_policy_set(enum rtl_policy policy)
{
    atomic_store_explicit(&rtl_hot.policy, (uint32_t)policy, memory_order_release);
}

/* Load: the page, which is there as long as the process. */
static inline void rtl_control_listen(const struct rtl_control *control)
{
    rtl_hot.control = control;
}

/* Any: the page's word as it is. */
static inline uint64_t rtl_control_word(void)
{
    return __atomic_load_n(&rtl_hot.control->word, __ATOMIC_RELAXED);
}

/* Load, worker: the word as it was looked at; the bits of it that would change something. */
static inline void rtl_control_set_seen(uint64_t word)
{
    atomic_store_explicit(&rtl_hot.control_seen, word, memory_order_relaxed);
}

static inline void rtl_control_set_mask(uint64_t mask)
{
    atomic_store_explicit(&rtl_hot.control_mask, mask, memory_order_relaxed);
}

/* Any: there is a request on the page that the worker hasn't seen. It may be asleep. */
static inline bool rtl_control_request_pending(void)
{
    return (rtl_control_word() ^ atomic_load_explicit(&rtl_hot.control_seen, memory_order_relaxed)) &
           atomic_load_explicit(&rtl_hot.control_mask, memory_order_relaxed);
}

#endif
