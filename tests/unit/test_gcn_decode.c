/*
 * The decoder of the software GPU's interpreter: names, lengths and operands of instructions that LLVM's assembler
 * made. (tests/e2e/vgpu-execute.t compares it with LLVM's disassembler on complete kernels.)
 */
#include "../vgpu/gcn/isa.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct vector {
    const char *name;
    unsigned bytes;
    uint32_t code[3];
};

static const struct vector common[] = {
    {"s_add_u32", 8, {0x8004ff08, 0x00012345}},
    {"s_lshl_b64", 4, {0x8e840806}},
    {"s_movk_i32", 4, {0xb004ff85}},
    {"s_setreg_imm32_b32", 8, {0xba000901, 0x00000003}},
    {"s_and_saveexec_b64", 4, {0xbe84206a}},
    {"s_cmp_lt_i32", 4, {0xbf04d004}},
    {"s_cbranch_execz", 4, {0xbf880010}},
    {"s_endpgm", 4, {0xbf810000}},
    {"s_load_dwordx4", 8, {0xc00a0100, 0x0000001c}},
    {"s_load_dword", 8, {0xc0000100, 0x00000009}},
    {"s_buffer_load_dwordx2", 8, {0xc0260104, 0x00000040}},
    {"v_add_f32_e32", 4, {0x020204f0}},
    {"v_add_f32_e64", 8, {0xd1018201, 0x28000702}},
    {"v_mul_f32_e32", 8, {0x0a0204ff, 0x40490fdb}},
    {"v_fmac_f32_e32", 4, {0x76020602}},
    {"v_addc_co_u32_e32", 4, {0x38020702}},
    {"v_add_co_u32_e64", 8, {0xd1190401, 0x00020702}},
    {"v_cmp_gt_i32_e32", 4, {0x7d880687}},
    {"v_cmp_gt_i32_e64", 8, {0xd0c40004, 0x00020702}},
    {"v_cndmask_b32_e64", 8, {0xd1000001, 0x00120702}},
    {"v_add_u16_sdwa", 8, {0x4c0206f9, 0x04031502}},
    {"v_cvt_f32_f16_sdwa", 8, {0x7e0216f9, 0x00050602}},
    {"v_cmp_eq_u32_sdwa", 8, {0x7d9406f9, 0x06008402}},
    {"v_mov_b32_dpp", 8, {0x7e0202fa, 0xaf091302}},
    {"v_add_u32_dpp", 8, {0x680206fa, 0xff00b102}},
    {"v_readfirstlane_b32", 4, {0x7e080502}},
    {"v_readlane_b32", 8, {0xd2890004, 0x00000b02}},
    {"v_mad_u64_u32", 8, {0xd1e80402, 0x041a0b04}},
    {"v_div_scale_f32", 8, {0xd1e00401, 0x04120702}},
    {"v_lshlrev_b64", 8, {0xd28f0002, 0x00020883}},
    {"v_fma_f16", 8, {0xd2065001, 0x04120702}},
    {"v_pk_fma_f16", 8, {0xd38e4901, 0x54120702}},
    {"v_fma_mixhi_f16", 8, {0xd3a24001, 0x0c120702}},
    {"global_load_dwordx4", 8, {0xdc5c9ff0, 0x047f0002}},
    {"global_store_dword", 8, {0xdc708fff, 0x00040302}},
    {"global_atomic_add", 8, {0xdd098000, 0x01040302}},
    {"flat_load_ushort", 8, {0xdc48000c, 0x01000002}},
    {"scratch_store_dword", 8, {0xdc704008, 0x00040300}},
    {"ds_read2st64_b32", 8, {0xd8700903, 0x04000001}},
    {"ds_write_b128", 8, {0xd9be0400, 0x00000401}},
    {"ds_bpermute_b32", 8, {0xd87e0000, 0x01000302}},
    {"buffer_load_dword", 8, {0xe0500008, 0x20000100}},
    {"buffer_store_dwordx2", 8, {0xe0741010, 0x80020402}},
    {"tbuffer_load_format_xyzw", 8, {0xebf1a000, 0x80020402}},
};

