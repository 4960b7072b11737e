/* The keys that probe a kernel: state without a terminal, as ui.h. */
#ifndef RTL_TUI_PROBE_KEY_H
#define RTL_TUI_PROBE_KEY_H

#include "tui/probe_shown.h"

/* RTL_UI_*: `what`, or why not; a probe that runs is taken back, whichever kernel it is on, and of which kind. */
unsigned rtl_ui_ask_for_probe(struct rtl_ui *ui, unsigned what);

/* How often a kernel runs, and its median, by the last two snapshots, whatever of them is shown: how many are probed
 * must not hang on the window. 0: not known. */
struct rtl_probe_pace {
    double per_second;
    uint64_t p50_ns;
};
struct rtl_probe_pace rtl_ui_probe_pace(const struct rtl_model *model, uint32_t kernel);

#endif
