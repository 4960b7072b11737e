/*
 * isa_vector.h - the vector instructions. The long form (VOP3) adds 0 (VOPC), 256 (VOP2) or 320 (VOP1) to the number of
 * the other formats.
 *
 * X(format, number, name): all targets; X6: gfx906 only, XA: gfx90a, X2: gfx942; X6A and XA2: both. isa.h includes this
 * table.
 */
#ifndef VGPU_GCN_ISA_VECTOR_H
#define VGPU_GCN_ISA_VECTOR_H
/* clang-format off */

#define GCN_VOP2_OPS \
    X(VOP2, 0, v_cndmask_b32) X(VOP2, 1, v_add_f32) X(VOP2, 2, v_sub_f32) X(VOP2, 3, v_subrev_f32) \
    X6(VOP2, 4, v_mul_legacy_f32) XA2(VOP2, 4, v_fmac_f64) X(VOP2, 5, v_mul_f32) X(VOP2, 6, v_mul_i32_i24) \
    X(VOP2, 7, v_mul_hi_i32_i24) X(VOP2, 8, v_mul_u32_u24) X(VOP2, 9, v_mul_hi_u32_u24) X(VOP2, 10, v_min_f32) \
    X(VOP2, 11, v_max_f32) X(VOP2, 12, v_min_i32) X(VOP2, 13, v_max_i32) X(VOP2, 14, v_min_u32) \
    X(VOP2, 15, v_max_u32) X(VOP2, 16, v_lshrrev_b32) X(VOP2, 17, v_ashrrev_i32) X(VOP2, 18, v_lshlrev_b32) \
    X(VOP2, 19, v_and_b32) X(VOP2, 20, v_or_b32) X(VOP2, 21, v_xor_b32) X6A(VOP2, 22, v_mac_f32) \
    X6A(VOP2, 23, v_madmk_f32) X6A(VOP2, 24, v_madak_f32) X2(VOP2, 23, v_fmamk_f32) X2(VOP2, 24, v_fmaak_f32) \
    X(VOP2, 25, v_add_co_u32) X(VOP2, 26, v_sub_co_u32) X(VOP2, 27, v_subrev_co_u32) X(VOP2, 28, v_addc_co_u32) \
    X(VOP2, 29, v_subb_co_u32) X(VOP2, 30, v_subbrev_co_u32) X(VOP2, 31, v_add_f16) X(VOP2, 32, v_sub_f16) \
    X(VOP2, 33, v_subrev_f16) X(VOP2, 34, v_mul_f16) X(VOP2, 35, v_mac_f16) X(VOP2, 36, v_madmk_f16) \
    X(VOP2, 37, v_madak_f16) X(VOP2, 38, v_add_u16) X(VOP2, 39, v_sub_u16) X(VOP2, 40, v_subrev_u16) \
    X(VOP2, 41, v_mul_lo_u16) X(VOP2, 42, v_lshlrev_b16) X(VOP2, 43, v_lshrrev_b16) X(VOP2, 44, v_ashrrev_i16) \
    X(VOP2, 45, v_max_f16) X(VOP2, 46, v_min_f16) X(VOP2, 47, v_max_u16) X(VOP2, 48, v_max_i16) \
    X(VOP2, 49, v_min_u16) X(VOP2, 50, v_min_i16) X(VOP2, 51, v_ldexp_f16) X(VOP2, 52, v_add_u32) \
    X(VOP2, 53, v_sub_u32) X(VOP2, 54, v_subrev_u32) XA2(VOP2, 55, v_dot2c_f32_f16) XA2(VOP2, 56, v_dot2c_i32_i16) \
    XA2(VOP2, 57, v_dot4c_i32_i8) XA2(VOP2, 58, v_dot8c_i32_i4) X(VOP2, 59, v_fmac_f32) XA2(VOP2, 60, v_pk_fmac_f16) \
    X(VOP2, 61, v_xnor_b32)

