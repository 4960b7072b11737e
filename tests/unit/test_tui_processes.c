/* The screens of several processes: the list, a kernel in each process, and the keys between them. */
#include "tui_synth.h"

#include "model/merge.h"
#include "watch/proc_scan.h"

#include "golden_fixture.h"

#include "tui/ui_state.h"
#include "tui/process_list.h"

enum { PROCESSES = 8 };
static struct synth *processes[PROCESSES];
static struct rtl_merge *merge;
static struct rtl_untraced untraced;

static void tick_all(uint64_t at)
{
    struct rtl_snapshot s;
    for (uint32_t i = 0; i < PROCESSES; i++) {
        struct rtl_snapshot one = synth_snapshot(processes[i], at);
        assert_true(rtl_merge_update(merge, i, &one));
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

static void keys_open_processes_and_return(void **state)
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
    rtl_ui_scroll_into_view(&ui, 12, 40);
    assert_true(rtl_ui_key(&ui, RTL_KEY_ENTER) & RTL_UI_GO_IN);
    assert_int_equal(ui.go_in, 4718); /* the last one */
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

static void a_kernel_is_listed_for_each_process(void **state)
{
    (void)state;
    rtl_ui_key(&ui, 'e');
    assert_int_equal(ui.view, RTL_VIEW_RANKS);
    golden("ranks-80x24", 24, 80);
    rtl_ui_key(&ui, 'e');
    rtl_ui_key(&ui, 'e');
    golden("ranks-40x12", 12, 40);
    drawn(12, 40, "4716 "); /* the kernel's process shows, though there is no room for all */
    rtl_ui_key(&ui, RTL_KEY_END);
    drawn(12, 40, "4718 ");
    rtl_ui_key(&ui, RTL_KEY_HOME);
    drawn(12, 40, "4711 ");
    ui.units = RTL_UNIT_NS;
    for (int cols = 24; cols <= 130; cols++) /* the outlier shows in full at any width */
        drawn(24, cols, "    2.00x\n");
    rtl_ui_key(&ui, 'e');
    assert_int_equal(ui.view, RTL_VIEW_KERNELS);
}

/* Esc, and the key that opened the list, return to the screen before it. */
static void esc_returns_to_the_screen_before(void **state)
{
    (void)state;
    rtl_ui_key(&ui, RTL_KEY_ENTER);
    rtl_ui_key(&ui, 'e');
    rtl_ui_key(&ui, '?');
    rtl_ui_key(&ui, RTL_KEY_ESC);
    assert_int_equal(ui.view, RTL_VIEW_RANKS);
    rtl_ui_key(&ui, RTL_KEY_ESC);
    assert_int_equal(ui.view, RTL_VIEW_DETAIL);
    rtl_ui_key(&ui, 'e');
    rtl_ui_key(&ui, 'e');
    assert_int_equal(ui.view, RTL_VIEW_DETAIL);
    rtl_ui_key(&ui, RTL_KEY_ESC);
    assert_int_equal(ui.view, RTL_VIEW_KERNELS);
    for (int i = 0; i < 20; i++) { /* repeated switching does not grow a stack */
        rtl_ui_key(&ui, RTL_KEY_TAB);
        rtl_ui_key(&ui, 'm');
        rtl_ui_key(&ui, 'p');
    }
    rtl_ui_key(&ui, RTL_KEY_ESC);
    assert_int_equal(ui.view, RTL_VIEW_COPIES);
    rtl_ui_key(&ui, 'm');
    assert_int_equal(ui.view, RTL_VIEW_KERNELS);
    rtl_ui_key(&ui, RTL_KEY_ESC);
    assert_int_equal(ui.view, RTL_VIEW_KERNELS);
}

static pid_t first(void)
{
    rtl_ui_scroll_into_view(&ui, 24, 80);
    return rtl_process_at(&ui, 0)->info.pid;
}

static void processes_are_sorted_by_keys(void **state)
{
    (void)state;
    rtl_ui_key(&ui, 'p');
    assert_int_equal(first(), 4711);
    for (int i = 0; i < 6; i++)
        rtl_ui_key(&ui, '>');
    drawn(24, 80, "sort P99 | ");
    assert_int_equal(first(), 4716);             /* the slow one */
    assert_int_equal(rtl_ui_process(&ui), 4711); /* the cursor stays with its process */
    rtl_ui_key(&ui, 'R');
    drawn(24, 80, "sort P99, reversed | ");
    assert_int_equal(first(), 4711);
    assert_int_equal(rtl_process_at(&ui, PROCESSES - 1)->info.pid, 4716);
    rtl_ui_key(&ui, '<');
    drawn(24, 80, "sort DISP/s | ");
    assert_int_equal(first(), 4711); /* equal ones keep their order */
    for (int i = 0; i < 20; i++)
        rtl_ui_key(&ui, '<');
    drawn(24, 80, "sort PID | ");
    rtl_ui_key(&ui, 'R');
    assert_int_equal(first(), 4718);
    for (int i = 0; i < 20; i++)
        rtl_ui_key(&ui, '>');
    drawn(24, 80, "sort COMMAND | ");
    for (int column = 0; column < RTL_PROCESS_ALL_COLUMNS; column++) {
        rtl_process_sort(&ui, column);
        free(draw(24, 200));
    }
}

static void processes_are_clicked_on(void **state)
{
    (void)state;
    rtl_ui_key(&ui, 'p');
    free(draw(24, 80));
    struct rtl_process_row rows[RTL_MEMBERS_MAX];
    struct rtl_table p = rtl_process_table(&ui, rows, rtl_process_list(&ui, rows), 80);
    rtl_ui_mouse(&ui, RTL_MOUSE_EVENT(RTL_MOUSE_CLICK, 3, p.at[5] + 1), 24, 80);
    drawn(24, 80, "sort P99 | ");
    assert_int_equal(first(), 4716);
    rtl_ui_mouse(&ui, RTL_MOUSE_EVENT(RTL_MOUSE_CLICK, 3, p.at[5] + 1), 24, 80);
    drawn(24, 80, "sort P99, reversed | ");
    assert_int_equal(rtl_ui_mouse(&ui, RTL_MOUSE_EVENT(RTL_MOUSE_CLICK, 11, 20), 24, 80), RTL_UI_DRAW);
    assert_int_equal(rtl_ui_process(&ui), 4716);
    assert_true(rtl_ui_mouse(&ui, RTL_MOUSE_EVENT(RTL_MOUSE_CLICK, 11, 20), 24, 80) & RTL_UI_GO_IN);
    assert_int_equal(ui.go_in, 4716);
    assert_int_equal(rtl_ui_mouse(&ui, RTL_MOUSE_EVENT(RTL_MOUSE_CLICK, 12, 20), 24, 80), 0); /* no process there */
    rtl_ui_key(&ui, RTL_KEY_TAB);
    free(draw(24, 80));
    rtl_ui_mouse(&ui, RTL_MOUSE_EVENT(RTL_MOUSE_CLICK, 9, 20), 24, 80);
    assert_int_equal(ui.line_at[RTL_VIEW_QUEUES], 5);
}

/* Each queue shows its process; a share summed over several processes is displayed as an upper bound. */
static void queues_show_their_process(void **state)
{
    (void)state;
    rtl_ui_key(&ui, RTL_KEY_TAB);
    golden("queues-of-several-80x24", 24, 80);
    golden("queues-of-several-40x24", 24, 40);
    drawn(40, 80, " 0000:03:00.0  <100");
    ui.view = RTL_VIEW_KERNELS;
    drawn(5, 20, "<100% ");
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

static void a_hanging_process_is_marked_stale(void **state)
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
    assert_int_equal(ui.model->state, RTL_TARGET_LIVE); /* the others continue */
    drawn(24, 80, "[1 STALE]");
    ui.loading = true;
    ui.loaded = 3;
    ui.loaded_of = 8;
    drawn(24, 80, "[LOADING 3/8]");
    drawn(24, 40, "[LOADING 3/8]");
    ui.loading = false;
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

/* With many processes some are read later: unknown values stay empty. */
static void an_unread_process_has_no_numbers(void **state)
{
    (void)state;
    struct rtl_member_info info = {.pid = 4799, .rank = -1, .title = "late"};
    assert_int_not_equal(rtl_merge_join(merge, &info), RTL_MEMBER_GONE);
    for (uint64_t at = 4; at <= 5; at++)
        tick_all(at * RTL_SEC);
    rtl_ui_key(&ui, 'p');
    char *text = draw(24, 100), *row = strstr(text, "4799");
    assert_non_null(row);
    *strchr(row, '\n') = '\0';
    assert_null(strstr(row, "off"));
    assert_null(strstr(row, "0"));
    assert_non_null(strstr(row, "late"));
    free(text);
}

static void untraced_processes_are_listed(void **state)
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
    rtl_ui_scroll_into_view(&ui, 24, 80);
    assert_int_equal(ui.line_at[RTL_VIEW_PROCESSES], PROCESSES);
    assert_false(rtl_ui_key(&ui, RTL_KEY_ENTER) & RTL_UI_GO_IN);
}

static void p_in_a_single_process_asks_for_the_list(void **state)
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

/* A view that was opened from another screen returns to that screen from its own first view. */
static void esc_in_the_first_view_returns_to_the_opener(void **state)
{
    (void)state;
    struct rtl_model *all = ui.model;
    ui.opened = true;
    ui.view = RTL_VIEW_PROCESSES; /* the list of all processes, opened from a single process */
    assert_true(rtl_ui_key(&ui, 'p') & RTL_UI_PROCESSES);
    assert_true(rtl_ui_key(&ui, RTL_KEY_ESC) & RTL_UI_PROCESSES);
    rtl_ui_key(&ui, '\t');
    assert_int_equal(ui.view, RTL_VIEW_QUEUES);
    assert_false(rtl_ui_key(&ui, RTL_KEY_ESC) & RTL_UI_PROCESSES);
    assert_int_equal(ui.view, RTL_VIEW_PROCESSES);
    /* a single process, opened from the list, in a recording, too */
    rtl_ui_init(&ui, rtl_model_create(), 4711, "serve");
    synth_tick(processes[0], ui.model, 5 * RTL_SEC);
    ui.opened = ui.replay = true;
    assert_true(rtl_ui_key(&ui, 'p') & RTL_UI_PROCESSES);
    ui.name_left = 8;
    assert_false(rtl_ui_key(&ui, RTL_KEY_ESC) & RTL_UI_PROCESSES);
    assert_int_equal(ui.name_left, 0);
    assert_true(rtl_ui_key(&ui, RTL_KEY_ESC) & RTL_UI_PROCESSES);
    ui.opened = false;
    assert_false(rtl_ui_key(&ui, RTL_KEY_ESC) & RTL_UI_PROCESSES);
    assert_false(rtl_ui_key(&ui, 'p') & RTL_UI_PROCESSES);
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
        TEST(keys_open_processes_and_return),
        TEST(a_kernel_is_listed_for_each_process),
        TEST(esc_returns_to_the_screen_before),
        TEST(processes_are_sorted_by_keys),
        TEST(processes_are_clicked_on),
        TEST(queues_show_their_process),
        TEST(a_family_is_not_compared),
        TEST(a_hanging_process_is_marked_stale),
        TEST(an_unread_process_has_no_numbers),
        TEST(untraced_processes_are_listed),
        TEST(p_in_a_single_process_asks_for_the_list),
        TEST(esc_in_the_first_view_returns_to_the_opener),
        TEST(every_size_is_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
