/*
 * Keys change the state of the screen (ui_state.h). Neither needs a terminal, so tests press keys and compare frames;
 * drawing (draw.h) only reads the state.
 */
#ifndef RTL_TUI_UI_H
#define RTL_TUI_UI_H

#include "tui/ui_state.h"

/* Handle one key; returns requests to the loop, RTL_UI_*. */
unsigned rtl_ui_key(struct rtl_ui *ui, uint32_t key);

#endif
