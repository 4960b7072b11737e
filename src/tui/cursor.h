/*
 * The cursor of the lists: what it stands on, where keys and searches move it, how far the names are scrolled. Returns
 * RTL_UI_* where keys ask for something.
 */
#ifndef RTL_TUI_CURSOR_H
#define RTL_TUI_CURSOR_H

#include "tui/ui_state.h"

/* The selected row, or NULL when there is none. */
const struct rtl_row *rtl_ui_selected(const struct rtl_ui *ui);

/* Rows that the wrapped name wants in this width; 0 when it is not asked for, which it always is in the detail. */
int rtl_ui_name_rows(const struct rtl_ui *ui, int cols);

void rtl_ui_select(struct rtl_ui *ui, int at); /* a position in the model's order */
unsigned rtl_ui_move(struct rtl_ui *ui, int by);
unsigned rtl_ui_search(struct rtl_ui *ui, int step); /* for ui->search, from the cursor on */
unsigned rtl_ui_group(struct rtl_ui *ui);            /* kernels by family, or in one list */
/* Opens or closes the family that the row is or belongs to; the cursor goes there. */
unsigned rtl_ui_open(struct rtl_ui *ui, const struct rtl_row *row, bool open);
unsigned rtl_ui_sideways(struct rtl_ui *ui, int step); /* scrolls the names, opens and closes families */

/* In the list of processes: the one on the cursor's line, if it can be watched; or 0. */
pid_t rtl_ui_process(const struct rtl_ui *ui);

#endif
