/*
 * vector_ops.h - what the vector instructions compute, by lane: V1(name, type of the result, type of a, result), V2
 * with b, V3 with c. Types: u32 i32 f32 u16 i16 f16 u64 i64 f64. f16 is a float here and is rounded when stored. f16k,
 * u16k and i16k keep the other half of the register. vector_math.h has the functions named here.
 */
#ifndef VGPU_GCN_VECTOR_OPS_H
#define VGPU_GCN_VECTOR_OPS_H
/* clang-format off */

#define GCN_VECTOR_ONE \
    V1(v_mov_b32, u32, u32, a) \
    V1(v_mov_b64, u64, u64, a) \
    V1(v_accvgpr_mov_b32, u32, u32, a) \
    V1(v_cvt_i32_f64, i32, f64, to_i32(a)) \
    V1(v_cvt_f64_i32, f64, i32, a) \
    V1(v_cvt_f32_i32, f32, i32, (float)a) \
    V1(v_cvt_f32_u32, f32, u32, (float)a) \
    V1(v_cvt_u32_f32, u32, f32, to_u32(a)) \
    V1(v_cvt_i32_f32, i32, f32, to_i32(a)) \
    V1(v_cvt_f16_f32, f16, f32, a) \
    V1(v_cvt_f32_f16, f32, f16, a) \
    V1(v_cvt_rpi_i32_f32, i32, f32, to_i32(floor((double)a + 0.5))) \
    V1(v_cvt_flr_i32_f32, i32, f32, to_i32(floorf(a))) \
    V1(v_cvt_off_f32_i4, f32, u32, (float)((int32_t)(a << 28) >> 28) * 0.0625f) \
    V1(v_cvt_f32_f64, f32, f64, (float)a) \
    V1(v_cvt_f64_f32, f64, f32, a) \
    V1(v_cvt_f32_ubyte0, f32, u32, (float)(a & 0xff)) \
    V1(v_cvt_f32_ubyte1, f32, u32, (float)(a >> 8 & 0xff)) \
    V1(v_cvt_f32_ubyte2, f32, u32, (float)(a >> 16 & 0xff)) \
    V1(v_cvt_f32_ubyte3, f32, u32, (float)(a >> 24)) \
    V1(v_cvt_u32_f64, u32, f64, to_u32(a)) \
    V1(v_cvt_f64_u32, f64, u32, a) \
    V1(v_trunc_f64, f64, f64, trunc(a)) \
    V1(v_ceil_f64, f64, f64, ceil(a)) \
    V1(v_rndne_f64, f64, f64, nearbyint(a)) \
    V1(v_floor_f64, f64, f64, floor(a)) \
    V1(v_fract_f64, f64, f64, isinf(a) ? (double)NAN : fmin(a - floor(a), 0x1.fffffffffffffp-1)) \
    V1(v_fract_f32, f32, f32, isinf(a) ? NAN : fminf(a - floorf(a), 0x1.fffffep-1f)) \
    V1(v_trunc_f32, f32, f32, truncf(a)) \
    V1(v_ceil_f32, f32, f32, ceilf(a)) \
    V1(v_rndne_f32, f32, f32, nearbyintf(a)) \
    V1(v_floor_f32, f32, f32, floorf(a)) \
    V1(v_exp_f32, f32, f32, exp2f(a)) \
    V1(v_log_f32, f32, f32, log2f(a)) \
    V1(v_exp_legacy_f32, f32, f32, exp2f(a)) \
    V1(v_log_legacy_f32, f32, f32, log2f(a)) \
    V1(v_rcp_f32, f32, f32, 1.0f / a) \
    V1(v_rcp_iflag_f32, f32, f32, 1.0f / a) \
    V1(v_rsq_f32, f32, f32, (float)(1.0 / sqrt((double)a))) \
    V1(v_rcp_f64, f64, f64, 1.0 / a) \
    V1(v_rsq_f64, f64, f64, 1.0 / sqrt(a)) \
    V1(v_sqrt_f32, f32, f32, sqrtf(a)) \
    V1(v_sqrt_f64, f64, f64, sqrt(a)) \
    V1(v_sin_f32, f32, f32, sine_of_turns(a)) \
    V1(v_cos_f32, f32, f32, cosine_of_turns(a)) \
    V1(v_not_b32, u32, u32, ~a) \
    V1(v_bfrev_b32, u32, u32, reverse(a)) \
    V1(v_ffbh_u32, u32, u32, a ? (uint32_t)__builtin_clz(a) : UINT32_MAX) \
    V1(v_ffbl_b32, u32, u32, a ? (uint32_t)__builtin_ctz(a) : UINT32_MAX) \
    V1(v_ffbh_i32, u32, u32, a == 0 || ~a == 0 ? UINT32_MAX : (uint32_t)__builtin_clz((int32_t)a < 0 ? ~a : a)) \
    V1(v_frexp_exp_i32_f64, i32, f64, exponent_of(a)) \
    V1(v_frexp_mant_f64, f64, f64, mantissa_of(a)) \
    V1(v_frexp_exp_i32_f32, i32, f32, exponent_of((double)a)) \
    V1(v_frexp_mant_f32, f32, f32, (float)mantissa_of((double)a)) \
    V1(v_cvt_f16_u16, f16, u16, (float)a) \
    V1(v_cvt_f16_i16, f16, i16, (float)a) \
    V1(v_cvt_u16_f16, u16, f16, a > 0 ? (a < 65535 ? (uint32_t)a : 65535) : 0) \
    V1(v_cvt_i16_f16, i16, f16, a > -32768 ? (a < 32767 ? (int32_t)a : 32767) : isnan(a) ? 0 : -32768) \
    V1(v_rcp_f16, f16, f16, 1.0f / a) \
    V1(v_sqrt_f16, f16, f16, sqrtf(a)) \
    V1(v_rsq_f16, f16, f16, 1.0f / sqrtf(a)) \
    V1(v_log_f16, f16, f16, log2f(a)) \
    V1(v_exp_f16, f16, f16, exp2f(a)) \
    V1(v_frexp_mant_f16, f16, f16, (float)mantissa_of((double)a)) \
    V1(v_frexp_exp_i16_f16, i16, f16, exponent_of((double)a)) \
    V1(v_floor_f16, f16, f16, floorf(a)) \
    V1(v_ceil_f16, f16, f16, ceilf(a)) \
    V1(v_trunc_f16, f16, f16, truncf(a)) \
    V1(v_rndne_f16, f16, f16, nearbyintf(a)) \
    V1(v_fract_f16, f16, f16, isinf(a) ? NAN : fminf(a - floorf(a), 0x1.ffcp-1f)) \
    V1(v_sin_f16, f16, f16, sine_of_turns(a)) \
    V1(v_cos_f16, f16, f16, cosine_of_turns(a)) \
    V1(v_sat_pk_u8_i16, u16, u32, unsigned8((int16_t)a) | unsigned8((int32_t)a >> 16) << 8) \
    V1(v_cvt_f32_fp8, f32, u32, gcn_small_float(GCN_FP8, a)) \
    V1(v_cvt_f32_bf8, f32, u32, gcn_small_float(GCN_BF8, a)) \
    V1(v_cvt_pk_f32_fp8, u64, u32, small_pair(GCN_FP8, a)) \
    V1(v_cvt_pk_f32_bf8, u64, u32, small_pair(GCN_BF8, a))

