/*
 * Kernel copies that time stalls: a copy computes the original's results and keeps SCC, each wait is timed in one
 * round, and its passes and cycles equal the interpreter's own counts. Also the refused kernels.
 */
#include "copy_fixture.h"

#include "probe/stubs.h"

enum { BLOCK_VA = 0x800000 };
enum { S_ENDPGM = (int)0xbf810000, S_NOP = (int)0xbf800000, S_WAITCNT = (int)0xbf8cc07f, ENTRY_ROOM = 64 };
enum { GROUPS = 21, ITEMS = 100, WAVES = 2 * GROUPS, MANY = 40000 };
enum { VECTOR_CYCLES = 400, SCALAR_CYCLES = 100, LDS_CYCLES = 60 };

/* From LLVM's assembler: s[0:1] the arguments, s2 the workgroup's number. SCC is in use around every wait but the first
 * and the last one; odd workgroups skip the last wait.
 */
static const uint32_t kernel[] = {
    0xc0060100, 0x00000000, /* s_load_dwordx2 s[4:5], s[0:1], 0x0 */
    0xbe860085,             /* s_mov_b32 s6, 5 */
    0x24020082,             /* v_lshlrev_b32_e32 v1, 2, v0 */
    0x7e060280,             /* v_mov_b32_e32 v3, 0 */
    0xbf8cc07f,             /* s_waitcnt lgkmcnt(0) */
    0xdc508800, 0x02040001, /* loop: global_load_dword v2, v1, s[4:5] offset:2048 */
    0x80868106,             /* s_sub_u32 s6, s6, 1 */
    0xbf078006,             /* s_cmp_lg_u32 s6, 0 */
    0xbf8c0f70,             /* s_waitcnt vmcnt(0) */
    0x68060503,             /* v_add_u32_e32 v3, v3, v2 */
    0xbf85fff9,             /* s_cbranch_scc1 loop */
    0xd81a0000, 0x00000301, /* ds_write_b32 v1, v3 */
    0xd86c0000, 0x04000001, /* ds_read_b32 v4, v1 */
    0x80870280,             /* s_sub_u32 s7, 0, s2 */
    0xbf8cc17f,             /* s_waitcnt lgkmcnt(1) */
    0xbf8cc07f,             /* s_waitcnt lgkmcnt(0) */
    0x82070202,             /* s_addc_u32 s7, s2, s2 */
    0x68060807,             /* v_add_u32_e32 v3, s7, v4 */
    0xbf0d8002,             /* s_bitcmp1_b32 s2, 0 */
    0xbf850004,             /* s_cbranch_scc1 odd */
    0xdd088400, 0x00040301, /* global_atomic_add v1, v3, s[4:5] offset:1024 */
    0xbf8c0f70,             /* s_waitcnt vmcnt(0) */
    0xbf810000,             /* s_endpgm */
    0xdd088000, 0x00040301, /* odd: global_atomic_add v1, v3, s[4:5] */
    0xbf810000,             /* s_endpgm */
};
enum { N = sizeof kernel / sizeof *kernel, WAITS = 5 };
static const struct {
    uint32_t at; /* word */
    bool vector;
    unsigned passes;
} waits[WAITS] = {{5, false, WAVES}, {10, true, 5 * WAVES}, {18, false, WAVES}, {19, false, WAVES}, {26, true, 22}};

static struct rtl_probe_block pages[RTL_PROBE_DIES], block; /* written by the waves; their sums */
static _Atomic uint64_t passes[MANY], cycles[MANY];
static uint32_t words[N];

static uint64_t place_in(const void *code, size_t bytes, uint64_t *text)
{
    struct rtl_code_object object;
    struct rtl_kernel_descriptor d;
    const uint8_t *at;
    uint64_t address;
    assert_int_equal(rtl_code_open(&object, code, bytes), RTL_PROBE_NONE);
    assert_true(rtl_code_find_kernel(&object, "sum", &address));
    assert_true(rtl_code_at(&object, address, false, &at) >= sizeof d);
    memcpy(&d, at, sizeof d);
    *text = address + (uint64_t)d.entry;
    return address; /* code_writer.c writes addresses as offsets in the file */
}

