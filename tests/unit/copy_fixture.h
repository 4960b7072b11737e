/*
 * A kernel and its probed copy in the memory of the software GPU's interpreter: shared by the tests of copies. The test
 * sets `block_span` to the probe's pages.
 */
#ifndef COPY_FIXTURE_H
#define COPY_FIXTURE_H

#include "../vgpu/gcn/gcn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/code_object.h"
#include "probe/patch.h"
#include "shm/probe.h"

enum { ORIGINAL_VA = 0x100000, COPY_VA = 0x400000, DATA_VA = 0x700000, ARGS_VA = 0x900000 };
#define SGPRS(count) (((count) / 16u - 1) * 2 << 6)

static uint32_t dies; /* pages of the block: one for each die */
static struct gcn_span block_span;
static uint32_t data[4096];
static uint64_t args[2] = {DATA_VA};
static char *original;
static size_t original_bytes;
static struct rtl_probe_patch patch;

static inline bool find(uint64_t va, struct gcn_span *span)
{
    const struct gcn_span all[] = {{ORIGINAL_VA, original_bytes, original},
                                   {COPY_VA, patch.bytes, patch.code},
                                   {DATA_VA, sizeof data, (char *)data},
                                   block_span,
                                   {ARGS_VA, sizeof args, (char *)args}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].host && va - all[i].va < all[i].bytes) {
            *span = all[i];
            return true;
        }
    return false;
}

static inline uint64_t descriptor_in(const void *code, size_t bytes)
{
    struct rtl_code_object object;
    uint64_t address;
    assert_int_equal(rtl_code_open(&object, code, bytes), RTL_PROBE_NONE);
    assert_true(rtl_code_find_kernel(&object, "sum", &address));
    return address; /* code_writer.c writes addresses as offsets in the file */
}

static inline struct rtl_code_draft draft_of(const uint32_t *text, size_t n)
{
    return (struct rtl_code_draft){.flags = RTL_CODE_GFX90A,
                                   .abi_version = 2,
                                   .kernel = "sum",
                                   .descriptor = {.rsrc1 = SGPRS(32), .rsrc2 = 2 << 1 | 1 << 7, .properties = 1 << 3},
                                   .text = text,
                                   .text_bytes = n * 4};
}

#endif
