/* Adding up calls and ranges. See replay_calls.h. Whatever a file says, numbers stay within bounds. */
/* clang-format off */
#include "record/replay_calls.h"
#include "record/replay_histogram.h"
#include "shm/hash.h"

#include <stdlib.h>
#include <string.h>

struct rtl_replay_launch {
    uint32_t kernel;
    struct rtl_histogram_copy histogram;
};

struct rtl_replay_pair {
    uint32_t node, kernel;
    struct rtl_histogram_copy histogram;
};

static void damaged(struct rtl_replay_calls *c, const char *what)
{
    rtl_replay_damaged(c->db, what);
}

static void take_name(struct rtl_db_statement *st, int column, char *name, uint32_t *bytes)
{
    size_t length;
    const char *text = rtl_db_text(st, column, &length);
    *bytes = (uint32_t)(length < RTL_HIP_API_TEXT ? length : RTL_HIP_API_TEXT);
    memcpy(name, text, *bytes);
    name[*bytes] = '\0';
}

/* --- names --- */

static int compare_calls(const void *a, const void *b)
{
    return rtl_hip_api_compare_rows(a, b);
}

static void load_calls(struct rtl_replay_calls *c, int64_t recording)
{
    struct rtl_db_statement *st =
        rtl_db_prepare(c->db, "SELECT call, kind, name FROM rtl_call WHERE recording = ? ORDER BY call");
    rtl_db_bind_int(st, 1, recording);
    while (rtl_db_step(st)) {
        int64_t number = rtl_db_int(st, 0), kind = rtl_db_int(st, 1);
        if (number != c->known_calls || number >= RTL_REPLAY_CALLS_MAX || kind < 0 || kind > UINT16_MAX) {
            damaged(c, "a call is out of bounds");
            return;
        }
        struct rtl_hip_api_row_snapshot *call = &c->calls[c->known_calls++];
        call->kind = (uint32_t)kind;
        take_name(st, 2, call->name, &call->name_bytes);
        call->open = (uint64_t)number; /* until they are sorted */
    }
    if (c->known_calls)
        qsort(c->calls, c->known_calls, sizeof *c->calls, compare_calls);
    for (uint32_t i = 0; i < c->known_calls; i++) {
        if (i && rtl_hip_api_compare_rows(&c->calls[i - 1], &c->calls[i]) == 0)
            damaged(c, "two calls have one name");
        c->call_place[c->calls[i].open] = i + 1;
        c->calls[i].open = 0;
    }
}

static void load_nodes(struct rtl_replay_calls *c, int64_t recording)
{
    struct rtl_db_statement *st =
        rtl_db_prepare(c->db, "SELECT range, parent, name FROM rtl_range WHERE recording = ? ORDER BY range");
    struct rtl_hip_api_node_snapshot *nodes = c->nodes.nodes;
    rtl_db_bind_int(st, 1, recording);
    while (rtl_db_step(st)) {
        int64_t number = rtl_db_int(st, 0), parent = rtl_db_int(st, 1);
        if (number != c->known_nodes || number >= RTL_REPLAY_NODES_MAX || parent < 0 || (number && parent >= number) ||
            (!number && parent)) {
            damaged(c, "a range is out of bounds");
            return;
        }
        struct rtl_hip_api_node_snapshot *node = &nodes[c->known_nodes++];
        node->parent = (uint32_t)parent;
        take_name(st, 2, node->name, &node->name_bytes);
        if (!number)
            node->name_bytes = 0;
        node->open = (uint64_t)number;
    }
    c->nodes.node_count = c->known_nodes;
    if (!rtl_hip_api_sort_nodes(nodes, c->known_nodes, NULL))
        rtl_replay_no_memory(c->db);
    for (uint32_t i = 0; i < c->known_nodes; i++) {
        const struct rtl_hip_api_node_snapshot *a = &nodes[i ? i - 1 : 0], *b = &nodes[i];
        if (i > 1 && a->parent == b->parent && a->name_bytes == b->name_bytes && !memcmp(a->name, b->name, a->name_bytes))
            damaged(c, "two ranges have one name");
        c->node_place[nodes[i].open] = i + 1;
        nodes[i].open = 0;
    }
}

