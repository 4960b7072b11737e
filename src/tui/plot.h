/*
 * A plot of durations over time, with axes that carry numbers: samples and a rectangle -> cells. Pure.
 *
 * The newest sample is at the right. A column is a sample, or less of one where there are more columns than there will
 * ever be samples; of several it is the longest, so that a spike is never lost. The axis begins at 0 unless that would
 * hide how the samples differ.
 */
#ifndef RTL_TUI_PLOT_H
#define RTL_TUI_PLOT_H

#include "text/units.h"
#include "tui/frame.h"

enum { RTL_PLOT_TICKS_MAX = 12, RTL_PLOT_SAMPLES_MAX = 256 };

struct rtl_plot {
    uint64_t high[RTL_PLOT_SAMPLES_MAX]; /* p99, the newest first; 0 = nothing was timed */
    uint64_t low[RTL_PLOT_SAMPLES_MAX];  /* p50; 0 = not known */
    int count;
    int most;         /* samples that there will be once the plot is full: until then its left is free */
    uint64_t span_ns; /* that they cover in all */
    enum rtl_unit units;
};

/* An axis of durations: 0, step, ..., to. Steps are 1, 2 or 5 times a power of ten. */
struct rtl_plot_axis {
    uint64_t to, step;
};
/* The closest axis that has `high` with at most `ticks` steps. */
struct rtl_plot_axis rtl_plot_axis(uint64_t high, int ticks);

/* A tick's label: all of an axis are in one unit, with as many decimals as its steps need. */
struct rtl_number rtl_plot_label(const struct rtl_plot_axis *axis, uint64_t ns, enum rtl_unit units);

/* Between the labels of an axis of time, in ns: 1, 2, 5, 10, 15, 30 s, minutes, hours; at most `labels` in the span. */
uint64_t rtl_plot_time_step(uint64_t span_ns, int labels);

/* Draws it; nothing where it has no room for one row over an axis. */
void rtl_plot_draw(struct rtl_frame *frame, struct rtl_rect at, const struct rtl_plot *plot);

#endif
