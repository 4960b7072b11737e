/*
 * Packets as the runtime's intercept queues hand them over (intercept_queue.h): one, or a batch.
 *
 * The packets belong to the runtime: what is changed is changed in a copy. The runtime's writer is called exactly once
 * a call, because it keeps what doesn't fit into the queue and can do so only once.
 */
#include "intercept/hooks/intercept_queue.h"

#include "intercept/hooks/packets.h"
#include "intercept/track/throttle.h"

enum { STACK_PACKETS = 4 }; /* batches up to this are rewritten on the stack, which may be small */

/*
 * How many of the packets lie within the queue's ring, behind the pointer. A release is known that hands over the place
 * in the ring and a count that goes past its end: the rest of those packets are at its beginning.
 */
static uint64_t before_the_end(const struct rtl_tap *tap, const char *packets, uint64_t n)
{
    uintptr_t start = (uintptr_t)packets, ring = (uintptr_t)tap->ring, end = ring + tap->ring_bytes;
    if (!tap->ring || start < ring || start >= end)
        return n; /* a copy */
    uint64_t there = (end - start) / sizeof(union rtl_packet);
    return n < there ? n : there;
}

/* One that may carry a mark: its signal is where all have it, and it has none. */
static bool can_be_marked(const union rtl_packet *packet)
{
    uint32_t type = rtl_packet_type(packet);
    return (type == HSA_PACKET_TYPE_KERNEL_DISPATCH || type == HSA_PACKET_TYPE_BARRIER_AND ||
            type == HSA_PACKET_TYPE_BARRIER_OR) &&
           !packet->barrier.completion_signal.handle;
}

/* A barrier that waits for nothing and holds nothing up. */
static const union rtl_packet empty_barrier = {
    .barrier = {.header = HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE}};

/*
 * A mark on the last of n packets, or on a barrier behind it, for which there is room. Says how many packets more there
 * are; `changed` becomes true if there is a mark.
 */
static __attribute__((noinline)) uint64_t mark_end(struct rtl_tap *tap, union rtl_packet *packets, uint64_t n,
                                                   bool *changed)
{
    uint64_t more = can_be_marked(&packets[n - 1]) ? 0 : 1;
    union rtl_packet *last = &packets[n - 1 + more];
    if (rtl_packet_type(&packets[n - 1]) == HSA_PACKET_TYPE_INVALID ||
        atomic_load_explicit(&tap->verdict, memory_order_relaxed) == RTL_UNTIMED_SHUTDOWN)
        return 0; /* the GPU won't come behind it; nobody may be given a signal any more */
    if (more)
        *last = empty_barrier;
    tap->written += more;
    if (!rtl_full_gauge(tap, &last->barrier.completion_signal)) {
        tap->written -= more;
        return 0;
    }
    *changed = true;
    return more;
}

