/* Adds histograms (histogram_sum.h). */
#include "stats/histogram_sum.h"

#include <string.h>

/* Return the octaves that any of them has, one bit each. */
static uint64_t octaves_of(const struct rtl_histogram_copy *const *from, uint32_t count, bool *coarse)
{
    uint64_t octaves = 0;
    *coarse = false;
    for (uint32_t i = 0; i < count; i++) {
        *coarse |= from[i]->coarse != NULL;
        for (uint32_t o = 0; o < from[i]->octave_count; o++)
            if (from[i]->octaves[o].octave < RTL_OCTAVES_MAX)
                octaves |= 1ull << from[i]->octaves[o].octave;
    }
    return octaves;
}

void rtl_histogram_add_scalars(struct rtl_histogram_copy *sum, const struct rtl_histogram_copy *h)
{
    if (!h->count)
        return;
    if (!sum->count || h->min_ns < sum->min_ns)
        sum->min_ns = h->min_ns;
    if (!sum->count || h->max_ns > sum->max_ns)
        sum->max_ns = h->max_ns;
    sum->count += h->count;
    sum->total_ns += h->total_ns;
    sum->approximate |= h->approximate;
}

struct rtl_histogram_copy rtl_histogram_sum(const struct rtl_histogram_copy *const *from, uint32_t count, void *storage)
{
    struct rtl_histogram_copy sum = {0};
    bool coarse;
    uint64_t octaves = octaves_of(from, count, &coarse);
    uint32_t place[RTL_OCTAVES_MAX];
    sum.octaves = storage;
    for (uint32_t o = 0; o < RTL_OCTAVES_MAX; o++)
        if (octaves >> o & 1) {
            place[o] = sum.octave_count++;
            memset(&sum.octaves[place[o]], 0, sizeof *sum.octaves);
            sum.octaves[place[o]].octave = (uint8_t)o;
        }
    if (coarse) {
        sum.coarse = (uint64_t *)(void *)(sum.octaves + sum.octave_count);
        memset(sum.coarse, 0, RTL_OCTAVES_MAX * sizeof *sum.coarse);
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct rtl_histogram_copy *h = from[i];
        rtl_histogram_add_scalars(&sum, h);
        for (uint32_t o = 0; o < h->octave_count; o++) {
            if (h->octaves[o].octave >= RTL_OCTAVES_MAX)
                continue;
            uint64_t *to = sum.octaves[place[h->octaves[o].octave]].bucket;
            for (uint32_t b = 0; b < RTL_CHUNK_BUCKETS; b++)
                to[b] += h->octaves[o].bucket[b];
        }
        for (uint32_t o = 0; h->coarse && o < RTL_OCTAVES_MAX; o++)
            sum.coarse[o] += h->coarse[o];
    }
    if (!sum.octave_count)
        sum.octaves = NULL;
    return sum;
}

bool rtl_histogram_sum_for(struct rtl_snapshot *snapshot, const struct rtl_histogram_copy *const *from, uint32_t count,
                           struct rtl_histogram_copy *sum)
{
    bool coarse;
    uint64_t octaves = octaves_of(from, count, &coarse);
    size_t bytes = (size_t)__builtin_popcountll(octaves) * sizeof(struct rtl_octave) +
                   (coarse ? RTL_OCTAVES_MAX * sizeof(uint64_t) : 0);
    void *storage = rtl_snapshot_allocate(snapshot, bytes + 1); /* 0 bytes: no buckets */
    if (storage)
        *sum = rtl_histogram_sum(from, count, storage);
    return storage != NULL;
}
