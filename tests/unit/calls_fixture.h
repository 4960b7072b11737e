/* HIP calls and roctx ranges for the snapshots of tests: rows that a test grows. */
#ifndef RTL_TESTS_CALLS_FIXTURE_H
#define RTL_TESTS_CALLS_FIXTURE_H

#include "shm/calls.h"
#include "shm/hash.h"
#include "tui_synth.h"

struct synth_calls {
    struct {
        const char *name;
        uint32_t kind;
        uint64_t bytes, errors, open, in_use;
        struct synth_histogram h;
    } rows[16];
    int count;
    struct rtl_call_memory memory[4];
    uint32_t memory_count;
    uint64_t unbalanced;
    struct rtl_call_node nodes[16]; /* parents first; the first node has no name */
    uint32_t node_count;
    struct {
        const char *kernel;
        struct synth_histogram h;
    } launches[4];
    uint32_t launch_count;
    struct {
        uint32_t node; /* of nodes */
        const char *kernel;
        struct synth_histogram h;
    } pairs[16];
    uint32_t pair_count;
    struct {
        int row;
        uint64_t since_ns;
    } inside[4]; /* calls in progress */
    uint32_t inside_count;
    uint64_t linked;
};

/* Add a range below another one. The first call also makes the root node, for calls outside all ranges. */
static inline uint32_t synth_node(struct synth_calls *c, uint32_t parent, const char *name)
{
    c->node_count = c->node_count ? c->node_count : 1;
    struct rtl_call_node *n = &c->nodes[c->node_count];
    assert_true(c->node_count < 16);
    *n = (struct rtl_call_node){.parent = parent, .name_bytes = (uint32_t)strlen(name)};
    memcpy(n->name, name, n->name_bytes);
    return c->node_count++;
}

static inline int synth_call(struct synth_calls *c, uint32_t kind, const char *name)
{
    assert_true(c->count < 16);
    c->rows[c->count].kind = kind;
    c->rows[c->count].name = name;
    return c->count++;
}

static int synth_compare_calls(const void *a, const void *b)
{
    return rtl_call_compare(a, b);
}

/* Copy the current calls into a snapshot whose octaves belong to `p`. */
static inline void synth_put_calls(struct synth *p, const struct synth_calls *c, struct rtl_snapshot *s)
{
    const struct rtl_calls_room room = {(uint32_t)c->count, c->memory_count, 16, 4, 16, 4};
    struct rtl_calls *calls = rtl_calls_make(s, &room);
    assert_non_null(calls);
    for (int i = 0; i < c->count; i++) {
        struct rtl_call *row = &calls->rows[calls->count++];
        *row = (struct rtl_call){.kind = c->rows[i].kind,
                                 .name_bytes = (uint32_t)strlen(c->rows[i].name),
                                 .bytes = c->rows[i].bytes,
                                 .errors = c->rows[i].errors,
                                 .open = c->rows[i].open,
                                 .in_use = c->rows[i].in_use,
                                 .histogram = synth_copy(p, &c->rows[i].h)};
        memcpy(row->name, c->rows[i].name, row->name_bytes);
    }
    qsort(calls->rows, calls->count, sizeof *calls->rows, synth_compare_calls);
    for (uint32_t i = 0; i < c->inside_count; i++) {
        struct rtl_call_thread *thread = &calls->threads[calls->thread_count++];
        *thread = (struct rtl_call_thread){.tid = 7 + i, .since_ns = c->inside[i].since_ns};
        for (uint32_t r = 0; r < calls->count; r++)
            if (!strcmp(calls->rows[r].name, c->rows[c->inside[i].row].name))
                thread->row = r + 1;
    }
    for (uint32_t i = 0; i < c->memory_count; i++)
        calls->memory[calls->memory_count++] = c->memory[i];
    calls->pops_unbalanced = c->unbalanced;
    calls->links = c->node_count || c->linked;
    calls->linked = c->linked;
    memcpy(calls->nodes, c->nodes, c->node_count * sizeof *c->nodes);
    calls->node_count = c->node_count;
    assert_true(rtl_calls_sort_nodes(calls->nodes, calls->node_count));
    uint32_t place[16] = {0};
    for (uint32_t i = 1; i < c->node_count; i++)
        place[i] = rtl_calls_child(calls, place[c->nodes[i].parent], c->nodes[i].name, c->nodes[i].name_bytes);
    for (uint32_t i = 0; i < c->pair_count; i++)
        calls->pairs[calls->pair_count++] =
            (struct rtl_call_pair){place[c->pairs[i].node], rtl_hash(c->pairs[i].kernel, strlen(c->pairs[i].kernel)),
                                   synth_copy(p, &c->pairs[i].h)};
    rtl_calls_sort_pairs(calls);
    for (uint32_t i = 0; i < c->launch_count; i++)
        calls->launches[calls->launch_count++] = (struct rtl_call_launch){
            rtl_hash(c->launches[i].kernel, strlen(c->launches[i].kernel)), synth_copy(p, &c->launches[i].h)};
    rtl_calls_sort_launches(calls);
}

#endif
