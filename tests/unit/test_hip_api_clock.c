/* The clock that calls are timed by: its times, times beyond its range, and the times that a thread reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>

#include "hip/now.h"
#include "shm/hip_api_clock.h"

/* librtl-hip.so, played. */
struct rtl_hip_api_clock rtl_hip_clock;
static uint64_t systems;

uint64_t rtl_hip_system_ns(void)
{
    return systems;
}

/* --- what it says --- */

static uint64_t at(struct rtl_hip_api_clock *clock, uint64_t tsc)
{
    return rtl_hip_api_clock_at(clock, rtl_hip_api_clock_version(clock), tsc);
}

static void it_is_believed_for_a_time(void **state)
{
    struct rtl_hip_api_clock clock = {0};
    (void)state;
    assert_int_equal(rtl_hip_api_clock_version(&clock), 0);
    const struct rtl_line line = {1ull << 40, 1ull << 50, 0.25};
    rtl_hip_api_clock_set(&clock, &line, 20000000);
    assert_int_not_equal(rtl_hip_api_clock_version(&clock), 0);
    assert_int_equal(at(&clock, line.x), line.y);
    assert_int_equal(at(&clock, line.x + 79999996), line.y + 19999999);
    assert_int_equal(at(&clock, line.x + 80000000), 0);     /* too long ago */
    assert_int_equal(at(&clock, line.x + (1ull << 60)), 0); /* long ago: a counter that jumped, a machine that slept */
    assert_int_equal(at(&clock, line.x - 1), 0); /* read before the line was drawn, or a counter that was reset */
    assert_int_equal(at(&clock, 5), 0);
    uint64_t version = rtl_hip_api_clock_version(&clock);
    rtl_hip_api_clock_set(&clock, &line, 20000000);
    assert_int_equal(rtl_hip_api_clock_at(&clock, version, line.x), 0); /* of a line that is no more */
    rtl_hip_api_clock_stop(&clock);
    assert_int_equal(rtl_hip_api_clock_version(&clock), 0);
    rtl_hip_api_clock_set(&clock, &line, 20000000);
    assert_int_equal(rtl_hip_api_clock_version(&clock), version + 2); /* no number twice */
}

static void a_counter_that_wraps_goes_on(void **state)
{
    struct rtl_hip_api_clock clock = {0};
    const struct rtl_line line = {UINT64_MAX - 99, 1000000, 1};
    (void)state;
    rtl_hip_api_clock_set(&clock, &line, 20000000);
    assert_int_equal(at(&clock, UINT64_MAX), 1000099);
    assert_int_equal(at(&clock, 900), 1001000);
}

/* From 1 MHz to 10 GHz, up to the last tick: what librtl.so's own line says, to a ns. */
static void it_says_what_the_line_says(void **state)
{
    (void)state;
    for (double hz = 1e6; hz < 1e10; hz *= 1.37) {
        struct rtl_hip_api_clock clock = {0};
        const struct rtl_line line = {123456789012345, 987654321098765, 1e9 / hz};
        uint64_t most = (uint64_t)(20000000 / line.slope);
        rtl_hip_api_clock_set(&clock, &line, 20000000);
        for (uint64_t ticks = 0; ticks < most; ticks += most / 1000 + 1) {
            uint64_t ns = at(&clock, line.x + ticks), want = rtl_line_at(&line, line.x + ticks);
            assert_true(ns + 1 >= want && ns <= want + 1);
        }
        assert_int_equal(at(&clock, line.x + most + 1), 0);
    }
}

static void the_first_one_writes(void **state)
{
    struct rtl_hip_api_clock clock = {0};
    char one, other;
    (void)state;
    assert_true(rtl_hip_api_clock_claim(&clock, &one));
    assert_false(rtl_hip_api_clock_claim(&clock, &other));
    assert_true(rtl_hip_api_clock_claim(&clock, &one)); /* loaded again */
}

/* --- the times that a thread reads --- */

static void no_time_goes_back(void **state)
{
    struct rtl_hip_thread thread = {0};
    (void)state;
    systems = 5000;
    assert_int_equal(rtl_hip_now(&thread), 5000); /* there is no line */
    systems = 6000;
    assert_int_equal(rtl_hip_now_fenced(&thread), 6000);
    struct rtl_line line = {rtl_tsc(), 7000000, 0.001}; /* so slow that this test is over before the next ns */
    rtl_hip_api_clock_set(&rtl_hip_clock, &line, 20000000);
    uint64_t ahead = rtl_hip_now(&thread);
    assert_true(ahead >= 7000000 && ahead < 27000000);
    line = (struct rtl_line){rtl_tsc(), 6900000, 1e-9}; /* drawn anew, a little back */
    rtl_hip_api_clock_set(&rtl_hip_clock, &line, 1000);
    assert_int_equal(rtl_hip_now_fenced(&thread), ahead);
    rtl_hip_api_clock_stop(&rtl_hip_clock);
    systems = 6950000;
    assert_int_equal(rtl_hip_now(&thread), ahead);
    systems = ahead + 1;
    assert_int_equal(rtl_hip_now_fenced(&thread), ahead + 1);
    struct rtl_hip_thread another = {0}; /* has times of its own */
    systems = 6950000;
    assert_int_equal(rtl_hip_now(&another), 6950000);
}

static void an_old_line_is_the_systems_turn(void **state)
{
    struct rtl_hip_thread thread = {0};
    struct rtl_line line = {rtl_tsc() - (1ull << 40), 1000, 1};
    (void)state;
    systems = 42;
    rtl_hip_api_clock_set(&rtl_hip_clock, &line, 20000000);
    assert_int_equal(rtl_hip_now(&thread), 42);
    rtl_hip_api_clock_stop(&rtl_hip_clock);
}

/* --- threads, for ThreadSanitizer, too --- */

static _Atomic(bool) over;

static void *goes_on_reading(void *data)
{
    struct rtl_hip_thread thread = {0};
    uint64_t *lines = data, before = 0;
    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        uint64_t now = rtl_hip_now(&thread);
        if (now < before || (now != 1 && now < 1000000))
            *lines = UINT64_MAX / 2;
        *lines += now != before;
        before = now;
    }
    return NULL;
}

static void threads_read_while_one_writes(void **state)
{
    enum { READERS = 2 };
    pthread_t reader[READERS];
    uint64_t seen[READERS] = {0};
    (void)state;
    systems = 1;
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&reader[i], NULL, goes_on_reading, &seen[i]), 0);
    for (uint64_t i = 1; i <= 20000; i++) {
        const struct rtl_line line = {rtl_tsc(), i * 1000000, 1e-9};
        rtl_hip_api_clock_set(&rtl_hip_clock, &line, 1000);
        if (i % 16 == 0)
            rtl_hip_api_clock_stop(&rtl_hip_clock);
    }
    atomic_store_explicit(&over, true, memory_order_relaxed);
    for (int i = 0; i < READERS; i++) {
        pthread_join(reader[i], NULL);
        assert_true(seen[i] < UINT64_MAX / 2);
    }
    rtl_hip_api_clock_stop(&rtl_hip_clock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {

        cmocka_unit_test(it_is_believed_for_a_time),
        cmocka_unit_test(a_counter_that_wraps_goes_on),
        cmocka_unit_test(it_says_what_the_line_says),
        cmocka_unit_test(the_first_one_writes),
        cmocka_unit_test(no_time_goes_back),
        cmocka_unit_test(an_old_line_is_the_systems_turn),
        cmocka_unit_test(threads_read_while_one_writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
