/* Adding up HIP calls and ranges. See replay_private.h. All numbers from the file are checked. */
/* clang-format off */
#include "record/replay_private.h"
#include "base/array.h"
#include "shm/hash.h"

#include <stdlib.h>
#include <string.h>

struct rtl_replay_histogram {
    uint32_t node, kernel;
    struct rtl_histogram_copy histogram;
};

static void read_name(struct rtl_db_statement *st, int column, char *name, uint32_t *bytes)
{
    size_t length;
    const char *text = rtl_db_text(st, column, &length);
    *bytes = (uint32_t)(length < RTL_HIP_API_TEXT ? length : RTL_HIP_API_TEXT);
    memcpy(name, text, *bytes);
    name[*bytes] = '\0';
}

/* --- names --- */

static void load_calls(struct rtl_replay_calls *c, int64_t recording)
{
    struct rtl_db_statement *st =
        rtl_db_prepare_ints(c->db, "SELECT call, kind, name FROM rtl_call WHERE recording = ? ORDER BY call", recording);
    while (rtl_db_step(st)) {
        int64_t number = rtl_db_int(st, 0), kind = rtl_db_int(st, 1);
        if (number != c->known_calls || number >= RTL_REPLAY_CALLS_MAX || kind < 0 || kind > UINT32_MAX) {
            rtl_db_damaged(c->db, "a call is out of bounds");
            return;
        }
        struct rtl_hip_api_row_snapshot *call = &c->calls[c->known_calls++];
        call->kind = (uint32_t)kind;
        read_name(st, 2, call->name, &call->name_bytes);
        call->open = (uint64_t)number; /* the number, until the calls are sorted */
    }
    if (c->known_calls)
        qsort(c->calls, c->known_calls, sizeof *c->calls, rtl_hip_api_compare_rows);
    for (uint32_t i = 0; i < c->known_calls; i++) {
        if (i && rtl_hip_api_compare_rows(&c->calls[i - 1], &c->calls[i]) == 0)
            rtl_db_damaged(c->db, "two calls have one name");
        c->call_index[c->calls[i].open] = i + 1;
        c->calls[i].open = 0;
    }
}

static void load_nodes(struct rtl_replay_calls *c, int64_t recording)
{
    struct rtl_db_statement *st =
        rtl_db_prepare_ints(c->db, "SELECT range, parent, name FROM rtl_range WHERE recording = ? ORDER BY range", recording);
    struct rtl_hip_api_node_snapshot *nodes = c->nodes.nodes;
    while (rtl_db_step(st)) {
        int64_t number = rtl_db_int(st, 0), parent = rtl_db_int(st, 1);
        if (number != c->known_nodes || number >= RTL_REPLAY_NODES_MAX || parent < 0 || (number && parent >= number) ||
            (!number && parent)) {
            rtl_db_damaged(c->db, "a range is out of bounds");
            return;
        }
        struct rtl_hip_api_node_snapshot *node = &nodes[c->known_nodes++];
        node->parent = (uint32_t)parent;
        read_name(st, 2, node->name, &node->name_bytes);
        if (!number)
            node->name_bytes = 0;
        node->open = (uint64_t)number;
    }
    c->nodes.node_count = c->known_nodes;
    if (!rtl_hip_api_sort_nodes(nodes, c->known_nodes, NULL))
        rtl_db_no_memory(c->db);
    for (uint32_t i = 0; i < c->known_nodes; i++) {
        const struct rtl_hip_api_node_snapshot *a = &nodes[i ? i - 1 : 0], *b = &nodes[i];
        if (i > 1 && a->parent == b->parent && a->name_bytes == b->name_bytes && !memcmp(a->name, b->name, a->name_bytes))
            rtl_db_damaged(c->db, "two ranges have one name");
        c->node_index[nodes[i].open] = i + 1;
        nodes[i].open = 0;
    }
}

