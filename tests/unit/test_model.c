/* The model: windows, totals, order, zero, stale. */
#include "model_fixture.h"

static const struct rtl_row *row(int kernel)
{
    const struct rtl_row *r = rtl_model_row(m, p->kernels[kernel].id);
    assert_non_null(r);
    return r;
}

static void the_first_frames_window_begins_at_the_start(void **state)
{
    (void)state;
    int a = synth_kernel(p, "a"), b = synth_kernel(p, "b");
    synth_record(p, a, 1000, 30);
    synth_record(p, b, 1000, 10);
    p->busy_ns[0] = SECONDS(1);
    p->idle[0][1] = (struct rtl_idle){20, SECONDS(2)};
    p->idle[0][5] = (struct rtl_idle){4, SECONDS(9)}; /* before the window: idle time seen late */
    synth_tick(p, m, SECONDS(4));
    assert_null(m->base);
    assert_int_equal(m->span_ns, SECONDS(4));
    assert_float_equal(row(a)->rate, 7.5, 1e-9);
    assert_float_equal(row(a)->share, 0.75, 1e-9);
    assert_int_equal(row(a)->window.min_ns, 1000); /* exact, not a bucket's edge */
    assert_int_equal(row(a)->calls, 30);
    assert_float_equal(m->gpus[0].busy, 0.25, 1e-9);
    assert_float_equal(m->gpus[1].busy, 0, 1e-9);
    assert_float_equal(m->gpus[0].idle[1], 0.5, 1e-9);
    assert_float_equal(m->gpus[0].idle[5], 1, 1e-9);
    assert_float_equal(m->gpus[0].idle_rate, 6, 1e-9);
    assert_float_equal(m->gpus[1].idle[1], 0, 1e-9);
    shown("a b");
}

/* A GPU whose dispatches were only counted has no known busy time: not 0. */
static void a_gpu_without_timed_dispatches_is_not_idle(void **state)
{
    (void)state;
    int a = synth_kernel(p, "a");
    m->window_ns = SECONDS(1);
    synth_record(p, a, 1000, 1);
    p->busy_ns[0] = SECONDS(0.5);
    synth_tick(p, m, SECONDS(1));
    for (int t = 2; t <= 4; t++) {
        synth_untimed(p, a, RTL_UNTIMED_DEMOTED, 10);
        synth_tick(p, m, SECONDS(t));
    }
    assert_true(m->gpus[0].busy < 0);
    assert_true(m->gpus[0].idle[0] < 0);
    assert_true(m->gpus[0].idle_rate < 0);
    assert_float_equal(m->gpus[1].busy, 0, 1e-9); /* this GPU got no dispatch: idle */
    assert_true(m->busy < 0);                     /* so the mean is unknown, too */
    synth_untimed(p, a, RTL_UNTIMED_DEMOTED, 10);
    p->busy_ns[0] += SECONDS(0.25);
    synth_tick(p, m, SECONDS(5));
    assert_true(m->gpus[0].busy < 0); /* some were timed: a lower bound is no busy time */
    assert_int_equal(m->gpus[0].unknown, RTL_UNKNOWN_UNTIMED);
    synth_tick(p, m, SECONDS(6));
    synth_tick(p, m, SECONDS(7));
    synth_tick(p, m, SECONDS(8));
    assert_float_equal(m->gpus[0].busy, 0, 1e-9); /* nothing was dispatched */
}

static void the_window_slides(void **state)
{
    (void)state;
    int a = synth_kernel(p, "a");
    uint64_t slow = 0;
    for (int t = 1; t <= 40; t++) {
        synth_record(p, a, t <= 20 ? 1000 : 50000, 100);
        synth_tick(p, m, SECONDS(t));
        if (t > 12) { /* once full it covers at least the requested time, and hardly more */
            assert_true(m->span_ns >= SECONDS(9.7) && m->span_ns <= SECONDS(11));
            assert_int_equal(row(a)->window_calls, m->span_ns / RTL_SEC * 100);
        }
        assert_true(m->ring_count <= RTL_MODEL_RING);
        slow = row(a)->p50;
    }
    assert_true(slow > 49000 && slow < 51000); /* the fast half has left the window */
    assert_int_equal(row(a)->calls, 4000);
    assert_true(row(a)->window.min_ns > 49000);
}

