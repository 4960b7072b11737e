/*
 * Plot of durations over time with labelled axes: samples and a rectangle to cells. Pure.
 *
 * p99 and p50 are lines in half cells. The newest sample is at the right. A column shows the longest of its samples, so
 * no spike is lost; with more columns than samples, a sample covers several columns. The axis of durations covers what
 * the lines cover, and a tenth of the highest value at least, so that noise doesn't look like a change. If the lines
 * are far apart, each has its own part of the rows and its own axis.
 */
#ifndef RTL_TUI_PLOT_H
#define RTL_TUI_PLOT_H

#include "text/units.h"
#include "tui/frame.h"

enum { RTL_PLOT_TICKS_MAX = 12, RTL_PLOT_SAMPLES_MAX = 256 };

struct rtl_plot {
    uint64_t high[RTL_PLOT_SAMPLES_MAX]; /* p99, the newest first; 0 = none timed */
    uint64_t low[RTL_PLOT_SAMPLES_MAX];  /* p50; 0 = unknown */
    int count;
    int most;         /* samples of a full plot; the left stays empty until then */
    uint64_t span_ns; /* time that the samples cover */
    enum rtl_unit units;
};

/* Axis of durations: from, from + step, ..., to. Steps are 1, 2 or 5 times a power of ten. */
struct rtl_plot_axis {
    uint64_t from, to, step;
};
/* Return a short axis that contains `low` and `high` with at most `ticks` steps. */
struct rtl_plot_axis rtl_plot_axis(uint64_t low, uint64_t high, int ticks);

/* Return the label of a tick. All labels of an axis have one unit and the decimals that its step needs. */
struct rtl_number rtl_plot_label(const struct rtl_plot_axis *axis, uint64_t ns, enum rtl_unit units);

/* Return the time between labels, in ns: 1, 2, 5, 10, 15, 30 s, minutes, hours; at most `labels` in the span. */
uint64_t rtl_plot_time_step(uint64_t span_ns, int labels);

/* Draw the plot; nothing if one row above an axis doesn't fit. */
void rtl_plot_draw(struct rtl_frame *frame, struct rtl_rect at, const struct rtl_plot *plot);

#endif
