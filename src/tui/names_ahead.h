/*
 * The names of a snapshot's kernels, made by a thread of its own ahead of the one that writes them into a file: of what
 * a recording's first frame takes, a third is names.
 *
 * While it runs, the thread is the only one that makes names: whoever wants one waits for it first (rtl_names_ahead_wait),
 * and then finds it made. That wait is the hand-over: what the thread wrote before is seen after it.
 */
#ifndef RTL_TUI_NAMES_AHEAD_H
#define RTL_TUI_NAMES_AHEAD_H

#include "shm/segment_reader.h"
#include "tui/names.h"

struct rtl_names_ahead;

/*
 * Starts making the full form and the whole short one of each kernel, in the snapshot's order. NULL where that isn't
 * worth it (few kernels) or can't be (no memory, no thread): then names are made when they are asked for, as ever. Both
 * arguments outlive the run.
 */
struct rtl_names_ahead *rtl_names_ahead_start(struct rtl_names *names, const struct rtl_snapshot *snapshot, bool ascii);

/* Returns when the names of that kernel, which is one of the snapshot's, can be asked for. NULL is no wait. */
void rtl_names_ahead_wait(struct rtl_names_ahead *ahead, const struct rtl_kernel_snapshot *kernel);

/* Ends the thread, whether it is done or not; afterwards names are made by whoever asks. NULL is fine. */
void rtl_names_ahead_end(struct rtl_names_ahead *ahead);

#endif
