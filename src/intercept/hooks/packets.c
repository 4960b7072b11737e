/* The rare parts of handling a packet: rows, signals, the application's signals, extended dispatches (packets.h). */
#include "intercept/hooks/packets.h"

#include <errno.h>

#include "intercept/track/probe_gate.h"

enum {
    MAKE_AT_ONCE = 8, /* signals made by a dispatch that finds none */
    PM4_FORMAT = 1,   /* amd_format of two packet types that complete like a barrier */
};

uint32_t rtl_packet_make_ready(struct rtl_tracker *tracker, uint32_t row)
{
    int error = errno;
    bool ready = rtl_tracker_populate(tracker, row + 1);
    errno = error;
    return ready ? row : RTL_KERNEL_OTHER;
}

bool rtl_packet_refill(struct rtl_tracker *tracker)
{
    uint32_t batch = atomic_load_explicit(&tracker->batch, memory_order_relaxed);
    tracker->cached = rtl_pool_acquire(tracker->pool, tracker->cache, batch);
    if (!tracker->cached) {
        int error = errno;
        tracker->cached = rtl_pool_make(tracker->pool, tracker->cache, batch < MAKE_AT_ONCE ? batch : MAKE_AT_ONCE);
        errno = error;
    }
    for (uint32_t i = 1; i <= RTL_FETCH_AHEAD && i < tracker->cached; i++) /* the first of them is used right now */
        rtl_pool_fetch(tracker->pool, tracker->cache[tracker->cached - 1 - i], false);
    return tracker->cached != 0;
}

static inline bool have_stand_in(struct rtl_tracker *tracker)
{
    if (unlikely(tracker->stand_ins_cached == 0))
        tracker->stand_ins_cached = rtl_pool_acquire_stand_ins(tracker->pool, tracker->stand_ins, RTL_SIGNALS_BATCH);
    return tracker->stand_ins_cached != 0;
}

/* A kernel dispatch with a signal of the application. The packet stays unchanged; returns its stand-in's number. */
uint32_t rtl_packet_see_signalled(struct rtl_tracker *tracker, struct rtl_dispatches *cell, uint32_t row,
                                  const hsa_kernel_dispatch_packet_t *packet)
{
    uint64_t handle = packet->completion_signal.handle;
    int reason = atomic_load_explicit(&tracker->reason, memory_order_relaxed);
    struct rtl_app_signal *app_signal =
        atomic_load_explicit(&rtl_app_signals_followed, memory_order_relaxed) ? rtl_app_signal_find(handle) : NULL;
    if (unlikely(reason != RTL_NO_REASON || !app_signal || !have_stand_in(tracker) ||
                 !rtl_pending_room(&tracker->pending))) {
        if (app_signal)
            rtl_app_signal_begin(app_signal, RTL_USE_OTHER); /* a kernel that had it before may still be timed */
        return rtl_packet_untimed(tracker, cell,
                                  reason != RTL_NO_REASON ? (enum rtl_untimed_reason)reason
                                  : app_signal            ? RTL_UNTIMED_NO_ROOM
                                                          : RTL_UNTIMED_UNSAFE_SIGNAL);
    }
    struct rtl_pool *pool = tracker->pool;
    uint32_t number = tracker->stand_ins[--tracker->stand_ins_cached];
    amd_signal_t *stand_in = rtl_pool_signal(pool, number);
    const amd_signal_t *signal = (const amd_signal_t *)(uintptr_t)handle;
    int64_t value = __atomic_load_n(&signal->value, __ATOMIC_RELAXED);
    if (unlikely(!rtl_app_signal_begin(app_signal, (uintptr_t)stand_in)))
        __atomic_store_n(&stand_in->value, RTL_STAND_IN_SHARED,
                         __ATOMIC_RELEASE); /* the worker counts it under that reason */
    /* after rtl_app_signal_begin: its locked operations would wait for this line, which the worker read last */
    struct rtl_inflight *inflight = &pool->inflight[number];
    rtl_packet_begin_pending(tracker, row);
    inflight->app_signal = app_signal;
    inflight->value = value;
    if (unlikely(rtl_hot.trace))
        rtl_packet_note_shape(inflight, packet);
    if (likely(tracker->stand_ins_cached != 0))
        rtl_pool_fetch(pool, tracker->stand_ins[tracker->stand_ins_cached - 1], true);
    rtl_packet_count(tracker, &tracker->counters->injected, 1);
    return number;
}

