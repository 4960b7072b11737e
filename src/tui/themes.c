/* The colours of the themes. See themes.h. */
#include "tui/themes.h"

/* short names, so that a row fits in a line */
#define N RTL_MARK_NONE
#define B RTL_MARK_BOLD
#define R RTL_MARK_REVERSE
#define D RTL_MARK_DIM
#define U RTL_MARK_UNDERLINE

struct theme_row {
    bool there;
    struct rtl_style style;
};
#define ROW(sym, ...) [RTL_ROLE_##sym] = {true, {__VA_ARGS__}}

/* clang-format off */
/* Black, white, yellow and cyan on a black background, whatever the terminal's colours are. */
static const struct theme_row contrast[RTL_ROLE_COUNT] = {
    ROW(NORMAL, 7, 0, 231, 16, N),
    ROW(TITLE, 7, 0, 231, 16, B),
    ROW(LABEL, 7, 0, 253, 16, N),
    ROW(VALUE, 7, 0, 231, 16, B),
    ROW(HEADER, 0, 7, 16, 231, R),
    ROW(HEADER_SORT, 0, 3, 16, 226, B),
    ROW(SELECTED, 0, 6, 16, 51, R),
    ROW(BAR, 6, 0, 51, 16, N),
    ROW(BAR_HIGH, 3, 0, 226, 16, N),
    ROW(SPARK, 6, 0, 51, 16, N),
    ROW(GOOD, 6, 0, 51, 16, B),
    ROW(WARN, 3, 0, 226, 16, B),
    ROW(ALERT, 7, 1, 231, 88, R),
    ROW(DIM, 7, 0, 250, 16, N),
    ROW(KEY, 3, 0, 226, 16, B),
    ROW(STATUS, 7, 0, 231, 16, N),
    ROW(PROMPT, 7, 0, 231, 16, B),
    ROW(LOAD, 7, 0, 253, 16, N),
    ROW(LOAD_MID, 6, 0, 51, 16, N),
    ROW(LOAD_HIGH, 3, 0, 226, 16, N),
    ROW(WORSE, 3, 0, 226, 16, B),
    ROW(BETTER, 6, 0, 51, 16, N),
};

/* Dark colours on the terminal's own light background. */
static const struct theme_row light[RTL_ROLE_COUNT] = {
    ROW(NORMAL, 0, -1, 16, -1, N),
    ROW(TITLE, 4, -1, 25, -1, B),
    ROW(LABEL, 0, -1, 240, -1, N),
    ROW(VALUE, 0, -1, 16, -1, B),
    ROW(HEADER, 7, 4, 231, 25, R),
    ROW(HEADER_SORT, 7, 1, 231, 94, B),
    ROW(SELECTED, 7, 4, 231, 24, R),
    ROW(BAR, 4, -1, 25, -1, N),
    ROW(BAR_HIGH, 1, -1, 130, -1, N),
    ROW(SPARK, 4, -1, 24, -1, N),
    ROW(GOOD, 4, -1, 24, -1, B),
    ROW(WARN, 1, -1, 130, -1, B),
    ROW(ALERT, 7, 1, 231, 124, R),
    ROW(DIM, 0, -1, 241, -1, N),
    ROW(KEY, 4, -1, 25, -1, B),
    ROW(STATUS, 0, -1, 16, -1, N),
    ROW(PROMPT, 0, -1, 16, -1, B),
    ROW(LOAD, 4, -1, 61, -1, N),
    ROW(LOAD_MID, 4, -1, 24, -1, N),
    ROW(LOAD_HIGH, 1, -1, 130, -1, N),
    ROW(WORSE, 1, -1, 130, -1, B),
    ROW(BETTER, 4, -1, 24, -1, N),
};
/* clang-format on */

struct rtl_style rtl_theme_style(enum rtl_theme theme, enum rtl_role role)
{
    static const struct rtl_style usual[] = {
#define ROLE(sym, fg, bg, fg256, bg256, mark) [RTL_ROLE_##sym] = {fg, bg, fg256, bg256, mark},
        RTL_ROLES(ROLE)
#undef ROLE
    };
    const struct theme_row *rows = theme == RTL_THEME_CONTRAST ? contrast : theme == RTL_THEME_LIGHT ? light : NULL;
    struct rtl_style style = rows && rows[role].there ? rows[role].style : usual[role];
    if (theme == RTL_THEME_MONO)
        style.fg = style.bg = style.fg256 = style.bg256 = -1;
    return style;
}
