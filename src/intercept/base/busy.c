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
    busy->slice_length = RTL_GAPS_SLICE_S * hz;
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
    for (int i = 0; i < RTL_CAUSE_COUNT; i++)
        to->cause[i] += from->cause[i];
    if (from->longest.end - from->longest.start > to->longest.end - to->longest.start)
        to->longest = from->longest;
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
    for (int i = 0; idle != idle_before && i < RTL_CAUSE_COUNT; i++)
        left.cause[i] = scale(gaps->cause[i], idle, idle_before, idle_before / 2);
    return left;
}

/* --- copies --- */

/* Return the first copy that ends behind `at`. */
static uint32_t find_copy(const struct rtl_busy *busy, uint64_t at)
{
    uint32_t low = 0, high = busy->copies;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (busy->copy[middle].end <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Drop the copies that no gap can need any more. */
static void drop_copies(struct rtl_busy *busy)
{
    uint32_t gone = find_copy(busy, busy->settled);
    if (!gone)
        return;
    busy->copies -= gone;
    memmove(busy->copy, busy->copy + gone, busy->copies * sizeof *busy->copy);
}

/* Join each pair of neighbours: the time between them then counts as copying. */
static void halve_copies(struct rtl_busy *busy)
{
    busy->copies /= 2;
    for (uint32_t i = 0; i < busy->copies; i++)
        busy->copy[i] = (struct rtl_busy_copy){busy->copy[2 * i].start, busy->copy[2 * i + 1].end};
}

void rtl_busy_add_copy(struct rtl_busy *busy, uint64_t start, uint64_t end)
{
    if (end <= start || end <= busy->settled)
        return;
    if (busy->copies == RTL_BUSY_COPIES)
        halve_copies(busy);
    /* the new copy touches those from `at` up to `behind`: mostly none, and it joins the end of the list */
    uint32_t behind = busy->copies;
    while (behind && busy->copy[behind - 1].start > end)
        behind--;
    uint32_t at = behind;
    while (at && busy->copy[at - 1].end >= start)
        at--;
    for (uint32_t i = at; i < behind; i++) {
        start = busy->copy[i].start < start ? busy->copy[i].start : start;
        end = busy->copy[i].end > end ? busy->copy[i].end : end;
    }
    memmove(busy->copy + at + 1, busy->copy + behind, (busy->copies - behind) * sizeof *busy->copy);
    busy->copies = busy->copies - (behind - at) + 1;
    busy->copy[at] = (struct rtl_busy_copy){start, end};
}

/* Return the part of [start, end) in which copies ran. */
static uint64_t copying_in(const struct rtl_busy *busy, uint64_t start, uint64_t end)
{
    uint64_t part = 0;
    for (uint32_t i = find_copy(busy, start); i < busy->copies && busy->copy[i].start < end; i++) {
        uint64_t low = busy->copy[i].start > start ? busy->copy[i].start : start;
        part += (busy->copy[i].end < end ? busy->copy[i].end : end) - low;
    }
    return part;
}

/* --- causes --- */

/* Divide a gap by cause: add its parts to `cause`, and set those of the gap. */
static void divide_gap(const struct rtl_busy *busy, struct rtl_busy_gap *gap, uint64_t cause[RTL_CAUSE_COUNT])
{
    if (class_of(busy, gap->end - gap->start) == 0) {
        cause[RTL_CAUSE_SHORT] += gap->end - gap->start;
        gap->cause = RTL_CAUSE_SHORT;
        return;
    }
    bool known = gap->after.known & RTL_BUSY_SUBMIT;
    uint64_t queued = !known || gap->submit <= gap->start ? gap->start
                      : gap->submit < gap->end            ? gap->submit
                                                          : gap->end;
    uint64_t copies_before = copying_in(busy, gap->start, queued), copies_after = copying_in(busy, queued, gap->end);
    uint64_t rest = gap->end - queued - copies_after;
    enum rtl_cause held = !known                                ? RTL_CAUSE_UNKNOWN
                          : gap->after.known & RTL_BUSY_BARRIER ? RTL_CAUSE_BARRIER
                                                                : RTL_CAUSE_QUEUED;
    gap->no_work = queued - gap->start - copies_before;
    gap->copies = copies_before + copies_after;
    gap->cause = gap->no_work >= rest ? RTL_CAUSE_NO_WORK : held;
    if (gap->copies > gap->no_work && gap->copies > rest)
        gap->cause = RTL_CAUSE_COPIES;
    cause[RTL_CAUSE_NO_WORK] += gap->no_work;
    cause[RTL_CAUSE_COPIES] += gap->copies;
    cause[held] += rest;
}

static struct rtl_busy_gap gap_between(const struct rtl_busy_span *a, const struct rtl_busy_span *b)
{
    return (struct rtl_busy_gap){
        .start = a->end, .end = b->start, .submit = b->submit, .before = a->last, .after = b->first};
}

/* Put a settled gap into the list if it is among the longest of its slice of time. Gaps come in order. */
static void note_gap(struct rtl_busy *busy, const struct rtl_busy_gap *gap)
{
    if (!busy->slice_length || gap->cause == RTL_CAUSE_SHORT || gap->start == gap->end)
        return;
    if (gap->end - busy->slice_from >= busy->slice_length) {
        bool next = gap->end - busy->slice_from < 2 * busy->slice_length;
        busy->longest_count[1] = next ? busy->longest_count[0] : 0;
        memcpy(busy->longest[1], busy->longest[0], sizeof *busy->longest);
        busy->longest_count[0] = 0;
        busy->slice_from = gap->end;
    }
    uint32_t at = busy->longest_count[0], shortest = 0;
    if (at == RTL_GAPS_A_SLICE) {
        const struct rtl_busy_gap *list = busy->longest[0];
        for (uint32_t i = 1; i < RTL_GAPS_A_SLICE; i++)
            if (list[i].end - list[i].start < list[shortest].end - list[shortest].start)
                shortest = i;
        if (list[shortest].end - list[shortest].start >= gap->end - gap->start)
            return;
        at = shortest;
    } else {
        busy->longest_count[0]++;
    }
    busy->longest[0][at] = *gap;
    busy->changes++;
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
            struct rtl_busy_gap gap = gap_between(&busy->span[i - 1], span);
            int class = class_of(busy, gap.end - gap.start);
            busy->idle_count[class]++;
            busy->idle_total[class] += gap.end - gap.start;
            divide_gap(busy, &gap, busy->cause_total);
            note_gap(busy, &gap);
        }
        if (is_hull(span)) {
            for (int c = 0; c < RTL_CAUSE_COUNT; c++)
                busy->cause_total[c] += busy->inner[i].cause[c];
            note_gap(busy, &busy->inner[i].longest);
            for (int c = 0; c < RTL_IDLE_COUNT; c++) {
                busy->idle_count[c] += busy->inner[i].count[c];
                busy->idle_total[c] += busy->inner[i].total[c];
            }
            memset(&busy->inner[i], 0, sizeof busy->inner[i]);
        }
        busy->settled = span->end;
    }
    drop_copies(busy);
}