#define GCN_VOP1_OPS \
    X(VOP1, 0, v_nop) X(VOP1, 1, v_mov_b32) X(VOP1, 2, v_readfirstlane_b32) X(VOP1, 3, v_cvt_i32_f64) \
    X(VOP1, 4, v_cvt_f64_i32) X(VOP1, 5, v_cvt_f32_i32) X(VOP1, 6, v_cvt_f32_u32) X(VOP1, 7, v_cvt_u32_f32) \
    X(VOP1, 8, v_cvt_i32_f32) X(VOP1, 10, v_cvt_f16_f32) X(VOP1, 11, v_cvt_f32_f16) X(VOP1, 12, v_cvt_rpi_i32_f32) \
    X(VOP1, 13, v_cvt_flr_i32_f32) X(VOP1, 14, v_cvt_off_f32_i4) X(VOP1, 15, v_cvt_f32_f64) \
    X(VOP1, 16, v_cvt_f64_f32) X(VOP1, 17, v_cvt_f32_ubyte0) X(VOP1, 18, v_cvt_f32_ubyte1) \
    X(VOP1, 19, v_cvt_f32_ubyte2) X(VOP1, 20, v_cvt_f32_ubyte3) X(VOP1, 21, v_cvt_u32_f64) \
    X(VOP1, 22, v_cvt_f64_u32) X(VOP1, 23, v_trunc_f64) X(VOP1, 24, v_ceil_f64) X(VOP1, 25, v_rndne_f64) \
    X(VOP1, 26, v_floor_f64) X(VOP1, 27, v_fract_f32) X(VOP1, 28, v_trunc_f32) X(VOP1, 29, v_ceil_f32) \
    X(VOP1, 30, v_rndne_f32) X(VOP1, 31, v_floor_f32) X(VOP1, 32, v_exp_f32) X(VOP1, 33, v_log_f32) \
    X(VOP1, 34, v_rcp_f32) X(VOP1, 35, v_rcp_iflag_f32) X(VOP1, 36, v_rsq_f32) X(VOP1, 37, v_rcp_f64) \
    X(VOP1, 38, v_rsq_f64) X(VOP1, 39, v_sqrt_f32) X(VOP1, 40, v_sqrt_f64) X(VOP1, 41, v_sin_f32) \
    X(VOP1, 42, v_cos_f32) X(VOP1, 43, v_not_b32) X(VOP1, 44, v_bfrev_b32) X(VOP1, 45, v_ffbh_u32) \
    X(VOP1, 46, v_ffbl_b32) X(VOP1, 47, v_ffbh_i32) X(VOP1, 48, v_frexp_exp_i32_f64) X(VOP1, 49, v_frexp_mant_f64) \
    X(VOP1, 50, v_fract_f64) X(VOP1, 51, v_frexp_exp_i32_f32) X(VOP1, 52, v_frexp_mant_f32) X(VOP1, 53, v_clrexcp) \
    X(VOP1, 55, v_screen_partition_4se_b32) X2(VOP1, 56, v_mov_b64) X(VOP1, 57, v_cvt_f16_u16) \
    X(VOP1, 58, v_cvt_f16_i16) X(VOP1, 59, v_cvt_u16_f16) X(VOP1, 60, v_cvt_i16_f16) X(VOP1, 61, v_rcp_f16) \
    X(VOP1, 62, v_sqrt_f16) X(VOP1, 63, v_rsq_f16) X(VOP1, 64, v_log_f16) X(VOP1, 65, v_exp_f16) \
    X(VOP1, 66, v_frexp_mant_f16) X(VOP1, 67, v_frexp_exp_i16_f16) X(VOP1, 68, v_floor_f16) X(VOP1, 69, v_ceil_f16) \
    X(VOP1, 70, v_trunc_f16) X(VOP1, 71, v_rndne_f16) X(VOP1, 72, v_fract_f16) X(VOP1, 73, v_sin_f16) \
    X(VOP1, 74, v_cos_f16) X(VOP1, 75, v_exp_legacy_f32) X(VOP1, 76, v_log_legacy_f32) \
    X(VOP1, 77, v_cvt_norm_i16_f16) X(VOP1, 78, v_cvt_norm_u16_f16) X(VOP1, 79, v_sat_pk_u8_i16) \
    X(VOP1, 81, v_swap_b32) XA2(VOP1, 82, v_accvgpr_mov_b32) X2(VOP1, 84, v_cvt_f32_fp8) X2(VOP1, 85, v_cvt_f32_bf8) \
    X2(VOP1, 86, v_cvt_pk_f32_fp8) X2(VOP1, 87, v_cvt_pk_f32_bf8)

