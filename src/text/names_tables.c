/*
 * The rules for short names, one table a family. See names_rules.h.
 *
 * All rules precede all patterns without words to show, whatever their tables. Each rule and pattern needs an example
 * in tests/unit/names_examples.h.
 */
#include "text/names_rules.h"

static const struct rtl_name_rule comm[] = {
    {"ncclDevKernel_Generic*", "nccl generic"},
    {"ncclDevKernel_*", "nccl $w1 $type | $more"},
    {"mscclKernel_*", "msccl $w1 $type | $more"},
};
static const char *const comm_names[] = {"*all*reduce*",     "*cross_device_reduce*", "*all*gather*",
                                         "*reduce*scatter*", "*_ar_kernel*",          NULL};

static const struct rtl_name_rule moe[] = {
    {"MoeFlatmmKernel*", "moe_flatmm $type $seq0 | $enum"},
};
static const char *const moe_names[] = {
    "*moe*", "*topkgating*", "*combined_routing*", "*expert*", "*grouped_topk*", "*finalize_matmul_scatter*", NULL};

static const struct rtl_name_rule attention[] = {
    {"paged_attention_ll4mi_QKV_mfma*", "paged_attn $types hd$int1 | $w4 blk$int0 gqa$int3 $enum"},
    {"paged_attention_ll4mi_reduce*", "paged_attn reduce $types hd$int0 | part$int2"},
    {"paged_attention_v*", "paged_attn $types hd$2 | $w2 blk$3 $enum"},
    {"*fmha*kernel", "$name $type hd$seqlast0 | $enum $seq0"},
};
static const char *const attention_names[] = {"*attn*", "*attention*",         "*fmha*",     "*rotary*", "*rope*",
                                              "*mla_*", "*reshape_and_cache*", "*kv_cache*", "sage_*",   NULL};

static const struct rtl_name_rule gemm[] = {
    {"*Cijk_*", "@gemm"},
    {"igemm_*", "igemm $w1 $type ${bt} $w3 | wt${wt}"},
    {"_matmul_ogs*", "matmul_$w1 $type $tile $w5 | $w2"},
    {"kernel_grouped_conv_fwd_multiple_abd*", "grouped_conv_fwd_multiple_abd $type0 $run2 "},
    {"kernel_grouped_conv_fwd*", "grouped_conv_fwd $type0 $run1"},
    {"kernel_batched_gemm_xdlops_bwd_weight*", "batched_gemm_bwd_weight $type0 | xdlops"},
    {"kernel_*xdl*", "$name $type0 $run1"},
    {"*GemmKernel", "$name $type $seq0 | $enum"},
};
static const char *const gemm_names[] = {"*gemm*",   "*gemv*",   "*matmul*",      "*mul_mat*",  "*splitk*", "*conv_*",
                                         "*conv1d*", "*conv2d*", "*convolution*", "*winograd*", NULL};

static const struct rtl_name_rule norm[] = {
    {"Rmsnorm2dFwd*", "$name $type $seq0 $enum"},
    {"Layernorm2dFwd*", "$name $type $seq0 $enum"},
    {"softmax_warp_*", "$name $types | 2^$int0 $more"},
    {"cunn_SoftMax*", "$name $type | $more"},
    {"vectorized_layer_norm*", "layer_norm $types vectorized | $more"},
    {"batch_norm_collect_statistics*", "$name $types | $more"},
};
static const char *const norm_names[] = {"*norm*", "*softmax*", NULL};

static const struct rtl_name_rule sampling[] = {
    {"distribution_elementwise_grid_stride_kernel", "random $op2 $type2 | $type0 vec$1 $lambda2"},
    {"kernel_wrapper", "=0"},
    {"generate_sobol*", "generate_sobol $type4 $type3 $op5 | $more"},
};
static const char *const sampling_names[] = {"*rand*",        "generate_*", "init_engines*", "*sampl*",
                                             "*multinomial*", "*topk*",     "*argmax*",      NULL};

static const struct rtl_name_rule elementwise[] = {
    {"triton_*", "@triton"},
    {"vectorized_elementwise_kernel", "vec$0 $op1 $type1 | $variant1"},
    {"vectorized_templated_elementwise_kernel", "vec$0 $op1 $type1 | templated $more"},
    {"elementwise_kernel_manual_unroll", "elementwise $op2 $type2 | (unroll $1) $variant2 $lambda2 block$0"},
    {"elementwise_kernel", "elementwise $op2 $type2 | (unroll $1) $variant2 $lambda2 block$0"},
    {"unrolled_elementwise_kernel", "elementwise $op0 $type0 | (unroll $2) unrolled"},
    {"unrolled_elementwise_kernel_for_multi_outputs", "elementwise $op1 $type1 | ($0 outputs)"},
    {"elementwise_kernel_with_index", "elementwise $op1 $type1 | ($0 index)"},
    {"multi_tensor_apply_kernel", "foreach $op1 $type1 $op2"},
};
static const char *const elementwise_names[] = {"*act_and_mul*", "*silu*",      "*gelu*",    "*elementwise*", "*quant*",
                                                "unary_*",       "*bin_bcast*", "*convert*", "*SubTensorOp*", NULL};

static const struct rtl_name_rule reduce[] = {
    {"reduce_kernel", "reduce $op2 $type2 | vt$1 block$0 $more"},
    {"trampoline_kernel", "rocprim $op2 $type1 | $lambda2"},
    {"init_lookback_scan_state_kernel", "rocprim init_lookback_scan $type0"},
    {"device_block_merge_oddeven*", "rocprim block_merge_oddeven $type"},
    {"device_block_merge_mergepath*", "rocprim block_mergepath $type"},
    {"rocprim::*", "rocprim $name $type"},
};
static const char *const reduce_names[] = {"*reduce*", "*scan*", "*sort*", "*cumsum*", "*sum*", NULL};

static const struct rtl_name_rule copy[] = {
    {"CatArrayBatchedCopy", "cat $type0 $2d | $more"},
    {"CatArrayBatchedCopy_*", "cat $type0 $2d | $w1 $w2 $w3 $more"},
    {"index_elementwise_kernel", "index $type2 | (unroll $1) $lambda2"},
    {"indexSelect*", "$name $type0 | to$3d from$4d $more"},
    {"vectorized_gather_kernel", "gather $0B (index $type1)"},
};
static const char *const copy_names[] = {"*copy*",    "*fill*",     "*transpose*", "*cat*",    "*index*",  "*gather*",
                                         "*scatter*", "*get_rows*", "*set_rows*",  "*memset*", "*im2col*", NULL};

static const struct rtl_name_rule other[] = {
    {"kentry", "=1"},
    {"upsample_*", "$name $type | $more"},
};
static const char *const other_names[] = {NULL};

#define TABLE(sym, rules)                                                    \
    {                                                                        \
        RTL_FAMILY_##sym, rules, sizeof rules / sizeof *rules, rules##_names \
    }
const struct rtl_name_table rtl_name_tables[] = {
    TABLE(COMM, comm), TABLE(MOE, moe),           TABLE(ATTENTION, attention),     TABLE(GEMM, gemm),
    TABLE(NORM, norm), TABLE(SAMPLING, sampling), TABLE(ELEMENTWISE, elementwise), TABLE(REDUCE, reduce),
    TABLE(COPY, copy), TABLE(OTHER, other),
};
const size_t rtl_name_table_count = sizeof rtl_name_tables / sizeof *rtl_name_tables;
