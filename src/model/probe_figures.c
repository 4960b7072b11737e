/* Figures computed from a probe's counters. See probe_figures.h. */
#include "model/probe_figures.h"
#include "shm/segment_reader.h"

#include <stdio.h>
#include <string.h>

static uint64_t sum_values(const uint64_t *values, int count)
{
    uint64_t sum = 0;
    for (int i = 0; i < count; i++)
        sum = rtl_plus(sum, values[i]);
    return sum;
}

/* Bounds of a quantile by nearest rank: its power of two, narrowed by min and max. */
static struct rtl_probe_between bucket_quantile(const uint64_t buckets[RTL_PROBE_DURATIONS], uint64_t sum, double q,
                                                uint64_t min, uint64_t max)
{
    uint64_t seen = 0;
    double rank = q * (double)sum;
    int at = 0;
    for (; at < RTL_PROBE_DURATIONS - 1; at++) {
        seen = rtl_plus(seen, buckets[at]);
        if (seen && (double)seen >= rank)
            break;
    }
    struct rtl_probe_between b = {at ? 1ull << at : 0, at < 63 ? (2ull << at) - 1 : UINT64_MAX};
    if (min > b.low && min <= b.high)
        b.low = min;
    if (max < b.high && max >= b.low)
        b.high = max;
    return b;
}

static void rank_units(const struct rtl_probe_state *s, struct rtl_probe_figures *f)
{
    uint64_t sum = 0;
    for (uint32_t u = 0; u < rtl_probe_units(s); u++) {
        uint64_t cycles = rtl_probe_busy(s, u);
        if (!cycles)
            continue;
        f->units++;
        sum = rtl_plus(sum, cycles);
        uint32_t at = f->hottest_count < RTL_PROBE_HOTTEST ? f->hottest_count++ : RTL_PROBE_HOTTEST;
        if (at == RTL_PROBE_HOTTEST && cycles <= f->hottest[--at].cycles)
            continue;
        for (; at && f->hottest[at - 1].cycles < cycles; at--)
            f->hottest[at] = f->hottest[at - 1];
        f->hottest[at] = (struct rtl_probe_unit){u, cycles};
    }
    if (!f->units)
        return;
    f->busy_mean = sum / f->units;
    f->busy_max = f->hottest[0].cycles;
    f->imbalance = (double)f->busy_max * f->units / (double)sum;
}

static void compare_dies(const struct rtl_probe_state *s, struct rtl_probe_dies *d)
{
    uint64_t sum = 0;
    if (s->dies < 2)
        return;
    d->there = true;
    d->of = s->dies < RTL_PROBE_DIES ? (uint32_t)s->dies : RTL_PROBE_DIES;
    for (uint32_t i = 0; i < RTL_PROBE_DIES; i++) {
        uint64_t cycles = sum_values(i ? s->die[i - 1].busy : s->busy, RTL_PROBE_UNITS);
        d->cycles[i] = cycles;
        d->busy += cycles != 0;
        sum = rtl_plus(sum, cycles);
        if (cycles > d->max) {
            d->max = cycles;
            d->hottest = i;
        }
    }
    if (!d->busy)
        return;
    d->mean = sum / d->busy;
    d->imbalance = (double)d->max * d->busy / (double)sum;
}

static void set_gap_figures(const struct rtl_probe_state *s, struct rtl_probe_figures *f)
{
    double empty = (double)s->gap_sum, busy = (double)s->sum;
    f->gaps = sum_values(s->gaps, RTL_PROBE_DURATIONS);
    if (!f->gaps)
        return;
    f->gap_mean = s->gap_sum / f->gaps;
    f->gap_p50 = bucket_quantile(s->gaps, f->gaps, 0.5, 0, UINT64_MAX);
    f->gap_p99 = bucket_quantile(s->gaps, f->gaps, 0.99, 0, UINT64_MAX);
    f->gap_share = empty + busy > 0 ? empty / (empty + busy) : 0;
}

/* A tail counts its first step as a whole: the tail may be up to a step shorter. */
static struct rtl_probe_between widen_by_step(struct rtl_probe_between b, uint64_t step)
{
    b.low = b.low > step ? b.low - step : 0;
    return b;
}

