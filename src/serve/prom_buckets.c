/* Histograms in the classic and native buckets of Prometheus. See prom_buckets.h. */
#include "serve/prom_buckets.h"
#include "stats/histogram.h"

#include <math.h>

uint32_t rtl_prom_bucket_of(uint64_t low_ns)
{
    if (low_ns < 1ull << RTL_PROM_BUCKET_LOW)
        return 0;
    if (low_ns >= 1ull << RTL_PROM_BUCKET_HIGH)
        return RTL_PROM_BUCKET_LAST;
    uint32_t log2 = (uint32_t)rtl_log2(low_ns);
    uint32_t part = (uint32_t)((low_ns - (1ull << log2)) >> (log2 - 2));
    return 1 + RTL_PROM_BUCKET_PARTS * (log2 - RTL_PROM_BUCKET_LOW) + part;
}

uint64_t rtl_prom_bucket_upper_ns(uint32_t number)
{
    uint32_t log2 = RTL_PROM_BUCKET_LOW + (number + RTL_PROM_BUCKET_PARTS - 1) / RTL_PROM_BUCKET_PARTS - 1;
    if (!number)
        return (1ull << RTL_PROM_BUCKET_LOW) - 1;
    return (1ull << log2) + ((uint64_t)((number - 1) % RTL_PROM_BUCKET_PARTS + 1) << (log2 - 2)) - 1;
}

/* --- native buckets --- */

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

/* --- counting --- */

/* Beyond any real process; keeps a damaged segment from wrapping the sum. */
static const uint64_t VALUES_MAX = 1ull << 62;

static bool has_room(const struct rtl_prom_buckets *to, uint64_t more)
{
    return more <= VALUES_MAX && to->values <= VALUES_MAX - more;
}

static void grow_bucket(struct rtl_prom_buckets *to, uint32_t bucket, uint64_t earlier, uint64_t later)
{
    if (later <= earlier || !has_room(to, later - earlier))
        return;
    int native = rtl_prom_native_of(bucket);
    to->count[rtl_prom_bucket_of(rtl_bucket_low(bucket))] += later - earlier;
    *(native < 0 ? &to->zero : &to->native[native]) += later - earlier;
    to->values += later - earlier;
}

static void grow_octave(struct rtl_prom_buckets *to, const struct rtl_octave *earlier, const struct rtl_octave *later)
{
    for (uint32_t i = 0; i < RTL_CHUNK_BUCKETS; i++)
        grow_bucket(to, later->octave * RTL_CHUNK_BUCKETS + i, earlier ? earlier->bucket[i] : 0, later->bucket[i]);
}

void rtl_prom_buckets_grow(struct rtl_prom_buckets *to, const struct rtl_histogram_copy *earlier,
                           const struct rtl_histogram_copy *later)
{
    uint32_t at = 0, before = earlier ? earlier->octave_count : 0;
    if (earlier && earlier->count == later->count && earlier->total_ns == later->total_ns)
        return; /* the API segment's total can lag behind its buckets: then only the total grows */
    for (uint32_t i = 0; i < later->octave_count; i++) {
        while (at < before && earlier->octaves[at].octave < later->octaves[i].octave)
            at++;
        bool same = at < before && earlier->octaves[at].octave == later->octaves[i].octave;
        grow_octave(to, same ? &earlier->octaves[at] : NULL, &later->octaves[i]);
    }
    /* only the octave is known: count the values in its last bucket */
    for (uint32_t i = 0; later->coarse && i < RTL_OCTAVES_MAX; i++)
        grow_bucket(to, i * RTL_CHUNK_BUCKETS + RTL_CHUNK_BUCKETS - 1,
                    earlier && earlier->coarse ? earlier->coarse[i] : 0, later->coarse[i]);
    uint64_t total = earlier ? earlier->total_ns : 0;
    to->sum_ns = rtl_plus(to->sum_ns, later->total_ns > total ? later->total_ns - total : 0);
}

void rtl_prom_buckets_add(struct rtl_prom_buckets *to, const struct rtl_prom_buckets *more)
{
    to->sum_ns = rtl_plus(to->sum_ns, more->sum_ns);
    if (!more->values || !has_room(to, more->values))
        return;
    for (uint32_t i = 0; i < RTL_PROM_BUCKET_COUNT; i++)
        to->count[i] += more->count[i];
    for (uint32_t i = 0; i < RTL_PROM_NATIVE_COUNT; i++)
        to->native[i] += more->native[i];
    to->zero += more->zero;
    to->values += more->values;
}
