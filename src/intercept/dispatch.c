/*
 * Counts every packet, decides which dispatches are timed, and puts a profiling signal on those that carry none
 * (dispatch.h). Those that carry one of the application's go as they are: that signal tells their times (own.h).
 *
 * The packets belong to the runtime: what is changed is changed in a copy. The runtime's writer is called exactly once
 * a call, because it keeps what doesn't fit into the queue and can do so only once.
 *
 * In steady state a timed dispatch costs one look-up, about ten stores into lines that only this thread writes, and a
 * copy of the packet. The exceptions, each bounded and off the steady path: a kernel's first dispatch takes its row,
 * an empty pool below its limit grows, and a parked worker is woken.
 */
#include "intercept/dispatch.h"

#include <errno.h>
#include <stddef.h>

#include "intercept/clock.h"
#include "intercept/full.h"
#include "intercept/kernels.h"
#include "intercept/mode.h"
#include "intercept/own.h"
#include "intercept/tap.h"
#include "intercept/tool.h"
#include "intercept/worker.h"

enum {
    STACK_PACKETS = 4,   /* batches up to this are rewritten on the stack, which may be small */
    MAKE_AT_ONCE = 8,    /* signals made by a dispatch that finds none */
    EXTENDED_FORMAT = 3, /* amd_format of an extended kernel dispatch, where the runtime has those */
    PM4_FORMAT = 1,      /* and of two packets that complete as a barrier does */
    BARRIER_VALUE_FORMAT = 2,
};

union packet {
    hsa_kernel_dispatch_packet_t kernel;
    struct { /* vendor packets */
        uint16_t header;
        uint8_t format;
    } vendor;
    struct { /* hsa_amd_ext_kernel_dispatch_packet_t: what isn't named is where a kernel dispatch has it */
        uint16_t header;
        uint8_t format, setup;
        uint16_t workgroup[3], reserved;
        uint32_t clusters_x;
        uint16_t clusters_y, clusters_z;
        uint8_t cluster_size[3]; /* in workgroups */
    } extended;
    hsa_barrier_and_packet_t barrier; /* its completion signal is where all packets have theirs */
    char bytes[64];
};
_Static_assert(sizeof(union packet) == 64, "AQL packet");
_Static_assert(offsetof(union packet, extended.clusters_x) == 12 &&
                   offsetof(union packet, extended.cluster_size) == 20 &&
                   offsetof(hsa_kernel_dispatch_packet_t, private_segment_size) == 24,
               "only the grid differs");
_Static_assert(offsetof(hsa_barrier_and_packet_t, completion_signal) ==
                       offsetof(hsa_kernel_dispatch_packet_t, completion_signal) &&
                   offsetof(hsa_barrier_or_packet_t, completion_signal) ==
                       offsetof(hsa_kernel_dispatch_packet_t, completion_signal),
               "one place for the signal");

static inline void count(const struct rtl_tap *tap, uint64_t *counter, uint64_t n)
{
    if (__builtin_expect(tap->shared, 0))
        rtl_count_shared(counter, n);
    else
        rtl_count(counter, n);
}

static __attribute__((noinline)) uint32_t make_ready(struct rtl_tap *tap, uint32_t row)
{
    int error = errno;
    bool ready = rtl_tap_populate(tap, row + 1);
    errno = error;
    return ready ? row : RTL_KERNEL_OTHER;
}

static __attribute__((noinline)) bool refill(struct rtl_tap *tap)
{
    uint32_t batch = atomic_load_explicit(&tap->batch, memory_order_relaxed);
    tap->cached = rtl_pool_take(tap->pool, tap->cache, batch);
    if (!tap->cached) {
        int error = errno;
        tap->cached = rtl_pool_make(tap->pool, tap->cache, batch < MAKE_AT_ONCE ? batch : MAKE_AT_ONCE);
        errno = error;
    }
    return tap->cached != 0;
}

#define STORE(where, value) __atomic_store_n(&(where), (value), __ATOMIC_RELAXED)

/* What the event ring says of a dispatch and the statistics don't. */
static inline void note_shape(struct rtl_inflight *inflight, const hsa_kernel_dispatch_packet_t *packet)
{
    inflight->grid[0] = packet->grid_size_x;
    inflight->grid[1] = packet->grid_size_y;
    inflight->grid[2] = packet->grid_size_z;
    inflight->workgroup[0] = packet->workgroup_size_x;
    inflight->workgroup[1] = packet->workgroup_size_y;
    inflight->workgroup[2] = packet->workgroup_size_z;
}

