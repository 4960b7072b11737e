/*
 * The main screen at the reference sizes: a server on two GPUs and one on eight, after a minute and a half in which a
 * kernel got slower. Also the meaning of its marks.
 */
#include "golden_fixture.h"

#include "frame_text.h"

#include <time.h>

#include "model/trend.h"
#include "tui/themes.h"

static const struct {
    const char *name;
    uint64_t ns, tail_ns;
    int calls; /* a second */
} kernels[] = {
    {"Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT128x128x64_MI16x16x1_SN_LDSB0_AFC1_WG32_8_1_WGM8", 153000, 191000,
     1900},
    {"paged_attention_ll4mi_QKV_mfma16_kernel", 243000, 700000, 590},
    {"Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT256x256x64_MI16x16x1_SN_LDSB0_AFC1_WG32_8_1_WGM8", 121000, 140000,
     800},
    {"_ZN4vllm25fused_add_rms_norm_kernelIN3c108BFloat16ELi8EEEvPT_S3_PKS2_fii", 12000, 21000, 3900},
    {"_ZN4vllm18act_and_mul_kernelIN3c108BFloat16ETnPFT_RKS3_EXadL_ZNS_11silu_kernelIS2_EES3_S5_EELb1EEEvPS3_PS4_i",
     17000, 24000, 1900},
    {"_ZN4vllm23rotary_embedding_kernelIN3c108BFloat16ELb1EEEvPKlPT_S5_PKS4_illiii", 8200, 11000, 1900},
    {"_ZN4vllm30reshape_and_cache_flash_kernelIthLNS_18Fp8KVCacheDataTypeE1EEEvPKT_S4_PT0_S6_PKlllliiiPKfS9_", 6100,
     9000, 1900},
    {"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIN3c108BFloat16EEESt5arrayIPcLm3EEEEviT0_"
     "T1_",
     4800, 7000, 900},
    {"triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_5", 21000, 30000, 240},
    {"_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_14func_wrapper_tIfZNS0_11sum_functorIfffEclERNS_"
     "14TensorIteratorEEUlffE_EEjfLi4ELi4EEEEEvT1_",
     31000, 52000, 110},
    {"__amd_rocclr_copyBuffer", 3900, 8000, 300},
    {"_Z31ncclDevKernel_AllReduce_RING_LL24ncclDevKernelArgsStorageILm4096EE", 0, 0, 1},
};
enum { KERNELS = sizeof kernels / sizeof *kernels, SECONDS_ALL = 90, SLOW_FROM = 80 };

static struct synth *p;
static struct rtl_model *m;
static bool healthy; /* no kernel gets slower */

static int teardown(void **state)
{
    (void)state;
    rtl_model_free(m);
    synth_free(p);
    m = NULL;
    p = NULL;
    healthy = false;
    return 0;
}

static void run_server(int gpus)
{
    p = synth_create(gpus, gpus);
    m = rtl_model_create();
    assert_non_null(m);
    for (int i = 0; i < KERNELS; i++)
        synth_kernel(p, kernels[i].name);
    for (int t = 1; t <= SECONDS_ALL; t++) {
        for (int i = 0; i < KERNELS; i++) {
            uint64_t tail = kernels[i].tail_ns * (i == 1 && t > SLOW_FROM && !healthy ? 4 : 1);
            tail += tail * (uint64_t)(t * (i + 3) % 11) / 400; /* noise: a percent or two */
            if (!kernels[i].ns)
                synth_untimed(p, i, RTL_UNTIMED_OWN_SIGNAL, 1);
            for (int n = 0; kernels[i].ns && n < 100; n++)
                synth_record(p, i, n < 97 ? kernels[i].ns * (uint64_t)(900 + n * 2) / 1000 : tail,
                             (uint64_t)kernels[i].calls * (n % 10 ? 1 : 2) / 110);
        }
        for (int g = 0; g < gpus; g++) {
            uint64_t busy = 880 - (uint64_t)(t * 7 % 13) * 6 - (g == gpus - 1 ? 190 : 0);
            p->busy_ns[g] += RTL_SEC / 1000 * busy;
            p->idle[g][0].count += 3000;
            p->idle[g][0].total_ns += RTL_SEC / 1000 * 20;
            p->idle[g][3].count += 40;
            p->idle[g][3].total_ns += RTL_SEC / 1000 * (980 - busy);
            p->cause_ns[g][RTL_CAUSE_SHORT] += RTL_SEC / 1000 * 20;
            p->cause_ns[g][RTL_CAUSE_BARRIER] += RTL_SEC / 1000 * (980 - busy);
            synth_add(&p->queues[g].wait, 14000 + (uint64_t)g * 700, 2000);
            synth_add(&p->queues[g].wait, 210000, 30);
            p->queues[g].injected = p->queues[g].completed + (t % 3 ? 4 : 0);
            if (g < 8)
                synth_copies(p, g, RTL_COPY_H2D, 1 << 20, 43000, 150);
        }
        synth_tick(p, m, (uint64_t)t * RTL_SEC);
    }
    rtl_ui_init(&ui, m, 4711, "vllm serve meta-llama/Llama-3.3-70B --tensor-parallel-size 2");
    ui.now_mono_ns = SYNTH_START + SECONDS_ALL * RTL_SEC;
    ui.now_real_s = 14 * 3600 + 2 * 60 + 31; /* 14:02:31 UTC */
}

