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
    press("\t");
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
    press("N"); /* without a search */
    assert_int_equal(m->sort, RTL_COLUMN_P99);
    assert_non_null(strstr(ui.message, "no search yet"));
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
    assert_true(rtl_ui_key(&ui, ' ') & RTL_UI_SAMPLE); /* resume: catch up at once */
    assert_false(ui.paused);
    press("cccc");
    assert_int_equal(ui.names, RTL_NAME_SHORT);
    press("EEE");
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
    rtl_ui_key(&ui, RTL_KEY_F(8));
    assert_int_equal(m->window_ns, 5 * RTL_SEC);
    rtl_ui_key(&ui, RTL_KEY_F(7));
    assert_int_equal(m->window_ns, RTL_WINDOW_INTERVAL);
    rtl_ui_key(&ui, RTL_KEY_F(9));
    assert_string_equal(ui.message, "rtl-top ends no process; q quits");
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
        int lines = view == RTL_VIEW_QUEUES ? rtl_draw_queue_lines(&ui) : rtl_draw_copies_lines(&ui);
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
    rtl_ui_key(&ui, RTL_KEY_TAB);
    assert_int_equal(ui.view, RTL_VIEW_QUEUES);
    rtl_ui_key(&ui, 's');
    assert_string_equal(ui.message, "not on this screen: s (Sort)");
    rtl_ui_key(&ui, RTL_KEY_ENTER);
    assert_non_null(strstr(ui.message, "not on this screen: Enter"));
    rtl_ui_key(&ui, '.'); /* bound only in a replay */
    assert_string_equal(ui.message, "not on this screen: . (Frame)");
    rtl_ui_key(&ui, 'Q'); /* bound nowhere */
    assert_string_equal(ui.message, "");
    enum rtl_action actions[RTL_ACTION_COUNT];
    int count = rtl_key_line(RTL_IN_KERNELS, actions);
    unsigned seen = 0;
    for (int i = 0; i < count; i++) {
        assert_true(rtl_keys[actions[i]].rank && *rtl_keys[actions[i]].label &&
                    rtl_keys[actions[i]].where & RTL_IN_KERNELS);
        assert_true(!i || rtl_keys[actions[i - 1]].rank <= rtl_keys[actions[i]].rank);
        seen |= actions[i] == RTL_ACTION_CALLS ? 1 : actions[i] == RTL_ACTION_LOG ? 2 : 0;
    }
    assert_int_equal(seen, 1);
    for (int i = 1; i < RTL_ACTION_COUNT; i++) { /* the longest message about a key fits 80 columns */
        ui.view = RTL_VIEW_HELP;
        rtl_ui_key(&ui, rtl_keys[i].keys[0]);
        assert_true(strlen(ui.message) <= 80);
        ui.prompt = RTL_PROMPT_NONE;
        ui.ignoring = false;
    }
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

enum {
    CHANGES = RTL_UI_RECORD | RTL_UI_SNAPSHOT | RTL_UI_MODE | RTL_UI_SAVE | RTL_UI_END | RTL_UI_PROBE | RTL_UI_STALLS
};

static void start_with_files(enum rtl_view view)
{
    start_ui();
    snprintf(ui.path, sizeof ui.path, "rtl-top-4711.db");
    snprintf(ui.settings, sizeof ui.settings, "conf/rtl-top/config");
    ui.view = view;
    ui.selected = RTL_KERNEL_FIRST;
}

/* No single key writes a file or changes the process: a question or a prompt comes first. */
static void no_key_acts_without_a_question(void **state)
{
    (void)state;
    int asked = 0;
    for (int view = 0; view < RTL_VIEW_COUNT; view++) {
        start_with_files((enum rtl_view)view);
        const struct rtl_ui before = ui;
        for (int i = 0; i < RTL_ACTION_COUNT; i++)
            for (int k = 0; k < 3; k++) {
                ui = before;
                unsigned got = rtl_ui_key(&ui, rtl_keys[i].keys[k]);
                if (got & CHANGES)
                    fail_msg("%s acts at once in view %d", rtl_key_name(rtl_keys[i].keys[k]).text, view);
                bool asks = ui.prompt == RTL_PROMPT_ASK || ui.prompt == RTL_PROMPT_RECORD ||
                            ui.prompt == RTL_PROMPT_SNAPSHOT || ui.prompt == RTL_PROMPT_MODE;
                asked += asks;
                if (asks && ui.prompt != RTL_PROMPT_RECORD && ui.prompt != RTL_PROMPT_SNAPSHOT)
                    assert_int_equal(rtl_ui_key(&ui, RTL_KEY_ENTER) & CHANGES, 0); /* nor does Enter after it */
            }
        ui = before;
        teardown(NULL);
        setup(NULL);
    }
    assert_true(asked > 30);
}

