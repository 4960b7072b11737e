/* Merges the HIP APIs of several processes. See merge_hip_api.h. */
#include "model/merge_hip_api.h"
#include "stats/histogram_sum.h"

#include <stdlib.h>
#include <string.h>

/* Return the next row of all processes in the order of rows; NULL at the end. */
static const struct rtl_hip_api_row_snapshot *least_of(const struct rtl_hip_api_snapshot *const *from, uint32_t count,
                                                       const uint32_t *at)
{
    const struct rtl_hip_api_row_snapshot *least = NULL;
    for (uint32_t i = 0; i < count; i++)
        if (from[i] && at[i] < from[i]->count && (!least || rtl_hip_api_compare_rows(&from[i]->rows[at[i]], least) < 0))
            least = &from[i]->rows[at[i]];
    return least;
}

/* Merge all rows that equal `least`, and advance past them. */
static bool merge_row(const struct rtl_hip_api_snapshot *const *from, uint32_t count, uint32_t *at,
                      const struct rtl_hip_api_row_snapshot *least, const struct rtl_histogram_copy **list,
                      struct rtl_snapshot *out)
{
    struct rtl_hip_api_row_snapshot *to = &out->hip_api->rows[out->hip_api->count];
    uint32_t found = 0;
    *to = *least;
    to->bytes = to->errors = to->open = to->in_use = 0;
    to->codes = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (!from[i] || at[i] >= from[i]->count || rtl_hip_api_compare_rows(&from[i]->rows[at[i]], to) != 0)
            continue;
        const struct rtl_hip_api_row_snapshot *row = &from[i]->rows[at[i]++];
        to->bytes += row->bytes;
        to->errors += row->errors;
        to->open += row->open;
        to->in_use += row->in_use;
        list[found++] = &row->histogram;
    }
    size_t bytes = rtl_histogram_sum_bytes(list, found);
    void *storage = rtl_snapshot_allocate(out, bytes ? bytes : 1);
    if (!storage)
        return false;
    to->histogram = rtl_histogram_sum(list, found, storage);
    out->hip_api->count++;
    return true;
}

/* --- nodes and launches --- */

static void add_node_numbers(struct rtl_hip_api_node_snapshot *to, const struct rtl_hip_api_node_snapshot *node)
{
    to->count += node->count;
    to->total_ns += node->total_ns;
    to->most_ns = node->most_ns > to->most_ns ? node->most_ns : to->most_ns;
    to->open += node->open;
    to->kernels += node->kernels;
    to->kernels_ns += node->kernels_ns;
    to->copies += node->copies;
    to->copies_ns += node->copies_ns;
}

/* Merge pairs of the same node and kernel. */
static bool merge_pairs(const struct rtl_hip_api_snapshot *const *from, uint32_t count,
                        const struct rtl_histogram_copy **list, struct rtl_snapshot *out)
{
    struct rtl_hip_api_snapshot *to = out->hip_api;
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; i++)
        most = from[i] && from[i]->node_count > most ? from[i]->node_count : most;
    uint32_t *place = calloc((size_t)most + 1, sizeof *place), kept = 0;
    for (uint32_t i = 0; place && i < count; i++) {
        for (uint32_t n = 1; from[i] && from[i]->pair_count && n < from[i]->node_count; n++) {
            const struct rtl_hip_api_node_snapshot *node = &from[i]->nodes[n];
            place[n] = rtl_hip_api_find_child(to, place[node->parent], node->name, node->name_bytes);
        }
        for (uint32_t p = 0; from[i] && p < from[i]->pair_count; p++) {
            to->pairs[to->pair_count] = from[i]->pairs[p];
            to->pairs[to->pair_count++].node = place[from[i]->pairs[p].node];
        }
    }
    bool ok = place != NULL;
    free(place);
    rtl_hip_api_sort_pairs(to);
    for (uint32_t i = 0, next; ok && i < to->pair_count; i = next) {
        uint32_t found = 0; /* at most one for each process */
        for (next = i; next < to->pair_count && found < count && to->pairs[next].node == to->pairs[i].node &&
                       to->pairs[next].kernel == to->pairs[i].kernel;
             next++)
            list[found++] = &to->pairs[next].histogram;
        struct rtl_hip_api_pair_snapshot sum = to->pairs[i];
        void *storage = rtl_snapshot_allocate(out, rtl_histogram_sum_bytes(list, found) + 1);
        ok = storage != NULL;
        if (ok)
            sum.histogram = rtl_histogram_sum(list, found, storage);
        to->pairs[kept++] = sum;
    }
    to->pair_count = kept;
    return ok;
}