/* gfx942 has other instructions instead */
static const struct vector not_of_gfx942[] = {
    {"v_madak_f32", 8, {0x30020702, 0x3f000000}},
    {"v_madmk_f32", 8, {0x2e020702, 0x3f000000}},
    {"v_mac_f32_e32", 4, {0x2c020702}},
    {"v_mad_f32", 8, {0xd1c10001, 0x04120702}},
};

static const struct vector of_gfx90a[] = {
    {"v_pk_fma_f32", 8, {0xd3b04002, 0x1c200d04}},
    {"v_mfma_f32_32x32x8f16", 8, {0xd3cc8000, 0x04020902}},
    {"v_accvgpr_write_b32", 8, {0xd3d94003, 0x18000102}},
    {"v_accvgpr_read_b32", 8, {0xd3d84002, 0x18000103}},
    {"v_fmac_f64_e32", 4, {0x08040d04}},
    {"global_load_dwordx2", 8, {0xdc548000, 0x04ff0002}},
    {"ds_read_b64", 8, {0xdaec0000, 0x02000001}},
};

/* LLVM 19's names, with LLVM 15's words for gfx940 */
static const struct vector of_gfx942[] = {
    {"v_fmamk_f32", 8, {0x2e020702, 0x3f000000}},
    {"v_fmaak_f32", 8, {0x30020702, 0x3f000000}},
    {"v_mov_b64_e32", 8, {0x7e0470ff, 0x12345678}},
    {"v_mov_b64_e64", 8, {0xd1780002, 0x00000104}},
    {"v_mov_b64_dpp", 8, {0x7e0470fa, 0xff015304}},
    {"v_lshl_add_u64", 8, {0xd2080002, 0x04190704}},
    {"v_cvt_f32_fp8_sdwa", 8, {0x7e02a8f9, 0x00010602}},
    {"v_cvt_pk_f32_bf8_e32", 4, {0x7e04af04}},
    {"v_cvt_pk_fp8_f32", 8, {0xd2a24001, 0x00020702}},
    {"v_cvt_sr_bf8_f32", 8, {0xd2a50001, 0x00020702}},
    {"v_fmac_f64_e32", 4, {0x08080d02}},
    {"v_mul_legacy_f32", 8, {0xd2a10001, 0x00020702}},
    {"v_mfma_f32_32x32x8_f16", 8, {0xd3cc8000, 0x04020902}},
    {"v_mfma_f32_16x16x4_4b_bf16", 8, {0xd3de8000, 0x04020902}},
    {"v_mfma_f32_16x16x8_xf32", 8, {0xd3be8000, 0x04020902}},
    {"v_mfma_i32_16x16x32_i8", 8, {0xd3d78000, 0x04020902}},
    {"v_mfma_f32_16x16x32_fp8_bf8", 8, {0xd3f28000, 0x04020902}},
    {"v_mfma_f64_16x16x4_f64", 8, {0xd3ee8000, 0x04020902}},
    {"v_smfmac_f32_16x16x32_f16", 8, {0xd3e28000, 0x04220902}},
    {"v_smfmac_f32_32x32x32_bf8_fp8", 8, {0xd3fd0010, 0x04220902}},
    {"global_load_dword", 8, {0xde538000, 0x017f0002}},
    {"global_load_lds_dword", 8, {0xdca88010, 0x00040002}},
    {"scratch_load_lds_ubyte", 8, {0xdc984000, 0x00030000}},
    {"scratch_load_dword", 8, {0xdc506008, 0x01030002}},
    {"flat_atomic_add_f32", 8, {0xdd340000, 0x00000402}},
    {"flat_atomic_pk_add_bf16", 8, {0xdd490000, 0x01000402}},
    {"buffer_load_dword", 8, {0xe052d000, 0x80010102}},
    {"buffer_inv", 8, {0xe0a4c000, 0x00000000}},
    {"buffer_wbl2", 8, {0xe0a08000, 0x00000000}},
    {"ds_pk_add_f16", 8, {0xd82e0000, 0x00000201}},
    {"ds_pk_add_rtn_bf16", 8, {0xd9700000, 0x01000302}},
    {"ds_add_f64", 8, {0xd8b80000, 0x00000201}},
};

