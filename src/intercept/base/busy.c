/* The union of intervals and its gaps (busy.h). The usual case, an interval at or behind the newest one, costs a few
 * compares. */
#include "intercept/base/busy.h"

#include <stdbool.h>
#include <string.h>

enum {
    FREE_WANTED = RTL_BUSY_SPANS * 3 / 8, /* places that a compaction must make, */
    FREE_ENOUGH = RTL_BUSY_SPANS * 5 / 8, /* and so many that the next one may try finer hulls */
    FINEST = 6,                           /* hulls are at most their age >> 6 long where that makes room enough */
};

static uint64_t length(const struct rtl_busy_span *span)
{
    return span->end - span->start;
}

static bool is_hull(const struct rtl_busy_span *span)
{
    return span->covered != length(span);
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

static uint64_t share(uint64_t value, uint64_t part, uint64_t whole)
{
    return (uint64_t)(((unsigned __int128)value * part + whole / 2) / whole);
}

/* What of a hull's gaps is left when `idle` of its idle time is left. */
static struct rtl_gaps left_of(const struct rtl_gaps *gaps, uint64_t idle, uint64_t idle_before)
{
    struct rtl_gaps left = *gaps;
    for (int i = 0; idle != idle_before && i < RTL_IDLE_COUNT; i++) {
        left.total[i] = share(gaps->total[i], idle, idle_before);
        left.count[i] = (uint32_t)share(gaps->count[i], idle, idle_before);
    }
    return left;
}

void rtl_busy_settle(struct rtl_busy *busy, uint64_t behind)
{
    uint32_t n = busy->count;
    if (!n || busy->span[n - 1].end <= behind)
        return;
    uint64_t upto = busy->span[n - 1].end - behind, settled = busy->settled;
    uint32_t low = 0, high = n; /* the first span that isn't settled */
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (busy->span[middle].end > settled)
            high = middle;
        else
            low = middle + 1;
    }
    for (uint32_t i = low; i < n && busy->span[i].end <= upto; i++) {
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
static void join(struct rtl_busy *busy, uint32_t to, uint32_t from)
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
            join(busy, to, i);
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
static void compact(struct rtl_busy *busy)
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
    uint64_t whole = length(span);
    if (span->covered == whole || part == whole)
        return span->covered == whole ? part : span->covered;
    return (uint64_t)((unsigned __int128)span->covered * part / whole);
}

/* Puts [start, end), which touches none, at place i. */
static void insert(struct rtl_busy *busy, uint32_t i, uint64_t start, uint64_t end)
{
    uint32_t behind = busy->count - i;
    if (behind) {
        memmove(&busy->span[i + 1], &busy->span[i], behind * sizeof busy->span[0]);
        memmove(&busy->inner[i + 1], &busy->inner[i], behind * sizeof busy->inner[0]);
    }
    busy->span[i] = (struct rtl_busy_span){start, end, end - start};
    busy->count++;
    busy->total += end - start;
}

/* Joins [start, end) and the spans [first, behind), all of which it touches, into one. */
static void merge(struct rtl_busy *busy, uint32_t first, uint32_t behind, uint64_t start, uint64_t end)
{
    struct rtl_gaps gaps = {0};
    uint64_t low = start, high = end, there = 0, under = 0;
    for (uint32_t i = first; i < behind; i++) {
        const struct rtl_busy_span *span = &busy->span[i];
        uint64_t from = span->start > start ? span->start : start;
        uint64_t to = span->end < end ? span->end : end;
        uint64_t part = to > from ? to - from : 0, covered = covered_part(span, part);
        if (is_hull(span)) {
            uint64_t idle = length(span) - span->covered;
            struct rtl_gaps left = left_of(&busy->inner[i], idle - (part - covered), idle);
            add_gaps(&gaps, &left);
        }
        there += span->covered;
        under += covered;
        low = span->start < low ? span->start : low;
        high = span->end > high ? span->end : high;
    }
    uint64_t fresh = end - start - under;
    busy->total += fresh;
    busy->span[first] = (struct rtl_busy_span){low, high, there + fresh};
    if (is_hull(&busy->span[first]))
        busy->inner[first] = gaps;
    if (behind - first > 1 && busy->count > behind) {
        uint32_t rest = busy->count - behind;
        memmove(&busy->span[first + 1], &busy->span[behind], rest * sizeof busy->span[0]);
        memmove(&busy->inner[first + 1], &busy->inner[behind], rest * sizeof busy->inner[0]);
    }
    busy->count -= behind - first - 1;
}

void rtl_busy_add(struct rtl_busy *busy, uint64_t start, uint64_t end)
{
    if (end <= start)
        return;
    uint32_t n = busy->count;
    struct rtl_busy_span *last = n ? &busy->span[n - 1] : NULL;
    if (last && start >= last->start && start <= last->end && !is_hull(last)) { /* back to back, or overlapping */
        uint64_t more = end > last->end ? end - last->end : 0;
        last->end += more;
        last->covered += more;
        busy->total += more;
        return;
    }
    if (n == RTL_BUSY_SPANS) {
        compact(busy);
        n = busy->count;
        last = &busy->span[n - 1];
    }
    if (!last || start > last->end) {
        insert(busy, n, start, end);
        return;
    }
    /* The spans that it touches are [first, behind): found from the newest end, where it nearly always is. */
    uint32_t behind = n;
    while (behind > 0 && busy->span[behind - 1].start > end)
        behind--;
    uint32_t first = behind;
    while (first > 0 && busy->span[first - 1].end >= start)
        first--;
    if (first == behind)
        insert(busy, first, start, end);
    else
        merge(busy, first, behind, start, end);
}