static void the_history_is_bounded_at_any_interval(void **state)
{
    (void)state;
    static const double steps[] = {0.05, 0.1, 0.33, 0.9, 1, 2.5, 7, 30};
    int a = synth_kernel(p, "a");
    double t = 0;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        for (int n = 0; n < 220; n++) {
            t += steps[i];
            synth_record(p, a, 1000, 1);
            synth_tick(p, m, SECONDS(t));
            assert_true(m->ring_count <= RTL_MODEL_RING);
            if (n == 219)
                assert_true(m->span_ns >= SECONDS(9.7) && m->span_ns <= SECONDS(11 + steps[i]));
        }
}

static void windows_can_be_chosen(void **state)
{
    (void)state;
    int a = synth_kernel(p, "a");
    for (int t = 1; t <= 30; t++) {
        synth_record(p, a, 1000, 10);
        synth_tick(p, m, SECONDS(t));
    }
    rtl_model_set_window(m, RTL_WINDOW_INTERVAL);
    assert_int_equal(m->span_ns, RTL_SEC);
    assert_int_equal(row(a)->window_calls, 10);
    rtl_model_set_window(m, RTL_WINDOW_ALL);
    assert_int_equal(m->span_ns, SECONDS(30));
    assert_int_equal(row(a)->window_calls, 300);
    rtl_model_set_window(m, SECONDS(60)); /* longer than the history: the window is the history, and grows */
    uint64_t span = m->span_ns;
    for (int t = 31; t <= 120; t++) {
        synth_record(p, a, 1000, 10);
        synth_tick(p, m, SECONDS(t));
        assert_true(m->span_ns >= span || m->span_ns >= SECONDS(58));
        span = m->span_ns;
    }
    assert_true(m->span_ns >= SECONDS(58) && m->span_ns <= SECONDS(68));
}

static void zero_restarts_the_counts(void **state)
{
    (void)state;
    int a = synth_kernel(p, "a"), b;
    synth_record(p, a, 1000, 500);
    synth_untimed(p, a, RTL_UNTIMED_NO_SIGNAL, 5);
    synth_tick(p, m, SECONDS(5));
    rtl_model_zero(m);
    assert_int_equal(row(a)->calls, 0);
    assert_int_equal(m->counted, 0);
    assert_int_equal(m->lost, 0);
    b = synth_kernel(p, "b"); /* unknown when zero was pressed */
    synth_record(p, a, 9000, 7);
    synth_record(p, b, 3000, 2);
    synth_tick(p, m, SECONDS(6));
    assert_int_equal(row(a)->calls, 7);
    assert_int_equal(row(a)->total_ns, 63000);
    assert_int_equal(row(b)->calls, 2);
    assert_int_equal(row(a)->window_calls, 7); /* the window doesn't reach back before zero either */
    assert_true(row(a)->p99 > 8900 && row(a)->p99 < 9100);
    assert_int_equal(m->counted, 9);
    assert_int_equal(rtl_model_since(m), RTL_SEC);
    rtl_model_set_window(m, RTL_WINDOW_ALL);
    assert_int_equal(m->span_ns, RTL_SEC);
}

static void ties_are_sorted_by_age(void **state)
{
    (void)state;
    static const char *const names[] = {"e", "d", "c", "b", "a"};
    for (int i = 0; i < 5; i++)
        synth_record(p, synth_kernel(p, names[i]), 1000, 10);
    synth_tick(p, m, SECONDS(1));
    for (int c = 0; c < RTL_COLUMN_COUNT; c++) {
        if (rtl_columns[c].order == RTL_ORDER_NO || c == RTL_COLUMN_NAME)
            continue;
        rtl_model_sort(m, (enum rtl_column)c, false);
        shown("e d c b a");
        rtl_model_sort(m, (enum rtl_column)c, true);
        shown("e d c b a");
    }
    rtl_model_sort(m, RTL_COLUMN_NAME, false);
    shown("a b c d e");
    rtl_model_sort(m, RTL_COLUMN_NAME, true);
    shown("e d c b a");
}