void rtl_replay_calls_begin(struct rtl_replay_calls *c, struct rtl_db *db, int64_t recording)
{
    *c = (struct rtl_replay_calls){.db = db};
    if (!rtl_db_has_set(db, &rtl_calls_set))
        return;
    c->has_pairs = rtl_db_has_set(db, &rtl_pairs_set);
    c->calls = calloc(RTL_REPLAY_CALLS_MAX, sizeof *c->calls);
    c->nodes.nodes = calloc(RTL_REPLAY_NODES_MAX, sizeof *c->nodes.nodes);
    c->call_there = calloc(RTL_REPLAY_CALLS_MAX, sizeof *c->call_there);
    c->node_there = calloc(RTL_REPLAY_NODES_MAX, sizeof *c->node_there);
    c->call_place = calloc(RTL_REPLAY_CALLS_MAX, sizeof *c->call_place);
    c->node_place = calloc(RTL_REPLAY_NODES_MAX, sizeof *c->node_place);
    c->view.rows = calloc(RTL_REPLAY_CALLS_MAX, sizeof *c->view.rows);
    c->view.nodes = calloc(RTL_REPLAY_NODES_MAX, sizeof *c->view.nodes);
    c->view.memory = calloc(RTL_HIP_API_PLACES, sizeof *c->view.memory);
    if (!c->calls || !c->nodes.nodes || !c->call_there || !c->node_there || !c->call_place || !c->node_place ||
        !c->view.rows || !c->view.nodes || !c->view.memory) {
        rtl_replay_no_memory(db);
        return;
    }
    load_calls(c, recording);
    load_nodes(c, recording);
}

static void empty(struct rtl_replay_calls *c)
{
    for (uint32_t i = 0; i < c->known_calls; i++) {
        struct rtl_hip_api_row_snapshot *call = &c->calls[i];
        rtl_replay_free_histogram(&call->histogram);
        call->bytes = call->errors = call->open = call->in_use = 0;
        c->call_there[i] = false;
    }
    for (uint32_t i = 0; i < c->known_nodes; i++) {
        struct rtl_hip_api_node_snapshot *n = &c->nodes.nodes[i];
        n->count = n->total_ns = n->most_ns = n->open = n->kernels = n->kernels_ns = n->copies = n->copies_ns = 0;
        c->node_there[i] = false;
    }
    for (uint32_t i = 0; i < c->launch_count; i++)
        rtl_replay_free_histogram(&c->launches[i].histogram);
    c->launch_count = 0;
    for (uint32_t i = 0; i < c->pair_count; i++)
        rtl_replay_free_histogram(&c->pairs[i].histogram);
    c->pair_count = 0;
    memset(c->memory_there, 0, sizeof c->memory_there);
    c->values = (struct rtl_hip_api_snapshot){0};
    c->any = false;
}

void rtl_replay_calls_end(struct rtl_replay_calls *c)
{
    empty(c);
    free(c->calls);
    free(c->nodes.nodes);
    free(c->call_there);
    free(c->node_there);
    free(c->call_place);
    free(c->node_place);
    free(c->launches);
    free(c->view.rows);
    free(c->view.nodes);
    free(c->view.memory);
    free(c->view.launches);
    free(c->pairs);
    free(c->view.pairs);
}

/* --- sums --- */

static struct rtl_histogram_copy *launch_of(struct rtl_replay_calls *c, int64_t kernel)
{
    uint32_t at = 0;
    if (kernel < 0 || kernel >= RTL_KERNELS_MAX) {
        damaged(c, "a launch is out of bounds");
        return NULL;
    }
    while (at < c->launch_count && c->launches[at].kernel < kernel)
        at++;
    if (at < c->launch_count && c->launches[at].kernel == kernel)
        return &c->launches[at].histogram;
    if (c->launch_count == c->launch_room) {
        uint32_t room = 2 * c->launch_room + 64;
        struct rtl_replay_launch *more = realloc(c->launches, room * sizeof *more);
        struct rtl_hip_api_launch_snapshot *view = more ? realloc(c->view.launches, room * sizeof *view) : NULL;
        c->launches = more ? more : c->launches;
        if (!view) {
            rtl_replay_no_memory(c->db);
            return NULL;
        }
        c->view.launches = view;
        c->launch_room = room;
    }
    memmove(&c->launches[at + 1], &c->launches[at], (c->launch_count - at) * sizeof *c->launches);
    c->launch_count++;
    c->launches[at] = (struct rtl_replay_launch){.kernel = (uint32_t)kernel};
    return &c->launches[at].histogram;
}

