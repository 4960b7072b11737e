/* What keys do on the screens of the calls of HIP and of the ranges of roctx: those that rank mean their rows there. */
#ifndef RTL_TUI_CALLS_KEYS_H
#define RTL_TUI_CALLS_KEYS_H

#include "tui/keys.h"
#include "tui/ui_state.h"

/* Whether one of the two is shown. */
bool rtl_ui_shows_calls(const struct rtl_ui *ui);
unsigned rtl_ui_act_on_calls(struct rtl_ui *ui, enum rtl_action action);

#endif