static void the_main_screen_is_drawn_at_every_size(void **state)
{
    (void)state;
    run_server(2);
    golden("server-80x24", 24, 80);
    golden("server-120x40", 40, 120);
    golden("server-160x45", 45, 160);
    golden("server-200x60", 60, 200);
    golden("server-40x12", 12, 40);
    golden("server-20x5", 5, 20);
}

static void the_main_screen_with_eight_gpus_is_drawn(void **state)
{
    (void)state;
    run_server(8);
    golden("server-8-80x24", 24, 80);
    golden("server-8-200x60", 60, 200);
    golden("server-8-40x12", 12, 40);
}

/* Only the kernel that got slower is marked, compared over two windows of ten seconds. */
static void only_the_slower_kernel_is_marked(void **state)
{
    (void)state;
    run_server(2);
    drawn(24, 80, "\n !");
    drawn(24, 80, " 4.0x ");
    const struct rtl_row *row = rtl_model_row(m, p->kernels[1].id);
    assert_true(rtl_change_is_worse(row->change.p99));
    assert_false(rtl_change_is_worse(row->change.p50));
    for (int i = 2; i < KERNELS; i++)
        assert_false(rtl_change_is_worse(rtl_model_row(m, p->kernels[i].id)->change.p99));
    rtl_model_sort(m, RTL_COLUMN_CHANGE, false);
    assert_int_equal(m->rows[m->order[0]].id, p->kernels[1].id);
    drawn(5, 20, "25.6!paged_attn");
}

/* Count the cells of a screen whose colour means "act now" or "failed". */
static int count_alarms(int rows, int cols)
{
    struct rtl_frame frame = {0};
    int found = 0;
    rtl_ui_scroll_into_view(&ui, rows, cols);
    assert_true(rtl_frame_reset(&frame, rows, cols, false));
    rtl_draw(&ui, &frame);
    for (int i = 0; i < rows * cols; i++) {
        enum rtl_meaning meaning = rtl_role_meaning((enum rtl_role)frame.cells[i].role);
        found += meaning == RTL_MEANING_ACT || meaning == RTL_MEANING_STOPPED;
    }
    rtl_frame_free(&frame);
    return found;
}

static void a_healthy_server_has_nothing_orange(void **state)
{
    (void)state;
    static const int sizes[][2] = {{24, 80}, {40, 120}, {45, 160}, {60, 200}, {12, 40}, {5, 20}};
    healthy = true;
    run_server(2); /* idle for 16 % and 35 %, behind barriers */
    assert_int_equal(m->gpus[1].verdict, RTL_VERDICT_WAITING);
    for (int view = 0; view < RTL_VIEW_COUNT; view++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            ui.view = (enum rtl_view)view;
            if (view == RTL_VIEW_HELP) /* lists the colours */
                continue;
            if (count_alarms(sizes[i][0], sizes[i][1]))
                fail_msg("view %d has a warning's colour at %dx%d", view, sizes[i][1], sizes[i][0]);
        }
    ui.view = RTL_VIEW_KERNELS;
    rtl_ui_say(&ui, "a message");
    assert_int_equal(count_alarms(24, 80), 0);
}

/* themes.h has the rules. */
static void orange_means_act_now(void **state)
{
    (void)state;
    healthy = true;
    run_server(2);
    assert_int_equal(count_alarms(24, 80), 0);
    m->gpus[1].busy = 0.5; /* half of the GPU is lost to the host */
    m->gpus[1].facts.busy = 0.5;
    assert_true(count_alarms(24, 80) > 5);
    m->gpus[1].verdict = RTL_VERDICT_NO_WORK; /* nothing to do is no fault */
    assert_int_equal(count_alarms(24, 80), 0);
    m->gpus[1].verdict = RTL_VERDICT_NO_END;
    assert_true(count_alarms(24, 80) > 5);
    m->gpus[1].verdict = RTL_VERDICT_IDLE;
    m->window_untimed = m->window_counted; /* untimed by choice */
    assert_int_equal(count_alarms(24, 80), 0);
    m->window_lost = 1;
    assert_true(count_alarms(24, 80) > 5);
    teardown(state);
    run_server(2); /* p99 of one kernel has grown */
    assert_in_range(count_alarms(24, 80), 1, 15);
}

