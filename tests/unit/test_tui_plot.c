/* Plots: axes have round numbers, and lines are as high as their values, at any size. */
#include "golden_fixture.h"

#include "tui/plot.h"

static const struct {
    uint64_t low, high;
    int ticks;
    uint64_t from, to, step;
} axes[] = {
    {0, 100, 5, 0, 100, 20},
    {1, 99, 5, 0, 100, 20},
    {0, 101, 5, 0, 150, 50},
    {0, 1, 4, 0, 1, 1},
    {0, 0, 4, 0, 1, 1},
    {57000, 2390000, 4, 0, 3000000, 1000000},
    {0, 2390000, 5, 0, 2500000, 500000},
    {7, 7, 1, 7, 8, 1},
    {153000, 168000, 4, 150000, 170000, 5000}, /* 15 us of change fill the axis */
    {191000, 196000, 6, 180000, 205000, 5000}, /* noise does not: the axis covers a tenth of the value */
    {190000, 2390000, 1, 0, 5000000, 5000000},
    {0, 1099511627775ull, 5, 0, 1500000000000ull, 500000000000ull},
};

static void axes_have_round_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        struct rtl_plot_axis a = rtl_plot_axis(axes[i].low, axes[i].high, axes[i].ticks);
        if (a.from != axes[i].from || a.to != axes[i].to || a.step != axes[i].step)
            fail_msg("%zu: %llu to %llu by %llu", i, (unsigned long long)a.from, (unsigned long long)a.to,
                     (unsigned long long)a.step);
    }
    uint64_t random = 7;
    for (int i = 0; i < 100000; i++) {
        random = random * 6364136223846793005ull + 1442695040888963407ull;
        uint64_t high = random >> (random >> 58), low = random & 1 ? high - high / (1 + (random >> 8 & 31)) : high / 3;
        int ticks = (int)(random >> 16 & 15);
        struct rtl_plot_axis a = rtl_plot_axis(low, high, ticks);
        uint64_t digit = a.step;
        while (digit % 10 == 0)
            digit /= 10;
        assert_true(digit == 1 || digit == 2 || digit == 5);
        assert_true(a.to % a.step == 0 && a.from % a.step == 0 && a.from < a.to);
        assert_true((a.from <= low && a.to >= high) || high > 1ull << 60);
        assert_true((a.to - a.from) / a.step <= (uint64_t)(ticks < 1 ? 1 : ticks));
        assert_true(a.to - a.from >= high / 10 || high > 1ull << 60);
        /* not much longer than needed: the least range in steps of at most 2.5 times the best step, for several ticks
         */
        uint64_t needed = high - low < high / 10 ? high / 10 : high - low;
        assert_true(ticks < 4 || needed < 10 || a.to - a.from <= 4 * needed || high > 1ull << 60);
    }
}

