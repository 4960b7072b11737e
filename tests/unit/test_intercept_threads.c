/*
 * The library's lock-free parts under threads: the signal pool, the pending ring and the kernel map. Also built with
 * ThreadSanitizer (make tsan).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "intercept/base/kernel_map.h"
#include "intercept/track/pending.h"
#include "intercept/track/signal_pool.h"

/* --- a maker of signals --- */

static _Atomic uint32_t alive, refuse_from = UINT32_MAX;

static bool make(hsa_signal_t *signal)
{
    if (atomic_load(&alive) >= atomic_load(&refuse_from))
        return false;
    amd_signal_t *made = NULL;
    if (posix_memalign((void **)&made, 64, sizeof *made) != 0)
        return false;
    memset(made, 0, sizeof *made);
    signal->handle = (uintptr_t)made;
    atomic_fetch_add(&alive, 1);
    return true;
}

static void destroy(hsa_signal_t signal)
{
    free((void *)(uintptr_t)signal.handle);
    atomic_fetch_sub(&alive, 1);
}

static const struct rtl_signal_maker maker = {make, destroy};

static bool nobody_looks(uint32_t number)
{
    (void)number;
    return false;
}

static bool odd_ones_are_looked_at(uint32_t number)
{
    return number % 2;
}

static void signals_being_read_are_not_destroyed(void **state)
{
    (void)state;
    struct rtl_pool *pool = rtl_pool_create(&maker, 100);
    uint32_t numbers[100];
    assert_int_equal(rtl_pool_make(pool, numbers, 100), 100);
    rtl_pool_return(pool, numbers, 100);
    assert_int_equal(rtl_pool_destroy(pool, 100, odd_ones_are_looked_at), 50);
    assert_int_equal(atomic_load(&alive), 50);
    assert_int_equal(atomic_load(&pool->created), 50);
    assert_int_equal(rtl_pool_free_count(pool), 50);
    assert_int_equal(rtl_pool_acquire(pool, numbers, 32) + rtl_pool_acquire(pool, numbers + 32, 32), 50);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(numbers[i] % 2, 1);
        assert_non_null(rtl_pool_signal(pool, numbers[i]));
    }
    rtl_pool_return(pool, numbers, 50);
    assert_int_equal(rtl_pool_destroy(pool, 1000, nobody_looks), 50);
    assert_int_equal(atomic_load(&alive), 0);
    rtl_pool_free(pool);
}

static void the_pool_grows_to_its_limit_and_shrinks(void **state)
{
    (void)state;
    struct rtl_pool *pool = rtl_pool_create(&maker, 100);
    uint32_t numbers[128];
    assert_int_equal(rtl_pool_acquire(pool, numbers, 10), 0);
    assert_int_equal(rtl_pool_make(pool, numbers, 64), 64);
    rtl_pool_return(pool, numbers, 64);
    assert_int_equal(rtl_pool_free_count(pool), 64);
    assert_int_equal(rtl_pool_make(pool, numbers, 64), 36); /* the limit */
    rtl_pool_return(pool, numbers, 36);
    assert_int_equal(rtl_pool_make(pool, numbers, 1), 0);
    assert_int_equal(rtl_pool_acquire(pool, numbers, 128), 100);
    for (int i = 0; i < 100; i++) {
        amd_signal_t *signal = rtl_pool_signal(pool, numbers[i]);
        assert_int_equal(signal->value, 1);
        assert_int_equal(signal->start_ts, 0);
        for (int j = 0; j < i; j++)
            assert_int_not_equal(numbers[i], numbers[j]);
    }
    rtl_pool_return(pool, numbers, 100);
    assert_int_equal(rtl_pool_destroy(pool, 70, nobody_looks), 70);
    assert_int_equal(atomic_load(&alive), 30);
    assert_int_equal(rtl_pool_make(pool, numbers, 70), 70); /* numbers are reused */
    rtl_pool_return(pool, numbers, 70);
    assert_int_equal(rtl_pool_destroy(pool, 4096, nobody_looks), 100);
    assert_int_equal(atomic_load(&alive), 0);
    rtl_pool_free(pool);
}