static void unmeasured_rows_are_last(void **state)
{
    (void)state;
    int a = synth_kernel(p, "untimed"), b = synth_kernel(p, "slow"), c = synth_kernel(p, "fast");
    synth_untimed(p, a, RTL_UNTIMED_OWN_SIGNAL, 1000);
    synth_record(p, b, 90000, 1);
    synth_record(p, c, 100, 20);
    synth_tick(p, m, SECONDS(1));
    rtl_model_sort(m, RTL_COLUMN_P99, false);
    shown("slow fast untimed");
    rtl_model_sort(m, RTL_COLUMN_P99, true);
    shown("fast slow untimed");
    rtl_model_sort(m, RTL_COLUMN_MIN, false); /* ascending by default */
    shown("fast slow untimed");
    rtl_model_sort(m, RTL_COLUMN_CALLS, false);
    shown("untimed fast slow");
    rtl_model_sort(m, RTL_COLUMN_UNTIMED, false);
    shown("untimed slow fast");
    assert_int_equal(m->untimed, 1000);
    assert_int_equal(m->lost, 0); /* deliberately untimed, not lost */
    assert_ptr_equal(m->worst, row(b));
}

static void the_order_is_frozen_while_the_cursor_moves(void **state)
{
    (void)state;
    int a = synth_kernel(p, "a"), b = synth_kernel(p, "b");
    synth_record(p, a, 1000, 100);
    synth_record(p, b, 1000, 50);
    synth_tick(p, m, SECONDS(1));
    shown("a b");
    rtl_model_freeze_order(m);
    synth_kernel(p, "new");
    for (double t = 1.25; t < 4; t += 0.25) {
        synth_record(p, b, 100000, 100);
        synth_record(p, 2, 1000000, 100);
        synth_tick(p, m, SECONDS(t));
        shown("a b new");
        assert_true(rtl_model_order_is_frozen(m));
    }
    synth_tick(p, m, SECONDS(4));
    assert_false(rtl_model_order_is_frozen(m));
    shown("new b a");
    /* with long intervals for three of them */
    synth_tick(p, m, SECONDS(34));
    rtl_model_freeze_order(m);
    synth_tick(p, m, SECONDS(64));
    synth_tick(p, m, SECONDS(94));
    synth_tick(p, m, SECONDS(124));
    assert_true(rtl_model_order_is_frozen(m));
    synth_tick(p, m, SECONDS(154));
    assert_false(rtl_model_order_is_frozen(m));
    rtl_model_set_window(m, RTL_WINDOW_ALL);
    assert_string_equal(m->rows[m->order[2]].kernel->name, "a");
}

static void filter_search_and_idle_select_rows(void **state)
{
    (void)state;
    synth_record(p, synth_kernel(p, "_Z10gemm_floatPf"), 1000, 30);
    synth_record(p, synth_kernel(p, "attention"), 1000, 20);
    synth_record(p, synth_kernel(p, "Gemm_int"), 1000, 10);
    synth_tick(p, m, SECONDS(1));
    snprintf(m->filter, sizeof m->filter, "gemm");
    rtl_model_refresh(m);
    shown("_Z10gemm_floatPf Gemm_int");
    snprintf(m->filter, sizeof m->filter, "(float*)"); /* the full name matches, though the short one is displayed */
    rtl_model_refresh(m);
    shown("_Z10gemm_floatPf");
    assert_int_equal(m->row_count, 3);
    m->filter[0] = 0;
    rtl_model_refresh(m);
    assert_int_equal(rtl_model_search(m, "GEMM", 0, 1), 0);
    assert_int_equal(rtl_model_search(m, "GEMM", 1, 1), 2);
    assert_int_equal(rtl_model_search(m, "GEMM", 1, -1), 0);
    assert_int_equal(rtl_model_search(m, "GEMM", 3, 1), 0); /* wraps round */
    assert_int_equal(rtl_model_search(m, "nothing", 0, 1), -1);
    synth_record(p, 1, 1000, 5);
    rtl_model_set_window(m, RTL_WINDOW_INTERVAL);
    synth_tick(p, m, SECONDS(2));
    m->hide_idle = true;
    rtl_model_refresh(m);
    shown("attention");
    assert_int_equal(rtl_model_position(m, p->kernels[0].id), -1);
    assert_int_equal(rtl_model_position(m, p->kernels[1].id), 0);
}

