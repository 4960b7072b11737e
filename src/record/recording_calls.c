/* Writing the HIP calls and ranges of a frame. See recording_calls.h. */
/* clang-format off */
#include "record/recording_calls.h"
#include "base/array.h"
#include "shm/hash.h"

#include <stdlib.h>
#include <string.h>

struct rtl_call_number {
    uint32_t group, parent, name_bytes; /* a call has a group, a node the number of its parent */
    uint32_t next;                     /* older entry of the hash chain, + 1 */
    char name[RTL_HIP_API_TEXT + 1];
};

/* A replay accepts that many numbers (replay_private.h), while a process may use new names in every frame. */
enum { CALLS_MAX = RTL_HIP_API_ROWS, NODES_MAX = RTL_HIP_API_NODES };
#define NO_NUMBER UINT32_MAX

static uint32_t *chain_of(struct rtl_call_names *names, const struct rtl_call_number *key)
{
    uint64_t hash = rtl_hash(key->name, key->name_bytes) + key->group + key->parent;
    return &names->head[hash % (sizeof names->head / sizeof *names->head)];
}

/* Remove the newest entries first: each is the head of its chain. */
static void remove_names(struct rtl_call_names *names, uint32_t count)
{
    while (names->count > count) {
        const struct rtl_call_number *last = &names->list[--names->count];
        *chain_of(names, last) = last->next;
    }
}

void rtl_call_numbers_take_back(struct rtl_call_numbers *numbers, uint32_t calls, uint32_t nodes)
{
    remove_names(&numbers->calls, calls);
    remove_names(&numbers->nodes, nodes);
}

void rtl_call_numbers_free(struct rtl_call_numbers *numbers)
{
    free(numbers->calls.list);
    free(numbers->nodes.list);
    *numbers = (struct rtl_call_numbers){0};
}

/* Find the number of a name, or assign the next one and write its row with `insert`, whose third column is `third`.
 * NO_NUMBER if all `most` numbers are in use, or without memory. */
static uint32_t find_number(const struct rtl_calls_writer *w, struct rtl_call_names *names, uint32_t most,
                          const struct rtl_call_number *key, const char *insert, uint32_t third)
{
    uint32_t *head = chain_of(names, key);
    for (uint32_t i = *head; i; i = names->list[i - 1].next) {
        const struct rtl_call_number *n = &names->list[i - 1];
        if (n->group == key->group && n->parent == key->parent && n->name_bytes == key->name_bytes &&
            !memcmp(n->name, key->name, key->name_bytes))
            return i - 1;
    }
    if (names->count == most)
        return NO_NUMBER;
    if (!rtl_grow(&names->list, &names->room, names->count + 1, sizeof *names->list)) {
        rtl_db_no_memory(w->db);
        return NO_NUMBER;
    }
    uint32_t number = names->count;
    names->list[number] = *key;
    names->list[number].next = *head;
    *head = ++names->count;
    struct rtl_db_statement *st =
        rtl_db_prepare_ints(w->db, insert, w->recording, number, third, (int64_t)w->sequence);
    rtl_db_bind_text(st, 5, key->name, key->name_bytes);
    rtl_db_run(st);
    return number;
}

static uint32_t name_call(const struct rtl_calls_writer *w, const struct rtl_hip_api_row_snapshot *call)
{
    struct rtl_call_number key = {.group = rtl_hip_api_group(call->kind), .name_bytes = call->name_bytes};
    memcpy(key.name, call->name, call->name_bytes);
    return find_number(w, &w->numbers->calls, CALLS_MAX, &key,
                       "INSERT INTO rtl_call(recording, call, kind, first, name) VALUES(?, ?, ?, ?, ?)", call->kind);
}

/* Write the rows of functions, ranges and marks; return how many found no number. */
static uint32_t write_rows(const struct rtl_calls_writer *w, const struct rtl_hip_api_snapshot *before,
                           const struct rtl_hip_api_snapshot *now)
{
    uint32_t at = 0, left_out = 0;
    for (uint32_t i = 0; i < now->count && !rtl_db_status(w->db); i++) {
        const struct rtl_hip_api_row_snapshot *call = &now->rows[i], *was = rtl_hip_api_find_row(before, &at, call);
        if (was && !rtl_fields_differ(&rtl_call_fields, was, call) &&
            !rtl_histogram_differs(&was->histogram, &call->histogram))
            continue;
        uint32_t number = name_call(w, call);
        left_out += number == NO_NUMBER;
        if (number == NO_NUMBER)
            continue;
        struct rtl_db_statement *st = rtl_db_prepare_ints(
            w->db, "INSERT INTO rtl_call_sample(frame, call" RTL_FIELD_NAMES(CALL) RTL_HISTOGRAM_NAMES
                   ") VALUES(?, ?" RTL_FIELD_MARKS(CALL) RTL_HISTOGRAM_MARKS ")", w->frame, number);
        int next = rtl_fields_bind(st, 3, &rtl_call_fields, was, call);
        rtl_histogram_bind(w->db, st, next, w->texts, was ? &was->histogram : NULL, &call->histogram);
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
        if (was && !rtl_fields_differ(&rtl_memory_fields, was, m))
            continue;
        struct rtl_db_statement *st = rtl_db_prepare_ints(
            w->db, "INSERT OR IGNORE INTO rtl_call_memory(frame, place" RTL_FIELD_NAMES(MEMORY) ") VALUES(?, ?"
                   RTL_FIELD_MARKS(MEMORY) ")", w->frame, m->place);
        rtl_fields_insert(st, 3, &rtl_memory_fields, NULL, m);
    }
}

