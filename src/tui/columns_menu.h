/* The menu of columns (key o): which are shown, and in which order. What is chosen is shown at once, under it. */
#ifndef RTL_TUI_COLUMNS_MENU_H
#define RTL_TUI_COLUMNS_MENU_H

#include "tui/ui_state.h"

/* One key of it; the choice is ui->menu, a column. */
void rtl_columns_menu_key(struct rtl_ui *ui, uint32_t key);

/* The column that many places to the right, as they stand on the screen, that can be sorted by. */
enum rtl_column rtl_columns_beside(const struct rtl_ui *ui, enum rtl_column column, int step);

#endif
