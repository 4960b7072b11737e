/*
 * isa_scalar.h - the scalar instructions: arithmetic, branches, loads and stores.
 *
 * X(format, number, name): all targets; X6: gfx906 only, XA: gfx90a, X2: gfx942; X6A and XA2: both. isa.h includes this
 * table.
 */
#ifndef VGPU_GCN_ISA_SCALAR_H
#define VGPU_GCN_ISA_SCALAR_H
/* clang-format off */

#define GCN_SOP2_OPS \
    X(SOP2, 0, s_add_u32) X(SOP2, 1, s_sub_u32) X(SOP2, 2, s_add_i32) X(SOP2, 3, s_sub_i32) X(SOP2, 4, s_addc_u32) \
    X(SOP2, 5, s_subb_u32) X(SOP2, 6, s_min_i32) X(SOP2, 7, s_min_u32) X(SOP2, 8, s_max_i32) X(SOP2, 9, s_max_u32) \
    X(SOP2, 10, s_cselect_b32) X(SOP2, 11, s_cselect_b64) X(SOP2, 12, s_and_b32) X(SOP2, 13, s_and_b64) \
    X(SOP2, 14, s_or_b32) X(SOP2, 15, s_or_b64) X(SOP2, 16, s_xor_b32) X(SOP2, 17, s_xor_b64) \
    X(SOP2, 18, s_andn2_b32) X(SOP2, 19, s_andn2_b64) X(SOP2, 20, s_orn2_b32) X(SOP2, 21, s_orn2_b64) \
    X(SOP2, 22, s_nand_b32) X(SOP2, 23, s_nand_b64) X(SOP2, 24, s_nor_b32) X(SOP2, 25, s_nor_b64) \
    X(SOP2, 26, s_xnor_b32) X(SOP2, 27, s_xnor_b64) X(SOP2, 28, s_lshl_b32) X(SOP2, 29, s_lshl_b64) \
    X(SOP2, 30, s_lshr_b32) X(SOP2, 31, s_lshr_b64) X(SOP2, 32, s_ashr_i32) X(SOP2, 33, s_ashr_i64) \
    X(SOP2, 34, s_bfm_b32) X(SOP2, 35, s_bfm_b64) X(SOP2, 36, s_mul_i32) X(SOP2, 37, s_bfe_u32) \
    X(SOP2, 38, s_bfe_i32) X(SOP2, 39, s_bfe_u64) X(SOP2, 40, s_bfe_i64) X(SOP2, 41, s_cbranch_g_fork) \
    X(SOP2, 42, s_absdiff_i32) X(SOP2, 43, s_rfe_restore_b64) X(SOP2, 44, s_mul_hi_u32) X(SOP2, 45, s_mul_hi_i32) \
    X(SOP2, 46, s_lshl1_add_u32) X(SOP2, 47, s_lshl2_add_u32) X(SOP2, 48, s_lshl3_add_u32) \
    X(SOP2, 49, s_lshl4_add_u32) X(SOP2, 50, s_pack_ll_b32_b16) X(SOP2, 51, s_pack_lh_b32_b16) \
    X(SOP2, 52, s_pack_hh_b32_b16)

#define GCN_SOPK_OPS \
    X(SOPK, 0, s_movk_i32) X(SOPK, 1, s_cmovk_i32) X(SOPK, 2, s_cmpk_eq_i32) X(SOPK, 3, s_cmpk_lg_i32) \
    X(SOPK, 4, s_cmpk_gt_i32) X(SOPK, 5, s_cmpk_ge_i32) X(SOPK, 6, s_cmpk_lt_i32) X(SOPK, 7, s_cmpk_le_i32) \
    X(SOPK, 8, s_cmpk_eq_u32) X(SOPK, 9, s_cmpk_lg_u32) X(SOPK, 10, s_cmpk_gt_u32) X(SOPK, 11, s_cmpk_ge_u32) \
    X(SOPK, 12, s_cmpk_lt_u32) X(SOPK, 13, s_cmpk_le_u32) X(SOPK, 14, s_addk_i32) X(SOPK, 15, s_mulk_i32) \
    X(SOPK, 16, s_cbranch_i_fork) X(SOPK, 17, s_getreg_b32) X(SOPK, 18, s_setreg_b32) \
    X(SOPK, 20, s_setreg_imm32_b32) X(SOPK, 21, s_call_b64)

