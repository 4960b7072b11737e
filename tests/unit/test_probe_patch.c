/*
 * Probed copies of kernels: which are refused and why, their contents, and that a copy computes the original's results
 * in the software GPU's interpreter while its waves are recorded. Also the classification of instructions, against the
 * interpreter's decoder.
 */
#include "copy_fixture.h"

#include <elf.h>

#include <cmocka.h>

#include "probe/code_object.h"
#include "probe/gcn_decode.h"
#include "probe/patch.h"
#include "shm/probe.h"

/* --- classification of instructions --- */

static uint64_t state = 88172645463325252ull;
static uint32_t any_word(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}

static void the_classification_agrees_with_the_decoder(void **unused)
{
    (void)unused;
    unsigned known = 0;
    for (unsigned i = 0; i < 2000000; i++) {
        uint32_t words[2] = {any_word(), any_word()};
        if (i % 4 == 0) /* scalar instructions, which matter most */
            words[0] = 0xb0000000u | (words[0] & 0xfffffff);
        struct gcn_inst in;
        static const enum gcn_target targets[] = {GCN_GFX906, GCN_GFX90A, GCN_GFX942};
        enum gcn_target target = targets[i / 64 % 3];
        assert_true(gcn_decode(target, words, 2, &in));
        if (in.op == GCN_UNKNOWN || (in.op == GCN_s_getpc_b64 && in.bytes != 4)) /* which no assembler writes */
            continue;
        struct rtl_gcn_instruction look = rtl_gcn_decode(words, true);
        known++;
        if (look.words * 4 != in.bytes || look.kind == RTL_GCN_UNKNOWN)
            fail_msg("%s (%08x %08x): %u words, kind %u", gcn_op_name(in.op), words[0], words[1], look.words,
                     look.kind);
        assert_int_equal(look.kind == RTL_GCN_END, in.op == GCN_s_endpgm);
        assert_int_equal(look.kind == RTL_GCN_READ_PC, in.op == GCN_s_getpc_b64);
        assert_int_equal(look.kind == RTL_GCN_BRANCH, in.op == GCN_s_branch);
        assert_int_equal(look.kind == RTL_GCN_JUMP, in.op == GCN_s_setpc_b64);
        /* no scalar register is left out: sources, destinations, memory bases */
        bool caches = in.op >= GCN_s_dcache_inv && in.op <= GCN_s_dcache_wb_vol;
        bool idle = caches || in.op == GCN_s_set_gpr_idx_on || in.op == GCN_s_memtime || in.op == GCN_s_memrealtime;
        for (unsigned n = 0; n < 3 && !idle; n++)
            if (in.src[n] < RTL_GCN_SGPRS && look.sgprs <= in.src[n])
                fail_msg("%s (%08x %08x) reads s%u", gcn_op_name(in.op), words[0], words[1], in.src[n]);
        bool writes = in.sdst < RTL_GCN_SGPRS && in.format != GCN_SOPC && in.format != GCN_SOPP && !caches;
        if (writes && look.sgprs <= in.sdst)
            fail_msg("%s (%08x %08x) writes s%u", gcn_op_name(in.op), words[0], words[1], in.sdst);
        if (in.format != GCN_SMEM && in.saddr < RTL_GCN_SGPRS)
            assert_true(look.sgprs > in.saddr);
    }
    assert_true(known > 500000);
}

static void widths_of_registers_are_known(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t words[2];
        unsigned sgprs;
    } cases[] = {
        {{0xc0060080, 0}, 4},           /* s_load_dwordx2 s[2:3], s[0:1] */
        {{0xc0121400, 0}, 96},          /* s_load_dwordx16 s[80:95], s[0:1] */
        {{0xbe901c00}, 18},             /* s_getpc_b64 s[16:17] */
        {{0xdc508000, 0x02140001}, 22}, /* global_load_dword v2, v1, s[20:21] */
        {{0xe0500000, 0x28060100}, 41}, /* buffer_load_dword v1, s[24:27], s40 */
        {{0xd1190001, 0x00020501}, 2},  /* v_add_co_u32 v1, s[0:1] */
        {{0xbe802a01}, 102},            /* s_movrels_b32: any register */
        {{0xbf8c0000}, 0},              /* s_waitcnt */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(rtl_gcn_decode(cases[i].words, true).sgprs, cases[i].sgprs);
}