static inline uint16_t give_up_on(struct rtl_tap *tap, struct rtl_dispatches *line, enum rtl_untimed_reason reason)
{
    count(tap, &line->untimed, 1);
    count(tap, rtl_queue_untimed(tap->line, reason), 1);
    return RTL_NO_SIGNAL;
}

static inline bool have_card(struct rtl_tap *tap)
{
    if (__builtin_expect(tap->cards_cached == 0, 0))
        tap->cards_cached = rtl_pool_take_cards(tap->pool, tap->cards, RTL_SIGNALS_BATCH);
    return tap->cards_cached != 0;
}

/*
 * A kernel dispatch that carries a signal of the application's. The packet isn't changed: what is returned is the
 * number of its card.
 */
static __attribute__((noinline)) uint16_t see_signalled(struct rtl_tap *tap, struct rtl_dispatches *line, uint32_t row,
                                                        const hsa_kernel_dispatch_packet_t *packet)
{
    uint64_t handle = packet->completion_signal.handle;
    int verdict = atomic_load_explicit(&tap->verdict, memory_order_relaxed);
    struct rtl_own *own = atomic_load_explicit(&rtl_own_timed, memory_order_relaxed) ? rtl_own_find(handle) : NULL;
    if (__builtin_expect(verdict != RTL_VERDICT_TIME || !own || !have_card(tap) || !rtl_pending_room(&tap->pending),
                         0)) {
        if (own)
            rtl_own_begin(own, RTL_OWN_OTHER); /* the kernel that had it before may still be timed */
        return give_up_on(tap, line,
                          verdict != RTL_VERDICT_TIME ? (enum rtl_untimed_reason)verdict
                          : own                       ? RTL_UNTIMED_NO_ROOM
                                                      : RTL_UNTIMED_UNSAFE_SIGNAL);
    }
    uint16_t number = tap->cards[--tap->cards_cached];
    amd_signal_t *card = rtl_pool_signal(tap->pool, number);
    struct rtl_inflight *inflight = &tap->pool->inflight[number];
    const amd_signal_t *signal = (const amd_signal_t *)(uintptr_t)handle;
    inflight->kernel = row;
    inflight->own = own;
    inflight->value = __atomic_load_n(&signal->value, __ATOMIC_RELAXED);
    if (__builtin_expect(rtl_tool.trace, 0))
        note_shape(inflight, packet);
    if (__builtin_expect(!rtl_own_begin(own, (uintptr_t)card), 0))
        __atomic_store_n(&card->value, RTL_CARD_SHARED, __ATOMIC_RELEASE); /* for the worker to count */
    count(tap, &tap->line->injected, 1);
    return number;
}

/* Any other packet that carries a signal, or a kernel that isn't timed: it will overwrite what a kernel left there. */
static __attribute__((noinline)) void see_signal(uint32_t type, const union packet *packet)
{
    if (!atomic_load_explicit(&rtl_own_timed, memory_order_relaxed))
        return;
    struct rtl_own *own = rtl_own_find(packet->barrier.completion_signal.handle);
    if (!own)
        return;
    if (type == HSA_PACKET_TYPE_KERNEL_DISPATCH || type == HSA_PACKET_TYPE_BARRIER_AND ||
        type == HSA_PACKET_TYPE_BARRIER_OR ||
        (type == HSA_PACKET_TYPE_VENDOR_SPECIFIC &&
         (packet->vendor.format == PM4_FORMAT || packet->vendor.format == BARRIER_VALUE_FORMAT)))
        rtl_own_begin(own, RTL_OWN_OTHER);
    else
        rtl_own_give_up(own);
}

/*
 * Counts one kernel dispatch and decides about it. Returns the number of the signal that it is to carry, or of its card
 * if it carries one already, or RTL_NO_SIGNAL. `may_inject` is false where the packet can't be changed.
 */
