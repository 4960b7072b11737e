/*
 * The copies in flight that are timed: which records are taken, and which of them are in flight (fly).
 *
 * A hook takes a record, puts its card on the application's signal, and when the runtime has the copy it says that it
 * flies. The worker finds it among those that do; whoever makes it land accounts for it, and gives the record back.
 */
#ifndef RTL_INTERCEPT_COPY_SLOTS_H
#define RTL_INTERCEPT_COPY_SLOTS_H

#include <hsa/amd_hsa_signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "shm/segment.h"

struct rtl_gpu;
struct rtl_app_signal;

enum { RTL_COPIES_TIMED = 4096, RTL_COPY_WORDS = RTL_COPIES_TIMED / 64 }; /* most copies in flight that are timed */

/* Its maker fills it in before it flies; then it is the worker's. */
struct rtl_copy {
    _Alignas(64) amd_signal_t card; /* whoever takes it out of its signal's use (signal_pool.h) */
    struct rtl_app_signal *own;     /* the signal, */
    int64_t value;                  /* and its value when the copy went */
    uint64_t bytes;
    uint32_t line;        /* in the segment */
    uint64_t waits_since; /* worker: when it was found to be over, and not believed yet; 0 = it wasn't */
    /* also looked at by who finds the card on a signal, and only believed if it is still there afterwards (relaxed) */
    _Atomic uint64_t old_end;    /* what an engine had left in the signal before */
    struct rtl_gpu *_Atomic gpu; /* the one whose clock its times are of */
};

/* Any: one that is not in use, or NULL; it is not in use any more. */
struct rtl_copy *rtl_copy_take(void);
void rtl_copy_give(struct rtl_copy *copy);

/* Its maker: the runtime has it. Sequentially consistent, against rtl_wake_if_parked_ordered and the end of timing. */
void rtl_copy_launch(const struct rtl_copy *copy);

/* The worker, or a maker that finds that timing has ended: true for the one who accounts for it. */
bool rtl_copy_claim(const struct rtl_copy *copy);

/* Worker: those that fly, a bit each, of the records from 64 * word on. */
uint64_t rtl_copies_in_flight(uint32_t word);
struct rtl_copy *rtl_copy_at(uint32_t number);

/* Worker: some fly. */
bool rtl_copies_pending(void);

/* A hook's look at the policy, until its copy flies. Worker: somebody is between the two, who may have seen an earlier
 * policy. */
void rtl_copy_enter(void);
void rtl_copy_leave(void);
bool rtl_copies_inside(void);

/* Any: a copy of that line isn't timed. */
void rtl_copy_untimed(uint32_t line, enum rtl_copy_reason why);

#endif
