/*
 * While the runtime is called for the application: no end of the thread.
 *
 * ROCr can't be cancelled. It waits for its locks with sem_wait, a cancellation point, but only where somebody else has
 * the lock; a thread that is ended there unwinds through the runtime's own catch-all, which ends the process. The
 * worker and dispatches of other threads make signals at any time, so with this library the lock can be taken where it
 * never was without it. What comes to those locks, hooks and the library's own signals, holds the cancellation off, and
 * the thread ends at its next cancellation point instead. A call costs a store to the thread's own memory, and none of
 * these is on the way of a dispatch in steady state.
 *
 * Sources: locks.h of ROCr 5.7 to 6.4 (HybridMutex), pthread_setcancelstate(3).
 */
#ifndef RTL_INTERCEPT_BASE_CANCEL_H
#define RTL_INTERCEPT_BASE_CANCEL_H

#include <pthread.h>

/* Any thread. Returns what rtl_cancel_restore takes; they come in pairs, and pairs may stand in pairs. */
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
