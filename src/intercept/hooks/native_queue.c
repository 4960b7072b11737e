/*
 * Native queues (native_ring.h) on the application's threads: reserving slots, ringing, scanning and publishing
 * packets; opening and closing such queues.
 *
 * Packets are handled like those of any queue (packets.h). The hook writes the library's signal into the packet in the
 * ring before it publishes the packet. It adds no packet, copies none and never waits.
 */
#include "intercept/hooks/native_queue.h"

#include <pthread.h>

#include "intercept/base/hsa_table.h"
#include "intercept/base/tool.h"
#include "intercept/hooks/native_demote.h"
#include "intercept/hooks/packets.h"
#include "intercept/track/native_ring.h"
#include "intercept/track/queue_tracker.h"

enum {
    CHUNK = 64,        /* packets published at once: a long batch must not delay the GPU */
    EARLY_OFTEN = 16,  /* the queue becomes loose: packets rung for before they were written */
    UNRUNG_OFTEN = 2,  /* the queue becomes loose: complete packets that only other threads rang for */
    UNHEARD_OFTEN = 3, /* the queue is demoted: complete packets that no thread rang for */
};
/* ns */
static const uint64_t EAGER = 4000000;     /* the worker polls without a pause for a packet that isn't written yet */
static const uint64_t UNRUNG = 50000000;   /* then it publishes a complete packet that only other threads rang for */
static const uint64_t UNHEARD = 100000000; /* then it publishes a complete packet that no thread rang for */
static const uint64_t POLL_MOST = 2000000; /* a longer pause between polls counts as this: every thread was held up */

static bool hooked; /* load */

/* --- packets --- */

/* Common to packets that are handled together. */
struct packet_batch {
    enum rtl_policy policy;
    uint64_t now; /* time of submission */
    uint8_t how;  /* its clock (pending.h) */
};

static inline struct packet_batch begin_batch(enum rtl_policy policy)
{
    struct packet_batch batch = {.policy = rtl_recording() ? policy : RTL_PASS_ON};
    if (batch.policy >= RTL_TIME_UNSIGNALLED)
        batch.now = rtl_packet_stamp(&batch.how);
    return batch;
}

/* Count the packet, decide about it, write its signal. True if the worker must learn of it. */
static inline bool handle_packet(struct rtl_tracker *tracker, union rtl_packet *packet, uint64_t index,
                                 const struct packet_batch *batch)
{
    if (likely(batch->policy != RTL_PASS_ON))
        rtl_packet_count(tracker, &tracker->counters->packets, 1);
    tracker->written++;
    uint32_t number = rtl_packet_see(tracker, packet, true, batch->policy);
    uint8_t more = rtl_packet_wants_more() ? rtl_packet_more_here(tracker, packet, index, number, batch->policy) : 0;
    if (number == RTL_NO_SIGNAL)
        return false;
    hsa_signal_t signal = rtl_packet_inject(tracker, number, batch->now, batch->how | more);
    if (!rtl_is_stand_in(number))
        packet->kernel.completion_signal = signal;
    return true;
}

/* --- the walking thread --- */

static union rtl_packet *packet_at(const struct rtl_native *native, uint64_t index)
{
    return (union rtl_packet *)(void *)rtl_native_slot(native, index);
}

static void publish_packets(struct rtl_native *native, uint64_t to)
{
    uint64_t published = atomic_load_explicit(&native->published, memory_order_relaxed);
    bool ours = rtl_native_real(native) == published;
    atomic_store_explicit(&native->published, to, memory_order_relaxed);
    if (unlikely(!ours)) {
        rtl_native_demote(native, RTL_REASON_INDEX_MOVED);
        return;
    }
    rtl_tool.hsa.queue_store_write_index_screlease(native->queue, to);
    rtl_tool.hsa.signal_store_screlease(native->doorbell, (hsa_signal_value_t)(to - 1));
}