#define GCN_VOPC_OPS \
    X(VOPC, 16, v_cmp_class_f32) X(VOPC, 17, v_cmpx_class_f32) X(VOPC, 18, v_cmp_class_f64) \
    X(VOPC, 19, v_cmpx_class_f64) X(VOPC, 20, v_cmp_class_f16) X(VOPC, 21, v_cmpx_class_f16) \
    X(VOPC, 32, v_cmp_f_f16) X(VOPC, 33, v_cmp_lt_f16) X(VOPC, 34, v_cmp_eq_f16) X(VOPC, 35, v_cmp_le_f16) \
    X(VOPC, 36, v_cmp_gt_f16) X(VOPC, 37, v_cmp_lg_f16) X(VOPC, 38, v_cmp_ge_f16) X(VOPC, 39, v_cmp_o_f16) \
    X(VOPC, 40, v_cmp_u_f16) X(VOPC, 41, v_cmp_nge_f16) X(VOPC, 42, v_cmp_nlg_f16) X(VOPC, 43, v_cmp_ngt_f16) \
    X(VOPC, 44, v_cmp_nle_f16) X(VOPC, 45, v_cmp_neq_f16) X(VOPC, 46, v_cmp_nlt_f16) X(VOPC, 47, v_cmp_tru_f16) \
    X(VOPC, 48, v_cmpx_f_f16) X(VOPC, 49, v_cmpx_lt_f16) X(VOPC, 50, v_cmpx_eq_f16) X(VOPC, 51, v_cmpx_le_f16) \
    X(VOPC, 52, v_cmpx_gt_f16) X(VOPC, 53, v_cmpx_lg_f16) X(VOPC, 54, v_cmpx_ge_f16) X(VOPC, 55, v_cmpx_o_f16) \
    X(VOPC, 56, v_cmpx_u_f16) X(VOPC, 57, v_cmpx_nge_f16) X(VOPC, 58, v_cmpx_nlg_f16) X(VOPC, 59, v_cmpx_ngt_f16) \
    X(VOPC, 60, v_cmpx_nle_f16) X(VOPC, 61, v_cmpx_neq_f16) X(VOPC, 62, v_cmpx_nlt_f16) X(VOPC, 63, v_cmpx_tru_f16) \
    X(VOPC, 64, v_cmp_f_f32) X(VOPC, 65, v_cmp_lt_f32) X(VOPC, 66, v_cmp_eq_f32) X(VOPC, 67, v_cmp_le_f32) \
    X(VOPC, 68, v_cmp_gt_f32) X(VOPC, 69, v_cmp_lg_f32) X(VOPC, 70, v_cmp_ge_f32) X(VOPC, 71, v_cmp_o_f32) \
    X(VOPC, 72, v_cmp_u_f32) X(VOPC, 73, v_cmp_nge_f32) X(VOPC, 74, v_cmp_nlg_f32) X(VOPC, 75, v_cmp_ngt_f32) \
    X(VOPC, 76, v_cmp_nle_f32) X(VOPC, 77, v_cmp_neq_f32) X(VOPC, 78, v_cmp_nlt_f32) X(VOPC, 79, v_cmp_tru_f32) \
    X(VOPC, 80, v_cmpx_f_f32) X(VOPC, 81, v_cmpx_lt_f32) X(VOPC, 82, v_cmpx_eq_f32) X(VOPC, 83, v_cmpx_le_f32) \
    X(VOPC, 84, v_cmpx_gt_f32) X(VOPC, 85, v_cmpx_lg_f32) X(VOPC, 86, v_cmpx_ge_f32) X(VOPC, 87, v_cmpx_o_f32) \
    X(VOPC, 88, v_cmpx_u_f32) X(VOPC, 89, v_cmpx_nge_f32) X(VOPC, 90, v_cmpx_nlg_f32) X(VOPC, 91, v_cmpx_ngt_f32) \
    X(VOPC, 92, v_cmpx_nle_f32) X(VOPC, 93, v_cmpx_neq_f32) X(VOPC, 94, v_cmpx_nlt_f32) X(VOPC, 95, v_cmpx_tru_f32) \
    X(VOPC, 96, v_cmp_f_f64) X(VOPC, 97, v_cmp_lt_f64) X(VOPC, 98, v_cmp_eq_f64) X(VOPC, 99, v_cmp_le_f64) \
    X(VOPC, 100, v_cmp_gt_f64) X(VOPC, 101, v_cmp_lg_f64) X(VOPC, 102, v_cmp_ge_f64) X(VOPC, 103, v_cmp_o_f64) \
    X(VOPC, 104, v_cmp_u_f64) X(VOPC, 105, v_cmp_nge_f64) X(VOPC, 106, v_cmp_nlg_f64) X(VOPC, 107, v_cmp_ngt_f64) \
    X(VOPC, 108, v_cmp_nle_f64) X(VOPC, 109, v_cmp_neq_f64) X(VOPC, 110, v_cmp_nlt_f64) X(VOPC, 111, v_cmp_tru_f64) \
    X(VOPC, 112, v_cmpx_f_f64) X(VOPC, 113, v_cmpx_lt_f64) X(VOPC, 114, v_cmpx_eq_f64) X(VOPC, 115, v_cmpx_le_f64) \
    X(VOPC, 116, v_cmpx_gt_f64) X(VOPC, 117, v_cmpx_lg_f64) X(VOPC, 118, v_cmpx_ge_f64) X(VOPC, 119, v_cmpx_o_f64) \
    X(VOPC, 120, v_cmpx_u_f64) X(VOPC, 121, v_cmpx_nge_f64) X(VOPC, 122, v_cmpx_nlg_f64) \
    X(VOPC, 123, v_cmpx_ngt_f64) X(VOPC, 124, v_cmpx_nle_f64) X(VOPC, 125, v_cmpx_neq_f64) \
    X(VOPC, 126, v_cmpx_nlt_f64) X(VOPC, 127, v_cmpx_tru_f64) X(VOPC, 160, v_cmp_f_i16) X(VOPC, 161, v_cmp_lt_i16) \
    X(VOPC, 162, v_cmp_eq_i16) X(VOPC, 163, v_cmp_le_i16) X(VOPC, 164, v_cmp_gt_i16) X(VOPC, 165, v_cmp_ne_i16) \
    X(VOPC, 166, v_cmp_ge_i16) X(VOPC, 167, v_cmp_t_i16) X(VOPC, 168, v_cmp_f_u16) X(VOPC, 169, v_cmp_lt_u16) \
    X(VOPC, 170, v_cmp_eq_u16) X(VOPC, 171, v_cmp_le_u16) X(VOPC, 172, v_cmp_gt_u16) X(VOPC, 173, v_cmp_ne_u16) \
    X(VOPC, 174, v_cmp_ge_u16) X(VOPC, 175, v_cmp_t_u16) X(VOPC, 176, v_cmpx_f_i16) X(VOPC, 177, v_cmpx_lt_i16) \
    X(VOPC, 178, v_cmpx_eq_i16) X(VOPC, 179, v_cmpx_le_i16) X(VOPC, 180, v_cmpx_gt_i16) X(VOPC, 181, v_cmpx_ne_i16) \
    X(VOPC, 182, v_cmpx_ge_i16) X(VOPC, 183, v_cmpx_t_i16) X(VOPC, 184, v_cmpx_f_u16) X(VOPC, 185, v_cmpx_lt_u16) \
    X(VOPC, 186, v_cmpx_eq_u16) X(VOPC, 187, v_cmpx_le_u16) X(VOPC, 188, v_cmpx_gt_u16) X(VOPC, 189, v_cmpx_ne_u16) \
    X(VOPC, 190, v_cmpx_ge_u16) X(VOPC, 191, v_cmpx_t_u16) X(VOPC, 192, v_cmp_f_i32) X(VOPC, 193, v_cmp_lt_i32) \
    X(VOPC, 194, v_cmp_eq_i32) X(VOPC, 195, v_cmp_le_i32) X(VOPC, 196, v_cmp_gt_i32) X(VOPC, 197, v_cmp_ne_i32) \
    X(VOPC, 198, v_cmp_ge_i32) X(VOPC, 199, v_cmp_t_i32) X(VOPC, 200, v_cmp_f_u32) X(VOPC, 201, v_cmp_lt_u32) \
    X(VOPC, 202, v_cmp_eq_u32) X(VOPC, 203, v_cmp_le_u32) X(VOPC, 204, v_cmp_gt_u32) X(VOPC, 205, v_cmp_ne_u32) \
    X(VOPC, 206, v_cmp_ge_u32) X(VOPC, 207, v_cmp_t_u32) X(VOPC, 208, v_cmpx_f_i32) X(VOPC, 209, v_cmpx_lt_i32) \
    X(VOPC, 210, v_cmpx_eq_i32) X(VOPC, 211, v_cmpx_le_i32) X(VOPC, 212, v_cmpx_gt_i32) X(VOPC, 213, v_cmpx_ne_i32) \
    X(VOPC, 214, v_cmpx_ge_i32) X(VOPC, 215, v_cmpx_t_i32) X(VOPC, 216, v_cmpx_f_u32) X(VOPC, 217, v_cmpx_lt_u32) \
    X(VOPC, 218, v_cmpx_eq_u32) X(VOPC, 219, v_cmpx_le_u32) X(VOPC, 220, v_cmpx_gt_u32) X(VOPC, 221, v_cmpx_ne_u32) \
    X(VOPC, 222, v_cmpx_ge_u32) X(VOPC, 223, v_cmpx_t_u32) X(VOPC, 224, v_cmp_f_i64) X(VOPC, 225, v_cmp_lt_i64) \
    X(VOPC, 226, v_cmp_eq_i64) X(VOPC, 227, v_cmp_le_i64) X(VOPC, 228, v_cmp_gt_i64) X(VOPC, 229, v_cmp_ne_i64) \
    X(VOPC, 230, v_cmp_ge_i64) X(VOPC, 231, v_cmp_t_i64) X(VOPC, 232, v_cmp_f_u64) X(VOPC, 233, v_cmp_lt_u64) \
    X(VOPC, 234, v_cmp_eq_u64) X(VOPC, 235, v_cmp_le_u64) X(VOPC, 236, v_cmp_gt_u64) X(VOPC, 237, v_cmp_ne_u64) \
    X(VOPC, 238, v_cmp_ge_u64) X(VOPC, 239, v_cmp_t_u64) X(VOPC, 240, v_cmpx_f_i64) X(VOPC, 241, v_cmpx_lt_i64) \
    X(VOPC, 242, v_cmpx_eq_i64) X(VOPC, 243, v_cmpx_le_i64) X(VOPC, 244, v_cmpx_gt_i64) X(VOPC, 245, v_cmpx_ne_i64) \
    X(VOPC, 246, v_cmpx_ge_i64) X(VOPC, 247, v_cmpx_t_i64) X(VOPC, 248, v_cmpx_f_u64) X(VOPC, 249, v_cmpx_lt_u64) \
    X(VOPC, 250, v_cmpx_eq_u64) X(VOPC, 251, v_cmpx_le_u64) X(VOPC, 252, v_cmpx_gt_u64) X(VOPC, 253, v_cmpx_ne_u64) \
    X(VOPC, 254, v_cmpx_ge_u64) X(VOPC, 255, v_cmpx_t_u64)

