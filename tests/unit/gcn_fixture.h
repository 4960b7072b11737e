/*
 * gcn_fixture.h - a kernel of a few instructions for the software GPU's interpreter, without a runtime: its code, its
 * arguments and its memory. Code is in words from LLVM's assembler.
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

/* a kernel descriptor, followed by its code */
static struct {
    uint32_t descriptor[16];
    uint32_t words[512];
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

/* Put the code in its place. s[0:1] hold the address of the arguments, whose first one is the data's address; s2 is the
 * workgroup's number, v0 the work-item's. 32 vector registers on gfx90a and gfx942, half as many on gfx906.
 */
static struct gcn_launch ready(enum gcn_target target, const uint32_t *words, size_t n, unsigned items, unsigned groups)
{
    memset(&code, 0, sizeof code);
    code.descriptor[4] = 64;               /* offset of the code */
    code.descriptor[12] = 3;               /* vector registers */
    code.descriptor[13] = 2 << 1 | 1 << 7; /* user registers, then the workgroup's number */
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

#endif
