/*
 * What a kernel's waits cost its waves, put together from the copies that timed some of them each. Pure; the numbers
 * come from a process that may be hostile, so sums saturate and shares stay within bounds.
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
    uint64_t cycles, passes;               /* all waves' */
    bool known;                            /* waves of its copy have ended: */
    double share;                          /* of the cycles that those waves lasted; 0 to 1 */
    double mean;                           /* cycles a pass; 0: there was none */
    const struct rtl_stall_before *before; /* NULL: not looked at; whoever has looked keeps it */
};

struct rtl_stall_costs {
    struct rtl_probe_stall *wait; /* allocated; `timed` of them are there */
    uint32_t waits, timed;        /* of the kernel, so far */
    uint32_t rounds, copies;      /* that it takes; that have recorded something, the first so many of them */
    uint64_t clock_cycles, clock_passes;
    uint64_t dispatches, recorded, duration_total_ns;
    uint64_t waves, waves_expected;
};

/* What is known of the waits while copies run one after another, those of the one that runs among them. */
struct rtl_stalls_told {
    struct rtl_stall_costs sum;   /* ranked */
    uint32_t copy;                /* the one that runs, from 1 on */
    uint64_t wanted, recorded;    /* its dispatches */
    char no_lines[RTL_STALL_WHY]; /* why no instructions before waits can be shown; "" where they can */
};

/* One copy's numbers: of one that has recorded nothing its dispatches alone count. False: there is no memory, or the
 * copy is of another kernel than those before. */
bool rtl_stall_costs_add(struct rtl_stall_costs *stalls, const struct rtl_probe_patch *patch,
                         const struct rtl_probe_state *state);
/* Hottest first; of equal ones in the order of the code. */
void rtl_stall_costs_rank(struct rtl_stall_costs *stalls);
void rtl_stall_costs_free(struct rtl_stall_costs *stalls);

/* Which copies are missing, as the head of a line that says why; "" where none is, or there is no copy at all. */
struct rtl_stall_costs_missing {
    char text[80];
};
struct rtl_stall_costs_missing rtl_stall_costs_missing(const struct rtl_stall_costs *stalls);

/* How far it is, in dispatches: the copies before, and the one that runs, which has recorded so many of those `wanted`
 * of it and knows how many `rounds` there are (0: not yet). Never more than all, and never less than before. */
struct rtl_stall_costs_progress {
    uint64_t done, total;
};
struct rtl_stall_costs_progress rtl_stall_costs_progress(const struct rtl_stall_costs *stalls, uint32_t rounds,
                                                         uint64_t recorded, uint64_t wanted);

/* What a wait takes that waits for nothing but the clock, in cycles; 0: not known. */
double rtl_probe_clock_cycles(const struct rtl_stall_costs *stalls);

/* "s_waitcnt vmcnt(3) lgkmcnt(0)": the counters that it waits for. */
struct rtl_probe_wait_text {
    char text[64];
};
struct rtl_probe_wait_text rtl_probe_wait_text(uint32_t word);

#endif
