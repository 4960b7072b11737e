/*
 * What a GPU's ticks are in host time, and whether the ticks that it left can be right. All of it is the worker's.
 *
 * The runtime converts ticks to system time; that is asked for one tick in 20 ms of the GPU's, and a line drawn through
 * it. What is found in a signal is believed as it is while it lies near the line and is short. The rest is looked at:
 *
 *  - Longer than the time since it was handed over, and an end that the runtime puts into the future: not believed, and
 *    nothing else is done with it. One such end would move the line, and the end of all busy time, out of reach.
 *  - Eight ends in the future in a row: then it is what the runtime says that is wrong, and they are believed.
 *  - The GPU's clock went back or leapt, as over a reset or while the machine slept: the line is drawn anew, and what
 *    was kept of the clock before (ends of kernels, spans of busy time) is closed.
 *  - The runtime hasn't noticed that (it puts the end before the kernel's submission), or isn't believed: the line is
 *    drawn through now, when the end was found. That is right to the time between two looks, a millisecond.
 */
#ifndef RTL_INTERCEPT_TICKS_H
#define RTL_INTERCEPT_TICKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/likely.h"
#include "intercept/base/agents.h"

/* The rare part of what follows. */
bool rtl_ticks_judge(struct rtl_gpu *gpu, uint64_t start, uint64_t end, uint64_t submit);

/*
 * Something ran on the GPU from start to end, and is over; start <= end. It was handed over at `submit` (monotonic ns),
 * or later. False: that can't be. Otherwise the GPU's rate is known when this returns, and its line to host time, if
 * there is one, is of late.
 */
static inline bool rtl_ticks_believed(struct rtl_gpu *gpu, uint64_t start, uint64_t end, uint64_t submit)
{
    if (likely(end - gpu->near_from < gpu->near_ticks && end - start < gpu->long_ticks)) {
        gpu->refused = 0;
        return true;
    }
    return rtl_ticks_judge(gpu, start, end, submit);
}

#endif
