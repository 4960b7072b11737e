/* The help can be searched, and explains every word on the screens. */
#include "golden_fixture.h"

#include "text/text.h"
#include "tui/draw_views.h"
#include "tui/themes.h"

static struct synth *p;
static struct rtl_model *m;

static int setup(void **state)
{
    (void)state;
    p = synth_create(2, 2);
    m = rtl_model_create();
    assert_non_null(m);
    synth_record(p, synth_kernel(p, "Cijk_Alik_Bljk_BBS_BH_MT256x256x64_MI16x16x1_SN"), 100000, 50);
    synth_record(p, synth_kernel(p, "_Z31ncclDevKernel_AllReduce_RING_LL24ncclDevKernelArgsStorageILm4096EE"), 900, 5);
    synth_copies(p, 0, RTL_COPY_H2D, 1 << 20, 43000, 150);
    synth_copies(p, 1, RTL_COPY_P2P, 1 << 20, 43000, 150);
    synth_tick(p, m, RTL_SEC);
    synth_record(p, 0, 110000, 50);
    synth_tick(p, m, 2 * RTL_SEC);
    rtl_ui_init(&ui, m, 4711, "serve");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rtl_model_free(m);
    synth_free(p);
    return 0;
}

static void press(const char *keys, int rows, int cols)
{
    for (; *keys; keys++)
        rtl_ui_key(&ui, (uint32_t)(unsigned char)*keys);
    rtl_ui_scroll_into_view(&ui, rows, cols);
}

/* Return the text of the complete help. */
static char *help_text(int cols)
{
    struct rtl_ui kept = ui;
    ui.view = RTL_VIEW_HELP;
    ui.manual = true;
    char *text = draw(900, cols);
    ui = kept;
    return text;
}

/* True when the help has the word as a word of its own, not inside another one. */
static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at++)
        if ((at == text || strchr(" \n,(/", at[-1])) && (!at[length] || strchr(" \n,;:.)/", at[length])))
            return true;
    return false;
}

/* Check every header of every table, at each width that changes the headers. */
static void every_header_has_a_line(void **state)
{
    (void)state;
    char *help = help_text(159);
    int words = 0, missing = 0;
    for (int view = RTL_VIEW_KERNELS; view <= RTL_VIEW_DETAIL; view++)
        for (int cols = 40; cols <= 240; cols += 20) {
            struct rtl_frame frame = {0};
            ui.view = (enum rtl_view)view;
            ui.following = view != RTL_VIEW_DETAIL;
            ui.selected = RTL_KERNEL_FIRST;
            rtl_ui_scroll_into_view(&ui, 40, cols);
            assert_true(rtl_frame_reset(&frame, 40, cols, false));
            rtl_draw(&ui, &frame);
            for (int row = 0; row < frame.rows; row++) {
                char word[64] = "";
                size_t used = 0;
                for (int col = 0; col < frame.cols; col++) {
                    struct rtl_cell cell = frame.cells[row * frame.cols + col];
                    bool inside = (cell.role == RTL_ROLE_HEADER || cell.role == RTL_ROLE_HEADER_SORT) &&
                                  cell.code > ' ' && cell.code != ',';
                    if (inside && used + 5 < sizeof word) {
                        used += rtl_utf8_encode(word + used, cell.code);
                        word[used] = 0;
                    }
                    if ((inside && col + 1 < frame.cols) || !used)
                        continue;
                    /* "N of M" rows is a number */
                    if (!(word[0] >= '0' && word[0] <= '9') && !has_word(help, word)) {
                        print_error("the help has no word on '%s', a header at %d columns\n", word, cols);
                        missing++;
                    }
                    words++;
                    used = 0;
                    word[0] = 0;
                }
            }
            rtl_frame_free(&frame);
        }
    assert_true(words > 300);
    assert_int_equal(missing, 0);
    free(help);
}

/* Each word of a probe's pane (draw_probe.c, draw_stalls.c) begins a line of the help. */
static void every_word_of_a_probe_has_a_line(void **state)
{
    static const char *const words[] = {"PROBE",  "STALLS", "armed",   "waves",    "p50 cyc",   "imbalance",
                                        "dies",   "on CUs", "hottest", "tail p50", "slot gaps", "mean",
                                        "others", "waits",  "clock",   "%WAVES",   "CYCLES",    "AT"};
    static const char *const inside[] = {"p99 cyc", "then:", "tail max:", "PASSES:", "WAIT,", "WAITS FOR:"};
    (void)state;
    char *help = help_text(159), *part = strstr(help, "Words of a probe"),
         *end = part ? strstr(part, "Other words") : NULL;
    assert_non_null(end);
    *end = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char line[32];
        snprintf(line, sizeof line, "\n   %-10s ", words[i]);
        if (!strstr(part, line))
            fail_msg("the help has no line for '%s'", words[i]);
    }
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++)
        if (!strstr(part, inside[i]))
            fail_msg("the help has no word on '%s'", inside[i]);
    free(help);
}

