/* Plots: axes have round numbers, and columns are as high as their values, at any size. */
#include "golden_fixture.h"

#include "tui/plot.h"

static const struct {
    uint64_t high;
    int ticks;
    uint64_t to, step;
} axes[] = {
    {100, 5, 100, 20},
    {99, 5, 100, 20},
    {101, 5, 150, 50},
    {1, 4, 1, 1},
    {0, 4, 1, 1},
    {2390000, 4, 3000000, 1000000},
    {2390000, 5, 2500000, 500000},
    {97000, 4, 100000, 50000},
    {7, 1, 10, 10},
    {7, 0, 10, 10},
    {1099511627775ull, 5, 1500000000000ull, 500000000000ull},
};

static void axes_have_round_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        struct rtl_plot_axis a = rtl_plot_axis(axes[i].high, axes[i].ticks);
        if (a.to != axes[i].to || a.step != axes[i].step)
            fail_msg("%zu: to %llu by %llu", i, (unsigned long long)a.to, (unsigned long long)a.step);
    }
    uint64_t random = 7;
    for (int i = 0; i < 100000; i++) {
        random = random * 6364136223846793005ull + 1442695040888963407ull;
        uint64_t high = random >> (random >> 58);
        int ticks = (int)(random >> 16 & 15);
        struct rtl_plot_axis a = rtl_plot_axis(high, ticks);
        uint64_t digit = a.step;
        while (digit % 10 == 0)
            digit /= 10;
        assert_true(digit == 1 || digit == 2 || digit == 5);
        assert_true(a.to && a.to % a.step == 0 && (a.to >= high || high > 1ull << 60));
        assert_true(a.to / a.step <= (uint64_t)(ticks < 1 ? 1 : ticks));
        assert_true(a.to - a.step < high || !high); /* not one step too many */
    }
}

static void labels_are_in_one_unit(void **state)
{
    (void)state;
    struct rtl_plot_axis a = {2000000, 500000};
    assert_string_equal(rtl_plot_label(&a, 0, RTL_UNIT_AUTO).text, "0");
    assert_string_equal(rtl_plot_label(&a, 500000, RTL_UNIT_AUTO).text, "0.5ms");
    assert_string_equal(rtl_plot_label(&a, 2000000, RTL_UNIT_AUTO).text, "2.0ms");
    assert_string_equal(rtl_plot_label(&a, 2000000, RTL_UNIT_US).text, "2000µs");
    assert_string_equal(rtl_plot_label(&a, 2000000, RTL_UNIT_NS).text, "2000000ns");
    assert_string_equal(rtl_plot_label(&a, 500000, RTL_UNIT_S).text, "0.0005s");
    a = (struct rtl_plot_axis){800, 200};
    assert_string_equal(rtl_plot_label(&a, 200, RTL_UNIT_AUTO).text, "200ns");
    a = (struct rtl_plot_axis){100000, 20000};
    assert_string_equal(rtl_plot_label(&a, 40000, RTL_UNIT_AUTO).text, "40µs");
}

static void times_have_round_steps(void **state)
{
    (void)state;
    assert_int_equal(rtl_plot_time_step(60 * RTL_SEC, 6), 10 * RTL_SEC);
    assert_int_equal(rtl_plot_time_step(61 * RTL_SEC, 6), 15 * RTL_SEC);
    assert_int_equal(rtl_plot_time_step(RTL_SEC / 10, 6), RTL_SEC);
    assert_int_equal(rtl_plot_time_step(3600 * RTL_SEC, 5), 900 * RTL_SEC);
    assert_int_equal(rtl_plot_time_step(10 * 86400 * RTL_SEC, 5), 2 * 86400 * RTL_SEC);
    assert_int_equal(rtl_plot_time_step(10 * RTL_SEC, 0), 10 * RTL_SEC);
}

static char *plotted(const struct rtl_plot *plot, int rows, int cols, bool ascii)
{
    struct rtl_frame frame = {0};
    assert_true(rtl_frame_reset(&frame, rows, cols, ascii));
    rtl_plot_draw(&frame, (struct rtl_rect){0, 0, rows, cols}, plot);
    char *text = synth_text(&frame);
    rtl_frame_free(&frame);
    return text;
}

static void plots_are_drawn(void **state)
{
    (void)state;
    struct rtl_plot plot = {.count = 60, .most = 60, .span_ns = 60 * RTL_SEC};
    for (int i = 0; i < 60; i++) { /* in the last third p99 is ten times higher, p50 is not */
        plot.high[i] = i < 20 ? 1900000 - (uint64_t)i * 80000 : 190000;
        plot.low[i] = 150000;
    }
    plot.high[40] = plot.low[40] = 0; /* an interval without values */
    golden_text("plot-70x9", plotted(&plot, 9, 70, false));
    golden_text("plot-70x20", plotted(&plot, 20, 70, false));
    golden_text("plot-30x5", plotted(&plot, 5, 30, false));
    golden_text("plot-ascii-70x9", plotted(&plot, 9, 70, true));
    plot.units = RTL_UNIT_US;
    plot.count = 12; /* young: intervals before the start stay empty */
    plot.span_ns = 12 * RTL_SEC;
    golden_text("plot-young-70x9", plotted(&plot, 9, 70, false));
}

