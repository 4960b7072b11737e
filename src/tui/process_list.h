/* The list of processes: its order, its cursor, the places of its columns. Pure. */
#ifndef RTL_TUI_PROCESS_LIST_H
#define RTL_TUI_PROCESS_LIST_H

#include "model/cells.h"
#include "tui/screen_tables.h"
#include "tui/table.h"
#include "tui/ui_state.h"

/* The columns of screen_tables.h, then top kernel and command, which fill the line. */
enum {
#define RTL_ONE(...) +1
    RTL_PROCESS_COLUMN_COUNT = 0 RTL_PROCESS_COLUMNS(RTL_ONE),
#undef RTL_ONE
    RTL_PROCESS_TOP_COLUMN = RTL_PROCESS_COLUMN_COUNT,
    RTL_PROCESS_COMMAND_COLUMN,
    RTL_PROCESS_ALL_COLUMNS
};

extern const struct rtl_table_column rtl_process_columns[RTL_PROCESS_ALL_COLUMNS];

/* Fill in the rows in the order of the screen; returns their number. */
uint32_t rtl_process_list(const struct rtl_ui *ui, struct rtl_process_row *rows);

/* Return the process on that line, or NULL. */
const struct rtl_member *rtl_process_at(const struct rtl_ui *ui, int line);
/* Return the pid under the cursor; 0 if it can't be watched. */
pid_t rtl_ui_process(const struct rtl_ui *ui);

/* Keep the cursor on its process when the order changes; call before a frame is drawn. */
void rtl_process_follow(struct rtl_ui *ui);
void rtl_process_move(struct rtl_ui *ui, int to);

/* Sort by a column; reverse if it is the present one. Both return RTL_UI_DRAW. */
unsigned rtl_process_sort(struct rtl_ui *ui, int column);
/* Sort by the column `step` places to the right. */
unsigned rtl_process_sort_step(struct rtl_ui *ui, int step);

/* Return the cells of the columns of screen_tables.h. */
struct rtl_table_row rtl_process_cells_of(const struct rtl_ui *ui, const struct rtl_process_row *row);

/* Return the table of these rows; it also has the places of top kernel and command, which are no cells. */
struct rtl_table rtl_process_table(const struct rtl_ui *ui, const struct rtl_process_row *rows, uint32_t count,
                                   int cols);

#endif