static uint32_t name_node(const struct rtl_calls_writer *w, uint32_t parent, const struct rtl_hip_api_node_snapshot *node)
{
    struct rtl_call_number key = {.parent = parent, .name_bytes = node->name_bytes};
    memcpy(key.name, node->name, node->name_bytes);
    return find_number(w, &w->numbers->nodes, NODES_MAX, &key,
                       "INSERT INTO rtl_range(recording, range, parent, first, name) VALUES(?, ?, ?, ?, ?)", parent);
}

/* was_at[i]: index of node i in `before`, found below its parent's node; number[i]: its number. Every node gets a number,
 * also if it did not change, because its children need it. */
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
        if (was && !rtl_fields_differ(&rtl_node_fields, was, node))
            continue;
        struct rtl_db_statement *st = rtl_db_prepare_ints(
            w->db, "INSERT INTO rtl_range_sample(frame, range" RTL_FIELD_NAMES(NODE) ") VALUES(?, ?"
                   RTL_FIELD_MARKS(NODE) ")", w->frame, number[i]);
        rtl_fields_insert(st, 3, &rtl_node_fields, was, node);
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

/* A pair in a snapshot names its kernel by the name's hash, a row in the file by the kernel's id. */
static void write_pairs(const struct rtl_calls_writer *w, const struct rtl_hip_api_snapshot *before, const struct rtl_hip_api_snapshot *now,
                        const uint32_t *was_at, const uint32_t *number)
{
    struct rtl_db_statement *st = rtl_db_prepare_ints(
        w->db, "INSERT INTO rtl_pair_frame(frame" RTL_FIELD_NAMES(PAIRS) ") VALUES(?" RTL_FIELD_MARKS(PAIRS) ")", w->frame);
    rtl_fields_insert(st, 2, &rtl_pairs_fields, NULL, now);
    struct kernel_number *kernels = calloc((size_t)w->now->kernel_count + 1, sizeof *kernels);
    if (!kernels) {
        rtl_db_no_memory(w->db);
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
            (was && !rtl_histogram_differs(&was->histogram, &pair->histogram)))
            continue;
        st = rtl_db_prepare_ints(w->db, "INSERT OR IGNORE INTO rtl_pair_sample(frame, range, kernel" RTL_HISTOGRAM_NAMES
                                        ") VALUES(?, ?, ?" RTL_HISTOGRAM_MARKS ")", w->frame, number[pair->node], kernel->id);
        rtl_histogram_bind(w->db, st, 4, w->texts, was ? &was->histogram : NULL, &pair->histogram);
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
        rtl_db_no_memory(w->db);
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
        if (!launch || (was && !rtl_histogram_differs(&was->histogram, &launch->histogram)))
            continue;
        struct rtl_db_statement *st = rtl_db_prepare_ints(
            w->db, "INSERT INTO rtl_launch_sample(frame, kernel" RTL_HISTOGRAM_NAMES ") VALUES(?, ?" RTL_HISTOGRAM_MARKS ")",
            w->frame, k->id);
        rtl_histogram_bind(w->db, st, 3, w->texts, was ? &was->histogram : NULL, &launch->histogram);
        rtl_db_run(st);
    }
}

void rtl_calls_write(const struct rtl_calls_writer *w)
{
    const struct rtl_hip_api_snapshot *before = w->before->hip_api, *now = w->now->hip_api;
    if (!now)
        return;
    uint32_t left_out = write_rows(w, before, now);
    write_memory(w, before, now);
    left_out += write_ranges(w, before, now);
    write_launches(w, before, now);
    struct rtl_hip_api_snapshot calls = *now;
    calls.ranges_other += left_out;
    struct rtl_db_statement *st = rtl_db_prepare_ints(
        w->db, "INSERT INTO rtl_call_frame(frame" RTL_FIELD_NAMES(CALLS) ") VALUES(?" RTL_FIELD_MARKS(CALLS) ")", w->frame);
    rtl_fields_insert(st, 2, &rtl_calls_fields, NULL, &calls);
}
