/* Compares two windows. See change.h. */
#include "model/change.h"
#include "stats/quantile.h"
#include "text/units.h"

#include <math.h>
#include <stdio.h>

enum { LEAST = 30, LEAST_BEYOND = 3 };
static const double wanted[] = {0.5, 0.99};
enum { WANTED = sizeof wanted / sizeof *wanted };

/* A quantile and the range that it lies in. */
struct estimate {
    uint64_t low, middle, high;
};

static bool enough_durations(double q, uint64_t count)
{
    return count >= LEAST && (double)count * (1 - q) >= LEAST_BEYOND - 1e-6;
}

/* Estimate both quantiles in one pass. The ranks ascend: from LEAST durations on the ranges do not overlap. */
static uint64_t estimates(const struct rtl_histogram_copy *earlier, const struct rtl_histogram_copy *later,
                          struct estimate out[WANTED])
{
    struct rtl_window window = rtl_window_between(earlier, later);
    double q[3 * WANTED];
    uint64_t value[3 * WANTED];
    if (window.approximate || window.count < LEAST)
        return 0;
    for (int i = 0; i < WANTED; i++) {
        double scatter = 2 * sqrt(wanted[i] * (1 - wanted[i]) / (double)window.count);
        q[3 * i] = wanted[i] - scatter;
        q[3 * i + 1] = wanted[i];
        q[3 * i + 2] = fmin(wanted[i] + scatter, 1);
    }
    if (!rtl_quantiles(earlier, later, q, 3 * WANTED, value))
        return 0;
    for (int i = 0; i < WANTED; i++)
        out[i] = (struct estimate){value[3 * i], value[3 * i + 1], value[3 * i + 2]};
    return window.count;
}

static struct rtl_change compare_estimates(const struct estimate *before, const struct estimate *now)
{
    const double bucket = 1.0 / 64;
    struct rtl_change change = {RTL_CHANGE_SAME, 1};
    if (!before->middle || !now->middle) {
        if (before->middle != now->middle)
            change.kind = RTL_CHANGE_UNKNOWN;
        return change;
    }
    change.ratio = (double)now->middle / (double)before->middle;
    if (now->low > before->high && change.ratio > 1 + bucket)
        change.kind = RTL_CHANGE_LONGER;
    else if (now->high < before->low && change.ratio < 1 / (1 + bucket))
        change.kind = RTL_CHANGE_SHORTER;
    return change;
}

struct rtl_changes rtl_changes_between(const struct rtl_histogram_copy *before, const struct rtl_histogram_copy *base,
                                       const struct rtl_histogram_copy *later)
{
    struct rtl_changes changes = {{RTL_CHANGE_UNKNOWN, 0}, {RTL_CHANGE_UNKNOWN, 0}};
    struct rtl_change *out[WANTED] = {&changes.p50, &changes.p99};
    struct estimate was[WANTED], is[WANTED];
    if (!base || base->count - (before ? before->count : 0) < LEAST || later->count - base->count < LEAST)
        return changes; /* fast path: most kernels have few durations */
    uint64_t count_was = estimates(before, base, was), count_is = count_was ? estimates(base, later, is) : 0;
    for (int i = 0; i < WANTED && count_is; i++)
        if (enough_durations(wanted[i], count_was) && enough_durations(wanted[i], count_is))
            *out[i] = compare_estimates(&was[i], &is[i]);
    return changes;
}

bool rtl_change_is_worse(struct rtl_change change)
{
    return change.kind == RTL_CHANGE_LONGER && change.ratio >= 1.1;
}

void rtl_change_text(struct rtl_change change, char *out, size_t size)
{
    double by = (change.ratio - 1) * 100;
    if (change.kind == RTL_CHANGE_UNKNOWN)
        snprintf(out, size, "%s", RTL_NONE);
    else if (change.kind == RTL_CHANGE_SAME)
        snprintf(out, size, "=");
    else if (change.ratio >= 99.5)
        snprintf(out, size, "%sx", rtl_format_count((uint64_t)(change.ratio + 0.5)).text);
    else if (change.ratio >= 1.995)
        snprintf(out, size, "%.*fx", change.ratio < 9.95 ? 1 : 0, change.ratio);
    else
        snprintf(out, size, "%+.0f%%", by);
}
