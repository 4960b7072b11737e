/* The mouse acts on the cell that is drawn there; the themes' colours are readable. */
#include "model_fixture.h"

#include <math.h>

#include "frame_text.h"
#include "tui/ui_state.h"
#include "tui/themes.h"

enum { ROWS = 24, COLS = 80 };

static struct rtl_ui ui;

static void start_ui(void)
{
    static const char *const names[] = {"aa", "ab", "bb", "bc", "cc"};
    for (int i = 0; i < 5; i++)
        synth_record(p, synth_kernel(p, names[i]), 1000, 50 - (uint64_t)i * 10);
    synth_tick(p, m, SECONDS(1));
    rtl_ui_init(&ui, m, 4711, "serve");
    rtl_ui_scroll_into_view(&ui, ROWS, COLS);
}

static unsigned mouse(int kind, int row, int col)
{
    unsigned asked = rtl_ui_mouse(&ui, RTL_MOUSE_EVENT(kind, row, col), ROWS, COLS);
    rtl_ui_scroll_into_view(&ui, ROWS, COLS);
    return asked;
}

/* Find a word's position on the drawn screen. */
static void find(const char *word, int *row, int *col)
{
    struct rtl_frame frame = {0};
    char text[4 * COLS + 1];
    assert_true(rtl_frame_reset(&frame, ROWS, COLS, true));
    rtl_draw(&ui, &frame);
    for (*row = ROWS - 1; *row > 0; --*row) { /* the summary has names, too */
        frame_row_text(&frame, *row, text, sizeof text);
        const char *at = strstr(text, word);
        if (at && *row < ROWS - 2) {
            *col = (int)(at - text);
            rtl_frame_free(&frame);
            return;
        }
    }
    fail_msg("'%s' is not on the screen", word);
}

static const char *selected(void)
{
    const struct rtl_row *r = rtl_ui_selected(&ui);
    return r ? r->kernel->name : "";
}

static void a_click_on_a_header_sorts(void **state)
{
    (void)state;
    int row, col;
    start_ui();
    find("P50", &row, &col);
    mouse(RTL_MOUSE_CLICK, row, col);
    assert_true(m->sort == RTL_COLUMN_P50 && !m->reverse);
    mouse(RTL_MOUSE_CLICK, row, col);
    assert_true(m->sort == RTL_COLUMN_P50 && m->reverse);
    mouse(RTL_MOUSE_CLICK, row, col);
    assert_false(m->reverse);
    find("KERNEL", &row, &col);
    mouse(RTL_MOUSE_CLICK, row, COLS - 1);
    assert_true(m->sort == RTL_COLUMN_NAME && !m->reverse);
    shown("aa ab bb bc cc");
    mouse(RTL_MOUSE_CLICK, row, 0); /* left of all columns */
    assert_int_equal(m->sort, RTL_COLUMN_NAME);
}

static void a_click_on_a_row_selects_and_then_opens(void **state)
{
    (void)state;
    int row, col;
    start_ui();
    find(" bb", &row, &col);
    mouse(RTL_MOUSE_CLICK, row, col);
    assert_string_equal(selected(), "bb");
    assert_int_equal(ui.view, RTL_VIEW_KERNELS);
    mouse(RTL_MOUSE_CLICK, row, 3);
    assert_int_equal(ui.view, RTL_VIEW_DETAIL);
    assert_string_equal(selected(), "bb");
    mouse(RTL_MOUSE_CLICK, row, 3); /* nothing to click there */
    assert_int_equal(ui.view, RTL_VIEW_DETAIL);
}

static void the_wheel_scrolls(void **state)
{
    (void)state;
    start_ui();
    mouse(RTL_MOUSE_DOWN, 0, 0);
    assert_string_equal(selected(), "bc");
    mouse(RTL_MOUSE_UP, ROWS - 1, COLS - 1);
    assert_string_equal(selected(), "aa");
    rtl_ui_key(&ui, '?');
    rtl_ui_key(&ui, '?'); /* the manual: the card has nothing to scroll */
    mouse(RTL_MOUSE_DOWN, 5, 5);
    assert_int_equal(ui.line_top[RTL_VIEW_HELP], 3);
}

