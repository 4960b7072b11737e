/* gcn_vectors.h - single instructions with their expected results in all lanes of the software GPU's interpreter. */
#ifndef GCN_VECTORS_H
#define GCN_VECTORS_H

#include "gcn_fixture.h"

/* code around each instruction: v2, v3, v4 and v5 from memory, v5 back to memory */
static const uint32_t before[] = {0xc0060080, 0x00000000, 0x24020082, 0xbf8cc07f, 0xdc508000, 0x02020001, 0xdc508100,
                                  0x03020001, 0xdc508200, 0x04020001, 0xdc508300, 0x05020001, 0xbf8c0f70};
static const uint32_t behind[] = {0xdc708400, 0x00020501, 0xbf810000};
enum { BEFORE = sizeof before / sizeof *before, BEHIND = sizeof behind / sizeof *behind };

static enum gcn_end run_one(enum gcn_target target, const uint32_t *instruction, unsigned n, unsigned items,
                            struct gcn_report *report)
{
    uint32_t words[BEFORE + 3 + BEHIND];
    memcpy(words, before, sizeof before);
    memcpy(words + BEFORE, instruction, n * 4);
    memcpy(words + BEFORE + n, behind, sizeof behind);
    struct gcn_launch launch = ready(target, words, BEFORE + n + BEHIND, items, 1);
    return gcn_run(&launch, report);
}

struct vector {
    const char *text;
    uint32_t code[2], a, b, c, want; /* v2, v3, v4; the result in v5, which was 0xdeadbeef */
};

/* run each vector with equal values in all lanes */
static void computes(enum gcn_target target, const struct vector *vectors, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct vector *v = &vectors[i];
        struct gcn_report report;
        for (unsigned l = 0; l < LANES; l++) {
            data[l] = v->a;
            data[64 + l] = v->b;
            data[128 + l] = v->c;
            data[192 + l] = 0xdeadbeef;
            data[256 + l] = 0;
        }
        assert_int_equal(run_one(target, v->code, v->code[1] ? 2 : 1, LANES, &report), GCN_DONE);
        for (unsigned l = 0; l < LANES; l += 63) {
            /* the instruction that counts lower lanes */
            uint32_t want = v->want + (strstr(v->text, "mbcnt") ? (l < 32 ? l : 32) : 0);
            if (data[256 + l] != want)
                fail_msg("%s, lane %u: 0x%x instead of 0x%x", v->text, l, data[256 + l], want);
        }
    }
}

#endif
