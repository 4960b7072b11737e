/*
 * The software GPU's interpreter without the runtime: results of instructions, lanes that they write, unmapped memory,
 * unknown instructions, barriers and workgroups.
 */
#include "gcn_vectors.h"

static enum gcn_end run(const uint32_t *words, size_t n, unsigned items, unsigned groups, struct gcn_report *report)
{
    struct gcn_launch launch = ready(GCN_GFX906, words, n, items, groups);
    return gcn_run(&launch, report);
}

static const struct vector vectors[] = {
    {"v_add_f32_e32 v5, v2, v3", {0x020a0702}, 0x3fc00000, 0x40100000, 0x0, 0x40700000},
    {"v_add_f32_e64 v5, -v2, |v3| clamp", {0xd1018205, 0x20020702}, 0x3e800000, 0xbf400000, 0x0, 0x3f000000},
    {"v_mul_f32_e64 v5, v2, v3 mul:4", {0xd1050005, 0x10020702}, 0x40400000, 0x40a00000, 0x0, 0x42700000},
    {"v_fma_f32 v5, v2, v3, -v4", {0xd1cb0005, 0x84120702}, 0x40400000, 0x40a00000, 0x3f800000, 0x41600000},
    {"v_min_f32_e32 v5, v2, v3", {0x140a0702}, 0x7fc00000, 0x40a00000, 0x0, 0x40a00000},
    {"v_max_f32_e32 v5, v2, v3", {0x160a0702}, 0x80000000, 0x0, 0x0, 0x0},
    {"v_med3_f32 v5, v2, v3, v4", {0xd1d60005, 0x04120702}, 0x41100000, 0xc0000000, 0x40800000, 0x40800000},
    {"v_mul_lo_u32 v5, v2, v3", {0xd2850005, 0x00020702}, 0x12345678, 0x9abcdef0, 0x0, 0x242d2080},
    {"v_mul_hi_u32 v5, v2, v3", {0xd2860005, 0x00020702}, 0x12345678, 0x9abcdef0, 0x0, 0xb00ea4e},
    {"v_mul_hi_i32 v5, v2, v3", {0xd2870005, 0x00020702}, 0xffffffff, 0x5, 0x0, 0xffffffff},
    {"v_mad_u32_u24 v5, v2, v3, v4", {0xd1c30005, 0x04120702}, 0xff000003, 0x11000005, 0x7, 0x16},
    {"v_mad_i32_i24 v5, v2, v3, v4", {0xd1c20005, 0x04120702}, 0xffffff, 0x5, 0x7, 0x2},
    {"v_bfe_u32 v5, v2, v3, v4", {0xd1c80005, 0x04120702}, 0xabcdef12, 0x8, 0xc, 0xdef},
    {"v_bfe_i32 v5, v2, v3, v4", {0xd1c90005, 0x04120702}, 0xabcdef12, 0x8, 0xc, 0xfffffdef},
    {"v_bfi_b32 v5, v2, v3, v4", {0xd1ca0005, 0x04120702}, 0xff00ff00, 0x12345678, 0x9abcdef0, 0x12bc56f0},
    {"v_alignbit_b32 v5, v2, v3, v4", {0xd1ce0005, 0x04120702}, 0x1, 0x80000000, 0x1f, 0x3},
    {"v_perm_b32 v5, v2, v3, v4", {0xd1ed0005, 0x04120702}, 0x33221100, 0x77665544, 0xd0c0105, 0xff005511},
    {"v_lshl_add_u32 v5, v2, v3, v4", {0xd1fd0005, 0x04120702}, 0x3, 0x4, 0x5, 0x35},
    {"v_xad_u32 v5, v2, v3, v4", {0xd1f30005, 0x04120702}, 0xf0, 0xf, 0x1, 0x100},
    {"v_ashrrev_i32_e32 v5, v2, v3", {0x220a0702}, 0x24, 0x80000000, 0x0, 0xf8000000},
    {"v_ffbh_u32_e32 v5, v2", {0x7e0a5b02}, 0x100000, 0x0, 0x0, 0xb},
    {"v_ffbh_i32_e32 v5, v2", {0x7e0a5f02}, 0xfff00000, 0x0, 0x0, 0xc},
    {"v_bfrev_b32_e32 v5, v2", {0x7e0a5902}, 0x5, 0x0, 0x0, 0xa0000000},
    {"v_cvt_u32_f32_e32 v5, v2", {0x7e0a0f02}, 0xc0400000, 0x0, 0x0, 0x0},
    {"v_cvt_i32_f32_e32 v5, v2", {0x7e0a1102}, 0x50df8476, 0x0, 0x0, 0x7fffffff},
    {"v_cvt_f16_f32_e32 v5, v2", {0x7e0a1502}, 0x3f801000, 0x0, 0x0, 0x3c00},
    {"v_cvt_f16_f32_e32 v5, v2", {0x7e0a1502}, 0x3f803000, 0x0, 0x0, 0x3c02},
    {"v_cvt_f16_f32_e32 v5, v2", {0x7e0a1502}, 0xc77fef00, 0x0, 0x0, 0xfbff},
    {"v_cvt_f16_f32_e32 v5, v2", {0x7e0a1502}, 0x33000000, 0x0, 0x0, 0x0},
    {"v_cvt_f16_f32_e32 v5, v2", {0x7e0a1502}, 0x477ff000, 0x0, 0x0, 0x7c00},
    {"v_cvt_f16_f32_e32 v5, v2", {0x7e0a1502}, 0x33c00000, 0x0, 0x0, 0x2},
    {"v_cvt_f32_f16_e32 v5, v2", {0x7e0a1702}, 0x1, 0x0, 0x0, 0x33800000},
    {"v_rndne_f32_e32 v5, v2", {0x7e0a3d02}, 0x40200000, 0x0, 0x0, 0x40000000},
    {"v_fract_f32_e32 v5, v2", {0x7e0a3702}, 0xbe800000, 0x0, 0x0, 0x3f400000},
    {"v_frexp_exp_i32_f32_e32 v5, v2", {0x7e0a6702}, 0x41400000, 0x0, 0x0, 0x4},
    {"v_frexp_mant_f32_e32 v5, v2", {0x7e0a6902}, 0x41400000, 0x0, 0x0, 0x3f400000},
    {"v_ldexp_f32 v5, v2, v3", {0xd2880005, 0x00020702}, 0x3f400000, 0x4, 0x0, 0x41400000},
    {"v_rcp_f32_e32 v5, v2", {0x7e0a4502}, 0x40800000, 0x0, 0x0, 0x3e800000},
    {"v_exp_f32_e32 v5, v2", {0x7e0a4102}, 0xc0400000, 0x0, 0x0, 0x3e000000},
    {"v_log_f32_e32 v5, v2", {0x7e0a4302}, 0x41000000, 0x0, 0x0, 0x40400000},
    {"v_sin_f32_e32 v5, v2", {0x7e0a5302}, 0x3e800000, 0x0, 0x0, 0x3f800000},
    {"v_add_f16_e32 v5, v2, v3", {0x3e0a0702}, 0xffff3e00, 0x4080, 0x0, 0x4380},
    {"v_fma_f16 v5, v2, v3, v4", {0xd2060005, 0x04120702}, 0x4200, 0x4500, 0x3c00, 0xdead4c00},
    {"v_mad_u16 v5, v2, v3, v4 op_sel:[1,0,0,1]", {0xd2044805, 0x04120702}, 0x70000, 0x5, 0x1, 0x24beef},
    {"v_pk_add_f16 v5, v2, v3", {0xd38f4005, 0x18020702}, 0x40003c00, 0x45004200, 0x0, 0x47004400},
    {"v_pk_fma_f16 v5, v2, v3, v4 op_sel:[1,0,0] op_sel_hi:[0,1,1] neg_lo:[0,0,1]",
     {0xd38e4805, 0x94120702},
     0x42004000,
     0x47004500,
     0x3c003c00,
     0x4b804b00},
    {"v_pk_mul_lo_u16 v5, v2, v3", {0xd3814005, 0x18020702}, 0x30004, 0x50006, 0x0, 0xf0018},
    {"v_pk_ashrrev_i16 v5, v2, v3", {0xd3864005, 0x18020702}, 0x10004, 0x80008000, 0x0, 0xc000f800},
    {"v_dot4_i32_i8 v5, v2, v3, v4", {0xd3a84005, 0x1c120702}, 0x1ff0203, 0x2030405, 0x64, 0x7a},
    {"v_dot2_f32_f16 v5, v2, v3, v4", {0xd3a34005, 0x1c120702}, 0x42004000, 0x47004500, 0x3f000000, 0x41fc0000},
    {"v_fma_mix_f32 v5, v2, v3, v4 op_sel:[1,0,0] op_sel_hi:[1,0,0]",
     {0xd3a00805, 0x0c120702},
     0x40000000,
     0x40a00000,
     0x3f800000,
     0x41300000},
    {"v_fma_mixlo_f16 v5, v2, v3, v4", {0xd3a10005, 0x04120702}, 0x40400000, 0x40a00000, 0x3f800000, 0xdead4c00},
    {"v_fma_mixhi_f16 v5, v2, v3, v4", {0xd3a20005, 0x04120702}, 0x40400000, 0x40a00000, 0x3f800000, 0x4c00beef},
    {"v_add_u32_sdwa v5, v2, v3 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_2 src1_sel:WORD_1",
     {0x680a06f9, 0x05021102},
     0x110000,
     0x220000,
     0x0,
     0xdead33ef},
    {"v_cvt_f32_f16_sdwa v5, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1",
     {0x7e0a16f9, 0x00050602},
     0x3e000000,
     0x0,
     0x0,
     0x3fc00000},
    {"v_add_u32_sdwa v5, sext(v2), v3 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:DWORD",
     {0x680a06f9, 0x06080602},
     0xfe,
     0xa,
     0x0,
     0x8},
    {"v_add_u32_e64 v5, v2, v3 clamp", {0xd1348005, 0x00020702}, 0xfffffff0, 0x20, 0x0, 0xffffffff},
    {"v_mov_b32_e32 v5, -16", {0x7e0a02d0}, 0x0, 0x0, 0x0, 0xfffffff0},
    {"v_add_f16_e32 v5, 1.0, v2", {0x3e0a04f2}, 0x4000, 0x0, 0x0, 0x4200},
    {"v_add_u16_e32 v5, 64, v2", {0x4c0a04c0}, 0xffffffff, 0x0, 0x0, 0x3f},
    {"v_cvt_pkrtz_f16_f32 v5, v2, v3", {0xd2960005, 0x00020702}, 0x3fffffff, 0xbf800000, 0x0, 0xbc003fff},
    {"v_mbcnt_lo_u32_b32 v5, -1, v3", {0xd28c0005, 0x000206c1}, 0x0, 0x64, 0x0, 0x64},
    {"v_sad_u8 v5, v2, v3, v4", {0xd1d90005, 0x04120702}, 0x1050203, 0x2030405, 0x1, 0x8},
    {"v_div_fixup_f32 v5, v2, v3, v4", {0xd1de0005, 0x04120702}, 0x40e00000, 0x0, 0xbf800000, 0xff800000},
};

