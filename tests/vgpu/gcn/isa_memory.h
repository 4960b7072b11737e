/*
 * isa_memory.h - instructions that access memory by lane: LDS, flat (a field selects flat_, global_ or scratch_) and
 * buffers.
 *
 * X(format, number, name): all targets; X6: gfx906 only, XA: gfx90a, X2: gfx942; X6A and XA2: both. isa.h includes this
 * table.
 */
#ifndef VGPU_GCN_ISA_MEMORY_H
#define VGPU_GCN_ISA_MEMORY_H
/* clang-format off */

#define GCN_DS_OPS \
    X(DS, 0, ds_add_u32) X(DS, 1, ds_sub_u32) X(DS, 2, ds_rsub_u32) X(DS, 3, ds_inc_u32) X(DS, 4, ds_dec_u32) \
    X(DS, 5, ds_min_i32) X(DS, 6, ds_max_i32) X(DS, 7, ds_min_u32) X(DS, 8, ds_max_u32) X(DS, 9, ds_and_b32) \
    X(DS, 10, ds_or_b32) X(DS, 11, ds_xor_b32) X(DS, 12, ds_mskor_b32) X(DS, 13, ds_write_b32) \
    X(DS, 14, ds_write2_b32) X(DS, 15, ds_write2st64_b32) X(DS, 16, ds_cmpst_b32) X(DS, 17, ds_cmpst_f32) \
    X(DS, 18, ds_min_f32) X(DS, 19, ds_max_f32) X(DS, 20, ds_nop) X(DS, 21, ds_add_f32) X2(DS, 23, ds_pk_add_f16) \
    X2(DS, 24, ds_pk_add_bf16) X(DS, 29, ds_write_addtid_b32) X(DS, 30, ds_write_b8) X(DS, 31, ds_write_b16) \
    X(DS, 32, ds_add_rtn_u32) X(DS, 33, ds_sub_rtn_u32) X(DS, 34, ds_rsub_rtn_u32) X(DS, 35, ds_inc_rtn_u32) \
    X(DS, 36, ds_dec_rtn_u32) X(DS, 37, ds_min_rtn_i32) X(DS, 38, ds_max_rtn_i32) X(DS, 39, ds_min_rtn_u32) \
    X(DS, 40, ds_max_rtn_u32) X(DS, 41, ds_and_rtn_b32) X(DS, 42, ds_or_rtn_b32) X(DS, 43, ds_xor_rtn_b32) \
    X(DS, 44, ds_mskor_rtn_b32) X(DS, 45, ds_wrxchg_rtn_b32) X(DS, 46, ds_wrxchg2_rtn_b32) \
    X(DS, 47, ds_wrxchg2st64_rtn_b32) X(DS, 48, ds_cmpst_rtn_b32) X(DS, 49, ds_cmpst_rtn_f32) \
    X(DS, 50, ds_min_rtn_f32) X(DS, 51, ds_max_rtn_f32) X(DS, 52, ds_wrap_rtn_b32) X(DS, 53, ds_add_rtn_f32) \
    X(DS, 54, ds_read_b32) X(DS, 55, ds_read2_b32) X(DS, 56, ds_read2st64_b32) X(DS, 57, ds_read_i8) \
    X(DS, 58, ds_read_u8) X(DS, 59, ds_read_i16) X(DS, 60, ds_read_u16) X(DS, 61, ds_swizzle_b32) \
    X(DS, 62, ds_permute_b32) X(DS, 63, ds_bpermute_b32) X(DS, 64, ds_add_u64) X(DS, 65, ds_sub_u64) \
    X(DS, 66, ds_rsub_u64) X(DS, 67, ds_inc_u64) X(DS, 68, ds_dec_u64) X(DS, 69, ds_min_i64) X(DS, 70, ds_max_i64) \
    X(DS, 71, ds_min_u64) X(DS, 72, ds_max_u64) X(DS, 73, ds_and_b64) X(DS, 74, ds_or_b64) X(DS, 75, ds_xor_b64) \
    X(DS, 76, ds_mskor_b64) X(DS, 77, ds_write_b64) X(DS, 78, ds_write2_b64) X(DS, 79, ds_write2st64_b64) \
    X(DS, 80, ds_cmpst_b64) X(DS, 81, ds_cmpst_f64) X(DS, 82, ds_min_f64) X(DS, 83, ds_max_f64) \
    X(DS, 84, ds_write_b8_d16_hi) X(DS, 85, ds_write_b16_d16_hi) X(DS, 86, ds_read_u8_d16) \
    X(DS, 87, ds_read_u8_d16_hi) X(DS, 88, ds_read_i8_d16) X(DS, 89, ds_read_i8_d16_hi) X(DS, 90, ds_read_u16_d16) \
    X(DS, 91, ds_read_u16_d16_hi) XA2(DS, 92, ds_add_f64) X(DS, 96, ds_add_rtn_u64) X(DS, 97, ds_sub_rtn_u64) \
    X(DS, 98, ds_rsub_rtn_u64) X(DS, 99, ds_inc_rtn_u64) X(DS, 100, ds_dec_rtn_u64) X(DS, 101, ds_min_rtn_i64) \
    X(DS, 102, ds_max_rtn_i64) X(DS, 103, ds_min_rtn_u64) X(DS, 104, ds_max_rtn_u64) X(DS, 105, ds_and_rtn_b64) \
    X(DS, 106, ds_or_rtn_b64) X(DS, 107, ds_xor_rtn_b64) X(DS, 108, ds_mskor_rtn_b64) X(DS, 109, ds_wrxchg_rtn_b64) \
    X(DS, 110, ds_wrxchg2_rtn_b64) X(DS, 111, ds_wrxchg2st64_rtn_b64) X(DS, 112, ds_cmpst_rtn_b64) \
    X(DS, 113, ds_cmpst_rtn_f64) X(DS, 114, ds_min_rtn_f64) X(DS, 115, ds_max_rtn_f64) X(DS, 118, ds_read_b64) \
    X(DS, 119, ds_read2_b64) X(DS, 120, ds_read2st64_b64) XA2(DS, 124, ds_add_rtn_f64) \
    X(DS, 126, ds_condxchg32_rtn_b64) X(DS, 152, ds_gws_sema_release_all) X(DS, 153, ds_gws_init) \
    X(DS, 154, ds_gws_sema_v) X(DS, 155, ds_gws_sema_br) X(DS, 156, ds_gws_sema_p) X(DS, 157, ds_gws_barrier) \
    X(DS, 182, ds_read_addtid_b32) X2(DS, 183, ds_pk_add_rtn_f16) X2(DS, 184, ds_pk_add_rtn_bf16) \
    X(DS, 189, ds_consume) X(DS, 190, ds_append) X(DS, 222, ds_write_b96) X(DS, 223, ds_write_b128) \
    X(DS, 254, ds_read_b96) X(DS, 255, ds_read_b128)

