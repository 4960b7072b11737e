/*
 * Native queues whose threads are interrupted between any two instructions: by a signal handler, which may submit, too,
 * or for so long that others destroy the queue. The CPU single-steps through the library's code (x86's trap flag).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "native_fixture.h"

#include <signal.h>
#include <ucontext.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZED 1 /* a sanitizer does not expect a handler between any two of its own instructions */
#endif
#endif
#if defined(__x86_64__) && !defined(SANITIZED) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define CAN_STEP 1
#else
#define CAN_STEP 0
#endif

static const uint64_t KERNEL_OBJECT = 0x10000;
static hsa_queue_t *queue;

/* --- stepping --- */

enum { TRAP_FLAG = 0x100 };
static _Atomic bool stepping;
static bool (*comes)(void);     /* called after each instruction: interrupt now? */
static void (*then_does)(void); /* runs once at the interruption */

static void trap(int number, siginfo_t *info, void *data)
{
    ucontext_t *context = data;
    (void)number, (void)info;
    if (atomic_load(&stepping) && comes()) {
        atomic_store(&stepping, false);
        then_does();
    }
#if CAN_STEP
    context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
    context->uc_mcontext.gregs[REG_EFL] |= atomic_load(&stepping) ? TRAP_FLAG : 0;
#else
    (void)context;
#endif
}

/* Return true when the interruption happened, false when the body ended before. */
static bool interrupted(void (*body)(void), bool (*when)(void), void (*what)(void))
{
    comes = when;
    then_does = what;
    atomic_store(&stepping, true);
    raise(SIGTRAP);
    body();
    return !atomic_exchange(&stepping, false);
}

static unsigned instructions;
static bool enough_instructions(void)
{
    return instructions-- == 0;
}

/* --- queues --- */

static int begin(void **state)
{
    (void)state;
    native_size = SLOTS;
    native_queue.hsa_queue.base_address = NULL;
    queue = app_queue();
    return native_of() ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    app_queue_destroy(queue);
    return native_of() ? -1 : 0;
}

static void submits_one(void)
{
    uint64_t index = app_add(1);
    put(index, KERNEL_OBJECT);
    app_ring(index);
}

static bool has_signal(uint64_t index)
{
    return slot_of(index)->completion_signal.handle != 0;
}

