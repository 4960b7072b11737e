/*
 * A native queue that the library stands in front of: the write index that the application sees is ours (the virtual
 * one), and the runtime's own follows it, once the packets up to there have been looked at.
 *
 * The application reserves slots by the virtual index, writes its packets into the ring itself, and rings. The thread
 * that rings walks from the first slot that isn't published yet over all that are complete, which may be other threads'
 * too, and publishes them: the queue's own write index, then its doorbell, with its own last packet as the value. The
 * GPU is never told of a slot that hasn't been looked at, and what it was told of isn't touched any more.
 *
 * Which packets are complete. A valid header isn't enough: some runtimes write whole packets, header included, and a
 * slot that was reserved beyond a full ring still holds the last lap's packet. So
 *  - a slot may be looked at when it lies within a ring's length of the read index, and the thread that reserved it has
 *    rung and found a valid header there, its own (`rung` holds the index plus one: exact for ever, nothing of another
 *    lap looks like it);
 *  - each thread remembers what it has reserved and not rung for yet (struct rtl_reserver);
 *  - a thread that rings for what another has reserved makes the queue `loose` for good: there the header decides;
 *  - a packet that nobody rings for, while somebody has rung for one behind it, is let go after a while, untouched and
 *    counted, by the worker; a queue in which that happens again becomes loose;
 *  - where packets are rung for before they are written, somebody has to look for their headers later: who rings next,
 *    or the worker; a queue in which that happens often becomes loose, too.
 *
 * Who walks. One at a time, and nobody waits for another (native_turn.h). What the walker does for others is bounded by
 * the ring: they have written those packets.
 *
 * Demotion. Whoever doesn't use these functions (writes the queue's own index, or to the hardware's doorbell, or lets
 * the GPU enqueue) makes the queue its own again: all that was reserved is published, the functions are the runtime's
 * from then on, and packets are only counted, by looking at the ring. A bit in the virtual index says so: who reserves
 * at the same moment sees it.
 */
#ifndef RTL_INTERCEPT_NATIVE_RING_H
#define RTL_INTERCEPT_NATIVE_RING_H

#include <hsa/amd_hsa_queue.h>
#include <hsa/hsa.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/likely.h"
#include "intercept/track/native_turn.h"

struct rtl_tracker;

#define RTL_NATIVE_DEMOTED (1ull << 63) /* in the virtual index */

struct rtl_native {
    /* create, before it can be found */
    const hsa_queue_t *queue;
    char *ring;
    uint64_t slots; /* a power of two */
    hsa_signal_t doorbell;
    struct rtl_tracker *tracker;
    _Atomic uint64_t *rung;  /* a slot: index + 1 of the packet that was rung for last; any stores (release) */
    uint64_t rung_slots;     /* create: how many there are; kept for the next queue */
    uint64_t first;          /* the index that it began with */
    _Atomic uint32_t use;    /* create: how often it was taken or left; what was reserved in an earlier use is void */
    uint32_t references;     /* create: users; 0 = a counted queue that nobody has at present */
    struct rtl_native *next; /* create: all there are, or the free ones */
    /* application threads */
    _Alignas(64) _Atomic uint64_t reserved; /* the virtual index; any, fetch-and-add or compare-and-swap */
    _Alignas(64) struct rtl_turn turn;      /* who walks */
    _Atomic uint64_t rung_to;               /* any raises: somebody has rung for the packets below */
    _Atomic uint32_t early;                 /* any: packets that were rung for before they were written */
    _Atomic uint64_t limit;                 /* any: slots below are free of the packets of a lap before */
    /* whoever walks; the others may look */
    _Alignas(64) _Atomic uint64_t published; /* the write index that the runtime was given last */
    _Atomic bool loose;                      /* any sets, for good */
    _Atomic bool unattended;                 /* create, worker set, for good: no worker looks after it */
    _Atomic uint64_t seen;                   /* once demoted: packets below are counted */
    _Atomic uint32_t let_go;                 /* how often packets were let go, rung for by others; any sets 0 */
    uint32_t unheard;                        /* and by nobody */
    /* worker */
    _Alignas(64) uint64_t stuck_at; /* the slot that nothing happened to */
    bool stuck_written;             /* and whether its packet had a header; */
    uint64_t stuck_for;             /* for how long, ns; */
    uint64_t polled_at;             /* at the last look */
};