#define GCN_VECTOR_TWO \
    V2(v_add_f32, f32, f32, f32, a + b) \
    V2(v_sub_f32, f32, f32, f32, a - b) \
    V2(v_subrev_f32, f32, f32, f32, b - a) \
    V2(v_mul_legacy_f32, f32, f32, f32, a == 0 || b == 0 ? 0 : a * b) \
    V2(v_mul_f32, f32, f32, f32, a * b) \
    V2(v_mul_i32_i24, i32, i32, i32, (int32_t)((uint32_t)low24(a) * (uint32_t)low24(b))) \
    V2(v_mul_hi_i32_i24, i32, i32, i32, (int32_t)((int64_t)low24(a) * low24(b) >> 32)) \
    V2(v_mul_u32_u24, u32, u32, u32, (a & 0xffffff) * (b & 0xffffff)) \
    V2(v_mul_hi_u32_u24, u32, u32, u32, (uint32_t)((uint64_t)(a & 0xffffff) * (b & 0xffffff) >> 32)) \
    V2(v_min_f32, f32, f32, f32, lesser(a, b)) \
    V2(v_max_f32, f32, f32, f32, greater(a, b)) \
    V2(v_min_i32, i32, i32, i32, a < b ? a : b) \
    V2(v_max_i32, i32, i32, i32, a > b ? a : b) \
    V2(v_min_u32, u32, u32, u32, a < b ? a : b) \
    V2(v_max_u32, u32, u32, u32, a > b ? a : b) \
    V2(v_lshrrev_b32, u32, u32, u32, b >> (a & 31)) \
    V2(v_ashrrev_i32, i32, u32, i32, b >> (a & 31)) \
    V2(v_lshlrev_b32, u32, u32, u32, b << (a & 31)) \
    V2(v_and_b32, u32, u32, u32, a & b) \
    V2(v_or_b32, u32, u32, u32, a | b) \
    V2(v_xor_b32, u32, u32, u32, a ^ b) \
    V2(v_xnor_b32, u32, u32, u32, ~(a ^ b)) \
    V2(v_add_f16, f16, f16, f16, a + b) \
    V2(v_sub_f16, f16, f16, f16, a - b) \
    V2(v_subrev_f16, f16, f16, f16, b - a) \
    V2(v_mul_f16, f16, f16, f16, a * b) \
    V2(v_add_u16, u16, u16, u16, in->clamp && a + b > 65535 ? 65535 : a + b) \
    V2(v_sub_u16, u16, u16, u16, in->clamp && a < b ? 0 : a - b) \
    V2(v_subrev_u16, u16, u16, u16, in->clamp && b < a ? 0 : b - a) \
    V2(v_mul_lo_u16, u16, u16, u16, a * b) \
    V2(v_lshlrev_b16, u16, u16, u16, b << (a & 15)) \
    V2(v_lshrrev_b16, u16, u16, u16, b >> (a & 15)) \
    V2(v_ashrrev_i16, i16, u16, i16, b >> (a & 15)) \
    V2(v_max_f16, f16, f16, f16, greater(a, b)) \
    V2(v_min_f16, f16, f16, f16, lesser(a, b)) \
    V2(v_max_u16, u16, u16, u16, a > b ? a : b) \
    V2(v_max_i16, i16, i16, i16, a > b ? a : b) \
    V2(v_min_u16, u16, u16, u16, a < b ? a : b) \
    V2(v_min_i16, i16, i16, i16, a < b ? a : b) \
    V2(v_ldexp_f16, f16, f16, i16, ldexpf(a, b)) \
    V2(v_add_u32, u32, u32, u32, in->clamp && a + b < a ? UINT32_MAX : a + b) \
    V2(v_sub_u32, u32, u32, u32, in->clamp && a < b ? 0 : a - b) \
    V2(v_subrev_u32, u32, u32, u32, in->clamp && b < a ? 0 : b - a) \
    V2(v_add_f64, f64, f64, f64, a + b) \
    V2(v_mul_f64, f64, f64, f64, a * b) \
    V2(v_min_f64, f64, f64, f64, lesser64(a, b)) \
    V2(v_max_f64, f64, f64, f64, greater64(a, b)) \
    V2(v_ldexp_f64, f64, f64, i32, ldexp(a, b)) \
    V2(v_mul_lo_u32, u32, u32, u32, a * b) \
    V2(v_mul_hi_u32, u32, u32, u32, (uint32_t)((uint64_t)a * b >> 32)) \
    V2(v_mul_hi_i32, i32, i32, i32, (int32_t)((int64_t)a * b >> 32)) \
    V2(v_ldexp_f32, f32, f32, i32, ldexpf(a, b)) \
    V2(v_bcnt_u32_b32, u32, u32, u32, (uint32_t)__builtin_popcount(a) + b) \
    V2(v_mbcnt_lo_u32_b32, u32, u32, u32, (uint32_t)__builtin_popcount(a & (l < 32 ? (1u << l) - 1 : UINT32_MAX)) + b) \
    V2(v_mbcnt_hi_u32_b32, u32, u32, u32, (uint32_t)__builtin_popcount(l < 32 ? 0 : a & ((1u << (l - 32)) - 1)) + b) \
    V2(v_lshlrev_b64, u64, u32, u64, b << (a & 63)) \
    V2(v_lshrrev_b64, u64, u32, u64, b >> (a & 63)) \
    V2(v_ashrrev_i64, i64, u32, i64, b >> (a & 63)) \
    V2(v_bfm_b32, u32, u32, u32, ((1u << (a & 31)) - 1) << (b & 31)) \
    V2(v_cvt_pkrtz_f16_f32, u32, f32, f32, gcn_float_half_towards_zero(a) | gcn_float_half_towards_zero(b) << 16) \
    V2(v_cvt_pknorm_i16_f32, u32, f32, f32, (norm16(a, -32767) & 0xffff) | norm16(b, -32767) << 16) \
    V2(v_cvt_pknorm_u16_f32, u32, f32, f32, (norm16(a, 0) & 0xffff) | norm16(b, 0) << 16) \
    V2(v_cvt_pk_u16_u32, u32, u32, u32, (a < 65535 ? a : 65535) | (b < 65535 ? b : 65535) << 16) \
    V2(v_cvt_pk_i16_i32, u32, i32, i32, (signed16(a) & 0xffff) | signed16(b) << 16) \
    V2(v_add_i32, i32, i32, i32, add_i32(a, b, in->clamp)) \
    V2(v_sub_i32, i32, i32, i32, sub_i32(a, b, in->clamp)) \
    V2(v_add_i16, i16, i16, i16, in->clamp ? (int16_t)signed16(a + b) : a + b) \
    V2(v_sub_i16, i16, i16, i16, in->clamp ? (int16_t)signed16(a - b) : a - b) \
    V2(v_pack_b32_f16, u32, f16, f16, gcn_float_half(a) | gcn_float_half(b) << 16) \
    V2(v_cvt_pk_fp8_f32, u16k, f32, f32, TO_FP8(a) | TO_FP8(b) << 8) \
    V2(v_cvt_pk_bf8_f32, u16k, f32, f32, TO_BF8(a) | TO_BF8(b) << 8) \
    V2(v_trig_preop_f64, f64, f64, u32, trig_preop(a, b))