#define GCN_SOP1_OPS \
    X(SOP1, 0, s_mov_b32) X(SOP1, 1, s_mov_b64) X(SOP1, 2, s_cmov_b32) X(SOP1, 3, s_cmov_b64) X(SOP1, 4, s_not_b32) \
    X(SOP1, 5, s_not_b64) X(SOP1, 6, s_wqm_b32) X(SOP1, 7, s_wqm_b64) X(SOP1, 8, s_brev_b32) X(SOP1, 9, s_brev_b64) \
    X(SOP1, 10, s_bcnt0_i32_b32) X(SOP1, 11, s_bcnt0_i32_b64) X(SOP1, 12, s_bcnt1_i32_b32) \
    X(SOP1, 13, s_bcnt1_i32_b64) X(SOP1, 14, s_ff0_i32_b32) X(SOP1, 15, s_ff0_i32_b64) X(SOP1, 16, s_ff1_i32_b32) \
    X(SOP1, 17, s_ff1_i32_b64) X(SOP1, 18, s_flbit_i32_b32) X(SOP1, 19, s_flbit_i32_b64) X(SOP1, 20, s_flbit_i32) \
    X(SOP1, 21, s_flbit_i32_i64) X(SOP1, 22, s_sext_i32_i8) X(SOP1, 23, s_sext_i32_i16) X(SOP1, 24, s_bitset0_b32) \
    X(SOP1, 25, s_bitset0_b64) X(SOP1, 26, s_bitset1_b32) X(SOP1, 27, s_bitset1_b64) X(SOP1, 28, s_getpc_b64) \
    X(SOP1, 29, s_setpc_b64) X(SOP1, 30, s_swappc_b64) X(SOP1, 31, s_rfe_b64) X(SOP1, 32, s_and_saveexec_b64) \
    X(SOP1, 33, s_or_saveexec_b64) X(SOP1, 34, s_xor_saveexec_b64) X(SOP1, 35, s_andn2_saveexec_b64) \
    X(SOP1, 36, s_orn2_saveexec_b64) X(SOP1, 37, s_nand_saveexec_b64) X(SOP1, 38, s_nor_saveexec_b64) \
    X(SOP1, 39, s_xnor_saveexec_b64) X(SOP1, 40, s_quadmask_b32) X(SOP1, 41, s_quadmask_b64) \
    X(SOP1, 42, s_movrels_b32) X(SOP1, 43, s_movrels_b64) X(SOP1, 44, s_movreld_b32) X(SOP1, 45, s_movreld_b64) \
    X(SOP1, 46, s_cbranch_join) X(SOP1, 48, s_abs_i32) X(SOP1, 50, s_set_gpr_idx_idx) \
    X(SOP1, 51, s_andn1_saveexec_b64) X(SOP1, 52, s_orn1_saveexec_b64) X(SOP1, 53, s_andn1_wrexec_b64) \
    X(SOP1, 54, s_andn2_wrexec_b64) X(SOP1, 55, s_bitreplicate_b64_b32)

#define GCN_SOPC_OPS \
    X(SOPC, 0, s_cmp_eq_i32) X(SOPC, 1, s_cmp_lg_i32) X(SOPC, 2, s_cmp_gt_i32) X(SOPC, 3, s_cmp_ge_i32) \
    X(SOPC, 4, s_cmp_lt_i32) X(SOPC, 5, s_cmp_le_i32) X(SOPC, 6, s_cmp_eq_u32) X(SOPC, 7, s_cmp_lg_u32) \
    X(SOPC, 8, s_cmp_gt_u32) X(SOPC, 9, s_cmp_ge_u32) X(SOPC, 10, s_cmp_lt_u32) X(SOPC, 11, s_cmp_le_u32) \
    X(SOPC, 12, s_bitcmp0_b32) X(SOPC, 13, s_bitcmp1_b32) X(SOPC, 14, s_bitcmp0_b64) X(SOPC, 15, s_bitcmp1_b64) \
    X(SOPC, 16, s_setvskip) X(SOPC, 17, s_set_gpr_idx_on) X(SOPC, 18, s_cmp_eq_u64) X(SOPC, 19, s_cmp_lg_u64)

#define GCN_SOPP_OPS \
    X(SOPP, 0, s_nop) X(SOPP, 1, s_endpgm) X(SOPP, 2, s_branch) X(SOPP, 3, s_wakeup) X(SOPP, 4, s_cbranch_scc0) \
    X(SOPP, 5, s_cbranch_scc1) X(SOPP, 6, s_cbranch_vccz) X(SOPP, 7, s_cbranch_vccnz) X(SOPP, 8, s_cbranch_execz) \
    X(SOPP, 9, s_cbranch_execnz) X(SOPP, 10, s_barrier) X(SOPP, 11, s_setkill) X(SOPP, 12, s_waitcnt) \
    X(SOPP, 13, s_sethalt) X(SOPP, 14, s_sleep) X(SOPP, 15, s_setprio) X(SOPP, 16, s_sendmsg) \
    X(SOPP, 17, s_sendmsghalt) X(SOPP, 18, s_trap) X(SOPP, 19, s_icache_inv) X(SOPP, 20, s_incperflevel) \
    X(SOPP, 21, s_decperflevel) X(SOPP, 22, s_ttracedata) X(SOPP, 23, s_cbranch_cdbgsys) \
    X(SOPP, 24, s_cbranch_cdbguser) X(SOPP, 25, s_cbranch_cdbgsys_or_user) X(SOPP, 26, s_cbranch_cdbgsys_and_user) \
    X(SOPP, 27, s_endpgm_saved) X(SOPP, 28, s_set_gpr_idx_off) X(SOPP, 29, s_set_gpr_idx_mode) \
    X(SOPP, 30, s_endpgm_ordered_ps_done)

