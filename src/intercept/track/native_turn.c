/* Makes a queue one that all threads walk in turn (native_turn.h). */
#include "intercept/track/native_turn.h"

#include <errno.h>
#include <time.h>

static const struct timespec DRAINED = {0, 10000000}; /* no store waits as long as that for others to see it */

void rtl_turn_start(struct rtl_turn *turn)
{
    bool fence = atomic_load_explicit(&rtl_hot.fence, memory_order_relaxed);
    atomic_store(&turn->rings, 0);
    atomic_store(&turn->visitors, 0);
    atomic_store(&turn->alone, RTL_TURN_AWAY);
    atomic_store(&turn->owner, fence ? RTL_TURN_SHARED : RTL_TURN_NOBODYS);
}

void rtl_turn_share(struct rtl_turn *turn)
{
    uintptr_t owner = atomic_load(&turn->owner), sharing = RTL_TURN_SHARING;
    int error = errno;
    while (owner == RTL_TURN_NOBODYS) /* nobody is alone there, nor will be */
        if (atomic_compare_exchange_strong(&turn->owner, &owner, RTL_TURN_SHARED))
            return;
    if (owner == RTL_TURN_SHARED)
        return;
    if (owner != RTL_TURN_SHARING)
        atomic_compare_exchange_strong(&turn->owner, &owner, RTL_TURN_SHARING); /* or another thread does */
    if (!rtl_barrier_everywhere())
        nanosleep(&DRAINED, NULL); /* a sandbox has taken membarrier away since the queue got its owner */
    atomic_compare_exchange_strong(&turn->owner, &sharing, RTL_TURN_SHARED);
    errno = error;
}