static void each_instruction_computes(void **state)
{
    (void)state;
    computes(GCN_GFX906, vectors, sizeof vectors / sizeof *vectors);
}

/* a workgroup of 40: lanes from 40 on are off */
static void inactive_lanes_stay_unchanged(void **state)
{
    (void)state;
    struct gcn_report report;
    const uint32_t add = 0x680a0702; /* v_add_u32 v5, v2, v3 */
    for (unsigned i = 0; i < 5 * LANES; i++)
        data[i] = i;
    assert_int_equal(run_one(GCN_GFX906, &add, 1, 40, &report), GCN_DONE);
    assert_int_equal(report.waves, 1);
    for (unsigned l = 0; l < LANES; l++)
        assert_int_equal(data[256 + l], l < 40 ? l + 64 + l : 256 + l);
}

/* row_shr:1 without bound_ctrl: the first lane of each row has no source and keeps its value */
static void dpp_moves_within_rows(void **state)
{
    (void)state;
    struct gcn_report report;
    const uint32_t shift[] = {0x7e0a02fa, 0xff011102}, zero[] = {0x7e0a02fa, 0xff091102};
    for (unsigned i = 0; i < 5 * LANES; i++)
        data[i] = i;
    assert_int_equal(run_one(GCN_GFX906, shift, 2, LANES, &report), GCN_DONE);
    for (unsigned l = 0; l < LANES; l++)
        assert_int_equal(data[256 + l], l % 16 ? l - 1 : 192 + l);
    assert_int_equal(run_one(GCN_GFX906, zero, 2, LANES, &report), GCN_DONE);
    for (unsigned l = 0; l < LANES; l++)
        assert_int_equal(data[256 + l], l % 16 ? l - 1 : 0);
}