static inline uint16_t see_kernel(struct rtl_tap *tap, const hsa_kernel_dispatch_packet_t *packet, bool may_inject,
                                  enum rtl_policy policy)
{
    uint32_t row = rtl_kernels_row(packet->kernel_object);
    if (__builtin_expect(row >= atomic_load_explicit(&tap->rows_ready, memory_order_acquire), 0))
        row = make_ready(tap, row);
    struct rtl_dispatches *line = &tap->dispatches[row];
    count(tap, &line->calls, 1);
    count(tap, &tap->line->dispatches, 1);
    STORE(line->grid[0], packet->grid_size_x);
    STORE(line->grid[1], packet->grid_size_y);
    STORE(line->grid[2], packet->grid_size_z);
    STORE(line->workgroup[0], packet->workgroup_size_x);
    STORE(line->workgroup[1], packet->workgroup_size_y);
    STORE(line->workgroup[2], packet->workgroup_size_z);
    STORE(line->lds_bytes, packet->group_segment_size);
    STORE(line->scratch_bytes, packet->private_segment_size);

    int reason = atomic_load_explicit(&tap->verdict, memory_order_relaxed);
    bool signalled = packet->completion_signal.handle != 0;
    if (__builtin_expect(policy == RTL_COUNT || (policy == RTL_TIME_UNSIGNALLED && signalled), 0)) {
        if (signalled)
            see_signal(HSA_PACKET_TYPE_KERNEL_DISPATCH, (const union packet *)(const void *)packet);
        return give_up_on(tap, line,
                          policy == RTL_TIME_UNSIGNALLED ? RTL_UNTIMED_OWN_SIGNAL
                          : reason != RTL_VERDICT_TIME   ? (enum rtl_untimed_reason)reason
                                                         : RTL_UNTIMED_UNWATCHED);
    }
    if (__builtin_expect(signalled, 0))
        return see_signalled(tap, line, row, packet);
    if (__builtin_expect(reason != RTL_VERDICT_TIME, 0))
        ;
    else if (__builtin_expect(!may_inject, 0))
        reason = RTL_UNTIMED_BATCH;
    else if (__builtin_expect(tap->cached == 0, 0) && !refill(tap))
        reason = RTL_UNTIMED_NO_SIGNAL;
    else if (__builtin_expect(!rtl_pending_room(&tap->pending), 0)) /* can't be: the ring has a slot a signal */
        reason = RTL_UNTIMED_NO_ROOM;
    else {
        uint16_t number = tap->cache[--tap->cached];
        tap->pool->inflight[number].kernel = row;
        if (__builtin_expect(rtl_tool.trace, 0))
            note_shape(&tap->pool->inflight[number], packet);
        count(tap, &tap->line->injected, 1);
        return number;
    }
    return give_up_on(tap, line, (enum rtl_untimed_reason)reason);
}

/*
 * An extended dispatch: its grid is counted in clusters of workgroups, all else is as in a kernel dispatch, also what
 * the GPU writes into the completion signal.
 */
static __attribute__((noinline)) uint16_t see_extended(struct rtl_tap *tap, const union packet *packet, bool may_inject,
                                                       enum rtl_policy policy)
{
    union packet decoded = *packet;
    const uint32_t clusters[3] = {packet->extended.clusters_x, packet->extended.clusters_y,
                                  packet->extended.clusters_z};
    uint32_t grid[3];
    for (int i = 0; i < 3; i++)
        grid[i] = clusters[i] * packet->extended.cluster_size[i] * packet->extended.workgroup[i];
    decoded.kernel.grid_size_x = grid[0];
    decoded.kernel.grid_size_y = grid[1];
    decoded.kernel.grid_size_z = grid[2];
    return see_kernel(tap, &decoded.kernel, may_inject, policy);
}

static inline uint32_t type_of(const union packet *packet)
{
    return packet->vendor.header >> HSA_PACKET_HEADER_TYPE & ((1u << HSA_PACKET_HEADER_WIDTH_TYPE) - 1);
}