/* A column is as high as the axis says at any height; a short spike is never lost. */
static void columns_are_as_high_as_their_values(void **state)
{
    (void)state;
    struct rtl_plot plot = {.count = 200, .most = 200, .span_ns = 200 * RTL_SEC};
    for (int i = 0; i < 200; i++)
        plot.high[i] = 1000;
    plot.high[117] = 100000;
    for (int rows = 3; rows < 40; rows++)
        for (int cols = 20; cols < 120; cols++) {
            struct rtl_frame frame = {0};
            int full = 0, eighths = 0;
            assert_true(rtl_frame_reset(&frame, rows, cols, false));
            rtl_plot_draw(&frame, (struct rtl_rect){0, 0, rows, cols}, &plot);
            for (int col = 0; col < cols; col++)
                full += frame.cells[col].code == 0x2588;
            assert_int_equal(full, 1); /* the axis ends at 100 us */
            for (int row = 0; row < rows - 1; row++) {
                uint32_t code = frame.cells[row * cols + cols - 1].code;
                eighths += code > 0x2580 && code <= 0x2588 ? (int)code - 0x2580 : 0;
            }
            int wanted = (int)((rows - 1) * 8 * 0.01 + 0.5);
            assert_int_equal(eighths, wanted ? wanted : 1);
            rtl_frame_free(&frame);
        }
}

static void plots_stay_in_their_rectangles(void **state)
{
    (void)state;
    struct rtl_plot plot = {.count = RTL_PLOT_SAMPLES_MAX, .most = RTL_PLOT_SAMPLES_MAX, .span_ns = 3600 * RTL_SEC};
    uint64_t random = 7;
    for (int rows = 0; rows < 14; rows++)
        for (int cols = 0; cols < 50; cols++) {
            struct rtl_frame frame = {0};
            struct rtl_rect at = {3, 5, rows, cols};
            assert_true(rtl_frame_reset(&frame, 20, 60, rows & 1));
            for (int i = 0; i < plot.count; i++) {
                random = random * 6364136223846793005ull + 1442695040888963407ull;
                plot.high[i] = random >> (random >> 59 & 63);
                plot.low[i] = random & 4 ? plot.high[i] / 2 : 0;
            }
            plot.units = (enum rtl_unit)(random % RTL_UNIT_COUNT);
            rtl_plot_draw(&frame, at, &plot);
            for (int row = 0; row < 20; row++)
                for (int col = 0; col < 60; col++)
                    if (row < at.row || row >= at.row + rows || col < at.col || col >= at.col + cols)
                        assert_int_equal(frame.cells[row * 60 + col].code, ' ');
            rtl_frame_free(&frame);
        }
    plot.count = 0;
    char *text = plotted(&plot, 5, 60, false);
    assert_non_null(strstr(text, "nothing timed in these intervals"));
    free(text);
}

/* A kernel's plot has the p50 and the p99 of each interval, and intervals without values. */
static void the_model_keeps_both_quantiles(void **state)
{
    (void)state;
    struct synth *p = synth_create(1, 1);
    struct rtl_model *m = rtl_model_create();
    assert_non_null(m);
    synth_kernel(p, "k");
    for (int t = 0; t < 200; t++) { /* more intervals than the model keeps */
        if (t % 10) {
            synth_record(p, 0, 1000 + (uint64_t)t, 90);
            synth_record(p, 0, 50000 + (uint64_t)t * 100, 10);
        }
        synth_tick(p, m, (uint64_t)(t + 1) * RTL_SEC);
    }
    const struct rtl_row *row = rtl_model_row(m, RTL_KERNEL_FIRST);
    for (int back = 0; back < 120; back++) {
        uint64_t p50 = rtl_model_history_p50(m, row, (uint32_t)back), p99 = rtl_model_history(m, row, (uint32_t)back);
        int t = 199 - back;
        if (t % 10 == 0) {
            assert_true(!p50 && !p99);
            continue;
        }
        assert_in_range(p50, (1000 + t) * 0.99, (1000 + t) * 1.01);
        assert_in_range(p99, (50000 + t * 100) * 0.99, (50000 + t * 100) * 1.01);
    }
    assert_int_equal(rtl_model_history_p50(m, row, RTL_MODEL_HISTORY), 0);
    rtl_model_free(m);
    synth_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes_have_round_numbers),
        cmocka_unit_test(labels_are_in_one_unit),
        cmocka_unit_test(times_have_round_steps),
        cmocka_unit_test(plots_are_drawn),
        cmocka_unit_test(columns_are_as_high_as_their_values),
        cmocka_unit_test(plots_stay_in_their_rectangles),
        cmocka_unit_test(the_model_keeps_both_quantiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
