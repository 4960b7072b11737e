/*
 * Themes: what the roles of cells (frame.h) look like. A table row a role in each; the colours of the default one stand
 * with the roles. A role that a theme says nothing of looks as in the default one. Pure: only screen_curses.c knows
 * how a terminal is told.
 */
#ifndef RTL_TUI_THEMES_H
#define RTL_TUI_THEMES_H

#include "options/theme_names.h"
#include "tui/frame.h"

enum rtl_theme_mark { RTL_MARK_NONE, RTL_MARK_BOLD, RTL_MARK_REVERSE, RTL_MARK_DIM, RTL_MARK_UNDERLINE };

struct rtl_style {
    short fg, bg;             /* of 8 colours; -1 = the terminal's own */
    short fg256, bg256;       /* where there are 256 */
    enum rtl_theme_mark mark; /* what it is without colours */
};

struct rtl_style rtl_theme_style(enum rtl_theme theme, enum rtl_role role);

#endif
