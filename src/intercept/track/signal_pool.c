/* The signal pool (signal_pool.h). */
#include "intercept/track/signal_pool.h"

#include <sys/mman.h>

#include "base/likely.h"
#include "base/memory_file.h"

_Static_assert(RTL_SIGNALS_LIMIT % 64 == 0, "whole words of numbers");

struct rtl_pool *rtl_pool_create(const struct rtl_signal_maker *maker, uint32_t limit)
{
    struct rtl_pool *pool = rtl_map_sparse(-1, sizeof *pool);
    if (!pool)
        return NULL;
    pool->maker = *maker;
    rtl_pool_set_limit(pool, limit);
    pool->free_signals.newest = pool->free_signals.oldest = rtl_ring_slots(pool->limit);
    pool->free_stand_ins.newest = pool->free_stand_ins.oldest = rtl_ring_slots(rtl_stand_ins_beside(pool->limit));
    return pool;
}

void rtl_pool_free(struct rtl_pool *pool)
{
    if (pool)
        munmap(pool, sizeof *pool);
}

void rtl_pool_set_limit(struct rtl_pool *pool, uint32_t limit)
{
    limit = limit < RTL_SIGNALS_LIMIT ? limit : RTL_SIGNALS_LIMIT;
    /* `room` first: a thread that creates a signal within the limit, and later the worker, must see room for it */
    if (limit > atomic_load_explicit(&pool->room, memory_order_relaxed))
        atomic_store_explicit(&pool->room, limit, memory_order_release);
    atomic_store_explicit(&pool->limit, limit, memory_order_release);
}

/* Claim an unused number; UINT32_MAX if there is none. */
static uint32_t claim_number(struct rtl_pool *pool)
{
    uint32_t words = (atomic_load_explicit(&pool->room, memory_order_acquire) + 63) / 64;
    uint32_t word = atomic_load_explicit(&pool->lowest, memory_order_relaxed);
    for (uint32_t i = 0; i < words; i++, word++) {
        word = word < words ? word : 0;
        uint64_t bits = atomic_load_explicit(&pool->taken[word], memory_order_relaxed);
        while (bits != UINT64_MAX) {
            uint32_t bit = (uint32_t)__builtin_ctzll(~bits);
            if (!atomic_compare_exchange_weak_explicit(&pool->taken[word], &bits, bits | 1ull << bit,
                                                       memory_order_acquire, memory_order_relaxed))
                continue;
            if (atomic_load_explicit(&pool->lowest, memory_order_relaxed) != word)
                atomic_store_explicit(&pool->lowest, word, memory_order_relaxed);
            return word * 64 + bit;
        }
    }
    return UINT32_MAX;
}

static void release_number(struct rtl_pool *pool, uint32_t number)
{
    atomic_fetch_and_explicit(&pool->taken[number / 64], ~(1ull << number % 64), memory_order_release);
    if (number / 64 < atomic_load_explicit(&pool->lowest, memory_order_relaxed))
        atomic_store_explicit(&pool->lowest, number / 64, memory_order_relaxed);
}

uint32_t rtl_pool_make(struct rtl_pool *pool, uint32_t *numbers, uint32_t n)
{
    uint32_t got = 0, limit = atomic_load_explicit(&pool->limit, memory_order_acquire);
    while (got < n && !atomic_load_explicit(&pool->refused, memory_order_relaxed) &&
           atomic_load_explicit(&pool->created, memory_order_relaxed) < limit) {
        /* counted first, so that concurrent threads can't exceed the limit together */
        if (atomic_fetch_add_explicit(&pool->created, 1, memory_order_relaxed) >= limit) {
            atomic_fetch_sub_explicit(&pool->created, 1, memory_order_relaxed);
            break;
        }
        uint32_t number = claim_number(pool);
        hsa_signal_t signal = {0};
        if (number == UINT32_MAX || !pool->maker.make(&signal) || !signal.handle) {
            if (number != UINT32_MAX) {
                release_number(pool, number);
                atomic_store_explicit(&pool->refused, true, memory_order_relaxed);
            }
            atomic_fetch_sub_explicit(&pool->created, 1, memory_order_relaxed);
            break;
        }
        pool->handle[number] = signal;
        rtl_signal_arm(rtl_pool_signal(pool, number));
        atomic_fetch_add_explicit(&pool->made, 1, memory_order_relaxed);
        numbers[got++] = number;
    }
    return got;
}

/* Return the ring with that many slots. */
static inline struct rtl_free_ring *ring_of(struct rtl_free *free, uint32_t slots)
{
    return &free->ring[__builtin_ctz(slots / RTL_RING_LEAST)];
}

static uint32_t pop_from_ring(struct rtl_free *free, uint32_t slots, uint32_t *numbers, uint32_t n)
{
    struct rtl_free_ring *ring = ring_of(free, slots);
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    for (;;) {
        uint64_t there = atomic_load_explicit(&ring->tail, memory_order_acquire) - head;
        if (there == 0)
            return 0;
        if (there > slots) { /* `head` is outdated: other threads have popped numbers meanwhile */
            head = atomic_load_explicit(&ring->head, memory_order_relaxed);
            continue;
        }
        uint32_t got = there < n ? (uint32_t)there : n;
        for (uint32_t i = 0; i < got; i++)
            numbers[i] = atomic_load_explicit(&free->number[slots + ((head + i) & (slots - 1))], memory_order_relaxed);
        /* The producer can't reuse those slots unless `head` moves on, and then this fails. */
        if (atomic_compare_exchange_weak_explicit(&ring->head, &head, head + got, memory_order_acq_rel,
                                                  memory_order_relaxed))
            return got;
    }
}