#define GCN_VOP3_OPS \
    X6A(VOP3, 448, v_mad_legacy_f32) X6A(VOP3, 449, v_mad_f32) X(VOP3, 450, v_mad_i32_i24) \
    X(VOP3, 451, v_mad_u32_u24) X(VOP3, 452, v_cubeid_f32) X(VOP3, 453, v_cubesc_f32) X(VOP3, 454, v_cubetc_f32) \
    X(VOP3, 455, v_cubema_f32) X(VOP3, 456, v_bfe_u32) X(VOP3, 457, v_bfe_i32) X(VOP3, 458, v_bfi_b32) \
    X(VOP3, 459, v_fma_f32) X(VOP3, 460, v_fma_f64) X(VOP3, 461, v_lerp_u8) X(VOP3, 462, v_alignbit_b32) \
    X(VOP3, 463, v_alignbyte_b32) X(VOP3, 464, v_min3_f32) X(VOP3, 465, v_min3_i32) X(VOP3, 466, v_min3_u32) \
    X(VOP3, 467, v_max3_f32) X(VOP3, 468, v_max3_i32) X(VOP3, 469, v_max3_u32) X(VOP3, 470, v_med3_f32) \
    X(VOP3, 471, v_med3_i32) X(VOP3, 472, v_med3_u32) X(VOP3, 473, v_sad_u8) X(VOP3, 474, v_sad_hi_u8) \
    X(VOP3, 475, v_sad_u16) X(VOP3, 476, v_sad_u32) X(VOP3, 477, v_cvt_pk_u8_f32) X(VOP3, 478, v_div_fixup_f32) \
    X(VOP3, 479, v_div_fixup_f64) X(VOP3, 480, v_div_scale_f32) X(VOP3, 481, v_div_scale_f64) \
    X(VOP3, 482, v_div_fmas_f32) X(VOP3, 483, v_div_fmas_f64) X(VOP3, 484, v_msad_u8) X(VOP3, 485, v_qsad_pk_u16_u8) \
    X(VOP3, 486, v_mqsad_pk_u16_u8) X(VOP3, 487, v_mqsad_u32_u8) X(VOP3, 488, v_mad_u64_u32) \
    X(VOP3, 489, v_mad_i64_i32) X(VOP3, 490, v_mad_legacy_f16) X(VOP3, 491, v_mad_legacy_u16) \
    X(VOP3, 492, v_mad_legacy_i16) X(VOP3, 493, v_perm_b32) X(VOP3, 494, v_fma_legacy_f16) \
    X(VOP3, 495, v_div_fixup_legacy_f16) X(VOP3, 496, v_cvt_pkaccum_u8_f32) X(VOP3, 497, v_mad_u32_u16) \
    X(VOP3, 498, v_mad_i32_i16) X(VOP3, 499, v_xad_u32) X(VOP3, 500, v_min3_f16) X(VOP3, 501, v_min3_i16) \
    X(VOP3, 502, v_min3_u16) X(VOP3, 503, v_max3_f16) X(VOP3, 504, v_max3_i16) X(VOP3, 505, v_max3_u16) \
    X(VOP3, 506, v_med3_f16) X(VOP3, 507, v_med3_i16) X(VOP3, 508, v_med3_u16) X(VOP3, 509, v_lshl_add_u32) \
    X(VOP3, 510, v_add_lshl_u32) X(VOP3, 511, v_add3_u32) X(VOP3, 512, v_lshl_or_b32) X(VOP3, 513, v_and_or_b32) \
    X(VOP3, 514, v_or3_b32) X(VOP3, 515, v_mad_f16) X(VOP3, 516, v_mad_u16) X(VOP3, 517, v_mad_i16) \
    X(VOP3, 518, v_fma_f16) X(VOP3, 519, v_div_fixup_f16) X2(VOP3, 520, v_lshl_add_u64) X(VOP3, 640, v_add_f64) \
    X(VOP3, 641, v_mul_f64) X(VOP3, 642, v_min_f64) X(VOP3, 643, v_max_f64) X(VOP3, 644, v_ldexp_f64) \
    X(VOP3, 645, v_mul_lo_u32) X(VOP3, 646, v_mul_hi_u32) X(VOP3, 647, v_mul_hi_i32) X(VOP3, 648, v_ldexp_f32) \
    X(VOP3, 649, v_readlane_b32) X(VOP3, 650, v_writelane_b32) X(VOP3, 651, v_bcnt_u32_b32) \
    X(VOP3, 652, v_mbcnt_lo_u32_b32) X(VOP3, 653, v_mbcnt_hi_u32_b32) X(VOP3, 655, v_lshlrev_b64) \
    X(VOP3, 656, v_lshrrev_b64) X(VOP3, 657, v_ashrrev_i64) X(VOP3, 658, v_trig_preop_f64) X(VOP3, 659, v_bfm_b32) \
    X(VOP3, 660, v_cvt_pknorm_i16_f32) X(VOP3, 661, v_cvt_pknorm_u16_f32) X(VOP3, 662, v_cvt_pkrtz_f16_f32) \
    X(VOP3, 663, v_cvt_pk_u16_u32) X(VOP3, 664, v_cvt_pk_i16_i32) X(VOP3, 665, v_cvt_pknorm_i16_f16) \
    X(VOP3, 666, v_cvt_pknorm_u16_f16) X(VOP3, 668, v_add_i32) X(VOP3, 669, v_sub_i32) X(VOP3, 670, v_add_i16) \
    X(VOP3, 671, v_sub_i16) X(VOP3, 672, v_pack_b32_f16) XS(VOP3, 673, v_mul_legacy_f32) \
    X2(VOP3, 674, v_cvt_pk_fp8_f32) X2(VOP3, 675, v_cvt_pk_bf8_f32) X2(VOP3, 676, v_cvt_sr_fp8_f32) \
    X2(VOP3, 677, v_cvt_sr_bf8_f32)

