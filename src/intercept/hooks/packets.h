/*
 * Handles packets of any kind of queue: counts them and decides about them.
 *
 * Every packet is counted. A kernel dispatch that can be timed gets a profiling signal if it carries none; one with a
 * signal of the application stays unchanged, because that signal shows its times (app_signals.h). The code that passes
 * packets on calls these functions for each packet, on the submitting thread, one at a time a queue:
 *
 *     policy = rtl_packets_begin(tracker);
 *     tracker->written++;
 *     number = rtl_packet_see(tracker, packet, may_inject, policy);   counts it and decides
 *     if (rtl_packet_wants_more())
 *         object = rtl_packet_more(...);   links it to its call; may select a probe's copy of its kernel
 *     if (number != RTL_NO_SIGNAL)
 *         signal = rtl_packet_inject(tracker, number, now, how);   pushes it to the worker
 *     the signal goes on the packet unless rtl_is_stand_in(number), and the packet goes to the GPU
 *     rtl_wake_if_parked();   if one was injected
 *     rtl_packets_end(tracker);
 *
 * In steady state a timed dispatch costs one look-up, about ten stores to lines that only this thread writes, and a
 * copy of the packet. The bounded exceptions are in packets.c: a kernel's first dispatch assigns its row, an empty pool
 * below its limit grows, and a parked worker is woken.
 */
#ifndef RTL_INTERCEPT_PACKETS_H
#define RTL_INTERCEPT_PACKETS_H

#include <hsa/hsa.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/likely.h"
#include "intercept/base/hsa_clock.h"
#include "intercept/base/tool.h"
#include "intercept/track/app_signals.h"
#include "intercept/track/hot_line.h"
#include "intercept/track/kernel_rows.h"
#include "intercept/track/links.h"
#include "intercept/track/policy.h"
#include "intercept/track/queue_tracker.h"
#include "intercept/track/wakeup.h"

enum { RTL_FETCH_AHEAD = 2 };          /* a signal's record is prefetched this many dispatches ahead */
enum { RTL_BARRIER_VALUE_FORMAT = 2 }; /* amd_format of a packet that waits for a signal's value */
enum { RTL_EXTENDED_FORMAT = 3 };      /* amd_format of an extended kernel dispatch, where the runtime has those */

union rtl_packet {
    hsa_kernel_dispatch_packet_t kernel;
    struct { /* vendor packets */
        uint16_t header;
        uint8_t format;
    } vendor;
    struct { /* hsa_amd_ext_kernel_dispatch_packet_t; fields not named are where a kernel dispatch has them */
        uint16_t header;
        uint8_t format, setup;
        uint16_t workgroup[3], reserved;
        uint32_t clusters_x;
        uint16_t clusters_y, clusters_z;
        uint8_t cluster_size[3]; /* in workgroups */
    } extended;
    hsa_barrier_and_packet_t barrier; /* all packets have their completion signal there */
    char bytes[64];
};
_Static_assert(sizeof(union rtl_packet) == 64, "AQL packet");
_Static_assert(offsetof(union rtl_packet, extended.clusters_x) == 12 &&
                   offsetof(union rtl_packet, extended.cluster_size) == 20 &&
                   offsetof(hsa_kernel_dispatch_packet_t, private_segment_size) == 24,
               "only the grid differs");
_Static_assert(offsetof(hsa_barrier_and_packet_t, completion_signal) ==
                       offsetof(hsa_kernel_dispatch_packet_t, completion_signal) &&
                   offsetof(hsa_barrier_or_packet_t, completion_signal) ==
                       offsetof(hsa_kernel_dispatch_packet_t, completion_signal),
               "one place for the signal");

static inline uint32_t rtl_packet_type(const union rtl_packet *packet)
{
    return packet->vendor.header >> HSA_PACKET_HEADER_TYPE & ((1u << HSA_PACKET_HEADER_WIDTH_TYPE) - 1);
}

/* True if a packet whose header the GPU cleared was a kernel: a known one or, after OnUnload, when none is known,
 * one with a workgroup size, which no other packet has there. */
