/* Histograms as text and back, and as columns of rows. See recorded_histogram.h. */
#include "record/recorded_histogram.h"
#include "stats/histogram.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stats/quantile.h"

enum { NUMBER_BYTES = 21, PAIR_BYTES = 2 * NUMBER_BYTES + 2, BUCKETS = RTL_OCTAVES_MAX * RTL_CHUNK_BUCKETS };

/* Write a number; return the position behind it. */
static char *write_number(char *at, int64_t value)
{
    char digits[NUMBER_BYTES];
    int n = 0;
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do
        digits[n++] = (char)('0' + left % 10);
    while (left /= 10);
    if (value < 0)
        *at++ = '-';
    while (n)
        *at++ = digits[--n];
    return at;
}

/* Fast path for one or two digits: nearly all gaps and many counts, and a kernel has some hundred numbers. */
static inline char *write_short_number(char *at, int64_t value)
{
    if (value < 0 || value >= 100)
        return write_number(at, value);
    if (value >= 10)
        *at++ = (char)('0' + value / 10);
    *at++ = (char)('0' + value % 10);
    return at;
}

/* Each pair begins with a comma; end_text replaces the first one by the bracket. Needs PAIR_BYTES of room. */
static inline char *write_pair(char *at, int64_t gap, int64_t count)
{
    *at++ = ',';
    at = write_short_number(at, gap);
    *at++ = ',';
    return write_short_number(at, count);
}

/* Keep the first `used` bytes and make room for more pairs and the end; return the position behind `used`, or NULL. */
static char *reserve_pairs(struct rtl_text_buffer *text, size_t used, size_t pairs)
{
    size_t bytes = used + pairs * PAIR_BYTES + 2;
    char *more = bytes > text->size ? realloc(text->bytes, 2 * bytes) : text->bytes;
    text->used = used;
    if (!more)
        return NULL;
    if (bytes > text->size)
        text->size = 2 * bytes;
    text->bytes = more;
    return more + used;
}

/* Write the brackets around the pairs, if there are any. */
static void end_text(struct rtl_text_buffer *text, char *at)
{
    text->used = at ? (size_t)(at - text->bytes) : 0;
    if (!text->used)
        return;
    text->bytes[0] = '[';
    *at++ = ']';
    *at = 0;
    text->used++;
}

/* Append the pairs of an array whose first bucket has number `first`; *last: number of the last pair. `earlier` NULL:
 * zeros. Returns the position behind the pairs, or NULL without memory. */
static char *append_growth(struct rtl_text_buffer *text, char *at, uint32_t *last, uint32_t first,
                           const uint64_t *earlier, const uint64_t *later, uint32_t count)
{
    at = reserve_pairs(text, at ? (size_t)(at - text->bytes) : 0, count);
    for (uint32_t i = 0; at && i < count; i++) {
        uint64_t grown = later[i] - (earlier ? earlier[i] : 0);
        if (!grown)
            continue;
        at = write_pair(at, first + i - *last, (int64_t)grown);
        *last = first + i;
    }
    return at;
}

bool rtl_buckets_write(const struct rtl_histogram_copy *earlier, const struct rtl_histogram_copy *later,
                       struct rtl_text_buffer *text)
{
    uint32_t last = 0, before = 0;
    char *at = NULL;
    for (uint32_t i = 0; i < later->octave_count; i++) {
        const struct rtl_octave *o = &later->octaves[i], *was = NULL;
        while (earlier && before < earlier->octave_count && earlier->octaves[before].octave < o->octave)
            before++;
        if (earlier && before < earlier->octave_count && earlier->octaves[before].octave == o->octave)
            was = &earlier->octaves[before];
        at = append_growth(text, at, &last, o->octave * RTL_CHUNK_BUCKETS, was ? was->bucket : NULL, o->bucket,
                           RTL_CHUNK_BUCKETS);
        if (!at)
            return false;
    }
    end_text(text, at);
    return true;
}

/* `earlier` and `later` may be NULL: all zeros. */
static bool write_counts(const uint64_t *earlier, const uint64_t *later, uint32_t count, struct rtl_text_buffer *text)
{
    uint32_t last = 0;
    char *at = later ? append_growth(text, NULL, &last, 0, earlier, later, count) : NULL;
    end_text(text, at);
    return at || !later;
}

bool rtl_counts_write(const uint64_t *counts, uint32_t count, struct rtl_text_buffer *text)
{
    return write_counts(NULL, counts, count, text);
}

bool rtl_coarse_write(const struct rtl_histogram_copy *earlier, const struct rtl_histogram_copy *later,
                      struct rtl_text_buffer *text)
{
    return write_counts(earlier ? earlier->coarse : NULL, later->coarse, RTL_OCTAVES_MAX, text);
}

/* Read a number and the mark behind it; false for anything else. */
static bool read_number(const char **text, int64_t *value, char *mark)
{
    char *stop;
    errno = 0;
    if (**text != '-' && (**text < '0' || **text > '9'))
        return false;
    *value = strtoll(*text, &stop, 10);
    if (errno || stop == *text || (*stop != ',' && *stop != ']'))
        return false;
    *mark = *stop;
    *text = stop + 1;
    return true;
}

/* Call `add` for each pair; a number of `limit` or more is an error. */
static bool each_pair(const char *text, uint32_t limit, bool (*add)(void *, uint32_t, uint64_t), void *to)
{
    uint64_t at = 0;
    char mark = ',';
    if (!*text)
        return true;
    if (*text++ != '[')
        return false;
    while (mark == ',') {
        int64_t gap, count;
        if (!read_number(&text, &gap, &mark) || mark != ',' || gap < 0 || gap >= limit ||
            (at += (uint64_t)gap) >= limit || !read_number(&text, &count, &mark) ||
            !add(to, (uint32_t)at, (uint64_t)count))
            return false;
    }
    return !*text;
}