static void set_tail_figures(const struct rtl_probe_state *s, struct rtl_probe_figures *f)
{
    enum { SURE = RTL_PROBE_ENDS - 1 }; /* steps: a dispatch may begin anywhere in its first step */
    uint64_t tails = sum_values(s->tail_ns, RTL_PROBE_DURATIONS), mean = s->tails ? s->tail_total_ns / s->tails : 0;
    struct rtl_probe_between p50 = {0};
    if (tails)
        p50 = bucket_quantile(s->tail_ns, tails, 0.5, 0, s->tail_max_ns);
    f->tail_p50 = widen_by_step(p50, s->tail_step_ns);
    f->tail_mean = widen_by_step((struct rtl_probe_between){mean, mean}, s->tail_step_ns);
    f->tail_max = widen_by_step((struct rtl_probe_between){s->tail_max_ns, s->tail_max_ns}, s->tail_step_ns);
    f->tail_longest_ns = s->tail_step_ns < UINT64_MAX / SURE ? SURE * s->tail_step_ns : UINT64_MAX;
}

void rtl_probe_figures(const struct rtl_probe_state *s, struct rtl_probe_figures *f)
{
    *f = (struct rtl_probe_figures){.any = s->recorded != 0, .first = 0, .last = -1};
    f->duration_mean_ns = s->recorded ? s->duration_total_ns / s->recorded : 0;
    f->wave_mean = s->waves ? s->sum / s->waves : 0;
    for (int i = 0; i < RTL_PROBE_DURATIONS; i++) {
        if (!s->durations[i])
            continue;
        f->first = f->last < 0 ? i : f->first;
        f->last = i;
        f->most = s->durations[i] > f->most ? s->durations[i] : f->most;
    }
    uint64_t waves = sum_values(s->durations, RTL_PROBE_DURATIONS);
    if (waves) {
        f->p50 = bucket_quantile(s->durations, waves, 0.5, s->min, s->max);
        f->p99 = bucket_quantile(s->durations, waves, 0.99, s->min, s->max);
    }
    set_tail_figures(s, f);
    set_gap_figures(s, f);
    rank_units(s, f);
    compare_dies(s, &f->dies);
}

struct rtl_probe_unit_name rtl_probe_unit_name(uint32_t unit, bool dies)
{
    struct rtl_probe_unit_name name;
    int at =
        dies ? snprintf(name.text, sizeof name.text, "xcc%u ", (unsigned)(unit / RTL_PROBE_UNITS % RTL_PROBE_DIES)) : 0;
    snprintf(name.text + at, sizeof name.text - (size_t)at, "se%u sh%u cu%u", (unsigned)(unit >> 5 & 7),
             (unsigned)(unit >> 4 & 1), (unsigned)(unit & 15));
    return name;
}

static struct rtl_probe_between_text range_text(const char *low, const char *high)
{
    struct rtl_probe_between_text t;
    snprintf(t.text, sizeof t.text, "%.24s%s%.24s", low, strcmp(low, high) ? "-" : "", strcmp(low, high) ? high : "");
    return t;
}

struct rtl_probe_between_text rtl_probe_cycles_text(struct rtl_probe_between b)
{
    return range_text(rtl_format_count(b.low).text, rtl_format_count(b.high).text);
}

struct rtl_probe_between_text rtl_probe_times_text(struct rtl_probe_between b, enum rtl_unit units)
{
    struct rtl_probe_between_text t;
    if (b.low || !b.high)
        return range_text(rtl_format_time(b.low, units).text, rtl_format_time(b.high, units).text);
    snprintf(t.text, sizeof t.text, "up to %s", rtl_format_time(b.high, units).text);
    return t;
}

uint64_t rtl_probe_others_ns(const struct rtl_histogram_copy *before, const struct rtl_histogram_copy *after)
{
    struct rtl_window w = rtl_window_between(before, after);
    return w.count ? w.total_ns / w.count : 0;
}

double rtl_probe_slower(const struct rtl_probe_figures *f, uint64_t others_mean_ns)
{
    return f->any && others_mean_ns ? (double)f->duration_mean_ns / (double)others_mean_ns : 0;
}
