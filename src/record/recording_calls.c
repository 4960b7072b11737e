/* Calls and ranges of a frame into a file. See recording_calls.h. */
/* clang-format off */
#include "record/recording_calls.h"
#include "shm/hash.h"

#include <stdlib.h>
#include <string.h>

struct rtl_call_number {
    uint32_t kind, parent, name_bytes; /* of a node the parent's number, of a call its kind */
    uint32_t next;                     /* of the chain: one that was there before, + 1 */
    char name[RTL_HIP_API_TEXT + 1];
};

/* There are bounds on what a file may name (replay_calls.h), and the process may name something new in every frame. */
enum { CALLS_MAX = RTL_HIP_API_ROWS, NODES_MAX = RTL_HIP_API_NODES };
#define NO_NUMBER UINT32_MAX

static uint32_t *head_of(struct rtl_call_names *names, const struct rtl_call_number *key)
{
    uint64_t hash = rtl_hash(key->name, key->name_bytes) + key->kind + key->parent;
    return &names->head[hash % (sizeof names->head / sizeof *names->head)];
}

/* The newest leave first, so that each was its chain's first. */
static void take_back(struct rtl_call_names *names, uint32_t count)
{
    while (names->count > count) {
        const struct rtl_call_number *last = &names->list[--names->count];
        *head_of(names, last) = last->next;
    }
}

void rtl_call_numbers_take_back(struct rtl_call_numbers *numbers, uint32_t calls, uint32_t nodes)
{
    take_back(&numbers->calls, calls);
    take_back(&numbers->nodes, nodes);
}

void rtl_call_numbers_free(struct rtl_call_numbers *numbers)
{
    free(numbers->calls.list);
    free(numbers->nodes.list);
    *numbers = (struct rtl_call_numbers){0};
}

static struct rtl_db_statement *prepare(const struct rtl_calls_writer *w, const char *text, int64_t number)
{
    struct rtl_db_statement *st = rtl_db_prepare(w->db, text);
    rtl_db_bind_int(st, 1, w->frame);
    rtl_db_bind_int(st, 2, number);
    return st;
}

/* The number of what has that name: a new one is the next. NO_NUMBER when all have been given, or without memory. */
static uint32_t number_of(const struct rtl_calls_writer *w, struct rtl_call_names *names, uint32_t most,
                          const struct rtl_call_number *key, bool *is_new)
{
    uint32_t *head = head_of(names, key);
    *is_new = false;
    for (uint32_t i = *head; i; i = names->list[i - 1].next) {
        const struct rtl_call_number *n = &names->list[i - 1];
        if (n->kind == key->kind && n->parent == key->parent && n->name_bytes == key->name_bytes &&
            !memcmp(n->name, key->name, key->name_bytes))
            return i - 1;
    }
    if (names->count == most)
        return NO_NUMBER;
    if (names->count == names->room) {
        uint32_t size = 2 * names->room + 64;
        struct rtl_call_number *more = realloc(names->list, size * sizeof *more);
        if (!more) {
            rtl_db_fail(w->db, RTL_DB_FAILED, "out of memory");
            return NO_NUMBER;
        }
        names->list = more;
        names->room = size;
    }
    *is_new = true;
    names->list[names->count] = *key;
    names->list[names->count].next = *head;
    *head = ++names->count;
    return names->count - 1;
}

/* Fields, quantiles and buckets of what a histogram grew by, from parameter `at` on. */
static void bind_histogram(const struct rtl_calls_writer *w, struct rtl_db_statement *st, int at,
                           const struct rtl_histogram_copy *before, const struct rtl_histogram_copy *now)
{
    struct rtl_histogram_delta *g = w->delta;
    if (!rtl_histogram_delta_make(g, before, now))
        rtl_db_fail(w->db, RTL_DB_FAILED, "out of memory");
    at = rtl_fields_bind(st, at, rtl_histogram_fields, RTL_HISTOGRAM_FIELD_COUNT, before, now);
    for (int i = 0; i < RTL_RECORDED_QUANTILES; i++, at++)
        if (g->any)
            rtl_db_bind_int(st, at, (int64_t)g->quantile[i]);
        else
            rtl_db_bind_null(st, at);
    const struct rtl_text_buffer *texts[] = {&g->buckets, &g->coarse};
    for (int i = 0; i < 2; i++, at++)
        if (texts[i]->used)
            rtl_db_bind_text(st, at, texts[i]->bytes, texts[i]->used);
        else
            rtl_db_bind_null(st, at);
}

