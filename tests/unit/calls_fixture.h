/* Calls of HIP and ranges of roctx for snapshots of tests: rows that a test grows. */
#ifndef RTL_TESTS_CALLS_FIXTURE_H
#define RTL_TESTS_CALLS_FIXTURE_H

#include "shm/calls.h"
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
};

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
    struct rtl_calls *calls = rtl_calls_make(s, (uint32_t)c->count, c->memory_count);
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
}

#endif
