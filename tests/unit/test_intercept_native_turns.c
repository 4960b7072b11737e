/*
 * Whose turn it is to walk over a native queue (native_turn.h), in the orders that the steps of its owner and of others
 * can come in (interleave.h), but for those in which threads are interrupted more than a few times: never two at a
 * time, nothing that was rung for is left, and nobody comes back to a queue that has gone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "interleave.h"

#define rtl_barrier_everywhere step_barrier_everywhere
#define rtl_barrier_prepare    step_barrier_prepare
#define rtl_barrier_in_doubt   step_barrier_in_doubt
#define rtl_turn_start         step_turn_start
#define rtl_turn_share         step_turn_share

#include "intercept/track/barrier.c"
#include "intercept/track/native_turn.c"

enum { OWNER = 64, OTHER = 128 }; /* addresses that threads have */

enum { FIRST, SECOND, OTHERS, THIRDS, PACKETS };

static struct rtl_turn turn;
static _Atomic uint32_t rung[PACKETS]; /* by threads, for their packets */
static bool seen[PACKETS];             /* whoever walks: these are published */
static _Atomic uint32_t published;     /* how many of them are */
static bool is_used[PACKETS];          /* the others aren't looked for: that makes for fewer orders */
static bool walking;
static bool fences, refused;

static void set(void)
{
    for (unsigned i = 0; i < PACKETS; i++)
        atomic_store(&rung[i], 0);
    memset(seen, 0, sizeof seen);
    atomic_store(&published, 0);
    walking = false;
    stepping.no_membarrier = fences || refused;
    atomic_store(&rtl_hot.fence, fences);
    atomic_store(&doubt, false);
    rtl_turn_start(&turn);
}

/* The first one has rung: it owns the queue. */
static void set_owned(void)
{
    set();
    atomic_store(&turn.owner, OWNER);
}

/* And is in the middle of it. */
static void set_alone(void)
{
    set_owned();
    atomic_store(&turn.alone, RTL_TURN_ALONE);
}

static void see(unsigned packet)
{
    if (!seen[packet])
        atomic_store_explicit(&published, atomic_load_explicit(&published, memory_order_relaxed) + 1,
                              memory_order_relaxed);
    seen[packet] = true;
}

/* `own` needn't be rung for: it is the caller's. */
static void look(unsigned own)
{
    if (walking)
        stepping.wrong = "two walk at once";
    walking = true;
    if (own < PACKETS)
        see(own);
    for (unsigned i = 0; i < PACKETS; i++)
        if (!seen[i] && is_used[i] && atomic_load_explicit(&rung[i], memory_order_acquire))
            see(i);
    walking = false;
}

static void walk(void)
{
    uint32_t rings = atomic_load_explicit(&turn.rings, memory_order_acquire);
    do
        look(PACKETS);
    while (!rtl_turn_end(&turn, &rings));
}

/* As in native_queue.c. */
static void ring_for(unsigned packet)
{
    rtl_turn_enter(&turn);
    atomic_store_explicit(&rung[packet], 1, memory_order_release);
    if (rtl_turn_ring(&turn))
        walk();
    rtl_turn_exit(&turn);
}

static void walk_alone(uintptr_t me, unsigned packet)
{
    look(packet);
    if (rtl_turn_end_alone(&turn, me))
        return;
    if (rtl_turn_ring(&turn))
        walk();
    rtl_turn_has_left(&turn);
}

static void submit(uintptr_t me, unsigned packet)
{
    int alone = rtl_turn_begin_alone(&turn, me);
    if (alone == RTL_TURN_ALONE) {
        walk_alone(me, packet);
    } else {
        ring_for(packet);
        if (alone == RTL_TURN_LEAVING)
            rtl_turn_has_left(&turn);
    }
}

static void owner_submits(void)
{
    submit(OWNER, FIRST);
}

static void owner_walks(void)
{
    walk_alone(OWNER, FIRST);
}

static void owner_submits_twice(void)
{
    submit(OWNER, FIRST);
    submit(OWNER, SECOND);
}

static void other_submits(void)
{
    submit(OTHER, OTHERS);
}

