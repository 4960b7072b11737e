/*
 * What the screen shows and how keys change it: state without a terminal, so that tests press keys and look at frames.
 *
 * rtl_ui_key returns what has to happen outside; nothing here draws. Drawing (tui/draw.h) reads this state and changes
 * nothing.
 */
#ifndef RTL_TUI_UI_H
#define RTL_TUI_UI_H

#include "tui/cursor.h"
#include "tui/keys.h"
#include "tui/layout.h"

/* `options`-like choices are set by the caller afterwards. */
void rtl_ui_init(struct rtl_ui *ui, struct rtl_model *model, pid_t pid, const char *title);

/* One key; returns RTL_UI_*. */
unsigned rtl_ui_key(struct rtl_ui *ui, uint32_t key);

/* What the main screen's geometry depends on, but for the columns' widths. */
struct rtl_layout_wants rtl_ui_wants(const struct rtl_ui *ui, int cols);

/* Which keys count now (RTL_IN_*). */
unsigned rtl_ui_where(const struct rtl_ui *ui);

#endif
