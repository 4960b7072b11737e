/* The mouse: what it points at is found in the same geometry as is drawn. A terminal without one sends nothing. */
#ifndef RTL_TUI_MOUSE_H
#define RTL_TUI_MOUSE_H

#include "tui/ui.h"

/*
 * One event of the mouse, an RTL_KEY_MOUSE of keys.h, on a screen of that size; returns RTL_UI_*. The wheel scrolls, a
 * click on a column's head sorts by it and reverses with the next one, a click on a row selects it and opens the one
 * that is selected.
 */
unsigned rtl_ui_mouse(struct rtl_ui *ui, uint32_t event, int rows, int cols);

#endif