static struct gcn_inst decoded(enum gcn_target target, uint32_t a, uint32_t b)
{
    uint32_t code[3] = {a, b, 0};
    struct gcn_inst in;
    assert_true(gcn_decode(target, code, 3, &in));
    return in;
}

static void same(enum gcn_target target, const struct vector *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct gcn_inst in;
        char name[64];
        assert_true(gcn_decode(target, v[i].code, 3, &in));
        gcn_inst_name(&in, name, sizeof name);
        assert_string_equal(name, v[i].name);
        assert_int_equal(in.bytes, v[i].bytes);
    }
}

static void names_and_lengths_equal_the_assemblers(void **state)
{
    (void)state;
    same(GCN_GFX906, common, sizeof common / sizeof *common);
    same(GCN_GFX90A, common, sizeof common / sizeof *common);
    same(GCN_GFX942, common, sizeof common / sizeof *common);
    same(GCN_GFX906, not_of_gfx942, sizeof not_of_gfx942 / sizeof *not_of_gfx942);
    same(GCN_GFX90A, not_of_gfx942, sizeof not_of_gfx942 / sizeof *not_of_gfx942);
    same(GCN_GFX90A, of_gfx90a, sizeof of_gfx90a / sizeof *of_gfx90a);
    same(GCN_GFX942, of_gfx942, sizeof of_gfx942 / sizeof *of_gfx942);
}

static void instructions_depend_on_the_target(void **state)
{
    (void)state;
    assert_int_equal(decoded(GCN_GFX906, 0x08040d04, 0).op, GCN_v_mul_legacy_f32);
    assert_int_equal(decoded(GCN_GFX90A, 0x08040d04, 0).op, GCN_v_fmac_f64);
    assert_int_equal(decoded(GCN_GFX906, 0xd3cc8000, 0x04020902).op, GCN_UNKNOWN);
    assert_int_equal(decoded(GCN_GFX906, 0xd3cc8000, 0x04020902).bytes, 8);
    assert_int_equal(decoded(GCN_GFX90A, 0xd3cc8000, 0x04020902).op, GCN_v_mfma_f32_32x32x8f16);
    assert_int_equal(decoded(GCN_GFX942, 0xd3cc8000, 0x04020902).op, GCN_v_mfma_f32_32x32x8_f16);
    assert_int_equal(decoded(GCN_GFX90A, 0xe0a40000, 0).op, GCN_buffer_invl2);
    for (size_t i = 0; i < sizeof not_of_gfx942 / sizeof *not_of_gfx942; i++) {
        const uint32_t *code = not_of_gfx942[i].code;
        assert_int_not_equal(decoded(GCN_GFX942, code[0], code[1]).op, decoded(GCN_GFX90A, code[0], code[1]).op);
    }
}

/* an instruction cut off at the end of memory isn't read */
static void a_truncated_instruction_is_reported(void **state)
{
    (void)state;
    struct gcn_inst in;
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        for (unsigned words = 0; words < 3; words++)
            assert_int_equal(gcn_decode(GCN_GFX906, common[i].code, words, &in), words * 4 >= common[i].bytes);
}

static void scalar_operands_are_decoded(void **state)
{
    (void)state;
    struct gcn_inst in = decoded(GCN_GFX906, 0x8004ff08, 0x00012345); /* s_add_u32 s4, s8, 0x12345 */
    assert_int_equal(in.sdst, 4);
    assert_int_equal(in.src[0], 8);
    assert_int_equal(in.src[1], GCN_LITERAL);
    assert_int_equal(in.literal, 0x12345);
    in = decoded(GCN_GFX906, 0xb004ff85, 0); /* s_movk_i32 s4, 0xff85 */
    assert_int_equal(in.literal, 0xffffff85);
    in = decoded(GCN_GFX906, 0xba000901, 3); /* s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3 */
    assert_int_equal(in.offset, 3);
    assert_int_equal(in.literal, 0x0901);
    in = decoded(GCN_GFX906, 0xc00a0100, 0x1c); /* s_load_dwordx4 s[4:7], s[0:1], 0x1c */
    assert_int_equal(in.sdst, 4);
    assert_int_equal(in.saddr, 0);
    assert_int_equal(in.offset, 0x1c);
    assert_int_equal(in.src[2], GCN_NO_OPERAND);
    in = decoded(GCN_GFX906, 0xc0000100, 9); /* s_load_dword s4, s[0:1], s9 */
    assert_int_equal(in.src[2], 9);
    assert_int_equal(in.offset, 0);
}

