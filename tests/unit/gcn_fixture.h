/*
 * gcn_fixture.h - a kernel of a few instructions, which the interpreter of the software GPU runs without a runtime: its
 * code, its arguments and the memory that it works on. Code is in words, as LLVM's assembler made it.
 */
#ifndef GCN_FIXTURE_H
#define GCN_FIXTURE_H

#include "../vgpu/gcn/gcn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { CODE_VA = 0x10000, DATA_VA = 0x20000, ARGS_VA = 0x30000, LANES = 64 };

/* a kernel descriptor and its code behind it */
static struct {
    uint32_t descriptor[16];
    uint32_t words[256];
} code;
static uint32_t data[8192] __attribute__((aligned(8)));
static uint64_t args[4];
static size_t code_bytes;

static bool find(uint64_t va, struct gcn_span *span)
{
    const struct gcn_span all[] = {{CODE_VA, code_bytes, (char *)&code},
                                   {DATA_VA, sizeof data, (char *)data},
                                   {ARGS_VA, sizeof args, (char *)args}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (va - all[i].va < all[i].bytes) {
            *span = all[i];
            return true;
        }
    return false;
}

/* Puts the code in its place. s[0:1] will be the arguments, the first of which is where the data are, s2 the
 * workgroup's number, v0 the work-item's; 32 vector registers of gfx90a and gfx942, half of them of gfx906. */
static struct gcn_launch ready(enum gcn_target target, const uint32_t *words, size_t n, unsigned items, unsigned groups)
{
    memset(&code, 0, sizeof code);
    code.descriptor[4] = 64;               /* the code's place */
    code.descriptor[12] = 3;               /* vector registers */
    code.descriptor[13] = 2 << 1 | 1 << 7; /* user registers, the workgroup's number behind them */
    code.descriptor[14] = 1 << 3;          /* the arguments' address */
    assert_true(n <= sizeof code.words / sizeof *code.words);
    memcpy(code.words, words, n * 4);
    code_bytes = sizeof code.descriptor + n * 4;
    args[0] = DATA_VA;
    return (struct gcn_launch){.target = target,
                               .object = CODE_VA,
                               .grid = {items * groups, 1, 1},
                               .group = {(uint16_t)items, 1, 1},
                               .lds_bytes = 1024,
                               .kernarg = ARGS_VA,
                               .find = find,
                               .threads = 2};
}

/* the same around an instruction: v2, v3, v4 and v5 from memory, v5 back to memory */
static const uint32_t before[] = {0xc0060080, 0x00000000, 0x24020082, 0xbf8cc07f, 0xdc508000, 0x02020001, 0xdc508100,
                                  0x03020001, 0xdc508200, 0x04020001, 0xdc508300, 0x05020001, 0xbf8c0f70};
static const uint32_t behind[] = {0xdc708400, 0x00020501, 0xbf810000};
enum { BEFORE = sizeof before / sizeof *before, BEHIND = sizeof behind / sizeof *behind };

static enum gcn_end run_one(enum gcn_target target, const uint32_t *instruction, unsigned n, unsigned items,
                            struct gcn_report *report)
{
    uint32_t words[BEFORE + 2 + BEHIND];
    memcpy(words, before, sizeof before);
    memcpy(words + BEFORE, instruction, n * 4);
    memcpy(words + BEFORE + n, behind, sizeof behind);
    struct gcn_launch launch = ready(target, words, BEFORE + n + BEHIND, items, 1);
    return gcn_run(&launch, report);
}

struct vector {
    const char *text;
    uint32_t code[2], a, b, c, want; /* v2, v3, v4; v5, which was 0xdeadbeef */
};

/* what each of them makes of the same values in all lanes */
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
            /* the one that counts lanes below */
            uint32_t want = v->want + (strstr(v->text, "mbcnt") ? (l < 32 ? l : 32) : 0);
            if (data[256 + l] != want)
                fail_msg("%s, lane %u: 0x%x instead of 0x%x", v->text, l, data[256 + l], want);
        }
    }
}

#endif
