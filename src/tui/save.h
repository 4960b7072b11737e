/* Key W: the configuration gets what was chosen on the screen. */
#ifndef RTL_TUI_SAVE_H
#define RTL_TUI_SAVE_H

#include "options/options.h"
#include "tui/ui_state.h"

/* What can be changed with keys, and what the configuration has of the rest; the user is told. */
void rtl_ui_save(struct rtl_ui *ui, const struct rtl_options *options);

#endif