/* The account counts each wait's cycles by its word, from `text` on. */
static void run(uint64_t object, uint64_t text, enum gcn_target target)
{
    struct gcn_report report;
    struct gcn_waits latency = {.vector = VECTOR_CYCLES,
                                .scalar = SCALAR_CYCLES,
                                .lds = LDS_CYCLES,
                                .va = text,
                                .words = MANY,
                                .passes = passes,
                                .cycles = cycles};
    struct gcn_launch launch = {.target = target,
                                .object = object,
                                .grid = {ITEMS * GROUPS, 1, 1},
                                .group = {ITEMS, 1, 1},
                                .lds_bytes = 4 * ITEMS,
                                .kernarg = ARGS_VA,
                                .find = find,
                                .threads = 2,
                                .units = 10 * dies,
                                .engines = 4 * dies,
                                .dies = dies,
                                .counted_clock = 0xfffffc00, /* its low half overflows while the loop waits */
                                .unset = 0xa5a5a5a5,
                                .waits = &latency};
    for (unsigned i = 0; i < sizeof data / sizeof *data; i++)
        data[i] = i * 2654435761u;
    for (unsigned i = 0; i < MANY; i++)
        passes[i] = cycles[i] = 0;
    if (gcn_run(&launch, &report) != GCN_DONE)
        fail_msg("%s at %x", report.what, (unsigned)report.pc);
}

static uint32_t word_of(uint64_t text, uint32_t i)
{
    uint32_t word;
    memcpy(&word, (char *)patch.code + text + i * 4ul, 4);
    return word;
}

struct numbers {
    uint64_t passes, cycles;
};

/* Check one copy: its results, and each wait against the interpreter's accounts of both runs. */
static void compare_copy(const uint32_t *expected, const struct numbers *plain, enum gcn_target target, bool alone,
                         unsigned seen[WAITS])
{
    uint64_t text, object = place_in(patch.code, patch.bytes, &text);
    for (uint32_t die = 0; die < dies; die++)
        rtl_probe_block_clear(&pages[die]);
    run(COPY_VA + object, COPY_VA + text, target);
    assert_memory_equal(data, expected, sizeof data);
    rtl_probe_block_clear(&block);
    for (uint32_t die = 0; die < dies; die++) { /* each die has its own sums */
        assert_true(pages[die].waves && pages[die].busy[1] == pages[die].waves);
        rtl_probe_block_add(&block, &pages[die]);
        for (uint32_t i = 0; i < RTL_PROBE_UNITS; i++)
            block.busy[i] += pages[die].busy[i];
    }
    assert_int_equal(block.waves, WAVES);
    assert_int_equal(block.busy[1], WAVES); /* the clock alone: its own cost, the wait's step and the read's step */
    assert_int_equal(block.busy[0], WAVES * (uint64_t)(SCALAR_CYCLES + GCN_CYCLES));
    for (uint32_t i = 0; i < patch.timed; i++) {
        unsigned which = 0;
        while (which < WAITS && waits[which].at != patch.wait[i].at / 4)
            which++;
        assert_true(which < WAITS);
        assert_int_equal(patch.wait[i].word, kernel[waits[which].at]);
        seen[which]++;
        uint32_t branch = word_of(text, ENTRY_ROOM + waits[which].at), stub = ENTRY_ROOM + waits[which].at + 1;
        assert_int_equal(branch >> 16, 0xbf82);
        stub += branch & 0xffff;
        assert_int_equal(stub % RTL_STUB_WAIT_WORDS, 0);
        assert_int_equal(word_of(text, stub + 2), patch.wait[i].word);
        uint64_t ways = block.busy[2 * i + 3], took = block.busy[2 * i + 2];
        assert_int_equal(ways, waits[which].passes);
        assert_int_equal(ways, plain[which].passes);
        assert_int_equal(took, cycles[stub + 2] + ways * 2 * GCN_CYCLES);
        if (waits[which].vector && alone) /* two steps of the copy run while the load is in flight, and two are added */
            assert_int_equal(took, plain[which].cycles);
        if (!waits[which].vector) /* the wait covers the clock's read, too, and nothing here takes longer */
            assert_in_range(took, ways * (patch.wait[i].word >> 8 & 15 ? 2 * GCN_CYCLES : SCALAR_CYCLES + GCN_CYCLES),
                            plain[which].cycles + ways * (SCALAR_CYCLES + 8));
    }
    for (uint32_t i = 0; i < N; i++) {
        bool timed = false;
        for (uint32_t k = 0; k < patch.timed; k++)
            timed |= patch.wait[k].at == i * 4;
        assert_int_equal(word_of(text, ENTRY_ROOM + i) == words[i], !timed && words[i] != (uint32_t)S_ENDPGM);
    }
    for (uint32_t i = 2 * patch.timed + 2; i < RTL_PROBE_UNITS; i++)
        assert_int_equal(block.busy[i], 0);
}

