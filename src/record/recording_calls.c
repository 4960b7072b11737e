/* Calls and ranges of a frame into a file. See recording_calls.h. */
/* clang-format off */
#include "record/recording_calls.h"

#include <stdlib.h>
#include <string.h>

struct rtl_call_number {
    uint32_t kind, parent, name_bytes; /* of a node the parent's number, of a call its kind */
    char name[RTL_API_TEXT + 1];
};

void rtl_call_numbers_free(struct rtl_call_numbers *numbers)
{
    free(numbers->calls);
    free(numbers->nodes);
    *numbers = (struct rtl_call_numbers){0};
}

static struct rtl_db_statement *prepare(const struct rtl_calls_writer *w, const char *text, int64_t number)
{
    struct rtl_db_statement *st = rtl_db_prepare(w->db, text);
    rtl_db_bind_int(st, 1, w->frame);
    rtl_db_bind_int(st, 2, number);
    return st;
}

/* The number of what has that name: a new one is the next. */
static uint32_t number_of(const struct rtl_calls_writer *w, struct rtl_call_number **list, uint32_t *count,
                          uint32_t *room, const struct rtl_call_number *key, bool *is_new)
{
    *is_new = false;
    for (uint32_t i = 0; i < *count; i++)
        if ((*list)[i].kind == key->kind && (*list)[i].parent == key->parent &&
            (*list)[i].name_bytes == key->name_bytes && !memcmp((*list)[i].name, key->name, key->name_bytes))
            return i;
    if (*count == *room) {
        uint32_t size = 2 * *room + 64;
        struct rtl_call_number *more = realloc(*list, size * sizeof *more);
        if (!more) {
            rtl_db_fail(w->db, RTL_DB_FAILED, "out of memory");
            return 0;
        }
        *list = more;
        *room = size;
    }
    *is_new = true;
    (*list)[*count] = *key;
    return (*count)++;
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

static uint32_t name_call(const struct rtl_calls_writer *w, const struct rtl_call *call)
{
    struct rtl_call_numbers *n = w->numbers;
    struct rtl_call_number key = {.kind = call->kind, .name_bytes = call->name_bytes};
    bool is_new;
    memcpy(key.name, call->name, call->name_bytes);
    uint32_t number = number_of(w, &n->calls, &n->call_count, &n->call_room, &key, &is_new);
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

static void write_rows(const struct rtl_calls_writer *w, const struct rtl_calls *before, const struct rtl_calls *now)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < now->count && !rtl_db_status(w->db); i++) {
        const struct rtl_call *call = &now->rows[i], *was = NULL;
        int order = -1;
        while (before && at < before->count && (order = rtl_call_compare(&before->rows[at], call)) < 0)
            at++;
        if (before && at < before->count && order == 0)
            was = &before->rows[at];
        if (was && !rtl_fields_differ(rtl_call_fields, RTL_CALL_FIELD_COUNT, was, call) &&
            !histogram_differs(&was->histogram, &call->histogram))
            continue;
        uint32_t number = name_call(w, call);
        struct rtl_db_statement *st = prepare(
            w, "INSERT INTO rtl_call_sample(frame, call" RTL_FIELD_NAMES(CALL) RTL_FIELD_NAMES(HISTOGRAM)
               RTL_QUANTILE_COLUMNS ", buckets, coarse) VALUES(?, ?" RTL_FIELD_MARKS(CALL) RTL_FIELD_MARKS(HISTOGRAM)
               ", ?, ?, ?, ?, ?, ?)", number);
        int next = rtl_fields_bind(st, 3, rtl_call_fields, RTL_CALL_FIELD_COUNT, was, call);
        bind_histogram(w, st, next, was ? &was->histogram : NULL, &call->histogram);
        rtl_db_run(st);
    }
}

static void write_memory(const struct rtl_calls_writer *w, const struct rtl_calls *before, const struct rtl_calls *now)
{
    for (uint32_t i = 0; i < now->memory_count; i++) {
        const struct rtl_call_memory *m = &now->memory[i], *was = NULL;
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

static uint32_t name_node(const struct rtl_calls_writer *w, uint32_t parent, const struct rtl_call_node *node)
{
    struct rtl_call_numbers *n = w->numbers;
    struct rtl_call_number key = {.parent = parent, .name_bytes = node->name_bytes};
    bool is_new;
    memcpy(key.name, node->name, node->name_bytes);
    uint32_t number = number_of(w, &n->nodes, &n->node_count, &n->node_room, &key, &is_new);
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

/* The nodes before are found from their parents on. All are numbered, so that a parent always is. */
static void write_nodes(const struct rtl_calls_writer *w, const struct rtl_calls *before, const struct rtl_calls *now)
{
    uint32_t *was_at = calloc(now->node_count + 1, sizeof *was_at), *number = calloc(now->node_count + 1, sizeof *number);
    uint32_t none = before ? before->node_count : 0;
    if (!was_at || !number)
        rtl_db_fail(w->db, RTL_DB_FAILED, "out of memory");
    for (uint32_t i = 0; was_at && number && i < now->node_count && !rtl_db_status(w->db); i++) {
        const struct rtl_call_node *node = &now->nodes[i], *was = NULL;
        if (i)
            was_at[i] = was_at[node->parent] < none
                            ? rtl_calls_child(before, was_at[node->parent], node->name, node->name_bytes)
                            : none;
        if (was_at[i] < none)
            was = &before->nodes[was_at[i]];
        number[i] = name_node(w, i ? number[node->parent] : 0, node);
        if (was && !rtl_fields_differ(rtl_node_fields, RTL_NODE_FIELD_COUNT, was, node))
            continue;
        struct rtl_db_statement *st = prepare(w, "INSERT INTO rtl_range_sample(frame, range" RTL_FIELD_NAMES(NODE)
                                                 ") VALUES(?, ?" RTL_FIELD_MARKS(NODE) ")", number[i]);
        rtl_fields_bind(st, 3, rtl_node_fields, RTL_NODE_FIELD_COUNT, was, node);
        rtl_db_run(st);
    }
    free(was_at);
    free(number);
}

static void write_launches(const struct rtl_calls_writer *w, const struct rtl_calls *before,
                           const struct rtl_calls *now)
{
    if (!now->launch_count)
        return;
    for (uint32_t i = 0; i < w->now->kernel_count && !rtl_db_status(w->db); i++) {
        const struct rtl_kernel_snapshot *k = &w->now->kernels[i];
        const struct rtl_call_launch *launch = rtl_calls_launch(now, k), *was = rtl_calls_launch(before, k);
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
    const struct rtl_calls *before = w->before ? w->before->calls : NULL, *now = w->now->calls;
    if (!now)
        return;
    struct rtl_db_statement *st = rtl_db_prepare(
        w->db, "INSERT INTO rtl_call_frame(frame" RTL_FIELD_NAMES(CALLS) ") VALUES(?" RTL_FIELD_MARKS(CALLS) ")");
    rtl_db_bind_int(st, 1, w->frame);
    rtl_fields_bind(st, 2, rtl_calls_fields, RTL_CALLS_FIELD_COUNT, NULL, now);
    rtl_db_run(st);
    write_rows(w, before, now);
    write_memory(w, before, now);
    write_nodes(w, before, now);
    write_launches(w, before, now);
}
