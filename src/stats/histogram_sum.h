/* Adds several histograms bucket by bucket: one kernel in several processes. Pure. */
#ifndef RTL_STATS_HISTOGRAM_SUM_H
#define RTL_STATS_HISTOGRAM_SUM_H

#include <stddef.h>

#include "shm/segment_reader.h"

/* Return the bytes that the sum's octaves and coarse counts need. */
size_t rtl_histogram_sum_bytes(const struct rtl_histogram_copy *const *from, uint32_t count);

/* Add; the sum's octaves lie in `storage`, which has that many bytes and is aligned to 8. */
struct rtl_histogram_copy rtl_histogram_sum(const struct rtl_histogram_copy *const *from, uint32_t count,
                                            void *storage);

#endif