static void a_mode_is_changed_after_a_question(void **state)
{
    (void)state;
    start_with_files(RTL_VIEW_KERNELS);
    press("M\r"); /* the mode that the process has */
    assert_int_equal(ui.prompt, RTL_PROMPT_NONE);
    assert_string_equal(ui.message, "the mode is default already");
    press("Mkk\r");
    assert_int_equal(ui.prompt, RTL_PROMPT_ASK);
    assert_string_equal(ui.question, "Switch 4711 (serve) from default to off?");
    assert_string_equal(ui.effect, "yes: loaded, counts nothing, costs next to nothing");
    assert_int_equal(rtl_ui_key(&ui, RTL_KEY_ENTER), RTL_UI_DRAW); /* no is chosen */
    assert_int_equal(ui.prompt, RTL_PROMPT_NONE);
    static const uint32_t no[] = {'n', 'q', RTL_KEY_ESC};
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        press("Mkk\r");
        assert_int_equal(rtl_ui_key(&ui, no[i]), RTL_UI_DRAW);
        assert_int_equal(ui.prompt, RTL_PROMPT_NONE);
    }
    press("Mkk\rxzS"); /* no answer */
    assert_int_equal(ui.prompt, RTL_PROMPT_ASK);
    assert_int_equal(rtl_ui_key(&ui, 'y'), RTL_UI_DRAW | RTL_UI_MODE);
    assert_int_equal(ui.mode, RTL_MODE_OFF);
    press("Mkk\r");
    rtl_ui_key(&ui, RTL_KEY_UP);
    assert_int_equal(rtl_ui_key(&ui, RTL_KEY_ENTER), RTL_UI_DRAW | RTL_UI_MODE);
}

static void a_file_is_named_before_it_is_written(void **state)
{
    (void)state;
    start_with_files(RTL_VIEW_KERNELS);
    press("W");
    assert_string_equal(ui.effect, "yes: conf/rtl-top/config");
    assert_int_equal(rtl_ui_key(&ui, 'y'), RTL_UI_DRAW | RTL_UI_SAVE);
    press("x");
    assert_string_equal(ui.typed, "rtl-top-4711.db");
    assert_int_equal(rtl_ui_key(&ui, RTL_KEY_ESC), RTL_UI_DRAW);
    press("S");
    press("\025");
    assert_int_equal(rtl_ui_key(&ui, RTL_KEY_ENTER), RTL_UI_DRAW);
    assert_string_equal(ui.message, "no file: nothing is written");
    press("S\025/tmp/a.db");
    assert_int_equal(rtl_ui_key(&ui, RTL_KEY_ENTER), RTL_UI_DRAW | RTL_UI_SNAPSHOT);
    assert_string_equal(ui.typed, "/tmp/a.db");
    press("x");
    assert_int_equal(rtl_ui_key(&ui, RTL_KEY_ENTER), RTL_UI_DRAW | RTL_UI_RECORD);
    ui.records = true; /* stopping asks nothing */
    assert_int_equal(rtl_ui_key(&ui, 'x'), RTL_UI_DRAW | RTL_UI_RECORD);
    press("S");
    for (int i = 0; i < 600; i++) /* a path may be longer than a filter */
        press("p");
    assert_true(strlen(ui.typed) > 500 && strlen(ui.typed) < sizeof ui.typed);
}

static void a_probe_starts_after_a_question(void **state)
{
    (void)state;
    for (int stalls = 0; stalls < 2; stalls++) {
        start_with_files(RTL_VIEW_DETAIL);
        unsigned wanted = stalls ? RTL_UI_STALLS : RTL_UI_PROBE;
        press(stalls ? "Y" : "B");
        assert_string_equal(ui.question, "Probe this kernel in 4711 (serve)?");
        assert_non_null(strstr(ui.effect, "changed cop"));
        assert_int_equal(rtl_ui_key(&ui, 'n'), RTL_UI_DRAW);
        press(stalls ? "Y" : "B");
        assert_int_equal(rtl_ui_key(&ui, 'y'), RTL_UI_DRAW | wanted);
        ui.probe.runs = true; /* stopping asks nothing */
        assert_int_equal(rtl_ui_key(&ui, stalls ? 'Y' : 'B'), RTL_UI_DRAW | wanted);
    }
}

