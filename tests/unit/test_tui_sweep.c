/*
 * All screens over rows x columns x GPUs x processes: whatever the terminal, no number is cut, nothing else is cut
 * without a mark, and nothing stands outside. And the screens of several processes, and families, at the sizes that are
 * designed.
 */
#include "tui_synth.h"

#include "model/merge.h"
#include "text/text.h"

#include "golden_fixture.h"

static const char *const names[] = {
    "Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT128x128x64_MI16x16x1_SN_LDSB0_AFC1_WG32_8_1_WGM8",
    "_Z38paged_attention_ll4mi_QKV_mfma16_kernelI14__hip_bfloat16hLN4vllm18Fp8KVCacheDataTypeE1ES0_"
    "Li16ELi128ELi256ELb0ELi8EEvPKT_",
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

/* What one does in a second; the third from the end is slow. */
static void work(int process, uint64_t second)
{
    struct synth *p = processes[process];
    uint64_t slow = process_count > 1 && process == process_count - 3 ? 2 : 1;
    for (int k = 0; k < NAMES; k++) {
        if (k == 5) /* collectives are as long as the others wait */
            synth_record(p, k, slow > 1 ? 21000 : 170000 + second * 100, 500);
        else
            synth_record(p, k, (uint64_t)(150000 >> k) * slow + second * 10, 300u >> (k & 1));
    }
    synth_untimed(p, 6, RTL_UNTIMED_OWN_SIGNAL, 40 * (second & 1));
    for (int g = 0; g < p->gpu_count; g++) {
        p->busy_ns[g] += RTL_SEC / 100 * (60 + (uint64_t)(g * 7 + process) % 30);
        p->idle[g][3].count += 40;
        p->idle[g][3].total_ns += RTL_SEC / 5;
        if (g < SYNTH_QUEUES) {
            synth_add(&p->queues[g].wait, 14000, 2000);
            synth_copies(p, g, RTL_COPY_H2D, 1 << 20, 43000, 15);
        }
    }
}

static void start(int gpus, int count, uint64_t seconds)
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
            if (gpus == 1) /* each has its own */
                one.agents[0].bdf = 0x0300u + ((uint32_t)i % RTL_AGENTS_MAX << 8);
            assert_true(rtl_merge_take(merge, (uint32_t)i, &one));
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

static int end(void **state)
{
    (void)state;
    rtl_model_free(ui.model);
    rtl_merge_free(merge);
    merge = NULL;
    for (int i = 0; i < process_count; i++)
        synth_free(processes[i]);
    process_count = 0;
    return 0;
}

static const char *view_name(void)
{
    static const char *const words[] = {"kernels", "queues", "copies", "detail", "help", "processes", "ranks"};
    return ui.view < sizeof words / sizeof *words ? words[ui.view] : "?";
}

/* One screen as it is drawn, looked at. */
static void look(int rows, int cols)
{
    struct rtl_frame frame = {0};
    char text[4096];
    rtl_ui_fit(&ui, rows, cols);
    assert_true(rtl_frame_reset(&frame, rows, cols, ui.ascii));
    rtl_draw(&ui, &frame);
    if (frame.numbers_cut) {
        char *all = synth_text(&frame);
        fail_msg("%d numbers have no room on %s, %dx%d:\n%s", frame.numbers_cut, view_name(), cols, rows, all);
    }
    assert_true(frame.cursor_row >= 0 && frame.cursor_row < rows && frame.cursor_col >= 0 && frame.cursor_col < cols);
    bool state_shown = false;
    for (int row = 0; row < rows; row++) {
        rtl_frame_row_text(&frame, row, text, sizeof text);
        if (rtl_text_columns(text) > cols)
            fail_msg("a line of %s is wider than %d columns: %s", view_name(), cols, text);
        for (const char *at = text; ui.ascii && *at; at++)
            assert_true((unsigned char)*at < 0x80);
        state_shown |= strstr(text, "[LIVE]") != NULL;
    }
    if (rows >= 3 && cols >= 24 && ui.view != RTL_VIEW_HELP && !state_shown)
        fail_msg("%s at %dx%d doesn't say in which state the process is", view_name(), cols, rows);
    rtl_frame_free(&frame);
}

static void every_screen_at_every_size(void **state)
{
    (void)state;
    static const int gpus[] = {1, 8, 16}, counts[] = {1, 8, 64};
    static const int rows[] = {1, 2, 3, 5, 9, 12, 24, 40, 61};
    static const int cols[] = {1, 4, 5, 14, 20, 24, 33, 40, 47, 60, 72, 80, 95, 111, 131, 160, 200, 240};
    for (size_t g = 0; g < sizeof gpus / sizeof *gpus; g++)
        for (size_t p = 0; p < sizeof counts / sizeof *counts; p++) {
            start(gpus[g], counts[p], 12);
            for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
                for (size_t c = 0; c < sizeof cols / sizeof *cols; c++)
                    for (int view = 0; view <= RTL_VIEW_RANKS; view++) {
                        ui.view = (enum rtl_view)view;
                        ui.following = false;
                        ui.selected = ui.model->rows[0].id;
                        ui.ascii = (r + c) % 3 == 0;
                        ui.units = (enum rtl_unit)((r * 7 + c) % RTL_UNIT_COUNT);
                        ui.model->families = view == RTL_VIEW_KERNELS && c % 2;
                        rtl_model_refresh(ui.model);
                        look(rows[r], cols[c]);
                    }
            end(NULL);
        }
}

/* The sizes that are designed, of each screen that others are measured by. */
static void designed(const char *screen)
{
    static const int sizes[][2] = {{80, 24}, {120, 40}, {160, 45}, {200, 60}, {40, 12}, {20, 5}};
    char name[64];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        snprintf(name, sizeof name, "%s-%dx%d", screen, sizes[i][0], sizes[i][1]);
        golden(name, sizes[i][1], sizes[i][0]);
    }
}

static void a_server_of_eight_ranks(void **state)
{
    (void)state;
    start(1, 8, 40);
    ui.now_real_s = 14 * 3600 + 2 * 60 + 31;
    designed("eight-ranks");
    rtl_ui_key(&ui, 'p');
    designed("eight-ranks-processes");
    rtl_ui_key(&ui, 'p');
    rtl_ui_key(&ui, 'e');
    designed("eight-ranks-kernel");
    rtl_ui_key(&ui, 'e');
    rtl_ui_key(&ui, 'g');
    designed("eight-ranks-families");
    end(NULL);
}

int main(void)
{
    setenv("TZ", "UTC", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_screen_at_every_size),
        cmocka_unit_test(a_server_of_eight_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
