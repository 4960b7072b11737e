/* The union of intervals and its gaps (busy.h). */
#include "intercept/base/busy.h"

#include <stdbool.h>
#include <string.h>

enum {
    FREE_WANTED = RTL_BUSY_SPANS * 3 / 8, /* places that a compaction must make, */
    FREE_ENOUGH = RTL_BUSY_SPANS * 5 / 8, /* and so many that the next one may try finer hulls */
    FINEST = 6,                           /* hulls are at most their age >> 6 long where that makes room enough */
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
    for (int i = 0; i < RTL_IDLE_COUNT - 1; i++) /* up: a gap of one tick less than that is shorter in ns, too */
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

/* value * part / whole, and `more` of a whole rounded up; dividing 128 bits takes ten times as long, and is rare. */
static uint64_t scale(uint64_t value, uint64_t part, uint64_t whole, uint64_t more)
{
    uint64_t product, sum;
    if (!__builtin_mul_overflow(value, part, &product) && !__builtin_add_overflow(product, more, &sum))
        return sum / whole;
    return (uint64_t)(((unsigned __int128)value * part + more) / whole);
}

/* What of a hull's gaps is left when `idle` of its idle time is left. */
static struct rtl_gaps scale_gaps(const struct rtl_gaps *gaps, uint64_t idle, uint64_t idle_before)
{
    struct rtl_gaps left = *gaps;
    for (int i = 0; idle != idle_before && i < RTL_IDLE_COUNT; i++) {
        left.total[i] = scale(gaps->total[i], idle, idle_before, idle_before / 2);
        left.count[i] = (uint32_t)scale(gaps->count[i], idle, idle_before, idle_before / 2);
    }
    return left;
}

/* The first span that ends at `at` or behind it: where what begins there belongs. Nothing in front of it is touched. */
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
        /* a span that reaches over `settled` was joined from spans on both sides of it */
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

/* Joins the span into the one before it. Its length less what is covered is idle time, in gaps that stay known. */
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

/*
 * Joins neighbours while they stay short beside their age: what is resolved is in proportion to how long ago it was,
 * because a late interval is about as long as it is late. Settled spans stay apart from the others, whose gaps count.
 */
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
 * No coarser than need be, from the first time on: a worker that was kept from the CPU may report a kernel behind
 * hundreds that ended after it, and then what was joined in between is what that kernel's edges fall into.
 *
 * With shift 0 every second span that is left halves the distance to the newest end, so there are 130 at most: it
 * always comes to an end.
 */
static void compact_spans(struct rtl_busy *busy)
{
    join_within(busy, FINEST - busy->coarser);
    while (RTL_BUSY_SPANS - busy->count < FREE_WANTED && busy->coarser < FINEST)
        join_within(busy, FINEST - ++busy->coarser);
    if (RTL_BUSY_SPANS - busy->count > FREE_ENOUGH && busy->coarser > 0)
        busy->coarser--;
}

/* What of the part [start, end) of a span is covered: all of it, or its share where the span is a hull. */
static uint64_t covered_part(const struct rtl_busy_span *span, uint64_t part)
{
    uint64_t whole = span_length(span);
    if (span->covered == whole || part == whole)
        return span->covered == whole ? part : span->covered;
    return scale(span->covered, part, whole, 0);
}

/* What of a span the intervals from `from` to `to` of the run lie on. */
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

/*
 * What these intervals of the run newly cover where they touch these spans, some of which are hulls. What is left of
 * the hulls' gaps is added to `gaps`.
 */
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

/*
 * The union of the spans and the run, in one pass over the run and the spans from its first interval on. Those make
 * way by the length of the run, so that what is written never comes past what is still to be read. Spans and intervals
 * that touch become one; such a group is mostly free of hulls, and then all of it is covered.
 */
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
