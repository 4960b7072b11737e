/* What of the lists is in sight. How long they are is up to what draws them. */
#ifndef RTL_TUI_SCROLL_H
#define RTL_TUI_SCROLL_H

#include "tui/ui.h"

/* After new data, a key or a resize: keeps the cursor on its kernel and in sight. */
void rtl_ui_scroll_into_view(struct rtl_ui *ui, int rows, int cols);

#endif