static void stale_means_in_flight_without_a_worker(void **state)
{
    (void)state;
    synth_record(p, synth_kernel(p, "a"), 1000, 30);
    p->heartbeat_ns = SECONDS(1);
    p->passes = 10;
    p->parked = true;
    for (int t = 1; t < 30; t++) { /* a long idle time is not stale */
        synth_tick(p, m, SECONDS(t));
        assert_int_equal(m->state, RTL_TARGET_LIVE);
    }
    p->queues[1].injected += 3; /* it was woken just now */
    synth_tick(p, m, SECONDS(30));
    assert_int_equal(m->state, RTL_TARGET_LIVE);
    synth_tick(p, m, SECONDS(31));
    assert_int_equal(m->state, RTL_TARGET_LIVE);
    synth_tick(p, m, SECONDS(32)); /* and does not wake up */
    assert_int_equal(m->state, RTL_TARGET_STALE);
    synth_tick(p, m, SECONDS(42));
    assert_int_equal(m->stale_ns, SECONDS(12));
    p->parked = false;
    p->heartbeat_ns = SECONDS(43);
    p->passes++;
    synth_tick(p, m, SECONDS(43.1));
    assert_int_equal(m->state, RTL_TARGET_LIVE);
    p->queues[1].completed += 3;
    synth_tick(p, m, SECONDS(60));
    assert_int_equal(m->state, RTL_TARGET_LIVE);
    /* a worker that stopped while awake is detected at the first snapshot */
    p->queues[1].injected++;
    synth_tick(p, m, SECONDS(61));
    assert_int_equal(m->state, RTL_TARGET_STALE);
    rtl_model_exited(m);
    assert_int_equal(m->state, RTL_TARGET_EXITED);
}

static void history_keeps_each_interval(void **state)
{
    (void)state;
    int a = synth_kernel(p, "a"), b = synth_kernel(p, "b");
    synth_record(p, a, 1000, 1);
    synth_record(p, b, 1000, 1);
    for (int t = 0; t < 300; t++) {
        if (t % 2)
            synth_record(p, a, 1000 + (uint64_t)t * 100, 5);
        synth_tick(p, m, SECONDS(t + 1));
    }
    assert_int_equal(rtl_model_history_length(m), RTL_MODEL_HISTORY);
    for (uint32_t back = 0; back < RTL_MODEL_HISTORY; back++) {
        double wanted = 1000 + (299.0 - back) * 100, got = (double)rtl_model_history(m, row(a), back, false);
        if (back % 2)
            assert_int_equal(got, 0); /* nothing ran in that interval */
        else
            assert_true(got > wanted * 0.992 && got < wanted * 1.008);
        assert_int_equal(rtl_model_history(m, row(b), back, false), 0);
    }
    assert_int_equal(rtl_model_history(m, row(a), RTL_MODEL_HISTORY, false), 0);
}

/* Names are demangled a few at a time, each once, also those of later kernels. */
static void names_are_demangled_ahead(void **state)
{
    (void)state;
    static const char *const names[] = {"gemm", "norm", "copy", "attention", "x"};
    assert_false(rtl_model_prepare(m, 10));
    for (int i = 0; i < 5; i++)
        synth_record(p, synth_kernel(p, names[i]), 1000, 1);
    synth_tick(p, m, SECONDS(1));
    assert_true(rtl_model_prepare(m, 2));
    assert_true(rtl_model_prepare(m, 2));
    assert_false(rtl_model_prepare(m, 2));
    assert_int_equal(m->prepared, p->kernels[4].id + 1);
    assert_false(rtl_model_prepare(m, 2));
    synth_record(p, synth_kernel(p, "later"), 1000, 1);
    synth_tick(p, m, SECONDS(2));
    assert_false(rtl_model_prepare(m, 2));
    assert_int_equal(m->prepared, p->kernels[5].id + 1);
}