#define GCN_FLAT_OPS \
    X(FLAT, 16, flat_load_ubyte) X(FLAT, 17, flat_load_sbyte) X(FLAT, 18, flat_load_ushort) \
    X(FLAT, 19, flat_load_sshort) X(FLAT, 20, flat_load_dword) X(FLAT, 21, flat_load_dwordx2) \
    X(FLAT, 22, flat_load_dwordx3) X(FLAT, 23, flat_load_dwordx4) X(FLAT, 24, flat_store_byte) \
    X(FLAT, 25, flat_store_byte_d16_hi) X(FLAT, 26, flat_store_short) X(FLAT, 27, flat_store_short_d16_hi) \
    X(FLAT, 28, flat_store_dword) X(FLAT, 29, flat_store_dwordx2) X(FLAT, 30, flat_store_dwordx3) \
    X(FLAT, 31, flat_store_dwordx4) X(FLAT, 32, flat_load_ubyte_d16) X(FLAT, 33, flat_load_ubyte_d16_hi) \
    X(FLAT, 34, flat_load_sbyte_d16) X(FLAT, 35, flat_load_sbyte_d16_hi) X(FLAT, 36, flat_load_short_d16) \
    X(FLAT, 37, flat_load_short_d16_hi) X2(FLAT, 38, flat_load_lds_ubyte) X2(FLAT, 39, flat_load_lds_sbyte) \
    X2(FLAT, 40, flat_load_lds_ushort) X2(FLAT, 41, flat_load_lds_sshort) X2(FLAT, 42, flat_load_lds_dword) \
    X(FLAT, 64, flat_atomic_swap) X(FLAT, 65, flat_atomic_cmpswap) X(FLAT, 66, flat_atomic_add) \
    X(FLAT, 67, flat_atomic_sub) X(FLAT, 68, flat_atomic_smin) X(FLAT, 69, flat_atomic_umin) \
    X(FLAT, 70, flat_atomic_smax) X(FLAT, 71, flat_atomic_umax) X(FLAT, 72, flat_atomic_and) \
    X(FLAT, 73, flat_atomic_or) X(FLAT, 74, flat_atomic_xor) X(FLAT, 75, flat_atomic_inc) \
    X(FLAT, 76, flat_atomic_dec) XA2(FLAT, 77, flat_atomic_add_f32) XA2(FLAT, 78, flat_atomic_pk_add_f16) \
    XA2(FLAT, 79, flat_atomic_add_f64) XA2(FLAT, 80, flat_atomic_min_f64) XA2(FLAT, 81, flat_atomic_max_f64) \
    X2(FLAT, 82, flat_atomic_pk_add_bf16) X(FLAT, 96, flat_atomic_swap_x2) X(FLAT, 97, flat_atomic_cmpswap_x2) \
    X(FLAT, 98, flat_atomic_add_x2) X(FLAT, 99, flat_atomic_sub_x2) X(FLAT, 100, flat_atomic_smin_x2) \
    X(FLAT, 101, flat_atomic_umin_x2) X(FLAT, 102, flat_atomic_smax_x2) X(FLAT, 103, flat_atomic_umax_x2) \
    X(FLAT, 104, flat_atomic_and_x2) X(FLAT, 105, flat_atomic_or_x2) X(FLAT, 106, flat_atomic_xor_x2) \
    X(FLAT, 107, flat_atomic_inc_x2) X(FLAT, 108, flat_atomic_dec_x2)

