/*
 * A server for tests of the screen: any number of ranks, one of them slow, with a GPU for each rank or one GPU for all.
 */
#ifndef RTL_TESTS_RANKS_FIXTURE_H
#define RTL_TESTS_RANKS_FIXTURE_H

#include "tui_synth.h"

#include "model/merge.h"

#include "golden_fixture.h"

static const char *const names[] = {
    "Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT128x128x64_MI16x16x1_SN_LDSB0_AFC1_WG32_8_1_WGM8",
    ("_Z39paged_attention_ll4mi_QKV_mfma16_kernelI14__hip_bfloat16hLN4vllm18Fp8KVCacheDataTypeE1ES0_"
     "Li16ELi128ELi256ELb0ELi8EEvPKT_"),
    "_ZN4vllm25fused_add_rms_norm_kernelIN3c108BFloat16ELi8EEEvPT_S3_PKS2_fii",
    "_ZN4vllm23rotary_embedding_kernelIN3c108BFloat16ELb1EEEvPKlPT_S5_PKS4_illiii",
    "triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_5",
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
    "__amd_rocclr_copyBuffer",
};
enum { NAMES = sizeof names / sizeof *names, PROCESSES_MOST = 64 };

static struct synth *processes[PROCESSES_MOST];
static struct rtl_merge *merge;
static int process_count;
static uint64_t attention_slower_from = UINT64_MAX; /* from this second on, paged attention takes three times as long */

/* Add a rank's work of one second. The third rank from the end is slow. */
static inline void work(int process, uint64_t second)
{
    struct synth *p = processes[process];
    uint64_t slow = process_count > 1 && process == process_count - 3 ? 2 : 1;
    for (int k = 0; k < NAMES; k++) {
        if (k == 5) /* a collective lasts until the slowest rank arrives */
            synth_record(p, k, slow > 1 ? 21000 : 170000 + second * 100, 500);
        else
            synth_record(p, k,
                         (uint64_t)(150000 >> k) * slow * (k == 1 && second >= attention_slower_from ? 3 : 1) +
                             second * 10,
                         300u >> (k & 1));
    }
    synth_untimed(p, 6, RTL_UNTIMED_OWN_SIGNAL, 40 * (second & 1));
    for (int g = 0; g < p->gpu_count; g++) {
        p->busy_ns[g] += RTL_SEC / 100 * (60 + (uint64_t)(g * 7 + process) % 30);
        p->idle[g][3].count += 40;
        p->idle[g][3].total_ns += RTL_SEC / 5;
        p->cause_ns[g][RTL_CAUSE_NO_WORK] += RTL_SEC / 5;
        if (g < SYNTH_QUEUES) {
            synth_add(&p->queues[g].wait, 14000, 2000);
            synth_copies(p, g, RTL_COPY_H2D, 1 << 20, 43000, 15);
        }
    }
}

static inline void start(int gpus, int count, uint64_t seconds)
{
    process_count = count;
    merge = count > 1 ? rtl_merge_create() : NULL;
    for (int i = 0; i < count; i++) {
        struct rtl_member_info info = {.pid = 4194000 + i, .rank = i};
        processes[i] = synth_create(gpus, gpus < SYNTH_QUEUES ? gpus : SYNTH_QUEUES);
        for (int k = 0; k < NAMES; k++)
            synth_kernel(processes[i], names[k]);
        snprintf(info.label, sizeof info.label, "TP%d", i);
        snprintf(info.title, sizeof info.title, "python3 -m vllm.entrypoints.openai.api_server --tensor-parallel %d",
                 i);
        snprintf(info.container, sizeof info.container, "0123456789ab");
        if (merge)
            rtl_merge_join(merge, &info);
    }
    char title[160];
    snprintf(title, sizeof title, "%d processes: python3 -m vllm.entrypoints.openai.api_server", count);
    rtl_ui_init(&ui, rtl_model_create(), 4194000, count > 1 ? title : title + strlen("1 processes: "));
    for (uint64_t second = 1; second <= seconds; second++) {
        for (int i = 0; i < count; i++)
            work(i, second);
        struct rtl_snapshot s;
        for (int i = 0; merge && i < count; i++) {
            struct rtl_snapshot one = synth_snapshot(processes[i], second * RTL_SEC);
            if (gpus == 1) /* a GPU for each rank */
                one.agents[0].bdf = 0x0300u + ((uint32_t)i % RTL_AGENTS_MAX << 8);
            assert_true(rtl_merge_update(merge, (uint32_t)i, &one));
            rtl_snapshot_free(&one);
        }
        if (merge)
            assert_true(rtl_merge_make(merge, SYNTH_START + second * RTL_SEC, &s));
        else
            s = synth_snapshot(processes[0], second * RTL_SEC);
        assert_true(rtl_model_add(ui.model, &s, 1000 * RTL_SEC + second * RTL_SEC));
    }
    ui.now_mono_ns = SYNTH_START + seconds * RTL_SEC;
}

static inline void end(void)
{
    rtl_model_free(ui.model);
    rtl_merge_free(merge);
    merge = NULL;
    for (int i = 0; i < process_count; i++)
        synth_free(processes[i]);
    process_count = 0;
    attention_slower_from = UINT64_MAX;
}

#endif