/* The pair of a node's place and a kernel's row: made if it isn't there. NULL: latched. */
static struct rtl_histogram_copy *pair_of(struct rtl_replay_calls *c, uint32_t node, int64_t kernel)
{
    uint32_t low = 0, high = c->pair_count;
    if (kernel < 0 || kernel >= RTL_KERNELS_MAX || !node) {
        damaged(c, "a kernel of a range is out of bounds");
        return NULL;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct rtl_replay_pair *p = &c->pairs[middle];
        if (p->node < node || (p->node == node && p->kernel < kernel))
            low = middle + 1;
        else
            high = middle;
    }
    if (low < c->pair_count && c->pairs[low].node == node && c->pairs[low].kernel == kernel)
        return &c->pairs[low].histogram;
    if (c->pair_count == RTL_REPLAY_PAIRS_MAX) {
        damaged(c, "ranges have too many kernels");
        return NULL;
    }
    if (c->pair_count == c->pair_room) {
        uint32_t room = 2 * c->pair_room + 64;
        struct rtl_replay_pair *more = realloc(c->pairs, room * sizeof *more);
        struct rtl_hip_api_pair_snapshot *view = more ? realloc(c->view.pairs, room * sizeof *view) : NULL;
        c->pairs = more ? more : c->pairs;
        if (!view) {
            rtl_replay_no_memory(c->db);
            return NULL;
        }
        c->view.pairs = view;
        c->pair_room = room;
    }
    memmove(&c->pairs[low + 1], &c->pairs[low], (c->pair_count - low) * sizeof *c->pairs);
    c->pair_count++;
    c->pairs[low] = (struct rtl_replay_pair){.node = node, .kernel = (uint32_t)kernel};
    return &c->pairs[low].histogram;
}

/* Those of a snapshot, whose nodes are at `place` here. */
static void set_pairs(struct rtl_replay_calls *c, const struct rtl_snapshot *from, const uint32_t *place,
                      uint32_t *room)
{
    const struct rtl_hip_api_snapshot *calls = from->hip_api;
    for (uint32_t k = 0; calls->pair_count && k < from->kernel_count; k++) {
        uint64_t hash = rtl_hash(from->kernels[k].name, from->kernels[k].name_length);
        for (uint32_t i = 0; i < calls->pair_count; i++) {
            struct rtl_histogram_copy *h = NULL;
            if (calls->pairs[i].kernel == hash && place[calls->pairs[i].node])
                h = pair_of(c, place[calls->pairs[i].node], from->kernels[k].id);
            if (h) {
                *h = calls->pairs[i].histogram;
                rtl_replay_own_histogram(c->db, h, room);
            }
        }
    }
}

void rtl_replay_calls_set(struct rtl_replay_calls *c, const struct rtl_snapshot *from, uint32_t *room)
{
    const struct rtl_hip_api_snapshot *calls = from ? from->hip_api : NULL;
    uint32_t at = 0, *place;
    empty(c);
    if (!calls || !c->calls || !(place = calloc(calls->node_count + 1, sizeof *place)))
        return;
    c->any = true;
    for (uint32_t i = 0; i < calls->count; i++) {
        while (at < c->known_calls && rtl_hip_api_compare_rows(&c->calls[at], &calls->rows[i]) < 0)
            at++;
        if (at == c->known_calls)
            break;
        c->calls[at] = calls->rows[i];
        rtl_replay_own_histogram(c->db, &c->calls[at].histogram, room);
        c->call_there[at] = true;
    }
    for (uint32_t i = 0; i < calls->node_count && c->known_nodes; i++) {
        const struct rtl_hip_api_node_snapshot *node = &calls->nodes[i];
        place[i] = i ? rtl_hip_api_find_child(&c->nodes, place[node->parent], node->name, node->name_bytes) : 0;
        if (place[i] == c->known_nodes)
            break;
        uint32_t parent = c->nodes.nodes[place[i]].parent;
        c->nodes.nodes[place[i]] = *node;
        c->nodes.nodes[place[i]].parent = parent;
        c->node_there[place[i]] = true;
    }
    set_pairs(c, from, place, room);
    free(place);
    for (uint32_t i = 0; calls->launch_count && i < from->kernel_count; i++) {
        const struct rtl_hip_api_launch_snapshot *launch = rtl_hip_api_find_launch(calls, &from->kernels[i]);
        struct rtl_histogram_copy *h = launch ? launch_of(c, from->kernels[i].id) : NULL;
        if (h) {
            *h = launch->histogram;
            rtl_replay_own_histogram(c->db, h, room);
        }
    }
    for (uint32_t i = 0; i < calls->memory_count; i++) {
        c->memory[calls->memory[i].place] = calls->memory[i];
        c->memory_there[calls->memory[i].place] = true;
    }
    c->values = *calls;
}

