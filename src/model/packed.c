/* Packs and unpacks histograms. See packed.h. */
#include "model/packed.h"

#include <string.h>

enum { COUNT_BITS = 52, BUCKETS = RTL_OCTAVES_MAX * RTL_CHUNK_BUCKETS }; /* numbers from BUCKETS on: coarse counts */
#define COUNT_MOST ((1ull << COUNT_BITS) - 1)

void rtl_packing_add(struct rtl_packing *p, const struct rtl_histogram_copy *h)
{
    for (uint32_t o = 0; o < h->octave_count; o++) {
        uint32_t octave = h->octaves[o].octave;
        if (octave >= RTL_OCTAVES_MAX)
            continue;
        uint64_t *to = &p->bucket[octave * RTL_CHUNK_BUCKETS], any = 0;
        for (uint32_t b = 0; b < RTL_CHUNK_BUCKETS; b++) {
            to[b] += h->octaves[o].bucket[b];
            any |= to[b];
        }
        if (any)
            p->octaves |= 1ull << octave;
    }
    for (uint32_t o = 0; h->coarse && o < RTL_OCTAVES_MAX; o++)
        p->coarse[o] += h->coarse[o];
    p->any_coarse |= h->coarse != NULL;
}

void rtl_packing_add_words(struct rtl_packing *p, const uint64_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = (uint32_t)(words[i] >> COUNT_BITS);
        if (at < BUCKETS) {
            p->bucket[at] += words[i] & COUNT_MOST;
            p->octaves |= 1ull << at / RTL_CHUNK_BUCKETS;
        } else {
            p->coarse[(at - BUCKETS) % RTL_OCTAVES_MAX] += words[i] & COUNT_MOST;
            p->any_coarse = true;
        }
    }
}

static bool has_octave(const struct rtl_packing *p, uint32_t octave)
{
    return p->octaves >> octave & 1;
}

static uint64_t octave_sum(const struct rtl_packing *p, uint32_t octave)
{
    uint64_t sum = p->coarse[octave];
    for (uint32_t b = 0; b < RTL_CHUNK_BUCKETS && has_octave(p, octave); b++)
        sum += p->bucket[octave * RTL_CHUNK_BUCKETS + b];
    return sum;
}

static void clear_packing(struct rtl_packing *p)
{
    for (uint32_t o = 0; o < RTL_OCTAVES_MAX; o++)
        if (has_octave(p, o))
            memset(&p->bucket[o * RTL_CHUNK_BUCKETS], 0, RTL_CHUNK_BUCKETS * sizeof *p->bucket);
    if (p->any_coarse)
        memset(p->coarse, 0, sizeof p->coarse);
    p->octaves = 0;
    p->any_coarse = false;
}

uint32_t rtl_packing_words(const struct rtl_packing *p, bool coarsely)
{
    uint32_t words = 0;
    for (uint32_t o = 0; o < RTL_OCTAVES_MAX; o++) {
        if (coarsely) {
            words += octave_sum(p, o) != 0;
            continue;
        }
        for (uint32_t b = 0; b < RTL_CHUNK_BUCKETS && has_octave(p, o); b++)
            words += p->bucket[o * RTL_CHUNK_BUCKETS + b] != 0;
        words += p->coarse[o] != 0;
    }
    return words;
}

static void append_word(uint64_t **words, uint32_t at, uint64_t count)
{
    if (count)
        *(*words)++ = (uint64_t)at << COUNT_BITS | (count < COUNT_MOST ? count : COUNT_MOST);
}

void rtl_packing_pack(struct rtl_packing *p, bool coarsely, uint64_t *words)
{
    for (uint32_t o = 0; o < RTL_OCTAVES_MAX; o++) {
        for (uint32_t b = 0; b < RTL_CHUNK_BUCKETS && has_octave(p, o) && !coarsely; b++)
            append_word(&words, o * RTL_CHUNK_BUCKETS + b, p->bucket[o * RTL_CHUNK_BUCKETS + b]);
        append_word(&words, BUCKETS + o, coarsely ? octave_sum(p, o) : p->coarse[o]);
    }
    clear_packing(p);
}

size_t rtl_packing_bytes(const struct rtl_packing *p, bool coarsely)
{
    size_t octaves = coarsely ? 0 : (size_t)__builtin_popcountll(p->octaves);
    return octaves * sizeof(struct rtl_octave) + (p->any_coarse || coarsely ? sizeof p->coarse : 0);
}

void rtl_packing_unpack(struct rtl_packing *p, bool coarsely, struct rtl_histogram_copy *h, void *storage)
{
    struct rtl_octave *octaves = storage;
    uint32_t count = 0;
    for (uint32_t o = 0; o < RTL_OCTAVES_MAX; o++) {
        if (!has_octave(p, o) || coarsely)
            continue;
        octaves[count] = (struct rtl_octave){.octave = (uint8_t)o};
        memcpy(octaves[count++].bucket, &p->bucket[o * RTL_CHUNK_BUCKETS], sizeof octaves->bucket);
    }
    h->octaves = count ? octaves : NULL;
    h->octave_count = count;
    h->coarse = NULL;
    if (p->any_coarse || coarsely) {
        h->coarse = (uint64_t *)(void *)(octaves + count);
        for (uint32_t o = 0; o < RTL_OCTAVES_MAX; o++)
            h->coarse[o] = coarsely ? octave_sum(p, o) : p->coarse[o];
    }
    clear_packing(p);
}

uint32_t rtl_packed_last(const uint64_t *words, uint32_t count)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < count; i++) { /* coarse counts stand between the octaves */
        uint32_t at = (uint32_t)(words[i] >> COUNT_BITS);
        if (at >= BUCKETS)
            return UINT32_MAX;
        last = at;
    }
    return last;
}
