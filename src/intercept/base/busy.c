/* The union of intervals and its gaps (busy.h). */
#include "intercept/base/busy.h"

#include <stdbool.h>
#include <string.h>

enum {
    FREE_WANTED = RTL_BUSY_SPANS * 3 / 8, /* a compaction must free this many spans */
    FREE_ENOUGH = RTL_BUSY_SPANS * 5 / 8, /* with this many free, the next one may try finer hulls */
    FINEST = 6,                           /* hulls are at most (their age >> 6) long, if that frees enough */
};

static uint64_t span_length(const struct rtl_busy_span *span)
{
    return span->end - span->start;
}

static bool is_hull(const struct rtl_busy_span *span)
{
    return span->covered != span_length(span);
}

/* --- gaps --- */

void rtl_busy_classes(struct rtl_busy *busy, uint64_t hz)
{
    static const uint64_t below[] = {
#define BELOW(number, below_ns, header) [number] = below_ns,
        RTL_IDLE_CLASSES(BELOW)
#undef BELOW
    };
    for (int i = 0; i < RTL_IDLE_COUNT - 1; i++) /* rounded up: a gap of one tick less is below the bound in ns, too */
        busy->below[i] = (uint64_t)(((unsigned __int128)below[i] * hz + 999999999u) / 1000000000u);
}

static int class_of(const struct rtl_busy *busy, uint64_t gap)
{
    int i = 0;
    while (i < RTL_IDLE_COUNT - 1 && gap >= busy->below[i])
        i++;
    return i;
}

static void add_gaps(struct rtl_gaps *to, const struct rtl_gaps *from)
{
    for (int i = 0; i < RTL_IDLE_COUNT; i++) {
        to->total[i] += from->total[i];
        to->count[i] += from->count[i];
    }
}

/* (value * part + more) / whole. The 128-bit division takes ten times as long and is rarely needed. */
static uint64_t scale(uint64_t value, uint64_t part, uint64_t whole, uint64_t more)
{
    uint64_t product, sum;
    if (!__builtin_mul_overflow(value, part, &product) && !__builtin_add_overflow(product, more, &sum))
        return sum / whole;
    return (uint64_t)(((unsigned __int128)value * part + more) / whole);
}

/* Return a hull's gaps, scaled from idle_before to `idle` of its idle time. */
static struct rtl_gaps scale_gaps(const struct rtl_gaps *gaps, uint64_t idle, uint64_t idle_before)
{
    struct rtl_gaps left = *gaps;
    for (int i = 0; idle != idle_before && i < RTL_IDLE_COUNT; i++) {
        left.total[i] = scale(gaps->total[i], idle, idle_before, idle_before / 2);
        left.count[i] = (uint32_t)scale(gaps->count[i], idle, idle_before, idle_before / 2);
    }
    return left;
}

/* Return the first span that ends at `at` or later. An interval that begins at `at` leaves the spans before it
 * unchanged. */