/* Any other packet with a signal, or an untimed kernel: it will overwrite an earlier kernel's times. */
void rtl_packet_see_signal(uint32_t type, const union rtl_packet *packet)
{
    if (!atomic_load_explicit(&rtl_app_signals_followed, memory_order_relaxed))
        return;
    struct rtl_app_signal *app_signal = rtl_app_signal_find(packet->barrier.completion_signal.handle);
    if (!app_signal)
        return;
    if (type == HSA_PACKET_TYPE_KERNEL_DISPATCH || type == HSA_PACKET_TYPE_BARRIER_AND ||
        type == HSA_PACKET_TYPE_BARRIER_OR ||
        (type == HSA_PACKET_TYPE_VENDOR_SPECIFIC &&
         (packet->vendor.format == PM4_FORMAT || packet->vendor.format == RTL_BARRIER_VALUE_FORMAT)))
        rtl_app_signal_begin(app_signal, RTL_USE_OTHER);
    else
        rtl_app_signal_mark_shared(app_signal);
}

/* An extended dispatch: the grid is in clusters of workgroups; all else is as in a kernel dispatch, also the times
 * that the GPU writes. */
uint32_t rtl_packet_see_extended(struct rtl_tracker *tracker, const union rtl_packet *packet, bool may_inject,
                                 enum rtl_policy policy)
{
    union rtl_packet decoded = *packet;
    const uint32_t clusters[3] = {packet->extended.clusters_x, packet->extended.clusters_y,
                                  packet->extended.clusters_z};
    uint32_t grid[3];
    for (int i = 0; i < 3; i++)
        grid[i] = clusters[i] * packet->extended.cluster_size[i] * packet->extended.workgroup[i];
    decoded.kernel.grid_size_x = grid[0];
    decoded.kernel.grid_size_y = grid[1];
    decoded.kernel.grid_size_z = grid[2];
    return rtl_packet_see_kernel(tracker, &decoded.kernel, may_inject, policy);
}

/* True if its signal is the application's and in use twice: its completion can't be detected. */
static bool is_untellable(const struct rtl_tracker *tracker, uint32_t number)
{
    return rtl_is_stand_in(number) &&
           __atomic_load_n(&rtl_pool_signal(tracker->pool, number)->value, __ATOMIC_RELAXED) < RTL_SIGNAL_ARMED;
}

uint64_t rtl_packet_more(struct rtl_tracker *tracker, const union rtl_packet *packet, uint64_t index, uint32_t number,
                         bool may_change, enum rtl_policy policy)
{
    uint8_t more = atomic_load_explicit(&rtl_hot.more, memory_order_relaxed);
    if (policy == RTL_PASS_ON || !rtl_packet_is_dispatch(packet))
        return 0;
    if (more & RTL_MORE_LINKED)
        rtl_links_see(tracker, index, number);
    if (!(more & RTL_MORE_PROBE) || rtl_packet_type(packet) != HSA_PACKET_TYPE_KERNEL_DISPATCH)
        return 0;
    return rtl_probe_gate_try(tracker, &packet->kernel,
                              may_change && number != RTL_NO_SIGNAL && !is_untellable(tracker, number));
}

void rtl_packet_set_probed(union rtl_packet *packet, uint64_t object)
{
    const uint32_t scopes =
        ((1u << HSA_PACKET_HEADER_WIDTH_SCACQUIRE_FENCE_SCOPE) - 1) << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
        ((1u << HSA_PACKET_HEADER_WIDTH_SCRELEASE_FENCE_SCOPE) - 1) << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
    const uint32_t system = HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                            HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
    uint16_t header = (uint16_t)((packet->vendor.header & ~scopes) | system);
    packet->kernel.kernel_object = object;
    __atomic_store_n(&packet->vendor.header, header, __ATOMIC_RELAXED); /* other threads may read it in the ring */
}

uint8_t rtl_packet_more_here(struct rtl_tracker *tracker, union rtl_packet *packet, uint64_t index, uint32_t number,
                             enum rtl_policy policy)
{
    uint64_t object = rtl_packet_more(tracker, packet, index, number, true, policy);
    if (!object)
        return 0;
    rtl_packet_set_probed(packet, object);
    return RTL_PENDING_PROBED;
}
