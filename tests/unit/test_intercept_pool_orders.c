/*
 * The signal pool in every order of steps (interleave.h): threads make signals at its limit, also while the limit
 * rises; threads take free signals while the worker returns some, also into a larger ring.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "interleave.h"

/* Compile the source again, with steps. */
#define rtl_pool_create            step_pool_create
#define rtl_pool_free              step_pool_free
#define rtl_pool_set_limit         step_pool_set_limit
#define rtl_pool_free_count        step_pool_free_count
#define rtl_pool_make              step_pool_make
#define rtl_pool_acquire           step_pool_take
#define rtl_pool_return            step_pool_give
#define rtl_pool_acquire_stand_ins step_pool_take_stand_ins
#define rtl_pool_return_stand_ins  step_pool_give_stand_ins
#define rtl_pool_destroy           step_pool_destroy

#include "intercept/track/signal_pool.c"

enum { MOST = 4, LARGER = RTL_RING_LEAST + 1 };

static struct rtl_pool *pool;
static uint32_t got[3][MOST], count[3], limit, larger, at_first;
static bool in_both; /* some signals are in the larger ring before any thread takes one */

static bool make_one(hsa_signal_t *signal)
{
    static amd_signal_t made[2 * MOST];
    static unsigned n;
    signal->handle = (uintptr_t)&made[n++ % (2 * MOST)];
    return true;
}

static void unmake(hsa_signal_t signal)
{
    (void)signal;
}

static void set(void)
{
    static const struct rtl_signal_maker maker = {make_one, unmake};
    step_pool_free(pool);
    pool = step_pool_create(&maker, limit);
    memset(count, 0, sizeof count);
    count[2] = step_pool_make(pool, got[2], MOST - 1);
    if (at_first) { /* the ring is about to wrap */
        pool->free_signals.ring[0].head = pool->free_signals.ring[0].tail = RTL_RING_LEAST - 1;
        step_pool_give(pool, got[2], at_first);
    }
    if (larger)
        step_pool_set_limit(pool, larger);
    if (in_both)
        step_pool_give(pool, got[2] + at_first, MOST - 1 - at_first);
    stepping.watches = 0;
    step_watch(&pool->limit, sizeof pool->limit + sizeof pool->room + sizeof pool->created);
    step_watch(&pool->taken[0], sizeof pool->taken[0]);
    step_watch(&pool->free_signals.ring[0], sizeof pool->free_signals.ring[0]);
    step_watch(&pool->free_signals.number[RTL_RING_LEAST], sizeof pool->free_signals.number[0]);
    if (!larger)
        return;
    step_watch(&pool->free_signals.newest, sizeof pool->free_signals.newest);
    step_watch(&pool->free_signals.ring[1], sizeof pool->free_signals.ring[1]);
}

static void makes(int thread)
{
    count[thread] = step_pool_make(pool, got[thread], 1);
}

static void makes_0(void)
{
    makes(0);
}

static void makes_1(void)
{
    makes(1);
}

static bool all_differ(void)
{
    uint32_t seen = 0, n = 0;
    for (int i = 0; i < 2; i++)
        for (uint32_t k = 0; k < count[i]; k++, n++)
            seen |= 1u << got[i][k];
    return (uint32_t)__builtin_popcount(seen) == n;
}

static const char *limit_is_kept(void)
{
    if (pool->created > limit)
        return "there are more signals than the limit";
    if (pool->created != count[0] + count[1] + count[2])
        return "more signals are counted than exist";
    return all_differ() ? NULL : "two signals have one number";
}

static void makers_share_the_limit(void **state)
{
    void (*const bodies[])(void) = {makes_0, makes_1};
    (void)state;
    at_first = 0;
    for (limit = MOST - 1; limit <= MOST + 1; limit++) { /* MOST - 1 exist: room for none, one, both */
        assert_null(step_all_orders(set, bodies, 2, limit_is_kept));
        print_message("# %llu orders\n", (unsigned long long)stepping.runs);
    }
    assert_true(stepping.runs > 10);
}

static void rises(void)
{
    step_pool_set_limit(pool, limit + 1);
}

static const char *nobody_exceeds_what_there_is_room_for(void)
{
    limit++;
    const char *wrong = limit_is_kept();
    limit--;
    for (int i = 0; i < 2; i++)
        for (uint32_t k = 0; k < count[i]; k++)
            if (got[i][k] >= pool->room)
                return "a signal number exceeds the maximum";
    return wrong;
}

static void makers_follow_a_limit_that_rises(void **state)
{
    void (*const bodies[])(void) = {makes_0, rises};
    (void)state;
    at_first = 0;
    limit = MOST - 1;
    assert_null(step_all_orders(set, bodies, 2, nobody_exceeds_what_there_is_room_for));
    print_message("# %llu orders\n", (unsigned long long)stepping.runs);
}

static void takes_0(void)
{
    count[0] = step_pool_take(pool, got[0], 2);
}

static void takes_1(void)
{
    count[1] = step_pool_take(pool, got[1], 2);
}

static void gives(void)
{
    step_pool_give(pool, got[2] + at_first, MOST - 1 - at_first);
}

static const char *each_is_taken_once(void)
{
    uint32_t left = step_pool_take(pool, got[0] + count[0], MOST - count[0]);
    count[0] += left;
    if (count[0] + count[1] != MOST - 1)
        return "a signal was taken twice, or is lost";
    return all_differ() ? NULL : "two threads have one signal";
}

static void two_takers_get_different_signals(void **state)
{
    void (*const all[])(void) = {takes_0, takes_1, gives}, (*const one[])(void) = {takes_0, gives};
    (void)state;
    limit = MOST;
    at_first = 1;
    assert_null(step_all_orders(set, all, 3, each_is_taken_once));
    print_message("# %llu orders\n", (unsigned long long)stepping.runs);
    at_first = 2;
    assert_null(step_all_orders(set, one, 2, each_is_taken_once));
    print_message("# %llu orders\n", (unsigned long long)stepping.runs);
    at_first = 3;
    assert_null(step_all_orders(set, all, 2, each_is_taken_once));
    print_message("# %llu orders\n", (unsigned long long)stepping.runs);
}

/* The worker returns signals into the larger ring of a raised limit; one signal is in the other ring. */
static void takers_find_signals_in_both_rings(void **state)
{
    void (*const switched[])(void) = {takes_0, gives}, (*const both[])(void) = {takes_0, takes_1};
    (void)state;
    limit = MOST;
    larger = LARGER;
    at_first = 1;
    assert_null(step_all_orders(set, switched, 2, each_is_taken_once));
    print_message("# %llu orders\n", (unsigned long long)stepping.runs);
    assert_int_equal(pool->free_signals.newest, 2 * RTL_RING_LEAST);
    in_both = true;
    assert_null(step_all_orders(set, both, 2, each_is_taken_once));
    print_message("# %llu orders\n", (unsigned long long)stepping.runs);
    larger = 0;
    in_both = false;
}

static int clean_up(void **state)
{
    (void)state;
    step_pool_free(pool);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makers_share_the_limit),
        cmocka_unit_test(makers_follow_a_limit_that_rises),
        cmocka_unit_test(two_takers_get_different_signals),
        cmocka_unit_test(takers_find_signals_in_both_rings),
    };
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