/* A single-stepped thread is slow: the worker may have taken its turn. */
static bool all_went(uint64_t packets)
{
    for (int i = 0; i < patience() && real_load(queue) < packets; i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    return real_load(queue) == packets;
}

/* --- handlers --- */

static bool was_changing; /* the interrupted thread was changing its record */

static void handler_submits(void)
{
    was_changing = rtl_native_mine && rtl_native_mine->changing;
    submits_one();
}

/* At any interruption all packets are published with their signals, and the thread has no reserved slot left. */
static void a_handler_that_submits_loses_no_packet(void **state)
{
    unsigned changing = 0;
    (void)state;
    if (!CAN_STEP)
        skip();
    for (unsigned n = 0, more = 1; more; n++) {
        instructions = n;
        was_changing = false;
        submits_one();
        more = interrupted(submits_one, enough_instructions, handler_submits);
        submits_one();
        uint64_t all = 3 + more;
        if (!all_went(all))
            fail_msg("after %u instructions: %u of %u packets were published", n, (unsigned)real_load(queue),
                     (unsigned)all);
        for (uint64_t i = 0; i < all; i++)
            if (!has_signal(i))
                fail_msg("after %u instructions: packet %u isn't timed", n, (unsigned)i);
        if (rtl_native_mine->count || rtl_native_mine->changing)
            fail_msg("after %u instructions: the thread still has reserved slots", n);
        if (atomic_load(&native_of()->loose) && !was_changing)
            fail_msg("after %u instructions: headers count as complete packets", n);
        changing += was_changing;
        gpu_takes(SLOTS);
        end(NULL);
        begin(NULL);
    }
    assert_true(changing > 0);
}

static uint64_t handlers;
static void handler_reserves(void)
{
    was_changing = rtl_native_mine && rtl_native_mine->changing;
    handlers = app_add(1);
}

/* The doorbell rings later, outside the handler; the slot still belongs to this thread. */
static void a_slot_reserved_in_a_handler_is_remembered(void **state)
{
    (void)state;
    if (!CAN_STEP)
        skip();
    for (unsigned n = 0, more = 1; more; n++) {
        instructions = n;
        was_changing = false;
        submits_one();
        more = interrupted(submits_one, enough_instructions, handler_reserves);
        if (more) {
            put(handlers, KERNEL_OBJECT);
            app_ring(handlers);
        }
        if (!all_went(2 + more))
            fail_msg("after %u instructions: %u packets were published", n, (unsigned)real_load(queue));
        if (atomic_load(&native_of()->loose) && !was_changing)
            fail_msg("after %u instructions: the handler's slot is forgotten", n);
        if (rtl_native_mine->count && !was_changing)
            fail_msg("after %u instructions: the thread still has reserved slots", n);
        gpu_takes(SLOTS);
        end(NULL);
        begin(NULL);
    }
}

/* --- a delayed thread --- */

static uint64_t its_own;
static _Atomic bool is_held, may_go;

static bool is_marked(void)
{
    return rtl_native_is_rung(native_of(), its_own);
}

static void held_up(void)
{
    atomic_store(&is_held, true);
    while (!atomic_load(&may_go))
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    atomic_store(&is_held, false);
}

static void it_rings(void)
{
    app_ring(its_own);
}

static void *rings_for_its_own(void *data)
{
    its_own = app_add(1);
    put(its_own, KERNEL_OBJECT);
    interrupted(it_rings, is_marked, held_up);
    return data;
}

static void *lets_go(void *data)
{
    for (int i = 0; i < patience() && native_of(); i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    nanosleep(&(struct timespec){0, 50000000}, NULL); /* without a wait this is too late */
    atomic_store(&may_go, true);
    return data;
}

static bool held_when_gone;
static hsa_status_t see_it_go(hsa_queue_t *gone)
{
    (void)gone;
    held_when_gone = atomic_load(&is_held);
    return HSA_STATUS_SUCCESS;
}

/* Another thread publishes the packet, the kernel ends and the queue is destroyed, before the delayed thread asks for
 * the turn.
 */
static void destroying_waits_for_a_thread_in_its_doorbell(void **state)
{
    pthread_t ringer, helper;
    hsa_status_t (*gone)(hsa_queue_t *) = rtl_tool.hsa.queue_destroy;
    (void)state;
    if (!CAN_STEP)
        skip();
    uint64_t mine = app_add(1); /* precedes the delayed thread's packet, which can't be published before it */
    atomic_store(&may_go, false);
    pthread_create(&ringer, NULL, rings_for_its_own, NULL);
    WAIT_UNTIL(atomic_load(&is_held));
    put(mine, KERNEL_OBJECT);
    app_ring(mine);
    assert_int_equal(real_load(queue), 2);
    assert_int_equal(gpu_takes(2), 2);
    held_when_gone = true;
    rtl_tool.hsa.queue_destroy = see_it_go;
    pthread_create(&helper, NULL, lets_go, NULL);
    app_queue_destroy(queue);
    rtl_tool.hsa.queue_destroy = gone;
    pthread_join(ringer, NULL);
    pthread_join(helper, NULL);
    assert_false(held_when_gone);
    begin(NULL);
}

static int load_library(void **state)
{
    struct sigaction action = {.sa_sigaction = trap, .sa_flags = SA_SIGINFO};
    (void)state;
    fill_native_tables();
    return OnLoad(&root, 1, 0, NULL) && sigaction(SIGTRAP, &action, NULL) == 0 ? 0 : -1;
}

static int unload_library(void **state)
{
    (void)state;
    OnUnload();
    return 0;
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_handler_that_submits_loses_no_packet),
        TEST(a_slot_reserved_in_a_handler_is_remembered),
        TEST(destroying_waits_for_a_thread_in_its_doorbell),
    };
    return cmocka_run_group_tests(tests, load_library, unload_library);
}
