/*
 * Quantiles and windows of histogram copies. Pure.
 *
 * A window is the difference of two snapshots of the same histogram. Its minimum and maximum are the edges of the first
 * and last bucket that grew, narrowed by the exact extremes since the start. All times in ns.
 */
#ifndef RTL_STATS_QUANTILE_H
#define RTL_STATS_QUANTILE_H

#include <stdbool.h>
#include <stdint.h>

#include "shm/segment_reader.h"

struct rtl_window {
    uint64_t count, total_ns;
    uint64_t min_ns, max_ns; /* bounds of all values; 0 when count is 0 */
    bool approximate;
};

/* Return later - earlier; earlier NULL: since the start. A count that shrank (another process) makes it empty. */
struct rtl_window rtl_window_between(const struct rtl_histogram_copy *earlier, const struct rtl_histogram_copy *later);

/* Write to out[i] the value at q[i] in later - earlier (earlier may be NULL); 0 <= q <= 1, ascending. Nearest rank:
 * the smallest value whose cumulative share reaches q. Within 1/128 of the exact answer from 64 ns on unless
 * approximate. False (out untouched) when the window is empty. */
bool rtl_quantiles(const struct rtl_histogram_copy *earlier, const struct rtl_histogram_copy *later, const double *q,
                   int count, uint64_t *out);

/* Write the median and the 99th percentile in later - earlier; false and zeros without values. */
bool rtl_p50_p99_between(const struct rtl_histogram_copy *earlier, const struct rtl_histogram_copy *later,
                         uint64_t *p50, uint64_t *p99);
/* Likewise since the start. */
bool rtl_p50_p99(const struct rtl_histogram_copy *h, uint64_t out[2]);

/* Distribute the counts of later - earlier over bins between ascending edges in ns (for drawing). bins[i] covers
 * [edges[i], edges[i+1]); values outside go into the first and last bin. A bucket that bins share is divided evenly
 * on a log scale, within the outermost edges, so that no choice of edges shows a false shape. The bins' sum is the
 * count. */
void rtl_bin(const struct rtl_histogram_copy *earlier, const struct rtl_histogram_copy *later, const double *edges,
             int edge_count, uint64_t *bins);

#endif
