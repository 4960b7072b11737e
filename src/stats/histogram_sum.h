/* The sum of several histograms, bucket by bucket: of one kernel in several processes. Pure. */
#ifndef RTL_STATS_HISTOGRAM_SUM_H
#define RTL_STATS_HISTOGRAM_SUM_H

#include <stddef.h>

#include "shm/segment_reader.h"

/* Bytes that the sum's octaves and coarse counts take. */
size_t rtl_histogram_sum_bytes(const struct rtl_histogram_copy *const *from, uint32_t count);

/* The sum; its octaves lie in `storage`, of that many bytes, aligned to 8. */
struct rtl_histogram_copy rtl_histogram_sum(const struct rtl_histogram_copy *const *from, uint32_t count,
                                            void *storage);

#endif
