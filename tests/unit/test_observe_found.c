/* Cost and results of observing: names without memory, a clock, pauses, and which process is searched again. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "observe/kernel_names.h"
#include "observe/pace.h"
#include "observe/signal_times.h"
#include "watch/attach_backoff.h"

/* More kernel objects than fit: packets are still counted, without a name, and the snapshot reports it. */
static void kernels_beyond_the_table_are_unknown(void **state)
{
    (void)state;
    enum { ROOM = 1 << 20 };
    struct rtl_kernel_names *n = rtl_kernel_names_create();
    for (uint64_t i = 1; i <= ROOM; i++)
        rtl_kernel_names_add(n, "gemm", 4, 64 * i);
    assert_false(n->full);
    assert_false(rtl_kernel_names_known(n, 64 * (ROOM + 1ull)));
    rtl_kernel_names_add(n, "norm", 4, 64); /* kernels in the table stay */
    assert_false(n->full);
    assert_int_equal(rtl_kernel_names_row(n, 64), RTL_KERNEL_FIRST + 1);
    rtl_kernel_names_add(n, "gemm", 4, 64 * (ROOM + 1ull));
    assert_true(n->full);
    assert_true(rtl_kernel_names_known(n, 64 * (ROOM + 1ull)));
    assert_int_equal(rtl_kernel_names_row(n, 64 * (ROOM + 1ull)), RTL_KERNEL_UNKNOWN);
    rtl_kernel_names_free(n);
}

/* The rate of an unknown clock is measured as exactly as the samples allow. */
static void an_unknown_clock_is_measured(void **state)
{
    (void)state;
    struct rtl_tick_clock clock = {0};
    for (uint64_t ms = 1; ms < 4000; ms++) {
        uint64_t now = 5000000000 + ms * 1000000, end = ms * 33000; /* 33 MHz */
        rtl_tick_duration(&clock, end - 1000, end, now - 500000, now);
    }
    assert_in_range(clock.hz, 32900000, 33100000);
}

/* --- cost --- */

static void pauses_keep_the_total_budget(void **state)
{
    (void)state;
    const uint64_t ms = 1000000, second = 1000 * ms;
    struct rtl_pace one = {.cpu = 0.05, .looking = 1, .scanning = 1, .cost_ns = 30000}, p = one;
    assert_int_equal(rtl_pace_poll_ns(&p), 2 * ms); /* nothing runs */
    p.rate = 10000;
    assert_in_range(rtl_pace_poll_ns(&p), 799000, 801000); /* the goal is 12.5 us: 30 us are 3.75 % of the pause */
    p.looking = 10;
    assert_in_range(rtl_pace_poll_ns(&p), 7999000, 8001000);
    p.cost_ns = 1e9;
    assert_int_equal(rtl_pace_poll_ns(&p), 4 * second); /* a viewer watches */
    p = one;
    p.past_library = true;
    assert_int_equal(rtl_pace_poll_ns(&p), 20 * ms);
    /* a quarter of 5 %, for the scans of all processes */
    assert_in_range(rtl_pace_scan_ns(&one, 20 * ms), 1599 * ms, 1601 * ms);
    p.scanning = 20;
    assert_in_range(rtl_pace_scan_ns(&p, 20 * ms), 31999 * ms, 32001 * ms);
    assert_in_range(rtl_pace_scan_ns(&p, UINT64_MAX), second, 3600 * second);
}

/* --- processes without queues --- */

/* A large process's forked child: searched after growing pauses, and each search is short. */
static void a_process_without_queues_is_searched_less_and_less(void **state)
{
    (void)state;
    const uint64_t ms = 1000000, second = 1000 * ms;
    struct rtl_attach_backoff r = {0};
    const struct rtl_proc_entry child = {.pid = 7, .start_time = 1}, reused = {.pid = 7, .start_time = 2};
    uint32_t asked = 0;
    for (uint64_t now = second; now <= 21 * second; now += second) { /* twenty frames */
        rtl_attach_backoff_begin_round(&r, &child, 1);
        if (!rtl_attach_backoff_allows(&r, &child, now))
            continue;
        rtl_attach_backoff_record(&r, &child, true, now, now + ms);
        asked++;
    }
    assert_int_equal(asked, 2);
    assert_true(rtl_attach_backoff_allows(&r, &reused, 21 * second));
    for (uint64_t now = 22 * second; now < 322 * second; now += second)
        if (rtl_attach_backoff_allows(&r, &child, now))
            rtl_attach_backoff_record(&r, &child, true, now, now), asked++;
    assert_in_range(asked, 2 + 8, 2 + 11); /* at least every 32 s */
    rtl_attach_backoff_begin_round(&r, &reused, 1);
    assert_int_equal(r.count, 0);
    rtl_attach_backoff_free(&r);
}

static void many_processes_without_queues_delay_no_other(void **state)
{
    (void)state;
    enum { CHILDREN = 32 };
    const uint64_t ms = 1000000, second = 1000 * ms;
    struct rtl_attach_backoff r = {0};
    struct rtl_proc_entry children[CHILDREN];
    uint64_t now = second, waited = 0, most = 0;
    for (int i = 0; i < CHILDREN; i++)
        children[i] = (struct rtl_proc_entry){.pid = 10 + i, .start_time = 1};
    for (int frame = 0; frame < 300; frame++, now += second) {
        uint64_t from = now;
        rtl_attach_backoff_begin_round(&r, children, CHILDREN);
        for (int i = 0; i < CHILDREN; i++)
            if (rtl_attach_backoff_allows(&r, &children[i], now)) {
                rtl_attach_backoff_record(&r, &children[i], true, now, now + 140 * ms);
                now += 140 * ms;
            }
        waited += now - from;
        most = now - from > most ? now - from : most;
    }
    assert_in_range(most, 140 * ms, 280 * ms);
    assert_true(r.count == CHILDREN); /* each had its turn */
    assert_true(waited < (now - second) / 15);
    rtl_attach_backoff_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_beyond_the_table_are_unknown),
        cmocka_unit_test(an_unknown_clock_is_measured),
        cmocka_unit_test(pauses_keep_the_total_budget),
        cmocka_unit_test(a_process_without_queues_is_searched_less_and_less),
        cmocka_unit_test(many_processes_without_queues_delay_no_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
