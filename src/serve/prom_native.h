/*
 * Buckets of Prometheus's native histograms, schema 3: eight in each factor of two, with an edge at 1 s. Bucket i holds
 * values above 2^((i-1)/8) s and up to 2^(i/8) s. Pure.
 *
 * An edge may lie inside one of the segment's buckets; that bucket is counted where its middle lies, so a value is
 * displaced by at most half the width of the segment's bucket, 0.8 %. A native bucket is 9.05 % wide: a quantile lies
 * within 11 % of the true value.
 */
#ifndef RTL_SERVE_PROM_NATIVE_H
#define RTL_SERVE_PROM_NATIVE_H

#include <stdint.h>

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

#endif