/* `crowded`: a register is in use, so that each copy has room for one wait only */
static void compare(uint32_t machine, enum gcn_target target, bool crowded)
{
    static uint32_t expected[sizeof data / sizeof *data];
    struct numbers plain[WAITS];
    unsigned seen[WAITS] = {0}, rounds = crowded ? WAITS : 1;
    memcpy(words, kernel, sizeof words);
    struct rtl_code_draft draft = draft_of(words, N);
    draft.flags = machine;
    if (crowded) {
        words[4] = 0x7e060256; /* v_mov_b32_e32 v3, s86, with any value */
        draft.descriptor.rsrc1 = SGPRS(112) | 8;
    }
    dies = target == GCN_GFX942 ? RTL_PROBE_DIES : 1;
    block_span = (struct gcn_span){BLOCK_VA, dies * sizeof *pages, (char *)pages};
    original = rtl_code_write(&draft, &original_bytes);
    uint64_t text, object = place_in(original, original_bytes, &text);
    run(ORIGINAL_VA + object, ORIGINAL_VA + text, target);
    memcpy(expected, data, sizeof data);
    for (unsigned i = 0; i < WAITS; i++)
        plain[i] = (struct numbers){passes[waits[i].at], cycles[waits[i].at]};
    struct rtl_probe_order order = {.code = original,
                                    .bytes = original_bytes,
                                    .kernel = "sum",
                                    .block = BLOCK_VA,
                                    .ends_shift = 2,
                                    .dies = true,
                                    .waits = true};
    for (order.round = 0; order.round < rounds; order.round++) {
        assert_int_equal(rtl_probe_patch(&order, &patch), RTL_PROBE_NONE);
        assert_int_equal(patch.waits, WAITS);
        assert_int_equal(patch.rounds, rounds);
        compare_copy(expected, plain, target, rounds > 1, seen);
        rtl_probe_patch_free(&patch);
    }
    assert_int_equal(rtl_probe_patch(&order, &patch), RTL_PROBE_NO_WAIT);
    for (unsigned i = 0; i < WAITS; i++)
        assert_int_equal(seen[i], 1);
    patch.bytes = 0;
    free(original);
    original = NULL;
}

static void a_copy_computes_the_same_and_times_stalls(void **unused)
{
    (void)unused;
    compare(RTL_CODE_GFX906, GCN_GFX906, false);
    compare(RTL_CODE_GFX90A, GCN_GFX90A, false);
    compare(RTL_CODE_GFX942, GCN_GFX942, false);
}

static void a_crowded_kernel_has_one_wait_per_copy(void **unused)
{
    (void)unused;
    compare(RTL_CODE_GFX906, GCN_GFX906, true);
    compare(RTL_CODE_GFX90A, GCN_GFX90A, true);
    compare(RTL_CODE_GFX942, GCN_GFX942, true);
}

/* --- refusals, and how many waits fit --- */

static enum rtl_probe_refusal patch_words(const uint32_t *code, size_t n, uint32_t sgprs, uint32_t round)
{
    struct rtl_code_draft draft = draft_of(code, n);
    draft.descriptor.rsrc1 = sgprs;
    struct rtl_probe_order order = {.kernel = "sum", .block = BLOCK_VA, .waits = true, .round = round};
    void *object = rtl_code_write(&draft, &order.bytes);
    assert_non_null(object);
    order.code = object;
    enum rtl_probe_refusal why = rtl_probe_patch(&order, &patch);
    assert_int_equal(why == RTL_PROBE_NONE, patch.code != NULL);
    rtl_probe_patch_free(&patch);
    free(object);
    return why;
}

