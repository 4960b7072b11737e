/*
 * The application's signals in every order of steps (interleave.h). The worker polls a signal while it is destroyed or
 * used again. Two threads put one signal on packets at once. A search runs while signals come and go.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "interleave.h"

#include "intercept/base/hsa_clock.h"

/* The clock stands still: a bounded wait never times out. */
#define rtl_clock_now() 1000000000ull

/* Compile the sources again, with stepping. */
#define rtl_copy_prepare             step_copy_prepare
#define rtl_times_read               step_times_read
#define rtl_times_compare            step_times_compare
#define rtl_copy_times_are_right     step_copy_times_are_right
#define rtl_copy_times_are_unknown   step_copy_times_are_unknown
#define rtl_times_forget             step_times_forget
#define rtl_app_signals_followed     step_app_signals_followed
#define rtl_app_signal_find          step_app_signal_find
#define rtl_app_signal_begin         step_app_signal_begin
#define rtl_app_signal_mark_shared   step_app_signal_give_up
#define rtl_app_signal_poll          step_app_signal_look
#define rtl_app_signals_sweep        step_app_signals_sweep
#define rtl_app_signal_detach        step_app_signal_detach
#define rtl_app_signals_follow       step_app_signals_follow
#define rtl_app_signals_mark_unknown step_app_signals_mark_unknown
#define rtl_app_signals_unfollow     step_app_signals_leave
#define rtl_app_signals_stop         step_app_signals_stop
#define rtl_app_signals_forget       step_app_signals_forget
#define rtl_app_signals_start        step_app_signals_start
#define rtl_app_signal_add           step_app_signal_add
#define rtl_app_signal_remove        step_app_signal_remove
#define rtl_app_signal_copy          step_app_signal_copy

#include "intercept/track/timestamps.c"
#include "intercept/track/app_signals.c"

/* Enough signals that two of them are in one bucket. */
enum { SIGNALS = 1 << 16 };
static amd_signal_t signals[SIGNALS];
static amd_signal_t *const ours = &signals[0];
static amd_signal_t *neighbour, *elsewhere; /* in the same bucket; in another one */
static amd_signal_t stand_in[3], taken;
static struct rtl_app_signal *record, *next_record, *found;
static bool began[3], looked, stamps_first, reused;

static hsa_signal_t handle_of(const amd_signal_t *signal)
{
    return (hsa_signal_t){(uintptr_t)signal};
}

static int prepare(void **state)
{
    (void)state;
    for (int i = 1; i < SIGNALS; i++) {
        bool same = bucket_of((uintptr_t)&signals[i]) == bucket_of((uintptr_t)ours);
        if (same && i >= BLOCK && !neighbour)
            neighbour = &signals[i];
        else if (!same && i >= BLOCK && !elsewhere)
            elsewhere = &signals[i];
    }
    for (int i = 0; i < SIGNALS; i++)
        signals[i].kind = AMD_SIGNAL_KIND_USER;
    for (int i = 1; i < BLOCK - 1; i++)
        step_app_signal_add(handle_of(&signals[i]));
    return neighbour && elsewhere ? 0 : -1;
}

/* The addresses differ in each run. */
static void watch_signal(void)
{
    stepping.watches = 0;
    step_watch(&read_by_worker, sizeof read_by_worker);
    step_watch(&record->use, sizeof record->use);
    step_watch(ours, sizeof *ours);
    for (int i = 0; i < 3; i++)
        step_watch(&stand_in[i].value, sizeof stand_in[i].value);
}

static void watch_bucket(void)
{
    stepping.watches = 0;
    step_watch(&removals, sizeof removals);
    step_watch(bucket_of((uintptr_t)ours), sizeof bucket[0]);
    step_watch(&next_record->handle, sizeof next_record->handle);
    step_watch(&next_record->next, sizeof next_record->next);
}

/* There are as many records as signals, so the record freed now is the next one used. */
static void set(void)
{
    step_app_signal_remove(handle_of(ours));
    step_app_signal_remove(handle_of(neighbour));
    step_app_signal_remove(handle_of(elsewhere));
    step_app_signal_add(handle_of(ours));
    step_app_signal_add(handle_of(neighbour)); /* before ours in the bucket */
    record = step_app_signal_find((uintptr_t)ours);
    next_record = step_app_signal_find((uintptr_t)neighbour);
    ours->start_ts = ours->end_ts = 0;
    ours->value = 1;
    memset(stand_in, 0, sizeof stand_in);
    for (int i = 0; i < 3; i++)
        rtl_signal_arm(&stand_in[i]);
    memset(began, 0, sizeof began);
    looked = reused = false;
    found = NULL;
    memset(&taken, 0, sizeof taken);
    watch_signal();
}