/* True if the packet at that index is complete. Packets below `own` are the calling thread's, which rings for them.
 * In a loose queue headers may come before bodies, so packets that no thread has rung for don't count. */
static inline bool packet_is_complete(struct rtl_native *native, uint64_t index, uint64_t own)
{
    if (likely(index < own))
        return rtl_native_is_free(native, index) && rtl_native_has_header(native, index);
    if (likely(index >= rtl_native_reserved(native)))
        return false;
    if (!atomic_load_explicit(&native->loose, memory_order_relaxed) ||
        index >= atomic_load_explicit(&native->rung_to, memory_order_acquire))
        return rtl_native_is_rung(native, index); /* its thread has checked header and slot when it rang */
    return rtl_native_is_free(native, index) && rtl_native_has_header(native, index);
}

/* Handle and publish all complete packets. True if a dispatch was pushed to the worker. */
static inline bool publish_complete(struct rtl_native *native, enum rtl_policy policy, uint64_t own)
{
    uint64_t at = atomic_load_explicit(&native->published, memory_order_relaxed), from = at;
    bool pushed = false;
    struct packet_batch batch = begin_batch(policy);
    for (bool more = packet_is_complete(native, at, own); more;) {
        pushed |= handle_packet(native->tracker, packet_at(native, at), at, &batch);
        at++;
        more = packet_is_complete(native, at, own);
        if (!more || at - from == CHUNK) {
            publish_packets(native, at);
            if (likely(!more || rtl_native_is_demoted(native)))
                break;
            from = at;
            batch = begin_batch(rtl_packets_begin(native->tracker));
        }
    }
    return pushed;
}

/* Publish one complete packet, unchanged, whose own thread doesn't ring; `unheard`: no thread rang for it. Only one
 * packet: the bodies of later ones may not be written yet. If no thread rang for the queue's first packet, or for
 * several, the application has doorbell code of its own: demote the queue. */
static void publish_unrung(struct rtl_native *native, bool unheard)
{
    uint64_t at = atomic_load_explicit(&native->published, memory_order_relaxed);
    if (at >= rtl_native_reserved(native) || !rtl_native_is_free(native, at))
        return;
    uint32_t type = rtl_native_type(native, at);
    bool never = at == native->first;
    if (type == HSA_PACKET_TYPE_INVALID)
        return;
    rtl_native_see_late(native, at, type, RTL_UNTIMED_LET_GO);
    publish_packets(native, at + 1);
    if (unheard) {
        if (never || ++native->unheard >= UNHEARD_OFTEN)
            rtl_native_demote(native, RTL_REASON_RINGS_ITSELF);
    } else if (atomic_fetch_add_explicit(&native->unrung, 1, memory_order_relaxed) + 1 >= UNRUNG_OFTEN) {
        atomic_store_explicit(&native->loose, true, memory_order_relaxed);
    }
}

/* A pass publishes all complete packets, or one that only other threads (NOT_RUNG) or no thread (UNHEARD_OF) rang
 * for. */
enum walk_kind { COMPLETE, NOT_RUNG, UNHEARD_OF };

/* One pass over the queue, by the walking thread. True if the worker must be awake. */
static inline bool walk_once(struct rtl_native *native, enum walk_kind kind, uint64_t own)
{
    struct rtl_tracker *tracker = native->tracker;
    enum rtl_policy policy = rtl_packets_begin(tracker);
    bool wake = false;
    if (unlikely(atomic_load_explicit(&native->unattended, memory_order_relaxed)) && !rtl_native_is_demoted(native))
        rtl_native_pass_through(native);
    if (unlikely(rtl_native_is_demoted(native)))
        rtl_native_walk_demoted(native);
    else if (unlikely(kind != COMPLETE))
        publish_unrung(native, kind == UNHEARD_OF);
    else
        wake = publish_complete(native, policy, own);
    /* packets that were rung for but aren't published need polling */
    wake |= atomic_load_explicit(&native->published, memory_order_relaxed) <
            atomic_load_explicit(&native->rung_to, memory_order_relaxed);
    rtl_packets_end(tracker);
    return wake;
}

