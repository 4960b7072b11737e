/* Leaving the screen of a command that rtl-top started: only the explicit answer ends the command. */
#include "model_fixture.h"
#include "tui/draw_views.h"
#include "tui/prompt.h"

static struct rtl_ui ui;

static void start_ui(enum rtl_launched launched)
{
    synth_record(p, synth_kernel(p, "kernel"), 1000, 50);
    synth_tick(p, m, SECONDS(1));
    rtl_ui_init(&ui, m, 4711, "serve");
    ui.launched = launched;
    snprintf(ui.log, sizeof ui.log, "/run/serve.log");
    rtl_ui_scroll_into_view(&ui, 24, 160);
}

static bool shows(const char *text)
{
    struct rtl_frame frame = {0};
    bool found = false;
    assert_true(rtl_frame_reset(&frame, 24, 160, true));
    rtl_ui_scroll_into_view(&ui, 24, 160);
    rtl_draw(&ui, &frame);
    for (int row = 0; row < frame.rows && !found; row++) {
        char line[161] = "";
        for (int col = 0; col < frame.cols; col++) {
            uint32_t code = frame.cells[row * frame.cols + col].code;
            line[col] = code >= ' ' && code < 0x7f ? (char)code : ' ';
        }
        found = strstr(line, text) != NULL;
    }
    rtl_frame_free(&frame);
    return found;
}

static unsigned press(uint32_t key)
{
    return rtl_ui_key(&ui, key);
}

static void without_a_running_command_q_quits_at_once(void **state)
{
    (void)state;
    start_ui(RTL_LAUNCHED_NO);
    assert_true(press('q') & RTL_UI_QUIT);
    assert_true(press(RTL_KEY_F(10)) & RTL_UI_QUIT);
}

static void s_q_and_esc_keep_the_screen(void **state)
{
    (void)state;
    static const uint32_t stays[] = {'s', 'q', RTL_KEY_ESC};
    start_ui(RTL_LAUNCHED_RUNS);
    for (size_t i = 0; i < sizeof stays / sizeof *stays; i++) {
        assert_int_equal(press('q'), RTL_UI_DRAW);
        assert_int_equal(ui.prompt, RTL_PROMPT_LEAVE);
        assert_true(shows("leave it running"));
        assert_false(press(stays[i]) & (RTL_UI_QUIT | RTL_UI_END));
        assert_int_equal(ui.prompt, RTL_PROMPT_NONE);
        assert_false(shows("leave it running"));
    }
}

static void l_and_e_answer_the_prompt(void **state)
{
    (void)state;
    start_ui(RTL_LAUNCHED_RUNS);
    press(RTL_KEY_F(10));
    unsigned asked = press('l');
    assert_true(asked & RTL_UI_QUIT && !(asked & RTL_UI_END));
    press('q');
    asked = press('e');
    assert_true(asked & RTL_UI_END && !(asked & RTL_UI_QUIT));
    press('q');
    asked = press(RTL_KEY_ENTER); /* the first line ends nothing */
    assert_true(asked & RTL_UI_QUIT && !(asked & RTL_UI_END));
    press('q');
    press(RTL_KEY_UP);
    press('j');
    asked = press(RTL_KEY_ENTER);
    assert_true(asked & RTL_UI_END && !(asked & RTL_UI_QUIT));
    press('q');
    for (int i = 0; i < 10; i++)
        press(RTL_KEY_DOWN);
    assert_int_equal(press('\n'), RTL_UI_DRAW); /* the last answer: stay */
}

static void end_requests_the_next_is_stronger(void **state)
{
    (void)state;
    start_ui(RTL_LAUNCHED_RUNS);
    press('q');
    assert_true(shows("SIGTERM"));
    assert_false(shows("SIGKILL"));
    press('s');
    ui.launched = RTL_LAUNCHED_ENDING;
    press('q');
    assert_true(shows("SIGKILL"));
    assert_true(press('e') & RTL_UI_END);
}

static void the_question_says_that_only_the_traced_process_ended(void **state)
{
    (void)state;
    start_ui(RTL_LAUNCHED_RUNS);
    press('q');
    assert_true(shows(" the command still runs "));
    rtl_model_exited(m);
    assert_true(shows(" the traced process has ended; the command still runs "));
}

static void other_keys_leave_the_prompt_open(void **state)
{
    (void)state;
    start_ui(RTL_LAUNCHED_RUNS);
    for (uint32_t key = 1; key < 0x7f; key++) {
        if (strchr("lesq\n\r\033", (int)key))
            continue;
        press('q');
        assert_false(press(key) & (RTL_UI_QUIT | RTL_UI_END));
        assert_int_equal(ui.prompt, RTL_PROMPT_LEAVE);
        press('s');
    }
}

static void the_log_is_named_where_there_is_room(void **state)
{
    (void)state;
    start_ui(RTL_LAUNCHED_RUNS);
    assert_true(shows("output /run/serve.log"));
    shown("kernel"); /* the table is unchanged */
    ui.log[0] = '\0';
    assert_false(shows("output"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_a_running_command_q_quits_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(s_q_and_esc_keep_the_screen, setup, teardown),
        cmocka_unit_test_setup_teardown(l_and_e_answer_the_prompt, setup, teardown),
        cmocka_unit_test_setup_teardown(end_requests_the_next_is_stronger, setup, teardown),
        cmocka_unit_test_setup_teardown(the_question_says_that_only_the_traced_process_ended, setup, teardown),
        cmocka_unit_test_setup_teardown(other_keys_leave_the_prompt_open, setup, teardown),
        cmocka_unit_test_setup_teardown(the_log_is_named_where_there_is_room, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
