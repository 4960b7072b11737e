/* Histograms as text and back. See buckets.h. */
#include "record/buckets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stats/quantile.h"

enum { NUMBER_BYTES = 21, PAIR_BYTES = 2 * NUMBER_BYTES + 2, BUCKETS = RTL_OCTAVES_MAX * RTL_CHUNK_BUCKETS };

static bool make_room(struct rtl_text_buffer *text, size_t bytes)
{
    if (text->size - text->used >= bytes)
        return true;
    size_t size = 2 * text->size + bytes + 256;
    char *more = realloc(text->bytes, size);
    if (!more)
        return false;
    text->bytes = more;
    text->size = size;
    return true;
}

/* Where `at` is then. */
static char *put_number(char *at, int64_t value)
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

/* The same, faster for one or two digits: nearly all gaps and many counts are that short, and a kernel has some hundred
 * numbers. */
static inline char *put_small(char *at, int64_t value)
{
    if (value < 0 || value >= 100)
        return put_number(at, value);
    if (value >= 10)
        *at++ = (char)('0' + value / 10);
    *at++ = (char)('0' + value % 10);
    return at;
}

/* Each pair begins with a comma; the first one is overwritten by the bracket. There is room for PAIR_BYTES. */
static inline char *put_pair(char *at, int64_t gap, int64_t count)
{
    *at++ = ',';
    at = put_small(at, gap);
    *at++ = ',';
    return put_small(at, count);
}

/* Keeps the first `used` bytes and makes room for so many more pairs and the end; where to go on, or NULL. */
static char *room_for(struct rtl_text_buffer *text, size_t used, size_t pairs)
{
    text->used = used;
    return make_room(text, pairs * PAIR_BYTES + 2) ? text->bytes + used : NULL;
}

static void end(struct rtl_text_buffer *text, char *at)
{
    text->used = at ? (size_t)(at - text->bytes) : 0;
    if (!text->used)
        return;
    text->bytes[0] = '[';
    *at++ = ']';
    *at = 0;
    text->used++;
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
        at = room_for(text, at ? (size_t)(at - text->bytes) : 0, RTL_CHUNK_BUCKETS);
        if (!at)
            return false;
        for (uint32_t b = 0; b < RTL_CHUNK_BUCKETS; b++) {
            uint64_t grown = o->bucket[b] - (was ? was->bucket[b] : 0);
            if (!grown)
                continue;
            uint32_t number = o->octave * RTL_CHUNK_BUCKETS + b;
            at = put_pair(at, number - last, (int64_t)grown);
            last = number;
        }
    }
    end(text, at);
    return true;
}

bool rtl_coarse_write(const struct rtl_histogram_copy *earlier, const struct rtl_histogram_copy *later,
                      struct rtl_text_buffer *text)
{
    uint32_t last = 0;
    char *at = later->coarse ? room_for(text, 0, RTL_OCTAVES_MAX) : NULL;
    if (later->coarse && !at)
        return false;
    for (uint32_t i = 0; at && i < RTL_OCTAVES_MAX; i++) {
        uint64_t grown = later->coarse[i] - (earlier && earlier->coarse ? earlier->coarse[i] : 0);
        if (!grown)
            continue;
        at = put_pair(at, i - last, (int64_t)grown);
        last = i;
    }
    end(text, at);
    return true;
}

bool rtl_histogram_delta_make(struct rtl_histogram_delta *delta, const struct rtl_histogram_copy *earlier,
                              const struct rtl_histogram_copy *later)
{
    static const double q[RTL_RECORDED_QUANTILES] = {0.5, 0.9, 0.99, 0.999};
    delta->any = rtl_quantiles(earlier, later, q, RTL_RECORDED_QUANTILES, delta->quantile);
    return rtl_buckets_write(earlier, later, &delta->buckets) && rtl_coarse_write(earlier, later, &delta->coarse);
}

/* The next number and the mark behind it; false at anything else. */
static bool number(const char **text, int64_t *value, char *mark)
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

/* Calls `add` for each pair whose number is below `limit`. */
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
        if (!number(&text, &gap, &mark) || mark != ',' || gap < 0 || gap >= limit || (at += (uint64_t)gap) >= limit ||
            !number(&text, &count, &mark) || !add(to, (uint32_t)at, (uint64_t)count))
            return false;
    }
    return !*text;
}

struct adding {
    struct rtl_histogram_copy *to;
    uint32_t *room;
};

static bool add_bucket(void *context, uint32_t bucket, uint64_t count)
{
    struct adding *a = context;
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
    return each_pair(text, BUCKETS, add_bucket, &(struct adding){to, room});
}

static bool add_coarse(void *context, uint32_t octave, uint64_t count)
{
    struct rtl_histogram_copy *h = context;
    if (!h->coarse && !(h->coarse = calloc(RTL_OCTAVES_MAX, sizeof *h->coarse)))
        return false;
    h->coarse[octave] += count;
    return true;
}

bool rtl_coarse_add(struct rtl_histogram_copy *to, const char *text)
{
    return each_pair(text, RTL_OCTAVES_MAX, add_coarse, to);
}