static void text_where_nothing_asks_for_it_is_ignored(void **state)
{
    (void)state;
    start_with_files(RTL_VIEW_QUEUES);
    ui.now_mono_ns = SECONDS(100);
    press("\\zzz\r"); /* typed: no filter here */
    assert_null(m->zero);
    assert_int_equal(ui.view, RTL_VIEW_QUEUES);
    assert_string_equal(ui.message, "not on this screen: \\ (Filter); the text you type is ignored");
    press("/mq"); /* m would show the copies, q quit */
    assert_int_equal(ui.view, RTL_VIEW_QUEUES);
    ui.now_mono_ns += SECONDS(1); /* slow typing */
    press("m");
    ui.now_mono_ns += SECONDS(1);
    press("m");
    assert_int_equal(ui.view, RTL_VIEW_QUEUES);
    ui.now_mono_ns += SECONDS(2); /* after a pause keys are keys again */
    press("m");
    assert_int_equal(ui.view, RTL_VIEW_COPIES);
    press("Q"); /* bound nowhere: the next key is a key ... */
    press("\t");
    assert_int_equal(ui.view, RTL_VIEW_QUEUES);
    press("Q");
    ui.at_once = true; /* ... unless it came in the same read */
    press("zmx");
    assert_null(m->zero);
    assert_int_equal(ui.view, RTL_VIEW_QUEUES);
    assert_int_equal(ui.prompt, RTL_PROMPT_NONE);
    press("/");
    rtl_ui_key(&ui, RTL_KEY_ESC); /* Esc is no text */
    assert_int_equal(ui.view, RTL_VIEW_KERNELS);
    press("z");
    assert_non_null(m->zero);
}

static void pasted_text_is_no_key(void **state)
{
    (void)state;
    static const char text[] = "zMq\ngemm";
    start_with_files(RTL_VIEW_KERNELS);
    for (const char *c = text; *c; c++)
        assert_int_equal(rtl_ui_key(&ui, RTL_KEY_PASTED | (uint32_t)*c) & ~(unsigned)RTL_UI_DRAW, 0);
    assert_null(m->zero);
    assert_int_equal(ui.prompt, RTL_PROMPT_NONE);
    assert_string_equal(ui.message, "pasted text is ignored: nothing asks for a text");
    press("f");
    for (const char *c = text; *c; c++)
        rtl_ui_key(&ui, RTL_KEY_PASTED | (uint32_t)*c);
    assert_string_equal(ui.typed, "zMqgemm"); /* a line end accepts nothing */
    assert_int_equal(ui.prompt, RTL_PROMPT_FILTER);
    press("\033M");
    rtl_ui_key(&ui, RTL_KEY_PASTED | 'q');
    assert_int_equal(ui.prompt, RTL_PROMPT_MODE);
}

static void zero_is_undone(void **state)
{
    (void)state;
    start_ui();
    synth_record(p, 0, 1000, 50);
    synth_tick(p, m, SECONDS(2));
    uint64_t counted = m->counted, span = m->span_ns;
    assert_true(counted > 0);
    press("Z");
    assert_string_equal(ui.message, "nothing to undo: z counts from now");
    press("z");
    assert_int_equal(m->counted, 0);
    assert_string_equal(ui.message, "counting from now; Z undoes");
    press("Z");
    assert_string_equal(ui.message, "counting as before z");
    assert_int_equal(m->counted, counted);
    assert_int_equal(m->span_ns, span); /* the window is as before, too */
    press("z");
    synth_record(p, 0, 1000, 7);
    synth_tick(p, m, SECONDS(3));
    assert_int_equal(m->counted, 7);
    press("z"); /* once more, by mistake */
    assert_int_equal(m->counted, 0);
    press("Z");
    assert_int_equal(m->counted, 7);
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
        TEST(the_cursor_stays_with_its_kernel),
        TEST(prompts_filter_and_search),
        TEST(tab_and_esc_change_views),
        TEST(menus_and_switches_change_the_model),
        TEST(queues_and_copies_have_a_cursor),
        TEST(columns_are_chosen_in_the_menu),
        TEST(columns_are_moved_by_keys),
        TEST(a_key_of_another_screen_prints_a_message),
        TEST(no_key_acts_without_a_question),
        TEST(a_mode_is_changed_after_a_question),
        TEST(a_file_is_named_before_it_is_written),
        TEST(a_probe_starts_after_a_question),
        TEST(text_where_nothing_asks_for_it_is_ignored),
        TEST(pasted_text_is_no_key),
        TEST(zero_is_undone),
        TEST(random_keys_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
