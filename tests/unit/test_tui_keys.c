/* Keys: their effect on the screen, the cursor's position, and that no key does harm. */
#include "model_fixture.h"

static struct rtl_ui ui;

static void press(const char *keys)
{
    for (; *keys; keys++)
        rtl_ui_key(&ui, (uint32_t)(unsigned char)*keys);
    rtl_ui_scroll_into_view(&ui, 24, 80);
}

static const char *selected(void)
{
    const struct rtl_row *r = rtl_ui_selected(&ui);
    return r ? r->kernel->name : "";
}

static void start_ui(void)
{
    static const char *const names[] = {"aa", "ab", "bb", "bc", "cc"};
    for (int i = 0; i < 5; i++)
        synth_record(p, synth_kernel(p, names[i]), 1000, 50 - (uint64_t)i * 10);
    synth_tick(p, m, SECONDS(1));
    rtl_ui_init(&ui, m, 4711, "serve");
    rtl_ui_scroll_into_view(&ui, 24, 80);
}

static void the_cursor_stays_with_its_kernel(void **state)
{
    (void)state;
    start_ui();
    assert_string_equal(selected(), "aa");
    press("jj");
    assert_string_equal(selected(), "bb");
    press("k");
    assert_string_equal(selected(), "ab");
    press("T");
    press("R"); /* the order reverses, the cursor follows its kernel */
    assert_string_equal(selected(), "ab");
    assert_int_equal(rtl_model_position(m, ui.selected), 3);
    press("R");
    rtl_ui_key(&ui, RTL_KEY_END);
    assert_string_equal(selected(), "cc");
    rtl_ui_key(&ui, RTL_KEY_DOWN);
    assert_string_equal(selected(), "cc");
    rtl_ui_key(&ui, RTL_KEY_HOME); /* from here on the cursor stays at the top, whichever kernel is there */
    press("");
    assert_string_equal(selected(), "aa");
    synth_record(p, 4, 1000, 500);
    for (int t = 2; t < 8; t++)
        synth_tick(p, m, SECONDS(t));
    press("");
    assert_string_equal(selected(), "cc");
}

static void prompts_filter_and_search(void **state)
{
    (void)state;
    start_ui();
    press("fB");
    shown("ab bb bc"); /* during input */
    press("b");
    shown("bb");
    rtl_ui_key(&ui, RTL_KEY_BACKSPACE);
    shown("ab bb bc");
    press("\r");
    assert_string_equal(m->filter, "B");
    press("fxyz");
    assert_int_equal(m->shown, 0);
    press("\033"); /* Esc: as before */
    assert_string_equal(m->filter, "B");
    press("=");
    assert_int_equal(m->shown, 5);
    press("/b\r");
    assert_string_equal(selected(), "ab");
    press("n");
    assert_string_equal(selected(), "bb");
    press("n");
    assert_string_equal(selected(), "bc");
    press("n");
    assert_string_equal(selected(), "ab"); /* wraps round */
    press("N");
    assert_string_equal(selected(), "bc");
    press("/nowhere\r");
    assert_non_null(strstr(ui.message, "nowhere"));
    press("d0.25\r");
    assert_int_equal(ui.interval_ns, RTL_SEC / 4);
    press("dnever\r");
    assert_non_null(strstr(ui.message, "never"));
    assert_int_equal(ui.interval_ns, RTL_SEC / 4);
    press("q"); /* input in a prompt is not a command */
    press("fq");
    assert_string_equal(ui.typed, "q");
    press("\033");
    /* a prompt that is full */
    press("f");
    for (int i = 0; i < 300; i++)
        press("x");
    assert_true(strlen(ui.typed) < sizeof ui.typed);
    press("\025");
    assert_string_equal(ui.typed, "");
    press("\033");
}

