/* How the screen begins, where one is on it, and what its layout is asked for. */
#ifndef RTL_TUI_UI_CONTEXT_H
#define RTL_TUI_UI_CONTEXT_H

#include "tui/cursor.h"
#include "tui/keys.h"
#include "tui/layout.h"

/* `options`-like choices are set by the caller afterwards. */
void rtl_ui_init(struct rtl_ui *ui, struct rtl_model *model, pid_t pid, const char *title);

/* What the main screen's geometry depends on, but for the columns' widths. */
struct rtl_layout_wants rtl_ui_wants(const struct rtl_ui *ui, int cols);

/* Which keys count now (RTL_IN_*). */
unsigned rtl_ui_context(const struct rtl_ui *ui);

#endif
