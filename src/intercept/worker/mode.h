/*
 * The mode in force: its policy for dispatches, and how it changes at run time.
 *
 * On the control page (shm/control.h) viewers write a heartbeat and the wanted mode. A dispatch compares the page's
 * word with the one that the worker last read: one load more than without it, and no clock. If they differ in bits that
 * matter it wakes a sleeping worker. The worker reads the word, ignores it if its check is wrong, and changes the
 * policy that dispatches follow (track/policy.h). So one thread decides, off the dispatch path. A page full of garbage
 * costs a dispatch at most one wake-up each time that the worker falls asleep.
 *
 * Effects of a new policy: signals are created when dispatches are timed for the first time. The application's signals
 * (app_signals.h) are followed only while their kernels are timed, and until the last such kernel has completed.
 *
 * The worker exists from the first queue on, asleep, in every mode: a thread started on demand would start inside the
 * runtime's callback, in the middle of a dispatch. While nothing is timed nothing wakes it.
 */
#ifndef RTL_INTERCEPT_MODE_H
#define RTL_INTERCEPT_MODE_H

#include <stdbool.h>
#include <stdint.h>

#include "intercept/track/policy.h"
#include "shm/control.h"

struct rtl_collector;

/* Pure: the viewers' requests so far. */
struct rtl_requests {
    enum rtl_mode mode; /* in force */
    uint16_t number;    /* of the request for it */
    uint16_t heartbeat;
    uint64_t heartbeat_at; /* when it was first seen */
    bool watched;
};

/* Pure: apply a word of the page at that time. */
void rtl_requests_apply(struct rtl_requests *requests, uint64_t word, uint64_t now_ns);
enum rtl_policy rtl_requests_policy(const struct rtl_requests *requests);
enum rtl_activity rtl_requests_activity(const struct rtl_requests *requests);
/* Pure: return the bits of the page's word that matter. */
uint64_t rtl_requests_mask(const struct rtl_requests *requests);

/* Load, once: the process starts in that mode. */
void rtl_mode_start(enum rtl_mode mode);

/* Load, each time the runtime is loaded. True if the application's signals must be followed. */
bool rtl_mode_again(void);

/* Worker, every round: read the page's word and apply it. */
void rtl_mode_apply(struct rtl_collector *collector, uint64_t now_ns);

#endif
