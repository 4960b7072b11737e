/*
 * The turn to publish in a native queue (native_turn.h), in the orders of steps of its owner and of others
 * (interleave.h), with a bound on the number of interruptions. Never do two threads publish at a time, no packet that
 * was rung for is left, and no thread returns to a destroyed queue.
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

enum { OWNER = 64, OTHER = 128 }; /* addresses of threads */

enum { FIRST, SECOND, OTHERS, THIRDS, PACKETS };

static struct rtl_turn turn;
static _Atomic uint32_t rung[PACKETS]; /* set by threads, for their packets */
static bool seen[PACKETS];             /* written by the publishing thread: these are published */
static _Atomic uint32_t published;     /* number of published packets */
static bool is_used[PACKETS];          /* the other packets are not polled: fewer orders */
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

/* The first thread has rung: it owns the queue. */
static void set_owned(void)
{
    set();
    atomic_store(&turn.owner, OWNER);
}

/* The owner is in the middle of its turn. */
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

/* Publish all packets that were rung for. `own` is the caller's packet: it needs no ring. */
static void look(unsigned own)
{
    if (walking)
        stepping.wrong = "two threads publish at once";
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

/* The worker's action when it suspects a lost packet. */
static void worker_takes_a_look(void)
{
    if (rtl_turn_try(&turn))
        walk();
}

/* Both kernels have ended; neither doorbell call may have returned yet. */
static void destroyer(void)
{
    int patience_left = 100; /* a lost packet would make this wait forever */
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
            return "a packet with a doorbell was not published";
    if (turn.alone != RTL_TURN_AWAY || turn.rings || turn.visitors)
        return "the turn is not free after all threads left";
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
    /* without the bound the first pair has 620,345 orders, all of them good */
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

static void an_owner_and_a_ringing_thread_lose_no_packet(void **state)
{
    (void)state;
    in_all_orders(set_owned, owner_submits, other_rings, NULL);
    in_all_orders(set_owned, owner_submits_twice, other_rings, NULL);
}

static void an_owner_and_two_ringing_threads_lose_no_packet(void **state)
{
    (void)state;
    in_all_orders(set_owned, owner_submits, other_rings, third_rings);
}

static void an_owner_and_the_worker_lose_no_packet(void **state)
{
    (void)state;
    in_all_orders(set_owned, owner_submits_twice, worker_takes_a_look, NULL);
    in_all_orders(set_owned, owner_submits, other_rings, worker_takes_a_look);
}

static void two_threads_never_own_a_queue(void **state)
{
    (void)state;
    in_all_orders(set, owner_submits_twice, other_submits, NULL);
}

static void a_queue_is_destroyed_after_its_last_user(void **state)
{
    (void)state;
    in_all_orders(set_alone, owner_walks, other_rings, destroyer);
}

/* A sandbox refuses membarrier. */
static void without_membarrier_no_packet_is_lost(void **state)
{
    (void)state;
    refused = true;
    in_all_orders(set_owned, owner_submits_twice, other_rings, NULL);
    in_all_orders(set_owned, owner_submits_twice, worker_takes_a_look, NULL);
}

static void without_membarrier_a_queue_has_no_owner(void **state)
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
    fences = refused = false; /* also after a failed test */
    return 0;
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup(function, membarrier_is_there)
    const struct CMUnitTest tests[] = {
        TEST(an_owner_and_a_ringing_thread_lose_no_packet), TEST(an_owner_and_two_ringing_threads_lose_no_packet),
        TEST(an_owner_and_the_worker_lose_no_packet),       TEST(two_threads_never_own_a_queue),
        TEST(without_membarrier_no_packet_is_lost),         TEST(without_membarrier_a_queue_has_no_owner),
        TEST(a_queue_is_destroyed_after_its_last_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