#define GCN_VECTOR_THREE \
    V3(v_mad_legacy_f32, f32, f32, f32, f32, (a == 0 || b == 0 ? 0 : a * b) + c) \
    V3(v_mad_f32, f32, f32, f32, f32, a * b + c) \
    V3(v_mad_i32_i24, i32, i32, i32, i32, (int32_t)((uint32_t)low24(a) * (uint32_t)low24(b) + (uint32_t)c)) \
    V3(v_mad_u32_u24, u32, u32, u32, u32, (a & 0xffffff) * (b & 0xffffff) + c) \
    V3(v_bfe_u32, u32, u32, u32, u32, a >> (b & 31) & ((1u << (c & 31)) - 1)) \
    V3(v_bfe_i32, i32, u32, u32, u32, signed_field(a, b & 31, c & 31)) \
    V3(v_bfi_b32, u32, u32, u32, u32, (a & b) | (~a & c)) \
    V3(v_fma_f32, f32, f32, f32, f32, fmaf(a, b, c)) \
    V3(v_fma_f64, f64, f64, f64, f64, fma(a, b, c)) \
    V3(v_lerp_u8, u32, u32, u32, u32, lerp(a, b, c)) \
    V3(v_alignbit_b32, u32, u32, u32, u32, (uint32_t)(((uint64_t)a << 32 | b) >> (c & 31))) \
    V3(v_alignbyte_b32, u32, u32, u32, u32, (uint32_t)(((uint64_t)a << 32 | b) >> (c & 3) * 8)) \
    V3(v_min3_f32, f32, f32, f32, f32, lesser(lesser(a, b), c)) \
    V3(v_min3_i32, i32, i32, i32, i32, MIN(MIN(a, b), c)) \
    V3(v_min3_u32, u32, u32, u32, u32, MIN(MIN(a, b), c)) \
    V3(v_max3_f32, f32, f32, f32, f32, greater(greater(a, b), c)) \
    V3(v_max3_i32, i32, i32, i32, i32, MAX(MAX(a, b), c)) \
    V3(v_max3_u32, u32, u32, u32, u32, MAX(MAX(a, b), c)) \
    V3(v_med3_f32, f32, f32, f32, f32, middle(a, b, c)) \
    V3(v_med3_i32, i32, i32, i32, i32, MAX(MIN(a, b), MIN(MAX(a, b), c))) \
    V3(v_med3_u32, u32, u32, u32, u32, MAX(MIN(a, b), MIN(MAX(a, b), c))) \
    V3(v_sad_u8, u32, u32, u32, u32, differences8(a, b) + c) \
    V3(v_sad_hi_u8, u32, u32, u32, u32, (differences8(a, b) << 16) + c) \
    V3(v_sad_u16, u32, u32, u32, u32, apart(a & 0xffff, b & 0xffff) + apart(a >> 16, b >> 16) + c) \
    V3(v_sad_u32, u32, u32, u32, u32, apart(a, b) + c) \
    V3(v_cvt_pk_u8_f32, u32, f32, u32, u32, (c & ~(255u << (b & 3) * 8)) | unsigned8(to_i32(nearbyintf(a))) << (b & 3) * 8) \
    V3(v_div_fixup_f32, f32, f32, f32, f32, (float)fixup(a, b, c)) \
    V3(v_div_fixup_f64, f64, f64, f64, f64, fixup(a, b, c)) \
    V3(v_div_fixup_f16, f16k, f16, f16, f16, (float)fixup(a, b, c)) \
    V3(v_div_fixup_legacy_f16, f16, f16, f16, f16, (float)fixup(a, b, c)) \
    V3(v_perm_b32, u32, u32, u32, u32, permuted(a, b, c)) \
    V3(v_mad_u32_u16, u32, u16, u16, u32, a * b + c) \
    V3(v_mad_i32_i16, i32, i16, i16, i32, (int32_t)((uint32_t)(a * b) + (uint32_t)c)) \
    V3(v_xad_u32, u32, u32, u32, u32, (a ^ b) + c) \
    V3(v_min3_f16, f16, f16, f16, f16, lesser(lesser(a, b), c)) \
    V3(v_min3_i16, i16, i16, i16, i16, MIN(MIN(a, b), c)) \
    V3(v_min3_u16, u16, u16, u16, u16, MIN(MIN(a, b), c)) \
    V3(v_max3_f16, f16, f16, f16, f16, greater(greater(a, b), c)) \
    V3(v_max3_i16, i16, i16, i16, i16, MAX(MAX(a, b), c)) \
    V3(v_max3_u16, u16, u16, u16, u16, MAX(MAX(a, b), c)) \
    V3(v_med3_f16, f16, f16, f16, f16, middle(a, b, c)) \
    V3(v_med3_i16, i16, i16, i16, i16, MAX(MIN(a, b), MIN(MAX(a, b), c))) \
    V3(v_med3_u16, u16, u16, u16, u16, MAX(MIN(a, b), MIN(MAX(a, b), c))) \
    V3(v_lshl_add_u32, u32, u32, u32, u32, (a << (b & 31)) + c) \
    V3(v_lshl_add_u64, u64, u64, u32, u64, (a << (b & 7)) + c) \
    V3(v_add_lshl_u32, u32, u32, u32, u32, (a + b) << (c & 31)) \
    V3(v_add3_u32, u32, u32, u32, u32, a + b + c) \
    V3(v_lshl_or_b32, u32, u32, u32, u32, a << (b & 31) | c) \
    V3(v_and_or_b32, u32, u32, u32, u32, (a & b) | c) \
    V3(v_or3_b32, u32, u32, u32, u32, a | b | c) \
    V3(v_mad_f16, f16k, f16, f16, f16, fma16(a, b, c)) \
    V3(v_fma_f16, f16k, f16, f16, f16, fma16(a, b, c)) \
    V3(v_mad_u16, u16k, u16, u16, u16, a * b + c) \
    V3(v_mad_i16, i16k, i16, i16, i16, a * b + c) \
    V3(v_mad_legacy_f16, f16, f16, f16, f16, fma16(a, b, c)) \
    V3(v_fma_legacy_f16, f16, f16, f16, f16, fma16(a, b, c)) \
    V3(v_mad_legacy_u16, u16, u16, u16, u16, a * b + c) \
    V3(v_mad_legacy_i16, i16, i16, i16, i16, a * b + c) \
    V3(v_madmk_f32, f32, f32, f32, f32, a * b + c) \
    V3(v_madak_f32, f32, f32, f32, f32, a * b + c) \
    V3(v_madmk_f16, f16, f16, f16, f16, fma16(a, b, c)) \
    V3(v_madak_f16, f16, f16, f16, f16, fma16(a, b, c)) \
    V3(v_fmamk_f32, f32, f32, f32, f32, fmaf(a, b, c)) \
    V3(v_fmaak_f32, f32, f32, f32, f32, fmaf(a, b, c))

