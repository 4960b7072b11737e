/*
 * A native queue: the runtime's plain queue with a virtual write index of ours in front of its real one.
 *
 * The application reserves slots by the virtual index, writes its packets into the ring, and rings the doorbell. The
 * thread that rings walks: from the first unpublished slot it handles all complete packets, also those of other
 * threads, and publishes them. Publishing stores the queue's real write index and rings its real doorbell with the last
 * packet as value. So the GPU never learns of a packet that wasn't handled, and the library never touches a packet that
 * the GPU knows of.
 *
 * When a packet is complete. A valid header isn't enough: some runtimes write header and body in one go, and a slot
 * that was reserved beyond a full ring still holds the last lap's packet. So
 * - a slot may be read when it lies within a ring's length of the read index, and the thread that reserved it has rung
 *   and found a valid header there. `rung` then holds the index plus one, which no other lap has;
 * - each thread remembers the slots that it has reserved and not rung for (struct rtl_reserver);
 * - if a thread rings for slots that another thread reserved, the queue becomes `loose` for good: the header decides;
 * - a complete packet whose thread doesn't ring, while another thread has rung for it or a later one: after a while
 *   the worker publishes it unchanged, counted but untimed. If that happens again the queue becomes loose;
 * - packets that are rung for before they are written are found by the next thread that rings, or by the worker. If
 *   that happens often the queue becomes loose.
 *
 * One thread walks at a time, and no thread waits for another (native_turn.h). The ring bounds the work that it does
 * for others, which have written those packets.
 *
 * Demotion. If the application bypasses the hooked functions (writes the queue's real index or the hardware's doorbell,
 * or lets the GPU enqueue), the queue becomes a plain one: all reserved slots are published, the functions go on to the
 * runtime, and packets are only counted, by reading the ring. A bit in the virtual index marks this, so a thread that
 * reserves at the same moment sees it.
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
    _Atomic uint64_t *rung;  /* per slot: index + 1 of the last packet that was rung for; any stores (release) */
    uint64_t rung_slots;     /* create: its length; kept for the next queue */
    uint64_t first;          /* the first index */
    _Atomic uint32_t use;    /* create: counts openings and closings; reservations of an earlier use are void */
    uint32_t references;     /* create: users; 0 = a counted queue that the runtime keeps without users */
    struct rtl_native *next; /* create: chain of open queues, or of free records */
    /* application threads */
    _Alignas(64) _Atomic uint64_t reserved; /* the virtual index; any, fetch-and-add or compare-and-swap */
    _Alignas(64) struct rtl_turn turn;      /* the walking thread */
    _Atomic uint64_t rung_to;               /* any raises: some thread has rung for the packets below */
    _Atomic uint32_t early;                 /* any: packets that were rung for before they were written */
    _Atomic uint64_t limit;                 /* any: slots below no longer hold packets of the last lap */
    /* the walking thread; other threads may read */
    _Alignas(64) _Atomic uint64_t published; /* the write index that the runtime has */
    _Atomic bool loose;                      /* any sets, for good */
    _Atomic bool unattended;                 /* create, worker set, for good: no worker polls it */
    _Atomic uint64_t seen;                   /* once demoted: packets below are counted */
    _Atomic uint32_t unrung;                 /* packets published that only other threads rang for; any sets 0 */
    uint32_t unheard;                        /* packets published that no thread rang for */
    /* worker */
    _Alignas(64) uint64_t stuck_at; /* the slot that makes no progress */
    bool stuck_written;             /* its packet had a header */
    uint64_t stuck_for;             /* ns without progress */
    uint64_t polled_at;             /* time of the last poll */
};

/* The slots that a thread has reserved in native queues and not rung for yet. Only that thread uses the record, and
 * its signal handlers: a handler that interrupts a change doesn't touch it. */
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

/* Hash table of native queues by address; linear probing. */
enum { RTL_NATIVE_PLACES = 4096 }; /* a power of two; at most half are used */
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

/* Any: return the native queue at that address by probing behind its first place. */
struct rtl_native *rtl_native_find_behind(const hsa_queue_t *queue);