/* Return the column of a text in the last line. */
static int column_of(const char *text)
{
    struct rtl_frame frame = {0};
    char line[COLS + 1];
    assert_true(rtl_frame_reset(&frame, ROWS, COLS, true));
    rtl_ui_scroll_into_view(&ui, ROWS, COLS);
    rtl_draw(&ui, &frame);
    for (int col = 0; col < COLS; col++)
        line[col] = (char)frame.cells[(ROWS - 1) * COLS + col].code;
    line[COLS] = 0;
    rtl_frame_free(&frame);
    const char *at = strstr(line, text);
    if (!at)
        fail_msg("'%s' is not in the key bar '%s'", text, line);
    return (int)(at - line);
}

static void a_click_on_the_key_bar_presses_the_key(void **state)
{
    (void)state;
    start_ui();
    mouse(RTL_MOUSE_CLICK, ROWS - 1, column_of("sSort") + 3);
    assert_int_equal(ui.prompt, RTL_PROMPT_SORT);
    rtl_ui_key(&ui, RTL_KEY_ESC);
    mouse(RTL_MOUSE_CLICK, ROWS - 1, column_of("EnterDetail"));
    assert_int_equal(ui.view, RTL_VIEW_DETAIL);
    int kernels = column_of("[]Next");
    mouse(RTL_MOUSE_CLICK, ROWS - 1, kernels + 1); /* the second key of the label */
    assert_string_equal(selected(), "ab");
    mouse(RTL_MOUSE_CLICK, ROWS - 1, kernels);
    assert_string_equal(selected(), "aa");
    mouse(RTL_MOUSE_CLICK, ROWS - 1, kernels + 4); /* the label is its second key's */
    assert_string_equal(selected(), "ab");
    mouse(RTL_MOUSE_CLICK, ROWS - 1, column_of("EscBack"));
    assert_int_equal(ui.view, RTL_VIEW_KERNELS);
    assert_true(mouse(RTL_MOUSE_CLICK, ROWS - 1, COLS - 1) & RTL_UI_QUIT);
}

static void no_event_does_harm(void **state)
{
    (void)state;
    static const char *const keys[] = {"", "/", "\\x", "s", "M", "d", "?", "\t", "m", "\r"};
    start_ui();
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        for (int row = 0; row <= 0xfff; row += row < 30 ? 1 : 813)
            for (int col = 0; col <= 0xfff; col += col < 90 ? 7 : 813)
                for (int kind = 0; kind < 5; kind++) {
                    rtl_ui_key(&ui, RTL_KEY_ESC);
                    rtl_ui_key(&ui, RTL_KEY_ESC);
                    for (const char *key = keys[k]; *key; key++)
                        rtl_ui_key(&ui, (uint32_t)*key);
                    unsigned asked = mouse(kind, row, col);
                    bool bar = row == ROWS - 1; /* a click presses a key */
                    assert_int_equal(asked & (unsigned)~(RTL_UI_DRAW | RTL_UI_REPAINT |
                                                         (bar ? RTL_UI_QUIT | RTL_UI_PROCESSES | RTL_UI_SAMPLE : 0)),
                                     0);
                }
}

/* --- themes --- */

/* Return the relative luminance of a colour in xterm's palette of 256, from 16 on (formula of WCAG 2). */
static double luminance(int color)
{
    static const int steps[] = {0, 95, 135, 175, 215, 255};
    int rgb[3];
    assert_in_range(color, 16, 255);
    for (int i = 0; i < 3; i++) {
        static const int parts[] = {36, 6, 1};
        rgb[i] = color >= 232 ? 8 + (color - 232) * 10 : steps[(color - 16) / parts[i] % 6];
    }
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        static const double weights[] = {0.2126, 0.7152, 0.0722};
        double c = rgb[i] / 255.0;
        sum += weights[i] * (c <= 0.03928 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
    }
    return sum;
}

static double contrast(int a, int b)
{
    double x = luminance(a), y = luminance(b);
    return ((x > y ? x : y) + 0.05) / ((x > y ? y : x) + 0.05);
}

