/* Numbers of the window that no snapshot pair, or the mode, leaves unknown: never 0, and never "no work". */
#include "model_fixture.h"

#include "model/cells.h"
#include "model/model.h"
#include "model/merge.h"
#include "model/model_gpus.h"
#include "model/ranks.h"

/* One second of a GPU that is half busy. */
static void work_for_a_second(int second)
{
    if (!p->kernel_count)
        synth_kernel(p, "a");
    synth_record(p, 0, 1000000, 500);
    p->busy_ns[0] += SECONDS(0.5);
    p->idle[0][3] = (struct rtl_idle){p->idle[0][3].count + 100, p->idle[0][3].total_ns + SECONDS(0.5)};
    synth_add(&p->queues[0].wait, 20000, 500);
    synth_tick(p, m, SECONDS(second));
}

static void nothing_is_known(enum rtl_unknown why)
{
    const struct rtl_gpu_row *gpu = &m->gpus[0];
    assert_int_equal(gpu->unknown, why);
    assert_true(gpu->busy < 0 && gpu->idle[3] < 0 && gpu->idle_rate < 0);
    assert_int_equal(gpu->verdict, RTL_VERDICT_UNKNOWN);
    assert_true(m->busy < 0);
}

static const char *cell(enum rtl_column column)
{
    static char text[48];
    rtl_cell_text(m, &m->rows[m->order[0]], column, RTL_UNIT_AUTO, text, sizeof text);
    return text;
}

static void mode_off_is_no_idle_gpu(void **state)
{
    (void)state;
    for (int t = 1; t <= 20; t++)
        work_for_a_second(t);
    assert_float_equal(m->gpus[0].busy, 0.5, 0.01);
    p->mode = RTL_MODE_OFF;
    for (int t = 21; t <= 23; t++) {
        synth_tick(p, m, SECONDS(t));
        nothing_is_known(RTL_UNKNOWN_OFF);
        assert_int_equal(rtl_model_busy(m, 0, 0), -1);
        assert_true(m->rate < 0 && m->gpus[0].rate < 0);
        assert_string_equal(cell(RTL_COLUMN_RATE), "-");
        assert_string_equal(cell(RTL_COLUMN_P99), "-");
        assert_false(rtl_model_has_window(m));
        assert_false(m->gpus[0].depth_known);
        assert_int_equal(m->gpus[0].facts.waits, 0);
    }
}

/* A window with a switch of mode is judged only by the part after the switch. */
static void the_window_begins_at_a_switch_of_mode(void **state)
{
    (void)state;
    for (int t = 1; t <= 20; t++)
        work_for_a_second(t);
    p->mode = RTL_MODE_OFF;
    for (int t = 21; t <= 60; t++)
        synth_tick(p, m, SECONDS(t));
    p->mode = RTL_MODE_DEFAULT;
    work_for_a_second(61);
    nothing_is_known(RTL_UNKNOWN_SWITCHED);
    assert_string_equal(cell(RTL_COLUMN_RATE), "-");
    for (int t = 62; t <= 70; t++) {
        work_for_a_second(t);
        assert_int_equal(m->span_ns, SECONDS(t - 61));
        assert_float_equal(m->gpus[0].busy, 0.5, 0.01);
        assert_float_equal(m->rate, 500, 1);
        assert_null(m->before);
    }
    m->window_ns = RTL_WINDOW_ALL;
    rtl_model_refresh(m);
    nothing_is_known(RTL_UNKNOWN_SWITCHED); /* the user wants the time in mode off, too */
}

static void auto_without_a_viewer_is_unknown_but_has_rates(void **state)
{
    (void)state;
    p->mode = RTL_MODE_AUTO;
    p->counting = true;
    synth_kernel(p, "a");
    for (int t = 1; t <= 20; t++) {
        synth_untimed(p, 0, RTL_UNTIMED_UNWATCHED, 500);
        synth_tick(p, m, SECONDS(t));
    }
    nothing_is_known(RTL_UNKNOWN_COUNTING);
    assert_float_equal(m->rate, 500, 1);
    assert_false(m->gpus[0].depth_known);
}

