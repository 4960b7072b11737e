/* The union of intervals (busy.h). The usual case, an interval at or behind the newest one, costs a few compares. */
#include "intercept/busy.h"

#include <string.h>

/* Joins the older half pairwise. A hull's gaps stay known as its length less what is covered. */
static void compact(struct rtl_busy *busy)
{
    uint32_t half = busy->count / 2 & ~1u, to = 0;
    for (uint32_t i = 0; i < half; i += 2) {
        struct rtl_busy_span *a = &busy->span[i], *b = &busy->span[i + 1];
        busy->span[to++] = (struct rtl_busy_span){a->start, b->end, a->covered + b->covered};
    }
    memmove(&busy->span[to], &busy->span[half], (busy->count - half) * sizeof busy->span[0]);
    busy->count -= half - to;
}

/* What of the part [start, end) of a span is covered: all of it, or its share where the span is a hull. */
static uint64_t covered_part(const struct rtl_busy_span *span, uint64_t start, uint64_t end)
{
    uint64_t length = span->end - span->start, part = end - start;
    if (span->covered == length || part == length)
        return span->covered == length ? part : span->covered;
    return (uint64_t)((unsigned __int128)span->covered * part / length);
}

void rtl_busy_add(struct rtl_busy *busy, uint64_t start, uint64_t end)
{
    if (end <= start)
        return;
    uint32_t n = busy->count;
    struct rtl_busy_span *last = n ? &busy->span[n - 1] : NULL;

    if (!last || start > last->end) {
        if (n == RTL_BUSY_SPANS) {
            compact(busy);
            n = busy->count;
        }
        busy->span[n] = (struct rtl_busy_span){start, end, end - start};
        busy->count = n + 1;
        busy->total += end - start;
        return;
    }

    /* The spans that it touches are [first, behind): found from the newest end, where it nearly always is. */
    uint32_t behind = n;
    while (behind > 0 && busy->span[behind - 1].start > end)
        behind--;
    uint32_t first = behind;
    while (first > 0 && busy->span[first - 1].end >= start)
        first--;

    if (first == behind) { /* touches none: goes between */
        if (n == RTL_BUSY_SPANS) {
            compact(busy);
            rtl_busy_add(busy, start, end); /* once: there is room now */
            return;
        }
        memmove(&busy->span[first + 1], &busy->span[first], (n - first) * sizeof busy->span[0]);
        busy->span[first] = (struct rtl_busy_span){start, end, end - start};
        busy->count = n + 1;
        busy->total += end - start;
        return;
    }

    uint64_t low = start, high = end, there = 0, under = 0;
    for (uint32_t i = first; i < behind; i++) {
        const struct rtl_busy_span *span = &busy->span[i];
        uint64_t from = span->start > start ? span->start : start;
        uint64_t to = span->end < end ? span->end : end;
        there += span->covered;
        under += to > from ? covered_part(span, from, to) : 0;
        low = span->start < low ? span->start : low;
        high = span->end > high ? span->end : high;
    }
    uint64_t fresh = end - start - under;
    busy->total += fresh;
    busy->span[first] = (struct rtl_busy_span){low, high, there + fresh};
    memmove(&busy->span[first + 1], &busy->span[behind], (n - behind) * sizeof busy->span[0]);
    busy->count = n - (behind - first) + 1;
}