/* Counts any packet; for a kernel dispatch, decides. */
static inline uint16_t see(struct rtl_tap *tap, const union packet *packet, bool may_inject, enum rtl_policy policy)
{
    uint32_t type = type_of(packet);
    bool off = policy == RTL_PASS_ON;
    if (__builtin_expect(type == HSA_PACKET_TYPE_KERNEL_DISPATCH && !off, 1))
        return see_kernel(tap, &packet->kernel, may_inject, policy);
    if (type == HSA_PACKET_TYPE_VENDOR_SPECIFIC && packet->vendor.format == EXTENDED_FORMAT && rtl_tool.extended) {
        if (!off)
            return see_extended(tap, packet, may_inject, policy);
        type = HSA_PACKET_TYPE_KERNEL_DISPATCH; /* its signal will hold what a kernel's does */
    }
    if (type != HSA_PACKET_TYPE_INVALID && packet->barrier.completion_signal.handle != 0)
        see_signal(type, packet);
    return RTL_NO_SIGNAL;
}

/*
 * The dispatch is on its way as soon as the packet is written; the worker has to know of it before. The time is taken
 * by the caller.
 */
static inline hsa_signal_t inject(struct rtl_tap *tap, uint16_t number, uint64_t now, bool counter)
{
    struct rtl_inflight *inflight = &tap->pool->inflight[number];
    inflight->submit = now;
    inflight->index = tap->written;
    inflight->counter = counter;
    hsa_signal_t signal = tap->pool->handle[number];
    rtl_pending_push(&tap->pending, number);
    return signal;
}

static inline uint64_t stamp(bool *counter)
{
    *counter = atomic_load_explicit(&rtl_tool.counter, memory_order_relaxed);
    return *counter ? rtl_tsc() : rtl_clock_now();
}

/*
 * What was stored before must be seen by the worker before what is loaded behind. The worker makes every thread pass a
 * barrier (membarrier) after it has said something and before it looks, so the compiler's order is enough here.
 */
static inline void light_barrier(void)
{
    if (__builtin_expect(atomic_load_explicit(&rtl_tool.fence, memory_order_relaxed), 0))
        rtl_full_barrier();
    else
        atomic_signal_fence(memory_order_seq_cst);
}

/* Wakes the worker if it sleeps for good: it looks at the pending rings once more after saying that it is about to. */
static inline void wake_if_parked(void)
{
    light_barrier();
    if (__builtin_expect(atomic_load_explicit(&rtl_tool.parked, memory_order_relaxed) != 0, 0))
        rtl_worker_wake();
}

/* Somebody said something on the control page that the worker hasn't heard: it may be asleep (mode.h). */
static inline bool control_changed(void)
{
    uint64_t word = __atomic_load_n(&rtl_tool.control->word, __ATOMIC_RELAXED);
    return (word ^ atomic_load_explicit(&rtl_tool.control_seen, memory_order_relaxed)) &
           atomic_load_explicit(&rtl_tool.control_mask, memory_order_relaxed);
}

/*
 * How many of the packets lie within the queue's ring, behind the pointer. A release is known that hands over the place
 * in the ring and a count that goes past its end: the rest of those packets are at its beginning.
 */
static uint64_t before_the_end(const struct rtl_tap *tap, const char *packets, uint64_t n)
{
    uintptr_t start = (uintptr_t)packets, ring = (uintptr_t)tap->ring, end = ring + tap->ring_bytes;
    if (!tap->ring || start < ring || start >= end)
        return n; /* a copy */
    uint64_t there = (end - start) / sizeof(union packet);
    return n < there ? n : there;
}

/* One that may carry a mark: its signal is where all have it, and it has none. */
static bool can_be_marked(const union packet *packet)
{
    uint32_t type = type_of(packet);
    return (type == HSA_PACKET_TYPE_KERNEL_DISPATCH || type == HSA_PACKET_TYPE_BARRIER_AND ||
            type == HSA_PACKET_TYPE_BARRIER_OR) &&
           !packet->barrier.completion_signal.handle;
}

/* A barrier that waits for nothing and holds nothing up. */
static const union packet empty_barrier = {
    .barrier = {.header = HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE}};

/*
 * A mark on the last of n packets, or on a barrier behind it, for which there is room. Says how many packets more there
 * are; `changed` becomes true if there is a mark.
 */
