/* The screens of several processes: their list, a kernel in each of them, and the keys from one to the other. */
#include "tui_synth.h"

#include "model/merge.h"
#include "session/processes.h"

#include "golden_fixture.h"

enum { PROCESSES = 8 };
static struct synth *processes[PROCESSES];
static struct rtl_merge *merge;
static struct rtl_untraced untraced;

static void tick_all(uint64_t at)
{
    struct rtl_snapshot s;
    for (uint32_t i = 0; i < PROCESSES; i++) {
        struct rtl_snapshot one = synth_snapshot(processes[i], at);
        assert_true(rtl_merge_take(merge, i, &one));
        rtl_snapshot_free(&one);
    }
    assert_true(rtl_merge_make(merge, SYNTH_START + at, &s));
    assert_true(rtl_model_add(ui.model, &s, 1000 * RTL_SEC + at));
}

static int setup(void **state)
{
    (void)state;
    merge = rtl_merge_create();
    assert_non_null(merge);
    for (int i = 0; i < PROCESSES; i++) {
        struct rtl_member_info info = {.pid = 4711 + i, .rank = i};
        snprintf(info.label, sizeof info.label, "TP%d", i);
        snprintf(info.title, sizeof info.title, "VLLM::Worker_TP%d", i);
        snprintf(info.container, sizeof info.container, "0123456789ab");
        rtl_merge_join(merge, &info);
        processes[i] = synth_create(1, 2);
        synth_kernel(processes[i], "Cijk_Alik_Bljk_BBS_BH_MT128x128x64_MI16x16x1");
        synth_kernel(processes[i], "ncclDevKernel_AllReduce_Sum_bf16_RING_LL");
        processes[i]->heartbeat_ns = 1;
    }
    rtl_ui_init(&ui, rtl_model_create(), 4711, "8 processes: VLLM::Worker_TP0");
    for (uint64_t at = 1; at <= 3; at++) {
        for (int i = 0; i < PROCESSES; i++) {
            synth_record(processes[i], 0, i == 5 ? 300000 : 150000, 1000);
            synth_record(processes[i], 1, i == 5 ? 20000 : 170000, 500);
            processes[i]->busy_ns[0] += RTL_SEC / 2;
        }
        tick_all(at * RTL_SEC);
    }
    ui.now_mono_ns = SYNTH_START + 3 * RTL_SEC;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rtl_model_free(ui.model);
    rtl_merge_free(merge);
    for (int i = 0; i < PROCESSES; i++)
        synth_free(processes[i]);
    return 0;
}

static void the_slow_rank_is_on_the_main_screen(void **state)
{
    (void)state;
    char *text = draw(24, 100);
    assert_non_null(strstr(text, "TP5 2.0x   gemm"));
    assert_non_null(strstr(text, "TP5 last   nccl"));
    free(text);
}

static void keys_lead_to_processes_and_back(void **state)
{
    (void)state;
    rtl_ui_key(&ui, 'p');
    assert_int_equal(ui.view, RTL_VIEW_PROCESSES);
    golden("processes-80x24", 24, 80);
    golden("processes-160x45", 45, 160);
    golden("processes-40x12", 12, 40);
    for (int i = 0; i < 3; i++)
        rtl_ui_key(&ui, 'j');
    assert_true(rtl_ui_key(&ui, RTL_KEY_ENTER) & RTL_UI_GO_IN);
    assert_int_equal(ui.go_in, 4714);
    for (int i = 0; i < 99; i++)
        rtl_ui_key(&ui, 'j');
    rtl_ui_fit(&ui, 12, 40);
    assert_true(rtl_ui_key(&ui, RTL_KEY_ENTER) & RTL_UI_GO_IN);
    assert_int_equal(ui.go_in, 4718); /* the last */
    rtl_merge_leave(merge, 7);
    tick_all(4 * RTL_SEC);
    assert_false(rtl_ui_key(&ui, RTL_KEY_ENTER) & RTL_UI_GO_IN);
    assert_non_null(strstr(ui.message, "ended"));
    rtl_ui_key(&ui, 'p');
    assert_int_equal(ui.view, RTL_VIEW_KERNELS);
    rtl_ui_key(&ui, 'p');
    rtl_ui_key(&ui, RTL_KEY_ESC);
    assert_int_equal(ui.view, RTL_VIEW_KERNELS);
}

