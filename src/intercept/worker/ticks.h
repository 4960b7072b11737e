/*
 * A GPU's ticks in host time, and the check that a signal's ticks can be right. Worker only.
 *
 * The runtime converts ticks to system time. The worker asks it for one tick in 20 ms of the GPU's, and draws a line
 * through the answer. Ticks near the line and with a short duration are accepted. Others are checked:
 *
 * - A duration longer than the time since submission, or an end that the runtime puts into the future, is refused and
 *   has no effect. One such end would move the line, and the end of busy time, out of reach.
 * - Eight successive ends in the future: then the runtime's answer is wrong, and the ends are accepted.
 * - The GPU's clock went back or leapt, as after a reset or while the machine slept: the line is drawn anew, and state
 *   of the old clock (ends of kernels, spans of busy time) is closed.
 * - The runtime hasn't noticed that (it puts the end before the kernel's submission), or isn't trusted: the line goes
 *   through the time at which the end was found. That is exact to the time between two rounds, a millisecond.
 */
#ifndef RTL_INTERCEPT_TICKS_H
#define RTL_INTERCEPT_TICKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/likely.h"
#include "intercept/base/agents.h"

/* Timing begins: the time since the last timed kernel is no gap, because untimed ones may have run. */
void rtl_ticks_restart(void);

/* The rare part of rtl_ticks_believed. */
bool rtl_ticks_judge(struct rtl_gpu *gpu, uint64_t start, uint64_t end, uint64_t submit);

/* Check the ticks of something that ran on the GPU and is over; start <= end. `submit` (monotonic ns) is the time of
 * submission or earlier. False: they can't be right. Otherwise the GPU's rate is known afterwards, and its line to
 * host time, if there is one, is recent. */
static inline bool rtl_ticks_believed(struct rtl_gpu *gpu, uint64_t start, uint64_t end, uint64_t submit)
{
    if (likely(end - gpu->near_from < gpu->near_ticks && end - start < gpu->long_ticks)) {
        gpu->refused = 0;
        return true;
    }
    return rtl_ticks_judge(gpu, start, end, submit);
}

#endif
