/*
 * The gap between waves: kernel copies record exactly the gaps that the software GPU's interpreter counts, with any
 * contents of the slot table; without a table they record none.
 */
#include "copy_fixture.h"

enum { BLOCK_VA = 0x1000000 };
enum { GROUPS = 3200, ITEMS = 100, WAVES = 2 * GROUPS, UNITS = 2 /* on each die */ };
/* Between the two clock reads of a copy are one instruction of the later wave, and of the earlier wave a wait, two
 * moves, the exchange and the end.
 */
enum { ASIDE = 6 * GCN_CYCLES };
static const uint64_t CLOCK = 0xfffff000; /* its low half overflows meanwhile */

/* s[0:1] the arguments, s2 the workgroup's number: odd workgroups end early. */
static const uint32_t kernel[] = {
    0xc0060100, 0x00000000, /* s_load_dwordx2 s[4:5], s[0:1], 0x0 */
    0xbf8cc07f,             /* s_waitcnt lgkmcnt(0) */
    0xbf800000,             /* s_nop 0 */
    0xbf0d8002,             /* s_bitcmp1_b32 s2, 0 */
    0xbf850004,             /* s_cbranch_scc1 4 */
    0x24020082,             /* v_lshlrev_b32_e32 v1, 2, v0 */
    0xdd088400, 0x00040001, /* global_atomic_add v1, v0, s[4:5] offset:1024 */
    0xbf810000,             /* s_endpgm */
    0xbf810000,             /* s_endpgm */
};

/* Pages, one for each die, followed by the tables. */
static _Alignas(8) char block[RTL_PROBE_BLOCK_DIES];

static struct rtl_probe_block *page_of(uint32_t die)
{
    return (struct rtl_probe_block *)(void *)block + die;
}

static uint64_t *slots_of(uint32_t die)
{
    return (uint64_t *)(void *)(block + dies * RTL_PROBE_BLOCK_BYTES) + (size_t)die * RTL_PROBE_SLOTS;
}

static struct gcn_account account;

static void run(uint64_t object, enum gcn_target target, unsigned threads)
{
    struct gcn_report report;
    struct gcn_launch launch = {.target = target,
                                .object = object,
                                .grid = {ITEMS * GROUPS, 1, 1},
                                .group = {ITEMS, 1, 1},
                                .kernarg = ARGS_VA,
                                .find = find,
                                .threads = threads,
                                .units = UNITS * dies,
                                .engines = UNITS * dies,
                                .dies = dies,
                                .counted_clock = CLOCK,
                                .unset = 0xa5a5a5a5,
                                .account = &account};
    memset(data, 0, sizeof data);
    memset(&account, 0, sizeof account);
    account.gap_more = ASIDE;
    if (gcn_run(&launch, &report) != GCN_DONE)
        fail_msg("%s at %x, %x", report.what, (unsigned)report.pc, (unsigned)report.address);
}

static void make_copy(uint32_t machine, bool gaps, bool waits)
{
    struct rtl_code_draft draft = draft_of(kernel, sizeof kernel / sizeof *kernel);
    draft.flags = machine;
    original = rtl_code_write(&draft, &original_bytes);
    assert_non_null(original);
    const struct rtl_probe_order order = {.code = original,
                                          .bytes = original_bytes,
                                          .kernel = "sum",
                                          .block = BLOCK_VA,
                                          .ends_shift = 2,
                                          .gaps = gaps,
                                          .dies = true,
                                          .waits = waits};
    assert_int_equal(rtl_probe_patch(&order, &patch), RTL_PROBE_NONE);
    dies = machine == RTL_CODE_GFX942 ? RTL_PROBE_DIES : 1;
    memset(block, 0, sizeof block);
    for (uint32_t die = 0; die < dies; die++)
        rtl_probe_block_clear(page_of(die));
    size_t mapped = gaps ? rtl_probe_block_bytes(dies) : dies * RTL_PROBE_BLOCK_BYTES;
    block_span = (struct gcn_span){BLOCK_VA, mapped, block};
}

static void forget_copy(void)
{
    rtl_probe_patch_free(&patch);
    patch.bytes = 0;
    free(original);
    original = NULL;
}

static uint64_t sum_of(const _Atomic uint64_t *values, unsigned count)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

