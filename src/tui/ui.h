/*
 * What the screen shows and how keys change it: state without a terminal, so that tests press keys and look at frames.
 *
 * rtl_ui_key returns what has to happen outside; nothing here draws. Drawing (tui/draw.h) reads this state and changes
 * nothing.
 */
#ifndef RTL_TUI_UI_H
#define RTL_TUI_UI_H

#include "tui/ui_context.h"

/* One key; returns RTL_UI_*. */
unsigned rtl_ui_key(struct rtl_ui *ui, uint32_t key);

#endif
