/*
 * Features of gfx942 in the software GPU's interpreter: private memory without the kernel's help, dies, arguments in
 * registers.
 */
#include "gcn_vectors.h"

#define RUN(launch, report) gcn_run(&(launch), &(report))
#define COUNT(array)        (sizeof(array) / sizeof *(array))

static const struct vector vectors[] = {
    {"v_fmamk_f32 v5, v2, 0x3f800800, v3", {0x2e0a0702, 0x3f800800}, 0x3f800800, 0xbf801000, 0x0, 0x33800000},
    {"v_fmaak_f32 v5, v2, v3, 0xbf801000", {0x300a0702, 0xbf801000}, 0x3f800800, 0x3f800800, 0x0, 0x33800000},
    {"v_cvt_f32_fp8_e32 v5, v2", {0x7e0aa902}, 0x12345638, 0x0, 0x0, 0x3f000000},
    {"v_cvt_f32_fp8_sdwa v5, v2 src0_sel:BYTE_3", {0x7e0aa8f9, 0x00030602}, 0xc1345680, 0x0, 0x0, 0xbf900000},
    {"v_cvt_f32_bf8_e32 v5, v2", {0x7e0aab02}, 0x41, 0x0, 0x0, 0x3fa00000},
    {"v_cvt_f32_bf8_sdwa v5, v2 src0_sel:BYTE_1", {0x7e0aaaf9, 0x00010602}, 0x8040, 0x0, 0x0, 0x7fc00000},
    {"v_cvt_f32_fp8_e64 v5, v2 mul:2", {0xd1940005, 0x08000102}, 0x40, 0x0, 0x0, 0x40000000},
    {"v_cvt_pk_fp8_f32 v5, v2, v3", {0xd2a20005, 0x00020702}, 0x3f800000, 0xc3700000, 0x0, 0xdeadff40},
    {"v_cvt_pk_fp8_f32 v5, -v2, |v3| op_sel:[0,0,1]",
     {0xd2a24205, 0x20020702},
     0x3f800000,
     0xbf000000,
     0x0,
     0x38c0beef},
    {"v_cvt_pk_bf8_f32 v5, v2, v3", {0xd2a30005, 0x00020702}, 0x3fa00000, 0x49742400, 0x0, 0xdead8041},
    {"v_cvt_sr_fp8_f32 v5, v2, v3", {0xd2a40005, 0x00020702}, 0x3f880000, 0x80000000, 0x0, 0xdeadbe41},
    {"v_cvt_sr_fp8_f32 v5, v2, v3 op_sel:[0,0,1,0]", {0xd2a42005, 0x00020702}, 0x3f880000, 0x7fffffff, 0x0, 0xdead40ef},
    {"v_cvt_sr_bf8_f32 v5, -v2, v3 op_sel:[0,0,0,1]",
     {0xd2a54005, 0x20020702},
     0x3f900000,
     0x80000000,
     0x0,
     0xdec1beef},
    {"v_cvt_sr_bf8_f32 v5, v2, v3 op_sel:[0,0,1,1]", {0xd2a56005, 0x00020702}, 0x3f800000, 0xffffffff, 0x0, 0x40adbeef},
};

