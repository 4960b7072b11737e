/*
 * Quantiles, windows and bins, from one pass over the buckets that grew between two copies of a histogram.
 *
 * Coarse counts (kept per octave only) are placed in the octave's geometric middle: off by at most 41 %.
 */
#include "stats/quantile.h"

#include <math.h>
#include <string.h>

#include "stats/histogram.h"

/* A pass over the octaves of later - earlier, ascending. */
struct octave_walk {
    const struct rtl_histogram_copy *earlier, *later;
    uint32_t at_earlier, at_later, octave;
    const uint64_t
        *grown; /* growth of each bucket in `octave`: the later copy's counts, or the differences in `mine` */
    uint64_t mine[RTL_CHUNK_BUCKETS];
    uint64_t sum;     /* of `grown` */
    uint64_t loose;   /* the part of `sum` that is known per octave only; counted in the middle bucket */
    bool coarse;      /* the octave has such a part */
    bool approximate; /* an octave so far had one */
};

enum { MIDDLE_BUCKET = 26 }; /* around 2^0.5 times the octave's first value */

/* True if nothing was added, or the count shrank: another process. The count is the sum of all buckets. */
static bool none_new(const struct rtl_histogram_copy *earlier, const struct rtl_histogram_copy *later)
{
    return earlier && earlier->count >= later->count;
}

static const struct rtl_octave *octave_of(const struct rtl_histogram_copy *h, uint32_t *at, uint32_t octave)
{
    while (*at < h->octave_count && h->octaves[*at].octave < octave)
        ++*at;
    return *at < h->octave_count && h->octaves[*at].octave == octave ? &h->octaves[*at] : NULL;
}

