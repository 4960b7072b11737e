/*
 * The parts of the detail that the pane below the kernels shows, too: how a kernel's durations are spread in a span of
 * time, and how its p99 and p50 went.
 */
#ifndef RTL_TUI_DRAW_BARS_H
#define RTL_TUI_DRAW_BARS_H

#include "tui/draw_common.h"

/* What is known of a kernel between two snapshots of it. */
enum { RTL_SPAN_QUANTILES = 4 }; /* p50, p90, p99, p99.9 */
struct rtl_bar_span {
    uint64_t calls, timed, total_ns, min_ns, max_ns, q[RTL_SPAN_QUANTILES];
    bool any, approximate;
};

/* `from` NULL: since the start. */
struct rtl_bar_span rtl_span_between(const struct rtl_kernel_snapshot *from, const struct rtl_kernel_snapshot *to);

/* The histogram since `from` (NULL: the start), a row a bar; `all` is the same span. */
void rtl_draw_bars(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const struct rtl_row *row,
                   const struct rtl_kernel_snapshot *from, const struct rtl_bar_span *all);

/* p99 of the intervals in one line of marks, for where a plot has no room. */
void rtl_draw_trend(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const struct rtl_row *row);
/* p99 and p50 of the intervals with axes, and the line above it. */
void rtl_draw_plot(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const struct rtl_row *row);
void rtl_draw_plot_head(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at);

/* What is below the kernels on tall terminals: the one under the cursor. */
void rtl_draw_pane(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const struct rtl_row *row);

#endif
