/* Views and their parts: state to cells. Each function draws into a frame that the caller has reset. All are pure. */
#ifndef RTL_TUI_DRAW_VIEWS_H
#define RTL_TUI_DRAW_VIEWS_H

#include "tui/draw_common.h"

void rtl_draw_main(const struct rtl_ui *ui, struct rtl_frame *frame); /* every view but detail and help */
void rtl_draw_detail(const struct rtl_ui *ui, struct rtl_frame *frame);
void rtl_draw_help(const struct rtl_ui *ui, struct rtl_frame *frame);
int rtl_draw_help_lines(const struct rtl_ui *ui, int cols);
/* Search ui->help_search in the help: return the first matching line at or after `from` (step 1), or the last one at or
 * before it (step -1); -1 for none. */
int rtl_draw_help_find(const struct rtl_ui *ui, int cols, int from, int step);

/* --- tables of the main view; the *_lines functions return the lines to scroll through --- */
void rtl_draw_queues(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *layout);
int rtl_draw_queue_lines(const struct rtl_model *model);
void rtl_draw_copies(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *layout);
int rtl_draw_copies_lines(const struct rtl_model *model);
void rtl_draw_processes(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *layout);
int rtl_draw_process_lines(const struct rtl_ui *ui);
void rtl_draw_ranks(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *layout);
int rtl_draw_rank_lines(const struct rtl_ui *ui);
void rtl_draw_calls(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *layout);
int rtl_draw_calls_lines(const struct rtl_ui *ui);

/* Return the lines of the table that ui->view shows; 0 for kernels, detail and help. */
int rtl_draw_lines(const struct rtl_ui *ui);

/* --- parts of views --- */
void rtl_draw_gpus(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *layout);
/* Draw the results of a probe of the kernel. */
void rtl_draw_probe(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const struct rtl_row *row);
/* Draw the waits of the kernel; ui->stalls has at least one. */
void rtl_draw_stalls(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const struct rtl_row *row);

/* --- durations of a kernel, for the detail and for the pane below the kernels (draw_bars.c) --- */
enum { RTL_SPAN_QUANTILES = 4 }; /* p50, p90, p99, p99.9 */
/* Dispatches of a kernel between two snapshots. */
struct rtl_bar_span {
    uint64_t calls, timed, total_ns, min_ns, max_ns, q[RTL_SPAN_QUANTILES];
    bool any, approximate;
};
/* `from` NULL: since the start. */
struct rtl_bar_span rtl_span_between(const struct rtl_kernel_snapshot *from, const struct rtl_kernel_snapshot *to);
/* Draw the histogram since `from` (NULL: the start), one bar a row; `all` is the same span. */
void rtl_draw_bars(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const struct rtl_row *row,
                   const struct rtl_kernel_snapshot *from, const struct rtl_bar_span *all);
/* Draw p99 over time in one line, where a plot doesn't fit. */
void rtl_draw_trend(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const struct rtl_row *row);
/* Draw p99 and p50 over time with axes, and the header above. */
void rtl_draw_plot(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const struct rtl_row *row);
void rtl_draw_plot_head(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at);
/* Draw the pane below the kernels on tall terminals, for the kernel under the cursor. */
void rtl_draw_pane(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const struct rtl_row *row);

/* --- over a view, or instead of one --- */
void rtl_draw_menu(const struct rtl_ui *ui, struct rtl_frame *frame); /* the one of ui->prompt, if it is a menu */

/* A list of processes to choose from; `chosen` is the marked line. */
struct rtl_draw_choice {
    char text[240];
};
void rtl_draw_pick(struct rtl_frame *frame, const struct rtl_draw_choice *choices, int count, int chosen,
                   const char *message);

#endif
