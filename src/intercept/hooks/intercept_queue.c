/*
 * Packets from the runtime's intercept queues (hooks.h): one, or a batch.
 *
 * The packets belong to the runtime, so changes are made in a copy. The runtime's writer is called exactly once a call:
 * it keeps packets that don't fit into the queue, and can do so only once.
 */
#include "intercept/hooks/hooks.h"

#include "intercept/hooks/packets.h"
#include "intercept/track/throttle.h"

enum { STACK_PACKETS = 4 }; /* larger batches are rewritten in the scratch: the stack may be small */

/* Return how many of the packets lie within the queue's ring, from the pointer on. Release 7.2.0 passes a pointer
 * into the ring and a count that goes past the ring's end: the other packets are at its beginning. */
static uint64_t before_the_end(const struct rtl_tracker *tracker, const char *packets, uint64_t n)
{
    uintptr_t start = (uintptr_t)packets, ring = (uintptr_t)tracker->ring, end = ring + tracker->ring_bytes;
    if (!tracker->ring || start < ring || start >= end)
        return n; /* the packets are a copy */
    uint64_t there = (end - start) / sizeof(union rtl_packet);
    return n < there ? n : there;
}

/* True if a marker can go on the packet: it has no signal, and its type has the signal in the usual place. */
static bool can_be_marked(const union rtl_packet *packet)
{
    uint32_t type = rtl_packet_type(packet);
    return (type == HSA_PACKET_TYPE_KERNEL_DISPATCH || type == HSA_PACKET_TYPE_BARRIER_AND ||
            type == HSA_PACKET_TYPE_BARRIER_OR) &&
           !packet->barrier.completion_signal.handle;
}

/* A barrier that waits for nothing and delays nothing. */
static const union rtl_packet empty_barrier = {
    .barrier = {.header = HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE}};

/* Put a marker (throttle.h) on the last of n packets, or on a barrier behind it, for which there is room. Returns
 * the number of added packets; *changed becomes true if there is a marker. */
static __attribute__((noinline)) uint64_t mark_end(struct rtl_tracker *tracker, union rtl_packet *packets, uint64_t n,
                                                   bool *changed)
{
    uint64_t more = can_be_marked(&packets[n - 1]) ? 0 : 1;
    union rtl_packet *last = &packets[n - 1 + more];
    if (rtl_packet_type(&packets[n - 1]) == HSA_PACKET_TYPE_INVALID ||
        atomic_load_explicit(&tracker->reason, memory_order_relaxed) == RTL_UNTIMED_SHUTDOWN)
        return 0; /* an INVALID packet stops the GPU; and after the end of timing no signal goes on packets */
    if (more)
        *last = empty_barrier;
    tracker->written += more;
    if (!rtl_throttle_send_marker(tracker, &last->barrier.completion_signal)) {
        tracker->written -= more;
        return 0;
    }
    *changed = true;
    return more;
}

static __attribute__((noinline)) void see_batch(struct rtl_tracker *tracker, const union rtl_packet *packets,
                                                uint64_t n, uint64_t index, rtl_packet_writer writer,
                                                enum rtl_policy policy)
{
    union rtl_packet on_stack[STACK_PACKETS + 1]; /* one more for a barrier, as in the scratch */
    union rtl_packet *copy = on_stack;
    uint64_t there = before_the_end(tracker, (const char *)packets, n);
    const union rtl_packet *ring = (const union rtl_packet *)(const void *)tracker->ring;
    uint64_t seen = n;
    bool wraps = there < n, room = true, changed = false, pushed = false;
    uint8_t clock;

    if (n > STACK_PACKETS) {
        copy = (union rtl_packet *)(void *)tracker->scratch;
        room = n < tracker->scratch_packets;
    }
    if (unlikely(wraps && n > tracker->ring_bytes / sizeof(union rtl_packet))) {
        seen = there; /* more than the queue holds: the memory behind the end can't hold its packets */
        room = false;
    }
    if (policy != RTL_PASS_ON)
        rtl_packet_count(tracker, &tracker->counters->packets, seen);
    if (unlikely(tracker->written + n > tracker->check_at)) /* look_at is UINT64_MAX where queues may fill up */
        rtl_throttle_wait(tracker, n);
    uint64_t now = rtl_packet_stamp(&clock);
    for (uint64_t i = 0; i < seen; i++) {
        const union rtl_packet *packet = i < there ? &packets[i] : &ring[i - there];
        /* decide by the copy: the application may be writing a slot that isn't valid yet */
        if (room)
            copy[i] = *packet;
        tracker->written++;
        uint32_t number = rtl_packet_see(tracker, room ? &copy[i] : packet, room, policy);
        uint8_t how = clock;
        uint64_t object = rtl_packet_wants_more()
                              ? rtl_packet_more(tracker, room ? &copy[i] : packet, index + i, number, room, policy)
                              : 0;
        if (object) {
            rtl_packet_set_probed(&copy[i], object);
            how |= RTL_PENDING_PROBED;
            changed = true;
        }
        if (number == RTL_NO_SIGNAL)
            continue;
        hsa_signal_t signal = rtl_packet_inject(tracker, number, now, how);
        pushed = true;
        if (!rtl_is_stand_in(number)) {
            copy[i].kernel.completion_signal = signal;
            changed = true;
            if (tracker->guarded)
                rtl_throttle_mark(tracker, number);
        }
    }
    tracker->written += n - seen;
    uint64_t more = room && rtl_throttle_end_is_due(tracker, n) ? mark_end(tracker, copy, n, &changed) : 0;
    writer(changed || (wraps && room) ? copy : packets, n + more);
    if (pushed)
        rtl_wake_if_parked();
}

