/* Buckets of native histograms. See prom_native.h. */
#include "serve/prom_native.h"
#include "stats/histogram.h"

#include <math.h>

enum { BUCKETS = 35 * 64, UNKNOWN = 0, BIAS = 2 }; /* in the table: 0 unknown, 1 zero bucket, 2 first bucket */

int rtl_prom_native_of(uint32_t bucket)
{
    static uint16_t table[BUCKETS]; /* one thread only */
    bucket = bucket < BUCKETS ? bucket : BUCKETS - 1;
    if (table[bucket] == UNKNOWN) {
        double middle = ((double)rtl_bucket_low(bucket) + (double)(rtl_bucket_width(bucket) - 1) / 2) / 1e9;
        int number =
            middle > RTL_PROM_NATIVE_ZERO ? (int)ceil(log2(middle) * (1 << RTL_PROM_NATIVE_SCHEMA)) : INT16_MIN;
        number = number > RTL_PROM_NATIVE_LAST ? RTL_PROM_NATIVE_LAST : number;
        table[bucket] = (uint16_t)(number < RTL_PROM_NATIVE_FIRST ? BIAS - 1 : number - RTL_PROM_NATIVE_FIRST + BIAS);
    }
    return table[bucket] - BIAS;
}

uint32_t rtl_prom_native_spans(const uint64_t count[RTL_PROM_NATIVE_COUNT],
                               struct rtl_prom_native_span spans[RTL_PROM_NATIVE_SPANS],
                               uint32_t from[RTL_PROM_NATIVE_SPANS])
{
    uint32_t spanned = 0, end = 0;
    for (uint32_t i = 0; i < RTL_PROM_NATIVE_COUNT; i++) {
        if (!count[i])
            continue;
        if (spanned && i - end <= RTL_PROM_NATIVE_GAP) {
            spans[spanned - 1].length += i + 1 - end;
        } else {
            from[spanned] = i;
            spans[spanned] = (struct rtl_prom_native_span){
                .offset = spanned ? (int32_t)(i - end) : (int32_t)i + RTL_PROM_NATIVE_FIRST, .length = 1};
            spanned++;
        }
        end = i + 1;
    }
    return spanned;
}