static void vector_operands_are_decoded(void **state)
{
    (void)state;
    struct gcn_inst in = decoded(GCN_GFX906, 0xd1018201, 0x28000702); /* v_add_f32_e64 v1, -v2, |s3| clamp mul:2 */
    assert_int_equal(in.dst, GCN_VGPR + 1);
    assert_int_equal(in.neg, 1);
    assert_int_equal(in.abs, 2);
    assert_int_equal(in.omod, 1);
    assert_true(in.clamp);
    in = decoded(GCN_GFX906, 0x2e020702, 0x3f000000); /* v_madmk_f32 v1, v2, 0x3f000000, v3 */
    assert_int_equal(in.src[1], GCN_LITERAL);
    assert_int_equal(in.src[2], GCN_VGPR + 3);
    in = decoded(GCN_GFX906, 0x76020602, 0); /* v_fmac_f32_e32 v1, s2, v3 */
    assert_int_equal(in.src[0], 2);
    assert_int_equal(in.src[2], GCN_VGPR + 1);
    in = decoded(GCN_GFX906, 0xd0c40004, 0x00020702); /* v_cmp_gt_i32_e64 s[4:5], .. */
    assert_int_equal(in.sdst, 4);
    assert_int_equal(in.dst, GCN_NO_OPERAND);
    in = decoded(GCN_GFX906, 0xd1e00401, 0x04120702); /* v_div_scale_f32 v1, s[4:5], .. */
    assert_int_equal(in.sdst, 4);
    assert_int_equal(in.dst, GCN_VGPR + 1);
    in = decoded(GCN_GFX906, 0x4c0206f9, 0x04031502); /* v_add_u16_sdwa .. WORD_1, PRESERVE, BYTE_3, WORD_0 */
    assert_int_equal(in.dst_sel, GCN_SEL_WORD1);
    assert_int_equal(in.dst_unused, 2);
    assert_int_equal(in.sel[0], GCN_SEL_BYTE3);
    assert_int_equal(in.sel[1], GCN_SEL_WORD0);
    in = decoded(GCN_GFX906, 0x7e0202fa, 0xaf091302); /* v_mov_b32_dpp .. row_shr:3 row_mask:0xa bound_ctrl:0 */
    assert_int_equal(in.dpp, 0x113);
    assert_int_equal(in.row_mask, 0xa);
    assert_true(in.bound_ctrl);
    in = decoded(GCN_GFX90A, 0xd3d94003, 0x18000102); /* v_accvgpr_write_b32 a3, v2 */
    assert_int_equal(in.dst, GCN_AGPR + 3);
    assert_int_equal(in.src[0], GCN_VGPR + 2);
    in = decoded(GCN_GFX90A, 0xd3d84002, 0x18000103); /* v_accvgpr_read_b32 v2, a3 */
    assert_int_equal(in.dst, GCN_VGPR + 2);
    assert_int_equal(in.src[0], GCN_AGPR + 3);
}

static void memory_operands_are_decoded(void **state)
{
    (void)state;
    struct gcn_inst in = decoded(GCN_GFX906, 0xdc5c9ff0, 0x047f0002); /* global_load_dwordx4 .. off offset:-16 */
    assert_int_equal(in.offset, -16);
    assert_int_equal(in.saddr, GCN_NO_OPERAND);
    assert_int_equal(in.dst, GCN_VGPR + 4);
    in = decoded(GCN_GFX906, 0xdd098000, 0x01040302); /* global_atomic_add v1, v2, v3, s[4:5] glc */
    assert_true(in.glc);
    assert_int_equal(in.saddr, 4);
    assert_int_equal(in.src[1], GCN_VGPR + 3);
    in = decoded(GCN_GFX906, 0xd8700903, 0x04000001); /* ds_read2st64_b32 .. offset0:3 offset1:9 */
    assert_int_equal(in.offset, 3);
    assert_int_equal(in.offset1, 9);
    in = decoded(GCN_GFX906, 0xe0741010, 0x80020402); /* buffer_store_dwordx2 v[4:5], v2, s[8:11], 0 offen offset:16 */
    assert_true(in.offen);
    assert_false(in.idxen);
    assert_int_equal(in.saddr, 8);
    assert_int_equal(in.src[1], GCN_VGPR + 4);
    assert_int_equal(in.src[2], GCN_INLINE_INT);
    in = decoded(GCN_GFX90A, 0xdc548000, 0x04ff0002); /* global_load_dwordx2 a[4:5], .. */
    assert_int_equal(in.dst, GCN_AGPR + 4);
}