/* Get the requested number of signals, each with a unique number, again and again; stand-ins beside them. */
static void a_pool_works_with_any_limit(void **state)
{
    static const struct {
        uint32_t asked, signals, stand_ins;
    } limits[] = {{1, 1, 4096},
                  {100, 100, 4096},
                  {4096, 4096, 4096},
                  {4097, 4097, 4097},
                  {20000, 20000, 20000},
                  {1 << 19, 1 << 19, 1 << 19},
                  {1000000, 1 << 19, 1 << 19}};
    static uint32_t numbers[RTL_NUMBERS];
    static bool seen[RTL_NUMBERS];
    (void)state;
    for (unsigned l = 0; l < sizeof limits / sizeof limits[0]; l++) {
        struct rtl_pool *pool = rtl_pool_create(&maker, limits[l].asked);
        assert_int_equal(rtl_pool_make(pool, numbers, RTL_NUMBERS), limits[l].signals);
        uint32_t got = limits[l].signals, stand_ins = 0;
        for (int round = 0; round < 3; round++) {
            memset(seen, 0, sizeof seen);
            for (uint32_t i = 0; i < got; i++) {
                assert_false(seen[numbers[i]] || rtl_is_stand_in(numbers[i]));
                seen[numbers[i]] = true;
            }
            rtl_pool_return(pool, numbers, got);
            assert_int_equal(rtl_pool_free_count(pool), got);
            assert_int_equal(rtl_pool_acquire(pool, numbers, 1), 1); /* so that each round starts at another place */
            rtl_pool_return(pool, numbers, 1);
            got = 0;
            for (uint32_t n; (n = rtl_pool_acquire(pool, numbers + got, RTL_SIGNALS_BATCH)) != 0;)
                got += n;
            assert_int_equal(got, limits[l].signals);
        }
        rtl_pool_return(pool, numbers, got);
        for (int round = 0; round < 2; round++) {
            memset(seen, 0, sizeof seen);
            stand_ins = 0;
            for (uint32_t n; (n = rtl_pool_acquire_stand_ins(pool, numbers + stand_ins, RTL_SIGNALS_BATCH)) != 0;)
                stand_ins += n;
            assert_int_equal(stand_ins, limits[l].stand_ins);
            for (uint32_t i = 0; i < stand_ins; i++) {
                assert_true(rtl_is_stand_in(numbers[i]) && !seen[numbers[i]] && numbers[i] < RTL_NUMBERS);
                seen[numbers[i]] = true;
                assert_int_equal(rtl_pool_signal(pool, numbers[i])->value, RTL_SIGNAL_ARMED);
            }
            rtl_pool_return_stand_ins(pool, numbers, stand_ins);
        }
        assert_int_equal(rtl_pool_destroy(pool, RTL_NUMBERS, nobody_looks), limits[l].signals);
        rtl_pool_free(pool);
    }
    assert_int_equal(atomic_load(&alive), 0);
    for (uint32_t n = 1; n < 70000; n += 77)
        assert_true(rtl_ring_slots(n) >= n && (rtl_ring_slots(n) & (rtl_ring_slots(n) - 1)) == 0);
}

/* More signals in a pool's life than numbers below its limit: a long process that returns the signals of a burst, again
 * and again.
 */
static void signal_numbers_never_run_out(void **state)
{
    (void)state;
    struct rtl_pool *pool = rtl_pool_create(&maker, 1000);
    uint32_t numbers[1000];
    for (int i = 0; i < 100; i++) {
        assert_int_equal(rtl_pool_make(pool, numbers, 1000), 1000);
        rtl_pool_return(pool, numbers, 1000);
        assert_int_equal(rtl_pool_destroy(pool, 1000, nobody_looks), 1000);
    }
    assert_int_equal(atomic_load(&alive), 0);
    rtl_pool_free(pool);
}