/* c is the destination's old value. */
#define GCN_VECTOR_ACCUMULATE \
    VA(v_mac_f32, f32, f32, f32, f32, a * b + c) \
    VA(v_fmac_f32, f32, f32, f32, f32, fmaf(a, b, c)) \
    VA(v_fmac_f64, f64, f64, f64, f64, fma(a, b, c)) \
    VA(v_mac_f16, f16, f16, f16, f16, fma16(a, b, c)) \
    VA(v_dot2c_f32_f16, f32, u32, u32, f32, dot2_f16(a, b, c)) \
    VA(v_dot2c_i32_i16, u32, u32, u32, u32, c + dot_signed(a, b, 16)) \
    VA(v_dot4c_i32_i8, u32, u32, u32, u32, c + dot_signed(a, b, 8)) \
    VA(v_dot8c_i32_i4, u32, u32, u32, u32, c + dot_signed(a, b, 4)) \
    VA(v_pk_fmac_f16, u32, u32, u32, u32, pk_fma_f16(a, b, c)) \
    VA(v_cvt_sr_fp8_f32, u32, f32, u32, u32, with_byte(c, in->op_sel >> 2, FP8_BY_CHANCE(a, b))) \
    VA(v_cvt_sr_bf8_f32, u32, f32, u32, u32, with_byte(c, in->op_sel >> 2, BF8_BY_CHANCE(a, b)))

/* clang-format on */
#endif