static void add_rows(struct rtl_replay_calls *c, int64_t frame, uint32_t *room)
{
    struct rtl_db_statement *st =
        rtl_db_prepare(c->db, "SELECT call" RTL_FIELD_NAMES(CALL) RTL_FIELD_NAMES(HISTOGRAM)
                              ", buckets, coarse FROM rtl_call_sample WHERE frame = ?");
    rtl_db_bind_int(st, 1, frame);
    while (rtl_db_step(st)) {
        int64_t number = rtl_db_int(st, 0);
        if (number < 0 || number >= RTL_REPLAY_CALLS_MAX || !c->call_place[number]) {
            damaged(c, "a call is out of bounds");
            break;
        }
        uint32_t at = c->call_place[number] - 1;
        c->call_there[at] = true;
        int next = rtl_fields_take(st, 1, rtl_call_fields, RTL_CALL_FIELD_COUNT, &c->calls[at]);
        rtl_replay_take_histogram(c->db, st, next, &c->calls[at].histogram, room);
    }
    rtl_db_reset(st);
}

static void add_memory(struct rtl_replay_calls *c, int64_t frame)
{
    struct rtl_db_statement *st =
        rtl_db_prepare(c->db, "SELECT place" RTL_FIELD_NAMES(MEMORY) " FROM rtl_call_memory WHERE frame = ?");
    rtl_db_bind_int(st, 1, frame);
    while (rtl_db_step(st)) {
        int64_t place = rtl_db_int(st, 0);
        if (place < 0 || place >= RTL_HIP_API_PLACES) {
            damaged(c, "a place of memory is out of bounds");
            break;
        }
        c->memory[place] = (struct rtl_hip_api_memory_snapshot){.pid = c->pid, .place = (uint32_t)place};
        c->memory_there[place] = true;
        rtl_fields_take(st, 1, rtl_memory_fields, RTL_MEMORY_FIELD_COUNT, &c->memory[place]);
    }
    rtl_db_reset(st);
}

static void add_nodes(struct rtl_replay_calls *c, int64_t frame)
{
    struct rtl_db_statement *st =
        rtl_db_prepare(c->db, "SELECT range" RTL_FIELD_NAMES(NODE) " FROM rtl_range_sample WHERE frame = ?");
    rtl_db_bind_int(st, 1, frame);
    while (rtl_db_step(st)) {
        int64_t number = rtl_db_int(st, 0);
        if (number < 0 || number >= RTL_REPLAY_NODES_MAX || !c->node_place[number]) {
            damaged(c, "a range is out of bounds");
            break;
        }
        uint32_t at = c->node_place[number] - 1;
        rtl_fields_take(st, 1, rtl_node_fields, RTL_NODE_FIELD_COUNT, &c->nodes.nodes[at]);
        for (; !c->node_there[at]; at = c->nodes.nodes[at].parent) /* none without those around it */
            c->node_there[at] = true;
    }
    rtl_db_reset(st);
}

static void add_launches(struct rtl_replay_calls *c, int64_t frame, uint32_t *room)
{
    struct rtl_db_statement *st = rtl_db_prepare(
        c->db, "SELECT kernel" RTL_FIELD_NAMES(HISTOGRAM) ", buckets, coarse FROM rtl_launch_sample WHERE frame = ?");
    struct rtl_histogram_copy *h;
    rtl_db_bind_int(st, 1, frame);
    while (rtl_db_step(st) && (h = launch_of(c, rtl_db_int(st, 0))))
        rtl_replay_take_histogram(c->db, st, 1, h, room);
    rtl_db_reset(st);
}

