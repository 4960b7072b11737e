/* Sleeps and wakes (wakeup.h). */
#include "intercept/track/wakeup.h"

#include <errno.h>

#include "intercept/base/futex.h"

static const uint64_t DOUBT = 100000000; /* ns; longest sleep where a dispatch may go unnoticed */

void rtl_wake(void)
{
    int error = errno;
    if (atomic_exchange(&rtl_hot.parked, 0))
        rtl_futex_wake(&rtl_hot.parked);
    errno = error;
}

void rtl_wakeup_announce(void)
{
    atomic_store(&rtl_hot.parked, 1);
    rtl_barrier_everywhere();
}

void rtl_wakeup_revoke(void)
{
    atomic_store(&rtl_hot.parked, 0);
}

void rtl_wakeup_sleep(void)
{
    while (atomic_load(&rtl_hot.parked))
        if (rtl_futex_wait(&rtl_hot.parked, 1, rtl_barrier_in_doubt() ? DOUBT : UINT64_MAX) == ETIMEDOUT)
            rtl_wakeup_revoke();
}