/* --- kernels made here --- */

enum { S_ENDPGM = (int)0xbf810000, S_NOP = (int)0xbf800000, MANY = 40000 };
static const uint64_t BLOCK_VA = 0xffffd000; /* the fourth page is beyond 32 bits */

static enum rtl_probe_refusal patch_draft(const struct rtl_code_draft *draft, const struct rtl_probe_order *how)
{
    struct rtl_probe_order order = *how;
    void *code = rtl_code_write(draft, &order.bytes);
    assert_non_null(code);
    order.code = code;
    enum rtl_probe_refusal why = rtl_probe_patch(&order, &patch);
    assert_int_equal(why == RTL_PROBE_NONE, patch.code != NULL);
    free(code);
    return why;
}

static const struct rtl_probe_order usual = {
    .kernel = "sum", .object = 0x7f0000000180, .block = 0x7f1200345000, .dies = true};

static enum rtl_probe_refusal refusal_of(const uint32_t *words, size_t n)
{
    struct rtl_code_draft draft = draft_of(words, n);
    enum rtl_probe_refusal why = patch_draft(&draft, &usual);
    rtl_probe_patch_free(&patch);
    return why;
}

static void unsuitable_code_is_refused(void **unused)
{
    (void)unused;
    static const struct {
        enum rtl_probe_refusal why;
        uint64_t at;
        uint32_t words[5], n;
    } cases[] = {
        {RTL_PROBE_NONE, 0, {S_ENDPGM}, 1},
        {RTL_PROBE_INSTRUCTION, 4, {S_NOP, 0xf0000000, 0, S_ENDPGM}, 4}, /* an image instruction */
        {RTL_PROBE_INSTRUCTION, 0, {0xbf9f0000, S_ENDPGM}, 2},
        {RTL_PROBE_INSTRUCTION, 0, {0xbe801cff, S_NOP, S_ENDPGM}, 3}, /* s_getpc_b64 with a literal */
        {RTL_PROBE_LEAVES, 8, {S_NOP, S_NOP}, 2},
        {RTL_PROBE_LEAVES, 0, {0xbe8000ff}, 1}, /* truncated */
        {RTL_PROBE_LEAVES, 28, {0xbf840006, S_NOP, S_ENDPGM, 0xbf82fffe}, 4},
        {RTL_PROBE_BEFORE, 0, {0xbf82fff0, S_ENDPGM}, 2},
        {RTL_PROBE_MIDDLE, 8, {0xbf840001, 0xbe8000ff, S_NOP, S_ENDPGM}, 4},
        {RTL_PROBE_MIDDLE, 12, {0xbf840001, 0xbf820001, 0xbe8000ff, S_ENDPGM}, 4},
        {RTL_PROBE_JUMP, 0, {0xbe801d00, S_ENDPGM}, 2},
        {RTL_PROBE_CALL, 0, {0xba800000, S_ENDPGM}, 2},
        {RTL_PROBE_FORK, 0, {0xbe802e00, S_ENDPGM}, 2},
        {RTL_PROBE_FORK, 0, {0xb8000000, S_ENDPGM}, 2},
        {RTL_PROBE_FORK, 0, {0x94800000, S_ENDPGM}, 2},
        {RTL_PROBE_PRIVILEGED, 0, {0xbe801f00, S_ENDPGM}, 2},
        {RTL_PROBE_MODE, 0, {0xbf100000, S_ENDPGM}, 2},             /* s_setvskip */
        {RTL_PROBE_MODE, 0, {0xba000701, 1, S_ENDPGM}, 3},          /* s_setreg_imm32_b32 hwreg(MODE, 28, 1) */
        {RTL_PROBE_NONE, 0, {0xba001901, 0xf0, S_ENDPGM}, 3},       /* its float modes */
        {RTL_PROBE_ENDING, 0, {0xbf9b0000}, 1},                     /* s_endpgm_saved */
        {RTL_PROBE_NO_END, 0, {0xbf82ffff, S_ENDPGM}, 2},           /* an endless loop */
        {RTL_PROBE_NO_END, 0, {0xbe9e1e04}, 1},                     /* s_swappc_b64, which doesn't return */
        {RTL_PROBE_NONE, 0, {0xbf840001, 0xbf820000, S_ENDPGM}, 3}, /* unreachable code isn't classified */
        {RTL_PROBE_NONE, 0, {0xbf820001, 0xf0000000, S_ENDPGM}, 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum rtl_probe_refusal why = refusal_of(cases[i].words, cases[i].n);
        if (why != cases[i].why || (why && patch.at != cases[i].at))
            fail_msg("case %zu: %s at %u", i, rtl_probe_refusal_text(why), (unsigned)patch.at);
    }
}

static void too_large_a_kernel_is_refused(void **unused)
{
    (void)unused;
    uint32_t *words = malloc(MANY * sizeof *words);
    assert_non_null(words);
    for (unsigned i = 0; i < MANY; i++)
        words[i] = (uint32_t)S_NOP;
    words[MANY - 1] = (uint32_t)S_ENDPGM;
    assert_int_equal(refusal_of(words, MANY), RTL_PROBE_TOO_LARGE);
    words[32760] = (uint32_t)S_ENDPGM; /* the code fits, its stubs don't */
    assert_int_equal(refusal_of(words, MANY), RTL_PROBE_TOO_LARGE);
    words[32600] = (uint32_t)S_ENDPGM;
    assert_int_equal(refusal_of(words, MANY), RTL_PROBE_NONE);
    free(words);
}

static void unsuitable_descriptors_are_refused(void **unused)
{
    (void)unused;
    const uint32_t words[] = {S_ENDPGM};
    static const struct {
        enum rtl_probe_refusal why;
        struct rtl_kernel_descriptor plus;
        uint32_t machine;
    } cases[] = {
        {RTL_PROBE_WAVE32, {.properties = 1 << 10}, RTL_CODE_GFX90A},
        {RTL_PROBE_LEAVES, {.preload = 2}, RTL_CODE_GFX90A},     /* then there is no code at the start */
        {RTL_PROBE_DESCRIPTOR, {.preload = 2}, RTL_CODE_GFX906}, /* not possible on this target */
        {RTL_PROBE_DESCRIPTOR, {.properties = 1 << 7}, RTL_CODE_GFX90A},
        {RTL_PROBE_DESCRIPTOR, {.reserved0 = 1}, RTL_CODE_GFX90A},
        {RTL_PROBE_DESCRIPTOR, {.reserved1 = {0, 0, 0, 0, 1}}, RTL_CODE_GFX90A},
        {RTL_PROBE_DESCRIPTOR, {.reserved2 = 1}, RTL_CODE_GFX90A},
        {RTL_PROBE_DESCRIPTOR, {.rsrc1 = 1 << 10}, RTL_CODE_GFX90A}, /* a priority */
        {RTL_PROBE_DESCRIPTOR, {.rsrc1 = 1 << 22}, RTL_CODE_GFX90A}, /* debug mode */
        {RTL_PROBE_DESCRIPTOR, {.rsrc2 = 1 << 6}, RTL_CODE_GFX90A},  /* a trap handler */
        {RTL_PROBE_DESCRIPTOR, {.rsrc2 = 1 << 15}, RTL_CODE_GFX90A}, /* LDS, which the packet sets */
        {RTL_PROBE_DESCRIPTOR, {.rsrc3 = 1}, RTL_CODE_GFX906},       /* this target has no such registers */
        {RTL_PROBE_DESCRIPTOR, {.rsrc3 = 1 << 6}, RTL_CODE_GFX90A},
        {RTL_PROBE_NONE, {.rsrc3 = 1 | 1 << 16}, RTL_CODE_GFX90A},
        {RTL_PROBE_NONE, {.rsrc1 = 1 << 21 | 1 << 23 | 0xc0 << 12, .rsrc2 = 1 << 24 | 3 << 11}, RTL_CODE_GFX906},
        {RTL_PROBE_NONE, {.rsrc3 = 1 | 1 << 16}, RTL_CODE_GFX942},
        {RTL_PROBE_DESCRIPTOR, {.rsrc3 = 1 << 6}, RTL_CODE_GFX942},
        {RTL_PROBE_TARGET, {0}, 0x40}, /* gfx940, gfx941: not in use */
        {RTL_PROBE_TARGET, {0}, 0x4b},
        {RTL_PROBE_TARGET, {0}, 0x36},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rtl_code_draft draft = draft_of(words, 1);
        struct rtl_kernel_descriptor *d = &draft.descriptor, p = cases[i].plus;
        draft.flags = cases[i].machine;
        d->properties |= p.properties;
        d->preload = p.preload;
        d->reserved0 = p.reserved0;
        memcpy(d->reserved1, p.reserved1, sizeof d->reserved1);
        d->reserved2 = p.reserved2;
        d->rsrc1 |= p.rsrc1;
        d->rsrc2 |= p.rsrc2;
        d->rsrc3 |= p.rsrc3;
        if (patch_draft(&draft, &usual) != cases[i].why)
            fail_msg("case %zu", i);
        rtl_probe_patch_free(&patch);
    }
}

static void unsuitable_orders_are_refused(void **unused)
{
    (void)unused;
    const uint32_t words[] = {0xbe901c00, S_ENDPGM}; /* s_getpc_b64 s[16:17] */
    struct rtl_code_draft draft = draft_of(words, 2);
    struct rtl_probe_order order = usual;
    order.object = 0;
    assert_int_equal(patch_draft(&draft, &order), RTL_PROBE_PLACE);
    order = usual;
    order.block = 0x7f1200345004;
    assert_int_equal(patch_draft(&draft, &order), RTL_PROBE_BLOCK);
    order.block = 0;
    assert_int_equal(patch_draft(&draft, &order), RTL_PROBE_BLOCK);
    order = usual;
    order.ends_shift = 64;
    assert_int_equal(patch_draft(&draft, &order), RTL_PROBE_BLOCK);
    order = usual;
    order.dies = false; /* only GPUs of several dies need it */
    assert_int_equal(patch_draft(&draft, &order), RTL_PROBE_NONE);
    rtl_probe_patch_free(&patch);
    draft.flags = RTL_CODE_GFX942;
    assert_int_equal(patch_draft(&draft, &order), RTL_PROBE_OLD_LIBRARY);
    draft.flags = RTL_CODE_GFX90A;
    order = usual;
    order.kernel = "su";
    assert_int_equal(patch_draft(&draft, &order), RTL_PROBE_NO_KERNEL);
    order.kernel = "sum.kd";
    assert_int_equal(patch_draft(&draft, &order), RTL_PROBE_NO_KERNEL);
}

static void damaged_code_objects_are_refused(void **unused)
{
    (void)unused;
    const uint32_t words[] = {S_ENDPGM};
    struct rtl_code_draft draft = draft_of(words, 1);
    struct rtl_probe_order order = usual;
    char *code = rtl_code_write(&draft, &order.bytes);
    const size_t whole = order.bytes;
    assert_non_null(code);
    const uint64_t sections = ((const Elf64_Ehdr *)(const void *)code)->e_shoff;
    order.code = code;
    for (order.bytes = 0; order.bytes < whole; order.bytes++) {
        enum rtl_probe_refusal why = rtl_probe_patch(&order, &patch);
        bool told = why == RTL_PROBE_NO_CODE_OBJECT || why == RTL_PROBE_DAMAGED;
        assert_true(told || (!why && order.bytes > sections)); /* the end of its last section doesn't matter */
        rtl_probe_patch_free(&patch);
    }
    for (enum rtl_probe_refusal why = 0; why < RTL_PROBE_REFUSAL_COUNT; why++) {
        assert_true(strlen(rtl_probe_refusal_text(why)) > 5);
        for (enum rtl_probe_refusal other = 0; other < why; other++) /* each reason has its own text */
            assert_string_not_equal(rtl_probe_refusal_text(why), rtl_probe_refusal_text(other));
    }
    assert_non_null(rtl_probe_refusal_text(RTL_PROBE_REFUSAL_COUNT));
    free(code);
}

static void the_clock_gets_free_registers(void **unused)
{
    (void)unused;
    static const struct {
        enum rtl_probe_refusal why;
        uint32_t words[2], given, vgprs, kept, after;
    } cases[] = {
        {RTL_PROBE_NONE, {S_NOP, S_ENDPGM}, 16, 0, 8, 32},           /* above the registers that the exit stub writes */
        {RTL_PROBE_NONE, {0xbe910080, S_ENDPGM}, 32, 0, 20, 32},     /* s17: a possible pair ends with s18 */
        {RTL_PROBE_NONE, {0xbe980080, S_ENDPGM}, 32, 0, 26, 48},     /* s24: no room beside the extra registers */
        {RTL_PROBE_NONE, {0xbe802a01, S_ENDPGM}, 48, 0, 48, 64},     /* by number: after all allocated registers */
        {RTL_PROBE_NONE, {0xbe9e1e04, S_ENDPGM}, 48, 0, 48, 64},     /* the called code may use all of them */
        {RTL_PROBE_REGISTERS, {0xbee20080, S_ENDPGM}, 112, 0, 0, 0}, /* s98 */
        {RTL_PROBE_REGISTERS, {0xbe802a01, S_ENDPGM}, 112, 0, 0, 0},
        {RTL_PROBE_OCCUPANCY, {0xbeda0080, S_ENDPGM}, 96, 0, 0, 0}, /* s90: 7 waves instead of 8 */
        /* 72 vector registers: no more than 7 waves anyway */
        {RTL_PROBE_NONE, {0xbeda0080, S_ENDPGM}, 96, 8, 92, 112},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rtl_code_draft draft = draft_of(cases[i].words, 2);
        draft.descriptor.rsrc1 = SGPRS(cases[i].given) | cases[i].vgprs;
        enum rtl_probe_refusal why = patch_draft(&draft, &usual);
        if (why != cases[i].why || (!why && (patch.kept != cases[i].kept || patch.sgprs_after != cases[i].after)))
            fail_msg("case %zu: %s, s%u, %u", i, rtl_probe_refusal_text(why), patch.kept, patch.sgprs_after);
        rtl_probe_patch_free(&patch);
    }
}

/* --- a copy beside its original --- */

static struct rtl_probe_block block[RTL_PROBE_DIES];

enum { GROUPS = 21, ITEMS = 100, WAVES = 2 * GROUPS };

static struct gcn_account account;
static const uint64_t CLOCK = 0xfffffff0; /* its low half overflows within each wave */

static void run(uint64_t object, enum gcn_target target)
{
    struct gcn_report report;
    struct gcn_launch launch = {.target = target,
                                .object = object,
                                .grid = {ITEMS * GROUPS, 1, 1},
                                .group = {ITEMS, 1, 1},
                                .kernarg = ARGS_VA,
                                .find = find,
                                .threads = 2,
                                .units = 10 * dies,
                                .engines = 4 * dies,
                                .dies = dies,
                                .counted_clock = CLOCK,
                                .account = &account};
    memset(data, 0, sizeof data);
    memset(&account, 0, sizeof account);
    if (gcn_run(&launch, &report) != GCN_DONE)
        fail_msg("%s at %x", report.what, (unsigned)report.pc);
}

/* From LLVM's assembler: s[0:1] the arguments, s2 the workgroup's number. Odd workgroups end early; all items store
 * their number, and the low half of the program counter is added to each workgroup's first word.
 */
static const uint32_t kernel[] = {
    0xc0060100, 0x00000000, /* s_load_dwordx2 s[4:5], s[0:1], 0x0 */
    0xbe861c00,             /* s_getpc_b64 s[6:7] */
    0x92036402,             /* s_mul_i32 s3, s2, 0x64 (patched below: a literal) */
    0x7e020280,             /* v_mov_b32_e32 v1, 0 */
    0xbf8cc07f,             /* s_waitcnt lgkmcnt(0) */
    0x8e078202,             /* s_lshl_b32 s7, s2, 2 */
    0x7e020207,             /* v_mov_b32_e32 v1, s7 */
    0x7e040206,             /* v_mov_b32_e32 v2, s6 */
    0xdd088000, 0x00040201, /* global_atomic_add v1, v2, s[4:5] */
    0xbf0d8002,             /* s_bitcmp1_b32 s2, 0 */
    0xbf850004,             /* s_cbranch_scc1 4 */
    0x24020082,             /* v_lshlrev_b32_e32 v1, 2, v0 */
    0xdd088400, 0x00040001, /* global_atomic_add v1, v0, s[4:5] offset:1024 */
    0xbf810000,             /* s_endpgm */
    0xbf810000,             /* s_endpgm */
};

/* Sum the dies into `all`, except the units: each wave wrote to its die's page, or the first page has all. */
static void gather(struct rtl_probe_block *all)
{
    rtl_probe_block_clear(all);
    for (uint32_t die = 0; die < dies; die++) {
        assert_true(block[die].waves > 0);
        rtl_probe_block_add(all, &block[die]);
    }
}

/* How arguments arrive: read by the kernel; preloaded into registers, with a start at the second entry; or not
 * preloaded, and the first entry loads them.
 */
enum arguments { READ, IN_REGISTERS, NOT_IN_REGISTERS };

/* loads s[2:3], the first argument, and continues at the second entry; s4 is the workgroup's number */
static const uint32_t loads_argument[] = {
    0xc0060080, 0x00000000, /* s_load_dwordx2 s[2:3], s[0:1], 0x0 */
    0xbf8cc07f,             /* s_waitcnt lgkmcnt(0) */
    0xbf82003c,             /* s_branch 60: to the second entry */
};
static const uint32_t takes_argument[] = {
    0xbe880004, /* s_mov_b32 s8, s4 */
    0xbe840102, /* s_mov_b64 s[4:5], s[2:3] */
    0xbe820008, /* s_mov_b32 s2, s8 */
};
enum { SECOND_ENTRY = 64, TAKES = sizeof takes_argument / sizeof *takes_argument, LOADS = 2 /* words of s_load */ };

static struct rtl_code_draft draft_with(uint32_t *words, enum arguments arguments)
{
    size_t n = 0;
    if (arguments != READ) {
        for (; n < SECOND_ENTRY; n++)
            words[n] = n < sizeof loads_argument / sizeof *loads_argument ? loads_argument[n] : (uint32_t)S_NOP;
        memcpy(words + n, takes_argument, sizeof takes_argument);
        n += TAKES;
    }
    memcpy(words + n, kernel, sizeof kernel);
    words[n + 3] = (uint32_t)S_NOP;
    for (size_t i = 0; arguments != READ && i < LOADS; i++)
        words[n + i] = (uint32_t)S_NOP;
    struct rtl_code_draft draft = draft_of(words, n + sizeof kernel / sizeof *kernel);
    if (arguments != READ) {
        draft.descriptor.rsrc2 = 4 << 1 | 1 << 7;
        draft.descriptor.preload = 2;
    }
    return draft;
}

/* Clear the preload field, as for a reader that doesn't know preloading; other fields of the descriptor give the count.
 */
static void forget_preload(void *code, uint64_t descriptor)
{
    static const uint16_t none;
    memcpy((char *)code + descriptor + offsetof(struct rtl_kernel_descriptor, preload), &none, sizeof none);
}

static void compare_with_original(uint32_t machine, enum gcn_target target, enum arguments arguments)
{
    static uint32_t expected[sizeof data / sizeof *data];
    struct rtl_probe_block all;
    uint32_t words[SECOND_ENTRY + TAKES + sizeof kernel / sizeof *kernel];
    struct rtl_code_draft draft = draft_with(words, arguments);
    draft.flags = machine;
    original = rtl_code_write(&draft, &original_bytes);
    const uint32_t pc = arguments == READ ? 12 : (SECOND_ENTRY + TAKES) * 4 + 12;
    struct rtl_probe_order order = {.code = original,
                                    .bytes = original_bytes,
                                    .kernel = "sum",
                                    .object = ORIGINAL_VA + descriptor_in(original, original_bytes),
                                    .block = BLOCK_VA,
                                    .dies = true,
                                    .ends_shift = 2};
    assert_int_equal(rtl_probe_patch(&order, &patch), RTL_PROBE_NONE);
    assert_int_equal(patch.ends, 2);
    assert_int_equal(patch.pcs, 1);
    if (arguments == NOT_IN_REGISTERS) {
        forget_preload(original, descriptor_in(original, original_bytes));
        forget_preload(patch.code, descriptor_in(patch.code, patch.bytes));
    }
    dies = target == GCN_GFX942 ? RTL_PROBE_DIES : 1;
    block_span = (struct gcn_span){BLOCK_VA, dies * sizeof *block, (char *)block};
    for (uint32_t die = 0; die < dies; die++)
        rtl_probe_block_clear(&block[die]);
    run(order.object, target);
    struct gcn_account plain = account;
    memcpy(expected, data, sizeof data);
    assert_int_equal(data[0], 64 * 2 * 0 + ITEMS * (uint32_t)(ORIGINAL_VA + 0x1000 + pc));
    run(COPY_VA + descriptor_in(patch.code, patch.bytes), target);
    assert_memory_equal(data, expected, sizeof data);

    /* 8 instructions more per wave before the clock is read: the entry stub's 4 after its clock, a branch instead of
     * the end, a wait, and 3 instead of reading the pc. The original's first and last instructions are not between the
     * clocks.
     */
    gather(&all);
    assert_int_equal(all.waves, WAVES);
    uint64_t sum = 0, durations = 0, ends = 0;
    for (unsigned i = 0; i < dies * RTL_PROBE_UNITS; i++) {
        uint64_t want = plain.cycles[i] + plain.waves[i] * 8 * GCN_CYCLES;
        assert_int_equal(plain.waves[i], account.waves[i]);
        assert_int_equal(block[i / RTL_PROBE_UNITS].busy[i % RTL_PROBE_UNITS], want);
        sum += want;
    }
    assert_int_equal(all.sum, sum);
    assert_true(block->busy[0] && block->busy[1 << 5] && !block->busy[4]);
    assert_true(dies > 1 ? block[dies - 1].busy[1 << 5] && !block[dies - 1].busy[1] : block->busy[1]);
    for (unsigned i = 0; i < RTL_PROBE_DURATIONS; i++)
        durations += all.durations[i];
    for (unsigned i = 0; i < RTL_PROBE_ENDS; i++)
        ends += all.ends[i];
    assert_int_equal(durations, WAVES);
    assert_int_equal(ends, WAVES);
    /* odd workgroups are 2 instructions shorter; the second wave of a workgroup is no shorter than the first one */
    assert_int_equal(all.max - all.min, 2 * GCN_CYCLES);
    unsigned short_ones = GROUPS / 2 * 2, bit = 63 - (unsigned)__builtin_clzll(all.min);
    assert_int_equal(all.min * short_ones + all.max * (WAVES - short_ones), sum);
    assert_true(all.durations[bit] >= short_ones);
    assert_int_equal(all.first_start, (CLOCK + 2 * GCN_CYCLES) / 10);
    assert_true(all.last_end > all.first_start && all.last_end < all.first_start + 100);
    assert_true(all.ends[all.last_end >> 2 & 255]);
    rtl_probe_patch_free(&patch);
    patch.bytes = 0;
    free(original);
    original = NULL;
}

static void a_copy_computes_the_originals_results(void **unused)
{
    (void)unused;
    compare_with_original(RTL_CODE_GFX906, GCN_GFX906, READ);
    compare_with_original(RTL_CODE_GFX90A, GCN_GFX90A, READ);
    compare_with_original(RTL_CODE_GFX942, GCN_GFX942, READ);
}

static void a_copy_with_preloaded_arguments_computes_the_same(void **unused)
{
    (void)unused;
    compare_with_original(RTL_CODE_GFX90A, GCN_GFX90A, IN_REGISTERS);
    compare_with_original(RTL_CODE_GFX90A, GCN_GFX90A, NOT_IN_REGISTERS);
    compare_with_original(RTL_CODE_GFX942, GCN_GFX942, IN_REGISTERS);
    compare_with_original(RTL_CODE_GFX942, GCN_GFX942, NOT_IN_REGISTERS);
}

static void a_copy_differs_only_in_replaced_instructions(void **unused)
{
    (void)unused;
    enum { ENTRY_ROOM = 64, N = sizeof kernel / sizeof *kernel };
    struct rtl_code_draft draft = draft_of(kernel, N);
    draft.descriptor.group_bytes = 11;
    draft.descriptor.private_bytes = 22;
    draft.descriptor.kernarg_bytes = 33;
    draft.flags |= 0x500;
    assert_int_equal(patch_draft(&draft, &usual), RTL_PROBE_NONE);
    struct rtl_code_object object;
    struct rtl_kernel_descriptor d;
    const uint8_t *bytes;
    uint64_t address;
    assert_int_equal(rtl_code_open(&object, patch.code, patch.bytes), RTL_PROBE_NONE);
    assert_int_equal(object.flags, RTL_CODE_GFX90A | 0x500);
    assert_int_equal(object.abi_version, 2);
    assert_true(rtl_code_find_kernel(&object, "sum", &address));
    assert_true(rtl_code_at(&object, address, false, &bytes) >= sizeof d);
    memcpy(&d, bytes, sizeof d);
    assert_int_equal((address + (uint64_t)d.entry) % 256, 0);
    assert_int_equal(d.group_bytes * 10000 + d.private_bytes * 100 + d.kernarg_bytes, 112233);
    assert_int_equal(d.rsrc2, draft.descriptor.rsrc2);
    assert_true(rtl_code_at(&object, address + (uint64_t)d.entry, true, &bytes) >= (ENTRY_ROOM + N) * 4);
    unsigned replaced = 0;
    for (size_t i = 0; i < N; i++) {
        uint32_t word;
        memcpy(&word, bytes + (ENTRY_ROOM + i) * 4, 4);
        if (word != kernel[i]) {
            assert_int_equal(word >> 16, 0xbf82);
            assert_true(kernel[i] == (uint32_t)S_ENDPGM || kernel[i] == 0xbe861c00);
            replaced++;
        }
    }
    assert_int_equal(replaced, 3);
    rtl_probe_patch_free(&patch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_classification_agrees_with_the_decoder),
        cmocka_unit_test(widths_of_registers_are_known),
        cmocka_unit_test(unsuitable_code_is_refused),
        cmocka_unit_test(too_large_a_kernel_is_refused),
        cmocka_unit_test(unsuitable_descriptors_are_refused),
        cmocka_unit_test(unsuitable_orders_are_refused),
        cmocka_unit_test(damaged_code_objects_are_refused),
        cmocka_unit_test(the_clock_gets_free_registers),
        cmocka_unit_test(a_copy_computes_the_originals_results),
        cmocka_unit_test(a_copy_with_preloaded_arguments_computes_the_same),
        cmocka_unit_test(a_copy_differs_only_in_replaced_instructions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