static void add_pairs(struct rtl_replay_calls *c, int64_t frame, uint32_t *room)
{
    struct rtl_db_statement *st =
        rtl_db_prepare(c->db, "SELECT frame" RTL_FIELD_NAMES(PAIRS) " FROM rtl_pair_frame WHERE frame = ?");
    rtl_db_bind_int(st, 1, frame);
    if (rtl_db_step(st))
        rtl_fields_take(st, 1, rtl_pairs_fields, RTL_PAIRS_FIELD_COUNT, &c->values);
    rtl_db_reset(st);
    st = rtl_db_prepare(c->db, "SELECT range, kernel" RTL_FIELD_NAMES(HISTOGRAM)
                               ", buckets, coarse FROM rtl_pair_sample WHERE frame = ?");
    rtl_db_bind_int(st, 1, frame);
    while (rtl_db_step(st)) {
        int64_t number = rtl_db_int(st, 0);
        if (number < 0 || number >= RTL_REPLAY_NODES_MAX || !c->node_place[number]) {
            damaged(c, "a kernel's range is out of bounds");
            break;
        }
        uint32_t at = c->node_place[number] - 1;
        struct rtl_histogram_copy *h = pair_of(c, at, rtl_db_int(st, 1));
        if (!h)
            break;
        rtl_replay_take_histogram(c->db, st, 2, h, room);
        for (; !c->node_there[at]; at = c->nodes.nodes[at].parent)
            c->node_there[at] = true;
    }
    rtl_db_reset(st);
}

void rtl_replay_calls_add(struct rtl_replay_calls *c, int64_t frame, uint32_t *room)
{
    if (!c->calls || rtl_db_status(c->db))
        return;
    struct rtl_db_statement *st =
        rtl_db_prepare(c->db, "SELECT frame" RTL_FIELD_NAMES(CALLS) " FROM rtl_call_frame WHERE frame = ?");
    rtl_db_bind_int(st, 1, frame);
    c->any = rtl_db_step(st);
    if (c->any)
        rtl_fields_take(st, 1, rtl_calls_fields, RTL_CALLS_FIELD_COUNT, &c->values);
    rtl_db_reset(st);
    if (!c->any)
        return;
    add_rows(c, frame, room);
    add_memory(c, frame);
    add_nodes(c, frame);
    add_launches(c, frame, room);
    if (c->has_pairs && !rtl_db_status(c->db))
        add_pairs(c, frame, room);
}

static void view_pairs(struct rtl_replay_calls *c, const struct rtl_snapshot *kernels, const uint32_t *place)
{
    struct rtl_hip_api_snapshot *v = &c->view;
    for (uint32_t i = 0; i < c->pair_count; i++) {
        const struct rtl_replay_pair *p = &c->pairs[i];
        uint32_t low = 0, high = kernels->kernel_count;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (kernels->kernels[middle].id < p->kernel)
                low = middle + 1;
            else
                high = middle;
        }
        if (low == kernels->kernel_count || kernels->kernels[low].id != p->kernel || !place[p->node])
            continue;
        const struct rtl_kernel_snapshot *k = &kernels->kernels[low];
        v->pairs[v->pair_count++] =
            (struct rtl_hip_api_pair_snapshot){place[p->node], rtl_hash(k->name, k->name_length), p->histogram};
    }
    rtl_hip_api_sort_pairs(v);
}

struct rtl_hip_api_snapshot *rtl_replay_calls_view(struct rtl_replay_calls *c, const struct rtl_snapshot *kernels)
{
    struct rtl_hip_api_snapshot *v = &c->view;
    uint32_t at = 0, *place = c->any ? calloc(c->known_nodes + 1, sizeof *place) : NULL;
    if (!place)
        return NULL;
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
        if (c->call_there[i])
            v->rows[v->count++] = c->calls[i];
    for (uint32_t i = 0; i < c->known_nodes; i++)
        if (c->node_there[i]) {
            place[i] = v->node_count;
            v->nodes[v->node_count] = c->nodes.nodes[i];
            v->nodes[v->node_count++].parent = place[c->nodes.nodes[i].parent];
        }
    view_pairs(c, kernels, place);
    free(place);
    for (uint32_t i = 0; i < RTL_HIP_API_PLACES; i++)
        if (c->memory_there[i])
            v->memory[v->memory_count++] = c->memory[i];
    for (uint32_t i = 0; i < c->launch_count; i++) {
        while (at < kernels->kernel_count && kernels->kernels[at].id < c->launches[i].kernel)
            at++;
        if (at == kernels->kernel_count || kernels->kernels[at].id != c->launches[i].kernel)
            continue;
        const struct rtl_kernel_snapshot *k = &kernels->kernels[at];
        v->launches[v->launch_count++] =
            (struct rtl_hip_api_launch_snapshot){rtl_hash(k->name, k->name_length), c->launches[i].histogram};
    }
    rtl_hip_api_sort_launches(v);
    return v;
}