static uint32_t pop_numbers(struct rtl_free *free, uint32_t *numbers, uint32_t n)
{
    uint32_t got = 0;
    for (uint32_t slots = atomic_load_explicit(&free->newest, memory_order_acquire); !got && slots >= free->oldest;
         slots /= 2)
        got = pop_from_ring(free, slots, numbers, n);
    return got;
}

/* There may be `most` numbers. The thread that got a number under a higher limit saw a `room` at least as high, and
 * so does the producer that has the number now: a ring gets only numbers below its slots. */
static void push_numbers(struct rtl_free *free, uint32_t most, const uint32_t *numbers, uint32_t n)
{
    uint32_t slots = atomic_load_explicit(&free->newest, memory_order_relaxed);
    if (unlikely(slots < most)) {
        slots = rtl_ring_slots(most);
        atomic_store_explicit(&free->newest, slots, memory_order_release);
    }
    struct rtl_free_ring *ring = ring_of(free, slots);
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    for (uint32_t i = 0; i < n; i++)
        atomic_store_explicit(&free->number[slots + ((tail + i) & (slots - 1))], numbers[i], memory_order_relaxed);
    atomic_store_explicit(&ring->tail, tail + n, memory_order_release);
}

uint32_t rtl_pool_free_count(struct rtl_pool *pool)
{
    struct rtl_free *free = &pool->free_signals;
    uint64_t count = 0;
    for (uint32_t slots = atomic_load_explicit(&free->newest, memory_order_acquire); slots >= free->oldest;
         slots /= 2) {
        struct rtl_free_ring *ring = ring_of(free, slots);
        uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
        uint64_t lie = atomic_load_explicit(&ring->tail, memory_order_relaxed) - head;
        count += lie <= slots ? lie : 0; /* `head` may have passed the loaded `tail` */
    }
    return (uint32_t)count;
}

uint32_t rtl_pool_acquire(struct rtl_pool *pool, uint32_t *numbers, uint32_t n)
{
    return pop_numbers(&pool->free_signals, numbers, n);
}

void rtl_pool_return(struct rtl_pool *pool, const uint32_t *numbers, uint32_t n)
{
    push_numbers(&pool->free_signals, atomic_load_explicit(&pool->room, memory_order_acquire), numbers, n);
}

uint32_t rtl_pool_acquire_stand_ins(struct rtl_pool *pool, uint32_t *numbers, uint32_t n)
{
    uint32_t got = pop_numbers(&pool->free_stand_ins, numbers, n);
    uint32_t limit = rtl_stand_ins_beside(atomic_load_explicit(&pool->limit, memory_order_acquire));
    if (got || atomic_load_explicit(&pool->stand_ins, memory_order_relaxed) >= limit)
        return got;
    uint32_t first = atomic_fetch_add_explicit(&pool->stand_ins, n, memory_order_relaxed);
    for (; got < n && first + got < limit; got++) {
        amd_signal_t *stand_in = &pool->stand_in[first + got];
        uint32_t number = RTL_SIGNALS_LIMIT + first + got;
        pool->handle[number].handle = (uintptr_t)stand_in;
        rtl_signal_arm(stand_in);
        numbers[got] = number;
    }
    return got;
}

void rtl_pool_return_stand_ins(struct rtl_pool *pool, const uint32_t *numbers, uint32_t n)
{
    uint32_t room = atomic_load_explicit(&pool->room, memory_order_acquire);
    push_numbers(&pool->free_stand_ins, rtl_stand_ins_beside(room), numbers, n);
}

uint32_t rtl_pool_destroy(struct rtl_pool *pool, uint32_t n, bool (*is_read)(uint32_t number))
{
    uint32_t gone = 0, got = 1, there = rtl_pool_free_count(pool);
    n = n < there ? n : there; /* examine each free signal once */
    for (uint32_t seen = 0; seen < n && got; seen += got) {
        uint32_t numbers[RTL_SIGNALS_BATCH];
        got = rtl_pool_acquire(pool, numbers, n - seen < RTL_SIGNALS_BATCH ? n - seen : RTL_SIGNALS_BATCH);
        for (uint32_t i = 0; i < got; i++) {
            if (is_read(numbers[i])) {
                rtl_pool_return(pool, &numbers[i], 1);
                continue;
            }
            pool->maker.destroy(pool->handle[numbers[i]]);
            pool->handle[numbers[i]].handle = 0;
            release_number(pool, numbers[i]);
            atomic_fetch_sub_explicit(&pool->created, 1, memory_order_relaxed);
            gone++;
        }
    }
    atomic_fetch_add_explicit(&pool->destroyed, gone, memory_order_relaxed);
    return gone;
}