/* Make passes until no thread has rung since; the caller has raised `rings` from 0. Returns `published`: the caller
 * can't read it, because the queue may be destroyed by then. */
static uint64_t walk_in_turn(struct rtl_native *native, enum walk_kind kind, uint64_t own)
{
    bool wake = false;
    uint32_t rings = atomic_load_explicit(&native->turn.rings, memory_order_acquire);
    uint64_t published;
    do {
        wake |= walk_once(native, kind, own);
        kind = COMPLETE;
        published = atomic_load_explicit(&native->published, memory_order_relaxed);
    } while (!rtl_turn_end(&native->turn, &rings));
    if (wake)
        rtl_wake_if_parked();
    return published;
}

static void walk(struct rtl_native *native, enum walk_kind kind)
{
    walk_in_turn(native, kind, 0);
}

/* Another thread made the queue shared during the owner's pass, and may have left its packets to the owner. */
static __attribute__((noinline)) void walk_for_others(struct rtl_native *native)
{
    if (rtl_turn_ring(&native->turn))
        walk(native, COMPLETE);
    rtl_turn_has_left(&native->turn);
}

/* Make one pass as the owner, `me`. Returns `published`, like walk_in_turn. */
static inline uint64_t walk_alone(struct rtl_native *native, uintptr_t me, uint64_t own)
{
    bool wake = walk_once(native, COMPLETE, own);
    uint64_t published = atomic_load_explicit(&native->published, memory_order_relaxed);
    rtl_prefetch_to_write(packet_at(native, published)); /* the next packet's slot, which the GPU read last */
    if (unlikely(!rtl_turn_end_alone(&native->turn, me)))
        walk_for_others(native);
    if (wake)
        rtl_wake_if_parked();
    return published;
}

/* --- worker --- */

/* Create, worker: without a worker no thread finds packets that are written after their ring, so pass all on. */
static void leave_unattended(struct rtl_native *native)
{
    atomic_store(&native->unattended, true);
    if (rtl_turn_ring(&native->turn))
        walk(native, COMPLETE);
}