/* Check that its page has its units' gaps, its table has their last values, and nothing else was changed. */
static void compare_die(uint32_t die, enum gcn_target target, uint64_t before)
{
    const _Atomic uint64_t *had = account.gaps + die * RTL_PROBE_UNITS;
    uint64_t gaps = sum_of(had, RTL_PROBE_UNITS), slots = target == GCN_GFX906 ? 10 : 8, used = 0, told = 0;
    assert_int_equal(gaps, WAVES / dies - UNITS * 4 * slots); /* all but the first wave of each slot */
    assert_int_equal(page_of(die)->gap_sum,
                     sum_of(account.gap_cycles + die * RTL_PROBE_UNITS, RTL_PROBE_UNITS) + gaps * ASIDE);
    for (unsigned i = 0; i < RTL_PROBE_DURATIONS; i++)
        told += page_of(die)->gaps[i];
    assert_int_equal(told, gaps);
    for (size_t i = 0; i < RTL_PROBE_SLOTS; i++) {
        bool own = i / RTL_PROBE_UNIT_SLOTS % 32 == 0 && i / RTL_PROBE_UNIT_SLOTS / 32 < UNITS && i % 16 < slots;
        if (own)
            assert_in_range(slots_of(die)[i], CLOCK, CLOCK + (1 << 20));
        else
            assert_true(slots_of(die)[i] == before);
        used += own;
    }
    assert_int_equal(used, UNITS * 4 * slots);
}

static void compare(uint32_t machine, enum gcn_target target, unsigned threads, uint64_t before)
{
    static uint32_t expected[sizeof data / sizeof *data];
    struct rtl_probe_block all;
    make_copy(machine, true, false);
    run(ORIGINAL_VA + descriptor_in(original, original_bytes), target, threads);
    memcpy(expected, data, sizeof data);
    for (size_t i = 0; i < (size_t)dies * RTL_PROBE_SLOTS; i++)
        slots_of(0)[i] = before;
    run(COPY_VA + descriptor_in(patch.code, patch.bytes), target, threads);
    assert_memory_equal(data, expected, sizeof data);
    rtl_probe_block_clear(&all);
    for (uint32_t die = 0; die < dies; die++) {
        compare_die(die, target, before);
        rtl_probe_block_add(&all, page_of(die));
    }
    assert_int_equal(all.waves, WAVES);
    assert_int_equal(all.gap_sum, sum_of(account.gap_cycles, GCN_UNITS) + sum_of(account.gaps, GCN_UNITS) * ASIDE);
    for (unsigned i = 0; i < RTL_PROBE_DURATIONS; i++)
        assert_int_equal(all.gaps[i], account.gap_powers[i]);
    forget_copy();
}

static void recorded_gaps_equal_the_interpreters(void **unused)
{
    (void)unused;
    for (unsigned threads = 1; threads < 4; threads++) {
        compare(RTL_CODE_GFX906, GCN_GFX906, threads, 0);
        compare(RTL_CODE_GFX90A, GCN_GFX90A, threads, 0);
        compare(RTL_CODE_GFX942, GCN_GFX942, threads, 0);
    }
}

/* No gap is negative, whatever the table holds. */
static void an_uncleared_table_gives_no_negative_gap(void **unused)
{
    (void)unused;
    compare(RTL_CODE_GFX906, GCN_GFX906, 2, UINT64_MAX);
    compare(RTL_CODE_GFX90A, GCN_GFX90A, 2, CLOCK << 8);
    compare(RTL_CODE_GFX942, GCN_GFX942, 2, UINT64_MAX);
}

/* With the pages alone, as in older libraries, and with stalls, no gap is recorded: a table access would fault here. */
static void without_a_table_no_gap_is_recorded(void **unused)
{
    (void)unused;
    for (int i = 0; i < 4; i++) {
        bool waits = i & 1, newer = i & 2;
        uint64_t waves = 0;
        make_copy(newer ? RTL_CODE_GFX942 : RTL_CODE_GFX90A, waits, waits);
        run(COPY_VA + descriptor_in(patch.code, patch.bytes), newer ? GCN_GFX942 : GCN_GFX90A, 2);
        for (uint32_t die = 0; die < dies; die++) {
            waves += page_of(die)->waves;
            assert_int_equal(page_of(die)->gap_sum, 0);
            for (unsigned n = 0; n < RTL_PROBE_DURATIONS; n++)
                assert_int_equal(page_of(die)->gaps[n], 0);
            for (size_t n = 0; n < RTL_PROBE_SLOTS; n++)
                assert_int_equal(slots_of(die)[n], 0);
        }
        assert_int_equal(waves, WAVES);
        forget_copy();
    }
}

/* Two waves at the same time never share a slot: some cycles lie between one wave's end and the next one's start, so no
 * gap is negative.
 */
static void waves_at_the_same_time_never_share_a_slot(void **unused)
{
    (void)unused;
    make_copy(RTL_CODE_GFX906, true, false);
    run(ORIGINAL_VA + descriptor_in(original, original_bytes), GCN_GFX906, 3);
    assert_true(sum_of(account.gap_cycles, GCN_UNITS) < WAVES * 100000ull);
    assert_int_equal(sum_of(account.gaps, GCN_UNITS), sum_of(account.gap_powers, 64));
    assert_true(account.gaps[0] && account.gaps[1 << 5]);
    forget_copy();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_gaps_equal_the_interpreters),
        cmocka_unit_test(an_uncleared_table_gives_no_negative_gap),
        cmocka_unit_test(without_a_table_no_gap_is_recorded),
        cmocka_unit_test(waves_at_the_same_time_never_share_a_slot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
