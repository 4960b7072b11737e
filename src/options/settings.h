/* The user's settings of the screen: lines "word value" of the configuration, which key W writes. They don't affect
 * output for scripts (-b, --json, --csv). */
#ifndef RTL_OPTIONS_SETTINGS_H
#define RTL_OPTIONS_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options/options.h"

/* X(symbol, first word of a line, the words after it, meaning) */
#define RTL_SETTINGS(X)                                                                                               \
    X(COLUMNS, "columns", "KEY ...", "kernel columns in this order: keys of -s, trend, heat, grid, wg, lds; or auto") \
    X(SORT, "sort", "KEY", "column to sort by; -KEY reverses")                                                        \
    X(THEME, "theme", "THEME", "default, contrast, mono or light")                                                    \
    X(WINDOW, "window", "SECS", "time window of the table: the last SECS, or 'all'")                                  \
    X(STEP, "step", "PATTERN", "roctx range or kernel whose runs are steps, as --step; or auto")                      \
    X(INTERVAL, "interval", "SECS", "seconds between frames: 0.5, 2, 500ms")                                          \
    X(UNITS, "units", "UNIT", "show times in auto, ns, us, ms or s")                                                  \
    X(MOUSE, "mouse", "on|off", "on: rtl-top uses the mouse; off: the terminal does")

#define RTL_ENUM_SETTING(sym, ...) RTL_SETTING_##sym,
enum rtl_setting { RTL_SETTINGS(RTL_ENUM_SETTING) RTL_SETTING_COUNT };
#undef RTL_ENUM_SETTING

struct rtl_settings {
    bool has[RTL_SETTING_COUNT];
    uint32_t columns;                        /* bits by enum rtl_column */
    uint8_t column_places[RTL_COLUMN_COUNT]; /* columns.h */
    enum rtl_column sort;
    bool reverse;
    enum rtl_theme theme;
    uint64_t window_ns, interval_ns;
    char step[96]; /* "auto" = automatic */
    enum rtl_unit units;
    bool mouse;
};

/* Returns the setting of a line's first word; RTL_SETTING_COUNT if it is none. */
enum rtl_setting rtl_setting_find(const char *word);

/* Parses a value, which is safe text. If it is wrong, changes nothing and returns false with the reason in `why`. */
bool rtl_setting_parse(struct rtl_settings *settings, enum rtl_setting setting, const char *value, char why[200]);

/* Writes the setting's line, such as "sort -p99". */
void rtl_setting_line(const struct rtl_settings *settings, enum rtl_setting setting, char *line, size_t size);

/* Copies the settings into the options of a screen, except those that the command line sets. */
void rtl_settings_apply(const struct rtl_settings *settings, struct rtl_options *options);

/* Applies the settings, the environment (NO_COLOR) and the locale to the parsed options. */
void rtl_settings_complete(const struct rtl_settings *settings, struct rtl_options *options);

#endif
