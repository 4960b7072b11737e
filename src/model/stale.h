/* When a process is stale: the same rule for one that is watched alone and for one of several. Pure. */
#ifndef RTL_MODEL_STALE_H
#define RTL_MODEL_STALE_H

#include "shm/segment_reader.h"

#define RTL_STALE_AFTER_NS (2 * 1000000000ull)

/* What the worker has to see to: not what goes past the library. */
static inline uint64_t rtl_stale_in_flight(const struct rtl_snapshot *now)
{
    uint64_t depth = 0;
    for (uint32_t i = 0; i < now->queue_count; i++)
        if (now->queues[i].live && now->queues[i].path_reason != RTL_REASON_PAST_LIBRARY)
            depth += now->queues[i].depth;
    return depth;
}

/*
 * Stale means: something is in flight and the worker has not made a pass for a while (it hangs, or the process is
 * stopped). A parked worker is idle; a dispatch that has just woken it up must not raise an alarm, so what is parked
 * only counts from when we saw it. `moved`: a pass since the snapshot before; `since_ns` is kept from one call to the
 * next, 0 at first. For how long it is stale, 0 when it isn't.
 */
static inline uint64_t rtl_stale_ns(const struct rtl_snapshot *now, uint64_t in_flight, bool moved, uint64_t *since_ns)
{
    if (!in_flight || now->state != RTL_STATE_LIVE) {
        *since_ns = 0;
        return 0;
    }
    if (moved || !*since_ns)
        *since_ns = !now->parked && now->heartbeat_mono_ns && now->heartbeat_mono_ns < now->taken_mono_ns
                        ? now->heartbeat_mono_ns
                        : now->taken_mono_ns;
    uint64_t stuck = now->taken_mono_ns - *since_ns;
    return stuck >= RTL_STALE_AFTER_NS ? stuck : 0;
}

#endif
