/*
 * Disables the thread's cancellation while the library calls the runtime.
 *
 * ROCr isn't safe to cancel. It waits for its locks with sem_wait, a cancellation point, if another thread holds the
 * lock. A thread that is cancelled there unwinds through the runtime's catch-all, which ends the process. The worker
 * and dispatches create signals at any time, so with this library a lock may be contended that never was without it.
 * Hooks that reach those locks, and the library's own signal calls, disable cancellation; the thread then ends at its
 * next cancellation point. A pair of calls costs a store to the thread's own memory and is not on the steady dispatch
 * path.
 *
 * Sources: locks.h of ROCr 5.7 to 6.4 (HybridMutex), pthread_setcancelstate(3).
 */
#ifndef RTL_INTERCEPT_BASE_CANCEL_H
#define RTL_INTERCEPT_BASE_CANCEL_H

#include <pthread.h>

/* Any thread. Returns the argument of rtl_cancel_restore. Pairs may nest. */
static inline int rtl_cancel_disable(void)
{
    int before = PTHREAD_CANCEL_ENABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

static inline void rtl_cancel_restore(int before)
{
    int held;
    pthread_setcancelstate(before, &held);
}

#endif