static void tab_and_esc_change_views(void **state)
{
    (void)state;
    start_ui();
    press("\r");
    assert_int_equal(ui.view, RTL_VIEW_DETAIL);
    press("]");
    assert_string_equal(selected(), "ab");
    press("[");
    assert_string_equal(selected(), "aa");
    press("?");
    assert_int_equal(ui.view, RTL_VIEW_HELP);
    press("\033");
    assert_int_equal(ui.view, RTL_VIEW_DETAIL);
    press("\033");
    assert_int_equal(ui.view, RTL_VIEW_KERNELS);
    for (int i = 0; i < 5; i++) /* Esc never quits */
        assert_false(rtl_ui_key(&ui, RTL_KEY_ESC) & RTL_UI_QUIT);
    press("\t");
    assert_int_equal(ui.view, RTL_VIEW_QUEUES);
    press("v");
    assert_int_equal(ui.view, RTL_VIEW_KERNELS);
    press("s");
    press("jjj\r");
    assert_int_equal(m->sort, RTL_COLUMN_TOTAL);
    press("sj\033");
    assert_int_equal(m->sort, RTL_COLUMN_TOTAL);
    press(">");
    assert_int_equal(m->sort, RTL_COLUMN_MEAN);
    press("<<<");
    assert_int_equal(m->sort, RTL_COLUMN_RATE);
    press("L");
    assert_int_equal(m->sort, RTL_COLUMN_P99);
    press("N"); /* without a search: sorts by name */
    assert_int_equal(m->sort, RTL_COLUMN_NAME);
    assert_true(rtl_ui_key(&ui, 'q') & RTL_UI_QUIT);
    assert_true(rtl_ui_key(&ui, RTL_KEY_F(10)) & RTL_UI_QUIT);
}

static void menus_and_switches_change_the_model(void **state)
{
    (void)state;
    start_ui();
    ui.now_mono_ns = SECONDS(50);
    press(" ");
    assert_true(ui.paused && ui.paused_ns == SECONDS(50));
    assert_true(rtl_ui_key(&ui, 'Z') & RTL_UI_SAMPLE); /* resume: catch up at once */
    assert_false(ui.paused);
    press("cccc");
    assert_int_equal(ui.names, RTL_NAME_SHORT);
    press("EEu");
    assert_int_equal(ui.units, RTL_UNIT_MS);
    press("++");
    assert_int_equal(ui.interval_ns, 5 * RTL_SEC);
    press("-----------");
    assert_int_equal(ui.interval_ns, RTL_SEC / 10);
    press("}");
    assert_int_equal(m->window_ns, 30 * RTL_SEC);
    press("}}}}}}");
    assert_true(m->window_ns == RTL_WINDOW_ALL);
    press("{{{{{{{{{{");
    assert_int_equal(m->window_ns, RTL_WINDOW_INTERVAL);
    assert_true(rtl_ui_key(&ui, 'y') & RTL_UI_COPY);
    assert_string_equal(ui.copy, "aa");
    assert_true(rtl_ui_key(&ui, RTL_KEY_CTRL('L')) & RTL_UI_REPAINT);
    press("z");
    assert_int_equal(m->counted, 0);
    assert_int_equal(rtl_ui_key(&ui, RTL_KEY_IGNORED), 0);
}

/* Queues and copies have a cursor, too: on an existing line, marked over the full row, and visible. */
static void queues_and_copies_have_a_cursor(void **state)
{
    (void)state;
    struct rtl_frame frame = {0};
    start_ui();
    for (int gpu = 0; gpu < 2; gpu++)
        synth_copies(p, gpu, RTL_COPY_H2D, 1000, 2000, 3);
    synth_tick(p, m, SECONDS(2));
    for (int view = RTL_VIEW_QUEUES; view <= RTL_VIEW_COPIES; view++) {
        const int *at = view == RTL_VIEW_QUEUES ? &ui.line_at[RTL_VIEW_QUEUES] : &ui.line_at[RTL_VIEW_COPIES];
        int lines = view == RTL_VIEW_QUEUES ? rtl_draw_queue_lines(m) : rtl_draw_copies_lines(m);
        ui.view = (enum rtl_view)view;
        press("jj");
        assert_int_equal(*at, 2);
        press("k");
        assert_int_equal(*at, 1);
        for (int step = 0; step < 40; step++) {
            rtl_ui_key(&ui, step < 20 ? RTL_KEY_DOWN : RTL_KEY_UP);
            rtl_ui_scroll_into_view(&ui, 8, 80); /* few of the lines fit */
            assert_true(rtl_frame_reset(&frame, 8, 80, false));
            rtl_draw(&ui, &frame);
            int marked = 0, row = frame.cursor_row;
            for (int i = 0; i < 8 * 80; i++)
                marked += frame.cells[i].role == RTL_ROLE_SELECTED;
            assert_int_equal(marked, 80);
            assert_int_equal(frame.cells[row * 80].code, '>');
            assert_true(*at >= 0 && *at < lines);
        }
        assert_int_equal(*at, 0);
        press("G");
        assert_int_equal(*at, lines - 1);
        rtl_ui_key(&ui, RTL_KEY_HOME);
        press("");
        assert_int_equal(*at, 0);
    }
    rtl_frame_free(&frame);
}