static __attribute__((noinline)) void see_batch(struct rtl_tap *tap, const union rtl_packet *packets, uint64_t n,
                                                rtl_packet_writer writer, enum rtl_policy policy)
{
    union rtl_packet on_stack[STACK_PACKETS + 1]; /* room for one behind them, as in the scratch */
    union rtl_packet *copy = on_stack;
    uint64_t there = before_the_end(tap, (const char *)packets, n);
    const union rtl_packet *ring = (const union rtl_packet *)(const void *)tap->ring;
    uint64_t seen = n;
    bool wraps = there < n, room = true, counter, injected = false, pushed = false;

    if (n > STACK_PACKETS) {
        copy = (union rtl_packet *)(void *)tap->scratch;
        room = n < tap->scratch_packets;
    }
    if (__builtin_expect(wraps && n > tap->ring_bytes / sizeof(union rtl_packet), 0)) {
        seen = there; /* more than the queue holds: what is behind the end can't be packets of it */
        room = false;
    }
    if (policy != RTL_PASS_ON)
        rtl_packet_count(tap, &tap->line->packets, seen);
    if (__builtin_expect(tap->written + n > tap->look_at, 0)) /* look_at is UINT64_MAX where queues may fill up */
        rtl_full_look(tap, n);
    uint64_t now = rtl_packet_stamp(&counter);
    for (uint64_t i = 0; i < seen; i++) {
        const union rtl_packet *packet = i < there ? &packets[i] : &ring[i - there];
        /* decided by the copy: a slot that isn't valid yet may be written by the application right now */
        if (room)
            copy[i] = *packet;
        tap->written++;
        uint16_t number = rtl_packet_see(tap, room ? &copy[i] : packet, room, policy);
        if (number == RTL_NO_SIGNAL)
            continue;
        hsa_signal_t signal = rtl_packet_inject(tap, number, now, counter);
        pushed = true;
        if (!rtl_is_card(number)) {
            copy[i].kernel.completion_signal = signal;
            injected = true;
            if (tap->guarded)
                rtl_full_mark(tap, number);
        }
    }
    tap->written += n - seen;
    uint64_t more = room && rtl_full_end_is_due(tap, n) ? mark_end(tap, copy, n, &injected) : 0;
    writer(injected || (wraps && room) ? copy : packets, n + more);
    if (pushed)
        rtl_wake_if_parked();
}

/* A packet that carries no signal of ours, and a mark with it: once in a quarter of a queue that must not fill up. */
static __attribute__((noinline)) void write_gauged(struct rtl_tap *tap, const union rtl_packet *packet,
                                                   rtl_packet_writer writer)
{
    union rtl_packet pair[2] = {*packet};
    bool changed = false;
    uint64_t more = mark_end(tap, pair, 1, &changed);
    writer(changed ? pair : packet, 1 + more);
}

static inline void write_unmarked(struct rtl_tap *tap, const union rtl_packet *packet, rtl_packet_writer writer)
{
    if (__builtin_expect(tap->guarded, 0) && rtl_full_mark_is_due(tap))
        write_gauged(tap, packet, writer);
    else
        writer(packet, 1);
}

static inline void see_one(struct rtl_tap *tap, const union rtl_packet *packet, rtl_packet_writer writer,
                           enum rtl_policy policy)
{
    if (__builtin_expect(tap->guarded, 0) && __builtin_expect(tap->written >= tap->look_at, 0))
        rtl_full_look(tap, 1);
    if (__builtin_expect(policy != RTL_PASS_ON, 1))
        rtl_packet_count(tap, &tap->line->packets, 1);
    tap->written++; /* in any mode: the queue must not fill up */
    uint16_t number = rtl_packet_see(tap, packet, true, policy);
    if (number == RTL_NO_SIGNAL) {
        write_unmarked(tap, packet, writer);
        return;
    }
    bool counter;
    uint64_t now = rtl_packet_stamp(&counter);
    if (__builtin_expect(rtl_is_card(number), 0)) {
        rtl_packet_inject(tap, number, now, counter);
        write_unmarked(tap, packet, writer);
        rtl_wake_if_parked();
        return;
    }
    if (__builtin_expect(tap->guarded, 0))
        rtl_full_mark(tap, number);
    union rtl_packet copy = *packet;
    copy.kernel.completion_signal = rtl_packet_inject(tap, number, now, counter);
    writer(&copy, 1);
    rtl_wake_if_parked();
}

void rtl_dispatch(const void *packets, uint64_t n, uint64_t user_index, void *data, rtl_packet_writer writer)
{
    struct rtl_tap *tap = data;
    const union rtl_packet *packet = packets;
    (void)user_index;

    if (__builtin_expect(!writer, 0))
        return; /* nobody to pass anything on to */
    if (__builtin_expect(!rtl_recording() || n == 0, 0)) {
        writer(packets, n);
        return;
    }
    enum rtl_policy policy = rtl_packets_begin(tap);
    if (__builtin_expect(n > 1, 0))
        see_batch(tap, packet, n, writer, policy);
    else
        see_one(tap, packet, writer, policy);
    rtl_packets_end(tap);
}
