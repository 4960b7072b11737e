/* Keys in the views of HIP calls and of roctx ranges: search, rank, enter a range. They return RTL_UI_*. */
#ifndef RTL_TUI_CALLS_KEYS_H
#define RTL_TUI_CALLS_KEYS_H

#include "tui/ui_state.h"

/* Move to the next row (step 1), the previous one (-1) or the first from the cursor on (0) whose name has the text. */
unsigned rtl_ui_search_calls(struct rtl_ui *ui, const char *text, int step);
unsigned rtl_ui_order_calls(struct rtl_ui *ui, enum rtl_call_order order, bool reverse);

/* Show only the kernels of the range under the cursor; return from them to the ranges. */
unsigned rtl_ui_enter_range(struct rtl_ui *ui);
void rtl_ui_leave_range(struct rtl_ui *ui);

#endif
