/* The signal pool (signal_pool.h). */
#include "intercept/track/signal_pool.h"

#include <sys/mman.h>

_Static_assert((RTL_SIGNALS_LIMIT & (RTL_SIGNALS_LIMIT - 1)) == 0, "the largest ring wraps by a mask, too");
_Static_assert(RTL_NUMBERS < 1 << 16, "numbers have 16 bits, and one of them stands for none");

struct rtl_pool *rtl_pool_create(const struct rtl_signal_maker *maker, uint32_t limit)
{
    struct rtl_pool *pool =
        mmap(NULL, sizeof *pool, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pool == MAP_FAILED)
        return NULL;
    madvise(pool, sizeof *pool, MADV_NOHUGEPAGE); /* 64 signals take some pages of it, not 2 MB */
    pool->maker = *maker;
    pool->limit = limit < RTL_SIGNALS_LIMIT ? limit : RTL_SIGNALS_LIMIT;
    pool->stand_ins_limit = rtl_stand_ins_beside(pool->limit);
    pool->free_signals.mask = rtl_ring_slots(pool->limit) - 1;
    pool->free_stand_ins.mask = rtl_ring_slots(pool->stand_ins_limit) - 1;
    return pool;
}

void rtl_pool_free(struct rtl_pool *pool)
{
    if (pool)
        munmap(pool, sizeof *pool);
}

/* A number that no signal has, or UINT32_MAX. */
static uint32_t take_number(struct rtl_pool *pool)
{
    for (uint32_t word = 0; word < RTL_SIGNALS_LIMIT / 64; word++) {
        uint64_t bits = atomic_load_explicit(&pool->taken[word], memory_order_relaxed);
        while (bits != UINT64_MAX) {
            uint32_t bit = (uint32_t)__builtin_ctzll(~bits);
            if (atomic_compare_exchange_weak_explicit(&pool->taken[word], &bits, bits | 1ull << bit,
                                                      memory_order_acquire, memory_order_relaxed))
                return word * 64 + bit;
        }
    }
    return UINT32_MAX;
}

static void drop_number(struct rtl_pool *pool, uint32_t number)
{
    atomic_fetch_and_explicit(&pool->taken[number / 64], ~(1ull << number % 64), memory_order_release);
}

uint32_t rtl_pool_make(struct rtl_pool *pool, uint16_t *numbers, uint32_t n)
{
    uint32_t got = 0;
    while (got < n && !atomic_load_explicit(&pool->refused, memory_order_relaxed) &&
           atomic_load_explicit(&pool->created, memory_order_relaxed) < pool->limit) {
        /* counted first, so that threads that make signals at once can't exceed the limit together */
        if (atomic_fetch_add_explicit(&pool->created, 1, memory_order_relaxed) >= pool->limit) {
            atomic_fetch_sub_explicit(&pool->created, 1, memory_order_relaxed);
            break;
        }
        uint32_t number = take_number(pool);
        hsa_signal_t signal = {0};
        if (number == UINT32_MAX || !pool->maker.make(&signal) || !signal.handle) {
            if (number != UINT32_MAX)
                drop_number(pool, number);
            atomic_fetch_sub_explicit(&pool->created, 1, memory_order_relaxed);
            atomic_store_explicit(&pool->refused, true, memory_order_relaxed);
            break;
        }
        pool->handle[number] = signal;
        rtl_signal_arm(rtl_pool_signal(pool, number));
        atomic_fetch_add_explicit(&pool->made, 1, memory_order_relaxed);
        numbers[got++] = (uint16_t)number;
    }
    return got;
}

static uint32_t take(struct rtl_free *free, uint16_t *numbers, uint32_t n)
{
    uint64_t head = atomic_load_explicit(&free->head, memory_order_relaxed);
    for (;;) {
        uint64_t there = atomic_load_explicit(&free->tail, memory_order_acquire) - head;
        if (there == 0)
            return 0;
        if (there > free->mask + 1) { /* `head` is outdated: others have taken some meanwhile */
            head = atomic_load_explicit(&free->head, memory_order_relaxed);
            continue;
        }
        uint32_t got = there < n ? (uint32_t)there : n;
        for (uint32_t i = 0; i < got; i++)
            numbers[i] = atomic_load_explicit(&free->ring[(head + i) & free->mask], memory_order_relaxed);
        /* The producer can't have reused those slots unless the head moved on, and then this fails. */
        if (atomic_compare_exchange_weak_explicit(&free->head, &head, head + got, memory_order_acq_rel,
                                                  memory_order_relaxed))
            return got;
    }
}

static void give(struct rtl_free *free, const uint16_t *numbers, uint32_t n)
{
    uint64_t tail = atomic_load_explicit(&free->tail, memory_order_relaxed);
    for (uint32_t i = 0; i < n; i++)
        atomic_store_explicit(&free->ring[(tail + i) & free->mask], numbers[i], memory_order_relaxed);
    atomic_store_explicit(&free->tail, tail + n, memory_order_release);
}

uint32_t rtl_pool_take(struct rtl_pool *pool, uint16_t *numbers, uint32_t n)
{
    return take(&pool->free_signals, numbers, n);
}

void rtl_pool_give(struct rtl_pool *pool, const uint16_t *numbers, uint32_t n)
{
    give(&pool->free_signals, numbers, n);
}

uint32_t rtl_pool_take_stand_ins(struct rtl_pool *pool, uint16_t *numbers, uint32_t n)
{
    uint32_t got = take(&pool->free_stand_ins, numbers, n);
    if (got || atomic_load_explicit(&pool->stand_ins, memory_order_relaxed) >= pool->stand_ins_limit)
        return got;
    uint32_t first = atomic_fetch_add_explicit(&pool->stand_ins, n, memory_order_relaxed);
    for (; got < n && first + got < pool->stand_ins_limit; got++) {
        amd_signal_t *stand_in = &pool->stand_in[first + got];
        uint32_t number = RTL_SIGNALS_LIMIT + first + got;
        pool->handle[number].handle = (uintptr_t)stand_in;
        rtl_signal_arm(stand_in);
        numbers[got] = (uint16_t)number;
    }
    return got;
}

void rtl_pool_give_stand_ins(struct rtl_pool *pool, const uint16_t *numbers, uint32_t n)
{
    give(&pool->free_stand_ins, numbers, n);
}

uint32_t rtl_pool_destroy(struct rtl_pool *pool, uint32_t n, bool (*is_looked_at)(uint32_t number))
{
    uint32_t gone = 0, got = 1;
    for (uint32_t seen = 0; seen < n && got; seen += got) {
        uint16_t numbers[RTL_SIGNALS_BATCH];
        got = rtl_pool_take(pool, numbers, n - seen < RTL_SIGNALS_BATCH ? n - seen : RTL_SIGNALS_BATCH);
        for (uint32_t i = 0; i < got; i++) {
            if (is_looked_at(numbers[i])) {
                rtl_pool_give(pool, &numbers[i], 1);
                continue;
            }
            pool->maker.destroy(pool->handle[numbers[i]]);
            pool->handle[numbers[i]].handle = 0;
            drop_number(pool, numbers[i]);
            atomic_fetch_sub_explicit(&pool->created, 1, memory_order_relaxed);
            gone++;
        }
    }
    atomic_fetch_add_explicit(&pool->destroyed, gone, memory_order_relaxed);
    return gone;
}