void rtl_replay_calls_begin(struct rtl_replay_calls *c, struct rtl_db *db, int64_t recording)
{
    memset(c, 0, sizeof *c);
    c->db = db;
    if (!rtl_db_has_set(db, &rtl_calls_set))
        return;
    c->calls = calloc(RTL_REPLAY_CALLS_MAX, sizeof *c->calls);
    c->nodes.nodes = calloc(RTL_REPLAY_NODES_MAX, sizeof *c->nodes.nodes);
    c->view.rows = calloc(RTL_REPLAY_CALLS_MAX, sizeof *c->view.rows);
    c->view.nodes = calloc(RTL_REPLAY_NODES_MAX, sizeof *c->view.nodes);
    c->view.memory = calloc(RTL_HIP_API_PLACES, sizeof *c->view.memory);
    if (!c->calls || !c->nodes.nodes || !c->view.rows || !c->view.nodes || !c->view.memory) {
        rtl_db_no_memory(db);
        return;
    }
    load_calls(c, recording);
    load_nodes(c, recording);
}

static void clear_histograms(struct rtl_replay_histograms *h)
{
    for (uint32_t i = 0; i < h->count; i++)
        rtl_histogram_free(&h->list[i].histogram);
    h->count = 0;
}

static void clear_calls(struct rtl_replay_calls *c)
{
    for (uint32_t i = 0; i < c->known_calls; i++) {
        struct rtl_hip_api_row_snapshot *call = &c->calls[i];
        rtl_histogram_free(&call->histogram);
        call->bytes = call->errors = call->open = call->in_use = 0;
        c->call_seen[i] = false;
    }
    for (uint32_t i = 0; i < c->known_nodes; i++) {
        struct rtl_hip_api_node_snapshot *n = &c->nodes.nodes[i];
        n->count = n->total_ns = n->most_ns = n->open = n->kernels = n->kernels_ns = n->copies = n->copies_ns = 0;
        c->node_seen[i] = false;
    }
    clear_histograms(&c->launches);
    clear_histograms(&c->pairs);
    memset(c->memory_seen, 0, sizeof c->memory_seen);
    c->values = (struct rtl_hip_api_snapshot){0};
    c->any = false;
}

void rtl_replay_calls_end(struct rtl_replay_calls *c)
{
    clear_calls(c);
    free(c->calls);
    free(c->nodes.nodes);
    free(c->launches.list);
    free(c->view.rows);
    free(c->view.nodes);
    free(c->view.memory);
    free(c->view.launches);
    free(c->pairs.list);
    free(c->view.pairs);
}

/* --- sums --- */

static int compare_histograms(const void *left, const void *right)
{
    const struct rtl_replay_histogram *a = left, *b = right;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    return (a->kernel > b->kernel) - (a->kernel < b->kernel);
}

/* Find or insert the histogram of a node (0 for launches) and a kernel. NULL after an error, which is latched. */
static struct rtl_histogram_copy *find_histogram(struct rtl_replay_calls *c, struct rtl_replay_histograms *h, uint32_t node,
                                                 int64_t kernel)
{
    bool pair = h == &c->pairs;
    if (kernel < 0 || kernel >= RTL_KERNELS_MAX || (pair && !node)) {
        rtl_db_damaged(c->db, "a kernel of a launch or a range is out of bounds");
        return NULL;
    }
    const struct rtl_replay_histogram key = {.node = node, .kernel = (uint32_t)kernel};
    size_t at = rtl_lower_bound(h->list, h->count, sizeof key, &key, compare_histograms);
    if (at < h->count && compare_histograms(&key, &h->list[at]) == 0)
        return &h->list[at].histogram;
    if (pair && h->count == RTL_REPLAY_PAIRS_MAX) {
        rtl_db_damaged(c->db, "ranges have too many kernels");
        return NULL;
    }
    if (!rtl_grow(&h->list, &h->room, h->count + 1, sizeof key)) {
        rtl_db_no_memory(c->db);
        return NULL;
    }
    memmove(&h->list[at + 1], &h->list[at], (h->count++ - at) * sizeof key);
    h->list[at] = key;
    return &h->list[at].histogram;
}

