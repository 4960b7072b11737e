/*
 * Costs of a kernel's waits, summed over the copies that time some of them each. Pure; the numbers come from a process
 * that may be hostile, so sums saturate and shares are bounded.
 */
#ifndef RTL_PROBING_STALL_COSTS_H
#define RTL_PROBING_STALL_COSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/patch.h"
#include "shm/probe_state.h"

enum { RTL_STALL_BEFORE = 3, RTL_STALL_LINE = 160, RTL_STALL_WHY = 60 };

/* The instructions before a wait, safe text. */
struct rtl_stall_before {
    int count;
    char text[RTL_STALL_BEFORE][RTL_STALL_LINE];
};

struct rtl_probe_stall {
    struct rtl_probe_wait place;
    uint64_t cycles, passes;               /* over all waves */
    bool known;                            /* waves of its copy have ended, so the numbers below are valid */
    double share;                          /* share of those waves' cycles; 0 to 1 */
    double mean;                           /* cycles a pass; 0: no pass */
    const struct rtl_stall_before *before; /* NULL: not read; owned by the reader of the lines */
};

struct rtl_stall_costs {
    struct rtl_probe_stall *wait; /* allocated; `timed` entries are valid */
    uint32_t waits, timed;        /* waits of the kernel; timed so far */
    uint32_t rounds, copies;      /* copies needed; copies that have recorded something, the first ones */
    uint64_t clock_cycles, clock_passes;
    uint64_t dispatches, recorded, duration_total_ns;
    uint64_t waves, waves_expected;
};

/* Costs of waits while copies run one after another, including the running copy. */
struct rtl_stalls_report {
    struct rtl_stall_costs sum;   /* ranked */
    uint32_t copy;                /* the running copy, from 1 */
    uint64_t wanted, recorded;    /* dispatches of the running copy */
    char no_lines[RTL_STALL_WHY]; /* why instructions before waits can't be shown; "" if they can */
};

/* Add a copy's numbers; of a copy that has recorded nothing only the dispatches. False without memory, or for a copy of
 * another kernel. */
bool rtl_stall_costs_add(struct rtl_stall_costs *stalls, const struct rtl_probe_patch *patch,
                         const struct rtl_probe_state *state);
/* Sort by share, highest first; equal ones in code order. */
void rtl_stall_costs_rank(struct rtl_stall_costs *stalls);
void rtl_stall_costs_free(struct rtl_stall_costs *stalls);

/* Return which copies are missing, as the begin of a line that says why; "" if none is missing, or there is no copy at
 * all. */
struct rtl_stall_costs_missing {
    char text[80];
};
struct rtl_stall_costs_missing rtl_stall_costs_missing(const struct rtl_stall_costs *stalls);

/* Return the progress in dispatches: of earlier copies and of the running one, which has `recorded` of `wanted`
 * dispatches and knows the number of `rounds` (0: not yet). Never more than all, never less than before. */
struct rtl_stall_costs_progress {
    uint64_t done, total;
};
struct rtl_stall_costs_progress rtl_stall_costs_progress(const struct rtl_stall_costs *stalls, uint32_t rounds,
                                                         uint64_t recorded, uint64_t wanted);

/* Return the cycles of a wait for nothing but the clock; 0: not known. */
double rtl_probe_clock_cycles(const struct rtl_stall_costs *stalls);

/* Return "s_waitcnt vmcnt(3) lgkmcnt(0)": the counters that the instruction waits for. */
struct rtl_probe_wait_text {
    char text[64];
};
struct rtl_probe_wait_text rtl_probe_wait_text(uint32_t word);

#endif