/* Signals made under one limit stay valid under the next one, and free ones are found in both rings. */
static void a_pools_limit_rises_and_falls(void **state)
{
    static const uint32_t limits[] = {100, 1000, 50, 300, 20000, 64, 90000};
    static uint32_t numbers[90000];
    (void)state;
    struct rtl_pool *pool = rtl_pool_create(&maker, limits[0]);
    uint32_t there = 0;
    for (unsigned i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        static bool seen[90000];
        rtl_pool_set_limit(pool, limits[i]);
        uint32_t got = rtl_pool_make(pool, numbers, 90000);
        assert_int_equal(got, limits[i] > there ? limits[i] - there : 0);
        there += got;
        rtl_pool_return(pool, numbers, got);
        assert_int_equal(rtl_pool_free_count(pool), there);
        uint32_t all = 0;
        for (uint32_t n; (n = rtl_pool_acquire(pool, numbers + all, RTL_SIGNALS_BATCH)) != 0;)
            all += n;
        assert_int_equal(all, there);
        memset(seen, 0, sizeof seen);
        for (uint32_t k = 0; k < all; k++) {
            assert_true(numbers[k] < 90000 && !seen[numbers[k]]);
            seen[numbers[k]] = true;
        }
        rtl_pool_return(pool, numbers, all);
    }
    assert_int_equal(rtl_pool_destroy(pool, RTL_NUMBERS, nobody_looks), there);
    assert_int_equal(rtl_pool_make(pool, numbers, 10), 10);
    for (uint32_t k = 0; k < 10; k++)
        assert_true(numbers[k] < 64); /* the lowest numbers are reused: memory doesn't grow */
    rtl_pool_return(pool, numbers, 10);
    rtl_pool_destroy(pool, 10, nobody_looks);
    assert_int_equal(atomic_load(&alive), 0);
    rtl_pool_free(pool);
}

static void a_runtime_that_refuses_signals_is_not_asked_again(void **state)
{
    (void)state;
    struct rtl_pool *pool = rtl_pool_create(&maker, 4096);
    uint32_t numbers[64];
    atomic_store(&refuse_from, 10);
    assert_int_equal(rtl_pool_make(pool, numbers, 64), 10);
    assert_int_equal(atomic_load(&pool->created), 10);
    atomic_store(&refuse_from, UINT32_MAX);
    assert_int_equal(rtl_pool_make(pool, numbers + 10, 1), 0);
    atomic_store(&pool->refused, false);
    assert_int_equal(rtl_pool_make(pool, numbers + 10, 1), 1);
    rtl_pool_return(pool, numbers, 11);
    rtl_pool_destroy(pool, 64, nobody_looks);
    rtl_pool_free(pool);
}

/* --- pool and rings together: queues take signals and push them, a worker returns them --- */

enum { QUEUES = 4, ROUNDS = 100000 };

struct queue {
    struct rtl_pool *pool;
    struct rtl_pending ring;
    _Atomic bool over;
    uint64_t none; /* how often there was no signal */
};

static void *dispatch(void *data)
{
    struct queue *q = data;
    uint32_t cache[RTL_SIGNALS_BATCH];
    uint32_t cached = 0;
    for (uint64_t i = 0; i < ROUNDS;) {
        if (!cached)
            cached = rtl_pool_acquire(q->pool, cache, 8);
        if (!cached)
            cached = rtl_pool_make(q->pool, cache, 8);
        if (!cached || !rtl_pending_room(&q->ring)) {
            q->none++;
            sched_yield();
            continue;
        }
        uint32_t number = cache[--cached];
        /* only the owner may access it: TSan reports another thread with the same number */
        q->pool->inflight[number].index = i;
        *rtl_pending_next(&q->ring) = (struct rtl_pending_dispatch){.submit = i, .number = number};
        rtl_pending_push(&q->ring);
        i++;
    }
    /* cached signals pass through the ring, too, with a mark */
    while (cached) {
        if (!rtl_pending_room(&q->ring)) {
            sched_yield();
            continue;
        }
        uint32_t number = cache[--cached];
        q->pool->inflight[number].index = UINT64_MAX;
        *rtl_pending_next(&q->ring) = (struct rtl_pending_dispatch){.submit = UINT64_MAX, .number = number};
        rtl_pending_push(&q->ring);
    }
    atomic_store(&q->over, true);
    return NULL;
}