static void labels_are_in_one_unit(void **state)
{
    (void)state;
    struct rtl_plot_axis a = {0, 2000000, 500000};
    assert_string_equal(rtl_plot_label(&a, 0, RTL_UNIT_AUTO).text, "0");
    assert_string_equal(rtl_plot_label(&a, 500000, RTL_UNIT_AUTO).text, "0.5ms");
    assert_string_equal(rtl_plot_label(&a, 2000000, RTL_UNIT_AUTO).text, "2.0ms");
    assert_string_equal(rtl_plot_label(&a, 2000000, RTL_UNIT_US).text, "2000µs");
    assert_string_equal(rtl_plot_label(&a, 2000000, RTL_UNIT_NS).text, "2000000ns");
    assert_string_equal(rtl_plot_label(&a, 500000, RTL_UNIT_S).text, "0.0005s");
    a = (struct rtl_plot_axis){0, 800, 200};
    assert_string_equal(rtl_plot_label(&a, 200, RTL_UNIT_AUTO).text, "200ns");
    a = (struct rtl_plot_axis){20000, 100000, 20000};
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

/* Return the height of a column's highest cell in half rows, from 1; 0 if it is empty. */
static int top_of(const struct rtl_frame *frame, int rows, int col)
{
    for (int row = 0; row < rows; row++) {
        uint32_t code = frame->cells[row * frame->cols + col].code;
        if (code == 0x2580 || code == 0x2584 || code == 0x2588)
            return 2 * (rows - row) - (code == 0x2584);
    }
    return 0;
}

/* A line is as high as the axis says at any height, and a short spike is never lost. */
static void lines_are_as_high_as_their_values(void **state)
{
    (void)state;
    struct rtl_plot plot = {.count = 200, .most = 200, .span_ns = 200 * RTL_SEC};
    for (int i = 0; i < 200; i++)
        plot.high[i] = 1000;
    plot.high[117] = 100000;
    for (int rows = 3; rows < 40; rows++)
        for (int cols = 20; cols < 120; cols++) {
            struct rtl_frame frame = {0};
            int spikes = 0;
            assert_true(rtl_frame_reset(&frame, rows, cols, false));
            rtl_plot_draw(&frame, (struct rtl_rect){0, 0, rows, cols}, &plot);
            for (int col = 0; col < cols; col++)
                spikes += top_of(&frame, rows - 1, col) == 2 * (rows - 1); /* the axis ends at 100 us */
            assert_int_equal(spikes, 1);
            int wanted = (int)((2 * (rows - 1) - 1) * 0.01 + 0.5) + 1;
            assert_int_equal(top_of(&frame, rows - 1, cols - 1), wanted);
            rtl_frame_free(&frame);
        }
}

/* A change of a tenth is seen in p99 and in p50, also when one is ten times the other. */
static void small_changes_are_seen(void **state)
{
    (void)state;
    static const uint64_t high[] = {190000, 2000000};
    for (int far = 0; far < 2; far++)
        for (int rows = 12; rows < 40; rows++) {
            struct rtl_plot plot = {.count = 60, .most = 60, .span_ns = 60 * RTL_SEC};
            struct rtl_frame frame = {0};
            int top[2], bottom[2] = {0, 0};
            for (int i = 0; i < 60; i++) {
                plot.high[i] = i < 30 ? high[far] + high[far] / 10 : high[far];
                plot.low[i] = i < 30 ? 153000 : 138000;
            }
            assert_true(rtl_frame_reset(&frame, rows, 80, false));
            rtl_plot_draw(&frame, (struct rtl_rect){0, 0, rows, 80}, &plot);
            for (int late = 0; late < 2; late++) {
                int col = late ? 75 : 15;
                top[late] = top_of(&frame, rows - 1, col);
                for (int row = rows - 2; row >= 0 && !bottom[late]; row--) {
                    uint32_t code = frame.cells[row * 80 + col].code;
                    if (code == 0x2580 || code == 0x2584)
                        bottom[late] = 2 * (rows - 1 - row) - (code == 0x2584);
                }
            }
            assert_true(top[1] >= top[0] + 2);
            assert_true(bottom[1] >= bottom[0] + 1);
            assert_true(top[0] > bottom[0]);
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
        uint64_t p50 = rtl_model_history(m, row, (uint32_t)back, true),
                 p99 = rtl_model_history(m, row, (uint32_t)back, false);
        int t = 199 - back;
        if (t % 10 == 0) {
            assert_true(!p50 && !p99);
            continue;
        }
        assert_in_range(p50, (1000 + t) * 0.99, (1000 + t) * 1.01);
        assert_in_range(p99, (50000 + t * 100) * 0.99, (50000 + t * 100) * 1.01);
    }
    assert_int_equal(rtl_model_history(m, row, RTL_MODEL_HISTORY, true), 0);
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
        cmocka_unit_test(lines_are_as_high_as_their_values),
        cmocka_unit_test(small_changes_are_seen),
        cmocka_unit_test(plots_stay_in_their_rectangles),
        cmocka_unit_test(the_model_keeps_both_quantiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