static inline bool rtl_packet_was_kernel(const hsa_kernel_dispatch_packet_t *packet)
{
    return packet->kernel_object &&
           (packet->workgroup_size_x || rtl_map_find(&rtl_kernel_map, packet->kernel_object) != NULL);
}

static inline bool rtl_packet_is_dispatch(const union rtl_packet *packet)
{
    uint32_t type = rtl_packet_type(packet);
    return type == HSA_PACKET_TYPE_KERNEL_DISPATCH ||
           (type == HSA_PACKET_TYPE_VENDOR_SPECIFIC && packet->vendor.format == RTL_EXTENDED_FORMAT &&
            rtl_tool.extended);
}

static inline void rtl_packet_count(const struct rtl_tracker *tracker, uint64_t *counter, uint64_t n)
{
    if (unlikely(tracker->shared))
        rtl_count_shared(counter, n);
    else
        rtl_count(counter, n);
}

/* --- off the steady path: packets.c --- */

/* Populate the pages of a row. Returns the row to count in: another one if there is no memory. */
uint32_t rtl_packet_make_ready(struct rtl_tracker *tracker, uint32_t row);
/* Refill the cache from the pool, or create signals. False if there are none. */
bool rtl_packet_refill(struct rtl_tracker *tracker);
/* A kernel dispatch with a signal of the application; returns its stand-in's number. */
uint32_t rtl_packet_see_signalled(struct rtl_tracker *tracker, struct rtl_dispatches *cell, uint32_t row,
                                  const hsa_kernel_dispatch_packet_t *packet);
void rtl_packet_see_signal(uint32_t type, const union rtl_packet *packet);
/* Rare work for a packet after rtl_packet_see returned `number`; `index` is the packet's in its queue. Returns the
 * kernel object for the packet, which the caller then marks RTL_PENDING_PROBED; 0: unchanged. */
uint64_t rtl_packet_more(struct rtl_tracker *tracker, const union rtl_packet *packet, uint64_t index, uint32_t number,
                         bool may_change, enum rtl_policy policy);
/* Give the packet the kernel object of a probe's copy. Its fences become system-wide: the copy engine clears the
 * block before and reads it afterwards, and the application's fences may not reach that memory. */
void rtl_packet_set_probed(union rtl_packet *packet, uint64_t object);
/* rtl_packet_more for a packet that is changed in place. Returns bits of RTL_PENDING_*. */
uint8_t rtl_packet_more_here(struct rtl_tracker *tracker, union rtl_packet *packet, uint64_t index, uint32_t number,
                             enum rtl_policy policy);
uint32_t rtl_packet_see_extended(struct rtl_tracker *tracker, const union rtl_packet *packet, bool may_inject,
                                 enum rtl_policy policy);

/* --- the steady path --- */

#define RTL_STORE(where, value) __atomic_store_n(&(where), (value), __ATOMIC_RELAXED)

/* Few dispatches need their signal's record: prefetch its line, which the worker's core has. */
static inline void rtl_packet_fetch_record(const struct rtl_tracker *tracker)
{
    if (tracker->cached >= RTL_FETCH_AHEAD)
        rtl_pool_fetch(tracker->pool, tracker->cache[tracker->cached - RTL_FETCH_AHEAD], true);
}

/* Store the grid for the event ring. */
static inline void rtl_packet_note_shape(struct rtl_inflight *inflight, const hsa_kernel_dispatch_packet_t *packet)
{
    inflight->grid[0] = packet->grid_size_x;
    inflight->grid[1] = packet->grid_size_y;
    inflight->grid[2] = packet->grid_size_z;
    inflight->workgroup[0] = packet->workgroup_size_x;
    inflight->workgroup[1] = packet->workgroup_size_y;
    inflight->workgroup[2] = packet->workgroup_size_z;
}

static inline uint32_t rtl_packet_untimed(struct rtl_tracker *tracker, struct rtl_dispatches *cell,
                                          enum rtl_untimed_reason reason)
{
    rtl_packet_count(tracker, &cell->untimed, 1);
    rtl_packet_count(tracker, rtl_queue_untimed(tracker->counters, reason), 1);
    tracker->barrier = 0; /* it held this dispatch */
    return RTL_NO_SIGNAL;
}