static bool histogram_differs(const struct rtl_histogram_copy *a, const struct rtl_histogram_copy *b)
{
    return rtl_fields_differ(rtl_histogram_fields, RTL_HISTOGRAM_FIELD_COUNT, a, b);
}

static uint32_t name_call(const struct rtl_calls_writer *w, const struct rtl_hip_api_row_snapshot *call)
{
    struct rtl_call_numbers *n = w->numbers;
    struct rtl_call_number key = {.kind = call->kind, .name_bytes = call->name_bytes};
    bool is_new;
    memcpy(key.name, call->name, call->name_bytes);
    uint32_t number = number_of(w, &n->calls, CALLS_MAX, &key, &is_new);
    if (!is_new)
        return number;
    struct rtl_db_statement *st =
        rtl_db_prepare(w->db, "INSERT INTO rtl_call(recording, call, kind, name, first) VALUES(?, ?, ?, ?, ?)");
    rtl_db_bind_int(st, 1, w->recording);
    rtl_db_bind_int(st, 2, number);
    rtl_db_bind_int(st, 3, call->kind);
    rtl_db_bind_text(st, 4, call->name, call->name_bytes);
    rtl_db_bind_int(st, 5, (int64_t)w->sequence);
    rtl_db_run(st);
    return number;
}

/* These two return how many found no number. */
static uint32_t write_rows(const struct rtl_calls_writer *w, const struct rtl_hip_api_snapshot *before,
                           const struct rtl_hip_api_snapshot *now)
{
    uint32_t at = 0, left_out = 0;
    for (uint32_t i = 0; i < now->count && !rtl_db_status(w->db); i++) {
        const struct rtl_hip_api_row_snapshot *call = &now->rows[i], *was = NULL;
        int order = -1;
        while (before && at < before->count && (order = rtl_hip_api_compare_rows(&before->rows[at], call)) < 0)
            at++;
        if (before && at < before->count && order == 0)
            was = &before->rows[at];
        if (was && !rtl_fields_differ(rtl_call_fields, RTL_CALL_FIELD_COUNT, was, call) &&
            !histogram_differs(&was->histogram, &call->histogram))
            continue;
        uint32_t number = name_call(w, call);
        left_out += number == NO_NUMBER;
        if (number == NO_NUMBER)
            continue;
        struct rtl_db_statement *st = prepare(
            w, "INSERT INTO rtl_call_sample(frame, call" RTL_FIELD_NAMES(CALL) RTL_FIELD_NAMES(HISTOGRAM)
               RTL_QUANTILE_COLUMNS ", buckets, coarse) VALUES(?, ?" RTL_FIELD_MARKS(CALL) RTL_FIELD_MARKS(HISTOGRAM)
               ", ?, ?, ?, ?, ?, ?)", number);
        int next = rtl_fields_bind(st, 3, rtl_call_fields, RTL_CALL_FIELD_COUNT, was, call);
        bind_histogram(w, st, next, was ? &was->histogram : NULL, &call->histogram);
        rtl_db_run(st);
    }
    return left_out;
}

static void write_memory(const struct rtl_calls_writer *w, const struct rtl_hip_api_snapshot *before, const struct rtl_hip_api_snapshot *now)
{
    for (uint32_t i = 0; i < now->memory_count; i++) {
        const struct rtl_hip_api_memory_snapshot *m = &now->memory[i], *was = NULL;
        for (uint32_t j = 0; before && !was && j < before->memory_count; j++)
            if (before->memory[j].place == m->place)
                was = &before->memory[j];
        if (was && !rtl_fields_differ(rtl_memory_fields, RTL_MEMORY_FIELD_COUNT, was, m))
            continue;
        struct rtl_db_statement *st = prepare(w, "INSERT OR IGNORE INTO rtl_call_memory(frame, place" RTL_FIELD_NAMES(MEMORY)
                                                 ") VALUES(?, ?" RTL_FIELD_MARKS(MEMORY) ")", m->place);
        rtl_fields_bind(st, 3, rtl_memory_fields, RTL_MEMORY_FIELD_COUNT, NULL, m);
        rtl_db_run(st);
    }
}

