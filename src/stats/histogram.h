/* Computes a duration's bucket in the segment's histograms: pure and branch-free. The library records with these
 * functions, the viewer reads with them; shm/segment.h has the rule. */
#ifndef RTL_STATS_HISTOGRAM_H
#define RTL_STATS_HISTOGRAM_H

#include <stdint.h>

#include "shm/segment.h"

#define RTL_VALUE_MAX ((1ull << 40) - 1) /* ns; 1099 s */

/* floor(log2 v), v != 0. BSR leaves its target as it was for 0 and so depends on the target's last value: each
 * record would wait for the one before. A zeroed target removes that dependency. */
static inline uint64_t rtl_log2(uint64_t v)
{
#ifdef __x86_64__
    uint64_t log2 = 0;
    __asm__("bsrq %1, %0" : "+r"(log2) : "r"(v) : "cc");
    return log2;
#else
    return 63u ^ (uint64_t)__builtin_clzll(v);
#endif
}

/* Bucket index of a value in ns, 0 .. 35 * 64 - 1; larger values count as RTL_VALUE_MAX. */
static inline uint32_t rtl_bucket_of(uint64_t ns)
{
    ns = ns < RTL_VALUE_MAX ? ns : RTL_VALUE_MAX;
    uint32_t shift = (uint32_t)rtl_log2(ns | 64u) - 6;
    return (shift << 6) + (uint32_t)(ns >> shift);
}

/* Smallest value of a bucket. */
static inline uint64_t rtl_bucket_low(uint32_t index)
{
    uint32_t shift = index < 128 ? 0 : (index >> 6) - 1;
    return (uint64_t)(index - (shift << 6)) << shift;
}

/* Number of values in a bucket: a power of two. */
static inline uint64_t rtl_bucket_width(uint32_t index)
{
    return 1ull << (index < 128 ? 0 : (index >> 6) - 1);
}

/* The value that represents a bucket: its middle. */
static inline uint64_t rtl_bucket_middle(uint32_t index)
{
    return rtl_bucket_low(index) + (rtl_bucket_width(index) - 1) / 2;
}

#endif