/* The labels of the summary line, the GPU lines and the detail. */
static void every_label_has_a_line(void **state)
{
    (void)state;
    char *help = help_text(159);
    int missing = 0;
    for (int view = RTL_VIEW_KERNELS; view <= RTL_VIEW_DETAIL; view += RTL_VIEW_DETAIL - RTL_VIEW_KERNELS) {
        struct rtl_frame frame = {0};
        ui.view = (enum rtl_view)view;
        ui.following = view != RTL_VIEW_DETAIL;
        ui.selected = RTL_KERNEL_FIRST;
        rtl_ui_scroll_into_view(&ui, 40, 160);
        assert_true(rtl_frame_reset(&frame, 40, 160, false));
        rtl_draw(&ui, &frame);
        for (int row = 1; row < frame.rows - 2; row++) { /* the last two lines need no explanation */
            char word[64] = "";
            size_t used = 0;
            for (int col = 0; col < frame.cols; col++) {
                struct rtl_cell cell = frame.cells[row * frame.cols + col];
                bool inside = cell.role == RTL_ROLE_LABEL &&
                              ((cell.code >= 'a' && cell.code <= 'z') ||
                               (cell.code >= '0' && cell.code <= '9' && used) || (cell.code == '.' && used));
                if (inside && used + 2 < sizeof word) {
                    word[used++] = (char)cell.code;
                    word[used] = 0;
                }
                if ((inside && col + 1 < frame.cols) || !used)
                    continue;
                if (strncmp(word, "gfx", 3) && !strchr("0123456789", word[used - 1]) && !has_word(help, word)) {
                    print_error("the help has no word on '%s'\n", word);
                    missing++;
                }
                used = 0;
                word[0] = 0;
            }
        }
        rtl_frame_free(&frame);
    }
    assert_int_equal(missing, 0);
    free(help);
}

static void the_help_is_searched(void **state)
{
    (void)state;
    press("?"
          "?",
          24, 80);
    press("/scra", 24, 80);
    drawn(24, 80, "find: scra");
    drawn(24, 80, "private memory of a work-item"); /* visible during input */
    int typed_at = ui.help_line;
    press("tch\r", 24, 80);
    assert_int_equal(ui.help_line, typed_at);
    not_drawn(24, 80, "find:");
    press("n", 24, 80); /* the only match: wraps round to it */
    assert_int_equal(ui.help_line, typed_at);
    press("/nowhere to be found\r", 24, 80);
    drawn(24, 80, "the help doesn't contain 'nowhere to be found'");
    press("/P50\r", 24, 80); /* case-insensitive */
    int first = ui.help_line, lines = 0;
    press("n", 24, 80);
    int second = ui.help_line;
    assert_true(second != first);
    press("N", 24, 80);
    assert_int_equal(ui.help_line, first);
    do { /* all the way round: each match once */
        press("n", 24, 80);
        assert_true(ui.help_line >= ui.line_top[RTL_VIEW_HELP] && ui.help_line < ui.line_top[RTL_VIEW_HELP] + ui.page);
    } while (ui.help_line != first && ++lines < 100);
    assert_true(lines > 2 && lines < 30);
    press("N", 24, 80);
    press("n", 24, 80);
    assert_int_equal(ui.help_line, first);
    int top = ui.line_top[RTL_VIEW_HELP];
    press("/qqq", 24, 80);
    press("\025quit", 24, 80); /* far from there */
    assert_int_not_equal(ui.line_top[RTL_VIEW_HELP], top);
    press("\033", 24, 80); /* Esc: back to the first position, without marks */
    assert_int_equal(ui.line_top[RTL_VIEW_HELP], top);
    assert_string_equal(ui.help_search, "");
    press("n", 24, 80);
    drawn(24, 80, "no search yet: / asks for a text");
    press("\033", 24, 80);
    assert_int_equal(ui.view, RTL_VIEW_KERNELS);
    assert_string_equal(ui.search, ""); /* the kernels' search is separate */
    rtl_ui_key(&ui, RTL_KEY_F(1));
    rtl_ui_key(&ui, RTL_KEY_F(3));
    assert_int_equal(ui.prompt, RTL_PROMPT_FIND);
    /* at any size, also across a line break */
    press("gone on", 3, 24);
    for (int rows = 1; rows < 30; rows += 3)
        for (int cols = 1; cols < 120; cols += 7) {
            press("\025share of the window", rows, cols);
            free(draw(rows, cols));
            if (cols >= 24 && rows >= 3)
                assert_true(ui.help_line >= 0);
        }
}

