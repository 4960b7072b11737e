/*
 * Themes: the looks of the roles of cells (frame.h). Roles of one meaning have one colour; the table of themes.c has
 * the colours. Pure: only screen_curses.c sends them to a terminal.
 */
#ifndef RTL_TUI_THEMES_H
#define RTL_TUI_THEMES_H

#include "options/theme_names.h"
#include "tui/frame.h"

enum rtl_theme_mark { RTL_MARK_NONE, RTL_MARK_BOLD, RTL_MARK_REVERSE, RTL_MARK_DIM };

/*
 * X(symbol, role that shows it, meaning): each colour has one meaning in all themes, and the help draws each meaning in
 * its colour.
 *
 * ACT means "act now", and nothing else is orange. The rules:
 *  - a kernel's p50 or p99 is longer than in the previous window by a tenth or more, beyond chance (model/change.h);
 *  - a process takes 1.2 times the median of the others or more for a kernel (at a collective, waits as much less);
 *  - a GPU is idle for half of the window or more, for a cause that the user can change: the host, waits, copies;
 *  - a step takes longer than in the previous window, beyond chance, or the user's marker counts no steps;
 *  - dispatches were dropped in the window, or a queue isn't counted;
 *  - HIP calls return errors.
 * A high share, a busy or idle GPU, a common duration and a message are no reasons to act.
 */
#define RTL_COLOUR_MEANINGS(X)                                                        \
    X(ACT, WARN, "act now: worse than before, a slow process, a GPU held up, a loss") \
    X(STOPPED, ALERT, "failed or stopped: an error, or figures that are old")         \
    X(WELL, GOOD, "well: live, busy, or shorter than before")                         \
    X(AMOUNT, BAR, "amounts: shares, busy, durations and their distribution")         \
    X(TEXT, VALUE, "names and figures; bold: the important ones, and messages")       \
    X(QUIET, LABEL, "labels, and all that is idle, steady or not measured")           \
    X(PRESS, KEY, "keys, and the titles of screens")                                  \
    X(HEAD, HEADER, "heads of tables, and labels of keys")                            \
    X(SORT, HEADER_SORT, "sort column: the table is sorted by this")                  \
    X(CURSOR, SELECTED, "the line that keys act on")

#define RTL_ENUM_MEANING(sym, ...) RTL_MEANING_##sym,
enum rtl_meaning { RTL_COLOUR_MEANINGS(RTL_ENUM_MEANING) RTL_MEANING_COUNT };
#undef RTL_ENUM_MEANING

struct rtl_colour_meaning {
    enum rtl_role role;
    const char *text;
};
extern const struct rtl_colour_meaning rtl_colour_meanings[RTL_MEANING_COUNT];
enum rtl_meaning rtl_role_meaning(enum rtl_role role);

struct rtl_style {
    short fg, bg;             /* of 8 colours; -1 = the terminal's default */
    short fg256, bg256;       /* of 256 colours */
    enum rtl_theme_mark mark; /* without colours */
};

struct rtl_style rtl_theme_style(enum rtl_theme theme, enum rtl_role role);

#endif
