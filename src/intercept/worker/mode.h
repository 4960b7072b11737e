/*
 * The mode in force: what it means for a dispatch, and how it changes while the process runs.
 *
 * Viewers tell by the control page (shm/control.h) that they watch, and which mode they want. A dispatch compares the
 * page's word with the one that the worker saw last: one load more than it would need otherwise, and no clock. When it
 * differs in what matters, it wakes the worker if that sleeps. The worker reads the word, ignores it if its check is
 * wrong, and changes the policy that dispatches follow (track/policy.h). So all decisions are made by one thread, off
 * the dispatch path, and a page full of garbage costs a dispatch at most what a wake-up costs, once in the time for
 * which the worker stays awake.
 *
 * What a change of policy takes: signals are made when dispatches are timed for the first time; the application's
 * signals (app_signals.h) are followed only while their kernels are timed, and until the last such kernel is over.
 *
 * The worker exists from the first queue on, asleep, in every mode: a thread started on demand would be started by the
 * runtime's callback, in the middle of a dispatch. While nothing is timed it has nothing to wake up for.
 */
#ifndef RTL_INTERCEPT_MODE_H
#define RTL_INTERCEPT_MODE_H

#include <stdbool.h>
#include <stdint.h>

#include "intercept/track/policy.h"
#include "shm/control.h"

struct rtl_collector;

/* Pure: what viewers have asked for so far. */
struct rtl_requests {
    enum rtl_mode mode; /* in force */
    uint16_t number;    /* of the request that it came from */
    uint16_t heartbeat;
    uint64_t heartbeat_at; /* when that was seen first */
    bool watched;
};

/* Pure: takes in a word of the page, at that time. */
void rtl_requests_apply(struct rtl_requests *requests, uint64_t word, uint64_t now_ns);
enum rtl_policy rtl_requests_policy(const struct rtl_requests *requests);
enum rtl_activity rtl_requests_activity(const struct rtl_requests *requests);
/* Pure: the bits of the page's word that would change something. */
uint64_t rtl_requests_mask(const struct rtl_requests *requests);

/* Load, once: the process starts in that mode. */
void rtl_mode_start(enum rtl_mode mode);

/* Load, each time: the runtime was loaded. True when the application's signals are to be followed. */
bool rtl_mode_again(void);

/* Worker, every round: reads the page's word and applies it. */
void rtl_mode_apply(struct rtl_collector *collector, uint64_t now_ns);

#endif