static void unsuitable_kernels_are_refused(void **unused)
{
    (void)unused;
    static const struct {
        enum rtl_probe_refusal why;
        uint32_t code[5], n, given, vgprs, after;
    } cases[] = {
        {RTL_PROBE_NO_WAIT, {S_NOP, S_ENDPGM}, 2, 32, 0, 0},
        {RTL_PROBE_NO_WAIT, {0xbf820001, S_WAITCNT, S_ENDPGM}, 3, 32, 0, 0}, /* unreachable */
        {RTL_PROBE_NONE, {S_WAITCNT, S_ENDPGM}, 2, 16, 0, 32},
        {RTL_PROBE_NONE, {0xbed40080, S_WAITCNT, S_ENDPGM}, 3, 112, 8, 112},    /* s84 */
        {RTL_PROBE_REGISTERS, {0xbed70080, S_WAITCNT, S_ENDPGM}, 3, 112, 8, 0}, /* s87: possible without waits */
        {RTL_PROBE_OCCUPANCY, {0xbed20080, S_WAITCNT, S_ENDPGM}, 3, 96, 0, 0},  /* s82: likewise */
        {RTL_PROBE_NONE, {0xbec60080, S_WAITCNT, S_WAITCNT, S_WAITCNT, S_ENDPGM}, 5, 96, 0, 96}, /* s70: two of them */
        {RTL_PROBE_NO_END, {S_WAITCNT, 0xbf82fffe}, 2, 32, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum rtl_probe_refusal why = patch_words(cases[i].code, cases[i].n, SGPRS(cases[i].given) | cases[i].vgprs, 0);
        if (why != cases[i].why || (!why && patch.sgprs_after != cases[i].after))
            fail_msg("case %zu: %s, %u", i, rtl_probe_refusal_text(why), patch.sgprs_after);
    }
}

/* Each wait is in one round, and the rounds' sizes differ by one wait at most. */
static void rounds_cover_all_waits(void **unused)
{
    (void)unused;
    static uint32_t code[MANY];
    for (unsigned many = 1; many < 100; many += many < 40 ? 1 : 7) {
        unsigned rounds = 1, least = MANY, most = 0, seen[100] = {0};
        for (unsigned i = 0; i < many; i++)
            code[i] = (uint32_t)S_WAITCNT;
        code[many] = (uint32_t)S_ENDPGM;
        for (unsigned round = 0; round < rounds; round++) {
            assert_int_equal(patch_words(code, many + 1, SGPRS(32), round), RTL_PROBE_NONE);
            rounds = patch.rounds;
            assert_in_range(patch.timed, 1, RTL_STUB_WAITS_MAX);
            assert_int_equal(rounds, (many + RTL_STUB_WAITS_MAX - 1) / RTL_STUB_WAITS_MAX);
            least = patch.timed < least ? patch.timed : least;
            most = patch.timed > most ? patch.timed : most;
            for (unsigned i = 0; i < patch.timed; i++)
                seen[patch.wait[i].at / 4]++;
        }
        assert_true(most - least <= 1);
        for (unsigned i = 0; i < many; i++)
            assert_int_equal(seen[i], 1);
        assert_int_equal(patch_words(code, many + 1, SGPRS(32), rounds), RTL_PROBE_NO_WAIT);
    }
}

static void too_large_a_copy_is_refused(void **unused)
{
    (void)unused;
    static uint32_t code[MANY];
    for (unsigned i = 0; i < MANY; i++)
        code[i] = (uint32_t)S_NOP;
    for (unsigned i = 0; i < RTL_STUB_WAITS_MAX; i++)
        code[i] = (uint32_t)S_WAITCNT;
    code[32400] = (uint32_t)S_ENDPGM; /* a copy without timed waits has room for its stubs */
    assert_int_equal(patch_words(code, MANY, SGPRS(32), 0), RTL_PROBE_TOO_LARGE);
    code[32200] = (uint32_t)S_ENDPGM;
    assert_int_equal(patch_words(code, MANY, SGPRS(32), 0), RTL_PROBE_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_computes_the_same_and_times_stalls),
        cmocka_unit_test(a_crowded_kernel_has_one_wait_per_copy),
        cmocka_unit_test(unsuitable_kernels_are_refused),
        cmocka_unit_test(rounds_cover_all_waits),
        cmocka_unit_test(too_large_a_copy_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
