/*
 * Figures computed from a probe's counters: durations of waves, balance of compute units and dies, gaps between waves
 * of a slot, and tails. Pure. The counters are untrusted, so sums saturate and shares stay within bounds.
 */
#ifndef RTL_MODEL_PROBE_FIGURES_H
#define RTL_MODEL_PROBE_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#include "shm/probe_state.h"
#include "stats/quantile.h"
#include "text/units.h"

enum { RTL_PROBE_HOTTEST = 5 };

/* Inclusive bounds of a value: counters have only its power of two. */
struct rtl_probe_between {
    uint64_t low, high;
};

struct rtl_probe_unit {
    uint32_t unit; /* as in rtl_probe_busy; all dies */
    uint64_t cycles;
};

/* Balance of dies, in cycles; mean and imbalance count only dies that had waves. */
struct rtl_probe_dies {
    bool there;  /* the GPU has several dies */
    uint32_t of; /* upper bound of dies: a GPU of this kind may have fewer */
    uint32_t busy, hottest;
    uint64_t mean, max;
    double imbalance; /* max / mean; 0: no waves */
    uint64_t cycles[RTL_PROBE_DIES];
};

struct rtl_probe_figures {
    bool any;                          /* at least one dispatch was recorded */
    uint64_t duration_mean_ns;         /* of the probed dispatches */
    uint64_t wave_mean;                /* cycles */
    struct rtl_probe_between p50, p99; /* of waves, cycles */
    uint64_t most;                     /* waves in the fullest power of two */
    int first, last;                   /* powers of two with waves; last < first: none */
    uint32_t units;                    /* compute units that had waves */
    uint64_t busy_mean, busy_max;      /* cycles, of those units */
    double imbalance;                  /* busy_max / busy_mean; 0: no units */
    struct rtl_probe_dies dies;
    struct rtl_probe_unit hottest[RTL_PROBE_HOTTEST];
    uint32_t hottest_count;
    uint64_t gaps, gap_mean;                   /* gaps between waves of a slot; their mean in cycles */
    struct rtl_probe_between gap_p50, gap_p99; /* cycles; if there are gaps */
    double gap_share;                          /* gaps / (waves + gaps), 0..1; if there are gaps */
    /* ns, if the state has `tails`: the library's value is the upper bound, the lower one is a step below */
    struct rtl_probe_between tail_p50, tail_mean, tail_max;
    uint64_t tail_longest_ns; /* tails of longer dispatches are unknown; 0: unknown */
};

void rtl_probe_figures(const struct rtl_probe_state *state, struct rtl_probe_figures *figures);

/* "se1 sh0 cu13": shader engine, shader array, compute unit; "xcc3 se1 sh0 cu13" with `dies`. */
struct rtl_probe_unit_name {
    char text[24];
};
struct rtl_probe_unit_name rtl_probe_unit_name(uint32_t unit, bool dies);

/* "4.10k-8.19k", or one number if both look alike; "up to 70ns" for a time that may be 0. */
struct rtl_probe_between_text {
    char text[56];
};
struct rtl_probe_between_text rtl_probe_cycles_text(struct rtl_probe_between between);
struct rtl_probe_between_text rtl_probe_times_text(struct rtl_probe_between between, enum rtl_unit units);

/* The mean duration of unprobed dispatches, which alone are in the kernel's histogram; 0: none was timed. `before` may
 * be NULL: since the start. */
uint64_t rtl_probe_others_ns(const struct rtl_histogram_copy *before, const struct rtl_histogram_copy *after);
/* The mean duration of probed dispatches over that of the others; 0: unknown. A median against a mean says nothing. */
double rtl_probe_slower(const struct rtl_probe_figures *figures, uint64_t others_mean_ns);

#endif