static uint64_t difference(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* The hot loops of a frame with many kernels; the compiler vectorizes them. */
static void grow_by_buckets(struct octave_walk *w, const struct rtl_octave *earlier, const struct rtl_octave *later)
{
    uint64_t sum = 0, any = 0;
    if (!earlier) {
        for (uint32_t i = 0; i < RTL_CHUNK_BUCKETS; i++)
            sum += later->bucket[i];
        w->grown = later->bucket;
        w->sum = sum;
        return;
    }
    for (uint32_t i = 0; i < RTL_CHUNK_BUCKETS; i++) {
        uint64_t grown = later->bucket[i] - earlier->bucket[i];
        w->mine[i] = grown;
        sum += grown;
        any |= grown;
    }
    if (any >> 63) { /* a bucket shrank: the segment is corrupt */
        sum = 0;
        for (uint32_t i = 0; i < RTL_CHUNK_BUCKETS; i++)
            sum += w->mine[i] = difference(later->bucket[i], earlier->bucket[i]);
    }
    w->grown = w->mine;
    w->sum = sum;
}

/* Add a count that is known per octave only. */
static void grow_by_octave(struct octave_walk *w, uint64_t count)
{
    if (w->grown != w->mine)
        memcpy(w->mine, w->grown, sizeof w->mine);
    w->mine[MIDDLE_BUCKET] += count;
    w->grown = w->mine;
    w->sum += count;
    w->loose = count;
    w->coarse = w->approximate = true;
}

/* Advance to the next octave that grew; fills in w->octave and w->grown. */
static bool next_octave(struct octave_walk *w)
{
    while (++w->octave < RTL_OCTAVES_MAX) {
        if (!w->later->coarse) { /* skip absent octaves */
            if (w->at_later >= w->later->octave_count)
                break;
            w->octave = w->later->octaves[w->at_later].octave;
        }
        uint32_t k = w->octave;
        uint64_t coarse = w->later->coarse ? w->later->coarse[k] : 0;
        const struct rtl_octave *later = octave_of(w->later, &w->at_later, k);
        if (w->earlier && w->earlier->coarse)
            coarse = difference(coarse, w->earlier->coarse[k]);
        if (!later && !coarse)
            continue;
        w->coarse = false;
        w->loose = 0;
        if (later) {
            grow_by_buckets(w, w->earlier ? octave_of(w->earlier, &w->at_earlier, k) : NULL, later);
            w->at_later++;
        } else {
            w->grown = memset(w->mine, 0, sizeof w->mine);
            w->sum = 0;
        }
        if (coarse)
            grow_by_octave(w, coarse);
        if (w->sum)
            return true;
    }
    return false;
}

static struct octave_walk start_walk(const struct rtl_histogram_copy *earlier, const struct rtl_histogram_copy *later)
{
    struct octave_walk w; /* the buckets needn't be cleared */
    w.earlier = earlier;
    w.later = later;
    w.at_earlier = w.at_later = 0;
    w.octave = UINT32_MAX;
    w.grown = w.mine;
    w.sum = w.loose = 0;
    w.coarse = w.approximate = false;
    return w;
}

/* Narrow the window by the exact extremes since the start. They hold for a window that begins at the start; for
 * others only where they lie in the first or last bucket. */
static void narrow_extremes(struct rtl_window *window, const struct rtl_histogram_copy *earlier,
                            const struct rtl_histogram_copy *later, uint64_t first_end, uint64_t last_low)
{
    if (later->min_ns > later->max_ns || later->approximate)
        return;
    bool whole = !earlier || earlier->count == 0;
    if (whole || (later->min_ns > window->min_ns && later->min_ns < first_end))
        window->min_ns = later->min_ns;
    if (whole || (later->max_ns < window->max_ns && later->max_ns >= last_low))
        window->max_ns = later->max_ns;
}

struct rtl_window rtl_window_between(const struct rtl_histogram_copy *earlier, const struct rtl_histogram_copy *later)
{
    struct rtl_window window = {0};
    if (none_new(earlier, later))
        return window;
    if (!earlier && !later->approximate && later->count &&
        later->min_ns <= later->max_ns) /* the exact values are known */
        return (struct rtl_window){later->count, later->total_ns, later->min_ns, later->max_ns, false};
    struct octave_walk w = start_walk(earlier, later);
    uint64_t first_end = 0, last_low = 0;
    while (next_octave(&w)) {
        uint32_t first = 0, last = RTL_CHUNK_BUCKETS - 1, base = w.octave * RTL_CHUNK_BUCKETS;
        while (!w.coarse && !w.grown[first])
            first++;
        while (!w.coarse && !w.grown[last])
            last--;
        if (!window.count) {
            window.min_ns = rtl_bucket_low(base + first);
            first_end = window.min_ns + rtl_bucket_width(base + first);
        }
        last_low = rtl_bucket_low(base + last);
        window.max_ns = last_low + rtl_bucket_width(base + last) - 1;
        window.count += w.sum;
    }
    if (!window.count)
        return window;
    window.total_ns = difference(later->total_ns, earlier ? earlier->total_ns : 0);
    window.approximate = w.approximate || later->approximate || (earlier && earlier->approximate);
    narrow_extremes(&window, earlier, later, first_end, last_low);
    return window;
}

/* Return the smallest rank, 1..n, whose share of n reaches q; products of decimal fractions are a few ulp off. */
static uint64_t quantile_rank(double q, uint64_t n)
{
    double exact = q * (double)n;
    if (!(exact > 1)) /* also for NaN */
        return 1;
    if (exact >= (double)n)
        return n;
    uint64_t rank = (uint64_t)exact;
    if (exact - (double)rank > exact * 1e-14)
        rank++;
    return rank < n ? rank : n;
}

bool rtl_quantiles(const struct rtl_histogram_copy *earlier, const struct rtl_histogram_copy *later, const double *q,
                   int count, uint64_t *out)
{
    struct rtl_window window = rtl_window_between(earlier, later);
    if (!window.count)
        return false;
    struct octave_walk w = start_walk(earlier, later);
    uint64_t seen = 0;
    int done = 0;

    uint64_t rank = count > 0 ? quantile_rank(q[0], window.count) : 0;
    while (done < count && next_octave(&w)) {
        if (rank > seen + w.sum) {
            seen += w.sum;
            continue;
        }
        for (uint32_t i = 0; done < count && i < RTL_CHUNK_BUCKETS; i++) {
            seen += w.grown[i];
            while (done < count && rank <= seen) { /* rank `rank` lies in this bucket */
                uint64_t value = rtl_bucket_middle(w.octave * RTL_CHUNK_BUCKETS + i);
                if (value < window.min_ns)
                    value = window.min_ns;
                if (value > window.max_ns)
                    value = window.max_ns;
                out[done++] = value;
                if (done < count)
                    rank = quantile_rank(q[done], window.count);
            }
        }
    }
    while (done < count) /* sums wrapped: the segment is corrupt */
        out[done++] = window.max_ns;
    return true;
}

bool rtl_p50_p99_between(const struct rtl_histogram_copy *earlier, const struct rtl_histogram_copy *later,
                         uint64_t *p50, uint64_t *p99)
{
    uint64_t out[2] = {0, 0};
    bool known = rtl_quantiles(earlier, later, (const double[]){0.5, 0.99}, 2, out);
    *p50 = out[0];
    *p99 = out[1];
    return known;
}

bool rtl_p50_p99(const struct rtl_histogram_copy *h, uint64_t out[2])
{
    return rtl_p50_p99_between(NULL, h, &out[0], &out[1]);
}

/* Return how much of `count` values between low and high, spread evenly on a log scale, lies below the edge. */
static double part_below(uint64_t count, double low, double high, double edge, double first, double last)
{
    low = low < first ? first : low; /* no value lies beyond the outermost edges */
    high = high > last ? last : high;
    if (edge >= high)
        return (double)count;
    if (edge <= low)
        return 0;
    double part = low < 1 ? (edge - low) / (high - low) : log(edge / low) / log(high / low);
    return part * (double)count;
}

/* Return the number of values below the edge, rounded; values in complete buckets below it are exact. */
static uint64_t count_below(const struct rtl_histogram_copy *earlier, const struct rtl_histogram_copy *later,
                            double edge, double first, double last)
{
    struct octave_walk w = start_walk(earlier, later);
    uint64_t whole = 0;
    double part = 0;
    while (next_octave(&w)) {
        uint32_t base = w.octave * RTL_CHUNK_BUCKETS;
        double low = (double)rtl_bucket_low(base);
        if (low >= edge)
            break;
        double high =
            (double)(rtl_bucket_low(base + RTL_CHUNK_BUCKETS - 1) + rtl_bucket_width(base + RTL_CHUNK_BUCKETS - 1));
        if (high <= edge) {
            whole += w.sum;
            continue;
        }
        part += part_below(w.loose, low, high, edge, first, last);
        for (uint32_t i = 0; i < RTL_CHUNK_BUCKETS; i++) {
            uint64_t count = w.grown[i] - (i == MIDDLE_BUCKET ? w.loose : 0);
            low = (double)rtl_bucket_low(base + i);
            high = low + (double)rtl_bucket_width(base + i);
            if (high <= edge)
                whole += count;
            else if (count && low < edge)
                part += part_below(count, low, high, edge, first, last);
        }
    }
    return whole + (uint64_t)(part + 0.5);
}

void rtl_bin(const struct rtl_histogram_copy *earlier, const struct rtl_histogram_copy *later, const double *edges,
             int edge_count, uint64_t *bins)
{
    if (edge_count < 2)
        return;
    memset(bins, 0, (size_t)(edge_count - 1) * sizeof *bins);
    if (none_new(earlier, later))
        return;
    uint64_t before = 0, all = 0;
    for (struct octave_walk w = start_walk(earlier, later); next_octave(&w);)
        all += w.sum;
    for (int i = 0; i < edge_count - 1; i++) {
        uint64_t below =
            i == edge_count - 2 ? all : count_below(earlier, later, edges[i + 1], edges[0], edges[edge_count - 1]);
        bins[i] = below > before ? below - before : 0; /* sums wrapped: the segment is corrupt */
        before = below > before ? below : before;
    }
}