/* Begin the pending entry; rtl_packet_inject completes it. */
static inline void rtl_packet_begin_pending(struct rtl_tracker *tracker, uint32_t row)
{
    rtl_pending_next(&tracker->pending)->kernel = (uint16_t)row;
}

/* Count one kernel dispatch and decide about it. Returns the number of the signal that it must carry, or of its
 * stand-in if it carries one, or RTL_NO_SIGNAL. `may_inject` is false if the packet can't be changed. */
static inline uint32_t rtl_packet_see_kernel(struct rtl_tracker *tracker, const hsa_kernel_dispatch_packet_t *packet,
                                             bool may_inject, enum rtl_policy policy)
{
    uint32_t row = rtl_kernels_row(packet->kernel_object);
    if (unlikely(row >= atomic_load_explicit(&tracker->rows_ready, memory_order_acquire)))
        row = rtl_packet_make_ready(tracker, row);
    struct rtl_dispatches *cell = &tracker->dispatches[row];
    rtl_packet_count(tracker, &cell->calls, 1);
    rtl_packet_count(tracker, &tracker->counters->dispatches, 1);
    RTL_STORE(cell->grid[0], packet->grid_size_x);
    RTL_STORE(cell->grid[1], packet->grid_size_y);
    RTL_STORE(cell->grid[2], packet->grid_size_z);
    RTL_STORE(cell->workgroup[0], packet->workgroup_size_x);
    RTL_STORE(cell->workgroup[1], packet->workgroup_size_y);
    RTL_STORE(cell->workgroup[2], packet->workgroup_size_z);
    RTL_STORE(cell->lds_bytes, packet->group_segment_size);
    RTL_STORE(cell->scratch_bytes, packet->private_segment_size);

    int reason = atomic_load_explicit(&tracker->reason, memory_order_relaxed);
    bool signalled = packet->completion_signal.handle != 0;
    if (unlikely(policy == RTL_COUNT || (policy == RTL_TIME_UNSIGNALLED && signalled))) {
        if (signalled)
            rtl_packet_see_signal(HSA_PACKET_TYPE_KERNEL_DISPATCH, (const union rtl_packet *)(const void *)packet);
        return rtl_packet_untimed(tracker, cell,
                                  policy == RTL_TIME_UNSIGNALLED ? RTL_UNTIMED_OWN_SIGNAL
                                  : reason != RTL_NO_REASON      ? (enum rtl_untimed_reason)reason
                                                                 : RTL_UNTIMED_UNWATCHED);
    }
    if (unlikely(signalled))
        return rtl_packet_see_signalled(tracker, cell, row, packet);
    if (unlikely(reason != RTL_NO_REASON))
        ;
    else if (unlikely(!may_inject))
        reason = RTL_UNTIMED_BATCH;
    else if (unlikely(tracker->cached == 0) && !rtl_packet_refill(tracker))
        reason = RTL_UNTIMED_NO_SIGNAL;
    else if (unlikely(!rtl_pending_room(&tracker->pending))) /* rare (pending.h) */
        reason = RTL_UNTIMED_NO_ROOM;
    else {
        uint32_t number = tracker->cache[--tracker->cached];
        if (likely(tracker->cached >= RTL_FETCH_AHEAD))
            rtl_pool_fetch(tracker->pool, tracker->cache[tracker->cached - RTL_FETCH_AHEAD], false);
        rtl_packet_begin_pending(tracker, row);
        if (unlikely(rtl_hot.trace)) {
            rtl_packet_note_shape(&tracker->pool->inflight[number], packet);
            rtl_packet_fetch_record(tracker);
        }
        rtl_packet_count(tracker, &tracker->counters->injected, 1);
        return number;
    }
    return rtl_packet_untimed(tracker, cell, (enum rtl_untimed_reason)reason);
}

/* True if the packet waits for a signal that another queue, a copy or the host lowers. */
static inline bool rtl_packet_waits(uint32_t type, const union rtl_packet *packet)
{
    if (type == HSA_PACKET_TYPE_VENDOR_SPECIFIC)
        return packet->vendor.format == RTL_BARRIER_VALUE_FORMAT;
    uint64_t any = 0;
    for (int i = 0; i < 5; i++)
        any |= packet->barrier.dep_signal[i].handle;
    return any && (type == HSA_PACKET_TYPE_BARRIER_AND || type == HSA_PACKET_TYPE_BARRIER_OR);
}

