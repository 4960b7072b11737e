/* Adds several histograms bucket by bucket: one kernel in several processes. Pure. */
#ifndef RTL_STATS_HISTOGRAM_SUM_H
#define RTL_STATS_HISTOGRAM_SUM_H

#include "shm/segment_reader.h"

/* Add the sums and extremes of a histogram, not its buckets. */
void rtl_histogram_add_scalars(struct rtl_histogram_copy *sum, const struct rtl_histogram_copy *histogram);

/* Sum histograms. The sum's octaves lie in `storage`, which has room for them and is aligned to 8; NULL: no histogram
 * has octaves. */
struct rtl_histogram_copy rtl_histogram_sum(const struct rtl_histogram_copy *const *from, uint32_t count,
                                            void *storage);

/* Likewise; the snapshot owns the storage. False without memory: *sum is unchanged. */
bool rtl_histogram_sum_for(struct rtl_snapshot *snapshot, const struct rtl_histogram_copy *const *from, uint32_t count,
                           struct rtl_histogram_copy *sum);

#endif
