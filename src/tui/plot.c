/* Plot of durations over time. See plot.h. */
#include "tui/plot.h"
#include "text/text.h"
#include "tui/layout.h"

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

struct rtl_plot_axis rtl_plot_axis(uint64_t low, uint64_t high, int ticks)
{
    const uint64_t most = 1ull << 60; /* the sums below can't overflow */
    struct rtl_plot_axis axis = {0};
    high = high < 1 ? 1 : high < most ? high : most;
    low = low < high ? low : high;
    if (high - low < high / 10) {
        low -= low < high / 20 ? low : high / 20 - (high - low) / 2;
        high = low + high / 10;
    }
    ticks = ticks < 1 ? 1 : ticks > RTL_PLOT_TICKS_MAX ? RTL_PLOT_TICKS_MAX : ticks;
    uint64_t steps = (uint64_t)ticks;
    axis.step = nice_step((high - low + steps - 1) / steps);
    for (;; axis.step = nice_step(axis.step + 1)) {
        axis.from = low / axis.step * axis.step;
        axis.to = (high + axis.step - 1) / axis.step * axis.step;
        axis.to += axis.to == axis.from ? axis.step : 0;
        if ((axis.to - axis.from) / axis.step <= steps)
            return axis;
    }
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

/* Rows of the plot with one axis. */
struct plot_band {
    int row, rows;
    struct rtl_plot_axis axis;
};

/* Return the height of a value in half rows from below; -1 for none. */
static int height_of(const struct plot_band *band, uint64_t ns)
{
    const struct rtl_plot_axis *axis = &band->axis;
    if (!ns)
        return -1;
    ns = ns < axis->from ? axis->from : ns > axis->to ? axis->to : ns;
    return (int)((double)(ns - axis->from) / (double)(axis->to - axis->from) * (2 * band->rows - 1) + 0.5);
}

/* Draw one column of a line. The higher of two columns reaches down to the lower one, so that a spike is as narrow as
 * its sample. ASCII has marks for half cells too, other ones for p50. */
static void draw_column(struct rtl_frame *frame, const struct plot_band *band, int col, const int *height, bool p50)
{
    static const uint32_t blocks[] = {0, 0x2584, 0x2580, 0x2588};
    static const char marks[2][5] = {" .':", " _-|"};
    int high = height[0], low = high;
    for (int side = -1; side <= 1; side += 2)
        if (height[side] >= 0 && height[side] < low)
            low = height[side] + 1;
    for (int cell = low / 2; high >= 0 && cell <= high / 2; cell++) {
        int halves = (low <= 2 * cell) + 2 * (high > 2 * cell);
        rtl_frame_fill(frame, band->row + band->rows - 1 - cell, col, 1, p50 ? RTL_ROLE_LABEL : RTL_ROLE_SPARK,
                       frame->ascii ? (uint32_t)marks[p50][halves] : blocks[halves]);
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

static int label_columns(const struct rtl_plot_axis *axis, enum rtl_unit units)
{
    int label = 0;
    for (uint64_t tick = axis->from; tick <= axis->to; tick += axis->step) {
        int columns = rtl_text_columns(rtl_plot_label(axis, tick, units).text);
        label = columns > label ? columns : label;
    }
    return label;
}

static void draw_axis(struct rtl_frame *frame, const struct plot_band *band, int col, int label, enum rtl_unit units)
{
    const struct rtl_plot_axis *axis = &band->axis;
    int last = -1;
    for (int row = 0; row < band->rows; row++)
        rtl_frame_fill(frame, band->row + row, col + label, 1, RTL_ROLE_LABEL, 0x2502);
    for (uint64_t tick = axis->from; tick <= axis->to; tick += axis->step) {
        int height = tick ? height_of(band, tick) : 0, row = band->row + band->rows - 1 - height / 2;
        if (row == last)
            continue;
        last = row;
        rtl_frame_right(frame, row, col, label, RTL_ROLE_LABEL, rtl_plot_label(axis, tick, units).text);
        rtl_frame_fill(frame, row, col + label, 1, RTL_ROLE_LABEL, 0x2524);
    }
}

struct plot_range {
    uint64_t low, high;
};

static struct plot_range range_of(const uint64_t *samples, int count)
{
    struct plot_range range = {0, 0};
    for (int i = 0; i < count; i++) {
        if (samples[i] && (!range.low || samples[i] < range.low))
            range.low = samples[i];
        range.high = samples[i] > range.high ? samples[i] : range.high;
    }
    return range;
}

/* Give p99 and p50 one axis, or one each if most rows between them would be empty. */
static bool make_bands(struct rtl_rect at, struct plot_range p99, struct plot_range p50, struct plot_band *upper,
                       struct plot_band *lower)
{
    enum { APART_FROM = 8 };
    bool apart =
        at.rows >= APART_FROM && p50.high && p50.high < p99.low && p99.low - p50.high > (p99.high - p50.low) / 2;
    *upper = (struct plot_band){.row = at.row, .rows = apart ? (at.rows - 1) * 2 / 3 : at.rows};
    uint64_t low = apart || !p50.low || p50.low > p99.low ? p99.low : p50.low;
    upper->axis = rtl_plot_axis(low, p99.high, (upper->rows + 1) / 2);
    *lower = *upper;
    if (apart) { /* one row between the axes stays empty */
        lower->row += upper->rows + 1;
        lower->rows = at.rows - upper->rows - 1;
        lower->axis = rtl_plot_axis(p50.low, p50.high, (lower->rows + 1) / 2);
    }
    return apart;
}

void rtl_plot_draw(struct rtl_frame *frame, struct rtl_rect at, const struct rtl_plot *plot)
{
    enum { COLUMNS_MAX = 1000, LEAST = 10 };
    int heights[COLUMNS_MAX + 2], count = rtl_clamp(plot->count, 0, RTL_PLOT_SAMPLES_MAX);
    struct plot_range p99 = range_of(plot->high, count), p50 = range_of(plot->low, count);
    struct plot_band upper, lower;
    if (at.rows < 2 || at.cols < 4)
        return;
    if (!p99.high) {
        rtl_frame_put(frame, at.row, at.col + 1, at.cols - 1, RTL_ROLE_DIM, "nothing timed in these intervals");
        return;
    }
    at.cols = at.cols < COLUMNS_MAX ? at.cols : COLUMNS_MAX;
    at.rows--; /* the axis of time */
    bool apart = make_bands(at, p99, p50, &upper, &lower);
    int label = label_columns(&upper.axis, plot->units), other = label_columns(&lower.axis, plot->units);
    label = other > label ? other : label;
    int left = label + LEAST > at.cols ? at.col : at.col + label + 1, width = at.col + at.cols - left;
    if (left > at.col) {
        draw_axis(frame, &upper, at.col, label, plot->units);
        if (apart)
            draw_axis(frame, &lower, at.col, label, plot->units);
    }
    int whole = plot->most < width ? plot->most : width; /* samples of the full width */
    whole = whole > count ? whole : count;
    for (int line = 1; line >= 0; line--) { /* p50 first: p99 is drawn over it */
        heights[0] = heights[width + 1] = -1;
        for (int i = 0; i < width; i++) {
            int from = (int)((long)i * whole / width), to = (int)((long)(i + 1) * whole / width);
            to = to > from ? to : from + 1;
            to = to < count ? to : count;
            heights[width - i] = height_of(line ? &lower : &upper, longest(line ? plot->low : plot->high, from, to));
        }
        for (int i = 0; i < width; i++)
            draw_column(frame, line ? &lower : &upper, left + i, &heights[i + 1], line);
    }
    at.rows++;
    draw_time_axis(frame, at, left, width, (uint64_t)((double)plot->span_ns / count * whole));
}