#define GCN_VOP3P_OPS \
    X(VOP3P, 0, v_pk_mad_i16) X(VOP3P, 1, v_pk_mul_lo_u16) X(VOP3P, 2, v_pk_add_i16) X(VOP3P, 3, v_pk_sub_i16) \
    X(VOP3P, 4, v_pk_lshlrev_b16) X(VOP3P, 5, v_pk_lshrrev_b16) X(VOP3P, 6, v_pk_ashrrev_i16) \
    X(VOP3P, 7, v_pk_max_i16) X(VOP3P, 8, v_pk_min_i16) X(VOP3P, 9, v_pk_mad_u16) X(VOP3P, 10, v_pk_add_u16) \
    X(VOP3P, 11, v_pk_sub_u16) X(VOP3P, 12, v_pk_max_u16) X(VOP3P, 13, v_pk_min_u16) X(VOP3P, 14, v_pk_fma_f16) \
    X(VOP3P, 15, v_pk_add_f16) X(VOP3P, 16, v_pk_mul_f16) X(VOP3P, 17, v_pk_min_f16) X(VOP3P, 18, v_pk_max_f16) \
    X(VOP3P, 32, v_fma_mix_f32) X(VOP3P, 33, v_fma_mixlo_f16) X(VOP3P, 34, v_fma_mixhi_f16) \
    X(VOP3P, 35, v_dot2_f32_f16) X(VOP3P, 38, v_dot2_i32_i16) X(VOP3P, 39, v_dot2_u32_u16) \
    X(VOP3P, 40, v_dot4_i32_i8) X(VOP3P, 41, v_dot4_u32_u8) X(VOP3P, 42, v_dot8_i32_i4) X(VOP3P, 43, v_dot8_u32_u4) \
    XA2(VOP3P, 48, v_pk_fma_f32) XA2(VOP3P, 49, v_pk_mul_f32) XA2(VOP3P, 50, v_pk_add_f32) \
    XA2(VOP3P, 51, v_pk_mov_b32) XA(VOP3P, 64, v_mfma_f32_32x32x1f32) XA(VOP3P, 65, v_mfma_f32_16x16x1f32) \
    XA(VOP3P, 66, v_mfma_f32_4x4x1f32) XA(VOP3P, 68, v_mfma_f32_32x32x2f32) XA(VOP3P, 69, v_mfma_f32_16x16x4f32) \
    XA(VOP3P, 72, v_mfma_f32_32x32x4f16) XA(VOP3P, 73, v_mfma_f32_16x16x4f16) XA(VOP3P, 74, v_mfma_f32_4x4x4f16) \
    XA(VOP3P, 76, v_mfma_f32_32x32x8f16) XA(VOP3P, 77, v_mfma_f32_16x16x16f16) XA(VOP3P, 80, v_mfma_i32_32x32x4i8) \
    XA(VOP3P, 81, v_mfma_i32_16x16x4i8) XA(VOP3P, 82, v_mfma_i32_4x4x4i8) XA(VOP3P, 84, v_mfma_i32_32x32x8i8) \
    XA(VOP3P, 85, v_mfma_i32_16x16x16i8) XA2(VOP3P, 88, v_accvgpr_read_b32) XA2(VOP3P, 89, v_accvgpr_write_b32) \
    XA(VOP3P, 99, v_mfma_f32_32x32x4bf16_1k) XA(VOP3P, 100, v_mfma_f32_16x16x4bf16_1k) \
    XA(VOP3P, 101, v_mfma_f32_4x4x4bf16_1k) XA(VOP3P, 102, v_mfma_f32_32x32x8bf16_1k) \
    XA(VOP3P, 103, v_mfma_f32_16x16x16bf16_1k) XA(VOP3P, 104, v_mfma_f32_32x32x2bf16) \
    XA(VOP3P, 105, v_mfma_f32_16x16x2bf16) XA(VOP3P, 107, v_mfma_f32_4x4x2bf16) \
    XA(VOP3P, 108, v_mfma_f32_32x32x4bf16) XA(VOP3P, 109, v_mfma_f32_16x16x8bf16) \
    XA(VOP3P, 110, v_mfma_f64_16x16x4f64) XA(VOP3P, 111, v_mfma_f64_4x4x4f64) X2(VOP3P, 62, v_mfma_f32_16x16x8_xf32) \
    X2(VOP3P, 63, v_mfma_f32_32x32x4_xf32) X2(VOP3P, 64, v_mfma_f32_32x32x1_2b_f32) \
    X2(VOP3P, 65, v_mfma_f32_16x16x1_4b_f32) X2(VOP3P, 66, v_mfma_f32_4x4x1_16b_f32) \
    X2(VOP3P, 68, v_mfma_f32_32x32x2_f32) X2(VOP3P, 69, v_mfma_f32_16x16x4_f32) \
    X2(VOP3P, 72, v_mfma_f32_32x32x4_2b_f16) X2(VOP3P, 73, v_mfma_f32_16x16x4_4b_f16) \
    X2(VOP3P, 74, v_mfma_f32_4x4x4_16b_f16) X2(VOP3P, 76, v_mfma_f32_32x32x8_f16) \
    X2(VOP3P, 77, v_mfma_f32_16x16x16_f16) X2(VOP3P, 80, v_mfma_i32_32x32x4_2b_i8) \
    X2(VOP3P, 81, v_mfma_i32_16x16x4_4b_i8) X2(VOP3P, 82, v_mfma_i32_4x4x4_16b_i8) \
    X2(VOP3P, 86, v_mfma_i32_32x32x16_i8) X2(VOP3P, 87, v_mfma_i32_16x16x32_i8) \
    X2(VOP3P, 93, v_mfma_f32_32x32x4_2b_bf16) X2(VOP3P, 94, v_mfma_f32_16x16x4_4b_bf16) \
    X2(VOP3P, 95, v_mfma_f32_4x4x4_16b_bf16) X2(VOP3P, 96, v_mfma_f32_32x32x8_bf16) \
    X2(VOP3P, 97, v_mfma_f32_16x16x16_bf16) X2(VOP3P, 98, v_smfmac_f32_16x16x32_f16) \
    X2(VOP3P, 100, v_smfmac_f32_32x32x16_f16) X2(VOP3P, 102, v_smfmac_f32_16x16x32_bf16) \
    X2(VOP3P, 104, v_smfmac_f32_32x32x16_bf16) X2(VOP3P, 106, v_smfmac_i32_16x16x64_i8) \
    X2(VOP3P, 108, v_smfmac_i32_32x32x32_i8) X2(VOP3P, 110, v_mfma_f64_16x16x4_f64) \
    X2(VOP3P, 111, v_mfma_f64_4x4x4_4b_f64) X2(VOP3P, 112, v_mfma_f32_16x16x32_bf8_bf8) \
    X2(VOP3P, 113, v_mfma_f32_16x16x32_bf8_fp8) X2(VOP3P, 114, v_mfma_f32_16x16x32_fp8_bf8) \
    X2(VOP3P, 115, v_mfma_f32_16x16x32_fp8_fp8) X2(VOP3P, 116, v_mfma_f32_32x32x16_bf8_bf8) \
    X2(VOP3P, 117, v_mfma_f32_32x32x16_bf8_fp8) X2(VOP3P, 118, v_mfma_f32_32x32x16_fp8_bf8) \
    X2(VOP3P, 119, v_mfma_f32_32x32x16_fp8_fp8) X2(VOP3P, 120, v_smfmac_f32_16x16x64_bf8_bf8) \
    X2(VOP3P, 121, v_smfmac_f32_16x16x64_bf8_fp8) X2(VOP3P, 122, v_smfmac_f32_16x16x64_fp8_bf8) \
    X2(VOP3P, 123, v_smfmac_f32_16x16x64_fp8_fp8) X2(VOP3P, 124, v_smfmac_f32_32x32x32_bf8_bf8) \
    X2(VOP3P, 125, v_smfmac_f32_32x32x32_bf8_fp8) X2(VOP3P, 126, v_smfmac_f32_32x32x32_fp8_bf8) \
    X2(VOP3P, 127, v_smfmac_f32_32x32x32_fp8_fp8)

/* clang-format on */
#endif