/* < and > move the column of the menu; the menu shows its position. */
static void columns_are_moved_by_keys(void **state)
{
    (void)state;
    start_ui();
    rtl_ui_scroll_into_view(&ui, 24, 160);
    rtl_ui_key(&ui, 'o');
    rtl_ui_key(&ui, RTL_KEY_HOME);
    rtl_ui_key(&ui, '>');
    assert_int_equal(ui.menu, RTL_COLUMN_TIME);
    assert_int_equal(rtl_column_order(ui.column_places).column[0], RTL_COLUMN_RATE);
    assert_int_equal(rtl_column_order(ui.column_places).column[1], RTL_COLUMN_TIME);
    rtl_ui_key(&ui, RTL_KEY_UP);
    assert_int_equal(ui.menu, RTL_COLUMN_RATE);
    rtl_ui_key(&ui, '<');
    assert_non_null(strstr(ui.message, "first"));
    rtl_ui_key(&ui, RTL_KEY_END);
    assert_int_equal(ui.menu, RTL_COLUMN_NAME);
    rtl_ui_key(&ui, '<');
    assert_int_equal(rtl_column_order(ui.column_places).column[RTL_COLUMN_COUNT - 1], RTL_COLUMN_NAME);
    rtl_ui_key(&ui, RTL_KEY_ENTER);
    struct rtl_layout l = rtl_ui_layout(&ui, 24, 160);
    assert_true(l.column_at[RTL_COLUMN_RATE] >= 0 && l.column_at[RTL_COLUMN_RATE] < l.column_at[RTL_COLUMN_TIME]);
    /* the next column on the left is the one displayed there */
    rtl_ui_key(&ui, 'P');
    rtl_ui_key(&ui, '<');
    assert_int_equal(ui.model->sort, RTL_COLUMN_RATE);
    rtl_ui_key(&ui, 'o');
    rtl_ui_key(&ui, RTL_KEY_HOME);
    rtl_ui_key(&ui, '>');
    rtl_ui_key(&ui, RTL_KEY_ESC); /* as before the menu */
    assert_int_equal(rtl_column_order(ui.column_places).column[0], RTL_COLUMN_RATE);
    rtl_ui_key(&ui, 'o');
    rtl_ui_key(&ui, 'a');
    rtl_ui_key(&ui, RTL_KEY_ENTER);
    assert_int_equal(rtl_column_order(ui.column_places).column[0], RTL_COLUMN_TIME);
}

/* A key that is bound on another screen prints a message; the key line lists this screen's keys by rank. */
static void a_key_of_another_screen_prints_a_message(void **state)
{
    (void)state;
    start_ui();
    rtl_ui_key(&ui, 'v');
    assert_int_equal(ui.view, RTL_VIEW_QUEUES);
    rtl_ui_key(&ui, 's');
    assert_non_null(strstr(ui.message, "not on this screen: s, choose the column"));
    rtl_ui_key(&ui, RTL_KEY_ENTER);
    assert_non_null(strstr(ui.message, "not on this screen: Enter"));
    rtl_ui_key(&ui, 'Q'); /* bound nowhere */
    assert_string_equal(ui.message, "");
    enum rtl_action actions[RTL_ACTION_COUNT];
    int count = rtl_key_line(RTL_IN_KERNELS, actions);
    unsigned seen = 0;
    for (int i = 0; i < count; i++) {
        assert_true(rtl_keys[actions[i]].rank && *rtl_keys[actions[i]].label &&
                    rtl_keys[actions[i]].where & RTL_IN_KERNELS);
        assert_true(!i || rtl_keys[actions[i - 1]].rank <= rtl_keys[actions[i]].rank);
        seen |= actions[i] == RTL_ACTION_CALLS ? 1 : actions[i] == RTL_ACTION_SORT_TIME ? 2 : 0;
    }
    assert_int_equal(seen, 1);
    count = rtl_key_line(RTL_IN_CALLS | RTL_IN_REPLAY, actions);
    for (int i = 0; i < count; i++) /* on that screen T is a step */
        assert_int_not_equal(actions[i], RTL_ACTION_SORT_TOTAL);
}