/* Any: return the place's native queue if it is that queue; the place may have been reused just now. */
static inline struct rtl_native *rtl_native_in(struct rtl_native_place *place, const hsa_queue_t *queue)
{
    struct rtl_native *native = atomic_load_explicit(&place->native, memory_order_acquire);
    return native && __atomic_load_n(&native->queue, __ATOMIC_RELAXED) == queue ? native : NULL;
}

/* Any: return the native queue at that address if it is in its first place, else NULL. */
static inline struct rtl_native *rtl_native_find_at_once(const hsa_queue_t *queue)
{
    struct rtl_native_place *place = &rtl_native_places[rtl_native_place_of(queue, RTL_NATIVE_PLACES)];
    bool there = atomic_load_explicit(&place->queue, memory_order_acquire) == queue;
    return likely(there) ? rtl_native_in(place, queue) : NULL;
}

/* Any: return the native queue at that address, NULL if there is none. No lock. */
static inline struct rtl_native *rtl_native_find(const hsa_queue_t *queue)
{
    struct rtl_native *native = rtl_native_find_at_once(queue);
    return likely(native != NULL) ? native : rtl_native_find_behind(queue);
}

/* Create, under its lock: make the queue, which has no user yet, a native one that can be found. `first` is its
 * write index. NULL when there is no memory. */
struct rtl_native *rtl_native_add(const hsa_queue_t *queue, struct rtl_tracker *tracker, uint64_t first);
/* Create, under its lock: it can't be found any more. */
void rtl_native_remove(struct rtl_native *native);
/* Create: wait until no thread walks it, but not for a thread that was held up for very long. */
void rtl_native_wait_unused(struct rtl_native *native);
/* Create, under its lock: recycle the record, once no worker polls it. It is reused when no thread walks it. */
void rtl_native_recycle(struct rtl_native *native);
/* Load: close all; their runtime is gone. */
void rtl_native_forget_all(void);

/* The calling thread's record, NULL if it has none yet. rtl_native_me finds or claims one; NULL if none is free. */
extern __thread struct rtl_reserver *rtl_native_mine;
struct rtl_reserver *rtl_native_me(void);

/* Load: from now on the records of ending threads are released. */
void rtl_native_watch_threads(void);
/* Any: begin changing the calling thread's record, until rtl_native_changed. False if it has none, or is changing it
 * already. */
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

/* Any: remember a reservation in that use of the queue, beside others. */
uint64_t rtl_native_remember_more(struct rtl_native *native, uint32_t use, uint64_t from, uint64_t to);
/* Any: remember the slots that the calling thread reserved. Both functions return `from`. */
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

/* Any: the calling thread rings: mark its written slots in `rung`. False if it has reserved none there. */
bool rtl_native_rung(struct rtl_native *native);

/* The real write index, and the GPU's read index; their layout is frozen (amd_hsa_queue.h). */
static inline uint64_t rtl_native_real(const struct rtl_native *native)
{
    return __atomic_load_n(&((const amd_queue_t *)(const void *)native->queue)->write_dispatch_id, __ATOMIC_ACQUIRE);
}

static inline uint64_t rtl_native_read(const struct rtl_native *native)
{
    return __atomic_load_n(&((const amd_queue_t *)(const void *)native->queue)->read_dispatch_id, __ATOMIC_ACQUIRE);
}

/* True if the application moved the real index, or a thread is publishing right now. */
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

/* Any: the calling thread rings for the slots below `to`. If its record holds exactly these slots, and they are the
 * next to publish, claim them into `own`: then `rung` needn't be written. */
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

/* True if the slot lies within a ring's length of the read index: no older packet occupies it. */
static inline bool rtl_native_is_free(struct rtl_native *native, uint64_t index)
{
    uint64_t limit = atomic_load_explicit(&native->limit, memory_order_acquire); /* pairs with the store below */
    if (likely(index < limit))
        return true;
    limit = rtl_native_read(native) + native->slots;
    atomic_store_explicit(&native->limit, limit, memory_order_release);
    return index < limit;
}

/* Return the type of the packet in a slot. The GPU clears it at any time after the packet was published. */
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
