/*
 * Compares a quantile of the window with that of the previous window: columns P50CHG and P99CHG. Pure.
 *
 * The rule, in this order:
 *  - UNKNOWN: both windows need 30 durations, 3 of them beyond the quantile (p99: 300, p50: 30), and none that is known
 *    by octave only.
 *  - SAME, within a bucket: values up to 1/64 apart may be equal, because a bucket is that wide.
 *  - SAME, within the scatter: a quantile of n durations is known to about twice the standard deviation of its rank,
 *    q +- 2 sqrt(q (1 - q) / n). If these two ranges overlap, the difference may be chance.
 *  - LONGER or SHORTER by the ratio of the two values.
 */
#ifndef RTL_MODEL_CHANGE_H
#define RTL_MODEL_CHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "shm/segment_reader.h"

enum rtl_change_kind { RTL_CHANGE_UNKNOWN, RTL_CHANGE_SAME, RTL_CHANGE_SHORTER, RTL_CHANGE_LONGER };

struct rtl_change {
    enum rtl_change_kind kind;
    double ratio; /* now / before; 0 while unknown */
};

/* The window is later - base, the previous window base - before. `before` NULL: since the start; `base` NULL: there is
 * no previous window. */
struct rtl_changes {
    struct rtl_change p50, p99;
};
struct rtl_changes rtl_changes_between(const struct rtl_histogram_copy *before, const struct rtl_histogram_copy *base,
                                       const struct rtl_histogram_copy *later);

/* True if longer by a tenth or more: the screen marks it. */
bool rtl_change_is_worse(struct rtl_change change);

/* "-", "=", "+8%", "-12%", "3.1x", "120x": six columns at most. */
void rtl_change_text(struct rtl_change change, char *out, size_t size);

#endif
