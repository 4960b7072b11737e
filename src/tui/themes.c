/* The colours of the themes. See themes.h. */
#include "tui/themes.h"

/* Foreground and background of 8 colours (-1 = the terminal's own), then of 256. */
struct theme_colours {
    short fg, bg, fg256, bg256;
};

/* The default colours are readable on dark and light backgrounds, and differ for colour-blind users. Contrast has
 * bright colours on black, whatever the terminal's colours are. Light has dark colours on the terminal's own
 * background. */
/* clang-format off */
static const struct theme_colours colours[RTL_MEANING_COUNT][RTL_THEME_COUNT] = {
#define MONO {-1, -1, -1, -1}
    /*                       default             contrast                 light */
    [RTL_MEANING_ACT] =     {{3, -1, 172, -1},  {3, 0, 226, 16},  MONO,  {1, -1, 130, -1}},
    [RTL_MEANING_STOPPED] = {{1, -1, 166, -1},  {7, 1, 231, 88},  MONO,  {7, 1, 231, 124}},
    [RTL_MEANING_WELL] =    {{2, -1, 29, -1},   {2, 0, 46, 16},   MONO,  {2, -1, 22, -1}},
    [RTL_MEANING_AMOUNT] =  {{4, -1, 68, -1},   {6, 0, 51, 16},   MONO,  {4, -1, 25, -1}},
    [RTL_MEANING_TEXT] =    {{-1, -1, -1, -1},  {7, 0, 231, 16},  MONO,  {0, -1, 16, -1}},
    [RTL_MEANING_QUIET] =   {{-1, -1, 244, -1}, {7, 0, 252, 16},  MONO,  {0, -1, 240, -1}},
    [RTL_MEANING_PRESS] =   {{6, -1, 31, -1},   {5, 0, 219, 16},  MONO,  {6, -1, 23, -1}},
    [RTL_MEANING_HEAD] =    {{0, 6, 16, 110},   {0, 7, 16, 231},  MONO,  {0, 6, 16, 152}},
    [RTL_MEANING_SORT] =    {{0, 7, 16, 255},   {0, 5, 16, 219},  MONO,  {0, 7, 16, 254}},
    [RTL_MEANING_CURSOR] =  {{7, 4, 231, 24},   {0, 6, 16, 51},   MONO,  {7, 0, 231, 238}},
};
/* clang-format on */

const struct rtl_colour_meaning rtl_colour_meanings[RTL_MEANING_COUNT] = {
#define MEANING(sym, role, text) [RTL_MEANING_##sym] = {RTL_ROLE_##role, text},
    RTL_COLOUR_MEANINGS(MEANING)
#undef MEANING
};

static const struct theme_role {
    enum rtl_theme_mark mark;
    enum rtl_meaning meaning;
} roles[] = {
#define ROLE(sym, mark, meaning) [RTL_ROLE_##sym] = {RTL_MARK_##mark, RTL_MEANING_##meaning},
    RTL_ROLES(ROLE)
#undef ROLE
};

enum rtl_meaning rtl_role_meaning(enum rtl_role role)
{
    return roles[role].meaning;
}

struct rtl_style rtl_theme_style(enum rtl_theme theme, enum rtl_role role)
{
    struct theme_colours c = colours[roles[role].meaning][theme];
    return (struct rtl_style){c.fg, c.bg, c.fg256, c.bg256, roles[role].mark};
}