static __attribute__((noinline)) uint64_t mark_end(struct rtl_tap *tap, union packet *packets, uint64_t n,
                                                   bool *changed)
{
    uint64_t more = can_be_marked(&packets[n - 1]) ? 0 : 1;
    union packet *last = &packets[n - 1 + more];
    if (type_of(&packets[n - 1]) == HSA_PACKET_TYPE_INVALID ||
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

static __attribute__((noinline)) void see_batch(struct rtl_tap *tap, const union packet *packets, uint64_t n,
                                                rtl_packet_writer writer, enum rtl_policy policy)
{
    union packet on_stack[STACK_PACKETS + 1]; /* room for one behind them, as in the scratch */
    union packet *copy = on_stack;
    uint64_t there = before_the_end(tap, (const char *)packets, n);
    const union packet *ring = (const union packet *)(const void *)tap->ring;
    uint64_t seen = n;
    bool wraps = there < n, room = true, counter, injected = false, pushed = false;

    if (n > STACK_PACKETS) {
        copy = (union packet *)(void *)tap->scratch;
        room = n < tap->scratch_packets;
    }
    if (__builtin_expect(wraps && n > tap->ring_bytes / sizeof(union packet), 0)) {
        seen = there; /* more than the queue holds: what is behind the end can't be packets of it */
        room = false;
    }
    if (policy != RTL_PASS_ON)
        count(tap, &tap->line->packets, seen);
    if (__builtin_expect(tap->written + n > tap->look_at, 0)) /* look_at is UINT64_MAX where queues may fill up */
        rtl_full_look(tap, n);
    uint64_t now = stamp(&counter);
    for (uint64_t i = 0; i < seen; i++) {
        const union packet *packet = i < there ? &packets[i] : &ring[i - there];
        /* decided by the copy: a slot that isn't valid yet may be written by the application right now */
        if (room)
            copy[i] = *packet;
        tap->written++;
        uint16_t number = see(tap, room ? &copy[i] : packet, room, policy);
        if (number == RTL_NO_SIGNAL)
            continue;
        hsa_signal_t signal = inject(tap, number, now, counter);
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
        wake_if_parked();
}

/* A packet that carries no signal of ours, and a mark with it: once in a quarter of a queue that must not fill up. */
static __attribute__((noinline)) void write_gauged(struct rtl_tap *tap, const union packet *packet,
                                                   rtl_packet_writer writer)
{
    union packet pair[2] = {*packet};
    bool changed = false;
    uint64_t more = mark_end(tap, pair, 1, &changed);
    writer(changed ? pair : packet, 1 + more);
}

static inline void write_unmarked(struct rtl_tap *tap, const union packet *packet, rtl_packet_writer writer)
{
    if (__builtin_expect(tap->guarded, 0) && rtl_full_mark_is_due(tap))
        write_gauged(tap, packet, writer);
    else
        writer(packet, 1);
}

static inline void see_one(struct rtl_tap *tap, const union packet *packet, rtl_packet_writer writer,
                           enum rtl_policy policy)
{
    if (__builtin_expect(tap->guarded, 0) && __builtin_expect(tap->written >= tap->look_at, 0))
        rtl_full_look(tap, 1);
    if (__builtin_expect(policy != RTL_PASS_ON, 1))
        count(tap, &tap->line->packets, 1);
    tap->written++; /* in any mode: the queue must not fill up */
    uint16_t number = see(tap, packet, true, policy);
    if (number == RTL_NO_SIGNAL) {
        write_unmarked(tap, packet, writer);
        return;
    }
    bool counter;
    uint64_t now = stamp(&counter);
    if (__builtin_expect(rtl_is_card(number), 0)) {
        inject(tap, number, now, counter);
        write_unmarked(tap, packet, writer);
        wake_if_parked();
        return;
    }
    if (__builtin_expect(tap->guarded, 0))
        rtl_full_mark(tap, number);
    union packet copy = *packet;
    copy.kernel.completion_signal = inject(tap, number, now, counter);
    writer(&copy, 1);
    wake_if_parked();
}

void rtl_dispatch(const void *packets, uint64_t n, uint64_t user_index, void *data, rtl_packet_writer writer)
{
    struct rtl_tap *tap = data;
    const union packet *packet = packets;
    (void)user_index;

    if (__builtin_expect(!writer, 0))
        return; /* nobody to pass anything on to */
    if (__builtin_expect(!atomic_load_explicit(&rtl_tool.recording, memory_order_relaxed) || n == 0, 0)) {
        writer(packets, n);
        return;
    }
    atomic_store_explicit(&tap->inside, 1, memory_order_relaxed);
    light_barrier(); /* before policy and verdict are looked at */
    enum rtl_policy policy = (enum rtl_policy)atomic_load_explicit(&rtl_tool.policy, memory_order_acquire);
    if (__builtin_expect(control_changed(), 0))
        wake_if_parked();
    if (__builtin_expect(n > 1, 0))
        see_batch(tap, packet, n, writer, policy);
    else
        see_one(tap, packet, writer, policy);
    atomic_store_explicit(&tap->inside, 0, memory_order_release);
}

/* --- packets that are found in the ring --- */

void rtl_dispatch_enter(struct rtl_tap *tap)
{
    atomic_store_explicit(&tap->inside, 1, memory_order_relaxed);
    light_barrier(); /* before policy and verdict are looked at */
}

void rtl_dispatch_leave(struct rtl_tap *tap)
{
    atomic_store_explicit(&tap->inside, 0, memory_order_release);
}

void rtl_dispatch_wake(void)
{
    wake_if_parked();
}

struct rtl_seen rtl_dispatch_begin(struct rtl_tap *tap)
{
    struct rtl_seen seen = {.policy = RTL_PASS_ON};
    (void)tap;
    if (__builtin_expect(!atomic_load_explicit(&rtl_tool.recording, memory_order_relaxed), 0))
        return seen;
    seen.policy = atomic_load_explicit(&rtl_tool.policy, memory_order_acquire);
    if (__builtin_expect(control_changed(), 0))
        wake_if_parked();
    if (seen.policy >= RTL_TIME_UNSIGNALLED)
        seen.now = stamp(&seen.counter);
    return seen;
}

bool rtl_dispatch_in_ring(struct rtl_tap *tap, void *at, const struct rtl_seen *seen)
{
    union packet *packet = at;
    enum rtl_policy policy = (enum rtl_policy)seen->policy;
    if (__builtin_expect(policy != RTL_PASS_ON, 1))
        count(tap, &tap->line->packets, 1);
    tap->written++;
    uint16_t number = see(tap, packet, true, policy);
    if (number == RTL_NO_SIGNAL)
        return false;
    hsa_signal_t signal = inject(tap, number, seen->now, seen->counter);
    if (!rtl_is_card(number))
        packet->kernel.completion_signal = signal;
    return true;
}

static void count_late(struct rtl_tap *tap, const hsa_kernel_dispatch_packet_t *packet, enum rtl_untimed_reason reason)
{
    uint32_t row = rtl_kernels_row(packet->kernel_object);
    if (row >= atomic_load_explicit(&tap->rows_ready, memory_order_acquire))
        row = make_ready(tap, row);
    struct rtl_dispatches *line = &tap->dispatches[row];
    count(tap, &line->calls, 1);
    count(tap, &tap->line->dispatches, 1);
    give_up_on(tap, line, reason);
}

void rtl_dispatch_late(struct rtl_tap *tap, const void *at, bool valid, enum rtl_untimed_reason reason)
{
    const union packet *packet = at;
    if (!atomic_load_explicit(&rtl_tool.recording, memory_order_relaxed) ||
        atomic_load_explicit(&rtl_tool.policy, memory_order_acquire) == RTL_PASS_ON)
        return;
    uint32_t type = type_of(packet);
    count(tap, &tap->line->packets, 1);
    tap->written++;
    if (valid && packet->barrier.completion_signal.handle != 0)
        see_signal(type, packet);
    /* without its header it is known by what it would run: a barrier has no such address there */
    if (valid
            ? type == HSA_PACKET_TYPE_KERNEL_DISPATCH || (type == HSA_PACKET_TYPE_VENDOR_SPECIFIC &&
                                                          packet->vendor.format == EXTENDED_FORMAT && rtl_tool.extended)
            : rtl_map_find(&rtl_kernel_map, packet->kernel.kernel_object) != NULL)
        count_late(tap, &packet->kernel, reason);
}

void rtl_dispatch_unseen(struct rtl_tap *tap, uint64_t packets)
{
    if (!atomic_load_explicit(&rtl_tool.recording, memory_order_relaxed) ||
        atomic_load_explicit(&rtl_tool.policy, memory_order_acquire) == RTL_PASS_ON)
        return;
    count(tap, &tap->line->packets, packets);
    rtl_segment_note(&rtl_tool.segment, RTL_NOTE_PACKETS_UNSEEN);
}
