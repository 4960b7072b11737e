/*
 * The two halves of the barrier between dispatches and the worker.
 *
 * A dispatch stores something (a number in its pending ring, `inside`), then loads something that the worker stores
 * (parked, the policy, the reason); the worker stores that, then looks at what dispatches store. One of the two has to
 * see the other. So each needs a barrier between its store and its load, and the dispatch's shall cost nothing: the
 * worker makes every running thread of the process pass one (membarrier) when it needs it.
 */
#ifndef RTL_INTERCEPT_BARRIER_H
#define RTL_INTERCEPT_BARRIER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/likely.h"
#include "intercept/track/hot_line.h"

/* A full barrier; ThreadSanitizer knows none, but understands an exchange. */
static inline void rtl_full_barrier(void)
{
#if defined(__SANITIZE_THREAD__)
    static _Atomic int somewhere;
    atomic_exchange(&somewhere, 1);
#else
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

/* Dispatch: its half. The compiler's order is enough where the other half is membarrier. */
static inline void rtl_light_barrier(void)
{
    if (unlikely(atomic_load_explicit(&rtl_hot.fence, memory_order_relaxed)))
        rtl_full_barrier();
    else
        atomic_signal_fence(memory_order_seq_cst);
}

/*
 * The worker's half; load, when there is no worker any more. What was stored before is seen by every dispatch that
 * passes its half behind this, and what dispatches stored before theirs is seen behind this. Any, for a queue that is
 * shared from now on (native_turn.h). False: there is no membarrier, and dispatches have to fence for themselves.
 */
bool rtl_barrier_everywhere(void);

/* Create, before the worker runs: finds out whether there is membarrier. */
void rtl_barrier_prepare(void);

/* Worker: membarrier was there and is no more: dispatches that are under way may go unnoticed. */
bool rtl_barrier_in_doubt(void);

#endif
