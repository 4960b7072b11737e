/* Plot of durations over time. See plot.h. */
#include "tui/plot.h"
#include "text/text.h"

#include <stdio.h>

/* Return the lowest step of 1, 2 or 5 times a power of ten that is at least `least`. */
static uint64_t nice_step(uint64_t least)
{
    static const uint64_t steps[] = {1, 2, 5};
    for (uint64_t ten = 1;; ten *= 10)
        for (int i = 0; i < 3; i++)
            if (steps[i] * ten >= least || ten >= 1000000000000000000ull)
                return steps[i] * ten;
}

struct rtl_plot_axis rtl_plot_axis(uint64_t high, int ticks)
{
    const uint64_t most = 1ull << 60; /* the sums below can't overflow */
    struct rtl_plot_axis axis;
    high = high < 1 ? 1 : high < most ? high : most;
    ticks = ticks < 1 ? 1 : ticks > RTL_PLOT_TICKS_MAX ? RTL_PLOT_TICKS_MAX : ticks;
    axis.step = nice_step((high + (uint64_t)ticks - 1) / (uint64_t)ticks);
    axis.to = (high + axis.step - 1) / axis.step * axis.step;
    return axis;
}

struct rtl_number rtl_plot_label(const struct rtl_plot_axis *axis, uint64_t ns, enum rtl_unit units)
{
    static const struct {
        uint64_t ns;
        const char *name;
    } of[RTL_UNIT_COUNT] = {[RTL_UNIT_NS] = {1, "ns"},
                            [RTL_UNIT_US] = {1000, "µs"},
                            [RTL_UNIT_MS] = {1000000, "ms"},
                            [RTL_UNIT_S] = {RTL_SEC, "s"}};
    struct rtl_number n = {"0"};
    if (units == RTL_UNIT_AUTO)
        units = axis->to >= RTL_SEC   ? RTL_UNIT_S
                : axis->to >= 1000000 ? RTL_UNIT_MS
                : axis->to >= 1000    ? RTL_UNIT_US
                                      : RTL_UNIT_NS;
    int decimals = 0;
    for (uint64_t part = of[units].ns; axis->step % part; part /= 10)
        decimals++;
    if (ns)
        snprintf(n.text, sizeof n.text, "%.*f%s", decimals, (double)ns / (double)of[units].ns, of[units].name);
    return n;
}

uint64_t rtl_plot_time_step(uint64_t span_ns, int labels)
{
    static const uint64_t seconds[] = {1,   2,   5,    10,   15,   30,    60,    120,  300,
                                       600, 900, 1800, 3600, 7200, 21600, 43200, 86400};
    const int count = sizeof seconds / sizeof *seconds;
    uint64_t least = span_ns / (uint64_t)(labels > 0 ? labels : 1);
    for (int i = 0; i < count; i++)
        if (seconds[i] * RTL_SEC >= least)
            return seconds[i] * RTL_SEC;
    const uint64_t day = 86400 * RTL_SEC;
    return (least + day - 1) / day * day;
}

/* Return the longest sample of a column, so that no spike is lost; 0 for none. */
static uint64_t longest(const uint64_t *samples, int from, int to)
{
    uint64_t most = 0;
    for (int i = from; i < to; i++)
        most = samples[i] > most ? samples[i] : most;
    return most;
}

/* Return the height of a value in eighths of a row; at least 1 for a measured one. */
static int eighths_of(const struct rtl_plot_axis *axis, int rows, uint64_t ns)
{
    if (!ns)
        return 0;
    int eighths = (int)((double)ns / (double)axis->to * rows * 8 + 0.5);
    return eighths < 1 ? 1 : eighths > rows * 8 ? rows * 8 : eighths;
}

/* Return the eighths of a column that fall into a row, counted from below. */
static int in_row(int eighths, int row)
{
    int here = eighths - row * 8;
    return here < 0 ? 0 : here > 8 ? 8 : here;
}

/* Draw one column: p50 as a body of full cells, p99 above it in another colour, and in a third colour above twice the
 * p50. ASCII has another mark instead of the colour. */
