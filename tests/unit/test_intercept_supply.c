/*
 * The worker's supply of signals: it creates more ahead of need, a bounded number a round, up to the limit. It destroys
 * signals that were unused for two spans of ten seconds, also while nothing is in flight. Without a runtime and a
 * clock.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory_file.h"
#include "intercept/track/queue_tracker.h"
#include "intercept/worker/collect.h"
#include "intercept/worker/supply.h"

enum { START = RTL_SIGNALS_START, FLOOD = 65536, LIMIT = 86016, A_LOOK = 2048 };
static const uint64_t SPAN = 10000000000ull, ROUND = 1000000;

static uint32_t alive;

static bool make(hsa_signal_t *signal)
{
    static amd_signal_t one; /* the value makes no difference here */
    signal->handle = (uintptr_t)&one;
    alive++;
    return true;
}

static void destroy(hsa_signal_t signal)
{
    (void)signal;
    alive--;
}

static const struct rtl_signal_maker maker = {make, destroy};
static struct rtl_collector *collector;
static struct rtl_supply supply;
static uint32_t numbers[RTL_SIGNALS_LIMIT], taken;
static uint64_t now;

static int begin(void **state)
{
    (void)state;
    now = SPAN;
    taken = alive = 0;
    collector = rtl_map_sparse(-1, sizeof *collector);
    collector->pool = rtl_pool_create(&maker, LIMIT);
    rtl_pool_return(collector->pool, numbers, rtl_pool_make(collector->pool, numbers, START));
    rtl_supply_begin(&supply, now);
    return 0;
}

static int end(void **state)
{
    (void)state;
    rtl_pool_free(collector->pool);
    munmap(collector, sizeof *collector);
    return 0;
}

static void see(void)
{
    collector->open = taken;
    collector->most = taken > collector->most ? taken : collector->most;
}

/* Take `n` signals as dispatches do. Return how many dispatches found none. */
static uint32_t take(uint32_t n)
{
    uint32_t before = taken;
    for (uint32_t got = 1; taken < before + n && got; taken += got)
        got = rtl_pool_acquire(collector->pool, numbers + taken, 32);
    see();
    return before + n > taken ? before + n - taken : 0;
}

static void give_all(void)
{
    rtl_pool_return(collector->pool, numbers, taken);
    taken = 0;
    see();
}

static uint32_t look(uint64_t later)
{
    uint32_t before = alive;
    now += later;
    rtl_supply_tend(&supply, collector, now);
    assert_in_range(alive > before ? alive - before : before - alive, 0, A_LOOK); /* queues wait meanwhile */
    assert_int_equal(alive, atomic_load(&collector->pool->created));
    return alive;
}

static void flood(void)
{
    while (taken < FLOOD) {
        take(1000);
        look(ROUND);
    }
    while (look(ROUND) < LIMIT)
        ;
}

static void the_supply_grows_with_use(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++)
        assert_int_equal(look(ROUND), START);
    assert_int_equal(take(START / 2), 0); /* half of them are free */
    assert_int_equal(look(ROUND), START);
    assert_int_equal(take(START / 4 + 1), 0);
    assert_int_equal(look(ROUND), 2 * START);
    assert_true(supply.grew);
    assert_int_equal(look(ROUND), 2 * START);
    assert_false(supply.grew);
    give_all();
    flood();
    assert_int_equal(look(ROUND), LIMIT);
    give_all();
}

/* At a million dispatches a second that don't complete, only the first few find no signal. */
static void the_supply_keeps_up_with_a_burst(void **state)
{
    (void)state;
    uint32_t missed = 0, late = 0;
    for (int i = 0; i < 65; i++) {
        uint32_t none = take(1000);
        missed += none;
        late += i >= 8 ? none : 0;
        look(ROUND);
    }
    assert_int_equal(late, 0);
    assert_in_range(missed, 0, 8000);
    give_all();
}