static uint32_t find_span(const struct rtl_busy *busy, uint64_t at)
{
    uint32_t low = 0, high = busy->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (busy->span[middle].end < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void rtl_busy_settle(struct rtl_busy *busy, uint64_t behind)
{
    rtl_busy_merge_run(busy);
    uint32_t n = busy->count;
    if (!n || busy->span[n - 1].end <= behind)
        return;
    uint64_t upto = busy->span[n - 1].end - behind, settled = busy->settled;
    for (uint32_t i = find_span(busy, settled + 1); i < n && busy->span[i].end <= upto; i++) {
        struct rtl_busy_span *span = &busy->span[i];
        /* a span that reaches over `settled` was joined from spans on both sides */
        if (i > 0 && span->start >= settled) {
            uint64_t gap = span->start - busy->span[i - 1].end;
            int class = class_of(busy, gap);
            busy->idle_count[class]++;
            busy->idle_total[class] += gap;
        }
        if (is_hull(span)) {
            for (int c = 0; c < RTL_IDLE_COUNT; c++) {
                busy->idle_count[c] += busy->inner[i].count[c];
                busy->idle_total[c] += busy->inner[i].total[c];
            }
            memset(&busy->inner[i], 0, sizeof busy->inner[i]);
        }
        busy->settled = span->end;
    }
}

void rtl_busy_restart(struct rtl_busy *busy)
{
    rtl_busy_settle(busy, 0);
    busy->count = 0;
    busy->settled = 0;
}

/* --- spans --- */

/* Join a span into the one before it. end - start - covered is idle time, and `inner` keeps its gaps. */
static void join_spans(struct rtl_busy *busy, uint32_t to, uint32_t from)
{
    struct rtl_busy_span *a = &busy->span[to], *b = &busy->span[from];
    struct rtl_gaps *gaps = &busy->inner[to];
    uint64_t gap = b->start - a->end;
    if (!is_hull(a))
        memset(gaps, 0, sizeof *gaps);
    if (is_hull(b))
        add_gaps(gaps, &busy->inner[from]);
    if (b->start >= busy->settled) {
        int class = class_of(busy, gap);
        gaps->total[class] += gap;
        gaps->count[class]++;
    }
    a->covered += b->covered;
    a->end = b->end;
}

/* Join neighbours while the result is short beside its age: an interval that arrives late is about as long as its
 * delay, so old history needs less resolution. Settled spans are not joined with unsettled ones, whose gaps still
 * count. */
static void join_within(struct rtl_busy *busy, uint32_t shift)
{
    uint64_t newest = busy->span[busy->count - 1].end;
    uint32_t to = 0;
    for (uint32_t i = 1; i < busy->count; i++) {
        struct rtl_busy_span *a = &busy->span[to], *b = &busy->span[i];
        if (b->end - a->start <= (newest - b->end) >> shift && (a->end <= busy->settled) == (b->end <= busy->settled)) {
            join_spans(busy, to, i);
        } else if (++to != i) {
            busy->span[to] = *b;
            if (is_hull(b))
                busy->inner[to] = busy->inner[i];
        }
    }
    busy->count = to + 1;
}

/*
 * Join no more than needed: a worker that got no CPU may report a kernel behind hundreds that ended later, and its
 * edges then fall into spans that were joined meanwhile.
 *
 * This always terminates: with shift 0 every second remaining span halves the distance to the newest end, so at most
 * 130 remain.
 */
static void compact_spans(struct rtl_busy *busy)
{
    join_within(busy, FINEST - busy->coarser);
    while (RTL_BUSY_SPANS - busy->count < FREE_WANTED && busy->coarser < FINEST)
        join_within(busy, FINEST - ++busy->coarser);
    if (RTL_BUSY_SPANS - busy->count > FREE_ENOUGH && busy->coarser > 0)
        busy->coarser--;
}

/* Return how much of a part of a span is covered: all of it, or its share if the span is a hull. */
static uint64_t covered_part(const struct rtl_busy_span *span, uint64_t part)
{
    uint64_t whole = span_length(span);
    if (span->covered == whole || part == whole)
        return span->covered == whole ? part : span->covered;
    return scale(span->covered, part, whole, 0);
}

/* Return the length of a span that intervals `from` to `to` of the run cover. */
static uint64_t span_overlap(const struct rtl_busy *busy, const struct rtl_busy_span *span, uint32_t from, uint32_t to)
{
    uint64_t part = 0;
    for (uint32_t i = from; i < to && busy->run[i].start < span->end; i++) {
        uint64_t low = busy->run[i].start > span->start ? busy->run[i].start : span->start;
        uint64_t high = busy->run[i].end < span->end ? busy->run[i].end : span->end;
        part += high > low ? high - low : 0;
    }
    return part;
}

/* Return the length that intervals `from` to `to` of the run add to spans `first` to `behind`, which they touch. Adds
 * the remaining gaps of hulls among the spans to `gaps`. */
static uint64_t cover_spans(const struct rtl_busy *busy, uint32_t first, uint32_t behind, uint32_t from, uint32_t to,
                            struct rtl_gaps *gaps)
{
    uint64_t fresh = 0;
    for (uint32_t i = from; i < to; i++)
        fresh += busy->run[i].end - busy->run[i].start;
    for (uint32_t i = first; i < behind; i++) {
        const struct rtl_busy_span *span = &busy->span[i];
        while (from < to && busy->run[from].end <= span->start)
            from++;
        uint64_t part = span_overlap(busy, span, from, to), covered = covered_part(span, part);
        fresh -= covered;
        if (is_hull(span)) {
            uint64_t idle = span_length(span) - span->covered;
            struct rtl_gaps left = scale_gaps(&busy->inner[i], idle - (part - covered), idle);
            add_gaps(gaps, &left);
        }
    }
    return fresh;
}

/* Merge the run into the spans in one pass. The spans from the run's first interval on first move up by the run's
 * length, so that writing never overtakes reading. Spans and intervals that touch become one; most such groups
 * contain no hull and are covered completely. */
void rtl_busy_merge_run(struct rtl_busy *busy)
{
    uint32_t runs = busy->gathered, j = 0;
    if (!runs)
        return;
    if (busy->count + runs > RTL_BUSY_SPANS)
        compact_spans(busy);
    uint32_t to = find_span(busy, busy->run[0].start), end = busy->count + runs, i = to + runs;
    for (uint32_t k = busy->count; k-- > to;) {
        busy->span[k + runs] = busy->span[k];
        if (is_hull(&busy->span[k]))
            busy->inner[k + runs] = busy->inner[k];
    }
    for (; i < end || j < runs; to++) {
        uint32_t first = i, from = j;
        bool hull = false;
        uint64_t low = j == runs || (i < end && busy->span[i].start < busy->run[j].start) ? busy->span[i].start
                                                                                          : busy->run[j].start;
        uint64_t high = low, there = 0;
        for (;;) {
            uint64_t behind;
            if (i < end && busy->span[i].start <= high) {
                behind = busy->span[i].end;
                there += busy->span[i].covered;
                hull |= is_hull(&busy->span[i++]);
            } else if (j < runs && busy->run[j].start <= high) {
                behind = busy->run[j++].end;
            } else {
                break;
            }
            high = behind > high ? behind : high;
        }
        uint64_t fresh = high - low - there;
        if (hull) {
            struct rtl_gaps gaps = {0};
            fresh = cover_spans(busy, first, i, from, j, &gaps);
            busy->inner[to] = gaps;
        }
        busy->total += fresh;
        busy->span[to] = (struct rtl_busy_span){low, high, there + fresh};
    }
    busy->count = to;
    busy->gathered = 0;
}
