/* Views and their parts: state to cells. Each function draws into a frame that the caller has reset. All are pure. */
#ifndef RTL_TUI_DRAW_VIEWS_H
#define RTL_TUI_DRAW_VIEWS_H

#include "tui/draw_common.h"

void rtl_draw_main(const struct rtl_ui *ui, struct rtl_frame *frame); /* every view but detail and help */
void rtl_draw_detail(const struct rtl_ui *ui, struct rtl_frame *frame);
void rtl_draw_help(const struct rtl_ui *ui, struct rtl_frame *frame);
int rtl_draw_help_lines(const struct rtl_ui *ui, int cols);
/*
 * Search ui->help_search in the help: return the first matching line at or after `from` (step 1), or the last one at or
 * before it (step -1); -1 for none.
 */
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

/* --- parts of views --- */
void rtl_draw_gpus(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *layout);
/* Draw the results of a probe of the kernel. */
void rtl_draw_probe(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const struct rtl_row *row);
/* Draw the waits of the kernel; ui->stalls has at least one. */
void rtl_draw_stalls(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const struct rtl_row *row);

/* --- menus over a view --- */
void rtl_draw_sort_menu(const struct rtl_ui *ui, struct rtl_frame *frame);
void rtl_draw_columns_menu(const struct rtl_ui *ui, struct rtl_frame *frame);
void rtl_draw_mode_menu(const struct rtl_ui *ui, struct rtl_frame *frame);
void rtl_draw_leave_menu(const struct rtl_ui *ui, struct rtl_frame *frame);

/* A list of processes to choose from; `chosen` is the marked line. */
struct rtl_draw_choice {
    char text[240];
};
void rtl_draw_pick(struct rtl_frame *frame, const struct rtl_draw_choice *choices, int count, int chosen,
                   const char *message);

#endif
