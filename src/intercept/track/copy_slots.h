/*
 * The copies in flight that are timed: which records are taken, and which of those are in flight.
 *
 * A hook takes a record, puts its stand-in on the application's signal, and launches it when the runtime has the copy.
 * The worker looks at those in flight; whoever claims one that is over accounts for it, and gives the record back.
 */
#ifndef RTL_INTERCEPT_COPY_SLOTS_H
#define RTL_INTERCEPT_COPY_SLOTS_H

#include <hsa/amd_hsa_signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "intercept/track/links.h"
#include "shm/segment.h"

struct rtl_gpu;
struct rtl_app_signal;

enum { RTL_COPIES_TIMED = 4096, RTL_COPY_WORDS = RTL_COPIES_TIMED / 64 }; /* most copies in flight that are timed */

/* Its maker fills it in before it launches it; then it is the worker's. */
struct rtl_copy {
    _Alignas(64) amd_signal_t stand_in; /* whoever takes it out of its signal's use (signal_pool.h) */
    struct rtl_app_signal *app_signal;  /* the signal, */
    int64_t value;                      /* and its value when the copy went */
    uint64_t bytes;
    uint32_t row;         /* in the segment */
    uint64_t waits_since; /* worker: since when it is over with times that can't be trusted yet; 0 = it isn't */
    /* also read (relaxed) by others that find the stand-in on a signal; valid only if it is still there afterwards
     */
    _Atomic uint64_t old_end;    /* what an engine had left in the signal before */
    struct rtl_gpu *_Atomic gpu; /* the one whose clock its times are of */
    /* as before: its maker, then the worker */
    _Alignas(64) struct rtl_link link; /* to the call that made it; zeros: none */
};

/* Any: takes a record that is not in use, NULL when there is none; gives it back. */
struct rtl_copy *rtl_copy_acquire(void);
void rtl_copy_return(struct rtl_copy *copy);

/* Its maker: the runtime has the copy, which is in flight from now on. Sequentially consistent, against
 * rtl_wake_if_parked_ordered and the end of timing. */
void rtl_copy_launch(const struct rtl_copy *copy);

/* The worker, or a maker that finds that timing has ended: takes it out of flight. True for the one of them who
 * accounts for it. */
bool rtl_copy_claim(const struct rtl_copy *copy);

/* Worker: which of the 64 records from 64 * word on are in flight, a bit each. */
uint64_t rtl_copies_in_flight(uint32_t word);
struct rtl_copy *rtl_copy_at(uint32_t number);

/* Worker: some are in flight. */
bool rtl_copies_pending(void);

/* A hook enters before it reads the policy and leaves when its copy is launched. Worker: somebody is inside, who may
 * have read an earlier policy. */
void rtl_copy_enter(void);
void rtl_copy_leave(void);
bool rtl_copies_inside(void);

/* Any: a copy of that row isn't timed. */
void rtl_copy_untimed(uint32_t row, enum rtl_copy_reason why);

#endif