/* scratch_ has a vector register or a scalar one; gfx942 may have both or none. On other targets bit 13 selects LDS. */
static void scratch_operands_are_decoded(void **state)
{
    (void)state;
    static const struct {
        uint32_t code[2];
        uint16_t vector, scalar;
    } all[] = {
        {{0xdc506008, 0x01030002}, GCN_VGPR + 2, 3},                /* v1, v2, s3 offset:8 */
        {{0xdc506008, 0x017f0002}, GCN_VGPR + 2, GCN_NO_OPERAND},   /* v1, v2, off offset:8 */
        {{0xdc504008, 0x01030000}, GCN_NO_OPERAND, 3},              /* v1, off, s3 offset:8 */
        {{0xdc504008, 0x017f0000}, GCN_NO_OPERAND, GCN_NO_OPERAND}, /* v1, off, off offset:8 */
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct gcn_inst in = decoded(GCN_GFX942, all[i].code[0], all[i].code[1]);
        assert_int_equal(in.src[0], all[i].vector);
        assert_int_equal(in.saddr, all[i].scalar);
        assert_int_equal(in.offset, 8);
        assert_false(in.lds);
    }
    struct gcn_inst in = decoded(GCN_GFX90A, 0xdc504008, 0x01030000); /* scratch_load_dword v1, off, s3 offset:8 */
    assert_int_equal(in.src[0], GCN_NO_OPERAND);
    in = decoded(GCN_GFX90A, 0xdc504008, 0x017f0002); /* scratch_load_dword v1, v2, off offset:8 */
    assert_int_equal(in.src[0], GCN_VGPR + 2);
    in = decoded(GCN_GFX90A, 0xdc50a000, 0x007f0002); /* global_load_dword .. lds */
    assert_true(in.lds);
    in = decoded(GCN_GFX942, 0xdf090000, 0x01000402); /* flat_atomic_add v1, v[2:3], v4 sc0 sc1 */
    assert_true(in.glc);
    in = decoded(GCN_GFX942, 0xdf080000, 0x01000402); /* .. sc1 */
    assert_false(in.glc);
}

/* with any words, the decoder reads none outside the memory and returns a valid length */
static void random_words_are_decoded_within_bounds(void **state)
{
    (void)state;
    uint32_t x = 12345;
    for (unsigned i = 0; i < 300000; i++) {
        uint32_t code[3];
        for (unsigned k = 0; k < 3; k++)
            code[k] = x = x * 1664525u + 1013904223u;
        code[0] |= i & 1 ? 0xc0000000 : 0;
        struct gcn_inst in;
        char name[64];
        assert_true(gcn_decode((enum gcn_target)(i / 2 % 3), code, 3, &in));
        assert_true(in.bytes == 4 || in.bytes == 8);
        assert_true(in.op < GCN_OPS);
        gcn_inst_name(&in, name, sizeof name);
        assert_true(strlen(name) > 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_lengths_equal_the_assemblers),
        cmocka_unit_test(instructions_depend_on_the_target),
        cmocka_unit_test(a_truncated_instruction_is_reported),
        cmocka_unit_test(scalar_operands_are_decoded),
        cmocka_unit_test(vector_operands_are_decoded),
        cmocka_unit_test(memory_operands_are_decoded),
        cmocka_unit_test(scratch_operands_are_decoded),
        cmocka_unit_test(random_words_are_decoded_within_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