#define GCN_SMEM_OPS \
    X(SMEM, 0, s_load_dword) X(SMEM, 1, s_load_dwordx2) X(SMEM, 2, s_load_dwordx4) X(SMEM, 3, s_load_dwordx8) \
    X(SMEM, 4, s_load_dwordx16) X(SMEM, 5, s_scratch_load_dword) X(SMEM, 6, s_scratch_load_dwordx2) \
    X(SMEM, 7, s_scratch_load_dwordx4) X(SMEM, 8, s_buffer_load_dword) X(SMEM, 9, s_buffer_load_dwordx2) \
    X(SMEM, 10, s_buffer_load_dwordx4) X(SMEM, 11, s_buffer_load_dwordx8) X(SMEM, 12, s_buffer_load_dwordx16) \
    X(SMEM, 16, s_store_dword) X(SMEM, 17, s_store_dwordx2) X(SMEM, 18, s_store_dwordx4) \
    X(SMEM, 21, s_scratch_store_dword) X(SMEM, 22, s_scratch_store_dwordx2) X(SMEM, 23, s_scratch_store_dwordx4) \
    X(SMEM, 24, s_buffer_store_dword) X(SMEM, 25, s_buffer_store_dwordx2) X(SMEM, 26, s_buffer_store_dwordx4) \
    X(SMEM, 32, s_dcache_inv) X(SMEM, 33, s_dcache_wb) X(SMEM, 34, s_dcache_inv_vol) X(SMEM, 35, s_dcache_wb_vol) \
    X(SMEM, 36, s_memtime) X(SMEM, 37, s_memrealtime) X(SMEM, 38, s_atc_probe) X(SMEM, 39, s_atc_probe_buffer) \
    X(SMEM, 40, s_dcache_discard) X(SMEM, 41, s_dcache_discard_x2) X(SMEM, 64, s_buffer_atomic_swap) \
    X(SMEM, 65, s_buffer_atomic_cmpswap) X(SMEM, 66, s_buffer_atomic_add) X(SMEM, 67, s_buffer_atomic_sub) \
    X(SMEM, 68, s_buffer_atomic_smin) X(SMEM, 69, s_buffer_atomic_umin) X(SMEM, 70, s_buffer_atomic_smax) \
    X(SMEM, 71, s_buffer_atomic_umax) X(SMEM, 72, s_buffer_atomic_and) X(SMEM, 73, s_buffer_atomic_or) \
    X(SMEM, 74, s_buffer_atomic_xor) X(SMEM, 75, s_buffer_atomic_inc) X(SMEM, 76, s_buffer_atomic_dec) \
    X(SMEM, 96, s_buffer_atomic_swap_x2) X(SMEM, 97, s_buffer_atomic_cmpswap_x2) X(SMEM, 98, s_buffer_atomic_add_x2) \
    X(SMEM, 99, s_buffer_atomic_sub_x2) X(SMEM, 100, s_buffer_atomic_smin_x2) X(SMEM, 101, s_buffer_atomic_umin_x2) \
    X(SMEM, 102, s_buffer_atomic_smax_x2) X(SMEM, 103, s_buffer_atomic_umax_x2) X(SMEM, 104, s_buffer_atomic_and_x2) \
    X(SMEM, 105, s_buffer_atomic_or_x2) X(SMEM, 106, s_buffer_atomic_xor_x2) X(SMEM, 107, s_buffer_atomic_inc_x2) \
    X(SMEM, 108, s_buffer_atomic_dec_x2) X(SMEM, 128, s_atomic_swap) X(SMEM, 129, s_atomic_cmpswap) \
    X(SMEM, 130, s_atomic_add) X(SMEM, 131, s_atomic_sub) X(SMEM, 132, s_atomic_smin) X(SMEM, 133, s_atomic_umin) \
    X(SMEM, 134, s_atomic_smax) X(SMEM, 135, s_atomic_umax) X(SMEM, 136, s_atomic_and) X(SMEM, 137, s_atomic_or) \
    X(SMEM, 138, s_atomic_xor) X(SMEM, 139, s_atomic_inc) X(SMEM, 140, s_atomic_dec) X(SMEM, 160, s_atomic_swap_x2) \
    X(SMEM, 161, s_atomic_cmpswap_x2) X(SMEM, 162, s_atomic_add_x2) X(SMEM, 163, s_atomic_sub_x2) \
    X(SMEM, 164, s_atomic_smin_x2) X(SMEM, 165, s_atomic_umin_x2) X(SMEM, 166, s_atomic_smax_x2) \
    X(SMEM, 167, s_atomic_umax_x2) X(SMEM, 168, s_atomic_and_x2) X(SMEM, 169, s_atomic_or_x2) \
    X(SMEM, 170, s_atomic_xor_x2) X(SMEM, 171, s_atomic_inc_x2) X(SMEM, 172, s_atomic_dec_x2)

/* clang-format on */
#endif