#define GCN_MUBUF_OPS \
    X(MUBUF, 0, buffer_load_format_x) X(MUBUF, 1, buffer_load_format_xy) X(MUBUF, 2, buffer_load_format_xyz) \
    X(MUBUF, 3, buffer_load_format_xyzw) X(MUBUF, 4, buffer_store_format_x) X(MUBUF, 5, buffer_store_format_xy) \
    X(MUBUF, 6, buffer_store_format_xyz) X(MUBUF, 7, buffer_store_format_xyzw) X(MUBUF, 8, buffer_load_format_d16_x) \
    X(MUBUF, 9, buffer_load_format_d16_xy) X(MUBUF, 10, buffer_load_format_d16_xyz) \
    X(MUBUF, 11, buffer_load_format_d16_xyzw) X(MUBUF, 12, buffer_store_format_d16_x) \
    X(MUBUF, 13, buffer_store_format_d16_xy) X(MUBUF, 14, buffer_store_format_d16_xyz) \
    X(MUBUF, 15, buffer_store_format_d16_xyzw) X(MUBUF, 16, buffer_load_ubyte) X(MUBUF, 17, buffer_load_sbyte) \
    X(MUBUF, 18, buffer_load_ushort) X(MUBUF, 19, buffer_load_sshort) X(MUBUF, 20, buffer_load_dword) \
    X(MUBUF, 21, buffer_load_dwordx2) X(MUBUF, 22, buffer_load_dwordx3) X(MUBUF, 23, buffer_load_dwordx4) \
    X(MUBUF, 24, buffer_store_byte) X(MUBUF, 25, buffer_store_byte_d16_hi) X(MUBUF, 26, buffer_store_short) \
    X(MUBUF, 27, buffer_store_short_d16_hi) X(MUBUF, 28, buffer_store_dword) X(MUBUF, 29, buffer_store_dwordx2) \
    X(MUBUF, 30, buffer_store_dwordx3) X(MUBUF, 31, buffer_store_dwordx4) X(MUBUF, 32, buffer_load_ubyte_d16) \
    X(MUBUF, 33, buffer_load_ubyte_d16_hi) X(MUBUF, 34, buffer_load_sbyte_d16) \
    X(MUBUF, 35, buffer_load_sbyte_d16_hi) X(MUBUF, 36, buffer_load_short_d16) \
    X(MUBUF, 37, buffer_load_short_d16_hi) X(MUBUF, 38, buffer_load_format_d16_hi_x) \
    X(MUBUF, 39, buffer_store_format_d16_hi_x) XA2(MUBUF, 40, buffer_wbl2) XA(MUBUF, 41, buffer_invl2) \
    X2(MUBUF, 41, buffer_inv) X(MUBUF, 61, buffer_store_lds_dword) \
    X(MUBUF, 62, buffer_wbinvl1) X(MUBUF, 63, buffer_wbinvl1_vol) \
    X(MUBUF, 64, buffer_atomic_swap) X(MUBUF, 65, buffer_atomic_cmpswap) X(MUBUF, 66, buffer_atomic_add) \
    X(MUBUF, 67, buffer_atomic_sub) X(MUBUF, 68, buffer_atomic_smin) X(MUBUF, 69, buffer_atomic_umin) \
    X(MUBUF, 70, buffer_atomic_smax) X(MUBUF, 71, buffer_atomic_umax) X(MUBUF, 72, buffer_atomic_and) \
    X(MUBUF, 73, buffer_atomic_or) X(MUBUF, 74, buffer_atomic_xor) X(MUBUF, 75, buffer_atomic_inc) \
    X(MUBUF, 76, buffer_atomic_dec) XA2(MUBUF, 77, buffer_atomic_add_f32) XA2(MUBUF, 78, buffer_atomic_pk_add_f16) \
    XA2(MUBUF, 79, buffer_atomic_add_f64) XA2(MUBUF, 80, buffer_atomic_min_f64) \
    XA2(MUBUF, 81, buffer_atomic_max_f64) X(MUBUF, 96, buffer_atomic_swap_x2) X(MUBUF, 97, buffer_atomic_cmpswap_x2) \
    X(MUBUF, 98, buffer_atomic_add_x2) X(MUBUF, 99, buffer_atomic_sub_x2) X(MUBUF, 100, buffer_atomic_smin_x2) \
    X(MUBUF, 101, buffer_atomic_umin_x2) X(MUBUF, 102, buffer_atomic_smax_x2) X(MUBUF, 103, buffer_atomic_umax_x2) \
    X(MUBUF, 104, buffer_atomic_and_x2) X(MUBUF, 105, buffer_atomic_or_x2) X(MUBUF, 106, buffer_atomic_xor_x2) \
    X(MUBUF, 107, buffer_atomic_inc_x2) X(MUBUF, 108, buffer_atomic_dec_x2)

#define GCN_MTBUF_OPS \
    X(MTBUF, 0, tbuffer_load_format_x) X(MTBUF, 1, tbuffer_load_format_xy) X(MTBUF, 2, tbuffer_load_format_xyz) \
    X(MTBUF, 3, tbuffer_load_format_xyzw) X(MTBUF, 4, tbuffer_store_format_x) X(MTBUF, 5, tbuffer_store_format_xy) \
    X(MTBUF, 6, tbuffer_store_format_xyz) X(MTBUF, 7, tbuffer_store_format_xyzw) \
    X(MTBUF, 8, tbuffer_load_format_d16_x) X(MTBUF, 9, tbuffer_load_format_d16_xy) \
    X(MTBUF, 10, tbuffer_load_format_d16_xyz) X(MTBUF, 11, tbuffer_load_format_d16_xyzw) \
    X(MTBUF, 12, tbuffer_store_format_d16_x) X(MTBUF, 13, tbuffer_store_format_d16_xy) \
    X(MTBUF, 14, tbuffer_store_format_d16_xyz) X(MTBUF, 15, tbuffer_store_format_d16_xyzw)

/* clang-format on */
#endif
