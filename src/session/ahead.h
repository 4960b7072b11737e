/*
 * What a recording's first frame tells of each kernel, made by a thread of its own ahead of the one that writes it: its
 * names, and the text of its histogram. It is half of the work.
 *
 * While it runs, the thread is the only one that makes names: whoever wants one waits for it first (rtl_ahead_wait),
 * and then finds it made. That wait is the hand-over: what the thread wrote before is seen after it.
 */
#ifndef RTL_SESSION_AHEAD_H
#define RTL_SESSION_AHEAD_H

#include "record/buckets.h"
#include "text/names.h"

struct rtl_ahead;

/*
 * Starts making, in the snapshot's order, each kernel's full name, its whole short one, and its growth. NULL where that
 * isn't worth it (few kernels) or can't be (no memory, no thread): then all is made when it is asked for, as ever. Both
 * arguments outlive the run.
 */
struct rtl_ahead *rtl_ahead_start(struct rtl_names *names, const struct rtl_snapshot *snapshot, bool ascii);

/*
 * Returns when the names of that kernel, which is one of the snapshot's, can be asked for: with its growth since the
 * start, which lives as long as `ahead`, or NULL when that could not be made. NULL is no wait.
 */
const struct rtl_growth *rtl_ahead_wait(struct rtl_ahead *ahead, const struct rtl_kernel_snapshot *kernel);

/* Ends the thread, whether it is done or not; afterwards names are made by whoever asks. NULL is fine. */
void rtl_ahead_end(struct rtl_ahead *ahead);

#endif