static void scalar_additions_carry(void **state)
{
    (void)state;
    struct gcn_report report;
    /* s_add_u32 s20, -1, 1; s_addc_u32 s21, 0, 0; v_mov_b32 v5, s21 */
    const uint32_t words[] = {0x801481c1, 0x82158080, 0x7e0a0215};
    assert_int_equal(run_one(GCN_GFX906, words, 3, LANES, &report), GCN_DONE);
    assert_int_equal(data[256], 1);
}

static void unmapped_memory_is_a_fault(void **state)
{
    (void)state;
    struct gcn_report report;
    /* v_mov_b32 v6, 0x12345000; v_mov_b32 v7, 0; global_load_dword v5, v[6:7], off */
    const uint32_t words[] = {0x7e0c02ff, 0x12345000, 0x7e0e0280, 0xdc508000, 0x057f0006, 0xbf810000};
    assert_int_equal(run(words, 6, LANES, 3, &report), GCN_FAULT);
    assert_int_equal(report.address, 0x12345000);
    assert_int_equal(report.pc, CODE_VA + 64 + 12);
    /* code that runs past its end */
    const uint32_t off_the_end[] = {0xbf800000};
    assert_int_equal(run(off_the_end, 1, LANES, 1, &report), GCN_FAULT);
    assert_int_equal(report.address, CODE_VA + 64 + 4);
    /* the last dword of the memory is mapped, a dword across the end isn't */
    uint32_t at_end[] = {0x7e0c02ff, DATA_VA + sizeof data - 4, 0x7e0e0280, 0xdc508000, 0x057f0006, 0xbf810000};
    assert_int_equal(run(at_end, 6, 1, 1, &report), GCN_DONE);
    at_end[1] += 1;
    assert_int_equal(run(at_end, 6, 1, 1, &report), GCN_FAULT);
}