/* instructions of 64 bits: v[2:3], v[4:5] and v[6:7] give v[8:9] */
static const struct {
    const char *text;
    uint32_t code[2];
    uint64_t a, b, c, want;
} wide_vectors[] = {
    {"v_mov_b64_e32 v[8:9], v[4:5]", {0x7e107104}, 0x1, 0x123456789abcdef0, 0x3, 0x123456789abcdef0},
    {"v_mov_b64_e32 v[8:9], 0x87654321", {0x7e1070ff, 0x87654321}, 0x1, 0x2, 0x3, 0x87654321},
    {"v_mov_b64_e32 v[8:9], -2", {0x7e1070c2}, 0x1, 0x2, 0x3, 0xfffffffffffffffe},
    {"v_mov_b64_e32 v[8:9], 1.0", {0x7e1070f2}, 0x1, 0x2, 0x3, 0x3ff0000000000000},
    {"v_lshl_add_u64 v[8:9], v[2:3], 3, v[4:5]",
     {0xd2080008, 0x04110702},
     0x3000000012345678,
     0x8000000000000010,
     0x3,
     0x91a2b3d0},
    {"v_lshl_add_u64 v[8:9], v[2:3], v6, v[4:5]", {0xd2080008, 0x04120d02}, 0xffffffff, 0x1, 0x4, 0xffffffff1},
    {"v_cvt_pk_f32_fp8_e32 v[8:9], v2", {0x7e10ad02}, 0x12344840, 0x0, 0x0, 0x400000003f800000},
    {"v_cvt_pk_f32_fp8_sdwa v[8:9], v2 src0_sel:WORD_1",
     {0x7e10acf9, 0x00050602},
     0xc0481234,
     0x0,
     0x0,
     0xbf80000040000000},
    {"v_cvt_pk_f32_bf8_e32 v[8:9], v2", {0x7e10af02}, 0xc544, 0x0, 0x0, 0xc020000040000000},
};

static void each_gfx942_instruction_computes(void **state)
{
    (void)state;
    computes(GCN_GFX942, vectors, COUNT(vectors));
}

static void each_wide_instruction_computes(void **state)
{
    (void)state;
    enum { AT = 11 };
    uint32_t words[] = {
        0xc0060180, 0x00000000, /* s_load_dwordx2 s[6:7], s[0:1], 0x0 */
        0x24020083,             /* v_lshlrev_b32_e32 v1, 3, v0 */
        0xbf8cc07f,             /* s_waitcnt lgkmcnt(0) */
        0xdc548000, 0x02060001, /* global_load_dwordx2 v[2:3], v1, s[6:7] */
        0xdc548200, 0x04060001, /* global_load_dwordx2 v[4:5], v1, s[6:7] offset:512 */
        0xdc548400, 0x06060001, /* global_load_dwordx2 v[6:7], v1, s[6:7] offset:1024 */
        0xbf8c0f70,             /* s_waitcnt vmcnt(0) */
        0xbf800000, 0xbf800000, /* the instruction */
        0xdc748600, 0x00060801, /* global_store_dwordx2 v1, v[8:9], s[6:7] offset:1536 */
        0xbf810000,             /* s_endpgm */
    };
    uint64_t *values = (uint64_t *)(void *)data;
    for (size_t i = 0; i < COUNT(wide_vectors); i++) {
        struct gcn_report report;
        memcpy(words + AT, wide_vectors[i].code, sizeof wide_vectors[i].code);
        words[AT + 1] = words[AT + 1] ? words[AT + 1] : 0xbf800000;
        for (unsigned l = 0; l < LANES; l++) {
            values[l] = wide_vectors[i].a;
            values[LANES + l] = wide_vectors[i].b;
            values[2 * LANES + l] = wide_vectors[i].c;
        }
        struct gcn_launch launch = ready(GCN_GFX942, words, COUNT(words), LANES, 1);
        assert_int_equal(RUN(launch, report), GCN_DONE);
        for (unsigned l = 0; l < LANES; l += 63)
            if (values[3 * LANES + l] != wide_vectors[i].want)
                fail_msg("%s, lane %u: 0x%llx instead of 0x%llx", wide_vectors[i].text, l,
                         (unsigned long long)values[3 * LANES + l], (unsigned long long)wide_vectors[i].want);
    }
}