/* As when queues come and go while others dispatch. */
static _Atomic bool all_over;
enum { HIGHEST = 300 }; /* two rings more than at the start */

static void *change_the_limit(void *data)
{
    static const uint32_t limits[] = {60, 20, HIGHEST, 40};
    for (unsigned i = 0; !atomic_load(&all_over); i++) {
        rtl_pool_set_limit(data, limits[i % 4]);
        sched_yield();
    }
    return NULL;
}

static void signals_circulate_between_queues_and_worker(void **state)
{
    (void)state;
    struct rtl_pool *pool = rtl_pool_create(&maker, 50);
    static struct queue queues[QUEUES];
    pthread_t thread[QUEUES], creator;
    pthread_create(&creator, NULL, change_the_limit, pool);
    uint64_t next[QUEUES] = {0}, left = QUEUES;
    bool over[QUEUES] = {false};
    memset(queues, 0, sizeof queues);
    for (int i = 0; i < QUEUES; i++) {
        queues[i].pool = pool;
        queues[i].ring.mask = 15; /* small, so that it fills up */
        queues[i].ring.slot = calloc(16, sizeof queues[i].ring.slot[0]);
        pthread_create(&thread[i], NULL, dispatch, &queues[i]);
    }
    while (left) {
        for (int i = 0; i < QUEUES; i++) {
            bool last = atomic_load(&queues[i].over);
            uint32_t n = rtl_pending_count(&queues[i].ring);
            for (uint32_t j = 0; j < n; j++) {
                const struct rtl_pending_dispatch *pending = rtl_pending_at(&queues[i].ring, j);
                uint32_t number = pending->number;
                assert_int_equal(pool->inflight[number].index, pending->submit);
                if (pending->submit != UINT64_MAX)
                    assert_int_equal(pending->submit, next[i]++); /* in order, none lost */
                rtl_signal_arm(rtl_pool_signal(pool, number));
                rtl_pool_return(pool, &number, 1);
            }
            rtl_pending_drop(&queues[i].ring, n);
            if (last && !n && !over[i]) {
                over[i] = true;
                left--;
            }
        }
        sched_yield();
    }
    atomic_store(&all_over, true);
    pthread_join(creator, NULL);
    for (int i = 0; i < QUEUES; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(next[i], ROUNDS);
        free(queues[i].ring.slot);
    }
    assert_true(atomic_load(&pool->created) <= HIGHEST);
    assert_int_equal(rtl_pool_free_count(pool), atomic_load(&pool->created));
    assert_int_equal(atomic_load(&pool->made), atomic_load(&pool->created)); /* never above the limit */
    rtl_pool_destroy(pool, 4096, nobody_looks);
    assert_int_equal(atomic_load(&alive), 0);
    rtl_pool_free(pool);
}

/* --- the kernel map --- */

/* Free all tables; no reader may be left. */
static void free_map(struct rtl_map *map)
{
    struct rtl_map_table *table = atomic_load_explicit(&map->table, memory_order_relaxed);
    while (table) {
        struct rtl_map_table *older = table->older;
        free(table);
        table = older;
    }
    atomic_store_explicit(&map->table, NULL, memory_order_relaxed);
    map->live = map->marks = 0;
}

