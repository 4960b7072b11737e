/* The heat strip: durations as marks on an axis that all rows share. */
#include <math.h>
#include "tui_synth.h"

#include "model/trend.h"

static void the_axis_covers_the_durations(void **state)
{
    (void)state;
    static const struct {
        uint64_t low, high, from, to;
    } cases[] = {
        {1200, 45000, 1000, 100000},    {1000, 1000, 1000, 10000},     {999, 1001, 100, 10000}, {0, 0, 1, 10},
        {10000, 100000, 10000, 100000}, {700, 2200000, 100, 10000000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rtl_heat_axis axis = rtl_heat_axis(cases[i].low, cases[i].high);
        assert_int_equal(axis.low_ns, cases[i].from);
        assert_int_equal(axis.high_ns, cases[i].to);
    }
    /* a damaged segment's values: some axis, no endless loop */
    struct rtl_heat_axis axis = rtl_heat_axis(UINT64_MAX, UINT64_MAX);
    assert_true(axis.low_ns && axis.high_ns > axis.low_ns);
}

/* The column of a value; the first or last column for a value outside the axis. */
static int column_of(struct rtl_heat_axis axis, int width, uint64_t ns)
{
    if (ns <= axis.low_ns)
        return 0;
    if (ns >= axis.high_ns)
        return width - 1;
    return (int)(log((double)ns / (double)axis.low_ns) / log((double)axis.high_ns / (double)axis.low_ns) * width);
}

static void levels_show_the_windows_share(void **state)
{
    (void)state;
    struct synth *p = synth_create(1, 1);
    struct rtl_heat_axis axis = {1000, 1000000};
    int8_t strip[RTL_HEAT_WIDTH_MAX + 1];
    synth_kernel(p, "k");
    synth_record(p, 0, 20000, 1280); /* before the window */
    struct rtl_snapshot before = synth_snapshot(p, 1);
    synth_record(p, 0, 2000, 1280);
    synth_record(p, 0, 220000, 640);
    synth_record(p, 0, 450000, 20);
    synth_record(p, 0, 60, 1); /* beyond the ends */
    synth_record(p, 0, 90000000, 1);
    struct rtl_snapshot after = synth_snapshot(p, 2);
    const struct rtl_histogram_copy *earlier = &before.kernels[0].histogram, *later = &after.kernels[0].histogram;
    memset(strip, 99, sizeof strip);
    rtl_heat(earlier, later, axis, 30, strip);
    for (int i = 0; i < 30; i++) {
        int wanted = i == column_of(axis, 30, 2000)     ? 7
                     : i == column_of(axis, 30, 220000) ? 6
                     : i == column_of(axis, 30, 450000) ? 1
                     : i == 0 || i == 29                ? 0
                                                        : -1;
        assert_int_equal(strip[i], wanted);
    }
    assert_int_equal(strip[30], 99);
    rtl_heat(NULL, later, axis, 3, strip); /* since the start: earlier durations are included */
    assert_int_equal(strip[1], 7);
    rtl_heat(later, later, axis, 30, strip); /* nothing new: no mark */
    for (int i = 0; i < 30; i++)
        assert_int_equal(strip[i], -1);
    memset(strip, 99, sizeof strip);
    rtl_heat(earlier, later, axis, RTL_HEAT_WIDTH_MAX + 50, strip);
    assert_int_equal(strip[RTL_HEAT_WIDTH_MAX], 99);
    rtl_heat(earlier, later, axis, 0, strip);
    free(before.kernels), free(before.queues), free(before.agents), free(before.copies);
    free(after.kernels), free(after.queues), free(after.agents), free(after.copies);
    synth_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_axis_covers_the_durations),
        cmocka_unit_test(levels_show_the_windows_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
