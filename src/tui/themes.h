/*
 * Themes: the looks of the roles of cells (frame.h). RTL_ROLES has the default theme; the tables of themes.c have the
 * roles in which another theme differs. Pure: only screen_curses.c sends them to a terminal.
 */
#ifndef RTL_TUI_THEMES_H
#define RTL_TUI_THEMES_H

#include "options/theme_names.h"
#include "tui/frame.h"

enum rtl_theme_mark { RTL_MARK_NONE, RTL_MARK_BOLD, RTL_MARK_REVERSE, RTL_MARK_DIM, RTL_MARK_UNDERLINE };

struct rtl_style {
    short fg, bg;             /* of 8 colours; -1 = the terminal's default */
    short fg256, bg256;       /* of 256 colours */
    enum rtl_theme_mark mark; /* without colours */
};

struct rtl_style rtl_theme_style(enum rtl_theme theme, enum rtl_role role);

#endif
