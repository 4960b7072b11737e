/*
 * From state to cells. Every function draws one view into a frame that was reset before; all are pure.
 */
#ifndef RTL_TUI_DRAW_H
#define RTL_TUI_DRAW_H

#include "tui/frame.h"
#include "tui/ui.h"

/* The whole screen: the view, and the prompt or menu over it. */
void rtl_draw(const struct rtl_ui *ui, struct rtl_frame *frame);

void rtl_draw_main(const struct rtl_ui *ui, struct rtl_frame *frame); /* kernels, queues and copies */
void rtl_draw_detail(const struct rtl_ui *ui, struct rtl_frame *frame);
void rtl_draw_help(const struct rtl_ui *ui, struct rtl_frame *frame);
int rtl_draw_help_lines(const struct rtl_ui *ui, int cols);
/* The first line of the help at or behind `from` (step 1), or the last one at or before it (step -1), that has
 * ui->help_search; -1 for none. */
int rtl_draw_help_find(const struct rtl_ui *ui, int cols, int from, int step);

/* --- shared by the views --- */
/* Appends "label value" to a line that has grown to *col if it fits whole (a number that is cut is a lie); false if
 * not. */
bool rtl_draw_piece(struct rtl_frame *frame, struct rtl_rect at, int *col, enum rtl_role role, const char *label,
                    const char *value);
void rtl_draw_header(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const char *title);
void rtl_draw_status(const struct rtl_ui *ui, struct rtl_frame *frame,
                     struct rtl_rect at); /* status, message or prompt */
void rtl_draw_keys(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at);
void rtl_draw_coverage(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at);
void rtl_draw_gpus(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *layout);
/* How much of something is in use, as a colour: a tenth and a quarter of the time are the steps. */
enum rtl_role rtl_draw_load_role(double share);
void rtl_draw_sort_menu(const struct rtl_ui *ui, struct rtl_frame *frame);
void rtl_draw_columns_menu(const struct rtl_ui *ui, struct rtl_frame *frame);
void rtl_draw_mode_menu(const struct rtl_ui *ui, struct rtl_frame *frame);
void rtl_draw_leave_menu(const struct rtl_ui *ui, struct rtl_frame *frame);
void rtl_draw_queues(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *layout);
int rtl_draw_queue_lines(const struct rtl_model *model); /* how many there are to scroll through */
void rtl_draw_copies(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *layout);
int rtl_draw_copies_lines(const struct rtl_model *model);
void rtl_draw_processes(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *layout);
int rtl_draw_process_lines(const struct rtl_ui *ui);
void rtl_draw_ranks(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *layout);
int rtl_draw_rank_lines(const struct rtl_ui *ui);
void rtl_draw_name(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const struct rtl_row *row);
/* Marks the row that the cursor is on, to its end. */
void rtl_draw_cursor(struct rtl_frame *frame, int line, int cols);
/* The name in its column, scrolled sideways as far as the user did. */
void rtl_draw_name_cell(const struct rtl_ui *ui, struct rtl_frame *frame, int line, int col, int width,
                        enum rtl_role role, const struct rtl_row *row);
/* What a probe on the kernel has found out, in lines from `at` on. */
void rtl_draw_probe(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const struct rtl_row *row);
/* The part of that which is about waits, where there are numbers of some. */
void rtl_draw_stalls(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const struct rtl_row *row);
void rtl_draw_line(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at); /* all on one line */

/* A recording is made: in the first line of every screen. */
#define RTL_RECORD_MARK "REC"
/* Some dispatches of this kernel run a probed copy: before its name. */
#define RTL_PROBED_MARK "probed "

/* A list to choose a process from; `chosen` is the marked line. */
struct rtl_draw_choice {
    char text[240];
};
void rtl_draw_pick(struct rtl_frame *frame, const struct rtl_draw_choice *choices, int count, int chosen,
                   const char *message);

#endif