static void an_unknown_instruction_is_reported_by_name(void **state)
{
    (void)state;
    struct gcn_report report;
    const uint32_t semaphore[] = {0xd9390000, 0x00000000, 0xbf810000}; /* ds_gws_sema_p */
    assert_int_equal(run(semaphore, 3, LANES, 1, &report), GCN_NOT_MODELLED);
    assert_string_equal(report.what, "ds_gws_sema_p");
    assert_int_equal(report.raw[0], 0xd9390000);
    assert_int_equal(report.words, 2);
    assert_int_equal(report.pc, CODE_VA + 64);
    const uint32_t nonsense[] = {0xf0000000, 0, 0xbf810000}; /* an image instruction */
    assert_int_equal(run(nonsense, 3, LANES, 1, &report), GCN_NOT_MODELLED);
    assert_string_equal(report.what, "no instruction of this GPU");
    assert_int_equal(run(nonsense + 2, 1, 2000, 1, &report), GCN_NOT_MODELLED); /* too large a workgroup */
}

/* Each wave writes its number into LDS, and after the barrier reads the next wave's; many workgroups. */
static void a_barrier_joins_a_workgroup(void **state)
{
    (void)state;
    struct gcn_report report;
    static const uint32_t words[] = {
        0xc0060180, 0x00000000, /* s_load_dwordx2 s[6:7], s[0:1], 0x0 */
        0x24020082,             /* v_lshlrev_b32 v1, 2, v0 */
        0xd81a0000, 0x00000001, /* ds_write_b32 v1, v0 */
        0xbf8cc07f, 0xbf8a0000, /* s_waitcnt lgkmcnt(0); s_barrier */
        0x680402ff, 0x00000100, /* v_add_u32 v2, 0x100, v1: 64 further */
        0x260404ff, 0x000003ff, /* v_and_b32 v2, 0x3ff, v2: of 256 */
        0xd86c0000, 0x03000002, /* ds_read_b32 v3, v2 */
        0xbf8cc07f,             /* s_waitcnt lgkmcnt(0) */
        0x8e058a02,             /* s_lshl_b32 s5, s2, 10: the workgroup's offset */
        0x68020205,             /* v_add_u32 v1, s5, v1 */
        0xdc708000, 0x00060301, /* global_store_dword v1, v3, s[6:7] */
        0xbf810000,
    };
    memset(data, 0xff, sizeof data);
    assert_int_equal(run(words, sizeof words / sizeof *words, 256, 20, &report), GCN_DONE);
    assert_int_equal(report.waves, 80);
    for (unsigned g = 0; g < 20; g++)
        for (unsigned i = 0; i < 256; i++)
            assert_int_equal(data[g * 256 + i], (i + 64) % 256);
}

