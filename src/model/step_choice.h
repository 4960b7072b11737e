/*
 * Chooses the marker of steps (tokens, iterations) if the user names none: a kernel or a roctx range that runs once per
 * step. Pure; one thread.
 *
 * A log keeps how often each kernel and range ran in spans of at least half a second, at most RTL_STEP_SPANS of them.
 * Two of them are in step if, in each group of spans, their runs have the ratio of their sums, except for steps that
 * the ends of the group cut. A candidate marks steps if all of this holds:
 *  - It ran at a steady rate, 48 times or more, in the last 6 groups of spans.
 *  - Kernels in step with it have at least half of all dispatches.
 *  - No kernel that runs less often is in step with it: the candidate would run several times per step, as kernels of a
 *    layer do. A kernel that ran too seldom to tell postpones the choice.
 * Candidates, in this order: ranges, the outer ones first; kernels whose name says that they sample a token or update
 * weights, the least frequent one first. If none marks steps three times in a row, there is no choice.
 *
 * A choice stays until another candidate marks steps or a kernel in step with it proves it wrong repeatedly, so it
 * survives pauses and does not flicker.
 */
#ifndef RTL_MODEL_STEP_CHOICE_H
#define RTL_MODEL_STEP_CHOICE_H

#include "shm/segment_reader.h"

enum { RTL_STEP_SPANS = 96 };

/* The key of a marker: a kernel, or a range with the bit RTL_STEP_RANGE; 0: none. */
#define RTL_STEP_RANGE (1ull << 63)
uint64_t rtl_step_range_key(const char *name, size_t length);
static inline uint64_t rtl_step_kernel_key(uint32_t id)
{
    return id + 1ull;
}

struct rtl_step_track;
/* Empty when zeroed. */
struct rtl_step_log {
    struct rtl_step_track *tracks; /* by key */
    uint32_t count, room, ranges;
    uint32_t snapshots; /* the first one ends no span */
    uint64_t span;      /* number of the last snapshot's span since the clock's zero */
    unsigned apart;     /* processes or GPUs, each of which is somewhere in its step */
    uint64_t choice, found;
    int wrong, times; /* in a row: the choice was proved wrong, `found` was found */
};
/* Free and clear the log. Snapshots of any time may follow. */
void rtl_step_log_forget(struct rtl_step_log *log);

/* Add a snapshot of `processes` merged processes. A snapshot less than a span after the last one is skipped. */
void rtl_step_log_add(struct rtl_step_log *log, const struct rtl_snapshot *snapshot, unsigned processes);
size_t rtl_step_log_memory(const struct rtl_step_log *log);

/* Return the variance of the runs of a kernel or range per run of the marker; in n runs the variance is n times as
 * large. For the marker itself: the variance of its rate. Below 0: not known. */
double rtl_step_log_scatter(const struct rtl_step_log *log, uint64_t key, uint64_t marker);

#endif
