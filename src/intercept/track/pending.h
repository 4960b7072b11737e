/*
 * The pending ring of one queue: numbers of the signals that were just injected, on their way from the dispatching
 * thread to the completion worker. One producer (the runtime serialises a queue's dispatches), one consumer.
 */
#ifndef RTL_INTERCEPT_PENDING_H
#define RTL_INTERCEPT_PENDING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct rtl_pending {
    /* dispatch */
    _Alignas(64) _Atomic uint32_t tail; /* dispatch stores (release), worker loads (acquire) */
    uint32_t head_seen;                 /* dispatch only: the head when it was last looked at */
    /* worker */
    _Alignas(64) _Atomic uint32_t head; /* worker stores (release), dispatch loads (acquire) */
    /* create; a power of two, at least as many as there can be signals, so that a ring is never full in practice */
    _Alignas(64) uint32_t mask;
    uint16_t *slot;
};

/* Dispatch. True when there is room for one more. */
static inline bool rtl_pending_room(struct rtl_pending *ring)
{
    uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    if (__builtin_expect(tail - ring->head_seen <= ring->mask, 1))
        return true;
    ring->head_seen = atomic_load_explicit(&ring->head, memory_order_acquire);
    return tail - ring->head_seen <= ring->mask;
}

/* Dispatch, after rtl_pending_room. What was stored before it is visible to the worker that finds the number. */
static inline void rtl_pending_push(struct rtl_pending *ring, uint32_t signal)
{
    uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    ring->slot[tail & ring->mask] = (uint16_t)signal;
    atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
}

/* Worker: how many wait, and the i-th of them; rtl_pending_drop gives n slots back. */
static inline uint32_t rtl_pending_count(const struct rtl_pending *ring)
{
    return atomic_load_explicit(&ring->tail, memory_order_acquire) -
           atomic_load_explicit(&ring->head, memory_order_relaxed);
}

static inline uint32_t rtl_pending_at(const struct rtl_pending *ring, uint32_t i)
{
    return ring->slot[(atomic_load_explicit(&ring->head, memory_order_relaxed) + i) & ring->mask];
}

static inline void rtl_pending_drop(struct rtl_pending *ring, uint32_t n)
{
    atomic_store_explicit(&ring->head, atomic_load_explicit(&ring->head, memory_order_relaxed) + n,
                          memory_order_release);
}

#endif
