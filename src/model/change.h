/*
 * How a quantile of the window compares with the same of the window before. Pure.
 *
 * The rule, in this order:
 *  - Too few: at least 3 durations beyond the quantile and 30 in all are needed in both windows (p99: 300, p50: 30),
 * none of them known by octave only. Otherwise nothing is claimed.
 *  - Within the buckets: values that are no more than 1/64 apart may be equal, as a bucket is that wide. The same.
 *  - Within the scatter: where a quantile of that many durations lies is known to about twice the standard deviation of
 *    its rank, q +- 2 sqrt(q (1 - q) / n). Where these two ranges overlap, the difference may be luck. The same.
 *  - Otherwise it got longer or shorter by the ratio of the two.
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

/*
 * The window is later - base, the one before it base - before; `before` NULL: since the start, `base` NULL: there is no
 * window before.
 */
struct rtl_changes {
    struct rtl_change p50, p99;
};
struct rtl_changes rtl_changes_between(const struct rtl_histogram_copy *before, const struct rtl_histogram_copy *base,
                                       const struct rtl_histogram_copy *later);

/* Longer by that much is worth a mark: a tenth. */
bool rtl_change_is_worse(struct rtl_change change);

/* "-", "=", "+8%", "-12%", "3.1x", "120x": six columns at most. */
void rtl_change_text(struct rtl_change change, char *out, size_t size);

#endif
