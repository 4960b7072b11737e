/*
 * Time: from agent ticks to durations, and from agent ticks and the CPU's time stamp counter to the monotonic clock.
 *
 * Arithmetic on the caller's numbers; only rtl_clock_now and rtl_clock_pair read a clock.
 */
#ifndef RTL_INTERCEPT_HSA_CLOCK_H
#define RTL_INTERCEPT_HSA_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/line.h"

/* ns = ticks * factor >> 40, rounded; exact to 1 ns in an hour at tick rates of 1 MHz and more */
struct rtl_tick_rate {
    uint64_t hz;
    uint64_t factor;
    double ticks_per_ns;
};

static inline struct rtl_tick_rate rtl_tick_rate(uint64_t hz)
{
    uint64_t factor = (uint64_t)(((((unsigned __int128)1000000000u) << 40) + hz / 2) / hz);
    return (struct rtl_tick_rate){hz, factor, (double)hz / 1e9};
}

static inline uint64_t rtl_ticks_to_ns(const struct rtl_tick_rate *rate, uint64_t ticks)
{
    return (uint64_t)(((unsigned __int128)ticks * rate->factor + (1ull << 39)) >> 40);
}

/* Estimate the tick rate of a runtime that doesn't return it: `ns` of system time for a number of ticks. Real GPUs
 * run at a few known rates, so a result within 0.5 % of one of them becomes that rate. 0 if the result is absurd. */
uint64_t rtl_tick_rate_guess(uint64_t ticks, uint64_t ns);

/* The line from an agent's ticks to the monotonic clock, updated one point at a time, and its error. The caller
 * gives the slope until the points lie far enough apart to measure it. */
struct rtl_calibration {
    struct rtl_line line;         /* slope 0 = none yet */
    struct rtl_line anchor, next; /* older points; their slopes are unused */
    uint64_t residual_ns;         /* distance of the newest point from the line before it */
    uint64_t residual_most_ns;
    uint64_t residuals; /* number of residuals; a point long after the last one has none */
    double drift_ppm;   /* of the ticks against their nominal rate; undefined while drift_over_ns is 0 */
    uint64_t drift_over_ns;
};

/* Add the point (x ticks, y ns); a tick takes about `slope` ns. `hz` is the nominal rate. */
void rtl_calibration_add(struct rtl_calibration *calibration, uint64_t hz, uint64_t x, uint64_t y, double slope);

/* The clock of all the library's times. */
static inline uint64_t rtl_clock_now(void)
{
    return rtl_mono_ns();
}

/* True if the time stamp counter has a constant rate in every state of the CPU and the kernel keeps time by it. */
bool rtl_tsc_usable(void);

/* A line may be used this long after its newest point; the worker updates it several times as often. */
enum { RTL_TSC_LINE_USED_NS = 20000000 };

/* The line from the time stamp counter to the monotonic clock, kept by the worker. It interpolates between two
 * readings of both clocks, so it is right from the second reading on, without a calibration phase. */
struct rtl_tsc_line {
    struct rtl_line line;
    uint64_t anchor_tsc, anchor_ns; /* the older reading: start of the slope */
    uint64_t next_tsc, next_ns;     /* the next anchor */
    bool broken;                    /* the counter jumped and must not be used on this machine */
    bool fits;                      /* the last line predicted the newest point, so this one may be extrapolated */
};

/* Read both clocks together, the best of three tries. */
void rtl_clock_pair(uint64_t *tsc, uint64_t *ns);

void rtl_tsc_line_start(struct rtl_tsc_line *line, uint64_t tsc, uint64_t ns);

/* Add a reading, later than the ones before. */
void rtl_tsc_line_update(struct rtl_tsc_line *line, uint64_t tsc, uint64_t ns);

#endif
