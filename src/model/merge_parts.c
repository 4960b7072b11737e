/* Parts and groups of merged kernels. See merge_parts.h. */
#include "model/merge_parts.h"
#include "base/array.h"
#include "stats/histogram_sum.h"

#include <stdlib.h>
#include <string.h>

/* --- packing --- */

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

void rtl_part_add(const struct rtl_part *part, struct rtl_packing *p)
{
    for (uint32_t i = 0; i < part->word_count; i++) {
        uint32_t at = (uint32_t)(part->words[i] >> COUNT_BITS);
        if (at < BUCKETS) {
            p->bucket[at] += part->words[i] & COUNT_MOST;
            p->octaves |= 1ull << at / RTL_CHUNK_BUCKETS;
        } else {
            p->coarse[(at - BUCKETS) % RTL_OCTAVES_MAX] += part->words[i] & COUNT_MOST;
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

static void append_word(uint64_t *words, uint32_t *count, uint32_t at, uint64_t value)
{
    if (words && value)
        words[*count] = (uint64_t)at << COUNT_BITS | (value < COUNT_MOST ? value : COUNT_MOST);
    *count += value != 0;
}

/* Write the words, unless `words` is NULL; return their number. */
static uint32_t pack_words(const struct rtl_packing *p, bool coarsely, uint64_t *words)
{
    uint32_t count = 0;
    for (uint32_t o = 0; o < RTL_OCTAVES_MAX; o++) {
        for (uint32_t b = 0; b < RTL_CHUNK_BUCKETS && has_octave(p, o) && !coarsely; b++)
            append_word(words, &count, o * RTL_CHUNK_BUCKETS + b, p->bucket[o * RTL_CHUNK_BUCKETS + b]);
        append_word(words, &count, BUCKETS + o, coarsely ? octave_sum(p, o) : p->coarse[o]);
    }
    return count;
}

/* Return the bytes of octaves and coarse counts. */
static size_t packed_bytes(const struct rtl_packing *p, bool coarsely)
{
    size_t octaves = coarsely ? 0 : (size_t)__builtin_popcountll(p->octaves);
    return octaves * sizeof(struct rtl_octave) + (p->any_coarse || coarsely ? sizeof p->coarse : 0);
}

/* Write octaves and coarse counts to `storage` for the histogram, and clear the packing. */
static void unpack_histogram(struct rtl_packing *p, bool coarsely, struct rtl_histogram_copy *h, void *storage)
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

uint32_t rtl_part_last_bucket(const struct rtl_part *part)
{
    uint32_t last = part->word_count ? 0 : UINT32_MAX;
    for (uint32_t i = 0; i < part->word_count; i++) { /* coarse counts stand between the octaves */
        last = (uint32_t)(part->words[i] >> COUNT_BITS);
        if (last >= BUCKETS)
            return UINT32_MAX;
    }
    return last;
}

/* --- parts and groups --- */

static int compare_part(const void *key, const void *element)
{
    const struct rtl_part *wanted = key, *part = *(struct rtl_part *const *)element;
    if (wanted->member != part->member)
        return wanted->member < part->member ? -1 : 1;
    return (wanted->row > part->row) - (wanted->row < part->row);
}

uint32_t rtl_part_position(struct rtl_part *const *parts, uint32_t count, uint32_t member, uint32_t row)
{
    const struct rtl_part key = {.member = member, .row = row};
    return (uint32_t)rtl_lower_bound(parts, count, sizeof *parts, &key, compare_part);
}

struct rtl_histogram_copy rtl_part_histogram(const struct rtl_part *part, struct rtl_unpacked *room)
{
    struct rtl_histogram_copy h = part->kernel.histogram;
    struct rtl_packing packing;
    memset(&packing, 0, sizeof packing);
    rtl_part_add(part, &packing);
    unpack_histogram(&packing, false, &h, room->bytes);
    return h;
}

void rtl_part_release(struct rtl_part *part)
{
    if (!part || --part->references)
        return;
    *part->charged -= part->bytes;
    free(part);
}

void rtl_group_release(struct rtl_group *group)
{
    if (!group || --group->references)
        return;
    for (uint32_t i = 0; i < group->count; i++)
        rtl_part_release(group->parts[i]);
    *group->charged -= group->bytes;
    free(group);
}

static void fill_part(struct rtl_part *part, const struct rtl_kernel_snapshot *kernel, struct rtl_packing *packing)
{
    part->kernel = *kernel;
    part->kernel.histogram.octaves = NULL;
    part->kernel.histogram.octave_count = 0;
    part->kernel.histogram.coarse = NULL;
    part->kernel.histogram.approximate |= part->coarse;
    part->word_count = pack_words(packing, part->coarse, part->words);
    clear_packing(packing);
}

struct rtl_part *rtl_part_make(const struct rtl_kernel_snapshot *kernel, struct rtl_packing *packing, bool coarse,
                               size_t *charged)
{
    uint32_t words = pack_words(packing, coarse, NULL);
    size_t bytes = sizeof(struct rtl_part) + (coarse ? RTL_OCTAVES_MAX : words) * sizeof(uint64_t);
    struct rtl_part *part = malloc(bytes);
    if (!part) {
        clear_packing(packing);
        return NULL;
    }
    part->references = 1;
    part->coarse = coarse;
    part->bytes = bytes;
    part->charged = charged;
    *charged += bytes;
    fill_part(part, kernel, packing);
    return part;
}

void rtl_part_rewrite(struct rtl_part *part, const struct rtl_kernel_snapshot *kernel, struct rtl_packing *packing)
{
    fill_part(part, kernel, packing);
}

/* Sum the estimates of observed processes and the measured times of others; 0 if no process is observed. */
static uint64_t estimate_of(struct rtl_part *const *parts, uint32_t count)
{
    uint64_t sum = 0;
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        const struct rtl_kernel_snapshot *k = &parts[i]->kernel;
        any |= k->estimated_ns != 0;
        sum += k->estimated_ns ? k->estimated_ns : k->histogram.total_ns;
    }
    return any ? sum : 0;
}

struct rtl_group *rtl_group_make(struct rtl_part *const *parts, uint32_t count, struct rtl_packing *packing,
                                 size_t *charged)
{
    const struct rtl_part *busiest = parts[0];
    for (uint32_t i = 0; i < count; i++) {
        rtl_part_add(parts[i], packing);
        if (parts[i]->kernel.calls > busiest->kernel.calls)
            busiest = parts[i];
    }
    bool coarsely = *charged + packed_bytes(packing, false) > RTL_GROUPS_BYTES_MAX;
    size_t head = sizeof(struct rtl_group) + count * sizeof(struct rtl_part *);
    size_t bytes = head + packed_bytes(packing, coarsely);
    struct rtl_group *group = malloc(bytes);
    if (!group) {
        clear_packing(packing);
        return NULL;
    }
    group->references = 1;
    group->bytes = bytes;
    group->charged = charged;
    *charged += bytes;
    group->count = count;
    group->kernel = busiest->kernel;
    group->kernel.calls = group->kernel.untimed = group->kernel.estimated_ns = 0;
    group->kernel.histogram = (struct rtl_histogram_copy){.approximate = coarsely};
    for (uint32_t i = 0; i < count; i++) {
        group->parts[i] = parts[i];
        parts[i]->references++;
        group->kernel.calls += parts[i]->kernel.calls;
        group->kernel.untimed += parts[i]->kernel.untimed;
        rtl_histogram_add_scalars(&group->kernel.histogram, &parts[i]->kernel.histogram);
    }
    group->kernel.estimated_ns = estimate_of(parts, count);
    unpack_histogram(packing, coarsely, &group->kernel.histogram, (char *)group + head);
    return group;
}
