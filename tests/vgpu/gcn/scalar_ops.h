/*
 * scalar_ops.h - what the scalar instructions compute: the result d from a and b, and the new scc.
 *
 * S32(name, signed or not, result, scc), S64 likewise with 64 bits; `old` is the destination's old value. KEEP leaves
 * scc unchanged. CMP32 and CMP64 are comparisons, K32 instructions with a built-in constant.
 */
#ifndef VGPU_GCN_SCALAR_OPS_H
#define VGPU_GCN_SCALAR_OPS_H
/* clang-format off */

#define KEEP w->scc
#define NONZERO (d != 0)

#define GCN_SCALAR_32 \
    S32(s_add_u32, u, a + b, d < a) \
    S32(s_sub_u32, u, a - b, a < b) \
    S32(s_add_i32, u, a + b, (~(a ^ b) & (a ^ d)) >> 31) \
    S32(s_sub_i32, u, a - b, ((a ^ b) & (a ^ d)) >> 31) \
    S32(s_addc_u32, u, a + b + w->scc, (uint64_t)a + b + w->scc > UINT32_MAX) \
    S32(s_subb_u32, u, a - b - w->scc, (uint64_t)b + w->scc > a) \
    S32(s_min_i32, i, a < b ? a : b, a < b) \
    S32(s_min_u32, u, a < b ? a : b, a < b) \
    S32(s_max_i32, i, a > b ? a : b, a > b) \
    S32(s_max_u32, u, a > b ? a : b, a > b) \
    S32(s_cselect_b32, u, w->scc ? a : b, KEEP) \
    S32(s_and_b32, u, a & b, NONZERO) \
    S32(s_or_b32, u, a | b, NONZERO) \
    S32(s_xor_b32, u, a ^ b, NONZERO) \
    S32(s_andn2_b32, u, a & ~b, NONZERO) \
    S32(s_orn2_b32, u, a | ~b, NONZERO) \
    S32(s_nand_b32, u, ~(a & b), NONZERO) \
    S32(s_nor_b32, u, ~(a | b), NONZERO) \
    S32(s_xnor_b32, u, ~(a ^ b), NONZERO) \
    S32(s_lshl_b32, u, a << (b & 31), NONZERO) \
    S32(s_lshr_b32, u, a >> (b & 31), NONZERO) \
    S32(s_ashr_i32, i, a >> (b & 31), NONZERO) \
    S32(s_bfm_b32, u, ((1u << (a & 31)) - 1) << (b & 31), KEEP) \
    S32(s_mul_i32, u, a * b, KEEP) \
    S32(s_bfe_u32, u, (uint32_t)gcn_field(a, b & 31, b >> 16 & 127, 32), NONZERO) \
    S32(s_bfe_i32, u, (uint32_t)gcn_signed_field(a, b & 31, b >> 16 & 127, 32), NONZERO) \
    S32(s_absdiff_i32, i, (int32_t)(a > b ? (uint32_t)a - (uint32_t)b : (uint32_t)b - (uint32_t)a), NONZERO) \
    S32(s_mul_hi_u32, u, (uint32_t)((uint64_t)a * b >> 32), KEEP) \
    S32(s_mul_hi_i32, i, (int32_t)((int64_t)a * b >> 32), KEEP) \
    S32(s_lshl1_add_u32, u, (a << 1) + b, ((uint64_t)a << 1) + b > UINT32_MAX) \
    S32(s_lshl2_add_u32, u, (a << 2) + b, ((uint64_t)a << 2) + b > UINT32_MAX) \
    S32(s_lshl3_add_u32, u, (a << 3) + b, ((uint64_t)a << 3) + b > UINT32_MAX) \
    S32(s_lshl4_add_u32, u, (a << 4) + b, ((uint64_t)a << 4) + b > UINT32_MAX) \
    S32(s_pack_ll_b32_b16, u, (a & 0xffff) | b << 16, KEEP) \
    S32(s_pack_lh_b32_b16, u, (a & 0xffff) | (b & 0xffff0000), KEEP) \
    S32(s_pack_hh_b32_b16, u, a >> 16 | (b & 0xffff0000), KEEP) \
    S32(s_mov_b32, u, a, KEEP) \
    S32(s_cmov_b32, u, w->scc ? a : old, KEEP) \
    S32(s_not_b32, u, ~a, NONZERO) \
    S32(s_brev_b32, u, gcn_reverse(a), KEEP) \
    S32(s_bcnt0_i32_b32, u, 32 - (uint32_t)__builtin_popcount(a), NONZERO) \
    S32(s_bcnt1_i32_b32, u, (uint32_t)__builtin_popcount(a), NONZERO) \
    S32(s_ff0_i32_b32, u, ~a ? (uint32_t)__builtin_ctz(~a) : UINT32_MAX, KEEP) \
    S32(s_ff1_i32_b32, u, a ? (uint32_t)__builtin_ctz(a) : UINT32_MAX, KEEP) \
    S32(s_flbit_i32_b32, u, a ? (uint32_t)__builtin_clz(a) : UINT32_MAX, KEEP) \
    S32(s_flbit_i32, u, gcn_sign_bits(a), KEEP) \
    S32(s_sext_i32_i8, i, (int8_t)a, KEEP) \
    S32(s_sext_i32_i16, i, (int16_t)a, KEEP) \
    S32(s_bitset0_b32, u, old & ~(1u << (a & 31)), KEEP) \
    S32(s_bitset1_b32, u, old | 1u << (a & 31), KEEP) \
    S32(s_abs_i32, i, a < 0 ? (int32_t)(0 - (uint32_t)a) : a, NONZERO)