/* by both kinds of registers, by either, by none; and through flat addresses */
static void private_memory_is_addressed(void **state)
{
    (void)state;
    struct gcn_report report;
    static const uint32_t words[] = {
        0xc0060180, 0x00000000, /* s_load_dwordx2 s[6:7], s[0:1], 0x0 */
        0x24020082,             /* v_lshlrev_b32_e32 v1, 2, v0 */
        0x7e080288,             /* v_mov_b32_e32 v4, 8 */
        0xbe850084,             /* s_mov_b32 s5, 4 */
        0x680400ff, 0x00001000, /* v_add_u32_e32 v2, 0x1000, v0 */
        0xdc706004, 0x00050204, /* scratch_store_dword v4, v2, s5 offset:4 */
        0x680404ff, 0x00001000, /* v_add_u32_e32 v2, 0x1000, v2 */
        0xdc705ffc, 0x00050200, /* scratch_store_dword off, v2, s5 offset:-4 */
        0x680404ff, 0x00001000, /* v_add_u32_e32 v2, 0x1000, v2 */
        0xdc706000, 0x007f0204, /* scratch_store_dword v4, v2, off */
        0x680404ff, 0x00001000, /* v_add_u32_e32 v2, 0x1000, v2 */
        0xdc704004, 0x007f0200, /* scratch_store_dword off, v2, off offset:4 */
        0xbe8801ed,             /* s_mov_b64 s[8:9], src_private_base */
        0x7e0a0209,             /* v_mov_b32_e32 v5, s9 */
        0xbf8c0070,             /* s_waitcnt vmcnt(0) lgkmcnt(0) */
        0x7e080280,             /* v_mov_b32_e32 v4, 0 */
        0xdc5c0000, 0x08000004, /* flat_load_dwordx4 v[8:11], v[4:5] */
        0x7e080290,             /* v_mov_b32_e32 v4, 16 */
        0xdc500000, 0x0c000004, /* flat_load_dword v12, v[4:5] */
        0xdc504000, 0x0d050000, /* scratch_load_dword v13, off, s5 */
        0xbf8c0070,             /* s_waitcnt vmcnt(0) lgkmcnt(0) */
        0xdc708000, 0x00060801, /* global_store_dword v1, v8, s[6:7] */
        0xdc708100, 0x00060901, /* global_store_dword v1, v9, s[6:7] offset:256 */
        0xdc708200, 0x00060a01, /* global_store_dword v1, v10, s[6:7] offset:512 */
        0xdc708300, 0x00060c01, /* global_store_dword v1, v12, s[6:7] offset:768 */
        0xdc708400, 0x00060d01, /* global_store_dword v1, v13, s[6:7] offset:1024 */
        0xbf810000,             /* s_endpgm */
    };
    struct gcn_launch launch = ready(GCN_GFX942, words, COUNT(words), LANES, 1);
    launch.private_bytes = 64;
    assert_int_equal(RUN(launch, report), GCN_DONE);
    static const uint32_t want[] = {0x2000, 0x4000, 0x3000, 0x1000, 0x4000};
    for (unsigned i = 0; i < COUNT(want); i++)
        for (unsigned l = 0; l < LANES; l++)
            assert_int_equal(data[i * LANES + l], want[i] + l);
    static const uint32_t beyond[] = {
        0x7e0802bc,             /* v_mov_b32_e32 v4, 60 */
        0xdc706004, 0x007f0004, /* scratch_store_dword v4, v0, off offset:4 */
        0xbf810000,             /* s_endpgm */
    };
    launch = ready(GCN_GFX942, beyond, COUNT(beyond), LANES, 1);
    launch.private_bytes = 64;
    assert_int_equal(RUN(launch, report), GCN_FAULT);
    launch.private_bytes = 68;
    assert_int_equal(RUN(launch, report), GCN_DONE);
}