/* Each match is marked. */
static void matches_are_marked(void **state)
{
    (void)state;
    struct rtl_frame frame = {0};
    press("?"
          "?/WORK-item\r",
          24, 80);
    assert_true(rtl_frame_reset(&frame, 24, 80, false));
    rtl_draw(&ui, &frame);
    int marked = 0;
    for (int i = 0; i < 24 * 80; i++)
        marked += frame.cells[i].role == RTL_ROLE_SELECTED;
    assert_true(marked > 9 && marked % 9 == 0);
    rtl_frame_free(&frame);
}

/* The card of each view is complete at 80x24, also in a replay; smaller terminals scroll it to its end. */
static void the_card_fits_one_screen(void **state)
{
    (void)state;
    for (int view = 0; view < RTL_VIEW_COUNT; view++)
        for (int replay = 0; replay < 2; replay++) {
            if (view == RTL_VIEW_HELP)
                continue;
            ui.view = (enum rtl_view)view;
            ui.replay = replay;
            unsigned where = rtl_ui_context(&ui);
            press("?", 24, 80);
            assert_true(rtl_draw_card_lines(&ui, 80) <= 22);
            char *text = draw(24, 80);
            for (int i = 1; i < RTL_ACTION_COUNT; i++)
                if (rtl_keys[i].where & where && rtl_keys[i].label[0] && i != RTL_ACTION_HELP &&
                    !strstr(text, rtl_keys[i].label))
                    fail_msg("the card of view %d lacks '%s'", view, rtl_keys[i].label);
            for (int i = 0; i < RTL_MEANING_COUNT; i++) {
                char begin[64];
                snprintf(begin, sizeof begin, "%.*s", (int)strcspn(rtl_colour_meanings[i].text, ":;,"),
                         rtl_colour_meanings[i].text);
                if (!strstr(text, begin))
                    fail_msg("the card of view %d lacks the colour '%s'", view, begin);
            }
            if (strstr(text, "…"))
                fail_msg("a word of the card is cut:\n%s", text);
            free(text);
            for (int i = 0; i < 99; i++)
                rtl_ui_key(&ui, RTL_KEY_DOWN);
            drawn(12, 40, "powers of 1024");
            press("?", 24, 80);
            drawn(24, 80, "rtl-top manual");
            press("?", 24, 80);
            assert_int_equal(ui.view, view);
        }
    ui.replay = false;
}

/* A search begins in the manual, also from the card. */
static void a_search_on_the_card_opens_the_manual(void **state)
{
    (void)state;
    press("?/scratch\r", 24, 80);
    drawn(24, 80, "private memory of a work-item");
}

static bool bar_has(const char *label)
{
    char *text = draw(24, 200), *line = strrchr(text, '\n');
    *line = 0;
    bool has = strstr(strrchr(text, '\n'), label);
    free(text);
    return has;
}

static void the_key_bar_offers_only_what_the_process_has(void **state)
{
    (void)state;
    assert_true(bar_has("mCopies"));
    assert_false(bar_has("eRanks") || bar_has("aCalls") || bar_has("ARanges") || bar_has("ZUndo zero"));
    press("z", 24, 200);
    assert_true(bar_has("ZUndo zero"));
    press("Z", 24, 200);
    m->copies_count = 0;
    assert_false(bar_has("mCopies"));
    m->hip_api.functions = 1;
    assert_true(bar_has("aCalls") && !bar_has("ARanges"));
    m->hip_api.functions = 0;
    ui.view = RTL_VIEW_DETAIL;
    ui.selected = RTL_KERNEL_FIRST;
    assert_true(bar_has("MMode") && bar_has("xRecord"));
    ui.no_probe = "not started for probes";
    assert_false(bar_has("BProbe") || bar_has("YWaits"));
    press("B", 24, 200);
    assert_string_equal(ui.message, "not started for probes");
    assert_int_equal(ui.prompt, RTL_PROMPT_NONE);
    ui.no_probe = NULL;
    assert_true(bar_has("BProbe") && bar_has("YWaits"));
    ui.replay = true;
    assert_false(bar_has("BProbe") || bar_has("MMode") || bar_has("xRecord"));
    assert_true(bar_has(".,Frame"));
    ui.replay = false;
    rtl_model_exited(m);
    assert_false(bar_has("BProbe") || bar_has("MMode"));
}

