/*
 * From screen to screen: each remembers the one below it, so that Esc goes back the way that was come. The kernels are
 * at the bottom; the help, which goes back by itself, is none of these.
 */
#ifndef RTL_TUI_VIEWS_H
#define RTL_TUI_VIEWS_H

#include "tui/ui_state.h"

/* One that lies below already is gone back to. */
void rtl_ui_open_view(struct rtl_ui *ui, enum rtl_view view);
/* To the one below. */
void rtl_ui_close_view(struct rtl_ui *ui);
/* A key that opens a screen, and there goes to the kernels. */
void rtl_ui_toggle_view(struct rtl_ui *ui, enum rtl_view view);

#endif
