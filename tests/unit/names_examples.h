/*
 * An example for each rule of src/text/names_tables.c: the rule's pattern, the raw name of a kernel, and its short
 * name. Each name is that of a real kernel, or made after one. A name is cut where no rule reads it any more.
 */
#ifndef RTL_TESTS_NAMES_EXAMPLES_H
#define RTL_TESTS_NAMES_EXAMPLES_H

static const struct rule_example {
    const char *kernel, *raw, *shown;
} rule_examples[] = {
    {"ncclDevKernel_Generic*", "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", "nccl generic"},
    {"ncclDevKernel_*", "_Z31ncclDevKernel_AllReduce_RING_LL24ncclDevKernelArgsStorageILm4096EE",
     "nccl AllReduce RING LL"},
    {"mscclKernel_*", "_Z23mscclKernel_Sum_half_LL15mscclKernelArgs", "msccl Sum f16 LL"},
    {"*all*reduce*", "void vllm::all_reduce_one_shot<__hip_bfloat16, 8>(int)", "all_reduce_one_shot<bf16,8>"},
    {"*cross_device_reduce*", "void vllm::cross_device_reduce_1stage<__hip_bfloat16, 8>(int)",
     "cross_device_reduce_1stage<bf16,8>"},
    {"*all*gather*", "all_gather_ring_bf16", "all_gather_ring_bf16"},
    {"*reduce*scatter*", "reduce_scatter_ring_bf16", "reduce_scatter_ring_bf16"},
    {"*_ar_kernel*", "void ggml_cuda_ar_kernel<float, __hip_bfloat16>(int)", "ggml_cuda_ar_kernel<f32,bf16>"},

    {"MoeFlatmmKernel*",
     "void ck_tile::kentry<2, ck_tile::MoeFlatmmKernel<ck_tile::TileShape<ck_tile::sequence<32, 128, 256>"
     " >, __bf16> >(int)",
     "moe_flatmm bf16 32x128x256"},
    {"*moe*", "void vllm::moe::moe_align_block_size_kernel<int>(int)", "moe_align_block_size_kernel<i32>"},
    {"*topkgating*", "void vllm::moe::topkGatingSoftmax<8, 128, 4, 16, int>(int)", "topkGatingSoftmax<8,128,4,16,i32>"},
    {"*combined_routing*", "_combined_routing_compute", "_combined_routing_compute"},
    {"*expert*", "void vllm::moe::count_and_sort_expert_tokens_kernel<int>(int)",
     "count_and_sort_expert_tokens_kernel<i32>"},
    {"*grouped_topk*", "_ZN5aiter19grouped_topk_kernelIDF16bLb1EEEvPT_", "grouped_topk_kernel<bf16,true>"},
    {"*finalize_matmul_scatter*", "_finalize_matmul_scatter_bf16", "_finalize_matmul_scatter_bf16"},

    {"paged_attention_ll4mi_QKV_mfma*",
     "void paged_attention_ll4mi_QKV_mfma16_kernel<0, __hip_bfloat16, __hip_bfloat16, (vllm::Fp8KVCacheDa"
     "taType)0, 1, 128, 256, false, 4, 1, ck_tile::ComposedAttention<0u, false> >(int)",
     "paged_attn bf16 hd128 mfma16 blk1 gqa4"},
    {"paged_attention_ll4mi_reduce*",
     "void paged_attention_ll4mi_reduce_kernel<__hip_bfloat16, __hip_bfloat16, 128, 128, 256, 3, false>(i"
     "nt)",
     "paged_attn reduce bf16 hd128 part256"},
    {"paged_attention_v*",
     "void vllm::paged_attention_v2_kernel<__hip_bfloat16, unsigned char, 128, 16, 128, (vllm::Fp8KVCache"
     "DataType)1, false, 512>(int)",
     "paged_attn bf16/u8 hd128 v2 blk16 DataType=1"},
    {"*fmha*kernel",
     "_ZN7ck_tile6kentryILi2ENS_38FmhaBatchPrefillWithPagedKVCacheKernelINS_40BlockFmhaBatchPrefillPipeli"
     "neQRKSVSAsyncINS_36BlockFmhaBatchPrefillPipelineProblemIDF16bDF16bDF16bffDF16bhfDF16bfDF16bNS_13Til"
     "eFmhaShapeINS_8sequenceIJLi128ELi128ELi32ELi128ELi32ELi128EEEENS5_IJLi4ELi1ELi1EEEENS5_IJLi32ELi32E"
     "Li16EEEES7_S8_Lb1EEELb1ENS_17ComposedAttentionILj0ELb1EEENS_30SimplifiedGenericAttentionMaskILb1EEE"
     "Lb0ELi1ENS_26TileFmhaBatchPrefillTraitsILb1ELb1ELb1ELb1ELb0ELNS_22BlockAttentionBiasEnumE0ELb0ELb0E"
     "Lb0ELNS_28BlockAttentionQuantScaleEnumE0ELin1ELb0ELb0ELi1ELNS_37BlockAttentionKVCacheMemoryLayoutEn"
     "umE1ELNS_36BlockAttentionKVCacheLookupTableEnumE1ELNS_33BlockAttentionKVCacheLoadModeEnumE0EEEEENS_"
     "53BlockFmhaBatchPrefillPipelineQRKSVSAsyncDefaultPolicyEEENS_17Default2DEpilogueINS_24Default2DEpil"
     "ogueProblemIfDF16bLb1ELb1ELb1EEEvEEEEJNSS_21FmhaFwdGroupModeKargsEEEEvDpT1_",
     "FmhaBatchPrefillWithPagedKVCache bf16 hd128 MemoryLayout=1,LookupTable=1 128x128x32x128x32x128"},
    {"*attn*", "attn_fwd", "attn_fwd"},
    {"*attention*", "kernel_unified_attention_2d", "kernel_unified_attention_2d"},
    {"*fmha*", "aiter::fmha_fwd_hd128_bf16_rtz", "aiter::fmha_fwd_hd128_bf16_rtz"},
    {"*rotary*", "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(int)", "rotary_embedding_kernel<bf16,true>"},
    {"*rope*", "_ZL9rope_normILb1ELb0EffEvPKT1_PT2_i", "rope_norm<true,false,f32,f32>"},
    {"*mla_*", "_ZN5aiter27mla_a16w16_qh16_m16x4_n16x1E", "aiter::mla_a16w16_qh16_m16x4_n16x1"},
    {"*reshape_and_cache*",
     "void vllm::reshape_and_cache_flash_kernel<__hip_bfloat16, __hip_bfloat16, (vllm::Fp8KVCacheDataType"
     ")0>(int)",
     "reshape_and_cache_flash_kernel<bf16,bf16,Fp8KVCacheDataType=0>"},
    {"*kv_cache*", "concat_and_cache_kv_cache_kernel", "concat_and_cache_kv_cache_kernel"},
    {"sage_*", "sage_fwd", "sage_fwd"},

    {"*Cijk_*", "Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT256x256x64_MI16x16x1_SN_LDSB0_AFC1_WG32_8_1_WGM8",
     "gemm TN bf16 256x256x64 MI16x16x1 WG32_8_1"},
    {"igemm_*",
     "igemm_bwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32_wt32x32x8_ws1x1_wr2x2_ta1x8x2x1_1x4x1x64_tb1x8x1x2_1"
     "x4x1x64_mh_gkgs",
     "igemm bwd bf16 128x128x32 nhwc wt32x32x8"},
    {"_matmul_ogs*", "_matmul_ogs_NNT_bf16xbf16xmxfp4_128x128x128x1_swiglu",
     "matmul_ogs bf16/mxfp4 128x128x128x1 swiglu NNT"},
    {"kernel_grouped_conv_fwd_multiple_abd*",
     "_ZN2ck16tensor_operation6device12_GLOBAL__N_149kernel_grouped_conv_fwd_multiple_abd_xdl_cshuffleINS"
     "_34GridwiseGemmMultipleD_xdl_cshuffleIDF16bDF16bDF16bfDF16bNS_5TupleIJEEEDF16bNS0_12element_wise11P"
     "assThroughES8_S8_Li1ELi64ELi64ELi32ELi32ELi8ELi8ELi32ELi32ELi2ELi1ENS_8SequenceIJLi4ELi16ELi1EEEENS"
     "9_IJLi1ELi0ELi2EEEESB_Li2ELi8ELi8ELb0ELi1ESA_SB_SB_Li2ELi8ELi8ELb0ELi1ELi1ELi1ENS9_IJLi1ELi16ELi1EL"
     "i4EEEELi1ELNS_13LoopSchedulerE0ELNS_15PipelineVersionE0EDF16bLb0EEEPKDF16bSH_S6_DF16bS8_S8_S8_NS_16"
     "TensorDescriptorINS5_IJNS_5EmbedINS5_IJiiiiEEESK_Lb0EEENS_11PassThroughIiEENS_3PadIiiiLb0EEESP_SN_S"
     "N_NSJ_INS5_IJiiEEESQ_Lb0EEESR_SN_NS_23Merge_v2_magic_divisionINS5_IJiiiEEEEESU_NS_8RightPadIiiLb0EE"
     "ESW_NS_7UnMergeINS5_IJiNS_17integral_constantIiLi8EEEEEELb0EEESN_EEENS5_IJNS9_IJLi0EEEENS9_IJLi1EEE"
     "ENS9_IJLi2EEEENS9_IJLi3EEEENS9_IJLi4EEEENS9_IJLi5EEEENS9_IJLi6EEEENS9_IJLi7EEEENS9_IJLi8EEEENS9_IJL"
     "i9ELi11ELi13EEEENS9_IJLi10ELi12ELi14EEEENS9_IJLi15EEEENS9_IJLi16EEEENS9_IJLi18EEEENS9_IJLi17EEEEEEE"
     "NS5_IJNS9_IJLi1ELi2ELi3ELi4EEEES18_S19_S1A_S1B_NS9_IJLi9EEEENS9_IJLi10ELi11EEEENS9_IJLi12ELi13EEEEN"
     "S9_IJLi14EEEES1E_S1F_S1H_S1G_NS9_IJLi19ELi20EEEENS9_IJLi21EEEEEEENS9_IJLi19ELi21ELi20EEEElEENSI_INS"
     "5_IJNSX_ISQ_Lb0EEESW_SW_S11_SN_EEENS5_IJS13_S14_S15_S17_S16_EEENS5_IJNS9_IJLi1ELi2EEEES16_S17_NS9_I"
     "JLi5ELi6EEEES1A_EEENS9_IJLi5ELi7ELi6EEEElEES6_NSI_INS5_IJSR_SW_SW_NSX_INS5_IJiNSY_IiLi64EEEEEELb0EE"
     "ENSX_INS5_IJiNSY_IiLi32EEEEEELb0EEEEEENS5_IJS13_S14_S15_S16_S17_EEENS5_IJS1W_S16_S17_S1X_NS9_IJLi7E"
     "Li8EEEEEEENS9_IJLi5ELi6ELi7ELi8EEEElEENS_31BlockToCTileMap_M00_N0_M01AdaptILi64ELi32ENSI_INS5_IJSR_"
     "SW_SW_EEENS5_IJS13_S14_S15_EEENS5_IJS1W_S16_S17_EEENS9_IJLi3ELi4EEEElEEiEENS1_30ComputePtrOffsetOfS"
     "tridedBatchILi1ELi1ELi0EvEES2L_Lb1ELb0ELb0ELb0EEEvT0_T1_T2_PT3_T4_T5_T6_T7_T8_T9_T10_T11_T12_T13_",
     "grouped_conv_fwd_multiple_abd bf16 64x32x32"},
    {"kernel_grouped_conv_fwd*",
     "_ZN2ck16tensor_operation6device12_GLOBAL__N_139kernel_grouped_conv_fwd_xdl_cshuffle_v3INS_28Gridwis"
     "eGemm_xdl_cshuffle_v3INS_13tensor_layout4gemm8RowMajorENS6_11ColumnMajorES7_ttfttNS0_12element_wise"
     "11PassThroughESA_SA_LNS1_18GemmSpecializationE7ELi256ELi64ELi64ELi64ELi8ELi8ELi32ELi32ELi1ELi1ENS_8"
     "SequenceIJLi8ELi32ELi1EEEENSC_IJLi1ELi0ELi2EEEESE_Li2ELi8ELi8ELb0ELi0ESD_SE_SE_Li2ELi8ELi8ELb0ELi0E"
     "Li1ELi1ENSC_IJLi1ELi32ELi1ELi8EEEELi8ELNS_26BlockGemmPipelineSchedulerE0ELNS_24BlockGemmPipelineVer"
     "sionE2EttLb0ELb0EEENS_16TensorDescriptorINS_5TupleIJNS_5EmbedINSK_IJiiiiEEESM_Lb0EEENS_11PassThroug"
     "hIiEENS_3PadIiiiLb0EEESR_SP_SP_NSL_INSK_IJiiEEESS_Lb0EEEST_SP_NS_23Merge_v2_magic_divisionINSK_IJii"
     "iEEEEESW_NS_8RightPadIiiLb0EEESY_NS_7UnMergeISS_Lb0EEESP_EEENSK_IJNSC_IJLi0EEEENSC_IJLi1EEEENSC_IJL"
     "i2EEEENSC_IJLi3EEEENSC_IJLi4EEEENSC_IJLi5EEEENSC_IJLi6EEEENSC_IJLi7EEEENSC_IJLi8EEEENSC_IJLi9ELi11E"
     "Li13EEEENSC_IJLi10ELi12ELi14EEEENSC_IJLi15EEEENSC_IJLi16EEEENSC_IJLi18EEEENSC_IJLi17EEEEEEENSK_IJNS"
     "C_IJLi1ELi2ELi3ELi4EEEES17_S18_S19_S1A_NSC_IJLi9EEEENSC_IJLi10ELi11EEEENSC_IJLi12ELi13EEEENSC_IJLi1"
     "4EEEES1D_S1E_S1G_S1F_NSC_IJLi19ELi20EEEENSC_IJLi21EEEEEEENSC_IJLi19ELi21ELi20EEEElEENSJ_INSK_IJS10_"
     "SY_SY_S10_SP_EEENSK_IJS12_S13_S14_S16_S15_EEENSK_IJNSC_IJLi1ELi2EEEES15_S16_NSC_IJLi5ELi6EEEES19_EE"
     "ENSC_IJLi5ELi7ELi6EEEElEENSJ_INSK_IJST_SY_SY_NSZ_INSK_IJiNS_17integral_constantIiLi64EEEEEELb0EEES2"
     "2_EEENSK_IJS12_S13_S14_S15_S16_EEENSK_IJS1U_S15_S16_S1V_NSC_IJLi7ELi8EEEEEEENSC_IJLi5ELi6ELi7ELi8EE"
     "EElEENS1_30ComputePtrOffsetOfStridedBatchILi1ELi1ELi0EvEELb1ELNS_25InMemoryDataOperationEnumE0ELi1E"
     "LNS_10TailNumberE10EEEvNT_8ArgumentET0_T1_T2_T3_S2I_i",
     "grouped_conv_fwd u16 64x64x64"},
    {"kernel_batched_gemm_xdlops_bwd_weight*",
     "_ZN2ck16tensor_operation6device37kernel_batched_gemm_xdlops_bwd_weightINS_47GridwiseGemm_bk0mk1_bk0"
     "nk1_mn_xdlops_bwd_weightILi64EttftLNS_25InMemoryDataOperationEnumE1ENS_16TensorDescriptorINS_5Tuple"
     "IJNS_5EmbedINS6_IJiiEEENS6_IJiNS_17integral_constantIiLi1EEEEEELb0EEENS_8RightPadIiiLb0EEENS_11Pass"
     "ThroughIiEENS_7UnMergeINS6_IJiiiEEELb0EEESG_SG_SG_SE_SG_EEENS6_IJNS_8SequenceIJLi0EEEENSL_IJLi1EEEE"
     "NSL_IJLi2EEEENSL_IJLi3EEEENSL_IJLi4EEEENSL_IJLi5EEEENSL_IJLi6EEEENSL_IJLi8EEEENSL_IJLi7EEEEEEENS6_I"
     "JNSL_IJLi1ELi2EEEESP_SQ_NSL_IJLi5ELi6ELi7EEEEST_NSL_IJLi9EEEENSL_IJLi10EEEENSL_IJLi11EEEENSL_IJLi12"
     "EEEEEEENSL_IJLi9ELi10ELi11ELi12EEEElEENS5_INS6_IJNS7_INS6_IJiiiiEEES15_Lb0EEESG_NS_3PadIiiiLb0EEES1"
     "8_SG_SG_NS7_IS8_S8_Lb0EEES19_SG_NS_23Merge_v2_magic_divisionISI_EES1B_SE_SG_SJ_SG_SG_SG_SE_SG_EEENS"
     "6_IJSM_SN_SO_SP_SQ_SR_SS_SU_ST_NSL_IJLi10ELi12ELi14EEEENSL_IJLi9ELi11ELi13EEEENSL_IJLi16EEEENSL_IJL"
     "i15EEEENSL_IJLi17EEEENSL_IJLi18EEEENSL_IJLi19EEEENSL_IJLi20EEEENSL_IJLi22EEEENSL_IJLi21EEEEEEENS6_I"
     "JNSL_IJLi1ELi2ELi3ELi4EEEESR_SS_SU_ST_SY_NSL_IJLi10ELi11EEEENSL_IJLi12ELi13EEEENSL_IJLi14EEEES1G_S1"
     "F_S1H_S1I_NSL_IJLi19ELi20ELi21EEEES1L_NSL_IJLi23EEEENSL_IJLi24EEEENSL_IJLi25EEEENSL_IJLi26EEEEEEENS"
     "L_IJLi23ELi24ELi25ELi26EEEElEENS5_INS6_IJSC_SE_SE_EEENS6_IJSM_SN_SO_EEENS6_IJSW_SP_SQ_EEENSL_IJLi3E"
     "Li4EEEElEENS0_12element_wise11PassThroughES26_S26_Li64ELi64ELi4ELi32ELi32ELi8ELi2ELi2ENSL_IJLi1ELi4"
     "ELi8ELi2EEEENSL_IJLi0ELi3ELi1ELi2EEEENSL_IJLi0ELi2ELi1ELi3EEEELi2ELi8ELi4ELb0ELb1ELi8ELi8ELi4ES27_S"
     "28_S29_Li2ELi8ELi4ELb0ELb1ELi8ELi8ELi4ELi1ELi1ELi8ENSL_IJLi1ELi16ELi1ELi4EEEELb1ELb1ELi1ELNS_15Pipe"
     "lineVersionE0EttEEtttS26_S26_S26_S14_S1Z_NS5_INS6_IJSC_SE_SE_NSH_INS6_IJiNS9_IiLi64EEEEEELb0EEES2F_"
     "EEENS6_IJSM_SN_SO_SP_SQ_EEENS6_IJSW_SP_SQ_NSL_IJLi5ELi6EEEENSL_IJLi7ELi8EEEEEEENSL_IJLi5ELi6ELi7ELi"
     "8EEEElEENS_38BlockToCTileMap_KSplit_M00_N00_M01_N01ILi64ELi64ES24_Lb0EEENS1_30ComputePtrOffsetOfStr"
     "idedBatchILi1ELi1ELi0EvEELb1EEEvPKT0_PKT1_PT2_T3_T4_T5_iT6_T7_T8_T9_T10_",
     "batched_gemm_bwd_weight u16 xdlops"},
    {"kernel_*xdl*",
     "void ck::kernel_gemm_xdl_cshuffle_v3<ck::GridwiseGemm_xdl_cshuffle_v3<ck::RowMajor, ck::ColumnMajor"
     ", ck::RowMajor, __half, __half, float, __half, __half, ck::PassThrough, 256, 128, 128, 64, 8, 8>, t"
     "rue>(int)",
     "gemm_xdl_cshuffle_v3 f16 128x128x64"},
    {"*GemmKernel",
     "void ck_tile::kentry<1, ck_tile::UniversalGemmKernel<ck_tile::TileGemmShape<ck_tile::sequence<256, "
     "256, 64> >, _Float16> >(int)",
     "UniversalGemm f16 256x256x64"},
    {"*gemm*", "_gemm_a8w8_blockscale_kernel", "_gemm_a8w8_blockscale_kernel"},
    {"*gemv*", "rocblas_gemvn_kernel", "rocblas_gemvn_kernel"},
    {"*matmul*", "_matmul_kernel", "_matmul_kernel"},
    {"*mul_mat*", "_ZL13mul_mat_vec_fI6__halfS0_Li2ELi128ELb0ELb0EEvPKT_", "mul_mat_vec_f<f16,f16,2,128,false,false>"},
    {"*splitk*", "void wvSplitK_hf_sml_<__hip_bfloat16, 64, 2, 16, 8, 2, 4>(int)",
     "wvSplitK_hf_sml_<bf16,64,2,16,8,2,4>"},
    {"*conv_*", "miopenSp3AsmConv_v30_3_1_gfx9_fp32_f2x3_stride1", "miopenSp3AsmConv_v30_3_1_gfx9_fp32_f2x3_stride1"},
    {"*conv1d*", "_causal_conv1d_fwd_kernel", "_causal_conv1d_fwd_kernel"},
    {"*conv2d*", "naive_conv2d_fwd", "naive_conv2d_fwd"},
    {"*convolution*", "depthwise_convolution_f32", "depthwise_convolution_f32"},
    {"*winograd*", "winograd_filter_transform", "winograd_filter_transform"},

    {"Rmsnorm2dFwd*",
     "_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipelineOnePassINS_27Rmsnorm2dFwdPipeline"
     "ProblemIDF16bDF16bfDF16bDF16bDF16bffNS_19Generic2dBlockShapeINS_8sequenceIJLi1ELi3072EEEENS5_IJLi1E"
     "Li128EEEENS5_IJLi1ELi8EEEEEENS_18Rmsnorm2dFwdTraitsILb1ELb0ELb0ELb0ELNS_21Rmsnorm2dFusedAddEnumE1EL"
     "NS_23Rmsnorm2dFusedQuantEnumE0ELNS_22Rmsnorm2dSensitiveEnumE0EEEEENS_33Rmsnorm2dFwdPipelineDefaultP"
     "olicyEEENS_17Default2DEpilogueINS_24Default2DEpilogueProblemIfDF16bLb0ELb1ELb0EEEvEEEEJNSM_5KargsEE"
     "EEvDpT1_",
     "Rmsnorm2dFwd bf16 1x3072 FusedAdd=1"},
    {"Layernorm2dFwd*",
     "_ZN7ck_tile6kentryILi1ENS_14Layernorm2dFwdINS_7ProblemIDF16_NS_8sequenceIJLi1ELi4096EEEEEEEEEEvv",
     "Layernorm2dFwd f16 1x4096"},
    {"softmax_warp_*", "void (anonymous namespace)::softmax_warp_forward<float, float, float, 9, false, false>(int)",
     "softmax_warp_forward f32 2^9 false"},
    {"cunn_SoftMax*",
     "void at::native::(anonymous namespace)::cunn_SoftMaxForwardReg<c10::BFloat16, float, c10::BFloat16,"
     " at::native::(anonymous namespace)::SoftMaxForwardEpilogue, long, 6>(int)",
     "cunn_SoftMaxForwardReg bf16 f32 SoftMaxForwardEpilogue i64 6"},
    {"vectorized_layer_norm*",
     "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float, false>(i"
     "nt)",
     "layer_norm bf16/f32 vectorized false"},
    {"batch_norm_collect_statistics*",
     "void at::native::batch_norm_collect_statistics_kernel<at::native::Var, c10::BFloat16, c10::BFloat16"
     ", float, int>(int)",
     "batch_norm_collect_statistics bf16/f32 Var i32"},
    {"*norm*", "_ZL12rms_norm_f32ILi1024ELb1ELb0ELb0EEvPKf", "rms_norm_f32<1024,true,false,false>"},
    {"*softmax*", "softmax_f32", "softmax_f32"},

    {"distribution_elementwise_grid_stride_kernel",
     "void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_kernel<float, 4, at::n"
     "ative::templates::cuda::normal_and_transform<c10::BFloat16, float, at::CUDAGeneratorImpl*, at::nati"
     "ve::templates::cuda::normal_kernel<at::CUDAGeneratorImpl*>(at::TensorBase const&, double, double, a"
     "t::CUDAGeneratorImpl*)::{lambda()#1}::operator()() const::{lambda()#4}::operator()() const::{lambda"
     "(float)#1}>(at::TensorIteratorBase&, at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_ke"
     "rnel<at::CUDAGeneratorImpl*>(at::TensorBase const&, double, double, at::CUDAGeneratorImpl*)::{lambd"
     "a()#1}::operator()() const::{lambda()#4}::operator()() const::{lambda(float)#1})::{lambda(hiprandSt"
     "atePhilox4_32_10*)#2}, at::native::(anonymous namespace)::distribution_nullary_kernel<c10::BFloat16"
     ", float, HIP_vector_type<float, 4u>, at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_an"
     "d_transform<c10::BFloat16, float, at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_kerne"
     "l<at::CUDAGeneratorImpl*>(at::TensorBase const&, double, double, at::CUDAGeneratorImpl*)::{lambda()"
     "#1}::operator()() const::{lambda()#4}::operator()() const::{lambda(float)#1}>(at::TensorIteratorBas"
     "e&, at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_kernel<at::CUDAGeneratorImpl*>(at::"
     "TensorBase const&, double, double, at::CUDAGeneratorImpl*)::{lambda()#1}::operator()() const::{lamb"
     "da()#4}::operator()() const::{lambda(float)#1})::{lambda(hiprandStatePhilox4_32_10*)#2}, at::native"
     "::templates::cuda::normal_kernel<at::CUDAGeneratorImpl*>(at::TensorBase const&, double, double, at:"
     ":CUDAGeneratorImpl*)::{lambda()#1}::operator()() const::{lambda()#4}::operator()() const::{lambda(f"
     "loat)#1}>(at::TensorIteratorBase&, at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_and_"
     "transform<c10::BFloat16, float, at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_kernel<"
     "at::CUDAGeneratorImpl*>(at::TensorBase const&, double, double, at::CUDAGeneratorImpl*)::{lambda()#1"
     "}::operator()() const::{lambda()#4}::operator()() const::{lambda(float)#1}>(at::TensorIteratorBase&"
     ", at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_kernel<at::CUDAGeneratorImpl*>(at::Te"
     "nsorBase const&, double, double, at::CUDAGeneratorImpl*)::{lambda()#1}::operator()() const::{lambda"
     "()#4}::operator()() const::{lambda(float)#1})::{lambda(hiprandStatePhilox4_32_10*)#2} const&, at::n"
     "ative::templates::cuda::normal_kernel<at::CUDAGeneratorImpl*>(at::TensorBase const&, double, double"
     ", at::CUDAGeneratorImpl*)::{lambda()#1}::operator()() const::{lambda()#4}::operator()() const::{lam"
     "bda(float)#1})::{lambda(int, float)#1}>(int)",
     "random normal bf16 f32 vec4 #2"},
    {"kernel_wrapper",
     "_ZN12rocrand_impl6system6detail14kernel_wrapperITnDaXadL_ZNS_4host15generate_philoxIfNS3_20uniform_"
     "distributionIfjEEEEv4dim3S7_S7_S7_NS3_27philox4x32_10_device_engineEPT_mT0_EENS3_23default_config_p"
     "roviderIL16rocrand_rng_type404EEEfLb0EJEEEvv",
     "generate_philox f32 uniform_distribution<f32,u32>"},
    {"generate_sobol*",
     "_ZN12rocrand_impl4host21generate_sobol_kernelILj1ELb0EN14rocrand_device14sobol32_engineILb1EEEjfNS0"
     "_25sobol_normal_distributionIfEELi256EEEvPT3_mPKT2_SB_jT4_",
     "generate_sobol f32 u32 sobol_normal_distribution 1 false sobol32_engine<true> 256"},
    {"*rand*", "void rocrand_impl::host::rand_init<float>(int)", "rand_init<f32>"},
    {"generate_*",
     "void rocrand_impl::host::generate_philox<float, rocrand_impl::host::uniform_distribution<float, uns"
     "igned int> >(int)",
     "generate_philox<f32,uniform_distribution<f32,u32>>"},
    {"init_engines*", "void init_engines_mrg<rocrand_device::mrg31k3p_engine>(int)",
     "init_engines_mrg<mrg31k3p_engine>"},
    {"*sampl*", "void flashinfer::sampling::TopKTopPSamplingKernel<512u, float>(int)",
     "TopKTopPSamplingKernel<512,f32>"},
    {"*multinomial*", "void at::native::(anonymous namespace)::sampleMultinomialOnce<float, float>(int)",
     "sampleMultinomialOnce<f32,f32>"},
    {"*topk*", "void at::native::sbtopk::gatherTopK<float, unsigned int, 2, false>(int)",
     "gatherTopK<f32,u32,2,false>"},
    {"*argmax*", "_argmax_kernel", "_argmax_kernel"},

    {"triton_*", "triton_poi_fused_add_addmm_silu_21", "triton pointwise #21 add addmm silu"},
    {"vectorized_elementwise_kernel",
     "void at::native::vectorized_elementwise_kernel<8, at::native::GeluCUDAKernelImpl(at::TensorIterator"
     "Base&, at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#4}::operator()() const::{"
     "lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int)",
     "vec8 gelu bf16"},
    {"vectorized_templated_elementwise_kernel",
     "void at::native::vectorized_templated_elementwise_kernel<8, at::native::CUDAFunctor_add<float>, std"
     "::array<char*, 3ul>, TrivialOffsetCalculator<2, unsigned int>, TrivialOffsetCalculator<1, unsigned "
     "int>, at::native::memory::LoadWithCast<2>, at::native::memory::StoreWithCast<1>, float, float, c10:"
     ":BFloat16>(int)",
     "vec8 add f32 templated LoadWithCast<2> StoreWithCast<1> bf16"},
    {"elementwise_kernel_manual_unroll",
     "void at::native::elementwise_kernel_manual_unroll<128, 8, at::native::gpu_kernel_impl_nocast<at::na"
     "tive::CUDAFunctor_add<c10::BFloat16> >(at::TensorIteratorBase&, at::native::CUDAFunctor_add<c10::BF"
     "loat16> const&)::{lambda(int, bool)#1}>(int)",
     "elementwise add bf16 (unroll 8) nocast #1 block128"},
    {"elementwise_kernel",
     "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl<at::native::direct_copy_ker"
     "nel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#12}::operator()() co"
     "nst::{lambda(c10::BFloat16)#1}>(at::TensorIteratorBase&, at::native::direct_copy_kernel_cuda(at::Te"
     "nsorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#12}::operator()() const::{lambda(c1"
     "0::BFloat16)#1} const&)::{lambda(int)#2}>(int)",
     "elementwise copy bf16 (unroll 4) #2 block128"},
    {"unrolled_elementwise_kernel",
     "void at::native::unrolled_elementwise_kernel<at::native::CUDAFunctor_add<float>, std::array<char*, "
     "3ul>, 4, TrivialOffsetCalculator<2, unsigned int>, TrivialOffsetCalculator<1, unsigned int>, at::na"
     "tive::memory::LoadWithoutCast, at::native::memory::StoreWithoutCast>(int)",
     "elementwise add f32 (unroll 4) unrolled"},
    {"unrolled_elementwise_kernel_for_multi_outputs",
     "void at::native::(anonymous namespace)::unrolled_elementwise_kernel_for_multi_outputs<3, at::native"
     "::(anonymous namespace)::batch_norm_update_stats_and_invert(at::Tensor const&, at::Tensor const&, a"
     "t::Tensor const&, at::Tensor const&, double, double, long)::{lambda()#1}::operator()() const::{lamb"
     "da()#4}::operator()() const::{lambda(float, float, c10::BFloat16, c10::BFloat16)#1}, std::array<cha"
     "r*, 7ul>, TrivialOffsetCalculator<4, unsigned int>, TrivialOffsetCalculator<3, unsigned int> >(int)",
     "elementwise batch_norm_update_stats_and_invert f32 (3 outputs)"},
    {"elementwise_kernel_with_index",
     "void (anonymous namespace)::elementwise_kernel_with_index<int, at::native::arange_cuda_out(c10::Sca"
     "lar const&, c10::Scalar const&, c10::Scalar const&, at::Tensor&)::{lambda()#1}::operator()() const:"
     ":{lambda()#4}::operator()() const::{lambda(long)#1}>(int)",
     "elementwise arange i64 (i32 index)"},
    {"multi_tensor_apply_kernel",
     "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)"
     "::TensorListMetadata<2>, at::native::(anonymous namespace)::CopyFunctor<int, long, 2, 1, 1>, at::na"
     "tive::Copy<int, long> >(int)",
     "foreach copy i32"},
    {"*act_and_mul*",
     "_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_bfloat16TnPFT_RKS3_EXadL_Z4siluIS2_ES3_S5_EEEEv"
     "PS3_PS4_i",
     "act_and_mul_kernel<bf16,silu<bf16>>"},
    {"*silu*", "silu_f32", "silu_f32"},
    {"*gelu*", "gelu_f32", "gelu_f32"},
    {"*elementwise*", "my_elementwise", "my_elementwise"},
    {"*quant*", "_ZN5aiter37dynamic_per_token_scaled_quant_kernelIDF16bDB8_Li32EEEvPT0_PfPT_",
     "dynamic_per_token_scaled_quant_kernel<bf16,_BitInt(8),32>"},
    {"unary_*", "_ZL15unary_op_kernelIXadL_ZL7op_gelufEE6__halfEvPKT0_PS1_i", "unary_op_kernel<op_gelu,f16>"},
    {"*bin_bcast*", "_ZL11k_bin_bcastIXadL_ZL6op_addffEEfffJPKfEEvPKT0_PKT1_PT2_jjj",
     "k_bin_bcast<op_add,f32,f32,f32,f32 const*>"},
    {"*convert*", "_ZL23convert_unary_cont_vec4If6__halfEvPKvPT0_l", "convert_unary_cont_vec4<f32,f16>"},
    {"*SubTensorOp*", "SubTensorOpWithScalar1d", "SubTensorOpWithScalar1d"},

    {"reduce_kernel",
     "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<c10::BFloat16, at::native::func_wrapper"
     "_t<c10::BFloat16, at::native::sum_functor<c10::BFloat16, float, c10::BFloat16>::operator()(at::Tens"
     "orIterator&)::{lambda(float, float)#1}>, unsigned int, c10::BFloat16, 4, 8> >(int)",
     "reduce sum bf16 vt4 block128"},
    {"trampoline_kernel",
     "void rocprim::ROCPRIM_400400_NS::detail::trampoline_kernel<rocprim::ROCPRIM_400400_NS::default_conf"
     "ig, rocprim::ROCPRIM_400400_NS::detail::reduce_config_selector<bool>, rocprim::ROCPRIM_400400_NS::d"
     "etail::reduce_impl<true, rocprim::ROCPRIM_400400_NS::default_config, hipcub::HIPCUB_400400_NS::Tran"
     "sformInputIterator<bool, at::native::(anonymous namespace)::NonZeroOp<bool>, bool const*, long>, in"
     "t*, int, hipcub::HIPCUB_400400_NS::detail::convert_binary_result_type_wrapper<hipcub::HIPCUB_400400"
     "_NS::Sum, hipcub::HIPCUB_400400_NS::TransformInputIterator<bool, at::native::(anonymous namespace):"
     ":NonZeroOp<bool>, bool const*, long>, int> >(void*, unsigned long&, hipcub::HIPCUB_400400_NS::Trans"
     "formInputIterator<bool, at::native::(anonymous namespace)::NonZeroOp<bool>, bool const*, long>, int"
     "*, int, unsigned long, hipcub::HIPCUB_400400_NS::detail::convert_binary_result_type_wrapper<hipcub:"
     ":HIPCUB_400400_NS::Sum, hipcub::HIPCUB_400400_NS::TransformInputIterator<bool, at::native::(anonymo"
     "us namespace)::NonZeroOp<bool>, bool const*, long>, int>, ihipStream_t*, bool)::{lambda(auto:1)#3},"
     " rocprim::ROCPRIM_400400_NS::detail::comp_target<(rocprim::ROCPRIM_400400_NS::detail::gen)5, (rocpr"
     "im::ROCPRIM_400400_NS::detail::target_arch)942, (rocprim::ROCPRIM_400400_NS::detail::gpu)9, (rocpri"
     "m::ROCPRIM_400400_NS::detail::rep)0>, rocprim::ROCPRIM_400400_NS::detail::default_config_static_sel"
     "ector, (rocprim::ROCPRIM_400400_NS::arch::wavefront::target)1>(int)",
     "rocprim reduce bool #3"},
    {"init_lookback_scan_state_kernel",
     "void rocprim::ROCPRIM_400400_NS::detail::init_lookback_scan_state_kernel<rocprim::ROCPRIM_400400_NS"
     "::detail::lookback_scan_state<unsigned long, false, true>, rocprim::ROCPRIM_400400_NS::detail::bloc"
     "k_id_wrapper<unsigned int, true> >(int)",
     "rocprim init_lookback_scan u64"},
    {"device_block_merge_oddeven*",
     "void rocprim::detail::device_block_merge_oddeven_kernel<rocprim::detail::wrapped_merge_sort_block_m"
     "erge_config<rocprim::default_config, float, int>, float*, unsigned int>(int)",
     "rocprim block_merge_oddeven f32"},
    {"device_block_merge_mergepath*",
     "void rocprim::detail::device_block_merge_mergepath_kernel<rocprim::detail::wrapped_merge_sort_block"
     "_merge_config<rocprim::default_config, float, int>, float*, unsigned int>(int)",
     "rocprim block_mergepath f32"},
    {"rocprim::*",
     "void rocprim::detail::onesweep_histograms_kernel<rocprim::detail::wrapped_radix_sort_onesweep_confi"
     "g<rocprim::default_config, float, int>, false, float*, unsigned int>(int)",
     "rocprim onesweep_histograms f32"},
    {"*reduce*", "reduce_segments", "reduce_segments"},
    {"*scan*", "void rocprim::detail::lookback_scan_kernel<float>(int)", "rocprim lookback_scan f32"},
    {"*sort*", "void rocprim::detail::block_sort_kernel<float>(int)", "rocprim block_sort f32"},
    {"*cumsum*", "void at::native::cumsum_rows<float>(int)", "cumsum_rows<f32>"},
    {"*sum*", "sum_rows_f32", "sum_rows_f32"},

    {"CatArrayBatchedCopy",
     "void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::(anonymous namespace)::Opaq"
     "ueType<2u>, unsigned int, 3, 64, 64>(int)",
     "cat 2B 3d u32 64"},
    {"CatArrayBatchedCopy_*",
     "void at::native::(anonymous namespace)::CatArrayBatchedCopy_contig<at::native::(anonymous namespace"
     ")::OpaqueType<2u>, unsigned int, 1, 128, 1>(int)",
     "cat 2B 1d contig u32 128 1"},
    {"index_elementwise_kernel",
     "void at::native::index_elementwise_kernel<128, 4, at::native::gpu_index_kernel<at::native::index_ke"
     "rnel_impl<at::native::OpaqueType<2> >(at::TensorIteratorBase&, c10::ArrayRef<long>, c10::ArrayRef<l"
     "ong>)::{lambda(char*, char const*, long)#1}>(at::TensorIteratorBase&, c10::ArrayRef<long>, c10::Arr"
     "ayRef<long>, at::native::index_kernel_impl<at::native::OpaqueType<2> >(at::TensorIteratorBase&, c10"
     "::ArrayRef<long>, c10::ArrayRef<long>)::{lambda(char*, char const*, long)#1} const&)::{lambda(int)#"
     "1}>(int)",
     "index 2B (unroll 4) #1"},
    {"indexSelect*",
     "void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, unsigned int, 2,"
     " 2, -2, true>(int)",
     "indexSelectLargeIndex bf16 to2d from2d i64 u32 -2 true"},
    {"vectorized_gather_kernel", "void at::native::vectorized_gather_kernel<16, long>(int)", "gather 16B (index i64)"},
    {"*copy*", "__amd_rocclr_copyBuffer", "__amd_rocclr_copyBuffer"},
    {"*fill*", "__amd_rocclr_fillBufferAligned", "__amd_rocclr_fillBufferAligned"},
    {"*transpose*", "batched_transpose_32x32_half", "batched_transpose_32x32_half"},
    {"*cat*", "_ZL11concat_contIhLi0EEvPKT_S2_PS0_llllll", "concat_cont<u8,0>"},
    {"*index*", "index_rows_f32", "index_rows_f32"},
    {"*gather*", "gather_rows_f32", "gather_rows_f32"},
    {"*scatter*", "scatter_rows_f32", "scatter_rows_f32"},
    {"*get_rows*", "_ZL16k_get_rows_floatIffEvPKT_PKiPT0_ll", "k_get_rows_float<f32,f32>"},
    {"*set_rows*", "_ZL10k_set_rowsIfl6__halfEvPKT_PKT0_PT1_ll", "k_set_rows<f32,i64,f16>"},
    {"*memset*", "memset_u8", "memset_u8"},
    {"*im2col*", "_ZL13im2col_kernelI6__halfEvPKfPT_lll", "im2col_kernel<f16>"},

    {"kentry", "_ZN7ck_tile6kentryILi1ENS_9SomethingIDF16bLi4EEEEEvv", "Something bf16 4"},
    {"upsample_*",
     "void at::native::(anonymous namespace)::upsample_nearest2d_out_frame<c10::BFloat16, &at::native::ne"
     "arest_neighbor_compute_source_index>(int)",
     "upsample_nearest2d_out_frame bf16 &nearest_neighbor_compute_source_index"},
};

#endif