/* The second operand b of some is a 32-bit number. */
#define GCN_SCALAR_64 \
    S64(s_cselect_b64, u, w->scc ? a : b, KEEP) \
    S64(s_and_b64, u, a & b, NONZERO) \
    S64(s_or_b64, u, a | b, NONZERO) \
    S64(s_xor_b64, u, a ^ b, NONZERO) \
    S64(s_andn2_b64, u, a & ~b, NONZERO) \
    S64(s_orn2_b64, u, a | ~b, NONZERO) \
    S64(s_nand_b64, u, ~(a & b), NONZERO) \
    S64(s_nor_b64, u, ~(a | b), NONZERO) \
    S64(s_xnor_b64, u, ~(a ^ b), NONZERO) \
    S64B32(s_lshl_b64, u, a << (b & 63), NONZERO) \
    S64B32(s_lshr_b64, u, a >> (b & 63), NONZERO) \
    S64B32(s_ashr_i64, i, a >> (b & 63), NONZERO) \
    S64B32(s_bfe_u64, u, gcn_field(a, b & 63, b >> 16 & 127, 64), NONZERO) \
    S64B32(s_bfe_i64, u, (uint64_t)gcn_signed_field(a, b & 63, b >> 16 & 127, 64), NONZERO) \
    S64(s_mov_b64, u, a, KEEP) \
    S64(s_cmov_b64, u, w->scc ? a : old, KEEP) \
    S64(s_not_b64, u, ~a, NONZERO) \
    S64(s_wqm_b64, u, gcn_whole_quads(a), NONZERO) \
    S64(s_brev_b64, u, (uint64_t)gcn_reverse((uint32_t)a) << 32 | gcn_reverse((uint32_t)(a >> 32)), KEEP)

/* 64 bits in, 32 out */
#define GCN_SCALAR_64_TO_32 \
    S6432(s_bcnt0_i32_b64, 64 - (uint32_t)__builtin_popcountll(a), NONZERO) \
    S6432(s_bcnt1_i32_b64, (uint32_t)__builtin_popcountll(a), NONZERO) \
    S6432(s_ff0_i32_b64, ~a ? (uint32_t)__builtin_ctzll(~a) : UINT32_MAX, KEEP) \
    S6432(s_ff1_i32_b64, a ? (uint32_t)__builtin_ctzll(a) : UINT32_MAX, KEEP) \
    S6432(s_flbit_i32_b64, a ? (uint32_t)__builtin_clzll(a) : UINT32_MAX, KEEP) \
    S6432(s_flbit_i32_i64, (int64_t)a == 0 || ~a == 0 ? UINT32_MAX : (uint32_t)__builtin_clzll((int64_t)a < 0 ? ~a : a), KEEP)

/* d = the new exec; the destination gets the old one. */
#define GCN_SCALAR_SAVEEXEC \
    SAVE(s_and_saveexec_b64, a & e) \
    SAVE(s_or_saveexec_b64, a | e) \
    SAVE(s_xor_saveexec_b64, a ^ e) \
    SAVE(s_andn2_saveexec_b64, a & ~e) \
    SAVE(s_orn2_saveexec_b64, a | ~e) \
    SAVE(s_nand_saveexec_b64, ~(a & e)) \
    SAVE(s_nor_saveexec_b64, ~(a | e)) \
    SAVE(s_xnor_saveexec_b64, ~(a ^ e)) \
    SAVE(s_andn1_saveexec_b64, ~a & e) \
    SAVE(s_orn1_saveexec_b64, ~a | e)

#define GCN_SCALAR_COMPARE \
    CMP32(s_cmp_eq_i32, i, a == b) CMP32(s_cmp_lg_i32, i, a != b) CMP32(s_cmp_gt_i32, i, a > b) \
    CMP32(s_cmp_ge_i32, i, a >= b) CMP32(s_cmp_lt_i32, i, a < b) CMP32(s_cmp_le_i32, i, a <= b) \
    CMP32(s_cmp_eq_u32, u, a == b) CMP32(s_cmp_lg_u32, u, a != b) CMP32(s_cmp_gt_u32, u, a > b) \
    CMP32(s_cmp_ge_u32, u, a >= b) CMP32(s_cmp_lt_u32, u, a < b) CMP32(s_cmp_le_u32, u, a <= b) \
    CMP32(s_bitcmp0_b32, u, !(a >> (b & 31) & 1)) CMP32(s_bitcmp1_b32, u, a >> (b & 31) & 1) \
    CMP64(s_bitcmp0_b64, !(a >> (b & 63) & 1)) CMP64(s_bitcmp1_b64, a >> (b & 63) & 1) \
    CMP64(s_cmp_eq_u64, a == b) CMP64(s_cmp_lg_u64, a != b)

#define GCN_SCALAR_CONSTANT \
    K32(s_cmpk_eq_i32, i, int16_t, a == k) K32(s_cmpk_lg_i32, i, int16_t, a != k) \
    K32(s_cmpk_gt_i32, i, int16_t, a > k) K32(s_cmpk_ge_i32, i, int16_t, a >= k) \
    K32(s_cmpk_lt_i32, i, int16_t, a < k) K32(s_cmpk_le_i32, i, int16_t, a <= k) \
    K32(s_cmpk_eq_u32, u, uint16_t, a == k) K32(s_cmpk_lg_u32, u, uint16_t, a != k) \
    K32(s_cmpk_gt_u32, u, uint16_t, a > k) K32(s_cmpk_ge_u32, u, uint16_t, a >= k) \
    K32(s_cmpk_lt_u32, u, uint16_t, a < k) K32(s_cmpk_le_u32, u, uint16_t, a <= k)

/* clang-format on */
#endif
