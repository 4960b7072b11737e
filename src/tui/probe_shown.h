/* Whether something of a probe is shown for a kernel, and the cursor in the list of its waits: state without a
 * terminal. */
#ifndef RTL_TUI_PROBE_SHOWN_H
#define RTL_TUI_PROBE_SHOWN_H

#include "tui/ui_state.h"

/* A probe on this kernel has something to say. */
bool rtl_ui_has_probe(const struct rtl_ui *ui, const struct rtl_row *row);
/* It runs. */
bool rtl_ui_is_probed(const struct rtl_ui *ui, const struct rtl_row *row);

/* The waits of this kernel are shown: the cursor is in their list. */
bool rtl_ui_has_stalls(const struct rtl_ui *ui, const struct rtl_row *row);
void rtl_ui_move_in_stalls(struct rtl_ui *ui, int by);
/* The cursor's wait may have another place in the list by now. */
void rtl_ui_follow_stall(struct rtl_ui *ui);

#endif