static bool merge_nodes(const struct rtl_hip_api_snapshot *const *from, uint32_t count, struct rtl_hip_api_snapshot *to)
{
    uint32_t most = 0, all = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t nodes = from[i] ? from[i]->node_count : 0;
        most = nodes > most ? nodes : most;
        all += nodes;
    }
    if (!most)
        return true;
    struct rtl_hip_api_tree tree;
    uint32_t *place = calloc(most, sizeof *place);
    bool ok = rtl_hip_api_tree_begin(&tree, to, all) && place;
    for (uint32_t i = 0; ok && i < count; i++)
        for (uint32_t n = 0; from[i] && n < from[i]->node_count; n++) { /* parents come first */
            const struct rtl_hip_api_node_snapshot *node = &from[i]->nodes[n];
            place[n] = n ? rtl_hip_api_tree_enter(&tree, place[node->parent], node->name, node->name_bytes) : 0;
            add_node_numbers(&to->nodes[place[n]], node);
        }
    free(place);
    return rtl_hip_api_tree_end(&tree, NULL) && ok;
}

static bool merge_launches(const struct rtl_hip_api_snapshot *const *from, uint32_t count, uint32_t *at,
                           const struct rtl_histogram_copy **list, struct rtl_snapshot *out)
{
    memset(at, 0, count * sizeof *at);
    for (;;) {
        uint64_t kernel = UINT64_MAX;
        uint32_t found = 0;
        for (uint32_t i = 0; i < count; i++)
            if (from[i] && at[i] < from[i]->launch_count && from[i]->launches[at[i]].kernel < kernel)
                kernel = from[i]->launches[at[i]].kernel;
        if (kernel == UINT64_MAX)
            return true;
        for (uint32_t i = 0; i < count; i++)
            if (from[i] && at[i] < from[i]->launch_count && from[i]->launches[at[i]].kernel == kernel)
                list[found++] = &from[i]->launches[at[i]++].histogram;
        size_t bytes = rtl_histogram_sum_bytes(list, found);
        void *storage = rtl_snapshot_allocate(out, bytes ? bytes : 1);
        if (!storage)
            return false;
        out->hip_api->launches[out->hip_api->launch_count++] =
            (struct rtl_hip_api_launch_snapshot){kernel, rtl_histogram_sum(list, found, storage)};
    }
}

bool rtl_merge_hip_api(const struct rtl_hip_api_snapshot *const *from, uint32_t count, struct rtl_snapshot *out)
{
    struct rtl_hip_api_room room = {0};
    uint32_t any = 0;
    out->hip_api = NULL;
    for (uint32_t i = 0; i < count; i++)
        if (from[i]) {
            any++;
            room.rows += from[i]->count;
            room.memory += from[i]->memory_count;
            room.nodes += from[i]->node_count;
            room.launches += from[i]->launch_count;
            room.pairs += from[i]->pair_count;
        }
    if (!any)
        return true;
    uint32_t *at = calloc(count, sizeof *at);
    const struct rtl_histogram_copy **list = calloc(count, sizeof *list);
    bool ok = at && list && rtl_hip_api_allocate(out, &room);
    for (const struct rtl_hip_api_row_snapshot *least; ok && (least = least_of(from, count, at));)
        ok = merge_row(from, count, at, least, list, out);
    ok = ok && merge_nodes(from, count, out->hip_api) && merge_launches(from, count, at, list, out) &&
         merge_pairs(from, count, list, out);
    for (uint32_t i = 0; ok && i < count; i++) {
        if (!from[i])
            continue;
        memcpy(out->hip_api->memory + out->hip_api->memory_count, from[i]->memory,
               from[i]->memory_count * sizeof *from[i]->memory);
        out->hip_api->memory_count += from[i]->memory_count;
#define ADD(member, key, text) out->hip_api->member += from[i]->member;
        RTL_HIP_API_TROUBLES(ADD)
#undef ADD
        out->hip_api->links |= from[i]->links;
        out->hip_api->flags |= from[i]->flags;
        out->hip_api->linked += from[i]->linked;
        out->hip_api->copies_linked += from[i]->copies_linked;
        out->hip_api->copies_unlinked += from[i]->copies_unlinked;
        for (int u = 0; u < RTL_HIP_API_UNLINKED_LIMIT; u++)
            out->hip_api->unlinked[u] += from[i]->unlinked[u];
    }
    free(at);
    free(list);
    if (!ok)
        out->hip_api = NULL;
    return ok;
}