/* Set the pairs to those of a snapshot; place[i]: index of its node i here. */
static void set_pairs(struct rtl_replay_calls *c, const struct rtl_snapshot *from, const uint32_t *place,
                      uint32_t *room)
{
    const struct rtl_hip_api_snapshot *calls = from->hip_api;
    for (uint32_t k = 0; calls->pair_count && k < from->kernel_count; k++) {
        uint64_t hash = rtl_hash(from->kernels[k].name, from->kernels[k].name_length);
        for (uint32_t i = 0; i < calls->pair_count; i++) {
            struct rtl_histogram_copy *h = NULL;
            if (calls->pairs[i].kernel == hash && place[calls->pairs[i].node])
                h = find_histogram(c, &c->pairs, place[calls->pairs[i].node], from->kernels[k].id);
            if (h) {
                *h = calls->pairs[i].histogram;
                rtl_histogram_own(c->db, h, room);
            }
        }
    }
}

void rtl_replay_calls_set(struct rtl_replay_calls *c, const struct rtl_snapshot *from, uint32_t *room)
{
    const struct rtl_hip_api_snapshot *calls = from ? from->hip_api : NULL;
    uint32_t at = 0, *place;
    clear_calls(c);
    if (!calls || !c->calls || !(place = calloc(calls->node_count + 1, sizeof *place)))
        return;
    c->any = true;
    for (uint32_t i = 0; i < calls->count; i++) {
        while (at < c->known_calls && rtl_hip_api_compare_rows(&c->calls[at], &calls->rows[i]) < 0)
            at++;
        if (at == c->known_calls)
            break;
        c->calls[at] = calls->rows[i];
        rtl_histogram_own(c->db, &c->calls[at].histogram, room);
        c->call_seen[at] = true;
    }
    for (uint32_t i = 0; i < calls->node_count && c->known_nodes; i++) {
        const struct rtl_hip_api_node_snapshot *node = &calls->nodes[i];
        place[i] = i ? rtl_hip_api_find_child(&c->nodes, place[node->parent], node->name, node->name_bytes) : 0;
        if (place[i] == c->known_nodes)
            break;
        uint32_t parent = c->nodes.nodes[place[i]].parent;
        c->nodes.nodes[place[i]] = *node;
        c->nodes.nodes[place[i]].parent = parent;
        c->node_seen[place[i]] = true;
    }
    set_pairs(c, from, place, room);
    free(place);
    for (uint32_t i = 0; calls->launch_count && i < from->kernel_count; i++) {
        const struct rtl_hip_api_launch_snapshot *launch = rtl_hip_api_find_launch(calls, &from->kernels[i]);
        struct rtl_histogram_copy *h = launch ? find_histogram(c, &c->launches, 0, from->kernels[i].id) : NULL;
        if (h) {
            *h = launch->histogram;
            rtl_histogram_own(c->db, h, room);
        }
    }
    for (uint32_t i = 0; i < calls->memory_count; i++) {
        c->memory[calls->memory[i].place] = calls->memory[i];
        c->memory_seen[calls->memory[i].place] = true;
    }
    c->values = *calls;
}

static void add_rows(struct rtl_replay_calls *c, int64_t frame, uint32_t *room)
{
    struct rtl_db_statement *st =
        rtl_db_prepare_ints(c->db, "SELECT call" RTL_FIELD_NAMES(CALL) RTL_HISTOGRAM_SELECT
                              " FROM rtl_call_sample WHERE frame = ?", frame);
    while (rtl_db_step(st)) {
        int64_t number = rtl_db_int(st, 0);
        if (number < 0 || number >= RTL_REPLAY_CALLS_MAX || !c->call_index[number]) {
            rtl_db_damaged(c->db, "a call is out of bounds");
            break;
        }
        uint32_t at = c->call_index[number] - 1;
        c->call_seen[at] = true;
        int next = rtl_fields_read(st, 1, &rtl_call_fields, &c->calls[at]);
        rtl_histogram_read(c->db, st, next, &c->calls[at].histogram, room);
    }
}

