/* Orders, searches and copies the part of a snapshot about HIP calls and roctx ranges. See hip_api_snapshot.h. */
#include "shm/hip_api_snapshot.h"
#include "shm/hash.h"

#include <stdlib.h>
#include <string.h>

static int compare_names(const char *a, uint32_t a_bytes, const char *b, uint32_t b_bytes)
{
    int name = memcmp(a, b, a_bytes < b_bytes ? a_bytes : b_bytes);
    return name ? name : (a_bytes > b_bytes) - (a_bytes < b_bytes);
}

uint32_t rtl_hip_api_group(uint32_t kind)
{
    return (kind == RTL_HIP_API_RANGE) + 2u * (kind == RTL_HIP_API_MARK);
}

int rtl_hip_api_compare_rows(const void *left, const void *right)
{
    const struct rtl_hip_api_row_snapshot *a = left, *b = right;
    int group = (int)rtl_hip_api_group(a->kind) - (int)rtl_hip_api_group(b->kind);
    return group ? group : compare_names(a->name, a->name_bytes, b->name, b->name_bytes);
}

const struct rtl_hip_api_row_snapshot *rtl_hip_api_find_row(const struct rtl_hip_api_snapshot *earlier, uint32_t *at,
                                                            const struct rtl_hip_api_row_snapshot *row)
{
    int order = -1;
    while (earlier && *at < earlier->count && (order = rtl_hip_api_compare_rows(&earlier->rows[*at], row)) < 0)
        ++*at;
    return earlier && *at < earlier->count && !order ? &earlier->rows[*at] : NULL;
}

const char *rtl_hip_api_kind_key(uint32_t kind)
{
    static const char *const keys[] = {
#define KEY(sym, number, key, text) [number] = key,
        RTL_HIP_API_KINDS(KEY)
#undef KEY
    };
    return kind < sizeof keys / sizeof *keys ? keys[kind] : NULL;
}

struct rtl_hip_api_snapshot *rtl_hip_api_allocate(struct rtl_snapshot *snapshot, const struct rtl_hip_api_room *room)
{
    struct rtl_hip_api_snapshot *api = rtl_snapshot_allocate(snapshot, sizeof *api);
    struct rtl_hip_api_snapshot made = {
        .rows = rtl_snapshot_allocate(snapshot, (room->rows + 1) * sizeof *made.rows),
        .memory = rtl_snapshot_allocate(snapshot, (room->memory + 1) * sizeof *made.memory),
        .nodes = rtl_snapshot_allocate(snapshot, (room->nodes + 1) * sizeof *made.nodes),
        .launches = rtl_snapshot_allocate(snapshot, (room->launches + 1) * sizeof *made.launches),
        .pairs = rtl_snapshot_allocate(snapshot, (room->pairs + 1) * sizeof *made.pairs),
        .threads = rtl_snapshot_allocate(snapshot, (room->threads + 1) * sizeof *made.threads),
    };
    if (!api || !made.rows || !made.memory || !made.nodes || !made.launches || !made.pairs || !made.threads)
        return NULL;
    *api = made;
    snapshot->hip_api = api;
    return api;
}

/* --- searches --- */

static int compare_siblings(const void *left, const void *right)
{
    const struct rtl_hip_api_node_snapshot *a = left, *b = right;
    return compare_names(a->name, a->name_bytes, b->name, b->name_bytes);
}

struct node_key {
    uint32_t parent, name_bytes;
    const char *name;
};

static int compare_node_key(const void *left, const void *right)
{
    const struct node_key *key = left;
    const struct rtl_hip_api_node_snapshot *node = right;
    if (key->parent != node->parent)
        return key->parent < node->parent ? -1 : 1;
    return compare_names(key->name, key->name_bytes, node->name, node->name_bytes);
}

uint32_t rtl_hip_api_find_child(const struct rtl_hip_api_snapshot *api, uint32_t parent, const char *name,
                                uint32_t name_bytes)
{
    const struct node_key key = {parent, name_bytes, name};
    const struct rtl_hip_api_node_snapshot *node =
        api->node_count > 1 ? bsearch(&key, api->nodes + 1, api->node_count - 1, sizeof *node, compare_node_key) : NULL;
    return node ? (uint32_t)(node - api->nodes) : api->node_count;
}

static int compare_launches(const void *left, const void *right)
{
    const struct rtl_hip_api_launch_snapshot *a = left, *b = right;
    return (a->kernel > b->kernel) - (a->kernel < b->kernel);
}

const struct rtl_hip_api_launch_snapshot *rtl_hip_api_find_launch(const struct rtl_hip_api_snapshot *api,
                                                                  const struct rtl_kernel_snapshot *kernel)
{
    const struct rtl_hip_api_launch_snapshot key = {.kernel = rtl_hash(kernel->name, kernel->name_length)};
    return api && api->launch_count ? bsearch(&key, api->launches, api->launch_count, sizeof key, compare_launches)
                                    : NULL;
}

void rtl_hip_api_sort_launches(struct rtl_hip_api_snapshot *api)
{
    if (api->launch_count)
        qsort(api->launches, api->launch_count, sizeof *api->launches, compare_launches);
}

static int compare_pairs(const void *left, const void *right)
{
    const struct rtl_hip_api_pair_snapshot *a = left, *b = right;
    return a->node != b->node ? (a->node > b->node) - (a->node < b->node)
                              : (a->kernel > b->kernel) - (a->kernel < b->kernel);
}

