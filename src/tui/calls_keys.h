/* What keys do on the screens of the calls of HIP and of the ranges of roctx: those that rank mean their rows there. */
#ifndef RTL_TUI_CALLS_KEYS_H
#define RTL_TUI_CALLS_KEYS_H

#include "tui/keys.h"
#include "tui/ui_state.h"

/* Whether one of the two is shown. */
bool rtl_ui_shows_calls(const struct rtl_ui *ui);
/* The rows of the one that is shown. */
const struct rtl_hip_api_model_row *rtl_ui_call_rows(const struct rtl_ui *ui, int *count);
/* The cursor goes to the next row (step 1), the one before (-1) or from the cursor on (0) whose name has the text. */
unsigned rtl_ui_search_calls(struct rtl_ui *ui, const char *text, int step);
unsigned rtl_ui_order_calls(struct rtl_ui *ui, enum rtl_hip_api_order order);
unsigned rtl_ui_act_on_calls(struct rtl_ui *ui, enum rtl_action action);

/* The kernels of the range under the cursor alone, and back to it. */
unsigned rtl_ui_enter_range(struct rtl_ui *ui);
void rtl_ui_leave_range(struct rtl_ui *ui);

#endif
