/*
 * A histogram in the buckets of Prometheus's native histograms, schema 3: eight in each factor of two, and 1 s is an
 * edge of all. Bucket i holds what is longer than 2^((i-1)/8) s and not longer than 2^(i/8) s. Pure.
 *
 * Their edges are no edges of the segment's buckets: one of those that an edge goes through is counted where its middle
 * lies, so that a value is displaced by half of its width at most, 0.8 %. A bucket is 9.05 % wide: a quantile that is
 * taken from them lies within 11 % of the value, one way or the other.
 */
#ifndef RTL_SERVE_PROM_NATIVE_H
#define RTL_SERVE_PROM_NATIVE_H

#include <stdint.h>

enum {
    RTL_PROM_NATIVE_SCHEMA = 3,
    RTL_PROM_NATIVE_FIRST = -239, /* with 1 ns in it; what is shorter is in the bucket of zero */
    RTL_PROM_NATIVE_LAST = 81,    /* with 2^40 ns */
    RTL_PROM_NATIVE_COUNT = RTL_PROM_NATIVE_LAST - RTL_PROM_NATIVE_FIRST + 1,
    RTL_PROM_NATIVE_GAP = 2, /* so many empty buckets are said rather than a new span */
    RTL_PROM_NATIVE_SPANS = RTL_PROM_NATIVE_COUNT / (RTL_PROM_NATIVE_GAP + 2) + 1,
};
/* The width of the bucket of zero in seconds, 2^-30: the lower edge of the first one. */
#define RTL_PROM_NATIVE_ZERO 0x1p-30

/* The bucket, counted from RTL_PROM_NATIVE_FIRST, of the segment's bucket; -1: of zero. */
int rtl_prom_native_of(uint32_t bucket);

/* Buckets in a row, as the format wants them: where it begins behind the end of the span before (the first one: its
 * bucket's number), and how many there are. */
struct rtl_prom_native_span {
    int32_t offset;
    uint32_t length;
};
/* The spans of what is counted; `from[i]` is where span i begins in `count`. How many. */
uint32_t rtl_prom_native_spans(const uint64_t count[RTL_PROM_NATIVE_COUNT],
                               struct rtl_prom_native_span spans[RTL_PROM_NATIVE_SPANS],
                               uint32_t from[RTL_PROM_NATIVE_SPANS]);

#endif