static void other_rings(void)
{
    ring_for(OTHERS);
}

static void third_rings(void)
{
    ring_for(THIRDS);
}

/* What the worker does when something seems to be wrong. */
static void worker_takes_a_look(void)
{
    if (rtl_turn_try(&turn))
        walk();
}

/* Both packets are over; the doorbells of neither may have returned yet. */
static void destroyer(void)
{
    int patience_left = 100; /* where a packet is lost it would wait for ever */
    while (atomic_load(&published) < 2 && --patience_left)
        step_yield();
    while (rtl_turn_is_taken(&turn) && --patience_left > 0)
        step_yield();
    if (patience_left <= 0)
        stepping.wrong = "the queue can't be destroyed";
    step_gone(&turn, sizeof turn);
}

static const char *all_is_done(void)
{
    for (unsigned i = 0; i < PACKETS; i++)
        if (rung[i] && !seen[i])
            return "nobody looked at what was rung for";
    if (turn.alone != RTL_TURN_AWAY || turn.rings || turn.visitors)
        return "somebody has left without saying so";
    return NULL;
}

static void in_all_orders(void (*from)(void), void (*first)(void), void (*second)(void), void (*third)(void))
{
    void (*const bodies[])(void) = {first, second, third};
    is_used[FIRST] = true;
    is_used[SECOND] = first == owner_submits_twice;
    is_used[OTHERS] = second != worker_takes_a_look;
    is_used[THIRDS] = third == third_rings;
    stepping.watches = 0;
    /* without a bound the first pair has 620,345 orders, all of them good */
    stepping.most_breaks = third == destroyer ? 2 : first == owner_submits && !third ? 5 : 3;
    step_watch(&turn, sizeof turn);
    for (unsigned i = 0; i < PACKETS; i++)
        if (is_used[i])
            step_watch(&rung[i], sizeof rung[i]);
    if (third == destroyer)
        step_watch(&published, sizeof published);
    assert_null(step_all_orders(from, bodies, third ? 3 : 2, all_is_done));
    print_message("# %llu orders\n", (unsigned long long)stepping.runs);
}

static void owner_and_one_who_rings(void **state)
{
    (void)state;
    in_all_orders(set_owned, owner_submits, other_rings, NULL);
    in_all_orders(set_owned, owner_submits_twice, other_rings, NULL);
}

static void owner_and_two_who_ring(void **state)
{
    (void)state;
    in_all_orders(set_owned, owner_submits, other_rings, third_rings);
}

static void owner_and_the_worker(void **state)
{
    (void)state;
    in_all_orders(set_owned, owner_submits_twice, worker_takes_a_look, NULL);
    in_all_orders(set_owned, owner_submits, other_rings, worker_takes_a_look);
}

static void two_would_own_it(void **state)
{
    (void)state;
    in_all_orders(set, owner_submits_twice, other_submits, NULL);
}

static void queue_goes_when_the_last_has_left(void **state)
{
    (void)state;
    in_all_orders(set_alone, owner_walks, other_rings, destroyer);
}

/* A sandbox takes membarrier away. */
static void membarrier_is_refused(void **state)
{
    (void)state;
    refused = true;
    in_all_orders(set_owned, owner_submits_twice, other_rings, NULL);
    in_all_orders(set_owned, owner_submits_twice, worker_takes_a_look, NULL);
}

static void no_membarrier_no_owner(void **state)
{
    (void)state;
    fences = true;
    set();
    assert_int_equal(turn.owner, RTL_TURN_SHARED);
    in_all_orders(set, owner_submits_twice, other_submits, NULL);
    assert_int_equal(turn.owner, RTL_TURN_SHARED);
}

static int membarrier_is_there(void **state)
{
    (void)state;
    fences = refused = false; /* also behind a test that failed */
    return 0;
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup(function, membarrier_is_there)
    const struct CMUnitTest tests[] = {
        TEST(owner_and_one_who_rings),
        TEST(owner_and_two_who_ring),
        TEST(owner_and_the_worker),
        TEST(two_would_own_it),
        TEST(membarrier_is_refused),
        TEST(no_membarrier_no_owner),
        TEST(queue_goes_when_the_last_has_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
