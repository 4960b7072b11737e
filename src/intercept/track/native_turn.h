/*
 * Whose turn it is to walk over the packets of a native queue (native_ring.h): one thread's at a time, and nobody waits
 * for another.
 *
 * Shared queues: `rings` counts those who have rung since it was 0; who took it from 0 walks until nobody has rung
 * since it last looked. That is two locked operations a doorbell, and each of them waits until the lines that the
 * thread has written to have come from other cores.
 *
 * Owned queues: the first thread that rings owns the queue, and walks without them. It says that it is ALONE, makes
 * sure that it still owns the queue, and walks. Whoever else wants to walk, be it once, makes the queue shared for
 * good: he says so (SHARING), makes all threads pass a barrier (barrier.h), and says that this is done (SHARED). An
 * owner that said before the barrier that it is alone is seen by all who find the queue SHARED; one that says it behind
 * the barrier sees that it isn't the owner any more.
 *
 * Who takes `rings` while the owner is alone leaves his turn to the owner: he puts `rings` back to 0 and goes. An owner
 * that has walked is LEAVING; from then on nobody leaves it anything. If it still owns the queue then, nobody has left
 * it anything before either. Else it rings like everybody else, and so looks at what was left to it. It keeps saying
 * LEAVING meanwhile: as long as `alone` isn't 0 the queue's record isn't used for another queue.
 *
 * Where there is no membarrier queues are shared from the start.
 */
#ifndef RTL_INTERCEPT_NATIVE_TURN_H
#define RTL_INTERCEPT_NATIVE_TURN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/likely.h"
#include "intercept/track/barrier.h"

/* Who owns a queue: one of these, or an address that is the owning thread's. */
enum { RTL_TURN_NOBODYS, RTL_TURN_SHARING, RTL_TURN_SHARED };
enum { RTL_TURN_AWAY, RTL_TURN_ALONE, RTL_TURN_LEAVING }; /* what the owner does */

struct rtl_turn {
    _Atomic uintptr_t owner; /* any, by compare-and-swap; never goes back to an owner */
    _Atomic uint32_t alone;  /* the owner stores, any loads */
    _Atomic uint32_t rings;  /* any; 0 = nobody walks but the owner */
    _Atomic uint32_t
        visitors; /* any: who is about to ring, and may find that others have published what he rings for */
};

/* Create: nobody has been there yet. */
void rtl_turn_start(struct rtl_turn *turn);
/* Any: from now on the queue is shared. One system call, once a queue. */
void rtl_turn_share(struct rtl_turn *turn);

/* Who has just taken `rings`: the owner is alone, and looks at all that was rung for so far. Then `rings` is given up.
 */
static inline bool rtl_turn_is_left_to_owner(struct rtl_turn *turn)
{
    uint32_t rings = atomic_load(&turn->rings);
    while (unlikely(atomic_load(&turn->alone) == RTL_TURN_ALONE))
        if (atomic_compare_exchange_strong(&turn->rings, &rings, 0))
            return true;
    return false;
}

/* Any: true when the caller has to walk now. */
static inline bool rtl_turn_ring(struct rtl_turn *turn)
{
    if (unlikely(atomic_load(&turn->owner) != RTL_TURN_SHARED))
        rtl_turn_share(turn);
    return atomic_fetch_add(&turn->rings, 1) == 0 && !rtl_turn_is_left_to_owner(turn);
}

/* Any: the same, if nobody walks. Who does may not look again. */
static inline bool rtl_turn_try(struct rtl_turn *turn)
{
    uint32_t none = 0;
    if (unlikely(atomic_load(&turn->owner) != RTL_TURN_SHARED))
        rtl_turn_share(turn);
    return atomic_compare_exchange_strong(&turn->rings, &none, 1) && !rtl_turn_is_left_to_owner(turn);
}

/* Who walks: so many had rung before it last looked; false, and how many there are now, when more have. */
static inline bool rtl_turn_end(struct rtl_turn *turn, uint32_t *rings)
{
    return atomic_compare_exchange_weak_explicit(&turn->rings, rings, 0, memory_order_acq_rel, memory_order_acquire);
}

/* The owner's half. There is none where there is no membarrier, and who shares the queue waits for its stores where
 * that has gone since: it needn't ask. */
static inline void rtl_turn_half_barrier(void)
{
    atomic_signal_fence(memory_order_seq_cst);
}

/*
 * The thread that `me` is the address of: it may own the queue. RTL_TURN_ALONE: it does, and has to walk;
 * RTL_TURN_AWAY: it doesn't; RTL_TURN_LEAVING: not any more, and something may have been left to it.
 */
static inline int rtl_turn_begin_alone(struct rtl_turn *turn, uintptr_t me)
{
    uintptr_t owner = atomic_load_explicit(&turn->owner, memory_order_relaxed);
    if (unlikely(owner != me) &&
        (owner != RTL_TURN_NOBODYS || !atomic_compare_exchange_strong(&turn->owner, &owner, me)))
        return RTL_TURN_AWAY;
    if (unlikely(atomic_load_explicit(&turn->alone, memory_order_relaxed) != RTL_TURN_AWAY))
        return RTL_TURN_AWAY; /* a signal's handler, in the middle of it */
    atomic_store_explicit(&turn->alone, RTL_TURN_ALONE, memory_order_relaxed);
    rtl_turn_half_barrier();
    if (likely(atomic_load_explicit(&turn->owner, memory_order_relaxed) == me))
        return RTL_TURN_ALONE;
    atomic_store_explicit(&turn->alone, RTL_TURN_LEAVING, memory_order_release);
    return RTL_TURN_LEAVING;
}

/* It has walked. False: something may have been left to it. It has to ring and, when that is done, to say so. */
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

/* Any: the owner is in the middle of it. */
static inline bool rtl_turn_owner_walks(struct rtl_turn *turn)
{
    return atomic_load_explicit(&turn->alone, memory_order_acquire) != RTL_TURN_AWAY;
}

/* Any: before the caller lets others see what it rings for, and when it is done with the queue. Meanwhile that may be
 * over, and the queue on its way out. */
static inline void rtl_turn_enter(struct rtl_turn *turn)
{
    atomic_fetch_add(&turn->visitors, 1);
}

static inline void rtl_turn_exit(struct rtl_turn *turn)
{
    atomic_fetch_sub_explicit(&turn->visitors, 1, memory_order_release);
}

/* Any: somebody walks, or may be about to. */
static inline bool rtl_turn_is_taken(struct rtl_turn *turn)
{
    return atomic_load(&turn->alone) != RTL_TURN_AWAY || atomic_load(&turn->rings) != 0 ||
           atomic_load(&turn->visitors) != 0;
}

#endif
