/* The rule for a stale process, for single and merged processes. Pure. */
#ifndef RTL_MODEL_STALE_H
#define RTL_MODEL_STALE_H

#include "shm/segment_reader.h"

#define RTL_STALE_AFTER_NS (2 * 1000000000ull)

/* Packets in flight that the worker must process; those that bypass the library do not count. */
static inline uint64_t rtl_stale_in_flight(const struct rtl_snapshot *now)
{
    uint64_t depth = 0;
    for (uint32_t i = 0; i < now->queue_count; i++)
        if (now->queues[i].live && now->queues[i].path_reason != RTL_REASON_PAST_LIBRARY)
            depth += now->queues[i].depth;
    return depth;
}

/*
 * Return how long a process has been stale, in ns, or 0. Stale: packets are in flight, but the worker has made no pass
 * for RTL_STALE_AFTER_NS (it hangs, or the process is stopped). A parked worker is idle, and the dispatch that wakes it
 * must not raise an alarm: its time counts from the first snapshot with packets in flight. `moved`: a pass since the
 * previous snapshot. The caller keeps *since_ns between calls, 0 at first.
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
