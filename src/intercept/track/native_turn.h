/*
 * The right to walk over the packets of a native queue (native_ring.h): one thread at a time, and no thread waits.
 *
 * Shared queues: `rings` counts the rings since it was 0. The thread that raises it from 0 walks until no thread has
 * rung since its last pass. That is two locked operations a doorbell, and each of them waits until the cache lines that
 * the thread has written have arrived from other cores.
 *
 * Owned queues: the first thread that rings owns the queue and walks without them. It stores ALONE, checks that it
 * still owns the queue, and walks. The first other thread that wants to walk makes the queue shared for good: it stores
 * SHARING, makes all threads pass a barrier (barrier.h), and stores SHARED. An owner that stored ALONE before the
 * barrier is seen by all threads that find the queue SHARED; one that stores it after the barrier sees that it isn't
 * the owner any more.
 *
 * A thread that raises `rings` while the owner is alone leaves the packets to the owner: it resets `rings` to 0 and
 * returns. After walking the owner stores LEAVING; from then on no thread leaves it packets. If it still owns the queue
 * then, none were left to it. Otherwise it rings like any thread and so finds packets that were left to it. It keeps
 * LEAVING meanwhile: the record isn't reused while `alone` isn't 0.
 *
 * Without membarrier queues are shared from the start.
 */
#ifndef RTL_INTERCEPT_NATIVE_TURN_H
#define RTL_INTERCEPT_NATIVE_TURN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/likely.h"
#include "intercept/track/barrier.h"

/* The owner of a queue: one of these, or an address that identifies the owning thread. */
enum { RTL_TURN_UNOWNED, RTL_TURN_SHARING, RTL_TURN_SHARED };
enum { RTL_TURN_AWAY, RTL_TURN_ALONE, RTL_TURN_LEAVING }; /* the owner's state */

struct rtl_turn {
    _Atomic uintptr_t owner;   /* any, by compare-and-swap; never returns to an owner */
    _Atomic uint32_t alone;    /* the owner stores, any loads */
    _Atomic uint32_t rings;    /* any; 0 = no thread but the owner walks */
    _Atomic uint32_t visitors; /* any: threads about to ring; others may publish their packets meanwhile */
};

/* Create: reset for a queue without users. */
void rtl_turn_start(struct rtl_turn *turn);
/* Any: make the queue shared. One system call, once a queue. */
void rtl_turn_share(struct rtl_turn *turn);

/* The thread that has just raised `rings`: if the owner is alone, leave all packets rung for so far to it and reset
 * `rings`. */
static inline bool rtl_turn_is_left_to_owner(struct rtl_turn *turn)
{
    uint32_t rings = atomic_load(&turn->rings);
    while (unlikely(atomic_load(&turn->alone) == RTL_TURN_ALONE))
        if (atomic_compare_exchange_strong(&turn->rings, &rings, 0))
            return true;
    return false;
}

/* Any: ring. True if the caller must walk now. */
static inline bool rtl_turn_ring(struct rtl_turn *turn)
{
    if (unlikely(atomic_load(&turn->owner) != RTL_TURN_SHARED))
        rtl_turn_share(turn);
    return atomic_fetch_add(&turn->rings, 1) == 0 && !rtl_turn_is_left_to_owner(turn);
}

/* Any: the same, but only if no thread walks; a walking thread may not walk again for it. */
static inline bool rtl_turn_try(struct rtl_turn *turn)
{
    uint32_t none = 0;
    if (unlikely(atomic_load(&turn->owner) != RTL_TURN_SHARED))
        rtl_turn_share(turn);
    return atomic_compare_exchange_strong(&turn->rings, &none, 1) && !rtl_turn_is_left_to_owner(turn);
}

/* The walking thread: finish, unless there were more than *rings; then false, and their number. */
static inline bool rtl_turn_end(struct rtl_turn *turn, uint32_t *rings)
{
    return atomic_compare_exchange_weak_explicit(&turn->rings, rings, 0, memory_order_acq_rel, memory_order_acquire);
}

/* The owner's half. A compiler barrier suffices: without membarrier queues have no owner, and if membarrier was
 * taken away later, the sharing thread waits until stores are visible. */
static inline void rtl_turn_half_barrier(void)
{
    atomic_signal_fence(memory_order_seq_cst);
}

/* Try to walk as the owner; `me` identifies the calling thread. RTL_TURN_ALONE: it must walk. RTL_TURN_AWAY: it
 * isn't the owner. RTL_TURN_LEAVING: it lost the queue, and packets may have been left to it. */
static inline int rtl_turn_begin_alone(struct rtl_turn *turn, uintptr_t me)
{
    uintptr_t owner = atomic_load_explicit(&turn->owner, memory_order_relaxed);
    if (unlikely(owner != me) &&
        (owner != RTL_TURN_UNOWNED || !atomic_compare_exchange_strong(&turn->owner, &owner, me)))
        return RTL_TURN_AWAY;
    if (unlikely(atomic_load_explicit(&turn->alone, memory_order_relaxed) != RTL_TURN_AWAY))
        return RTL_TURN_AWAY; /* a signal handler interrupted the owner */
    atomic_store_explicit(&turn->alone, RTL_TURN_ALONE, memory_order_relaxed);
    rtl_turn_half_barrier();
    if (likely(atomic_load_explicit(&turn->owner, memory_order_relaxed) == me))
        return RTL_TURN_ALONE;
    atomic_store_explicit(&turn->alone, RTL_TURN_LEAVING, memory_order_release);
    return RTL_TURN_LEAVING;
}

/* The owner has walked. False: packets may have been left to it; it must ring, then call rtl_turn_has_left. */
static inline bool rtl_turn_end_alone(struct rtl_turn *turn, uintptr_t me)
{
    atomic_store_explicit(&turn->alone, RTL_TURN_LEAVING, memory_order_release);
    rtl_turn_half_barrier();
    if (unlikely(atomic_load_explicit(&turn->owner, memory_order_relaxed) != me))
        return false;
    atomic_store_explicit(&turn->alone, RTL_TURN_AWAY, memory_order_release);
    return true;
}

static inline void rtl_turn_has_left(struct rtl_turn *turn)
{
    atomic_store_explicit(&turn->alone, RTL_TURN_AWAY, memory_order_release);
}

/* Any: true while the owner walks. */
static inline bool rtl_turn_owner_walks(struct rtl_turn *turn)
{
    return atomic_load_explicit(&turn->alone, memory_order_acquire) != RTL_TURN_AWAY;
}

/* Any: before other threads can see the caller's packets, and when the caller is done with the queue. Meanwhile its
 * packets may complete and the queue may be closed. */
static inline void rtl_turn_enter(struct rtl_turn *turn)
{
    atomic_fetch_add(&turn->visitors, 1);
}

static inline void rtl_turn_exit(struct rtl_turn *turn)
{
    atomic_fetch_sub_explicit(&turn->visitors, 1, memory_order_release);
}

/* Any: true if a thread walks or may be about to. */
static inline bool rtl_turn_is_taken(struct rtl_turn *turn)
{
    return atomic_load(&turn->alone) != RTL_TURN_AWAY || atomic_load(&turn->rings) != 0 ||
           atomic_load(&turn->visitors) != 0;
}

#endif
