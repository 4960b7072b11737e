/* Histograms as text and back. See buckets.h. */
#include "record/buckets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_BYTES = 21, PAIR_BYTES = 2 * NUMBER_BYTES + 2, BUCKETS = RTL_OCTAVES_MAX * RTL_CHUNK_BUCKETS };

static bool make_room(struct rtl_growing *text, size_t bytes)
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
    if (value >= 0 && value < 10) { /* nearly all gaps, and many counts: there are some hundred numbers a kernel */
        *at++ = (char)('0' + value);
        return at;
    }
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

/* The text as it is written: room for PAIR_BYTES a pair is made before. */
struct pairs {
    char *begin, *at;
    uint32_t last; /* the number of the pair before */
};

static bool begin_pairs(struct rtl_growing *text, struct pairs *pairs, size_t room)
{
    size_t used = pairs->begin ? (size_t)(pairs->at - pairs->begin) : 0;
    text->used = used;
    if (!make_room(text, room * PAIR_BYTES + 2))
        return false;
    pairs->begin = text->bytes;
    pairs->at = text->bytes + used;
    return true;
}

static void put_pair(struct pairs *pairs, uint32_t number, int64_t count)
{
    *pairs->at = pairs->at == pairs->begin ? '[' : ',';
    pairs->at = put_number(pairs->at + 1, number - pairs->last);
    *pairs->at++ = ',';
    pairs->at = put_number(pairs->at, count);
    pairs->last = number;
}

static void end_pairs(struct rtl_growing *text, struct pairs *pairs)
{
    if (pairs->at != pairs->begin) {
        *pairs->at++ = ']';
        *pairs->at = 0;
    }
    text->used = (size_t)(pairs->at - pairs->begin);
}

bool rtl_buckets_write(const struct rtl_histogram_copy *earlier, const struct rtl_histogram_copy *later,
                       struct rtl_growing *text)
{
    struct pairs pairs = {0};
    uint32_t at = 0;
    for (uint32_t i = 0; i < later->octave_count; i++) {
        const struct rtl_octave *o = &later->octaves[i], *was = NULL;
        while (earlier && at < earlier->octave_count && earlier->octaves[at].octave < o->octave)
            at++;
        if (earlier && at < earlier->octave_count && earlier->octaves[at].octave == o->octave)
            was = &earlier->octaves[at];
        if (!begin_pairs(text, &pairs, RTL_CHUNK_BUCKETS))
            return false;
        for (uint32_t b = 0; b < RTL_CHUNK_BUCKETS; b++) {
            uint64_t grown = o->bucket[b] - (was ? was->bucket[b] : 0);
            if (grown)
                put_pair(&pairs, o->octave * RTL_CHUNK_BUCKETS + b, (int64_t)grown);
        }
    }
    end_pairs(text, &pairs);
    return true;
}

bool rtl_coarse_write(const struct rtl_histogram_copy *earlier, const struct rtl_histogram_copy *later,
                      struct rtl_growing *text)
{
    struct pairs pairs = {0};
    if (later->coarse && !begin_pairs(text, &pairs, RTL_OCTAVES_MAX))
        return false;
    for (uint32_t i = 0; later->coarse && i < RTL_OCTAVES_MAX; i++) {
        uint64_t grown = later->coarse[i] - (earlier && earlier->coarse ? earlier->coarse[i] : 0);
        if (grown)
            put_pair(&pairs, i, (int64_t)grown);
    }
    end_pairs(text, &pairs);
    return true;
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
