/* Sleeps and wakes (wakeup.h). */
#include "intercept/track/wakeup.h"

#include <errno.h>

#include "intercept/base/futex.h"

static const uint64_t DOUBT = 100000000; /* ns; longest sleep when a dispatch may go unnoticed */

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

bool rtl_wakeup_sleep(uint64_t longest_ns)
{
    while (atomic_load(&rtl_hot.parked)) {
        bool unsure = rtl_barrier_in_doubt();
        uint64_t ns = unsure && DOUBT < longest_ns ? DOUBT : longest_ns;
        if (rtl_futex_wait(&rtl_hot.parked, 1, ns) != ETIMEDOUT)
            continue;
        if (!unsure)
            return false;
        rtl_wakeup_revoke();
    }
    return true;
}
