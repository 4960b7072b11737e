/*
 * The two halves of the barrier between dispatches and the worker.
 *
 * A dispatch stores something (a number in its pending ring, `inside`), then loads something that the worker stores
 * (parked, the policy, the reason). The worker stores that, then loads what dispatches store. One of the two must see
 * the other's store, so each needs a barrier between its store and its load. The dispatch's half must be free: the
 * worker makes every running thread of the process pass a barrier (membarrier) when it needs one.
 */
#ifndef RTL_INTERCEPT_BARRIER_H
#define RTL_INTERCEPT_BARRIER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/likely.h"
#include "intercept/track/hot_line.h"

/* A full barrier. ThreadSanitizer doesn't support fences but understands an exchange. */
static inline void rtl_full_barrier(void)
{
#if defined(__SANITIZE_THREAD__)
    static _Atomic int somewhere;
    atomic_exchange(&somewhere, 1);
#else
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

/* Dispatch: its half. With membarrier as the other half the compiler's order suffices. */
static inline void rtl_light_barrier(void)
{
    if (unlikely(atomic_load_explicit(&rtl_hot.fence, memory_order_relaxed)))
        rtl_full_barrier();
    else
        atomic_signal_fence(memory_order_seq_cst);
}

/* The worker's half; load, when there is no worker. Earlier stores are seen by every dispatch that passes its half
 * later, and stores that dispatches made before their half are seen here. Any, for a queue that becomes shared
 * (native_turn.h). False: without membarrier dispatches fence for themselves. */
bool rtl_barrier_everywhere(void);

/* Create, before the worker runs: test for membarrier. */
void rtl_barrier_prepare(void);

/* Worker: membarrier failed after it had worked; a dispatch under way may go unnoticed. */
bool rtl_barrier_in_doubt(void);

#endif