/* A marked column is displayed at once; Esc undoes the choice, and the name always stays. */
static void columns_are_chosen_in_the_menu(void **state)
{
    (void)state;
    start_ui();
    assert_int_equal(ui.columns, 0);
    uint32_t before = ui.columns_shown;
    assert_true(before >> RTL_COLUMN_RATE & 1);
    press("o");
    assert_int_equal(ui.prompt, RTL_PROMPT_COLUMNS);
    ui.menu = RTL_COLUMN_RATE;
    press(" ");
    assert_int_equal(ui.columns, before & ~(1u << RTL_COLUMN_RATE));
    assert_int_equal(ui.columns_shown, ui.columns);
    ui.menu = RTL_COLUMN_MAX;
    press(" ");
    assert_true(ui.columns_shown >> RTL_COLUMN_MAX & 1);
    ui.menu = RTL_COLUMN_NAME;
    press(" ");
    assert_true(ui.columns >> RTL_COLUMN_NAME & 1);
    assert_non_null(strstr(ui.message, "the name can't be hidden"));
    press("a");
    assert_int_equal(ui.columns, 0);
    press("kkkkkkkkkkkkkkkkkkkkkkkkkkk");
    assert_int_equal(ui.menu, 0);
    press("jjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjj");
    assert_int_equal(ui.menu, RTL_COLUMN_COUNT - 1);
    ui.menu = RTL_COLUMN_MAX;
    press(" ");
    rtl_ui_key(&ui, RTL_KEY_ENTER);
    assert_int_equal(ui.prompt, RTL_PROMPT_NONE);
    uint32_t kept = ui.columns;
    assert_int_equal(kept, before | 1u << RTL_COLUMN_MAX);
    rtl_ui_key(&ui, RTL_KEY_F(2));
    press(" ");
    assert_int_not_equal(ui.columns, kept);
    rtl_ui_key(&ui, RTL_KEY_ESC);
    assert_int_equal(ui.columns, kept);
}

static void random_keys_do_no_harm(void **state)
{
    (void)state;
    static const uint32_t special[] = {RTL_KEY_UP,        RTL_KEY_DOWN, RTL_KEY_PAGE_UP, RTL_KEY_PAGE_DOWN,
                                       RTL_KEY_HOME,      RTL_KEY_END,  RTL_KEY_ESC,     RTL_KEY_ENTER,
                                       RTL_KEY_BACKSPACE, RTL_KEY_F(4), RTL_KEY_LEFT,    RTL_KEY_RIGHT};
    struct rtl_frame frame = {0};
    uint32_t random = 7;
    start_ui();
    for (int round = 0; round < 30000; round++) {
        random = random * 1664525u + 1013904223u;
        uint32_t key = (random >> 16) % 3 ? 32 + (random >> 20) % 95 : special[(random >> 20) % 12];
        rtl_ui_key(&ui, key);
        if (round % 50 == 0) {
            synth_record(p, (int)(random >> 28) % 5, 500 + (random >> 12), 3);
            synth_tick(p, m, SECONDS(2 + round * 0.02));
            if (p->garbage_count > 3900) {
                teardown(NULL);
                setup(NULL);
                start_ui();
            }
        }
        if (round % 7 == 0) {
            int rows = 1 + (int)(random >> 8) % 50, cols = 1 + (int)(random >> 14) % 210;
            assert_true(rtl_frame_reset(&frame, rows, cols, random & 1));
            rtl_ui_scroll_into_view(&ui, rows, cols);
            rtl_draw(&ui, &frame);
        }
    }
    rtl_frame_free(&frame);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_cursor_stays_with_its_kernel), TEST(prompts_filter_and_search),
        TEST(tab_and_esc_change_views),         TEST(menus_and_switches_change_the_model),
        TEST(queues_and_copies_have_a_cursor),  TEST(columns_are_chosen_in_the_menu),
        TEST(columns_are_moved_by_keys),        TEST(a_key_of_another_screen_prints_a_message),
        TEST(random_keys_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