static bool add_count(void *counts, uint32_t number, uint64_t count)
{
    ((uint64_t *)counts)[number] += count;
    return true;
}

bool rtl_counts_read(const char *text, uint64_t *counts, uint32_t count)
{
    return each_pair(text, count, add_count, counts);
}

struct octave_adder {
    struct rtl_histogram_copy *to;
    uint32_t *room;
};

static bool add_bucket(void *context, uint32_t bucket, uint64_t count)
{
    struct octave_adder *a = context;
    struct rtl_histogram_copy *h = a->to;
    uint32_t octave = bucket / RTL_CHUNK_BUCKETS, at = h->octave_count;
    while (at && h->octaves[at - 1].octave >= octave)
        at--;
    if (at == h->octave_count || h->octaves[at].octave != octave) {
        struct rtl_octave *more = *a->room ? realloc(h->octaves, (h->octave_count + 1) * sizeof *h->octaves) : NULL;
        if (!more)
            return false;
        h->octaves = more;
        memmove(more + at + 1, more + at, (h->octave_count - at) * sizeof *more);
        memset(&more[at], 0, sizeof *more);
        more[at].octave = (uint8_t)octave;
        h->octave_count++;
        --*a->room;
    }
    h->octaves[at].bucket[bucket % RTL_CHUNK_BUCKETS] += count;
    return true;
}

bool rtl_buckets_add(struct rtl_histogram_copy *to, const char *text, uint32_t *room)
{
    return each_pair(text, BUCKETS, add_bucket, &(struct octave_adder){to, room});
}

bool rtl_histogram_count(struct rtl_histogram_copy *to, uint64_t ns, uint32_t *room)
{
    if (!add_bucket(&(struct octave_adder){to, room}, rtl_bucket_of(ns), 1))
        return false;
    to->min_ns = !to->count || ns < to->min_ns ? ns : to->min_ns;
    to->max_ns = ns > to->max_ns ? ns : to->max_ns;
    to->total_ns += ns;
    to->count++;
    return true;
}

bool rtl_coarse_add(struct rtl_histogram_copy *to, const char *text)
{
    if (*text && !to->coarse && !(to->coarse = calloc(RTL_OCTAVES_MAX, sizeof *to->coarse)))
        return false;
    return rtl_counts_read(text, to->coarse, RTL_OCTAVES_MAX);
}

/* --- rows --- */

bool rtl_histogram_differs(const struct rtl_histogram_copy *a, const struct rtl_histogram_copy *b)
{
    return rtl_fields_differ(&rtl_histogram_fields, a, b);
}

int rtl_histogram_bind(struct rtl_db *db, struct rtl_db_statement *st, int at, struct rtl_histogram_texts *texts,
                       const struct rtl_histogram_copy *before, const struct rtl_histogram_copy *now)
{
    static const double q[RTL_RECORDED_QUANTILES] = {0.5, 0.9, 0.99, 0.999};
    uint64_t quantile[RTL_RECORDED_QUANTILES];
    bool any = rtl_quantiles(before, now, q, RTL_RECORDED_QUANTILES, quantile);
    if (!rtl_buckets_write(before, now, &texts->buckets) || !rtl_coarse_write(before, now, &texts->coarse))
        rtl_db_no_memory(db);
    at = rtl_fields_bind(st, at, &rtl_histogram_fields, before, now);
    for (int i = 0; i < RTL_RECORDED_QUANTILES; i++, at++)
        if (any)
            rtl_db_bind_int(st, at, (int64_t)quantile[i]);
        else
            rtl_db_bind_null(st, at);
    rtl_db_bind_string(st, at++, texts->buckets.used ? texts->buckets.bytes : NULL);
    rtl_db_bind_string(st, at++, texts->coarse.used ? texts->coarse.bytes : NULL);
    return at;
}

int rtl_histogram_read(struct rtl_db *db, struct rtl_db_statement *st, int at, struct rtl_histogram_copy *h,
                       uint32_t *room)
{
    at = rtl_fields_read(st, at, &rtl_histogram_fields, h);
    if (!rtl_buckets_add(h, rtl_db_text(st, at, NULL), room) || !rtl_coarse_add(h, rtl_db_text(st, at + 1, NULL)))
        rtl_db_damaged(db, "a histogram is malformed");
    return at + 2;
}

void rtl_histogram_own(struct rtl_db *db, struct rtl_histogram_copy *h, uint32_t *room)
{
    const struct rtl_octave *octaves = h->octaves;
    const uint64_t *coarse = h->coarse;
    h->octaves = NULL;
    h->coarse = NULL;
    if (h->octave_count && !(h->octaves = malloc(h->octave_count * sizeof *octaves))) {
        h->octave_count = 0;
        rtl_db_no_memory(db);
    }
    if (h->octaves)
        memcpy(h->octaves, octaves, h->octave_count * sizeof *octaves);
    *room -= h->octave_count < *room ? h->octave_count : *room;
    if (coarse && !(h->coarse = malloc(RTL_OCTAVES_MAX * sizeof *coarse)))
        rtl_db_no_memory(db);
    if (h->coarse)
        memcpy(h->coarse, coarse, RTL_OCTAVES_MAX * sizeof *coarse);
}

void rtl_histogram_free(struct rtl_histogram_copy *h)
{
    free(h->octaves);
    free(h->coarse);
    *h = (struct rtl_histogram_copy){0};
}