/* A packet without a signal of ours gets a marker: once in a quarter of a queue that must not fill up. */
static __attribute__((noinline)) void write_marked(struct rtl_tracker *tracker, const union rtl_packet *packet,
                                                   rtl_packet_writer writer)
{
    union rtl_packet pair[2] = {*packet};
    bool changed = false;
    uint64_t more = mark_end(tracker, pair, 1, &changed);
    writer(changed ? pair : packet, 1 + more);
}

static inline void write_unmarked(struct rtl_tracker *tracker, const union rtl_packet *packet, rtl_packet_writer writer)
{
    if (unlikely(tracker->guarded) && rtl_throttle_mark_is_due(tracker))
        write_marked(tracker, packet, writer);
    else
        writer(packet, 1);
}

/* Write a timed packet; with another kernel object, if that isn't 0. */
__attribute__((always_inline)) static inline void write_timed(struct rtl_tracker *tracker,
                                                              const union rtl_packet *packet, rtl_packet_writer writer,
                                                              uint32_t number, uint64_t object)
{
    uint8_t how;
    uint64_t now = rtl_packet_stamp(&how);
    how |= object ? RTL_PENDING_PROBED : 0;
    union rtl_packet copy;
    if (object) {
        copy = *packet;
        rtl_packet_set_probed(&copy, object);
        packet = &copy;
    }
    if (unlikely(rtl_is_stand_in(number))) {
        rtl_packet_inject(tracker, number, now, how);
        write_unmarked(tracker, packet, writer);
        rtl_wake_if_parked();
        return;
    }
    if (!object)
        copy = *packet;
    if (unlikely(tracker->guarded))
        rtl_throttle_mark(tracker, number);
    copy.kernel.completion_signal = rtl_packet_inject(tracker, number, now, how);
    writer(&copy, 1);
    rtl_wake_if_parked();
}

/* Write a packet that is linked to a call or may be probed, timed or not. */
static __attribute__((noinline)) void see_more(struct rtl_tracker *tracker, const union rtl_packet *packet,
                                               uint64_t index, rtl_packet_writer writer, uint32_t number,
                                               enum rtl_policy policy)
{
    uint64_t object = rtl_packet_more(tracker, packet, index, number, true, policy);
    if (number == RTL_NO_SIGNAL)
        write_unmarked(tracker, packet, writer);
    else
        write_timed(tracker, packet, writer, number, object);
}

static inline void see_one(struct rtl_tracker *tracker, const union rtl_packet *packet, uint64_t index,
                           rtl_packet_writer writer, enum rtl_policy policy)
{
    if (unlikely(tracker->guarded) && unlikely(tracker->written >= tracker->check_at))
        rtl_throttle_wait(tracker, 1);
    if (likely(policy != RTL_PASS_ON))
        rtl_packet_count(tracker, &tracker->counters->packets, 1);
    tracker->written++; /* in any mode: the queue must not fill up */
    uint32_t number = rtl_packet_see(tracker, packet, true, policy);
    if (rtl_packet_wants_more()) {
        see_more(tracker, packet, index, writer, number, policy);
        return;
    }
    if (number == RTL_NO_SIGNAL) {
        write_unmarked(tracker, packet, writer);
        return;
    }
    write_timed(tracker, packet, writer, number, 0);
}

void rtl_dispatch(const void *packets, uint64_t n, uint64_t user_index, void *data, rtl_packet_writer writer)
{
    struct rtl_tracker *tracker = data;
    const union rtl_packet *packet = packets;

    if (unlikely(!writer))
        return; /* nowhere to pass the packets on */
    if (unlikely(!rtl_recording() || n == 0)) {
        writer(packets, n);
        return;
    }
    enum rtl_policy policy = rtl_packets_begin(tracker);
    if (unlikely(n > 1))
        see_batch(tracker, packet, n, user_index, writer, policy);
    else
        see_one(tracker, packet, user_index, writer, policy);
    rtl_packets_end(tracker);
}