static uint32_t name_node(const struct rtl_calls_writer *w, uint32_t parent, const struct rtl_hip_api_node_snapshot *node)
{
    struct rtl_call_numbers *n = w->numbers;
    struct rtl_call_number key = {.parent = parent, .name_bytes = node->name_bytes};
    bool is_new;
    memcpy(key.name, node->name, node->name_bytes);
    uint32_t number = number_of(w, &n->nodes, NODES_MAX, &key, &is_new);
    if (!is_new)
        return number;
    struct rtl_db_statement *st =
        rtl_db_prepare(w->db, "INSERT INTO rtl_range(recording, range, parent, name, first) VALUES(?, ?, ?, ?, ?)");
    rtl_db_bind_int(st, 1, w->recording);
    rtl_db_bind_int(st, 2, number);
    rtl_db_bind_int(st, 3, parent);
    rtl_db_bind_text(st, 4, node->name, node->name_bytes);
    rtl_db_bind_int(st, 5, (int64_t)w->sequence);
    rtl_db_run(st);
    return number;
}

/* The nodes before are found from their parents on. All are numbered, so that a parent is if there was a number. */
static uint32_t write_nodes(const struct rtl_calls_writer *w, const struct rtl_hip_api_snapshot *before,
                            const struct rtl_hip_api_snapshot *now, uint32_t *was_at, uint32_t *number)
{
    uint32_t none = before ? before->node_count : 0, left_out = 0;
    for (uint32_t i = 0; i < now->node_count && !rtl_db_status(w->db); i++) {
        const struct rtl_hip_api_node_snapshot *node = &now->nodes[i], *was = NULL;
        if (i)
            was_at[i] = was_at[node->parent] < none
                            ? rtl_hip_api_find_child(before, was_at[node->parent], node->name, node->name_bytes)
                            : none;
        if (was_at[i] < none)
            was = &before->nodes[was_at[i]];
        bool placed = !i || number[node->parent] != NO_NUMBER;
        number[i] = placed ? name_node(w, i ? number[node->parent] : 0, node) : NO_NUMBER;
        left_out += number[i] == NO_NUMBER;
        if (number[i] == NO_NUMBER)
            continue;
        if (was && !rtl_fields_differ(rtl_node_fields, RTL_NODE_FIELD_COUNT, was, node))
            continue;
        struct rtl_db_statement *st = prepare(w, "INSERT INTO rtl_range_sample(frame, range" RTL_FIELD_NAMES(NODE)
                                                 ") VALUES(?, ?" RTL_FIELD_MARKS(NODE) ")", number[i]);
        rtl_fields_bind(st, 3, rtl_node_fields, RTL_NODE_FIELD_COUNT, was, node);
        rtl_db_run(st);
    }
    return left_out;
}

struct kernel_number {
    uint64_t hash;
    uint32_t id;
};

static int compare_kernels(const void *left, const void *right)
{
    const struct kernel_number *a = left, *b = right;
    return (a->hash > b->hash) - (a->hash < b->hash);
}