const struct rtl_hip_api_pair_snapshot *rtl_hip_api_find_pair(const struct rtl_hip_api_snapshot *api, uint32_t node,
                                                              uint64_t kernel)
{
    const struct rtl_hip_api_pair_snapshot key = {.node = node, .kernel = kernel};
    return api && api->pair_count ? bsearch(&key, api->pairs, api->pair_count, sizeof key, compare_pairs) : NULL;
}

void rtl_hip_api_sort_pairs(struct rtl_hip_api_snapshot *api)
{
    if (api->pair_count)
        qsort(api->pairs, api->pair_count, sizeof *api->pairs, compare_pairs);
}

/* --- trees --- */

/* Level by level: the sorted children of each placed node are placed behind all nodes placed before. */
bool rtl_hip_api_sort_nodes(struct rtl_hip_api_node_snapshot *nodes, uint32_t count, uint32_t *moved)
{
    if (!count)
        return true;
    uint32_t *child = calloc(count, sizeof *child), *next = calloc(count, sizeof *next);
    uint32_t *from = calloc(count, sizeof *from);
    struct rtl_hip_api_node_snapshot *sorted = malloc(count * sizeof *sorted);
    bool ok = child && next && from && sorted;
    uint32_t placed = 1;
    for (uint32_t i = count; ok && i-- > 1;) {
        uint32_t parent = nodes[i].parent < i ? nodes[i].parent : 0;
        next[i] = child[parent];
        child[parent] = i;
    }
    if (ok) {
        sorted[0] = nodes[0];
        sorted[0].parent = 0;
    }
    for (uint32_t at = 0; ok && at < placed; at++) {
        uint32_t first = placed;
        for (uint32_t i = child[from[at]]; i; i = next[i]) {
            sorted[placed] = nodes[i];
            sorted[placed++].parent = i; /* its old index, until the siblings are sorted */
        }
        if (placed > first)
            qsort(sorted + first, placed - first, sizeof *sorted, compare_siblings);
        for (uint32_t i = first; i < placed; i++) {
            from[i] = sorted[i].parent;
            sorted[i].parent = at;
        }
    }
    if (ok)
        memcpy(nodes, sorted, count * sizeof *nodes);
    for (uint32_t i = 0; ok && moved && i < count; i++)
        moved[from[i]] = i;
    free(child);
    free(next);
    free(from);
    free(sorted);
    return ok;
}

bool rtl_hip_api_tree_begin(struct rtl_hip_api_tree *tree, struct rtl_hip_api_snapshot *api, uint32_t count)
{
    *tree = (struct rtl_hip_api_tree){.api = api, .next = calloc(count + 1, sizeof *tree->next)};
    api->nodes[0] = (struct rtl_hip_api_node_snapshot){0};
    api->node_count = 1;
    return tree->next != NULL;
}

uint32_t rtl_hip_api_tree_enter(struct rtl_hip_api_tree *tree, uint32_t parent, const char *name, uint32_t name_bytes)
{
    struct rtl_hip_api_node_snapshot *nodes = tree->api->nodes;
    uint32_t *head = &tree->head[(rtl_hash(name, name_bytes) + parent) % (sizeof tree->head / sizeof *tree->head)];
    uint32_t i = *head;
    while (i && (nodes[i].parent != parent || compare_names(nodes[i].name, nodes[i].name_bytes, name, name_bytes) != 0))
        i = tree->next[i];
    if (i)
        return i;
    i = tree->api->node_count++;
    nodes[i] = (struct rtl_hip_api_node_snapshot){.parent = parent, .name_bytes = name_bytes};
    memcpy(nodes[i].name, name, name_bytes);
    tree->next[i] = *head;
    *head = i;
    return i;
}

bool rtl_hip_api_tree_end(struct rtl_hip_api_tree *tree, uint32_t *moved)
{
    bool ok = tree->next && rtl_hip_api_sort_nodes(tree->api->nodes, tree->api->node_count, moved);
    free(tree->next);
    return ok;
}

/* --- copies --- */

static void copy_rows(void *to, const void *from, uint32_t count, size_t size)
{
    if (count) /* an empty array may be NULL */
        memcpy(to, from, count * size);
}

bool rtl_hip_api_copy_to(const struct rtl_hip_api_snapshot *from, struct rtl_snapshot *to)
{
    to->hip_api = NULL;
    if (!from)
        return true;
    const struct rtl_hip_api_room room = {.rows = from->count,
                                          .memory = from->memory_count,
                                          .nodes = from->node_count,
                                          .launches = from->launch_count,
                                          .pairs = from->pair_count};
    struct rtl_hip_api_snapshot *api = rtl_hip_api_allocate(to, &room);
    if (!api)
        return false;
    struct rtl_hip_api_snapshot own = *api;
    *api = *from;
    api->thread_count = 0;
#define COPY(member, number)  \
    api->member = own.member; \
    copy_rows(own.member, from->member, from->number, sizeof *own.member);
    COPY(rows, count)
    COPY(memory, memory_count)
    COPY(nodes, node_count)
    COPY(launches, launch_count)
    COPY(pairs, pair_count)
#undef COPY
    api->threads = own.threads;
    bool ok = true;
    for (uint32_t i = 0; ok && i < api->count; i++) {
        own.rows[i].codes = NULL;
        ok = rtl_snapshot_own_histogram(to, &own.rows[i].histogram);
    }
    for (uint32_t i = 0; ok && i < api->launch_count; i++)
        ok = rtl_snapshot_own_histogram(to, &own.launches[i].histogram);
    for (uint32_t i = 0; ok && i < api->pair_count; i++)
        ok = rtl_snapshot_own_histogram(to, &own.pairs[i].histogram);
    if (!ok)
        to->hip_api = NULL;
    return ok;
}