/* Each key of the bar stands before its label's block, and no label touches the next key. */
static void the_key_bar_separates_key_and_label(void **state)
{
    (void)state;
    struct rtl_frame frame = {0};
    struct rtl_key_button buttons[RTL_KEY_BUTTONS_MAX];
    for (int cols = 24; cols <= 200; cols++) {
        assert_true(rtl_frame_reset(&frame, 24, cols, false));
        rtl_ui_scroll_into_view(&ui, 24, cols);
        rtl_draw(&ui, &frame);
        const struct rtl_cell *line = &frame.cells[23 * cols];
        int count = rtl_key_bar(&ui, cols, buttons), behind = 0;
        assert_true(count >= 2);
        for (int i = 0; i < count; i++) {
            const struct rtl_key_button *b = &buttons[i];
            assert_true(b->col >= behind && b->col + b->cols <= cols);
            behind = b->col + b->cols;
            assert_int_equal(line[b->col].role, RTL_ROLE_KEY);
            assert_int_equal(line[behind - 1].role, *b->label ? RTL_ROLE_BUTTON : RTL_ROLE_KEY);
            assert_true(!*b->label || i + 1 == count || line[behind - 1].code == ' ');
        }
        assert_int_equal(buttons[count - 1].key, 'q');
    }
    rtl_frame_free(&frame);
}

static void long_names_scroll_sideways(void **state)
{
    (void)state;
    static const char end[] = "of_an_inner_loop_that_nobody_unrolled";
    char name[200];
    snprintf(name, sizeof name, "a_kernel_with_a_very_long_name_that_goes_on_and_on_and_on_until_the_%s", end);
    synth_record(p, synth_kernel(p, name), 5000000, 50);
    synth_tick(p, m, 3 * RTL_SEC);
    char *before = draw(24, 80);
    not_drawn(24, 80, "inner_loop");
    for (int i = 0; i < 40; i++) {
        rtl_ui_key(&ui, RTL_KEY_RIGHT);
        rtl_ui_scroll_into_view(&ui, 24, 80);
    }
    drawn(24, 80, "<nrolled\n"); /* scrolling stops at the end of the longest name */
    drawn(24, 80, "| names from column ");
    for (int i = 0; i < 2; i++)
        rtl_ui_key(&ui, RTL_KEY_LEFT);
    drawn(24, 80, "nobody_unrolled\n");
    for (int i = 0; i < 40; i++)
        rtl_ui_key(&ui, RTL_KEY_LEFT);
    char *after = draw(24, 80);
    assert_string_equal(before, after);
    rtl_ui_key(&ui, RTL_KEY_RIGHT);
    drawn(24, 80, " <with_a_");
    drawn(24, 80, ">\n"); /* a mark shows that the name continues */
    rtl_ui_key(&ui, RTL_KEY_ESC);
    assert_int_equal(ui.name_left, 0);
    free(before);
    free(after);
}

static void g_goes_to_the_end(void **state)
{
    (void)state;
    rtl_ui_key(&ui, 'G');
    rtl_ui_scroll_into_view(&ui, 24, 80);
    assert_int_equal(ui.position, 1); /* same as End */
}

/* A menu has a border and lies over the rows, complete where there is room. */
static void menus_have_borders(void **state)
{
    (void)state;
    press("s", 24, 80);
    golden("menu-sort-80x24", 24, 80);
    golden("menu-sort-40x12", 12, 40);
    ui.ascii = true;
    golden("menu-sort-ascii-80x24", 24, 80);
    ui.ascii = false;
    press("\033M", 24, 80);
    golden("menu-mode-80x24", 24, 80);
    golden("menu-mode-120x40", 40, 120);
    press("\033o", 24, 80);
    golden("menu-columns-80x24", 24, 80);
    golden("menu-columns-40x12", 12, 40);
    for (int rows = 2; rows < 30; rows++) /* the selection is always visible */
        for (int steps = 0; steps < 12; steps++) {
            char *text = draw(rows, 60);
            assert_true(strstr(text, "│> ") || strstr(text, "\n> ") || strncmp(text, "> ", 2) == 0);
            free(text);
            rtl_ui_key(&ui, rows & 1 ? RTL_KEY_UP : RTL_KEY_DOWN);
        }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(every_header_has_a_line),
        TEST(every_label_has_a_line),
        TEST(every_word_of_a_probe_has_a_line),
        TEST(the_help_is_searched),
        TEST(matches_are_marked),
        TEST(long_names_scroll_sideways),
        TEST(the_card_fits_one_screen),
        TEST(a_search_on_the_card_opens_the_manual),
        TEST(the_key_bar_offers_only_what_the_process_has),
        TEST(the_key_bar_separates_key_and_label),
        TEST(g_goes_to_the_end),
        TEST(menus_have_borders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