/* Poll the queue, in every round of the worker (queue_tracker.h). */
static enum rtl_tend tend_queue(struct rtl_tracker *tracker, uint64_t now)
{
    struct rtl_native *native = tracker->native;
    if (now == RTL_TEND_END) {
        leave_unattended(native);
        return RTL_TEND_NOTHING;
    }
    uint64_t reserved = rtl_native_reserved(native);
    uint64_t published = atomic_load_explicit(&native->published, memory_order_acquire);
    /* A publishing thread stores both indices, one after the other. rtl_turn_try would exclude it, but make the queue
     * shared for good. So check that the owner makes no pass now and has published nothing since the load above. */
    if (rtl_turn_owner_walks(&native->turn))
        return RTL_TEND_SOON;
    uint64_t real = rtl_native_real(native), read = rtl_native_read(native);
    if (atomic_load_explicit(&native->published, memory_order_relaxed) != published)
        return RTL_TEND_SOON;
    if (reserved & RTL_NATIVE_DEMOTED) {
        bool more = atomic_load_explicit(&native->seen, memory_order_relaxed) != real;
        if (more && rtl_turn_try(&native->turn))
            walk(native, COMPLETE);
        return more ? RTL_TEND_SOON : RTL_TEND_LATER;
    }
    if (real != published) { /* being published, or moved by the application */
        if (rtl_turn_try(&native->turn)) {
            if (rtl_native_is_moved(native))
                rtl_native_demote(native, RTL_REASON_INDEX_MOVED);
            walk(native, COMPLETE);
        }
        return RTL_TEND_SOON;
    }
    if (read > published && rtl_turn_try(&native->turn)) { /* the application rang the hardware's doorbell */
        if (rtl_native_read(native) > atomic_load_explicit(&native->published, memory_order_relaxed))
            rtl_native_demote(native, RTL_REASON_RINGS_ITSELF);
        walk(native, COMPLETE);
        return RTL_TEND_SOON;
    }
    uint64_t rung_to = atomic_load_explicit(&native->rung_to, memory_order_relaxed);
    /* keep polling: an application that stores the index and rings the doorbell itself never wakes the worker */
    if (reserved == published || !rtl_native_is_free(native, published))
        return rung_to > published ? RTL_TEND_SOON /* a full ring that gets room doesn't wake the worker either */
               : reserved == native->first ? RTL_TEND_LATER
                                           : RTL_TEND_RARELY;
    bool written = rtl_native_has_header(native, published);
    uint64_t pause = now - native->polled_at;
    native->polled_at = now;
    native->stuck_for += pause < POLL_MOST ? pause : POLL_MOST;
    if (native->stuck_at != published || native->stuck_written != written) {
        native->stuck_at = published;
        native->stuck_written = written; /* its header was just written: wait anew */
        native->stuck_for = 0;
    }
    uint64_t since = native->stuck_for;
    if (rung_to <= published) {
        if (written && since >= UNHEARD && rtl_turn_try(&native->turn))
            walk(native, UNHEARD_OF);
        return written ? RTL_TEND_SOON : RTL_TEND_LATER;
    }
    /* rung for before it is written: the GPU would wait there, so poll often for a while */
    if (!written)
        return since < EAGER ? RTL_TEND_NOW : RTL_TEND_SOON;
    if (rtl_native_is_rung(native, published) || atomic_load_explicit(&native->loose, memory_order_relaxed)) {
        if (rtl_turn_try(&native->turn))
            walk(native, COMPLETE);
    } else if (since >= UNRUNG && rtl_turn_try(&native->turn)) {
        walk(native, NOT_RUNG);
    }
    return RTL_TEND_SOON;
}

static void attend_queue(struct rtl_native *native)
{
    atomic_store(&native->tracker->tend, tend_queue);
    rtl_wake();                                            /* a worker without queues sleeps without a timeout */
    if (!native->tracker->pool || rtl_trackers_stopping()) /* otherwise a stopping worker sees `tend` */
        leave_unattended(native);
}

/* --- create --- */

/* True if the doorbell leads back to the queue, and the ring's length is a power of two. */
static bool is_as_expected(const hsa_queue_t *queue)
{
    return queue->base_address && queue->size && !(queue->size & (queue->size - 1)) && queue->doorbell_signal.handle &&
           ((const amd_signal_t *)(uintptr_t)queue->doorbell_signal.handle)->kind < 0 &&
           (const hsa_queue_t *)((const amd_signal_t *)(uintptr_t)queue->doorbell_signal.handle)->queue_ptr == queue;
}

static struct rtl_native *find_native(const hsa_queue_t *queue)
{
    return hooked ? rtl_native_find(queue) : NULL;
}

bool rtl_native_open(hsa_queue_t *queue, struct rtl_tracker *tracker)
{
    struct rtl_native *native = NULL;
    if (!hooked || !is_as_expected(queue))
        return false;
    pthread_mutex_lock(&rtl_tool.create);
    if (!rtl_native_find(queue)) /* another user of the queue may have come first */
        native = rtl_native_add(queue, tracker, rtl_tool.hsa.queue_load_write_index_relaxed(queue));
    if (native) {
        tracker->native = native;
        attend_queue(native);
    }
    pthread_mutex_unlock(&rtl_tool.create);
    return native != NULL;
}

