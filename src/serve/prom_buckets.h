/*
 * A histogram in the classic buckets of Prometheus: four in each factor of two from 512 ns to 17 s, one below and one
 * above. Their edges are edges of the segment's buckets, so every value is in the right bucket. The values are also
 * counted in the buckets of native histograms (prom_native.h). Pure.
 */
#ifndef RTL_SERVE_PROM_BUCKETS_H
#define RTL_SERVE_PROM_BUCKETS_H

#include <stdint.h>

#include "serve/prom_native.h"
#include "shm/segment_reader.h"

enum {
    RTL_PROM_BUCKET_LOW = 9,   /* log2 of the first edge in ns */
    RTL_PROM_BUCKET_HIGH = 34, /* of the last one */
    RTL_PROM_BUCKET_PARTS = 4, /* of each factor of two */
    RTL_PROM_BUCKET_LAST =
        1 + RTL_PROM_BUCKET_PARTS * (RTL_PROM_BUCKET_HIGH - RTL_PROM_BUCKET_LOW), /* beyond the last edge */
    RTL_PROM_BUCKET_COUNT = RTL_PROM_BUCKET_LAST + 1,
};

/* Only grows. */
struct rtl_prom_buckets {
    uint64_t count[RTL_PROM_BUCKET_COUNT];
    uint64_t native[RTL_PROM_NATIVE_COUNT], zero;
    uint64_t values, sum_ns; /* values: sum of `count`, and of `native` and `zero` */
};

/* Add to a counter, which saturates instead of wrapping. */
static inline void rtl_count_up(uint64_t *counter, uint64_t more)
{
    *counter = *counter + more < more ? UINT64_MAX : *counter + more;
}

/* Return the classic bucket for the segment's bucket that begins at `low_ns`. */
uint32_t rtl_prom_bucket_of(uint64_t low_ns);
/* Return the largest value of a bucket below RTL_PROM_BUCKET_LAST, in ns. */
uint64_t rtl_prom_bucket_upper_ns(uint32_t number);

/* Add the growth of a histogram from `earlier` (NULL: from nothing) to `later`; buckets that shrank add nothing. */
void rtl_prom_buckets_grow(struct rtl_prom_buckets *to, const struct rtl_histogram_copy *earlier,
                           const struct rtl_histogram_copy *later);
void rtl_prom_buckets_add(struct rtl_prom_buckets *to, const struct rtl_prom_buckets *more);

#endif
