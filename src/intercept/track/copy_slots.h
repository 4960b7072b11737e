/*
 * The timed copies in flight: which records are used, and which of them are in flight.
 *
 * A hook acquires a record, puts its stand-in on the application's signal, and launches it when the runtime has
 * accepted the copy. The worker polls those in flight. The thread that claims a completed one accounts for it and
 * returns the record.
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

enum { RTL_COPIES_TIMED = 4096, RTL_COPY_WORDS = RTL_COPIES_TIMED / 64 }; /* most timed copies in flight */

/* The submitting thread fills it in before it launches it; then the worker owns it. */
struct rtl_copy {
    _Alignas(64) amd_signal_t stand_in; /* owned by the thread that takes it out of its signal's use (signal_pool.h) */
    struct rtl_app_signal *app_signal;  /* the application's signal */
    int64_t value;                      /* its value at submission */
    uint64_t bytes;
    uint32_t row;         /* in the segment */
    uint64_t waits_since; /* worker: when it completed with times that can't be trusted yet; 0: not waiting */
    /* also read (relaxed) by threads that find the stand-in on a signal; valid only if it is still there afterwards */
    _Atomic uint64_t old_end;    /* end time that an earlier copy left in the signal */
    struct rtl_gpu *_Atomic gpu; /* the GPU whose clock the times are on */
    /* submitting thread, then worker */
    _Alignas(64) struct rtl_link link; /* to the call that submitted it; zeros: none */
};

/* Any: acquire an unused record, NULL if there is none; return it. */
struct rtl_copy *rtl_copy_acquire(void);
void rtl_copy_return(struct rtl_copy *copy);

/* Submitting thread: the runtime accepted the copy, which is now in flight. Sequentially consistent, against
 * rtl_wake_if_parked_ordered and the end of timing. */
void rtl_copy_launch(const struct rtl_copy *copy);

/* Worker, or the submitting thread if timing has ended: remove it from those in flight. True for the thread that
 * then accounts for it. */
bool rtl_copy_claim(const struct rtl_copy *copy);

/* Worker: return the in-flight bits of the 64 records from 64 * word on. */
uint64_t rtl_copies_in_flight(uint32_t word);
struct rtl_copy *rtl_copy_at(uint32_t number);

/* Worker: true if some are in flight. */
bool rtl_copies_pending(void);

/* A hook enters before it reads the policy and leaves after it launched its copy. Worker: true while a thread is
 * inside, which may have read an earlier policy. */
void rtl_copy_enter(void);
void rtl_copy_leave(void);
bool rtl_copies_inside(void);

/* Any: count an untimed copy of that row. */
void rtl_copy_untimed(uint32_t row, enum rtl_copy_reason why);

#endif