/* True if the queue has the ring and the doorbell of its last use, and no packet was added since. */
static bool is_as_left(const struct rtl_native *native, const hsa_queue_t *queue)
{
    return native->ring == queue->base_address && native->slots == queue->size &&
           native->doorbell.handle == queue->doorbell_signal.handle &&
           rtl_native_real(native) == rtl_native_reserved(native);
}

bool rtl_native_add_user(hsa_queue_t *queue)
{
    pthread_mutex_lock(&rtl_tool.create);
    struct rtl_native *native = find_native(queue);
    bool again = native && (native->references || is_as_left(native, queue));
    if (again && native->references++ == 0)
        attend_queue(native);
    pthread_mutex_unlock(&rtl_tool.create);
    return again;
}

void rtl_native_release(const hsa_queue_t *queue)
{
    pthread_mutex_lock(&rtl_tool.create);
    struct rtl_native *native = find_native(queue);
    /* under the lock: attend_queue for the next user must come later */
    if (native && native->references && --native->references == 0)
        rtl_tracker_stop_tending(native->tracker);
    pthread_mutex_unlock(&rtl_tool.create);
}

struct rtl_tracker *rtl_native_retire(const hsa_queue_t *queue)
{
    pthread_mutex_lock(&rtl_tool.create);
    struct rtl_native *native = find_native(queue);
    struct rtl_tracker *tracker = native && !native->references ? native->tracker : NULL;
    if (tracker) {
        rtl_native_remove(native);
        rtl_native_recycle(native);
    }
    pthread_mutex_unlock(&rtl_tool.create);
    return tracker;
}

bool rtl_native_close(const hsa_queue_t *queue)
{
    pthread_mutex_lock(&rtl_tool.create);
    struct rtl_native *native = find_native(queue);
    bool last = !native || native->references <= 1;
    if (native && !last)
        native->references--;
    struct rtl_tracker *tracker = native && last ? native->tracker : NULL;
    if (tracker)
        rtl_native_remove(native);
    pthread_mutex_unlock(&rtl_tool.create);
    if (tracker) {
        rtl_tracker_stop_tending(tracker); /* the worker no longer polls the queue */
        rtl_native_wait_unused(native);    /* no thread makes a pass over it any more */
        pthread_mutex_lock(&rtl_tool.create);
        rtl_native_recycle(native);
        pthread_mutex_unlock(&rtl_tool.create);
    }
    return last;
}

/* --- the application's threads --- */

/* Call before reserving: if the application moved the real index, the virtual one would reserve its slots again. */
static inline void check_real_index(struct rtl_native *native)
{
    if (likely(!rtl_native_is_moved(native)) || !rtl_turn_try(&native->turn))
        return; /* not moved, or the thread that publishes right now checks it */
    if (!rtl_native_is_demoted(native) && rtl_native_is_moved(native))
        rtl_native_demote(native, RTL_REASON_INDEX_MOVED);
    walk(native, COMPLETE);
}

static void raise_rung_to(struct rtl_native *native, uint64_t to)
{
    uint64_t was = atomic_load_explicit(&native->rung_to, memory_order_relaxed);
    while (was < to && !atomic_compare_exchange_weak(&native->rung_to, &was, to))
        ;
}

/* A ring didn't publish its packet, because that or an earlier one isn't written, or another thread reserved one
 * of them. `mine`: the calling thread had reserved slots here. */
static __attribute__((noinline)) void note_early_ring(struct rtl_native *native, uint64_t index, bool mine)
{
    uint64_t reserved = rtl_native_reserved(native);
    if (index >= reserved && mine)
        return; /* no such packet; `rung` already marks those of this thread */
    index = index < reserved ? index : reserved - 1;
    bool written = !rtl_native_is_free(native, index) || rtl_native_has_header(native, index);
    if (index < atomic_load_explicit(&native->published, memory_order_acquire))
        return; /* published meanwhile */
    raise_rung_to(native, index + 1);
    if (!written ? atomic_fetch_add_explicit(&native->early, 1, memory_order_relaxed) + 1 >= EARLY_OFTEN
                 : !mine && !rtl_native_is_rung(native, index)) /* another thread reserved the packet */
        atomic_store_explicit(&native->loose, true, memory_order_relaxed);
}

