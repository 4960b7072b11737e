/* The screens of the calls of HIP and of the ranges of roctx. */
#ifndef RTL_TUI_DRAW_CALLS_H
#define RTL_TUI_DRAW_CALLS_H

#include "tui/draw.h"

void rtl_draw_calls(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *layout);
int rtl_draw_calls_lines(const struct rtl_ui *ui); /* how many there are to scroll through */

#endif
