/*
 * How the worker goes to sleep for good (parks), and who wakes it.
 *
 * The worker says that it is about to, makes every running thread pass a memory barrier, and looks once more whether
 * there is work. Whoever brings work says so first, then looks whether the worker is parked. Whichever order the two
 * fall in, one of them sees the other.
 */
#ifndef RTL_INTERCEPT_WAKEUP_H
#define RTL_INTERCEPT_WAKEUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/likely.h"
#include "intercept/track/barrier.h"
#include "intercept/track/hot_line.h"

/* Any: wakes the worker if it is parked. One syscall, the first time; keeps errno. */
void rtl_wake(void);

/* Dispatch, behind the store that says that there is work. */
static inline void rtl_wake_if_parked(void)
{
    rtl_light_barrier();
    if (unlikely(atomic_load_explicit(&rtl_hot.parked, memory_order_relaxed) != 0))
        rtl_wake();
}

/* Others that bring work, behind a sequentially consistent store. */
static inline void rtl_wake_if_parked_ordered(void)
{
    if (atomic_load(&rtl_hot.parked))
        rtl_wake();
}

/* Worker: it is about to sleep; and to look for work once more before it does. */
void rtl_wakeup_announce(void);
/* Worker: there is work. Create: and there is no worker that sleeps. */
void rtl_wakeup_revoke(void);
/* Worker: sleeps until somebody wakes it, or a dispatch may have gone unnoticed. False: so much time has passed, and it
 * is still parked. UINT64_MAX = for ever. */
bool rtl_wakeup_sleep(uint64_t longest_ns);

#endif