static void set_for_search(void)
{
    set();
    watch_bucket();
}

static void set_in_flight(void)
{
    set();
    step_app_signal_begin(record, (uintptr_t)&stand_in[0]);
}

/* Watch only the record's use: with three threads more would be too many orders. */
static void set_use_in_flight(void)
{
    set_in_flight();
    stepping.watches = 0;
    step_watch(&record->use, sizeof record->use);
}

static void try_all(void (*before)(void), const char *(*check)(void), unsigned threads, void (*const *bodies)(void))
{
    assert_null(step_all_orders(before, bodies, threads, check));
    assert_true(stepping.runs > 1); /* there was a choice */
    print_message("# %llu orders\n", (unsigned long long)stepping.runs);
}

/* Complete the signal as a GPU does. */
static void completes(uint64_t start, uint64_t end)
{
    __atomic_store_n(&ours->start_ts, start, __ATOMIC_RELEASE);
    __atomic_store_n(&ours->end_ts, end, __ATOMIC_RELEASE);
    __atomic_store_n(&ours->value, 0, __ATOMIC_RELEASE);
}

/* The worker reads the stand-in's times and reuses the stand-in for another kernel. */
static void looks(void)
{
    looked = step_app_signal_look(record, &stand_in[0], 1);
    taken = stand_in[0];
    taken.value = __atomic_load_n(&stand_in[0].value, __ATOMIC_RELAXED);
    if (looked)
        rtl_signal_arm(&stand_in[0]);
}

/* True when the thread that found the kernel finished wrote this result exactly once. */
static bool ended_with(int64_t how, uint64_t start, uint64_t end)
{
    const amd_signal_t *it = looked ? &taken : &stand_in[0];
    return it->value == how && it->start_ts == start && it->end_ts == end &&
           (!looked || stand_in[0].value == RTL_SIGNAL_ARMED);
}

static void destroys(void)
{
    if (stamps_first)
        completes(10, 20);
    step_app_signal_remove(handle_of(ours));
    step_gone(ours, sizeof *ours);
    step_app_signal_add(handle_of(elsewhere)); /* reuses the record */
}

static const char *ended_once_by_destruction(void)
{
    if (!stepping.thread[0].done || !stepping.thread[1].done)
        return "a thread can't continue";
    if (step_app_signal_find((uintptr_t)elsewhere) != record || record->use != RTL_USE_IDLE)
        return "the record's next signal isn't free";
    if (stamps_first)
        return ended_with(RTL_STAND_IN_TIMED, 10, 20) ? NULL : "the kernel's times are lost";
    return ended_with(RTL_STAND_IN_GONE, 0, 0) ? NULL : "the kernel isn't marked as without its signal";
}

static void nothing_is_read_after_destruction(void **state)
{
    void (*const bodies[])(void) = {looks, destroys};
    (void)state;
    for (int i = 0; i < 2; i++) {
        stamps_first = i;
        try_all(set_in_flight, ended_once_by_destruction, 2, bodies);
    }
}

/* The kernel has finished, and the thread that waited for it uses the signal again. */
static void uses_again(void)
{
    completes(10, 20);
    __atomic_store_n(&ours->value, 1, __ATOMIC_RELAXED);
    began[1] = step_app_signal_begin(record, (uintptr_t)&stand_in[1]);
}

static const char *each_has_its_times(void)
{
    if (!ended_with(RTL_STAND_IN_TIMED, 10, 20))
        return "the first kernel's times are lost";
    if (!began[1] || record->use != (uintptr_t)&stand_in[1] || stand_in[1].value != RTL_SIGNAL_ARMED)
        return "the second kernel doesn't have the signal";
    return ours->start_ts || ours->end_ts ? "the second kernel finds the first one's times" : NULL;
}