static void a_kernel_in_each_process(void **state)
{
    (void)state;
    rtl_ui_key(&ui, 'e');
    assert_int_equal(ui.view, RTL_VIEW_RANKS);
    golden("ranks-80x24", 24, 80);
    rtl_ui_key(&ui, 'e');
    assert_int_equal(ui.view, RTL_VIEW_KERNELS);
}

static void a_family_is_not_compared(void **state)
{
    (void)state;
    rtl_ui_key(&ui, 'g');
    free(draw(24, 80));
    assert_true(ui.model->rows[ui.model->order[0]].kernels);
    rtl_ui_key(&ui, 'e');
    assert_int_equal(ui.view, RTL_VIEW_KERNELS);
    assert_non_null(strstr(ui.message, "family"));
}

static void one_that_hangs_is_said_to_be_stale(void **state)
{
    (void)state;
    processes[2]->queues[0].injected += 3;
    for (uint64_t at = 4; at <= 8; at++) {
        for (int i = 0; i < PROCESSES; i++) {
            if (i == 2 && at > 4)
                continue;
            processes[i]->passes++;
            processes[i]->heartbeat_ns = at * RTL_SEC - 1;
        }
        tick_all(at * RTL_SEC);
        for (int i = 0; i < PROCESSES; i++)
            assert_int_equal(ui.model->latest->snapshot.parts->members[i].stale_ns,
                             i == 2 && at >= 6 ? (at - 4) * RTL_SEC + 1 : 0);
    }
    assert_int_equal(ui.model->state, RTL_TARGET_LIVE); /* the others go on */
    rtl_ui_key(&ui, 'p');
    char *text = draw(24, 100), *row = strstr(text, "4713");
    assert_non_null(row);
    const char *stale = strstr(row, " stale ");
    assert_true(stale && stale < strchr(row, '\n') && !strstr(stale + 1, " stale "));
    free(text);
    rtl_merge_leave(merge, 2);
    tick_all(9 * RTL_SEC);
    assert_int_equal(ui.model->latest->snapshot.parts->members[2].stale_ns, 0);
}

static void those_that_are_not_traced_are_listed(void **state)
{
    (void)state;
    struct rtl_member_info info = {.pid = 815, .title = "python3 train.py"};
    untraced = (struct rtl_untraced){&info, 1};
    ui.untraced = &untraced;
    rtl_ui_key(&ui, 'p');
    char *text = draw(24, 80);
    assert_non_null(strstr(text, "815"));
    assert_non_null(strstr(text, "not traced: python3 train.py"));
    free(text);
    rtl_ui_key(&ui, RTL_KEY_END);
    rtl_ui_fit(&ui, 24, 80);
    assert_int_equal(ui.process_at, PROCESSES);
    assert_false(rtl_ui_key(&ui, RTL_KEY_ENTER) & RTL_UI_GO_IN);
}

static void one_alone_asks_for_the_list(void **state)
{
    (void)state;
    struct rtl_model *all = ui.model;
    rtl_ui_init(&ui, rtl_model_create(), 4711, "serve");
    synth_tick(processes[0], ui.model, 5 * RTL_SEC);
    assert_true(rtl_ui_key(&ui, 'p') & RTL_UI_PROCESSES);
    rtl_ui_key(&ui, 'e');
    assert_int_equal(ui.view, RTL_VIEW_KERNELS);
    assert_non_null(strstr(ui.message, "one process"));
    rtl_model_free(ui.model);
    ui.model = all;
}

static void every_size_is_drawn(void **state)
{
    (void)state;
    static const uint32_t keys[] = {'p', 'p', 'e'}; /* the list, kernels, one kernel */
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        rtl_ui_key(&ui, keys[k]);
        for (int rows = 1; rows <= 61; rows += 3)
            for (int cols = 1; cols <= 221; cols += 4)
                free(draw(rows, cols));
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_slow_rank_is_on_the_main_screen),
        TEST(keys_lead_to_processes_and_back),
        TEST(a_kernel_in_each_process),
        TEST(a_family_is_not_compared),
        TEST(one_that_hangs_is_said_to_be_stale),
        TEST(those_that_are_not_traced_are_listed),
        TEST(one_alone_asks_for_the_list),
        TEST(every_size_is_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
