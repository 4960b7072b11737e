/* Rows of one roctx range. See model_range.h. */
#include "model/model_range.h"
#include "base/array.h"
#include "shm/hash.h"
#include "stats/histogram_sum.h"
#include "text/text.h"

#include <stdlib.h>
#include <string.h>

/* Return the range's node in a snapshot; 0 if it does not exist. */
static uint32_t find_node(const struct rtl_range_choice *range, const struct rtl_hip_api_snapshot *calls)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < range->depth; i++) {
        at = rtl_hip_api_find_child(calls, at, range->path[i].name, range->path[i].bytes);
        if (at >= calls->node_count)
            return 0;
    }
    return at;
}

static int by_kernel(const void *left, const void *right)
{
    const struct rtl_hip_api_pair_snapshot *const *a = left, *const *b = right;
    return (*a)->kernel != (*b)->kernel ? ((*a)->kernel > (*b)->kernel) - ((*a)->kernel < (*b)->kernel)
                                        : ((*a)->node > (*b)->node) - ((*a)->node < (*b)->node);
}

/* Collect the pairs of the range and of all ranges inside it, sorted by kernel. */
static uint32_t pairs_of(const struct rtl_hip_api_snapshot *calls, uint32_t place,
                         const struct rtl_hip_api_pair_snapshot **out, bool *in)
{
    uint32_t count = 0;
    for (uint32_t i = place; i < calls->node_count; i++) /* a parent comes first */
        in[i] = i == place || in[calls->nodes[i].parent];
    for (uint32_t i = 0; i < calls->pair_count; i++)
        if (in[calls->pairs[i].node])
            out[count++] = &calls->pairs[i];
    if (count)
        qsort(out, count, sizeof *out, by_kernel);
    return count;
}

static int compare_pair(const void *key, const void *element)
{
    uint64_t kernel = (*(const struct rtl_hip_api_pair_snapshot *const *)element)->kernel,
             wanted = *(const uint64_t *)key;
    return (wanted > kernel) - (wanted < kernel);
}

static bool add_range_kernels(const struct rtl_snapshot *from, const struct rtl_hip_api_pair_snapshot *const *pairs,
                              uint32_t count, const struct rtl_histogram_copy **list, struct rtl_snapshot *to)
{
    to->kernels = calloc((size_t)from->kernel_count + 1, sizeof *to->kernels);
    for (uint32_t i = 0; to->kernels && i < from->kernel_count; i++) {
        uint64_t kernel = rtl_hash(from->kernels[i].name, from->kernels[i].name_length);
        uint32_t at = (uint32_t)rtl_lower_bound(pairs, count, sizeof *pairs, &kernel, compare_pair), found = 0;
        for (; at < count && pairs[at]->kernel == kernel; at++)
            list[found++] = &pairs[at]->histogram;
        if (!found)
            continue;
        struct rtl_kernel_snapshot *k = &to->kernels[to->kernel_count++];
        *k = from->kernels[i];
        if (!rtl_histogram_sum_for(to, list, found, &k->histogram))
            return false;
        k->calls = k->histogram.count;
        k->untimed = k->estimated_ns = 0;
    }
    return to->kernels != NULL;
}

static bool make_range_sample(const struct rtl_range_choice *range, const struct rtl_sample *from,
                              struct rtl_sample *to)
{
    const struct rtl_hip_api_snapshot *calls = from ? from->snapshot.hip_api : NULL;
    uint32_t place = calls ? find_node(range, calls) : 0;
    rtl_snapshot_free(&to->snapshot);
    if (!place)
        return true;
    const struct rtl_hip_api_pair_snapshot **pairs = calloc((size_t)calls->pair_count + 1, sizeof *pairs);
    const struct rtl_histogram_copy **list = calloc((size_t)calls->pair_count + 1, sizeof *list);
    bool *in = calloc(calls->node_count, sizeof *in);
    bool ok = pairs && list && in &&
              add_range_kernels(&from->snapshot, pairs, pairs_of(calls, place, pairs, in), list, &to->snapshot);
    free(pairs);
    free(list);
    free(in);
    return ok;
}

