/* The visible part of lists; the views know how long the lists are. */
#ifndef RTL_TUI_SCROLL_H
#define RTL_TUI_SCROLL_H

#include "tui/ui.h"

/* Keep the cursor on its kernel and in sight; call after new data, a key or a resize. */
void rtl_ui_scroll_into_view(struct rtl_ui *ui, int rows, int cols);

#endif