/* Each workgroup writes its number plus one, and after a grid barrier reads the next workgroup's value. */
static const uint32_t grid_barrier[] = {
    0xc0060180, 0x00000000, /* s_load_dwordx2 s[6:7], s[0:1], 0x0 */
    0xc0020100, 0x00000008, /* s_load_dword s4, s[0:1], 0x8: the last workgroup's number */
    0x7e020202,             /* v_mov_b32 v1, s2 */
    0x24040282,             /* v_lshlrev_b32 v2, 2, v1 */
    0x68060281,             /* v_add_u32 v3, 1, v1 */
    0xbf8cc07f,             /* s_waitcnt lgkmcnt(0) */
    0xdc708000, 0x00060302, /* global_store_dword v2, v3, s[6:7] */
    0x7e080204, 0xbefc0080, /* v_mov_b32 v4, s4; s_mov_b32 m0, 0 */
    0xd9330000, 0x00000004, /* ds_gws_init v4 gds */
    0xd93b0000, 0x00000004, /* ds_gws_barrier v4 gds */
    0x81058102, 0xbf0b0405, /* s_add_i32 s5, s2, 1; s_cmp_le_u32 s5, s4 */
    0x85058005,             /* s_cselect_b32 s5, s5, 0 */
    0x7e0a0205, 0x240a0a82, /* v_mov_b32 v5, s5; v_lshlrev_b32 v5, 2, v5 */
    0xdc508000, 0x06060005, /* global_load_dword v6, v5, s[6:7] */
    0xbf8c0f70,             /* s_waitcnt vmcnt(0) */
    0xd93b0000, 0x00000004, /* ds_gws_barrier v4 gds */
    0xdc708000, 0x00060602, /* global_store_dword v2, v6, s[6:7] */
    0xbf810000,
};
enum { GRID_BARRIER = sizeof grid_barrier / sizeof *grid_barrier };

static void a_grid_barrier_joins_all_workgroups(void **state)
{
    (void)state;
    struct gcn_report report;
    for (unsigned groups = 1; groups <= 500; groups = groups * 3 + 1) {
        memset(data, 0xff, sizeof data);
        args[1] = groups - 1;
        assert_int_equal(run(grid_barrier, GRID_BARRIER, LANES, groups, &report), GCN_DONE);
        assert_int_equal(report.waves, groups);
        for (unsigned g = 0; g < groups; g++)
            assert_int_equal(data[g], (g + 1) % groups + 1);
    }
}

