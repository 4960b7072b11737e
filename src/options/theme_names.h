/* The names of the themes. tui/themes.h has their colours. */
#ifndef RTL_OPTIONS_THEME_NAMES_H
#define RTL_OPTIONS_THEME_NAMES_H

#include <stdbool.h>
#include <string.h>

/* X(symbol, name on the command line and in the configuration, meaning) */
#define RTL_THEMES(X)                                                         \
    X(DEFAULT, "default", "readable on dark and on light backgrounds")        \
    X(CONTRAST, "contrast", "high contrast: black, white and bright colours") \
    X(MONO, "mono", "no colours: bold, reverse and underlined")               \
    X(LIGHT, "light", "dark colours for a light background")

#define RTL_ENUM_THEME(sym, ...) RTL_THEME_##sym,
enum rtl_theme { RTL_THEMES(RTL_ENUM_THEME) RTL_THEME_COUNT };
#undef RTL_ENUM_THEME

static inline const char *rtl_theme_name(enum rtl_theme theme)
{
#define NAME(sym, name, meaning) name,
    static const char *const names[] = {RTL_THEMES(NAME)};
#undef NAME
    return names[theme];
}

static inline bool rtl_theme_parse(const char *name, enum rtl_theme *theme)
{
    for (int i = 0; i < RTL_THEME_COUNT; i++)
        if (!strcmp(name, rtl_theme_name((enum rtl_theme)i))) {
            *theme = (enum rtl_theme)i;
            return true;
        }
    return false;
}

#endif
