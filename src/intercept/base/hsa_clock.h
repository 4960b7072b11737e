/*
 * Time: agent ticks to durations, and agent ticks and the CPU's time stamp counter to the host's monotonic clock.
 *
 * All of it is arithmetic on numbers that the caller brings; only rtl_clock_now and rtl_clock_pair look at a clock.
 */
#ifndef RTL_INTERCEPT_HSA_CLOCK_H
#define RTL_INTERCEPT_HSA_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/line.h"

/* --- durations --- */

/* ns = ticks * factor >> 40, rounded; right to 1 ns in an hour at any tick rate from 1 MHz on */
struct rtl_tick_rate {
    uint64_t hz;
    uint64_t factor;
};

static inline struct rtl_tick_rate rtl_tick_rate(uint64_t hz)
{
    return (struct rtl_tick_rate){hz, (uint64_t)(((((unsigned __int128)1000000000u) << 40) + hz / 2) / hz)};
}

static inline uint64_t rtl_ticks_to_ns(const struct rtl_tick_rate *rate, uint64_t ticks)
{
    return (uint64_t)(((unsigned __int128)ticks * rate->factor + (1ull << 39)) >> 40);
}

/*
 * The tick rate that a runtime without an answer of its own implies: how many ns of system time it makes of a number
 * of ticks. Counters of real GPUs run at a handful of rates, so a measured one within 0.5 % of such a rate is taken
 * for it. 0 when the measurement makes no sense.
 */
uint64_t rtl_tick_rate_guess(uint64_t ticks, uint64_t ns);

/* --- lines: a clock that runs steadily against another --- */

/*
 * The line from an agent's ticks to the monotonic clock, drawn anew from one point at a time, and how well it fits. The
 * slope is the caller's until points lie far enough apart to say it better.
 */
struct rtl_calibration {
    struct rtl_line line;         /* slope 0 = none yet */
    struct rtl_line anchor, next; /* older points; their slopes mean nothing */
    uint64_t residual_ns;         /* how far the newest point was off the line drawn before it */
    uint64_t residual_most_ns;
    uint64_t residuals; /* how many were measured: points long after the one before don't count */
    double drift_ppm;   /* of the ticks against their nominal rate; means nothing while over_ns is 0 */
    uint64_t drift_over_ns;
};

/* Takes in that at x ticks it is y ns, and that a tick takes about `slope` ns. `hz` is the nominal rate. */
void rtl_calibration_add(struct rtl_calibration *calibration, uint64_t hz, uint64_t x, uint64_t y, double slope);

/* --- the host's clocks --- */

/* The clock that all of the library's times are on. */
static inline uint64_t rtl_clock_now(void)
{
    return rtl_mono_ns();
}

/* True when the time stamp counter runs at one rate in every state of the CPU and the kernel keeps time by it. */
bool rtl_tsc_usable(void);

/* How long behind its newest look a line may be used: who draws it looks several times as often. */
enum { RTL_TSC_LINE_USED_NS = 20000000 };

/*
 * The line from the time stamp counter to the monotonic clock, kept by one thread (the worker). Points between two
 * looks at both clocks are interpolated, so it is right from the second look on, with no calibration phase.
 */
struct rtl_tsc_line {
    struct rtl_line line;
    uint64_t anchor_tsc, anchor_ns; /* the older look, which the slope is taken from */
    uint64_t next_tsc, next_ns;     /* the one that becomes the anchor */
    bool broken;                    /* the counter jumped: it isn't to be used on this machine */
    bool fits; /* the line before said what the newest look has shown, so this one may be used ahead of its point */
};

/* One look at both clocks, the best of a few. */
void rtl_clock_pair(uint64_t *tsc, uint64_t *ns);

void rtl_tsc_line_start(struct rtl_tsc_line *line, uint64_t tsc, uint64_t ns);

/* Takes in another look, later than the ones before. */
void rtl_tsc_line_update(struct rtl_tsc_line *line, uint64_t tsc, uint64_t ns);

#endif
