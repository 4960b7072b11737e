/*
 * The policy that dispatches and copies follow, and how they notice a request for another one.
 *
 * Only the worker decides (worker/mode.h): it reads the word of the control page (shm/control.h) and publishes the
 * policy here, with that word and the bits of it that matter. A dispatch compares the page's word with the published
 * one: one load more than without it, and no clock.
 */
#ifndef RTL_INTERCEPT_POLICY_H
#define RTL_INTERCEPT_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "intercept/track/hot_line.h"
#include "shm/control.h"

/* Each policy includes those before it. */
enum rtl_policy {
    RTL_PASS_ON,          /* not even counted */
    RTL_COUNT,            /* counted, not timed */
    RTL_TIME_UNSIGNALLED, /* timed, except for dispatches with signals of the application */
    RTL_TIME,
};

/* Any (acquire): a thread that sees a policy also sees what the worker prepared for it. */
static inline enum rtl_policy rtl_policy_now(void)
{
    return (enum rtl_policy)atomic_load_explicit(&rtl_hot.policy, memory_order_acquire);
}

/* Copies read the policy sequentially consistent, after rtl_copy_enter; the worker sets it, then reads the copies
 * inside. */
static inline enum rtl_policy rtl_policy_now_ordered(void)
{
    return (enum rtl_policy)atomic_load(&rtl_hot.policy);
}

/* Load, worker. */
static inline void rtl_policy_set(enum rtl_policy policy)
{
    atomic_store_explicit(&rtl_hot.policy, (uint32_t)policy, memory_order_release);
}

/* Load: set the page; it stays mapped. */
static inline void rtl_control_listen(const struct rtl_control *control)
{
    rtl_hot.control = control;
}

static inline uint64_t rtl_control_word(void)
{
    return __atomic_load_n(&rtl_hot.control->word, __ATOMIC_RELAXED);
}

/* Load, worker: publish the word that was read, and its bits that matter. */
static inline void rtl_control_set_seen(uint64_t word)
{
    atomic_store_explicit(&rtl_hot.control_seen, word, memory_order_relaxed);
}

static inline void rtl_control_set_mask(uint64_t mask)
{
    atomic_store_explicit(&rtl_hot.control_mask, mask, memory_order_relaxed);
}

/* Any: true if the page has a request that the worker hasn't read. The worker may be asleep. */
static inline bool rtl_control_request_pending(void)
{
    return (rtl_control_word() ^ atomic_load_explicit(&rtl_hot.control_seen, memory_order_relaxed)) &
           atomic_load_explicit(&rtl_hot.control_mask, memory_order_relaxed);
}

#endif