static void the_supply_shrinks_when_unused_for_long(void **state)
{
    (void)state;
    flood();
    give_all();
    assert_int_equal(rtl_supply_due(&supply, collector, now), SPAN - (now - supply.since));
    assert_int_equal(look(SPAN), LIMIT); /* the burst was in this span, */
    assert_int_equal(look(SPAN), LIMIT); /* and in the previous one */
    assert_int_equal(rtl_supply_due(&supply, collector, now), SPAN);
    look(SPAN);
    uint32_t looks = 0;
    while (rtl_supply_due(&supply, collector, now) != UINT64_MAX && looks++ < LIMIT) {
        assert_in_range(rtl_supply_due(&supply, collector, now), 1, ROUND);
        look(ROUND);
    }
    assert_int_equal(alive, START);
    assert_in_range(looks, LIMIT / A_LOOK, LIMIT / A_LOOK + 2);
    assert_int_equal(look(3 * SPAN), START); /* the worker may park forever */
    flood();                                 /* and all signals are available again */
    assert_int_equal(alive, LIMIT);
    give_all();
}

static void the_supply_keeps_signals_that_are_used_again(void **state)
{
    (void)state;
    flood();
    give_all();
    look(SPAN);
    look(SPAN);
    look(SPAN);
    uint32_t left = look(ROUND);
    assert_in_range(left, LIMIT - A_LOOK, LIMIT - 1);
    assert_int_equal(take(left), 0);
    assert_in_range(look(ROUND), left, LIMIT); /* it has begun to shrink, and stops */
    assert_int_equal(supply.excess, 0);
    give_all();
    for (int i = 0; i < 2; i++) {
        assert_in_range(look(SPAN), left, LIMIT);
        assert_int_equal(take(FLOOD / 2), 0); /* half as many in each span: nothing is destroyed */
        give_all();
    }
    look(SPAN);
    assert_int_equal(supply.excess, 0);
}

/* A queue was destroyed, and the limit fell. Signals above the limit stay in use, and are destroyed once unused. */
static void the_supply_shrinks_to_a_lower_limit(void **state)
{
    (void)state;
    flood();
    rtl_pool_set_limit(collector->pool, 5000);
    assert_int_equal(look(ROUND), LIMIT);
    give_all();
    look(SPAN);
    look(SPAN);
    look(SPAN);
    for (uint32_t i = 0; i < LIMIT / A_LOOK + 2; i++)
        look(ROUND);
    assert_int_equal(alive, START);
    for (int i = 0; i < 20; i++) {
        take(1000);
        look(ROUND);
    }
    assert_int_equal(alive, 5000);
    give_all();
}

static long resident(void) /* pages of this process */
{
    long all, here = -1;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && fscanf(file, "%ld %ld", &all, &here) != 2)
        here = -1;
    if (file)
        fclose(file);
    return here;
}

/* A pool reserves 100 MB and more; locked memory must not make it resident. In a child, because mlockall lasts. */
static void a_pool_stays_small_in_locked_memory(void **state)
{
    (void)state;
    int status;
    pid_t child = fork();
    if (child == 0) {
        if (mlockall(MCL_FUTURE) != 0)
            _exit(errno == EPERM || errno == ENOMEM ? 0 : 1);
        long before = resident();
        const struct rtl_pool *pool = rtl_pool_create(&maker, LIMIT); /* NULL: an ordinary user's limit */
        _exit(pool && (before < 0 || (resident() - before) * sysconf(_SC_PAGESIZE) > 1 << 20) ? 2 : 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(the_supply_grows_with_use),
        TEST(the_supply_keeps_up_with_a_burst),
        TEST(the_supply_shrinks_when_unused_for_long),
        TEST(the_supply_keeps_signals_that_are_used_again),
        TEST(the_supply_shrinks_to_a_lower_limit),
        TEST(a_pool_stays_small_in_locked_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
