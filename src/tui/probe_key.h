/* The key that probes a kernel, and whether one is: state without a terminal, as ui.h. */
#ifndef RTL_TUI_PROBE_KEY_H
#define RTL_TUI_PROBE_KEY_H

#include "tui/ui_state.h"

/* A probe on this kernel has something to say. */
bool rtl_ui_has_probe(const struct rtl_ui *ui, const struct rtl_row *row);
/* It runs. */
bool rtl_ui_is_probed(const struct rtl_ui *ui, const struct rtl_row *row);

/* RTL_UI_*: a probe that runs is taken back, whichever kernel it is on. */
unsigned rtl_ui_ask_for_probe(struct rtl_ui *ui);

#endif