/*
 * What a thread has reserved in native queues, and not rung for yet. Only that thread looks at it, and its signals'
 * handlers: one that comes while the record is being changed leaves it alone.
 */
enum { RTL_RESERVATIONS = 24 };
struct rtl_reserver {
    uint32_t count;
    bool changing;
    struct rtl_reservation {
        struct rtl_native *native;
        uint32_t use;
        uint64_t from, to;
    } of[RTL_RESERVATIONS];
};

/* Where queues are found by their addresses: the place that the address says, or one behind it. */
enum { RTL_NATIVE_PLACES = 4096 }; /* a power of two; at most half of them are used */
struct rtl_native_place {
    const hsa_queue_t *_Atomic queue; /* create stores, any loads */
    struct rtl_native *_Atomic native;
};
extern struct rtl_native_place rtl_native_places[RTL_NATIVE_PLACES];

/* Pure: an address's place among so many. */
static inline uint32_t rtl_native_place_of(const void *pointer, uint32_t places)
{
    return (uint32_t)(((uintptr_t)pointer >> 6) * 0x9e3779b97f4a7c15ull >> 32) & (places - 1);
}

/* Any: the native queue at that address, which isn't in its first place. */
struct rtl_native *rtl_native_find_behind(const hsa_queue_t *queue);

/* Any: who has that place, if it is that queue: the place may have become another's just now. */
static inline struct rtl_native *rtl_native_in(struct rtl_native_place *place, const hsa_queue_t *queue)
{
    struct rtl_native *native = atomic_load_explicit(&place->native, memory_order_acquire);
    return native && __atomic_load_n(&native->queue, __ATOMIC_RELAXED) == queue ? native : NULL;
}

/* Any: the native queue at that address; NULL also when it isn't in its first place. */
static inline struct rtl_native *rtl_native_find_at_once(const hsa_queue_t *queue)
{
    struct rtl_native_place *place = &rtl_native_places[rtl_native_place_of(queue, RTL_NATIVE_PLACES)];
    bool there = atomic_load_explicit(&place->queue, memory_order_acquire) == queue;
    return likely(there) ? rtl_native_in(place, queue) : NULL;
}

/* Any: the native queue at that address; NULL when there is none. No lock. */
static inline struct rtl_native *rtl_native_find(const hsa_queue_t *queue)
{
    struct rtl_native *native = rtl_native_find_at_once(queue);
    return likely(native != NULL) ? native : rtl_native_find_behind(queue);
}

/*
 * Create, under its lock: stands in front of a queue from now on, which has no user yet. NULL when there is no memory.
 * `first` is its write index. Then it can be found.
 */
struct rtl_native *rtl_native_add(const hsa_queue_t *queue, struct rtl_tracker *tracker, uint64_t first);
/* Create, under its lock: it can't be found any more. */
void rtl_native_remove(struct rtl_native *native);
/* Create: nobody walks it any more when this returns, but for who was held up for very long. */
void rtl_native_wait_unused(struct rtl_native *native);
/* Create, under its lock: nobody looks after it any more; its record goes on to another queue once nobody walks it. */
void rtl_native_recycle(struct rtl_native *native);
/* Load: all of them; the runtime they were of has gone. */
void rtl_native_forget_all(void);

/*
 * The calling thread's record, NULL where it has none yet: rtl_native_me finds or makes it, and returns NULL when there
 * is none to be had.
 */
extern __thread struct rtl_reserver *rtl_native_mine;
struct rtl_reserver *rtl_native_me(void);

/* Load: from now on what ending threads leave is another's. */
void rtl_native_watch_threads(void);
/* Any: the calling thread changes its record from here on, to rtl_native_changed. False where it has none to change,
 * or is in the middle of it. */
static inline bool rtl_native_change(struct rtl_reserver *r)
{
    if (unlikely(!r || r->changing))
        return false;
    r->changing = true;
    atomic_signal_fence(memory_order_seq_cst);
    return true;
}

static inline void rtl_native_changed(struct rtl_reserver *r)
{
    atomic_signal_fence(memory_order_seq_cst);
    r->changing = false;
}

