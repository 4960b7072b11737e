/*
 * The pending ring of one queue: passes each timed dispatch from the dispatching thread to the worker. One producer
 * (one thread at a time publishes a queue's packets), one consumer.
 *
 * The data lies in the ring itself, four entries a cache line, written and read in order: that moves fewer lines
 * between cores than a record for each signal.
 */
#ifndef RTL_INTERCEPT_PENDING_H
#define RTL_INTERCEPT_PENDING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/likely.h"
#include "intercept/base/fetch.h"

struct rtl_pending_dispatch {
    _Alignas(16) uint64_t submit; /* time of submission, on the clock in `how` */
    uint32_t number;              /* of its signal or stand-in */
    uint16_t kernel;              /* row in the segment */
    uint8_t how;                  /* bits of RTL_PENDING_* */
};
enum {
    RTL_PENDING_TSC = 1,     /* submit is a time stamp counter, not ns */
    RTL_PENDING_BARRIER = 4, /* a barrier that waits for a signal was submitted right before it */
    RTL_PENDING_PROBED = 2,  /* it runs a probe's copy of its kernel (probe_gate.h) */
};

struct rtl_pending {
    /* dispatch */
    _Alignas(64) _Atomic uint32_t tail; /* dispatch stores (release), worker loads (acquire) */
    uint32_t head_seen;                 /* dispatch: the last loaded head */
    /* worker */
    _Alignas(64) _Atomic uint32_t head; /* worker stores (release), dispatch loads (acquire) */
    /* create: slots - 1; `slots` is a power of two. Full only if a queue submits more between two rounds */
    _Alignas(64) uint32_t mask;
    struct rtl_pending_dispatch *slot;
};
enum { RTL_PENDING_LEAST = 4096, RTL_PENDING_MOST = 65536 }; /* slots */
enum { RTL_PENDING_AHEAD = 8 };                              /* a slot's line is prefetched this many slots ahead */

/* Pure: slots for a queue of `packets` packets; `asked`: RTL_SIGNALS, 0 if not set. Twice as many as the queue has:
 * the queue may fill up, and submit more, before a sleeping worker has its first round. */
static inline uint32_t rtl_pending_slots(uint32_t packets, uint32_t asked)
{
    uint32_t slots = RTL_PENDING_LEAST;
    while ((slots / 2 < packets || slots < asked) && slots < RTL_PENDING_MOST)
        slots *= 2;
    return slots;
}

/* Dispatch: true if a slot is free. */
static inline bool rtl_pending_room(struct rtl_pending *ring)
{
    uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    if (likely(tail - ring->head_seen <= ring->mask))
        return true;
    ring->head_seen = atomic_load_explicit(&ring->head, memory_order_acquire);
    return tail - ring->head_seen <= ring->mask;
}

/* Dispatch, after rtl_pending_room: return the next slot to fill in. */
static inline struct rtl_pending_dispatch *rtl_pending_next(const struct rtl_pending *ring)
{
    return &ring->slot[atomic_load_explicit(&ring->tail, memory_order_relaxed) & ring->mask];
}

/* Dispatch: publish the slot. The worker that sees it also sees all earlier stores. */
static inline void rtl_pending_push(struct rtl_pending *ring)
{
    uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
    rtl_prefetch_to_write(&ring->slot[(tail + RTL_PENDING_AHEAD) & ring->mask]);
}

/* Worker: the number of pending entries, and the i-th of them; rtl_pending_drop releases n slots. */
static inline uint32_t rtl_pending_count(const struct rtl_pending *ring)
{
    return atomic_load_explicit(&ring->tail, memory_order_acquire) -
           atomic_load_explicit(&ring->head, memory_order_relaxed);
}

static inline const struct rtl_pending_dispatch *rtl_pending_at(const struct rtl_pending *ring, uint32_t i)
{
    return &ring->slot[(atomic_load_explicit(&ring->head, memory_order_relaxed) + i) & ring->mask];
}

static inline void rtl_pending_drop(struct rtl_pending *ring, uint32_t n)
{
    atomic_store_explicit(&ring->head, atomic_load_explicit(&ring->head, memory_order_relaxed) + n,
                          memory_order_release);
}

#endif