/* Workgroups are distributed over the dies, and on each die over its engines; the account has a unit for each die. */
static void workgroups_are_distributed_over_dies(void **state)
{
    (void)state;
    enum { DIES = 8, ENGINES = 4, DIE_UNITS = 38, GROUPS = DIES * DIE_UNITS + 100, WAVES = 2 };
    static struct gcn_account account;
    struct gcn_report report;
    static const uint32_t words[] = {
        0xc0060180, 0x00000000, /* s_load_dwordx2 s[6:7], s[0:1], 0x0 */
        0xb8841814,             /* s_getreg_b32 s4, hwreg(HW_REG_XCC_ID, 0, 4) */
        0xb885f804,             /* s_getreg_b32 s5, hwreg(HW_REG_HW_ID) */
        0x7e040204,             /* v_mov_b32_e32 v2, s4 */
        0x7e060205,             /* v_mov_b32_e32 v3, s5 */
        0x8e088302,             /* s_lshl_b32 s8, s2, 3 */
        0x7e000208,             /* v_mov_b32_e32 v0, s8 */
        0xbf8cc07f,             /* s_waitcnt lgkmcnt(0) */
        0xdc748000, 0x00060200, /* global_store_dwordx2 v0, v[2:3], s[6:7] */
        0xbf810000,             /* s_endpgm */
    };
    struct gcn_launch launch = ready(GCN_GFX942, words, COUNT(words), WAVES * LANES, GROUPS);
    launch.units = DIES * DIE_UNITS;
    launch.engines = DIES * ENGINES;
    launch.dies = DIES;
    launch.account = &account;
    launch.counted_clock = 1;
    memset(&account, 0, sizeof account);
    assert_int_equal(RUN(launch, report), GCN_DONE);
    uint64_t waves[GCN_UNITS] = {0}, used = 0;
    for (unsigned g = 0; g < GROUPS; g++) {
        uint32_t die = data[g * 2], hw_id = data[g * 2 + 1], in_die = g / DIES % DIE_UNITS;
        assert_int_equal(die, g % DIES);
        assert_int_equal(hw_id >> 13 & 7, in_die % ENGINES);
        assert_int_equal(hw_id >> 8 & 31, in_die / ENGINES);
        assert_true((hw_id & 15) < 8);
        waves[die << 8 | (hw_id >> 8 & 255)] += WAVES;
    }
    for (unsigned i = 0; i < GCN_UNITS; i++) {
        assert_int_equal(account.waves[i], waves[i]);
        assert_int_equal(account.cycles[i], waves[i] * (COUNT(words) - 2) * GCN_CYCLES);
        used += waves[i] != 0;
    }
    assert_int_equal(used, DIES * DIE_UNITS);
    /* one die with one unit */
    launch.units = launch.engines = launch.dies = 0;
    assert_int_equal(RUN(launch, report), GCN_DONE);
    assert_int_equal(data[2 * GROUPS - 2], 0);
    assert_int_equal(data[2 * GROUPS - 1] >> 8 & 255, 0);
}

/* a wave uses one of a SIMD's 8 slots: 33 workgroups of one wave don't fit on a compute unit */
static void a_compute_unit_has_32_slots(void **state)
{
    (void)state;
    static struct gcn_account account;
    struct gcn_report report;
    static const uint32_t end = 0xbf810000;
    for (unsigned groups = 32; groups <= 33; groups++) {
        struct gcn_launch launch = ready(GCN_GFX942, &end, 1, LANES, groups);
        memset(&account, 0, sizeof account);
        launch.account = &account;
        launch.counted_clock = 1;
        assert_int_equal(RUN(launch, report), GCN_DONE);
        assert_int_equal(account.waves[0], groups);
        assert_int_equal(account.gaps[0], groups - 32);
    }
}