/* Ring where ring_own can't: for other slots than all that the thread reserved, or for packets that are incomplete. */
static __attribute__((noinline)) void ring_partly(struct rtl_native *native, uint64_t index)
{
    rtl_turn_enter(&native->turn);
    bool mine = rtl_native_rung(native);
    if (index != atomic_load_explicit(&native->published, memory_order_relaxed) || !rtl_native_is_rung(native, index))
        note_early_ring(native, index, mine);
    if (rtl_turn_ring(&native->turn))
        walk(native, COMPLETE);
    rtl_turn_exit(&native->turn);
}

/* Store to any signal: the doorbell of a native queue, of another queue, or no doorbell. */
static __attribute__((noinline)) void ring_any(hsa_signal_t signal, hsa_signal_value_t value,
                                               void (*real)(hsa_signal_t, hsa_signal_value_t))
{
    const amd_signal_t *s = (const amd_signal_t *)(uintptr_t)signal.handle;
    bool doorbell = s && (s->kind == AMD_SIGNAL_KIND_DOORBELL || s->kind == AMD_SIGNAL_KIND_LEGACY_DOORBELL);
    struct rtl_native *native = doorbell ? rtl_native_find((const hsa_queue_t *)s->queue_ptr) : NULL;
    if (native && likely(!rtl_native_is_demoted(native))) {
        ring_partly(native, (uint64_t)value);
        return;
    }
    if (native && rtl_turn_ring(&native->turn))
        walk(native, COMPLETE); /* count packets before the GPU runs them */
    real(signal, value);
}

/* The fast path: the thread rings for all slots that it has reserved in any queue, and they are the next to publish.
 * Then its reservation names the queue, and `rung` needn't be written. */
static __attribute__((noinline)) void ring_own(hsa_signal_t signal, hsa_signal_value_t value,
                                               void (*real)(hsa_signal_t, hsa_signal_value_t))
{
    struct rtl_reserver *r = rtl_native_mine;
    struct rtl_reservation own;
    if (unlikely(!rtl_native_claim_own(r, signal, (uint64_t)value + 1, &own))) {
        ring_any(signal, value, real);
        return;
    }
    struct rtl_native *native = own.native;
    int alone = rtl_turn_begin_alone(&native->turn, (uintptr_t)r);
    if (likely(alone == RTL_TURN_ALONE))
        own.from = walk_alone(native, (uintptr_t)r, own.to);
    else if (alone == RTL_TURN_AWAY && rtl_turn_try(&native->turn))
        own.from = walk_in_turn(native, COMPLETE, own.to);
    if (unlikely(own.from < own.to)) { /* a packet is incomplete, or another thread walks */
        rtl_native_remember_more(native, own.use, own.from, own.to);
        ring_partly(native, own.to - 1);
        if (alone == RTL_TURN_LEAVING)
            rtl_turn_has_left(&native->turn);
    }
}

/* --- hooks --- */

#define STORE(field)                                                        \
    static void hook_##field(hsa_signal_t signal, hsa_signal_value_t value) \
    {                                                                       \
        ring_own(signal, value, rtl_tool.hsa.field);                        \
    }
STORE(signal_store_relaxed)
STORE(signal_store_screlease)
STORE(signal_silent_store_relaxed)
STORE(signal_silent_store_screlease)

#define LOAD(field)                                                \
    static uint64_t hook_##field(const hsa_queue_t *queue)         \
    {                                                              \
        const struct rtl_native *native = rtl_native_find(queue);  \
        uint64_t index = native ? rtl_native_reserved(native) : 0; \
        if (likely(native && !(index & RTL_NATIVE_DEMOTED)))       \
            return index;                                          \
        return rtl_tool.hsa.field(queue);                          \
    }
