/* The screen of steps: the line above the kernels, the table of parts, ranks, and the keys that mark a step. */
#include "golden_fixture.h"
#include "steps_fixture.h"

#include "model/merge.h"
#include "tui/draw_common.h"

static int begin_screen(void **state)
{
    begin(state);
    rtl_ui_init(&ui, m, 4711, "serve --model big");
    ui.now_mono_ns = SYNTH_START + 60 * RTL_SEC;
    return 0;
}

static void press(uint32_t key)
{
    assert_true(rtl_ui_key(&ui, key) & RTL_UI_DRAW);
}

static void prompts_and_tokens(uint64_t seconds)
{
    serve(seconds, "top_k_top_p_sampling_kernel");
}

static void the_line_and_the_table_are_drawn(void **state)
{
    (void)state;
    prompts_and_tokens(24);
    golden("steps-line-80x24", 24, 80);
    golden("steps-line-160x45", 45, 160);
    press('t');
    golden("steps-80x24", 24, 80);
    golden("steps-160x45", 45, 160);
    golden("steps-40x12", 12, 40);
    ui.ascii = true;
    golden("steps-ascii-80x24", 24, 80);
    press(RTL_KEY_END);
    drawn(12, 80, "sampling");
    not_drawn(12, 80, "paged_attention_Li256");
    press('t');
    assert_int_equal(ui.view, RTL_VIEW_KERNELS);
}

static void a_small_terminal_keeps_its_kernels(void **state)
{
    (void)state;
    prompts_and_tokens(12);
    not_drawn(RTL_STEPS_FROM_ROWS - 1, 80, "a step");
    drawn(RTL_STEPS_FROM_ROWS, 80, "a step");
}

static void a_longer_step_is_marked(void **state)
{
    (void)state;
    while (now_ns < 20 * RTL_SEC)
        decode(256, "argmax_kernel");
    while (now_ns < 30 * RTL_SEC) {
        decode(256, "argmax_kernel");
        run("vllm_rms_norm_kernel", 5000000);
    }
    drawn(24, 100, "18.0ms a step, +38%");
    press('t');
    drawn(24, 100, "!  5.09ms");
    drawn(24, 100, "46x   vllm_rms_norm_kernel");
}

static void x_marks_the_kernel_under_the_cursor(void **state)
{
    (void)state;
    prompts_and_tokens(12);
    press(RTL_KEY_DOWN);
    press('X');
    const char *kernel = rtl_ui_selected(&ui)->kernel->name;
    assert_string_equal(m->step, kernel);
    drawn(24, 100, "each run of ");
    drawn(24, 100, "s a step");
    not_drawn(24, 100, "automatic");
    press('X');
    assert_null(m->step);
    drawn(24, 100, "steps are marked automatically");
    drawn(24, 100, "automatic: top_k_top_p");
    press('X');
    press('t');
    press('X');
    assert_null(m->step);
}

static void a_family_marks_no_step(void **state)
{
    (void)state;
    prompts_and_tokens(3);
    press('g');
    press('X');
    assert_null(m->step);
    drawn(24, 100, "only a single kernel, or a range that is pushed and popped, can mark a step");
}

static void x_marks_the_range_under_the_cursor(void **state)
{
    (void)state;
    ranged = true;
    int range = synth_call(&calls, RTL_HIP_API_RANGE, "iter\033ation");
    synth_call(&calls, RTL_HIP_API_MARK, "mark");
    synth_add(&calls.rows[1].h, 0, 1);
    while (now_ns < 3 * RTL_SEC) {
        run("gemm", 10000000);
        synth_add(&calls.rows[range].h, 10000000, 1);
    }
    press('A');
    press('X');
    assert_string_equal(m->step, "iter\\x1bation");
    assert_true(m->steps.known && m->steps.marker_key & RTL_STEP_RANGE);
    press(RTL_KEY_DOWN);
    press('X');
    drawn(24, 100, "can mark a step");
    assert_string_equal(m->step, "iter\\x1bation");
}

static void without_steps_the_screen_says_how_to_mark_one(void **state)
{
    (void)state;
    while (now_ns < 3 * RTL_SEC)
        run("gemm", 10000000);
    not_drawn(24, 100, " step");
    assert_false(rtl_key_is_useful(&ui, RTL_ACTION_STEPS));
    press('t');
    drawn(24, 100, "no kernel or range seems to run once per step; X on one marks it");
    assert_true(rtl_model_mark_step(m, "no such kernel"));
    drawn(24, 100, "no step no such kernel: no range or kernel of this name has run so far");
    assert_true(rtl_key_is_useful(&ui, RTL_ACTION_STEPS));
}

static void each_rank_has_a_line(void **state)
{
    (void)state;
    struct rtl_merge *merge = rtl_merge_create();
    struct synth *ranks[2] = {synth_create(1, 1), synth_create(1, 1)};
    assert_non_null(merge);
    for (int i = 0; i < 2; i++) {
        struct rtl_member_info info = {.pid = 100 + i, .rank = i};
        snprintf(info.label, sizeof info.label, "TP%d", i);
        rtl_merge_join(merge, &info);
        synth_kernel(ranks[i], "Cijk_MT128x128x64");
        synth_kernel(ranks[i], "argmax_kernel");
    }
    for (uint64_t t = 1; t <= 24; t++) {
        struct rtl_snapshot s;
        for (uint64_t i = 0; i < 2; i++) {
            uint64_t tokens = 40 - 15 * i;
            synth_record(ranks[i], 0, 200000, tokens * 50);
            synth_record(ranks[i], 1, 20000, tokens);
            ranks[i]->busy_ns[0] += tokens * 10020000;
            struct rtl_snapshot one = synth_snapshot(ranks[i], t * RTL_SEC / 2);
            one.agents[0].bdf = 0x0300u + ((uint32_t)i << 8);
            assert_true(rtl_merge_update(merge, (uint32_t)i, &one));
            rtl_snapshot_free(&one);
        }
        assert_true(rtl_merge_make(merge, SYNTH_START + t * RTL_SEC / 2, &s));
        assert_true(rtl_model_add(m, &s, 1000 * RTL_SEC + t));
    }
    press('t');
    golden("steps-ranks-80x24", 24, 80);
    rtl_model_free(m);
    m = NULL;
    rtl_merge_free(merge);
    synth_free(ranks[0]);
    synth_free(ranks[1]);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_screen, end_program)
    const struct CMUnitTest tests[] = {
        TEST(the_line_and_the_table_are_drawn),
        TEST(a_small_terminal_keeps_its_kernels),
        TEST(a_longer_step_is_marked),
        TEST(x_marks_the_kernel_under_the_cursor),
        TEST(a_family_marks_no_step),
        TEST(x_marks_the_range_under_the_cursor),
        TEST(without_steps_the_screen_says_how_to_mark_one),
        TEST(each_rank_has_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