static void add_memory(struct rtl_replay_calls *c, int64_t frame)
{
    struct rtl_db_statement *st =
        rtl_db_prepare_ints(c->db, "SELECT place" RTL_FIELD_NAMES(MEMORY) " FROM rtl_call_memory WHERE frame = ?", frame);
    while (rtl_db_step(st)) {
        int64_t place = rtl_db_int(st, 0);
        if (place < 0 || place >= RTL_HIP_API_PLACES) {
            rtl_db_damaged(c->db, "a place of memory is out of bounds");
            break;
        }
        c->memory[place] = (struct rtl_hip_api_memory_snapshot){.pid = c->pid, .place = (uint32_t)place};
        c->memory_seen[place] = true;
        rtl_fields_read(st, 1, &rtl_memory_fields, &c->memory[place]);
    }
}

/* Find the range that the row's first column names, and mark it and its parents as seen: a range is shown only together
 * with its parents. NULL after an error, which is latched. */
static struct rtl_hip_api_node_snapshot *find_range(struct rtl_replay_calls *c, struct rtl_db_statement *st)
{
    int64_t number = rtl_db_int(st, 0);
    if (number < 0 || number >= RTL_REPLAY_NODES_MAX || !c->node_index[number]) {
        rtl_db_damaged(c->db, "a range is out of bounds");
        return NULL;
    }
    uint32_t found = c->node_index[number] - 1;
    for (uint32_t at = found; !c->node_seen[at]; at = c->nodes.nodes[at].parent)
        c->node_seen[at] = true;
    return &c->nodes.nodes[found];
}

static void add_nodes(struct rtl_replay_calls *c, int64_t frame)
{
    struct rtl_db_statement *st =
        rtl_db_prepare_ints(c->db, "SELECT range" RTL_FIELD_NAMES(NODE) " FROM rtl_range_sample WHERE frame = ?", frame);
    struct rtl_hip_api_node_snapshot *node;
    while (rtl_db_step(st) && (node = find_range(c, st)))
        rtl_fields_read(st, 1, &rtl_node_fields, node);
}

static void add_launches(struct rtl_replay_calls *c, int64_t frame, uint32_t *room)
{
    struct rtl_db_statement *st = rtl_db_prepare_ints(
        c->db, "SELECT kernel" RTL_HISTOGRAM_SELECT " FROM rtl_launch_sample WHERE frame = ?", frame);
    struct rtl_histogram_copy *h;
    while (rtl_db_step(st) && (h = find_histogram(c, &c->launches, 0, rtl_db_int(st, 0))))
        rtl_histogram_read(c->db, st, 1, h, room);
}

static void add_pairs(struct rtl_replay_calls *c, int64_t frame, uint32_t *room)
{
    struct rtl_db_statement *st =
        rtl_db_prepare_ints(c->db, "SELECT frame" RTL_FIELD_NAMES(PAIRS) " FROM rtl_pair_frame WHERE frame = ?", frame);
    if (rtl_db_step(st))
        rtl_fields_read(st, 1, &rtl_pairs_fields, &c->values);
    rtl_db_reset(st);
    st = rtl_db_prepare_ints(c->db, "SELECT range, kernel" RTL_HISTOGRAM_SELECT
                               " FROM rtl_pair_sample WHERE frame = ?", frame);
    struct rtl_hip_api_node_snapshot *node;
    struct rtl_histogram_copy *h;
    while (rtl_db_step(st) && (node = find_range(c, st)) &&
           (h = find_histogram(c, &c->pairs, (uint32_t)(node - c->nodes.nodes), rtl_db_int(st, 1))))
        rtl_histogram_read(c->db, st, 2, h, room);
}

