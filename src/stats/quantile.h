/*
 * Quantiles and windows over histogram copies: pure functions of their arguments.
 *
 * A window is the difference of two snapshots of the same histogram. Its minimum and maximum are the edges of the
 * first and last bucket that grew, narrowed by the exact extremes since the start. All times in ns.
 */
#ifndef RTL_STATS_QUANTILE_H
#define RTL_STATS_QUANTILE_H

#include <stdbool.h>
#include <stdint.h>

#include "shm/segment_reader.h"

struct rtl_window {
    uint64_t count, total_ns;
    uint64_t min_ns, max_ns; /* all values are within; 0 when count is 0 */
    bool approximate;
};

/* later - earlier; earlier NULL means since the start. A count that shrank (another process) makes it empty. */
struct rtl_window rtl_window_between(const struct rtl_histogram_copy *earlier, const struct rtl_histogram_copy *later);

/*
 * Quantiles of later - earlier (earlier may be NULL): out[i] is the value at q[i], 0 <= q <= 1, q ascending; the
 * nearest-rank definition: the smallest value whose cumulative share reaches q. Within 1/128 of the exact answer from
 * 64 ns on unless approximate. False (out untouched) when the window is empty: then there is nothing to show.
 */
bool rtl_quantiles(const struct rtl_histogram_copy *earlier, const struct rtl_histogram_copy *later, const double *q,
                   int count, uint64_t *out);

/* What several histograms grew by, as one: to be zeroed first. */
struct rtl_histogram_sum {
    uint64_t count;
    uint64_t bucket[RTL_OCTAVES_MAX * RTL_CHUNK_BUCKETS];
};
void rtl_sum_add(struct rtl_histogram_sum *sum, const struct rtl_histogram_copy *earlier,
                 const struct rtl_histogram_copy *later);
/* As rtl_quantiles, but that no exact extremes narrow it. False when the sum is empty. */
bool rtl_sum_quantile(const struct rtl_histogram_sum *sum, double q, uint64_t *out);
/* How many values are in buckets that begin at `ns` or later. */
uint64_t rtl_sum_from(const struct rtl_histogram_sum *sum, uint64_t ns);

/*
 * Counts of later - earlier added up into bins between ascending edges in ns (for drawing): bins[i] covers
 * [edges[i], edges[i+1]), edge_count - 1 bins; what lies outside goes into the first and last. A bucket that bins share
 * is divided evenly in the logarithm, within the outermost edges, so that edges anywhere show no shape that isn't
 * there; the sum of all bins is the count.
 */
void rtl_bin(const struct rtl_histogram_copy *earlier, const struct rtl_histogram_copy *later, const double *edges,
             int edge_count, uint64_t *bins);

#endif
