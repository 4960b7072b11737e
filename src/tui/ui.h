/*
 * Keys change the state of the screen (ui_state.h). Neither needs a terminal, so tests press keys and compare frames;
 * drawing (draw.h) only reads the state.
 */
#ifndef RTL_TUI_UI_H
#define RTL_TUI_UI_H

#include "tui/ui_state.h"

/* Handle one key; returns requests to the loop, RTL_UI_*. */
unsigned rtl_ui_key(struct rtl_ui *ui, uint32_t key);

/*
 * Handle one event of the mouse, an RTL_KEY_MOUSE of keys.h, on a screen of that size (mouse.c); returns RTL_UI_*. The
 * wheel scrolls. A click on a header sorts, the next one reverses; a click on a row selects it, the next one opens it.
 */
unsigned rtl_ui_mouse(struct rtl_ui *ui, uint32_t event, int rows, int cols);

/* Keep the cursor on its kernel and in sight (scroll.c); call after new data, a key or a resize. */
void rtl_ui_scroll_into_view(struct rtl_ui *ui, int rows, int cols);

#endif
