/* Makes a queue a shared one (native_turn.h). */
#include "intercept/track/native_turn.h"

#include <errno.h>
#include <time.h>

static const struct timespec DRAINED = {0, 10000000}; /* stores become visible in less than that */

void rtl_turn_start(struct rtl_turn *turn)
{
    bool fence = atomic_load_explicit(&rtl_hot.fence, memory_order_relaxed);
    atomic_store(&turn->rings, 0);
    atomic_store(&turn->visitors, 0);
    atomic_store(&turn->alone, RTL_TURN_AWAY);
    atomic_store(&turn->owner, fence ? RTL_TURN_SHARED : RTL_TURN_UNOWNED);
}

void rtl_turn_share(struct rtl_turn *turn)
{
    uintptr_t owner = atomic_load(&turn->owner), sharing = RTL_TURN_SHARING;
    int error = errno;
    while (owner == RTL_TURN_UNOWNED) /* without an owner no thread can be alone */
        if (atomic_compare_exchange_strong(&turn->owner, &owner, RTL_TURN_SHARED))
            return;
    if (owner == RTL_TURN_SHARED)
        return;
    if (owner != RTL_TURN_SHARING)
        atomic_compare_exchange_strong(&turn->owner, &owner, RTL_TURN_SHARING); /* or another thread shares it */
    if (!rtl_barrier_everywhere())
        nanosleep(&DRAINED, NULL); /* a sandbox has taken membarrier away since the queue got its owner */
    atomic_compare_exchange_strong(&turn->owner, &sharing, RTL_TURN_SHARED);
    errno = error;
}
