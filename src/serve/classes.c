/* Histograms in the classes of a page. See classes.h. */
#include "serve/classes.h"
#include "stats/histogram.h"

uint32_t rtl_class_of(uint64_t low_ns)
{
    if (low_ns < 1ull << RTL_CLASS_LOW)
        return 0;
    if (low_ns >= 1ull << RTL_CLASS_HIGH)
        return RTL_CLASS_LAST;
    uint32_t log2 = (uint32_t)rtl_log2(low_ns);
    uint32_t part = (uint32_t)((low_ns - (1ull << log2)) >> (log2 - 2));
    return 1 + RTL_CLASS_PARTS * (log2 - RTL_CLASS_LOW) + part;
}

uint64_t rtl_class_most(uint32_t number)
{
    uint32_t log2 = RTL_CLASS_LOW + (number + RTL_CLASS_PARTS - 1) / RTL_CLASS_PARTS - 1;
    if (!number)
        return (1ull << RTL_CLASS_LOW) - 1;
    return (1ull << log2) + ((uint64_t)((number - 1) % RTL_CLASS_PARTS + 1) << (log2 - 2)) - 1;
}

/* No process comes near that: a damaged segment would make the sum go round, back to small numbers. */
static const uint64_t VALUES_MAX = 1ull << 62;

static bool has_room(const struct rtl_classes *classes, uint64_t more)
{
    return more <= VALUES_MAX && classes->values <= VALUES_MAX - more;
}

static void grow(struct rtl_classes *classes, uint32_t bucket, uint64_t earlier, uint64_t later)
{
    if (later <= earlier || !has_room(classes, later - earlier))
        return;
    int native = rtl_native_of(bucket);
    classes->count[rtl_class_of(rtl_bucket_low(bucket))] += later - earlier;
    *(native < 0 ? &classes->zero : &classes->native[native]) += later - earlier;
    classes->values += later - earlier;
}

static void grow_octave(struct rtl_classes *classes, const struct rtl_octave *earlier, const struct rtl_octave *later)
{
    for (uint32_t i = 0; i < RTL_CHUNK_BUCKETS; i++)
        grow(classes, later->octave * RTL_CHUNK_BUCKETS + i, earlier ? earlier->bucket[i] : 0, later->bucket[i]);
}

void rtl_classes_grow(struct rtl_classes *classes, const struct rtl_histogram_copy *earlier,
                      const struct rtl_histogram_copy *later)
{
    uint32_t at = 0, before = earlier ? earlier->octave_count : 0;
    if (earlier && earlier->count == later->count)
        return;
    for (uint32_t i = 0; i < later->octave_count; i++) {
        while (at < before && earlier->octaves[at].octave < later->octaves[i].octave)
            at++;
        bool same = at < before && earlier->octaves[at].octave == later->octaves[i].octave;
        grow_octave(classes, same ? &earlier->octaves[at] : NULL, &later->octaves[i]);
    }
    /* where in an octave is not known: at its end */
    for (uint32_t i = 0; later->coarse && i < RTL_OCTAVES_MAX; i++)
        grow(classes, i * RTL_CHUNK_BUCKETS + RTL_CHUNK_BUCKETS - 1,
             earlier && earlier->coarse ? earlier->coarse[i] : 0, later->coarse[i]);
    uint64_t total = earlier ? earlier->total_ns : 0;
    rtl_count_up(&classes->sum_ns, later->total_ns > total ? later->total_ns - total : 0);
}

void rtl_classes_grow_buckets(struct rtl_classes *classes, const uint64_t *earlier, const uint64_t *later,
                              uint32_t buckets, uint64_t grown_ns)
{
    for (uint32_t i = 0; i < buckets; i++)
        grow(classes, i, earlier ? earlier[i] : 0, later[i]);
    rtl_count_up(&classes->sum_ns, grown_ns);
}

void rtl_classes_add(struct rtl_classes *classes, const struct rtl_classes *more)
{
    rtl_count_up(&classes->sum_ns, more->sum_ns);
    if (!more->values || !has_room(classes, more->values))
        return;
    for (uint32_t i = 0; i < RTL_CLASS_COUNT; i++)
        classes->count[i] += more->count[i];
    for (uint32_t i = 0; i < RTL_NATIVE_COUNT; i++)
        classes->native[i] += more->native[i];
    classes->zero += more->zero;
    classes->values += more->values;
}
