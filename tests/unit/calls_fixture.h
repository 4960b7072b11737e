/* Calls of HIP and ranges of roctx for snapshots of tests: rows that a test grows. */
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
    struct rtl_call_node nodes[16]; /* parents first; the first one has no name */
    uint32_t node_count;
    struct {
        const char *kernel;
        struct synth_histogram h;
    } launches[4];
    uint32_t launch_count;
    uint64_t linked;
};

/* A range below another one; the first call makes what is outside of all ranges, too. */
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

/* As they are now, into a snapshot whose octaves are of `p`. */
static inline void synth_put_calls(struct synth *p, const struct synth_calls *c, struct rtl_snapshot *s)
{
    const struct rtl_calls_room room = {(uint32_t)c->count, c->memory_count, 16, 16, 4};
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
    for (uint32_t i = 0; i < c->memory_count; i++)
        calls->memory[calls->memory_count++] = c->memory[i];
    calls->pops_unbalanced = c->unbalanced;
    calls->links = c->node_count || c->linked;
    calls->linked = c->linked;
    memcpy(calls->nodes, c->nodes, c->node_count * sizeof *c->nodes);
    calls->node_count = c->node_count;
    assert_true(rtl_calls_sort_nodes(calls->nodes, calls->node_count));
    for (uint32_t i = 0; i < c->launch_count; i++)
        calls->launches[calls->launch_count++] = (struct rtl_call_launch){
            rtl_hash(c->launches[i].kernel, strlen(c->launches[i].kernel)), synth_copy(p, &c->launches[i].h)};
    rtl_calls_sort_launches(calls);
}

#endif