static void a_themes_colours_have_contrast(void **state)
{
    (void)state;
    static const struct {
        enum rtl_theme theme;
        int background; /* the terminal's */
        double least;
    } themes[] = {{RTL_THEME_DEFAULT, 16, 2.8},
                  {RTL_THEME_DEFAULT, 231, 2.8},
                  {RTL_THEME_CONTRAST, 231, 7},
                  {RTL_THEME_LIGHT, 231, 4.5}};
    for (size_t t = 0; t < sizeof themes / sizeof *themes; t++)
        for (int i = 0; i < RTL_ROLE_COUNT; i++) {
            struct rtl_style s = rtl_theme_style(themes[t].theme, (enum rtl_role)i);
            int bg = s.bg256 < 0 ? themes[t].background : s.bg256;
            if (s.fg256 < 0 && s.bg256 < 0)
                continue; /* the terminal's own colours */
            double got = contrast(s.fg256, bg);
            if (got < themes[t].least)
                fail_msg("theme %s, role %d: %d on %d has a contrast of %.2f", rtl_theme_name(themes[t].theme), i,
                         s.fg256, bg, got);
            assert_true((s.fg < 0 || s.fg != s.bg) && s.fg >= -1 && s.fg < 8 && s.bg >= -1 && s.bg < 8);
        }
}

/* A colour tells the meaning: no two meanings share one, and nothing but "act now" has its colour, also of 8 colours.
 */
static void each_colour_has_one_meaning(void **state)
{
    (void)state;
    static const enum rtl_theme themes[] = {RTL_THEME_DEFAULT, RTL_THEME_CONTRAST, RTL_THEME_LIGHT};
    for (int i = 0; i < RTL_MEANING_COUNT; i++) {
        assert_int_equal(rtl_role_meaning(rtl_colour_meanings[i].role), i);
        assert_true(strlen(rtl_colour_meanings[i].text) > 10);
    }
    for (size_t t = 0; t < sizeof themes / sizeof *themes; t++)
        for (int i = 0; i < RTL_ROLE_COUNT; i++)
            for (int j = 0; j < i; j++) {
                struct rtl_style a = rtl_theme_style(themes[t], (enum rtl_role)i),
                                 b = rtl_theme_style(themes[t], (enum rtl_role)j);
                enum rtl_meaning of = rtl_role_meaning((enum rtl_role)i), other = rtl_role_meaning((enum rtl_role)j);
                bool act = of == RTL_MEANING_ACT || other == RTL_MEANING_ACT;
                if (of != other && a.fg256 == b.fg256 && a.bg256 == b.bg256)
                    fail_msg("theme %s: roles %d and %d have one colour and two meanings", rtl_theme_name(themes[t]), i,
                             j);
                if (of != other && act && a.fg == b.fg && a.bg == b.bg)
                    fail_msg("theme %s: role %d or %d looks like 'act now' in 8 colours", rtl_theme_name(themes[t]), i,
                             j);
            }
}

static void the_mono_theme_keeps_the_marks(void **state)
{
    (void)state;
    for (int i = 0; i < RTL_ROLE_COUNT; i++) {
        struct rtl_style s = rtl_theme_style(RTL_THEME_MONO, (enum rtl_role)i);
        assert_true(s.fg == -1 && s.bg == -1 && s.fg256 == -1 && s.bg256 == -1);
        assert_int_equal(s.mark, rtl_theme_style(RTL_THEME_DEFAULT, (enum rtl_role)i).mark);
    }
    assert_int_equal(rtl_theme_style(RTL_THEME_MONO, RTL_ROLE_SELECTED).mark, RTL_MARK_REVERSE);
    assert_int_equal(rtl_theme_style(RTL_THEME_MONO, RTL_ROLE_ALERT).mark, RTL_MARK_REVERSE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_click_on_a_header_sorts, setup, teardown),
        cmocka_unit_test_setup_teardown(a_click_on_a_row_selects_and_then_opens, setup, teardown),
        cmocka_unit_test_setup_teardown(the_wheel_scrolls, setup, teardown),
        cmocka_unit_test_setup_teardown(a_click_on_the_key_bar_presses_the_key, setup, teardown),
        cmocka_unit_test_setup_teardown(no_event_does_harm, setup, teardown),
        cmocka_unit_test(a_themes_colours_have_contrast),
        cmocka_unit_test(each_colour_has_one_meaning),
        cmocka_unit_test(the_mono_theme_keeps_the_marks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
