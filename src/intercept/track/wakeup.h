/*
 * How the worker parks (sleeps without a timeout), and how it is woken.
 *
 * The worker announces that it will park, makes every running thread pass a memory barrier, and checks for work once
 * more. A thread that brings work publishes it first, then checks whether the worker is parked. In either order one of
 * the two sees the other.
 */
#ifndef RTL_INTERCEPT_WAKEUP_H
#define RTL_INTERCEPT_WAKEUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/likely.h"
#include "intercept/track/barrier.h"
#include "intercept/track/hot_line.h"

/* Any: wake the worker if it is parked. At most one syscall a park; keeps errno. */
void rtl_wake(void);

/* Dispatch, after the store that publishes the work. */
static inline void rtl_wake_if_parked(void)
{
    rtl_light_barrier();
    if (unlikely(atomic_load_explicit(&rtl_hot.parked, memory_order_relaxed) != 0))
        rtl_wake();
}

/* Other threads, after a sequentially consistent store that publishes the work. */
static inline void rtl_wake_if_parked_ordered(void)
{
    if (atomic_load(&rtl_hot.parked))
        rtl_wake();
}

/* Worker: announce parking; it then checks for work once more. */
void rtl_wakeup_announce(void);
/* Worker: there is work. Create: there is no sleeping worker. */
void rtl_wakeup_revoke(void);
/* Worker: sleep until woken, or until a dispatch may have gone unnoticed. False: the time has passed, and the worker
 * is still parked. UINT64_MAX = no limit. */
bool rtl_wakeup_sleep(uint64_t longest_ns);

#endif
