/*
 * What a probe's numbers say: how long waves lasted, how evenly compute units were busy, how long wave slots were empty
 * between waves, how long the tail was. Pure; the numbers come from a process that may be hostile, so sums saturate and
 * shares stay within bounds.
 */
#ifndef RTL_MODEL_PROBE_FIGURES_H
#define RTL_MODEL_PROBE_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm/probe_state.h"
#include "stats/quantile.h"
#include "text/units.h"

enum { RTL_PROBE_HOTTEST = 5 };

/* Between two bounds, both included: of powers of two nobody knows more. */
struct rtl_probe_between {
    uint64_t low, high;
};

struct rtl_probe_unit {
    uint32_t unit; /* probe.h; of all dies */
    uint64_t cycles;
};

/* How even dies were: cycles, of those that had waves. */
struct rtl_probe_dies {
    bool there;  /* several are; of one nothing is told here */
    uint32_t of; /* that there can be: a GPU of the kind may have fewer */
    uint32_t busy, hottest;
    uint64_t mean, max;
    double imbalance; /* max / mean; 0: none had waves */
    uint64_t cycles[RTL_PROBE_DIES];
};

struct rtl_probe_figures {
    bool any;                          /* some dispatch was recorded */
    uint64_t duration_mean_ns;         /* of the probed dispatches */
    uint64_t wave_mean;                /* cycles */
    struct rtl_probe_between p50, p99; /* of waves, cycles */
    uint64_t most;                     /* waves in the fullest of the powers of two */
    int first, last;                   /* of them with any; last < first: none */
    uint32_t units;                    /* compute units that had waves */
    uint64_t busy_mean, busy_max;      /* cycles, of those units */
    double imbalance;                  /* busy_max / their mean; 0: there are none */
    struct rtl_probe_dies dies;
    struct rtl_probe_unit hottest[RTL_PROBE_HOTTEST];
    uint32_t hottest_count;
    uint64_t gaps, gap_mean;                   /* between waves of a slot; cycles; with any: */
    struct rtl_probe_between gap_p50, gap_p99; /* cycles */
    double gap_share;                          /* of the time that slots had waves or gaps; 0 to 1 */
    /* ns, with `tails` of the state: no more than the library says, and less than a step below that */
    struct rtl_probe_between tail_p50, tail_mean, tail_max;
    uint64_t tail_longest_ns; /* of a dispatch that lasts longer it isn't known; 0: nor is this */
};

void rtl_probe_figures(const struct rtl_probe_state *state, struct rtl_probe_figures *figures);

/* "se1 sh0 cu13": shader engine, shader array, compute unit; with `dies` "xcc3 se1 sh0 cu13". */
struct rtl_probe_unit_name {
    char text[24];
};
struct rtl_probe_unit_name rtl_probe_unit_name(uint32_t unit, bool dies);

/* "4.10k-8.19k", or one number where both look the same; of times that may be nothing "up to 70ns". */
struct rtl_probe_between_text {
    char text[56];
};
struct rtl_probe_between_text rtl_probe_cycles_text(struct rtl_probe_between between);
struct rtl_probe_between_text rtl_probe_times_text(struct rtl_probe_between between, enum rtl_unit units);

/* The mean of the others meanwhile, which are all that the kernel's histogram has; 0: none was timed. `before` may be
 * NULL: since the start. */
uint64_t rtl_probe_others_ns(const struct rtl_histogram_copy *before, const struct rtl_histogram_copy *after);
/* What one more probed dispatch costs: the mean of the probed ones over the others' mean; 0: not known. Two means:
 * where durations differ much a median says nothing against one. */
double rtl_probe_slower(const struct rtl_probe_figures *figures, uint64_t others_mean_ns);

#endif