/* the code after the first 256 bytes runs, with arguments in registers after the other ones */
static void arguments_are_preloaded_into_registers(void **state)
{
    (void)state;
    struct gcn_report report;
    static const uint32_t words[] = {
        0xc0060180, 0x00000000, /* s_load_dwordx2 s[6:7], s[0:1], 0x0 */
        0x24020082,             /* v_lshlrev_b32_e32 v1, 2, v0 */
        0x7e040202,             /* v_mov_b32_e32 v2, s2 */
        0x68040403,             /* v_add_u32_e32 v2, s3, v2 */
        0x68040404,             /* v_add_u32_e32 v2, s4, v2 */
        0xbf8cc07f,             /* s_waitcnt lgkmcnt(0) */
        0xdc708000, 0x00060201, /* global_store_dword v1, v2, s[6:7] */
        0xbf810000,             /* s_endpgm */
    };
    uint32_t all[64 + COUNT(words)];
    for (unsigned i = 0; i < 64; i++)
        all[i] = 0xbf810000; /* s_endpgm */
    memcpy(all + 64, words, sizeof words);
    memset(data, 0, sizeof data);
    args[1] = 30ull << 32 | 7;
    struct gcn_launch launch = ready(GCN_GFX942, all, COUNT(all), LANES, 1);
    code.descriptor[13] = 4 << 1 | 1 << 7;
    code.descriptor[14] = 1 << 3 | 2 << 16 | 2 << (16 + 7); /* two dwords, from the third on */
    assert_int_equal(RUN(launch, report), GCN_DONE);
    for (unsigned l = 0; l < LANES; l++)
        assert_int_equal(data[l], 37);
    code.descriptor[14] = 1 << 3 | 2 << 16 | 7 << (16 + 7); /* the second of them is beyond the end of the arguments */
    assert_int_equal(RUN(launch, report), GCN_FAULT);
    assert_int_equal(report.address, ARGS_VA + sizeof args);
}

/* a dword for each lane, at the offset in m0; a buffer returns 0 outside its bounds */
static void loads_into_lds_are_executed(void **state)
{
    (void)state;
    struct gcn_report report;
    static const uint32_t words[] = {
        0xc0060180, 0x00000000, /* s_load_dwordx2 s[6:7], s[0:1], 0x0 */
        0x24020082,             /* v_lshlrev_b32_e32 v1, 2, v0 */
        0x7e0402c0,             /* v_mov_b32_e32 v2, 64 */
        0xbefc0090,             /* s_mov_b32 m0, 16 */
        0xbf8cc07f,             /* s_waitcnt lgkmcnt(0) */
        0xbe880006,             /* s_mov_b32 s8, s6 */
        0xbe890007,             /* s_mov_b32 s9, s7 */
        0xb00a0080,             /* s_movk_i32 s10, 0x80 */
        0xbe8b0080,             /* s_mov_b32 s11, 0 */
        0xdca88004, 0x00060001, /* global_load_lds_dword v1, s[6:7] offset:4 */
        0xbf8c0f70,             /* s_waitcnt vmcnt(0) */
        0xd86c0014, 0x03000001, /* ds_read_b32 v3, v1 offset:20 */
        0xbf8cc07f,             /* s_waitcnt lgkmcnt(0) */
        0xdc708400, 0x00060301, /* global_store_dword v1, v3, s[6:7] offset:1024 */
        0xdc9c8000, 0x00060001, /* global_load_lds_sbyte v1, s[6:7] */
        0xbf8c0f70,             /* s_waitcnt vmcnt(0) */
        0xd86c0010, 0x03000001, /* ds_read_b32 v3, v1 offset:16 */
        0xbf8cc07f,             /* s_waitcnt lgkmcnt(0) */
        0xdc708500, 0x00060301, /* global_store_dword v1, v3, s[6:7] offset:1280 */
        0xe0511008, 0x80020001, /* buffer_load_dword v1, s[8:11], 0 offen offset:8 lds */
        0xbf8c0f70,             /* s_waitcnt vmcnt(0) */
        0xd86c0018, 0x03000001, /* ds_read_b32 v3, v1 offset:24 */
        0xbf8cc07f,             /* s_waitcnt lgkmcnt(0) */
        0xdc708600, 0x00060301, /* global_store_dword v1, v3, s[6:7] offset:1536 */
        0xbf810000,             /* s_endpgm */
    };
    for (unsigned lds = 64; lds <= 1024; lds += 960) {
        for (unsigned i = 0; i < COUNT(data); i++)
            data[i] = 0x01010181 * (i + 1);
        uint32_t was[LANES + 2];
        memcpy(was, data, sizeof was);
        struct gcn_launch launch = ready(GCN_GFX942, words, COUNT(words), LANES, 1);
        launch.lds_bytes = lds;
        assert_int_equal(RUN(launch, report), GCN_DONE);
        for (unsigned l = 0; l < LANES; l++) {
            uint32_t room = lds - 4 - l * 4; /* reads beyond the end of LDS return 0 */
            assert_int_equal(data[256 + l], room < lds && room >= 20 ? was[l + 1] : 0);
            assert_int_equal(data[320 + l], room < lds && room >= 16 ? (uint32_t)(int8_t)was[l] : 0);
            assert_int_equal(data[384 + l], room < lds && room >= 24 && l < 30 ? was[l + 2] : 0);
        }
    }
    const uint32_t two[] = {0xe0551008, 0x80020001, 0xbf810000}; /* buffer_load_dwordx2 .. lds */
    struct gcn_launch launch = ready(GCN_GFX942, two, COUNT(two), LANES, 1);
    assert_int_equal(RUN(launch, report), GCN_NOT_MODELLED);
    assert_non_null(strstr(report.what, "a transfer between memory and LDS"));
}