bool rtl_range_make(struct rtl_model *model)
{
    struct rtl_range_choice *range = model->range;
    return make_range_sample(range, model->latest, &range->latest) &&
           make_range_sample(range, model->base, &range->base) &&
           make_range_sample(range, model->before, &range->before) &&
           make_range_sample(range, model->zero, &range->zero);
}

void rtl_range_free(struct rtl_range_choice *range)
{
    if (!range)
        return;
    rtl_snapshot_free(&range->latest.snapshot);
    rtl_snapshot_free(&range->base.snapshot);
    rtl_snapshot_free(&range->before.snapshot);
    rtl_snapshot_free(&range->zero.snapshot);
    free(range);
}

struct rtl_range_choice *rtl_range_choose(const struct rtl_model *model, const struct rtl_hip_api_model_row *row)
{
    const struct rtl_hip_api_snapshot *calls = model->latest ? model->latest->snapshot.hip_api : NULL;
    uint32_t place = calls && row->node ? (uint32_t)(row->node - calls->nodes) : 0, depth = 0;
    if (!place || place >= calls->node_count)
        return NULL;
    for (uint32_t at = place; at; at = calls->nodes[at].parent)
        depth++;
    struct rtl_range_choice *range = depth <= RTL_RANGE_PATH_MAX ? calloc(1, sizeof *range) : NULL;
    for (uint32_t at = place, i = depth; range && i--; at = calls->nodes[at].parent) {
        range->depth++;
        range->path[i].bytes = calls->nodes[at].name_bytes;
        memcpy(range->path[i].name, calls->nodes[at].name, calls->nodes[at].name_bytes);
    }
    return range;
}

static void append_name(char *out, size_t size, const char *name, uint32_t bytes)
{
    char safe[4 * RTL_HIP_API_TEXT + 1];
    rtl_text_escape(safe, sizeof safe, name, bytes);
    rtl_text_append(out, size, "%s%s", *out ? " > " : "", safe);
}

void rtl_range_text(const struct rtl_range_choice *range, char *out, size_t size)
{
    *out = '\0';
    for (uint32_t i = 0; range && i < range->depth; i++)
        append_name(out, size, range->path[i].name, range->path[i].bytes);
}

void rtl_range_node_text(const struct rtl_hip_api_snapshot *calls, uint32_t node, char *out, size_t size)
{
    uint32_t path[RTL_HIP_API_NODES], depth = 0;
    *out = '\0';
    for (; node && node < calls->node_count && depth < RTL_HIP_API_NODES; node = calls->nodes[node].parent)
        path[depth++] = node;
    while (depth--)
        append_name(out, size, calls->nodes[path[depth]].name, calls->nodes[path[depth]].name_bytes);
}

static int by_range(const void *left, const void *right)
{
    const struct rtl_range_kernel *a = left, *b = right;
    const struct rtl_histogram_copy *x = &a->pair->histogram, *y = &b->pair->histogram;
    if (a->pair->node != b->pair->node)
        return a->pair->node < b->pair->node ? -1 : 1;
    if (x->total_ns != y->total_ns)
        return x->total_ns > y->total_ns ? -1 : 1;
    return (a->kernel->id > b->kernel->id) - (a->kernel->id < b->kernel->id);
}

uint32_t rtl_range_kernels(const struct rtl_snapshot *snapshot, struct rtl_range_kernel **out)
{
    const struct rtl_hip_api_snapshot *calls = snapshot->hip_api;
    uint32_t pairs = calls ? calls->pair_count : 0, count = 0;
    *out = malloc(((size_t)pairs + 1) * sizeof **out);
    for (uint32_t k = 0; *out && pairs && k < snapshot->kernel_count; k++) {
        const struct rtl_kernel_snapshot *kernel = &snapshot->kernels[k];
        uint64_t hash = rtl_hash(kernel->name, kernel->name_length);
        for (uint32_t i = 0; i < pairs && count < pairs; i++)
            if (calls->pairs[i].kernel == hash)
                (*out)[count++] = (struct rtl_range_kernel){&calls->pairs[i], kernel};
    }
    if (count)
        qsort(*out, count, sizeof **out, by_range);
    return count;
}