/* A mark of a trend covers as many intervals as needed, and stays until the next mark begins. */
static void marks_of_trends_cover_their_intervals(void **state)
{
    (void)state;
    int8_t level[RTL_MODEL_HISTORY], before[RTL_MODEL_HISTORY];
    run_server(1);
    const struct rtl_row *row = rtl_model_row(m, p->kernels[1].id);
    rtl_trend_p99(m, row, 60, level);
    for (int i = 0; i < 60; i++)
        assert_int_equal(level[i], i < 50 ? 3 : 7); /* ten seconds with four times the work */
    assert_int_equal(rtl_trend_span(m, 60), 60 * RTL_SEC);
    assert_int_equal(rtl_trend_span(m, 7), 60 * RTL_SEC);
    rtl_trend_p99(m, row, 6, before);
    assert_int_equal(before[5], 7);
    assert_int_equal(before[0], 3);
    int moved = 0;
    for (int t = SECONDS_ALL + 1; t <= SECONDS_ALL + 20; t++) {
        synth_record(p, 1, 700000, 500);
        synth_tick(p, m, (uint64_t)t * RTL_SEC);
        rtl_trend_p99(m, rtl_model_row(m, p->kernels[1].id), 6, level);
        moved += memcmp(level, before, 6) != 0;
        memcpy(before, level, 6);
    }
    assert_true(moved <= 4);
    rtl_trend_busy(m, 0, 60, level);
    assert_int_equal(level[59], 0); /* nothing for twenty seconds */
    assert_true(level[0] > 60 && level[39] > 60);
    rtl_trend_busy(m, 5, 60, level);
    assert_int_equal(level[59], -1); /* no such GPU */
}

/* A trend is a quiet line while p99 stays near its median; only what stands out is a mark. */
static void trends_show_only_what_stands_out(void **state)
{
    (void)state;
    healthy = true;
    run_server(1);
    for (int t = SECONDS_ALL + 1; t <= SECONDS_ALL + 12; t++) { /* the usual p99 is 700 to 720 us */
        uint64_t ns = t == SECONDS_ALL + 3 ? 1400000 : t > SECONDS_ALL + 8 ? 350000 : t % 2 ? 620000 : 800000;
        synth_record(p, 1, ns, 50);
        synth_tick(p, m, (uint64_t)t * RTL_SEC);
    }
    struct rtl_frame frame = {0};
    char text[1024];
    const char *line = NULL;
    uint64_t row = 0;
    ui.following = false; /* the cursor's line has its own colour */
    ui.selected = p->kernels[0].id;
    rtl_model_refresh(m);
    assert_true(rtl_frame_reset(&frame, 24, 230, false));
    rtl_ui_scroll_into_view(&ui, 24, 230);
    rtl_draw(&ui, &frame);
    for (; row < 24 && !line; row++) {
        frame_row_text(&frame, (int)row, text, sizeof text);
        line = strstr(text, "paged_attn") ? strstr(text, "──") : NULL;
    }
    assert_non_null(line);
    if (!strstr(line, "────▇──▁")) /* a mark covers several intervals */
        fail_msg("%s", line);
    for (int col = 0; col < 230; col++) {
        struct rtl_cell cell = frame.cells[(row - 1) * 230 + (uint64_t)col];
        if (cell.code == 0x2500)
            assert_int_equal(rtl_role_meaning((enum rtl_role)cell.role), RTL_MEANING_QUIET);
        assert_int_not_equal(rtl_role_meaning((enum rtl_role)cell.role), RTL_MEANING_STOPPED);
    }
    rtl_frame_free(&frame);
}

/* One process; test_tui_processes has several. */
static void a_single_process_has_no_slowest_column(void **state)
{
    (void)state;
    run_server(2);
    not_drawn(24, 80, "SLOWEST");
    not_drawn(60, 200, "SLOWEST");
}

static void age_and_signals_are_displayed_when_abnormal(void **state)
{
    (void)state;
    run_server(2);
    not_drawn(24, 80, "signals");
    not_drawn(24, 80, " age ");
    p->heartbeat_ns = (SECONDS_ALL - 1) * RTL_SEC;
    p->queues[0].injected += 5;
    synth_tick(p, m, (uint64_t)SECONDS_ALL * RTL_SEC + RTL_SEC / 2);
    drawn(24, 80, "  age 1.5s\n");
    m->latest->snapshot.signals_in_use = 3687;
    drawn(24, 80, "signals 3.69k of 4.10k");
    m->latest->snapshot.signals_in_use = 2048; /* still normal, but half of the maximum */
    drawn(24, 80, "signals 2.05k of 4.10k");
    m->latest->snapshot.signals_in_use = 2047;
    not_drawn(24, 80, "signals");
}

int main(void)
{
    setenv("TZ", "UTC", 1);
    tzset();
#define TEST(name) cmocka_unit_test_teardown(name, teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_main_screen_is_drawn_at_every_size),
        TEST(the_main_screen_with_eight_gpus_is_drawn),
        TEST(only_the_slower_kernel_is_marked),
        TEST(marks_of_trends_cover_their_intervals),
        TEST(a_healthy_server_has_nothing_orange),
        TEST(orange_means_act_now),
        TEST(trends_show_only_what_stands_out),
        TEST(a_single_process_has_no_slowest_column),
        TEST(age_and_signals_are_displayed_when_abnormal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