static void draw_column(struct rtl_frame *frame, int bottom, int col, int rows, int high, int low)
{
    int body = (low + 4) / 8; /* full cells; if p50 equals p99, all of them */
    body = low >= high ? rows : body;
    for (int row = 0; row < rows; row++) {
        int here = in_row(high, row);
        bool tail = row >= body && low;
        enum rtl_role role = !tail ? RTL_ROLE_BAR : row * 8 >= 2 * low ? RTL_ROLE_BAR_HIGH : RTL_ROLE_LABEL;
        if (!here)
            break;
        rtl_frame_spark(frame, bottom - row, col, role, here - 1);
        if (frame->ascii && here == 8)
            rtl_frame_fill(frame, bottom - row, col, 1, role, tail ? ':' : '#');
    }
}

static void draw_time_axis(struct rtl_frame *frame, struct rtl_rect at, int left, int width, uint64_t span_ns)
{
    enum { LABEL = 10 };
    int row = at.row + at.rows - 1;
    if (width < LABEL || !span_ns)
        return;
    uint64_t step = rtl_plot_time_step(span_ns, width / LABEL);
    rtl_frame_right(frame, row, left + width - 3, 3, RTL_ROLE_LABEL, "now");
    for (uint64_t ago = step; ago <= span_ns; ago += step) {
        char text[32];
        snprintf(text, sizeof text, "-%s", rtl_format_age(ago).text);
        int col = left + width - 1 - (int)((double)ago / (double)span_ns * (width - 1) + 0.5);
        int from = col - rtl_text_columns(text) + 1;
        if (from < left || col > left + width - 5)
            continue;
        rtl_frame_put(frame, row, from, LABEL, RTL_ROLE_LABEL, text);
    }
}

/* Draw the axis of durations; returns the first column of the plot. */
static int draw_axis(struct rtl_frame *frame, struct rtl_rect at, const struct rtl_plot_axis *axis, int rows,
                     enum rtl_unit units)
{
    int label = 0;
    for (uint64_t tick = 0; tick <= axis->to; tick += axis->step) {
        int columns = rtl_text_columns(rtl_plot_label(axis, tick, units).text);
        label = columns > label ? columns : label;
    }
    if (label + 10 > at.cols)
        return at.col;
    for (int row = 0; row < rows; row++)
        rtl_frame_fill(frame, at.row + row, at.col + label, 1, RTL_ROLE_LABEL, 0x2502);
    int last = -1;
    for (uint64_t tick = 0; tick <= axis->to; tick += axis->step) {
        /* a tick labels the row that begins at its height; the top tick, the row below it */
        int up = (int)((double)tick / (double)axis->to * rows + 0.5);
        int row = up >= rows ? 0 : rows - 1 - up;
        if (row == last)
            continue;
        last = row;
        rtl_frame_right(frame, at.row + row, at.col, label, RTL_ROLE_LABEL, rtl_plot_label(axis, tick, units).text);
        rtl_frame_fill(frame, at.row + row, at.col + label, 1, RTL_ROLE_LABEL, 0x2524);
    }
    return at.col + label + 1;
}

void rtl_plot_draw(struct rtl_frame *frame, struct rtl_rect at, const struct rtl_plot *plot)
{
    uint64_t most;
    int count = plot->count < RTL_PLOT_SAMPLES_MAX ? plot->count : RTL_PLOT_SAMPLES_MAX;
    if (at.rows < 2 || at.cols < 4)
        return;
    most = longest(plot->high, 0, count);
    if (!most) {
        rtl_frame_put(frame, at.row, at.col + 1, at.cols - 1, RTL_ROLE_DIM, "nothing timed in these intervals");
        return;
    }
    int rows = at.rows - 1;
    struct rtl_plot_axis axis = rtl_plot_axis(most, (rows + 1) / 2);
    int left = draw_axis(frame, at, &axis, rows, plot->units), width = at.col + at.cols - left;
    int whole = plot->most < width ? plot->most : width; /* samples of the full width */
    whole = whole > count ? whole : count;
    for (int i = 0; i < width; i++) {
        int from = (int)((long)i * whole / width), to = (int)((long)(i + 1) * whole / width);
        to = to > from ? to : from + 1;
        to = to < count ? to : count;
        uint64_t high = longest(plot->high, from, to), low = longest(plot->low, from, to);
        draw_column(frame, at.row + rows - 1, left + width - 1 - i, rows, eighths_of(&axis, rows, high),
                    eighths_of(&axis, rows, low));
    }
    draw_time_axis(frame, at, left, width, (uint64_t)((double)plot->span_ns / count * whole));
}