void rtl_replay_calls_add(struct rtl_replay_calls *c, int64_t frame, uint32_t *room)
{
    if (!c->calls || rtl_db_status(c->db))
        return;
    struct rtl_db_statement *st =
        rtl_db_prepare_ints(c->db, "SELECT frame" RTL_FIELD_NAMES(CALLS) " FROM rtl_call_frame WHERE frame = ?", frame);
    c->any = rtl_db_step(st);
    if (c->any)
        rtl_fields_read(st, 1, &rtl_calls_fields, &c->values);
    rtl_db_reset(st);
    if (!c->any)
        return;
    add_rows(c, frame, room);
    add_memory(c, frame);
    add_nodes(c, frame);
    add_launches(c, frame, room);
    if (!rtl_db_status(c->db))
        add_pairs(c, frame, room);
}

static int compare_kernel(const void *id, const void *kernel)
{
    int64_t a = *(const int64_t *)id, b = ((const struct rtl_kernel_snapshot *)kernel)->id;
    return (a > b) - (a < b);
}

uint32_t rtl_replay_kernel_index(const struct rtl_snapshot *s, int64_t id)
{
    return (uint32_t)rtl_lower_bound(s->kernels, s->kernel_count, sizeof *s->kernels, &id, compare_kernel);
}

/* Return the hash of a kernel's name, which pairs and launches use as key; false if the snapshot lacks the kernel. */
static bool hash_kernel(const struct rtl_snapshot *s, uint32_t id, uint64_t *hash)
{
    const struct rtl_kernel_snapshot *k = rtl_snapshot_kernel(s, id);
    if (k)
        *hash = rtl_hash(k->name, k->name_length);
    return k;
}

struct rtl_hip_api_snapshot *rtl_replay_calls_view(struct rtl_replay_calls *c, const struct rtl_snapshot *kernels)
{
    struct rtl_hip_api_snapshot *v = &c->view;
    uint32_t *place = c->any ? calloc(c->known_nodes + 1, sizeof *place) : NULL;
    if (!place || !rtl_grow(&v->launches, &c->view_launches, c->launches.count, sizeof *v->launches) ||
        !rtl_grow(&v->pairs, &c->view_pairs, c->pairs.count, sizeof *v->pairs)) {
        free(place);
        return NULL;
    }
    struct rtl_hip_api_snapshot arrays = *v;
    *v = c->values;
    v->rows = arrays.rows;
    v->nodes = arrays.nodes;
    v->memory = arrays.memory;
    v->launches = arrays.launches;
    v->pairs = arrays.pairs;
    v->threads = NULL;
    v->count = v->memory_count = v->node_count = v->launch_count = v->pair_count = v->thread_count = 0;
    for (uint32_t i = 0; i < c->known_calls; i++)
        if (c->call_seen[i])
            v->rows[v->count++] = c->calls[i];
    for (uint32_t i = 0; i < c->known_nodes; i++)
        if (c->node_seen[i]) {
            place[i] = v->node_count;
            v->nodes[v->node_count] = c->nodes.nodes[i];
            v->nodes[v->node_count++].parent = place[c->nodes.nodes[i].parent];
        }
    uint64_t hash;
    for (uint32_t i = 0; i < c->pairs.count; i++) {
        const struct rtl_replay_histogram *h = &c->pairs.list[i];
        if (place[h->node] && hash_kernel(kernels, h->kernel, &hash))
            v->pairs[v->pair_count++] = (struct rtl_hip_api_pair_snapshot){place[h->node], hash, h->histogram};
    }
    for (uint32_t i = 0; i < c->launches.count; i++) {
        const struct rtl_replay_histogram *h = &c->launches.list[i];
        if (hash_kernel(kernels, h->kernel, &hash))
            v->launches[v->launch_count++] = (struct rtl_hip_api_launch_snapshot){hash, h->histogram};
    }
    free(place);
    for (uint32_t i = 0; i < RTL_HIP_API_PLACES; i++)
        if (c->memory_seen[i])
            v->memory[v->memory_count++] = c->memory[i];
    rtl_hip_api_sort_pairs(v);
    rtl_hip_api_sort_launches(v);
    return v;
}