/* Pairs know kernels by their names, the file by their rows. */
static void write_pairs(const struct rtl_calls_writer *w, const struct rtl_hip_api_snapshot *before, const struct rtl_hip_api_snapshot *now,
                        const uint32_t *was_at, const uint32_t *number)
{
    struct rtl_db_statement *st = rtl_db_prepare(
        w->db, "INSERT INTO rtl_pair_frame(frame" RTL_FIELD_NAMES(PAIRS) ") VALUES(?" RTL_FIELD_MARKS(PAIRS) ")");
    rtl_db_bind_int(st, 1, w->frame);
    rtl_fields_bind(st, 2, rtl_pairs_fields, RTL_PAIRS_FIELD_COUNT, NULL, now);
    rtl_db_run(st);
    struct kernel_number *kernels = calloc((size_t)w->now->kernel_count + 1, sizeof *kernels);
    if (!kernels) {
        rtl_db_fail(w->db, RTL_DB_FAILED, "out of memory");
        return;
    }
    for (uint32_t i = 0; i < w->now->kernel_count; i++) {
        const struct rtl_kernel_snapshot *k = &w->now->kernels[i];
        kernels[i] = (struct kernel_number){rtl_hash(k->name, k->name_length), k->id};
    }
    qsort(kernels, w->now->kernel_count, sizeof *kernels, compare_kernels);
    for (uint32_t i = 0; i < now->pair_count && !rtl_db_status(w->db); i++) {
        const struct rtl_hip_api_pair_snapshot *pair = &now->pairs[i];
        const struct rtl_hip_api_pair_snapshot *was = rtl_hip_api_find_pair(before, was_at[pair->node], pair->kernel);
        const struct kernel_number key = {.hash = pair->kernel};
        const struct kernel_number *kernel =
            bsearch(&key, kernels, w->now->kernel_count, sizeof *kernels, compare_kernels);
        if (!kernel || number[pair->node] == NO_NUMBER ||
            (was && !histogram_differs(&was->histogram, &pair->histogram)))
            continue;
        st = rtl_db_prepare(w->db, "INSERT OR IGNORE INTO rtl_pair_sample(frame, range, kernel" RTL_FIELD_NAMES(HISTOGRAM)
                                   RTL_QUANTILE_COLUMNS ", buckets, coarse) VALUES(?, ?, ?" RTL_FIELD_MARKS(HISTOGRAM)
                                   ", ?, ?, ?, ?, ?, ?)");
        rtl_db_bind_int(st, 1, w->frame);
        rtl_db_bind_int(st, 2, number[pair->node]);
        rtl_db_bind_int(st, 3, kernel->id);
        bind_histogram(w, st, 4, was ? &was->histogram : NULL, &pair->histogram);
        rtl_db_run(st);
    }
    free(kernels);
}

static uint32_t write_ranges(const struct rtl_calls_writer *w, const struct rtl_hip_api_snapshot *before,
                             const struct rtl_hip_api_snapshot *now)
{
    uint32_t left_out = 0;
    uint32_t *was_at = calloc(now->node_count + 1, sizeof *was_at), *number = calloc(now->node_count + 1, sizeof *number);
    if (was_at && number)
        left_out = write_nodes(w, before, now, was_at, number);
    else
        rtl_db_fail(w->db, RTL_DB_FAILED, "out of memory");
    if ((now->pair_count || now->pairs_over) && !rtl_db_status(w->db))
        write_pairs(w, before, now, was_at, number);
    free(was_at);
    free(number);
    return left_out;
}

static void write_launches(const struct rtl_calls_writer *w, const struct rtl_hip_api_snapshot *before,
                           const struct rtl_hip_api_snapshot *now)
{
    if (!now->launch_count)
        return;
    for (uint32_t i = 0; i < w->now->kernel_count && !rtl_db_status(w->db); i++) {
        const struct rtl_kernel_snapshot *k = &w->now->kernels[i];
        const struct rtl_hip_api_launch_snapshot *launch = rtl_hip_api_find_launch(now, k), *was = rtl_hip_api_find_launch(before, k);
        if (!launch || (was && !histogram_differs(&was->histogram, &launch->histogram)))
            continue;
        struct rtl_db_statement *st = prepare(
            w, "INSERT INTO rtl_launch_sample(frame, kernel" RTL_FIELD_NAMES(HISTOGRAM) RTL_QUANTILE_COLUMNS
               ", buckets, coarse) VALUES(?, ?" RTL_FIELD_MARKS(HISTOGRAM) ", ?, ?, ?, ?, ?, ?)", k->id);
        bind_histogram(w, st, 3, was ? &was->histogram : NULL, &launch->histogram);
        rtl_db_run(st);
    }
}

void rtl_calls_write(const struct rtl_calls_writer *w)
{
    const struct rtl_hip_api_snapshot *before = w->before ? w->before->hip_api : NULL, *now = w->now->hip_api;
    if (!now)
        return;
    uint32_t left_out = write_rows(w, before, now);
    write_memory(w, before, now);
    left_out += write_ranges(w, before, now);
    write_launches(w, before, now);
    struct rtl_hip_api_snapshot told = *now;
    told.ranges_other += left_out; /* which they are to whoever reads the file */
    struct rtl_db_statement *st = rtl_db_prepare(
        w->db, "INSERT INTO rtl_call_frame(frame" RTL_FIELD_NAMES(CALLS) ") VALUES(?" RTL_FIELD_MARKS(CALLS) ")");
    rtl_db_bind_int(st, 1, w->frame);
    rtl_fields_bind(st, 2, rtl_calls_fields, RTL_CALLS_FIELD_COUNT, NULL, &told);
    rtl_db_run(st);
}
