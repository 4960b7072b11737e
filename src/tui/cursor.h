/*
 * The cursor: the row under it, how keys and searches move it, how far the names are scrolled; and the layout of the
 * main screen, which depends on that row. Returns RTL_UI_* where a key handler needs them.
 */
#ifndef RTL_TUI_CURSOR_H
#define RTL_TUI_CURSOR_H

#include "tui/layout.h"
#include "tui/ui_state.h"

/* Return the selected row, or NULL. */
const struct rtl_row *rtl_ui_selected(const struct rtl_ui *ui);

/* Return the rows that the wrapped name needs in this width; 0 when it is not wrapped. The detail always wraps it. */
int rtl_ui_name_rows(const struct rtl_ui *ui, int cols);

/* Return the geometry of the main screen. */
struct rtl_layout rtl_ui_layout(const struct rtl_ui *ui, int rows, int cols);

unsigned rtl_ui_select(struct rtl_ui *ui, int at); /* a position in the model's order */
unsigned rtl_ui_move(struct rtl_ui *ui, int by);
/* Move to the next match of ui->search (step 1) or the previous one (-1); in the help, request that search. */
unsigned rtl_ui_search(struct rtl_ui *ui, int step);
/* In calls and ranges: likewise, or (step 0) to the first match from the cursor on. Keeps the text in ui->search. */
unsigned rtl_ui_search_calls(struct rtl_ui *ui, const char *text, int step);
unsigned rtl_ui_order_calls(struct rtl_ui *ui, enum rtl_hip_api_order order, bool reverse);
unsigned rtl_ui_sort(struct rtl_ui *ui, enum rtl_column column, bool reverse);
unsigned rtl_ui_set_filter(struct rtl_ui *ui, const char *text);
/* Open or close the family of the row, and move to it. */
unsigned rtl_ui_open_family(struct rtl_ui *ui, const struct rtl_row *row, bool open);
/* Keep the cursor on its wait when the order of the waits changes. */
void rtl_ui_follow_stall(struct rtl_ui *ui);

#endif
