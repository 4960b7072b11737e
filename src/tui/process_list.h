/*
 * The list of processes: in which order they stand, whom the cursor is on, and where its columns are. What draws it,
 * the keys and the mouse ask here. Pure.
 */
#ifndef RTL_TUI_PROCESS_LIST_H
#define RTL_TUI_PROCESS_LIST_H

#include "model/process_cells.h"
#include "tui/screen_tables.h"
#include "tui/ui_state.h"

/* The columns of tables.h, then what takes the rest of the line. */
enum {
#define RTL_ONE(...) +1
    RTL_PROCESS_COLUMN_COUNT = 0 RTL_PROCESS_COLUMNS(RTL_ONE),
#undef RTL_ONE
    RTL_PROCESS_TOP_COLUMN = RTL_PROCESS_COLUMN_COUNT,
    RTL_PROCESS_COMMAND_COLUMN,
    RTL_PROCESS_ALL_COLUMNS
};

const char *rtl_process_header(int column);

/* The rows in the order of the screen; how many. */
uint32_t rtl_process_list(const struct rtl_ui *ui, struct rtl_process_row *rows);

/* Return the process on that line, or NULL. */
const struct rtl_member *rtl_process_at(const struct rtl_ui *ui, int line);
/* Return the pid under the cursor; 0 if it can't be watched. */
pid_t rtl_ui_process(const struct rtl_ui *ui);

/* The cursor stays with its process while the order changes; to be called before a frame is drawn. */
void rtl_process_follow(struct rtl_ui *ui);
void rtl_process_move(struct rtl_ui *ui, int to);

/* Orders by a column; the one that it is ordered by already: the other way round. */
void rtl_process_sort(struct rtl_ui *ui, int column);
/* By the one that many to the right. */
void rtl_process_sort_step(struct rtl_ui *ui, int step);

/* What stands in the columns of tables.h. */
void rtl_process_texts(const struct rtl_process_cells *cells, const char *texts[RTL_PROCESS_COLUMN_COUNT]);

/* Where each column is for these rows on a screen of so many columns; width 0 = it has no room. */
struct rtl_process_places {
    int at[RTL_PROCESS_ALL_COLUMNS], width[RTL_PROCESS_ALL_COLUMNS];
};
struct rtl_process_places rtl_process_places(const struct rtl_ui *ui, const struct rtl_process_row *rows,
                                             uint32_t count, int cols);

#endif