static void an_empty_model_has_no_rows(void **state)
{
    (void)state;
    rtl_model_free(m);
    synth_free(p);
    p = synth_create(0, 0);
    m = rtl_model_create();
    assert_true(rtl_model_refresh(m));
    synth_tick(p, m, 0);
    assert_int_equal(m->span_ns, 0);
    assert_int_equal(m->shown, 0);
    assert_true(m->busy < 0);
    assert_null(m->worst);
    rtl_model_zero(m);
    synth_tick(p, m, SECONDS(1));
    assert_int_equal(rtl_model_search(m, "x", 0, 1), -1);
}

static void hostile_counts_do_not_break_the_sums(void **state)
{
    (void)state;
    synth_record(p, synth_kernel(p, "a"), 1000, 100);
    synth_tick(p, m, SECONDS(2));
    p->kernels[0].calls = 3; /* counters that run backwards, and clocks */
    p->kernels[0].untimed = UINT64_MAX;
    p->kernels[0].h.count = 1;
    p->busy_ns[0] = UINT64_MAX;
    p->idle[0][0] = (struct rtl_idle){UINT64_MAX, UINT64_MAX};
    p->idle[0][1] = (struct rtl_idle){UINT64_MAX, UINT64_MAX};
    synth_tick(p, m, SECONDS(1));
    assert_int_equal(row(0)->window_calls, 0);
    assert_int_equal(row(0)->window.count, 0);
    synth_tick(p, m, SECONDS(3));
    assert_true(m->gpus[0].busy <= 1);
    assert_true(m->gpus[0].idle[0] <= 1 && m->gpus[0].idle_rate >= 0);
    for (int c = 0; c < RTL_COLUMN_COUNT; c++)
        if (rtl_columns[c].order != RTL_ORDER_NO)
            rtl_model_sort(m, (enum rtl_column)c, false);
}

/* A timer that fires a little early or late must not make a window of ten seconds into eleven. */
static void a_late_timer_keeps_the_window(void **state)
{
    (void)state;
    int a = synth_kernel(p, "a");
    for (int t = 1; t <= 20; t++) {
        synth_record(p, a, 1000, 1);
        synth_tick(p, m, SECONDS(t));
    }
    synth_tick(p, m, SECONDS(20.99));
    assert_int_equal(m->span_ns, SECONDS(20.99) - SECONDS(11));
    synth_tick(p, m, SECONDS(21.6)); /* but nine and a half are not ten */
    assert_int_equal(m->span_ns, SECONDS(21.6) - SECONDS(11));
}

/* Dispatches in flight on a destroyed queue never complete: they count neither for the depth nor for a stuck worker. */
static void destroyed_queues_have_no_depth(void **state)
{
    (void)state;
    synth_record(p, synth_kernel(p, "a"), 1000, 30);
    p->heartbeat_ns = SECONDS(1);
    p->queues[1].injected += 7;
    p->queues[2].injected += 3;
    for (int t = 1; t < 20; t++) {
        struct rtl_snapshot s = synth_snapshot(p, SECONDS(t));
        s.queues[1].live = false;
        s.queues[2].live = t < 10;
        assert_true(rtl_model_add(m, &s, 1));
        assert_int_equal(rtl_model_in_flight(m), t < 10 ? 3 : 0);
        assert_int_equal(m->gpus[0].depth, t < 10 ? 3 : 0);
        assert_int_equal(m->gpus[1].depth, 0);
        assert_int_equal(m->gpus[1].queues, 1);
        assert_int_equal(m->state, t >= 3 && t < 10 ? RTL_TARGET_STALE : RTL_TARGET_LIVE);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_first_frames_window_begins_at_the_start),
        TEST(a_gpu_without_timed_dispatches_is_not_idle),
        TEST(the_window_slides),
        TEST(the_history_is_bounded_at_any_interval),
        TEST(windows_can_be_chosen),
        TEST(a_late_timer_keeps_the_window),
        TEST(zero_restarts_the_counts),
        TEST(ties_are_sorted_by_age),
        TEST(unmeasured_rows_are_last),
        TEST(the_order_is_frozen_while_the_cursor_moves),
        TEST(filter_search_and_idle_select_rows),
        TEST(stale_means_in_flight_without_a_worker),
        TEST(destroyed_queues_have_no_depth),
        TEST(history_keeps_each_interval),
        TEST(names_are_demangled_ahead),
        TEST(an_empty_model_has_no_rows),
        TEST(hostile_counts_do_not_break_the_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
