/*
 * libFuzzer target: making a probed copy of a kernel from a code object. The result is a refusal, or a code object that
 * has the kernel and can be parsed, whose code differs from the original only in branches. The library must accept it.
 *
 * The code object starts valid, with a kernel that has branches, calls and two ends. The first byte of the input
 * selects the target and the kind of copy. The rest is patches of 6 bytes: an offset (2 bytes) and a word (4). Offsets
 * from 32768 on count from the first word of the code.
 *
 * fuzz: -timeout=10 -rss_limit_mb=1024 -max_len=600
 */
#include "fuzz.h"

#include <elf.h>

#include "intercept/worker/probe_elf_check.h"
#include "probe/code_object.h"
#include "probe/patch.h"

static const uint32_t kernel[] = {0xc0060100, 0,          0xbe861c00, 0xbf8cc07f, 0x8e078202, 0xbe9e1e04,
                                  0xdd088000, 0x00040201, 0xbf0d8002, 0xbf850004, 0x24020082, 0xdd088400,
                                  0x00040001, 0xbf810000, 0xba001901, 0xf0,       0xbf840002, 0xbe8000ff,
                                  0xbf810000, 0xbf810000, 0xd1190001, 0x00020501, 0xbf82fff8};
enum { TEXT = 0x1000, ENTRY_ROOM = 256 };
static uint8_t *whole;
static size_t bytes;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    struct rtl_code_draft draft = {.flags = RTL_CODE_GFX90A,
                                   .abi_version = 2,
                                   .kernel = "sum",
                                   .descriptor = {.rsrc1 = 2 << 6, .rsrc2 = 2 << 1 | 1 << 7, .properties = 1 << 3},
                                   .text = kernel,
                                   .text_bytes = sizeof kernel};
    whole = rtl_code_write(&draft, &bytes);
    MUST(whole);
    return 0;
}

static void check(const struct rtl_probe_patch *patch)
{
    struct rtl_code_object object;
    struct rtl_kernel_descriptor d;
    const uint8_t *at;
    uint64_t address;
    MUST(rtl_probe_elf_is_complete(patch->code, patch->bytes));
    MUST(rtl_code_open(&object, patch->code, patch->bytes) == RTL_PROBE_NONE);
    MUST(rtl_code_find_kernel(&object, "sum", &address));
    MUST(rtl_code_at(&object, address, false, &at) >= sizeof d);
    memcpy(&d, at, sizeof d);
    MUST((address + (uint64_t)d.entry) % 256 == 0);
    MUST(rtl_code_at(&object, address + (uint64_t)d.entry, true, &at) > ENTRY_ROOM);
    MUST(patch->ends && patch->kept % 2 == 0 && patch->kept + 4 <= 102 && patch->sgprs_after >= patch->kept + 4 + 6);
}

static void check_waits(const struct rtl_probe_patch *patch)
{
    MUST(patch->timed && patch->timed <= RTL_STUB_WAITS_MAX && patch->timed <= patch->waits);
    MUST(patch->rounds <= patch->waits && patch->kept + rtl_stub_kept(patch->timed) <= 102);
    for (uint32_t i = 0; i < patch->timed; i++)
        MUST(patch->wait[i].from <= patch->wait[i].at && patch->wait[i].at - patch->wait[i].from <= 24 &&
             patch->wait[i].word >> 16 == 0xbf8c && (!i || patch->wait[i - 1].at < patch->wait[i].at));
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    static const uint32_t machines[] = {RTL_CODE_GFX90A, RTL_CODE_GFX942, RTL_CODE_GFX906, RTL_CODE_GFX942};
    struct fuzz_input in = {input, size};
    struct rtl_probe_patch patch;
    const unsigned kind = (unsigned)fuzz_take(&in, 1);
    uint8_t *code = malloc(bytes);
    MUST(code);
    memcpy(code, whole, bytes);
    memcpy(code + offsetof(Elf64_Ehdr, e_flags), &machines[kind & 3], sizeof *machines);
    while (in.left >= 6) {
        uint64_t at = fuzz_take(&in, 2);
        uint32_t word = (uint32_t)fuzz_take(&in, 4);
        at = at >= 32768 ? TEXT + (at - 32768) * 4 : at;
        if (at + 4 <= bytes)
            memcpy(code + at, &word, 4);
    }
    const size_t cut = bytes - fuzz_take(&in, 2) % bytes; /* the rest of the input sets the size */
    uint8_t *exact = malloc(cut);                         /* exact size: the sanitizer finds a read beyond it */
    MUST(exact);
    memcpy(exact, code, cut);
    struct rtl_probe_order order = {.dies = kind >> 2 & 1,
                                    .gaps = kind >> 3 & 1,
                                    .code = exact,
                                    .bytes = cut,
                                    .kernel = "sum",
                                    .object = 0x7f0000000180,
                                    .block = 0x7f1200345000,
                                    .ends_shift = 4};
    enum rtl_probe_refusal why = rtl_probe_patch(&order, &patch);
    MUST((why == RTL_PROBE_NONE) == (patch.code != NULL));
    if (!why)
        check(&patch);
    rtl_probe_patch_free(&patch);
    order.waits = true;
    order.round = cut % 3;
    MUST((rtl_probe_patch(&order, &patch) == RTL_PROBE_NONE) == (patch.code != NULL));
    if (patch.code) {
        check(&patch);
        check_waits(&patch);
    }
    rtl_probe_patch_free(&patch);
    free(exact);
    free(code);
    order.code = input; /* and the raw input */
    order.bytes = size;
    MUST(rtl_probe_patch(&order, &patch) != RTL_PROBE_NONE);
    return 0;
}
