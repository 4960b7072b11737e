/*
 * A histogram in the classic buckets of Prometheus: four in each factor of two from 512 ns to 17 s, one below and one
 * above. Their edges are edges of the segment's buckets, so every value is in the right bucket. The values are also
 * counted in the buckets of native histograms. Pure.
 */
#ifndef RTL_SERVE_PROM_BUCKETS_H
#define RTL_SERVE_PROM_BUCKETS_H

#include <stdint.h>

#include "shm/segment_reader.h"

enum {
    RTL_PROM_BUCKET_LOW = 9,   /* log2 of the first edge in ns */
    RTL_PROM_BUCKET_HIGH = 34, /* of the last one */
    RTL_PROM_BUCKET_PARTS = 4, /* of each factor of two */
    RTL_PROM_BUCKET_LAST =
        1 + RTL_PROM_BUCKET_PARTS * (RTL_PROM_BUCKET_HIGH - RTL_PROM_BUCKET_LOW), /* beyond the last edge */
    RTL_PROM_BUCKET_COUNT = RTL_PROM_BUCKET_LAST + 1,
};

/*
 * Buckets of Prometheus's native histograms, schema 3: eight in each factor of two, with an edge at 1 s. Bucket i holds
 * values above 2^((i-1)/8) s and up to 2^(i/8) s.
 *
 * An edge may lie inside one of the segment's buckets; that bucket is counted where its middle lies, so a value is
 * displaced by at most half the width of the segment's bucket, 0.8 %. A native bucket is 9.05 % wide: a quantile lies
 * within 11 % of the true value.
 */
enum {
    RTL_PROM_NATIVE_SCHEMA = 3,
    RTL_PROM_NATIVE_FIRST = -239, /* holds 1 ns; shorter values are in the zero bucket */
    RTL_PROM_NATIVE_LAST = 81,    /* holds 2^40 ns */
    RTL_PROM_NATIVE_COUNT = RTL_PROM_NATIVE_LAST - RTL_PROM_NATIVE_FIRST + 1,
    RTL_PROM_NATIVE_GAP = 2, /* up to so many empty buckets are sent instead of a new span */
    RTL_PROM_NATIVE_SPANS = RTL_PROM_NATIVE_COUNT / (RTL_PROM_NATIVE_GAP + 2) + 1,
};
/* Width of the zero bucket in seconds, 2^-30: the lower edge of the first bucket. */
#define RTL_PROM_NATIVE_ZERO 0x1p-30

/* Return the native bucket, counted from RTL_PROM_NATIVE_FIRST, of a bucket of the segment; -1: the zero bucket. */
int rtl_prom_native_of(uint32_t bucket);

/* Adjacent buckets. offset: distance from the end of the previous span, for the first span the bucket's number. */
struct rtl_prom_native_span {
    int32_t offset;
    uint32_t length;
};
/* Return the number of spans; from[i]: index in `count` at which span i begins. */
uint32_t rtl_prom_native_spans(const uint64_t count[RTL_PROM_NATIVE_COUNT],
                               struct rtl_prom_native_span spans[RTL_PROM_NATIVE_SPANS],
                               uint32_t from[RTL_PROM_NATIVE_SPANS]);

/* Only grows. */
struct rtl_prom_buckets {
    uint64_t count[RTL_PROM_BUCKET_COUNT];
    uint64_t native[RTL_PROM_NATIVE_COUNT], zero;
    uint64_t values, sum_ns; /* values: sum of `count`, and of `native` and `zero` */
};

/* Return the classic bucket for the segment's bucket that begins at `low_ns`. */
uint32_t rtl_prom_bucket_of(uint64_t low_ns);
/* Return the largest value of a bucket below RTL_PROM_BUCKET_LAST, in ns. */
uint64_t rtl_prom_bucket_upper_ns(uint32_t number);

/* Add the growth of a histogram from `earlier` (NULL: from nothing) to `later`; buckets that shrank add nothing. */
void rtl_prom_buckets_grow(struct rtl_prom_buckets *to, const struct rtl_histogram_copy *earlier,
                           const struct rtl_histogram_copy *later);
void rtl_prom_buckets_add(struct rtl_prom_buckets *to, const struct rtl_prom_buckets *more);

#endif