void rtl_busy_restart(struct rtl_busy *busy)
{
    rtl_busy_settle(busy, 0);
    busy->count = 0;
    busy->settled = 0;
    busy->copies = 0;
    busy->longest_count[0] = busy->longest_count[1] = 0;
    busy->slice_from = 0;
    busy->changes++;
}

/* --- spans --- */

/* Join a span into the one before it. end - start - covered is idle time, and `inner` keeps its gaps. */
static void join_spans(struct rtl_busy *busy, uint32_t to, uint32_t from)
{
    struct rtl_busy_span *a = &busy->span[to], *b = &busy->span[from];
    struct rtl_gaps *gaps = &busy->inner[to];
    struct rtl_busy_gap gap = gap_between(a, b);
    if (!is_hull(a))
        memset(gaps, 0, sizeof *gaps);
    if (is_hull(b))
        add_gaps(gaps, &busy->inner[from]);
    if (b->start >= busy->settled) {
        int class = class_of(busy, gap.end - gap.start);
        gaps->total[class] += gap.end - gap.start;
        gaps->count[class]++;
        divide_gap(busy, &gap, gaps->cause);
        if (gap.cause != RTL_CAUSE_SHORT && gap.end - gap.start > gaps->longest.end - gaps->longest.start)
            gaps->longest = gap;
    }
    a->covered += b->covered;
    a->end = b->end;
    a->last = b->last;
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
            for (uint32_t n = from; n < to && busy->run[n].start < left.longest.end; n++)
                if (busy->run[n].end > left.longest.start) /* a kernel ran in it, so it was no gap */
                    left.longest = (struct rtl_busy_gap){0};
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
        bool by_span = j == runs || (i < end && busy->span[i].start < busy->run[j].start);
        struct rtl_busy_span made = {.start = by_span ? busy->span[i].start : busy->run[j].start,
                                     .submit = by_span ? busy->span[i].submit : busy->run[j].submit,
                                     .first = by_span ? busy->span[i].first : busy->run[j].first};
        uint64_t high = made.start, there = 0;
        for (;;) {
            uint64_t behind;
            struct rtl_busy_kernel last;
            if (i < end && busy->span[i].start <= high) {
                behind = busy->span[i].end;
                last = busy->span[i].last;
                there += busy->span[i].covered;
                hull |= is_hull(&busy->span[i++]);
            } else if (j < runs && busy->run[j].start <= high) {
                last = busy->run[j].last;
                behind = busy->run[j++].end;
            } else {
                break;
            }
            if (behind > high) {
                high = behind;
                made.last = last;
            }
        }
        uint64_t fresh = high - made.start - there;
        if (hull) {
            struct rtl_gaps gaps = {0};
            fresh = cover_spans(busy, first, i, from, j, &gaps);
            busy->inner[to] = gaps;
        }
        busy->total += fresh;
        made.end = high;
        made.covered = there + fresh;
        busy->span[to] = made;
    }
    busy->count = to;
    busy->gathered = 0;
}