/* Count any packet; for a kernel dispatch also decide. */
static inline uint32_t rtl_packet_see(struct rtl_tracker *tracker, const union rtl_packet *packet, bool may_inject,
                                      enum rtl_policy policy)
{
    uint32_t type = rtl_packet_type(packet);
    bool off = policy == RTL_PASS_ON;
    if (likely(type == HSA_PACKET_TYPE_KERNEL_DISPATCH && !off))
        return rtl_packet_see_kernel(tracker, &packet->kernel, may_inject, policy);
    if (type == HSA_PACKET_TYPE_VENDOR_SPECIFIC && packet->vendor.format == RTL_EXTENDED_FORMAT && rtl_tool.extended) {
        if (!off)
            return rtl_packet_see_extended(tracker, packet, may_inject, policy);
        type = HSA_PACKET_TYPE_KERNEL_DISPATCH; /* it leaves times in its signal like a kernel */
    }
    if (rtl_packet_waits(type, packet))
        tracker->barrier = RTL_PENDING_BARRIER;
    if (type != HSA_PACKET_TYPE_INVALID && packet->barrier.completion_signal.handle != 0)
        rtl_packet_see_signal(type, packet);
    return RTL_NO_SIGNAL;
}

/* True if packets need rtl_packet_more. */
static inline bool rtl_packet_wants_more(void)
{
    return unlikely(atomic_load_explicit(&rtl_hot.more, memory_order_relaxed));
}

/* A dispatch at that index that was counted without rtl_packet_see. */
static inline void rtl_packet_untimed_late(struct rtl_tracker *tracker, struct rtl_dispatches *cell, uint64_t index,
                                           enum rtl_untimed_reason reason)
{
    rtl_packet_untimed(tracker, cell, reason);
    if (unlikely(rtl_hot.linked))
        rtl_links_see(tracker, index, RTL_NO_SIGNAL);
}

/* Push the dispatch to the worker, before the packet is written: the kernel may complete at once. `now` and `how`
 * are from rtl_packet_stamp, with RTL_PENDING_PROBED added for a probe's copy. */
static inline hsa_signal_t rtl_packet_inject(struct rtl_tracker *tracker, uint32_t number, uint64_t now, uint8_t how)
{
    struct rtl_pending_dispatch *pending = rtl_pending_next(&tracker->pending);
    pending->number = number;
    pending->submit = now;
    pending->how = how | tracker->barrier;
    if (unlikely(tracker->barrier))
        tracker->barrier = 0;
    if (unlikely(tracker->guarded)) {
        tracker->pool->inflight[number].index = tracker->written;
        rtl_packet_fetch_record(tracker);
    }
    hsa_signal_t signal = tracker->pool->handle[number];
    rtl_pending_push(&tracker->pending);
    return signal;
}

/* Return the time, on the clock in *how: RTL_PENDING_TSC or 0. */
static inline uint64_t rtl_packet_stamp(uint8_t *how)
{
    _Static_assert(RTL_PENDING_TSC == true, "as it is in the hot line");
    *how = atomic_load_explicit(&rtl_hot.tsc, memory_order_relaxed);
    return *how ? rtl_tsc() : rtl_clock_now();
}

/* A dispatch is inside until rtl_packets_end. Returns the policy for its packets. Wakes the worker if a viewer has a
 * new request. */
static inline enum rtl_policy rtl_packets_begin(struct rtl_tracker *tracker)
{
    atomic_store_explicit(&tracker->inside, 1, memory_order_relaxed);
    rtl_light_barrier(); /* before policy and reason are read */
    enum rtl_policy policy = rtl_policy_now();
    if (unlikely(rtl_control_request_pending()))
        rtl_wake_if_parked();
    return policy;
}

static inline void rtl_packets_end(struct rtl_tracker *tracker)
{
    atomic_store_explicit(&tracker->inside, 0, memory_order_release);
}

#undef RTL_STORE
#endif