static void the_next_use_reads_the_earlier_times(void **state)
{
    void (*const bodies[])(void) = {looks, uses_again};
    (void)state;
    try_all(set_in_flight, each_has_its_times, 2, bodies);
}

static void begins_1(void)
{
    began[1] = step_app_signal_begin(record, (uintptr_t)&stand_in[1]);
}

static void begins_2(void)
{
    began[2] = step_app_signal_begin(record, (uintptr_t)&stand_in[2]);
}

/* A thread that learns that its signal is shared marks its own stand-in. */
static const char *nobody_believes_to_be_alone(void)
{
    unsigned believe = 0;
    for (int i = 1; i < 3; i++)
        believe += began[i] && stand_in[i].value == RTL_SIGNAL_ARMED;
    if (believe)
        return "two packets have the signal, and one counts as its only user";
    return record->use == RTL_USE_SHARED ? NULL : "the signal isn't shared";
}

/* A packet other than a kernel had the signal, and has finished. */
static void set_over(void)
{
    set();
    step_app_signal_begin(record, RTL_USE_OTHER);
    completes(1, 2);
    ours->value = 1;
}

static void two_packets_at_once_share_their_signal(void **state)
{
    void (*const bodies[])(void) = {begins_1, begins_2, looks};
    (void)state;
    try_all(set, nobody_believes_to_be_alone, 2, bodies);
    try_all(set_over, nobody_believes_to_be_alone, 2, bodies);
    try_all(set_use_in_flight, nobody_believes_to_be_alone, 3, bodies);
}

/* The second packet's kernel finishes before the first packet is through. */
static void begins_and_completes(void)
{
    begins_2();
    completes(10, 20);
}

static const char *times_are_right_or_none(void)
{
    if (stand_in[1].value == RTL_STAND_IN_TIMED)
        return "a kernel that isn't over has times";
    if (stand_in[2].value == RTL_STAND_IN_TIMED && (stand_in[2].start_ts != 10 || stand_in[2].end_ts != 20))
        return "a kernel has times that aren't its own";
    return record->use == (uintptr_t)&stand_in[1] && (ours->start_ts || ours->end_ts)
               ? "the second kernel finds the first one's times"
               : NULL;
}

static void a_delayed_thread_keeps_the_other_kernels_times(void **state)
{
    void (*const bodies[])(void) = {begins_1, begins_and_completes};
    (void)state;
    try_all(set, times_are_right_or_none, 2, bodies);
    try_all(set_over, times_are_right_or_none, 2, bodies);
}

/* The queue was destroyed: the worker reuses the stand-in if no thread will write to it any more. */
static void detaches(void)
{
    reused = step_app_signal_detach(record, &stand_in[0], true);
    if (reused)
        rtl_signal_arm(&stand_in[0]);
}

static const char *the_card_is_left_alone(void)
{
    return reused && stand_in[0].value != RTL_SIGNAL_ARMED ? "a stand-in was completed that another kernel uses" : NULL;
}

static void a_stand_in_is_reused_only_when_unused(void **state)
{
    void (*const bodies[])(void) = {detaches, begins_1};
    (void)state;
    try_all(set_in_flight, the_card_is_left_alone, 2, bodies);
}

static void searches(void)
{
    found = step_app_signal_find((uintptr_t)ours);
}

/* Move the record before ours into another bucket, as rtl_app_signal_remove does, but without its steps. */
static void moves_the_neighbour(void)
{
    free_record(unlink_app_signal((uintptr_t)neighbour));
    step_app_signal_add(handle_of(elsewhere));
}

static const char *it_was_found(void)
{
    return found == record ? NULL : "a signal that was there all the time was not found";
}

static void a_search_finds_a_signal_while_its_neighbour_moves(void **state)
{
    void (*const bodies[])(void) = {searches, moves_the_neighbour};
    (void)state;
    try_all(set_for_search, it_was_found, 2, bodies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_read_after_destruction),
        cmocka_unit_test(the_next_use_reads_the_earlier_times),
        cmocka_unit_test(two_packets_at_once_share_their_signal),
        cmocka_unit_test(a_stand_in_is_reused_only_when_unused),
        cmocka_unit_test(a_delayed_thread_keeps_the_other_kernels_times),
        cmocka_unit_test(a_search_finds_a_signal_while_its_neighbour_moves),
    };
    return cmocka_run_group_tests(tests, prepare, NULL);
}