static void lite_is_known_only_if_it_times_the_dispatches(void **state)
{
    (void)state;
    p->mode = RTL_MODE_LITE;
    for (int t = 1; t <= 20; t++)
        work_for_a_second(t);
    assert_float_equal(m->gpus[0].busy, 0.5, 0.01);
    assert_false(m->gpus[0].depth_known); /* dispatches with the application's signals are not tracked */
    for (int t = 21; t <= 40; t++) {
        synth_untimed(p, 0, RTL_UNTIMED_OWN_SIGNAL, 100);
        work_for_a_second(t);
    }
    nothing_is_known(RTL_UNKNOWN_UNTIMED);
}

static void an_observed_process_without_estimates_is_unknown(void **state)
{
    (void)state;
    p->mode = RTL_MODE_OBSERVED;
    p->counting = true;
    for (int t = 1; t <= 3; t++)
        synth_tick(p, m, SECONDS(t));
    nothing_is_known(RTL_UNKNOWN_OBSERVED);
}

static void a_first_frame_says_nothing_about_the_present(void **state)
{
    (void)state;
    m->window_ns = SECONDS(10);
    work_for_a_second(3600);
    nothing_is_known(RTL_UNKNOWN_FIRST);
    assert_false(rtl_model_has_window(m));
    work_for_a_second(3601);
    assert_float_equal(m->gpus[0].busy, 0.5, 0.01);
    rtl_model_forget(m, 0); /* a replay that goes back */
    work_for_a_second(3602);
    nothing_is_known(RTL_UNKNOWN_FIRST);
    m->window_ns = RTL_WINDOW_ALL; /* the user asks for it */
    rtl_model_refresh(m);
    assert_true(m->gpus[0].busy >= 0);
}

static void zero_begins_an_unknown_window(void **state)
{
    (void)state;
    for (int t = 1; t <= 20; t++)
        work_for_a_second(t);
    rtl_model_zero(m);
    nothing_is_known(RTL_UNKNOWN_FIRST);
    assert_true(m->rate < 0);
    work_for_a_second(21);
    assert_float_equal(m->gpus[0].busy, 0.5, 0.01);
}

/* Two processes, a GPU each: the first one's mode says nothing about the second one's GPU. */
static void one_process_in_mode_off_leaves_the_others_known(void **state)
{
    (void)state;
    struct rtl_merge *merge = rtl_merge_create();
    struct synth *q[2] = {synth_create(1, 1), synth_create(1, 1)};
    for (int i = 0; i < 2; i++) {
        struct rtl_member_info info = {.pid = 4711 + i, .rank = i};
        synth_kernel(q[i], "a");
        rtl_merge_join(merge, &info);
    }
    for (int t = 1; t <= 20; t++) {
        for (int i = 0; i < 2; i++) {
            if (t > 10 && i == 0)
                q[i]->mode = RTL_MODE_OFF;
            else
                synth_record(q[i], 0, 1000000, 500);
            q[i]->busy_ns[0] += t > 10 && i == 0 ? 0 : SECONDS(0.5);
            struct rtl_snapshot s = synth_snapshot(q[i], SECONDS(t));
            s.agents[0].bdf = 0x300u + ((uint32_t)i << 8);
            assert_true(rtl_merge_update(merge, (uint32_t)i, &s));
            rtl_snapshot_free(&s);
        }
        struct rtl_snapshot merged = {0};
        assert_true(rtl_merge_make(merge, SYNTH_START + SECONDS(t), &merged));
        assert_true(rtl_model_add(m, &merged, SECONDS(t)));
    }
    assert_true(m->gpus[0].busy < 0);
    assert_int_equal(m->gpus[0].unknown, RTL_UNKNOWN_OFF);
    assert_float_equal(m->gpus[1].busy, 0.5, 0.01);
    struct rtl_process_row rows[2];
    assert_int_equal(rtl_process_rows(m, rows, 2), 2);
    assert_true(rows[0].busy < 0 && rows[0].rate < 0);
    assert_float_equal(rows[1].busy, 0.5, 0.01);
    rtl_model_free(m);
    m = NULL;
    rtl_merge_free(merge);
    for (int i = 0; i < 2; i++)
        synth_free(q[i]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(mode_off_is_no_idle_gpu),
        TEST(the_window_begins_at_a_switch_of_mode),
        TEST(auto_without_a_viewer_is_unknown_but_has_rates),
        TEST(lite_is_known_only_if_it_times_the_dispatches),
        TEST(an_observed_process_without_estimates_is_unknown),
        TEST(a_first_frame_says_nothing_about_the_present),
        TEST(zero_begins_an_unknown_window),
        TEST(one_process_in_mode_off_leaves_the_others_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