/* two halves at a time, in LDS and in memory, with and without returning the old value */
static void atomics_of_two_halves_are_executed(void **state)
{
    (void)state;
    struct gcn_report report;
    static const uint32_t words[] = {
        0xc0060180, 0x00000000, /* s_load_dwordx2 s[6:7], s[0:1], 0x0 */
        0x24020082,             /* v_lshlrev_b32_e32 v1, 2, v0 */
        0xbf8cc07f,             /* s_waitcnt lgkmcnt(0) */
        0xdc508000, 0x02060001, /* global_load_dword v2, v1, s[6:7] */
        0xdc508100, 0x03060001, /* global_load_dword v3, v1, s[6:7] offset:256 */
        0xbf8c0f70,             /* s_waitcnt vmcnt(0) */
        0xd81a0000, 0x00000201, /* ds_write_b32 v1, v2 */
        0xd96e0000, 0x04000301, /* ds_pk_add_rtn_f16 v4, v1, v3 */
        0xd8300000, 0x00000301, /* ds_pk_add_bf16 v1, v3 */
        0xd86c0000, 0x05000001, /* ds_read_b32 v5, v1 */
        0xbf8cc07f,             /* s_waitcnt lgkmcnt(0) */
        0xdc708200, 0x00060401, /* global_store_dword v1, v4, s[6:7] offset:512 */
        0xdc708300, 0x00060501, /* global_store_dword v1, v5, s[6:7] offset:768 */
        0x7e0c0206,             /* v_mov_b32_e32 v6, s6 */
        0x7e0e0207,             /* v_mov_b32_e32 v7, s7 */
        0x320c0306,             /* v_add_co_u32_e32 v6, vcc, v6, v1 */
        0x380e0e80,             /* v_addc_co_u32_e32 v7, vcc, 0, v7, vcc */
        0xdd490000, 0x08000306, /* flat_atomic_pk_add_bf16 v8, v[6:7], v3 sc0 */
        0xbf8c0070,             /* s_waitcnt vmcnt(0) lgkmcnt(0) */
        0xdd380000, 0x00000306, /* flat_atomic_pk_add_f16 v[6:7], v3 */
        0xdd348100, 0x00060301, /* global_atomic_add_f32 v1, v3, s[6:7] offset:256 */
        0xbf8c0070,             /* s_waitcnt vmcnt(0) lgkmcnt(0) */
        0xdc708400, 0x00060801, /* global_store_dword v1, v8, s[6:7] offset:1024 */
        0xbf810000,             /* s_endpgm */
    };
    for (unsigned l = 0; l < LANES; l++) {
        data[l] = 0x40003c00;
        data[LANES + l] = 0x3f803f80;
    }
    struct gcn_launch launch = ready(GCN_GFX942, words, COUNT(words), LANES, 1);
    assert_int_equal(RUN(launch, report), GCN_DONE);
    for (unsigned l = 0; l < LANES; l++) {
        assert_int_equal(data[2 * LANES + l], 0x40003c00);
        assert_int_equal(data[3 * LANES + l], 0x43c041c8); /* 1 + 1.875 and 2 + 1.875; their bits + 1, to even */
        assert_int_equal(data[4 * LANES + l], 0x40003c00);
        assert_int_equal(data[l], 0x44004380);
        assert_int_equal(data[LANES + l], 0x40003f80);
    }
}

