/* The key that probes a kernel, and whether one is: state without a terminal, as ui.h. */
#ifndef RTL_TUI_PROBE_KEY_H
#define RTL_TUI_PROBE_KEY_H

#include "tui/ui_state.h"

/* A probe on this kernel has something to say. */
bool rtl_ui_has_probe(const struct rtl_ui *ui, const struct rtl_row *row);
/* It runs. */
bool rtl_ui_is_probed(const struct rtl_ui *ui, const struct rtl_row *row);

/* RTL_UI_*: `what`, or why not; a probe that runs is taken back, whichever kernel it is on, and of which kind. */
unsigned rtl_ui_ask_for_probe(struct rtl_ui *ui, unsigned what);

/* The waits of this kernel are shown: the cursor is in their list. */
bool rtl_ui_has_stalls(const struct rtl_ui *ui, const struct rtl_row *row);
void rtl_ui_move_in_stalls(struct rtl_ui *ui, int by);
/* The cursor's wait may have another place in the list by now. */
void rtl_ui_follow_stall(struct rtl_ui *ui);

/* How often a kernel runs, and its median, by the last two snapshots, whatever of them is shown: how many are probed
 * must not hang on the window. 0: not known. */
struct rtl_probe_pace {
    double per_second;
    uint64_t p50_ns;
};
struct rtl_probe_pace rtl_ui_probe_pace(const struct rtl_model *model, uint32_t kernel);

#endif