LOAD(queue_load_write_index_scacquire)
LOAD(queue_load_write_index_relaxed)

/* Some applications reserve by storing the index; their queues have one submitting thread. */
#define STORE_INDEX(field)                                                                                  \
    static void hook_##field(const hsa_queue_t *queue, uint64_t index)                                      \
    {                                                                                                       \
        struct rtl_native *native = rtl_native_find(queue);                                                 \
        if (native)                                                                                         \
            check_real_index(native);                                                                       \
        uint64_t was = native ? rtl_native_reserved(native) : RTL_NATIVE_DEMOTED;                           \
        while (!(was & RTL_NATIVE_DEMOTED))                                                                 \
            if (atomic_compare_exchange_weak_explicit(&native->reserved, &was, index, memory_order_acq_rel, \
                                                      memory_order_acquire)) {                              \
                if (index > was)                                                                            \
                    rtl_native_remember(native, was, index);                                                \
                return;                                                                                     \
            }                                                                                               \
        rtl_tool.hsa.field(queue, index);                                                                   \
    }
#define CAS(field)                                                                                                  \
    static uint64_t hook_##field(const hsa_queue_t *queue, uint64_t expected, uint64_t index)                       \
    {                                                                                                               \
        struct rtl_native *native = rtl_native_find(queue);                                                         \
        if (native)                                                                                                 \
            check_real_index(native);                                                                               \
        uint64_t was = expected;                                                                                    \
        if (native && atomic_compare_exchange_strong_explicit(&native->reserved, &was, index, memory_order_acq_rel, \
                                                              memory_order_acquire)) {                              \
            if (index > expected)                                                                                   \
                rtl_native_remember(native, expected, index);                                                       \
            return expected;                                                                                        \
        }                                                                                                           \
        if (native && !(was & RTL_NATIVE_DEMOTED))                                                                  \
            return was;                                                                                             \
        return rtl_tool.hsa.field(queue, expected, index);                                                          \
    }
/* The slow path of a reservation: the queue isn't native or not in its first place, or its real index was moved. */
static __attribute__((noinline)) uint64_t add_slowly(const hsa_queue_t *queue, uint64_t n,
                                                     uint64_t (*real)(const hsa_queue_t *, uint64_t))
{
    struct rtl_native *native = rtl_native_find(queue);
    if (native)
        check_real_index(native);
    uint64_t was = native ? atomic_fetch_add(&native->reserved, n) : RTL_NATIVE_DEMOTED;
    return was & RTL_NATIVE_DEMOTED ? real(queue, n) : n ? rtl_native_remember(native, was, was + n) : was;
}

/* No value lives across a call, so the compiler saves no register. */
#define ADD(field)                                                                            \
    static uint64_t hook_##field(const hsa_queue_t *queue, uint64_t n)                        \
    {                                                                                         \
        struct rtl_native *native = rtl_native_find_at_once(queue);                           \
        if (unlikely(!native || !n || rtl_native_is_moved(native)))                           \
            return add_slowly(queue, n, rtl_tool.hsa.field);                                  \
        uint64_t was = atomic_fetch_add_explicit(&native->reserved, n, memory_order_acq_rel); \
        if (unlikely(was & RTL_NATIVE_DEMOTED))                                               \
            return rtl_tool.hsa.field(queue, n);                                              \
        return rtl_native_remember(native, was, was + n);                                     \
    }
RTL_HSA_RESERVING(STORE_INDEX, CAS, ADD)

void rtl_native_hook(void *table)
{
    rtl_native_forget_all();
    rtl_native_watch_threads();
#define HOOK(field, ...) RTL_HSA_HOOK_FIELD(field)
    RTL_HSA_ACTIONS(HOOK)
    RTL_HSA_INDICES(HOOK)
#undef HOOK
    hooked = true;
}
