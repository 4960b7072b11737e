/* Draw the whole screen, from state to cells: a view, and the menu over it. Pure. */
#ifndef RTL_TUI_DRAW_H
#define RTL_TUI_DRAW_H

#include "tui/draw_views.h"

void rtl_draw(const struct rtl_ui *ui, struct rtl_frame *frame);

#endif
