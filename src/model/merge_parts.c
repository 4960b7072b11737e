/* Parts and groups of merged kernels. See merge_parts.h. */
#include "model/merge_parts.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

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

void rtl_part_add(const struct rtl_part *part, struct rtl_packing *packing)
{
    rtl_packing_add_words(packing, part->words, part->word_count);
}

struct rtl_histogram_copy rtl_part_histogram(const struct rtl_part *part, struct rtl_unpacked *room)
{
    struct rtl_histogram_copy h = part->kernel.histogram;
    struct rtl_packing packing;
    memset(&packing, 0, sizeof packing);
    rtl_part_add(part, &packing);
    rtl_packing_unpack(&packing, false, &h, room->bytes);
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

static void fill_part(struct rtl_part *part, const struct rtl_kernel_snapshot *kernel, uint32_t words,
                      struct rtl_packing *packing)
{
    part->kernel = *kernel;
    part->kernel.histogram.octaves = NULL;
    part->kernel.histogram.octave_count = 0;
    part->kernel.histogram.coarse = NULL;
    part->kernel.histogram.approximate |= part->coarse;
    part->word_count = words;
    rtl_packing_pack(packing, part->coarse, part->words);
}

struct rtl_part *rtl_part_make(const struct rtl_kernel_snapshot *kernel, struct rtl_packing *packing, bool coarse,
                               size_t *charged)
{
    uint32_t words = rtl_packing_words(packing, coarse);
    size_t bytes = sizeof(struct rtl_part) + (coarse ? RTL_PACKED_COARSE_MOST : words) * sizeof(uint64_t);
    struct rtl_part *part = malloc(bytes);
    if (!part) {
        memset(packing, 0, sizeof *packing);
        return NULL;
    }
    part->references = 1;
    part->coarse = coarse;
    part->bytes = bytes;
    part->charged = charged;
    *charged += bytes;
    fill_part(part, kernel, words, packing);
    return part;
}

void rtl_part_rewrite(struct rtl_part *part, const struct rtl_kernel_snapshot *kernel, struct rtl_packing *packing)
{
    fill_part(part, kernel, rtl_packing_words(packing, true), packing);
}

static void add_part_scalars(struct rtl_histogram_copy *sum, const struct rtl_histogram_copy *h)
{
    sum->approximate |= h->approximate;
    if (!h->count)
        return;
    if (!sum->count || h->min_ns < sum->min_ns)
        sum->min_ns = h->min_ns;
    if (!sum->count || h->max_ns > sum->max_ns)
        sum->max_ns = h->max_ns;
    sum->count += h->count;
    sum->total_ns += h->total_ns;
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
    bool coarsely = *charged + rtl_packing_bytes(packing, false) > RTL_GROUPS_BYTES_MAX;
    size_t head = sizeof(struct rtl_group) + count * sizeof(struct rtl_part *);
    size_t bytes = head + rtl_packing_bytes(packing, coarsely);
    struct rtl_group *group = malloc(bytes);
    if (!group) {
        memset(packing, 0, sizeof *packing);
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
        add_part_scalars(&group->kernel.histogram, &parts[i]->kernel.histogram);
    }
    group->kernel.estimated_ns = estimate_of(parts, count);
    rtl_packing_unpack(packing, coarsely, &group->kernel.histogram, (char *)group + head);
    return group;
}
