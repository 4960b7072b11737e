/* The screen, its views and their parts: state to cells. Each function draws into a frame that the caller has reset.
 * All are pure. */
#ifndef RTL_TUI_DRAW_VIEWS_H
#define RTL_TUI_DRAW_VIEWS_H

#include "tui/draw_common.h"

void rtl_draw(const struct rtl_ui *ui, struct rtl_frame *frame); /* a view, and the menu over it */
void rtl_draw_detail(const struct rtl_ui *ui, struct rtl_frame *frame);
void rtl_draw_help(const struct rtl_ui *ui, struct rtl_frame *frame);
void rtl_draw_card(const struct rtl_ui *ui, struct rtl_frame *frame); /* the help card, between first and last line */
int rtl_draw_card_lines(const struct rtl_ui *ui, int cols);
int rtl_draw_help_lines(const struct rtl_ui *ui, int cols); /* of the manual */
int rtl_draw_help_columns(int cols);
/* Search ui->help_search in the help: return the first matching line at or after `from` (step 1), or the last one at or
 * before it (step -1); -1 for none. */
int rtl_draw_help_find(const struct rtl_ui *ui, int cols, int from, int step);

/* --- tables of the main view; the *_lines functions return the lines to scroll through --- */
void rtl_draw_queues(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *layout);
int rtl_draw_queue_lines(const struct rtl_ui *ui);
void rtl_draw_copies(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *layout);
int rtl_draw_copies_lines(const struct rtl_ui *ui);
void rtl_draw_processes(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *layout);
int rtl_draw_process_lines(const struct rtl_ui *ui);
void rtl_draw_ranks(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *layout);
int rtl_draw_rank_lines(const struct rtl_ui *ui);
void rtl_draw_calls(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *layout);
int rtl_draw_calls_lines(const struct rtl_ui *ui);
void rtl_draw_steps(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *layout);
int rtl_draw_steps_lines(const struct rtl_ui *ui);
/* Draw the cost of a step in one line, or why the user's marker counts none. */
void rtl_draw_steps_line(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at);

void rtl_draw_evidence(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *layout);
int rtl_draw_evidence_lines(const struct rtl_ui *ui);
/* Return the GPU that the evidence shows: ui->gpu, or the first one; NULL: none. */
const struct rtl_gpu_row *rtl_ui_evidence(const struct rtl_ui *ui);

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
/* Draw p99 over time as one line of marks (model/trend.h): a quiet line while p99 is steady, so that
 * outliers stand out. */
void rtl_draw_trend(const struct rtl_model *model, struct rtl_frame *frame, int row, int col, int width,
                    const struct rtl_row *kernel);
/* Return the rows that a histogram of the span can fill. */
int rtl_bar_rows(const struct rtl_bar_span *span);
/* Draw p99 and p50 over time with axes, or the window's histogram, below a head; a family has neither. */
void rtl_draw_plot_part(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at,
                        const struct rtl_row *row);
void rtl_draw_bars_part(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at,
                        const struct rtl_row *row);
/* Draw the parts beside the kernels on wide terminals (draw_side.c). */
void rtl_draw_side(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *layout);
/* Draw the pane below the kernels on tall terminals, for the kernel under the cursor. */
void rtl_draw_pane(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const struct rtl_row *row);

/* --- over a view, or instead of one --- */
void rtl_draw_menu(const struct rtl_ui *ui, struct rtl_frame *frame); /* the one of ui->prompt, if it is a menu */

#endif