static void the_map_holds_its_entries(void **state)
{
    (void)state;
    static struct rtl_map map; /* all zero is an empty map */
    assert_null(rtl_map_find(&map, 64));
    for (uint64_t i = 1; i <= 20000; i++)
        assert_true(rtl_map_set(&map, i * 64, i));
    for (uint64_t i = 1; i <= 20000; i++)
        assert_int_equal(atomic_load(&rtl_map_find(&map, i * 64)->value), i);
    assert_null(rtl_map_find(&map, 20001 * 64));
    assert_null(rtl_map_find(&map, 0));
    assert_null(rtl_map_find(&map, 1));
    for (uint64_t i = 1; i <= 20000; i += 2)
        rtl_map_remove(&map, i * 64);
    for (uint64_t i = 1; i <= 20000; i++)
        assert_true((rtl_map_find(&map, i * 64) == NULL) == (i % 2 == 1));
    assert_true(rtl_map_set(&map, 64, 77)); /* the address is reused */
    assert_int_equal(atomic_load(&rtl_map_find(&map, 64)->value), 77);
    assert_true(rtl_map_set(&map, 64, 78));
    assert_int_equal(atomic_load(&rtl_map_find(&map, 64)->value), 78);
    free_map(&map);
}

static void churn_does_not_grow_the_kernel_map(void **state)
{
    (void)state;
    static struct rtl_map map; /* all zero is an empty map */
    uint64_t ring[200] = {0};
    srand(1);
    for (int i = 0; i < 1000000; i++) {
        int at = i % 200;
        rtl_map_remove(&map, ring[at]);
        ring[at] = (((uint64_t)rand() << 20) ^ (uint64_t)rand()) << 6 | 0x7f0000000000ull;
        assert_true(rtl_map_set(&map, ring[at], (uint64_t)i));
    }
    assert_true(atomic_load(&map.table)->mask + 1 <= 2048);
    assert_true(map.live <= 200);
    free_map(&map);
}

enum { STABLE = 1000 };
static struct rtl_map shared;
static _Atomic bool map_over;

/* Return the missed key, or NULL: cmocka's assertions work on the main thread only. */
static void *look_up(void *data)
{
    bool missed = false;
    (void)data;
    do {
        for (uint64_t i = 1; i <= STABLE; i++) {
            struct rtl_map_entry *entry = rtl_map_find(&shared, i << 12);
            missed = missed || !entry || atomic_load_explicit(&entry->value, memory_order_acquire) != i;
        }
    } while (!missed && !atomic_load(&map_over));
    return missed ? (void *)(uintptr_t) "an entry that stays was missed" : NULL;
}

static void readers_never_miss_a_lasting_entry(void **state)
{
    (void)state;
    pthread_t reader[2];
    for (uint64_t i = 1; i <= STABLE; i++)
        assert_true(rtl_map_set(&shared, i << 12, i));
    for (int i = 0; i < 2; i++)
        pthread_create(&reader[i], NULL, look_up, NULL);
    for (uint64_t round = 0; round < 20; round++) {
        for (uint64_t i = 0; i < 3000; i++)
            assert_true(rtl_map_set(&shared, 0x700000000000ull + (round * 3000 + i) * 64, i));
        for (uint64_t i = 0; i < 3000; i++)
            rtl_map_remove(&shared, 0x700000000000ull + (round * 3000 + i) * 64);
        sched_yield();
    }
    atomic_store(&map_over, true);
    for (int i = 0; i < 2; i++) {
        void *missed = NULL;
        pthread_join(reader[i], &missed);
        if (missed)
            fail_msg("%s", (const char *)missed);
    }
    free_map(&shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_pool_grows_to_its_limit_and_shrinks),
        cmocka_unit_test(signals_being_read_are_not_destroyed),
        cmocka_unit_test(a_pool_works_with_any_limit),
        cmocka_unit_test(a_runtime_that_refuses_signals_is_not_asked_again),
        cmocka_unit_test(signals_circulate_between_queues_and_worker),
        cmocka_unit_test(the_map_holds_its_entries),
        cmocka_unit_test(churn_does_not_grow_the_kernel_map),
        cmocka_unit_test(readers_never_miss_a_lasting_entry),
        cmocka_unit_test(signal_numbers_never_run_out),
        cmocka_unit_test(a_pools_limit_rises_and_falls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