/* Any: the calling thread has reserved these slots in that use of the queue, and others before. */
uint64_t rtl_native_remember_more(struct rtl_native *native, uint32_t use, uint64_t from, uint64_t to);
/* Any: the calling thread has reserved these slots. Both return `from`. */
static inline uint64_t rtl_native_remember(struct rtl_native *native, uint64_t from, uint64_t to)
{
    struct rtl_reserver *r = rtl_native_mine;
    uint32_t use = atomic_load_explicit(&native->use, memory_order_relaxed);
    bool done = false;
    if (likely(rtl_native_change(r))) {
        struct rtl_reservation *of = &r->of[0];
        if (likely(r->count == 0)) {
            *of = (struct rtl_reservation){native, use, from, to};
            r->count = 1;
            done = true;
        } else if (r->count == 1 && of->native == native && of->use == use && of->to == from) {
            of->to = to;
            done = true;
        }
        rtl_native_changed(r);
    }
    return likely(done) ? from : rtl_native_remember_more(native, use, from, to);
}

/* Any: it rings: what it has reserved and written may be looked at. False when it has reserved nothing there. */
bool rtl_native_rung(struct rtl_native *native);

/* What the runtime and the GPU say of the queue; the places are part of the frozen interface (amd_hsa_queue.h). */
static inline uint64_t rtl_native_real(const struct rtl_native *native)
{
    return __atomic_load_n(&((const amd_queue_t *)(const void *)native->queue)->write_dispatch_id, __ATOMIC_ACQUIRE);
}

static inline uint64_t rtl_native_read(const struct rtl_native *native)
{
    return __atomic_load_n(&((const amd_queue_t *)(const void *)native->queue)->read_dispatch_id, __ATOMIC_ACQUIRE);
}

/* Somebody else has moved the queue's own index, or somebody is publishing right now. */
static inline bool rtl_native_is_moved(const struct rtl_native *native)
{
    uint64_t published = atomic_load_explicit(&native->published, memory_order_relaxed);
    return rtl_native_real(native) != published;
}

static inline uint64_t rtl_native_reserved(const struct rtl_native *native)
{
    return atomic_load_explicit(&native->reserved, memory_order_acquire);
}

static inline bool rtl_native_is_demoted(const struct rtl_native *native)
{
    return rtl_native_reserved(native) & RTL_NATIVE_DEMOTED;
}

/* Any: the calling thread rings for what is before `to`. Takes what it has reserved out of its record if that is all
 * of it, and next in turn: then nothing has to be written down. */
static inline bool rtl_native_claim_own(struct rtl_reserver *r, hsa_signal_t doorbell, uint64_t to,
                                        struct rtl_reservation *own)
{
    if (unlikely(!rtl_native_change(r)))
        return false;
    *own = r->of[0];
    const struct rtl_native *native = r->count == 1 ? own->native : NULL;
    bool taken = native && __atomic_load_n(&native->doorbell.handle, __ATOMIC_RELAXED) == doorbell.handle &&
                 own->use == atomic_load_explicit(&native->use, memory_order_relaxed) && own->to == to &&
                 own->from == atomic_load_explicit(&native->published, memory_order_relaxed) &&
                 !rtl_native_is_demoted(native);
    if (likely(taken))
        r->count = 0;
    rtl_native_changed(r);
    return taken;
}

static inline bool rtl_native_is_rung(const struct rtl_native *native, uint64_t index)
{
    return atomic_load_explicit(&native->rung[index & (native->slots - 1)], memory_order_acquire) == index + 1;
}

static inline char *rtl_native_slot(const struct rtl_native *native, uint64_t index)
{
    return native->ring + (index & (native->slots - 1)) * 64;
}

/* The packet of that index lies within a ring's length of what the GPU has taken: no other has its slot. */
static inline bool rtl_native_is_free(struct rtl_native *native, uint64_t index)
{
    uint64_t limit = atomic_load_explicit(&native->limit, memory_order_acquire); /* of who saw that the GPU took it */
    if (likely(index < limit))
        return true;
    limit = rtl_native_read(native) + native->slots;
    atomic_store_explicit(&native->limit, limit, memory_order_release);
    return index < limit;
}

/* The type of the packet in a slot. The GPU takes it away, at any time after it was told of it. */
static inline uint32_t rtl_native_type(const struct rtl_native *native, uint64_t index)
{
    uint32_t header = __atomic_load_n((const uint16_t *)(const void *)rtl_native_slot(native, index), __ATOMIC_ACQUIRE);
    return header >> HSA_PACKET_HEADER_TYPE & ((1u << HSA_PACKET_HEADER_WIDTH_TYPE) - 1);
}

static inline bool rtl_native_has_header(const struct rtl_native *native, uint64_t index)
{
    return rtl_native_type(native, index) != HSA_PACKET_TYPE_INVALID;
}

#endif