/* more workgroups than fit on a GPU: the interpreter reports it and doesn't wait forever */
static void a_grid_that_can_never_meet_is_refused(void **state)
{
    (void)state;
    struct gcn_report report;
    args[1] = 2999;
    assert_int_equal(run(grid_barrier, GRID_BARRIER, LANES, 3000, &report), GCN_NOT_MODELLED);
    assert_non_null(strstr(report.what, "workgroups that wait for more than are alive at once"));
    assert_int_equal(report.pc, CODE_VA + 64 + 14 * 4);
    /* nor when some never arrive */
    args[1] = 5;
    assert_int_equal(run(grid_barrier, GRID_BARRIER, LANES, 5, &report), GCN_NOT_MODELLED);
    assert_non_null(strstr(report.what, "a barrier of the grid that not all come to"));
    /* and the next run starts without leftovers */
    args[1] = 4;
    assert_int_equal(run(grid_barrier, GRID_BARRIER, LANES, 5, &report), GCN_DONE);
    assert_int_equal(data[4], 1);
}

/* workgroups increment a variable in memory, and poll it until all have done so */
static void workgroups_may_wait_for_later_ones(void **state)
{
    (void)state;
    struct gcn_report report;
    static const uint32_t words[] = {
        0xc0060180, 0x00000000, 0xc0020100, 0x00000008, /* as above */
        0x7e040280, 0x7e060281,                         /* v_mov_b32 v2, 0; v_mov_b32 v3, 1 */
        0xbf8cc07f, 0xbefe0181,                         /* s_waitcnt lgkmcnt(0); s_mov_b64 exec, 1 */
        0xdd088000, 0x00060302,                         /* global_atomic_add v2, v3, s[6:7] */
        0xdc518000, 0x04060002,                         /* global_load_dword v4, v2, s[6:7] glc */
        0xbf8c0f70,                                     /* s_waitcnt vmcnt(0) */
        0x7e0a0504, 0xbf070405,                         /* v_readfirstlane_b32 s5, v4; s_cmp_lg_u32 s5, s4 */
        0xbf85fffa,                                     /* s_cbranch_scc1: to the load */
        0xbf810000,
    };
    memset(data, 0, sizeof data);
    args[1] = 9;
    assert_int_equal(run(words, sizeof words / sizeof *words, LANES, 9, &report), GCN_DONE);
    assert_int_equal(data[0], 9);
    assert_int_equal(report.waves, 9);
}

/* the first workgroup faults at an unmapped address; the others wait for it */
static void no_workgroup_waits_for_a_stopped_one(void **state)
{
    (void)state;
    struct gcn_report report;
    /* s_cmp_lg_u32 s2, 0; s_cbranch_scc1; s_load_dword s4, s[2:3], 0x0; s_sleep 1; s_branch to it */
    static const uint32_t words[] = {0xbf078002, 0xbf850002, 0xc0020101, 0x00000000, 0xbf8e0001, 0xbf82fffe};
    assert_int_equal(run(words, sizeof words / sizeof *words, LANES, 9, &report), GCN_FAULT);
    assert_int_equal(report.address, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_instruction_computes),
        cmocka_unit_test(inactive_lanes_stay_unchanged),
        cmocka_unit_test(dpp_moves_within_rows),
        cmocka_unit_test(scalar_additions_carry),
        cmocka_unit_test(unmapped_memory_is_a_fault),
        cmocka_unit_test(an_unknown_instruction_is_reported_by_name),
        cmocka_unit_test(a_barrier_joins_a_workgroup),
        cmocka_unit_test(a_grid_barrier_joins_all_workgroups),
        cmocka_unit_test(a_grid_that_can_never_meet_is_refused),
        cmocka_unit_test(workgroups_may_wait_for_later_ones),
        cmocka_unit_test(no_workgroup_waits_for_a_stopped_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