/* with a mode bit, set by the descriptor or later, a value too large for an 8-bit float becomes the largest one */
static void values_too_large_for_8_bits_are_clamped(void **state)
{
    (void)state;
    struct gcn_report report;
    static const uint32_t words[] = {
        0xc0060180, 0x00000000, /* s_load_dwordx2 s[6:7], s[0:1], 0x0 */
        0x24020082,             /* v_lshlrev_b32_e32 v1, 2, v0 */
        0x7e0402ff, 0x43960000, /* v_mov_b32_e32 v2, 0x43960000 */
        0x7e060280,             /* v_mov_b32_e32 v3, 0 */
        0x7e080280,             /* v_mov_b32_e32 v4, 0 */
        0xd2a20003, 0x20020502, /* v_cvt_pk_fp8_f32 v3, -v2, v2 */
        0xb88405c1,             /* s_getreg_b32 s4, hwreg(HW_REG_MODE, 23, 1) */
        0x88048104,             /* s_xor_b32 s4, s4, 1 */
        0xb90405c1,             /* s_setreg_b32 hwreg(HW_REG_MODE, 23, 1), s4 */
        0xd2a20004, 0x20020502, /* v_cvt_pk_fp8_f32 v4, -v2, v2 */
        0xbf8cc07f,             /* s_waitcnt lgkmcnt(0) */
        0xdc708000, 0x00060301, /* global_store_dword v1, v3, s[6:7] */
        0xdc708100, 0x00060401, /* global_store_dword v1, v4, s[6:7] offset:256 */
        0xbf810000,             /* s_endpgm */
    };
    for (unsigned at_first = 0; at_first < 2; at_first++) {
        struct gcn_launch launch = ready(GCN_GFX942, words, COUNT(words), LANES, 1);
        code.descriptor[12] |= at_first << 26;
        assert_int_equal(RUN(launch, report), GCN_DONE);
        for (unsigned l = 0; l < LANES; l++) {
            assert_int_equal(data[l], at_first ? 0x7fff : 0x8080);
            assert_int_equal(data[LANES + l], at_first ? 0x8080 : 0x7fff);
        }
    }
}

static void an_instruction_that_gfx942_lacks_is_reported_by_name(void **state)
{
    (void)state;
    struct gcn_report report;
    const uint32_t mac[] = {0x2c020702, 0xbf810000}; /* v_mac_f32 v1, v2, v3 */
    struct gcn_launch launch = ready(GCN_GFX942, mac, COUNT(mac), LANES, 1);
    assert_int_equal(RUN(launch, report), GCN_NOT_MODELLED);
    assert_string_equal(report.what, "no instruction of this GPU");
    assert_int_equal(report.raw[0], mac[0]);
    launch.target = GCN_GFX90A;
    assert_int_equal(RUN(launch, report), GCN_DONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_gfx942_instruction_computes),
        cmocka_unit_test(each_wide_instruction_computes),
        cmocka_unit_test(private_memory_is_addressed),
        cmocka_unit_test(workgroups_are_distributed_over_dies),
        cmocka_unit_test(a_compute_unit_has_32_slots),
        cmocka_unit_test(arguments_are_preloaded_into_registers),
        cmocka_unit_test(loads_into_lds_are_executed),
        cmocka_unit_test(atomics_of_two_halves_are_executed),
        cmocka_unit_test(values_too_large_for_8_bits_are_clamped),
        cmocka_unit_test(an_instruction_that_gfx942_lacks_is_reported_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
