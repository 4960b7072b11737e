/*
 * What the user wants the screen to be like, as the configuration says it and key W writes it: a line each, "word
 * value". They are for the screen: what scripts read (-b, --json, --csv) is the same for everybody.
 */
#ifndef RTL_OPTIONS_SETTINGS_H
#define RTL_OPTIONS_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options/options.h"

/* X(symbol, first word of a line, what follows it, meaning) */
#define RTL_SETTINGS(X)                                                                                               \
    X(COLUMNS, "columns", "KEY ...", "kernel columns in this order: keys of -s, trend, heat, grid, wg, lds; or auto") \
    X(SORT, "sort", "KEY", "column to sort by; -KEY reverses")                                                        \
    X(THEME, "theme", "THEME", "default, contrast, mono or light")                                                    \
    X(WINDOW, "window", "SECS", "time window of the table: the last SECS, or 'all'")                                  \
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
    enum rtl_unit units;
    bool mouse;
};

/* The setting that a line's first word names; RTL_SETTING_COUNT for none. */
enum rtl_setting rtl_setting_find(const char *word);

/* Takes a value, which is safe text. False with what is wrong in `why`; nothing was taken then. */
bool rtl_setting_parse(struct rtl_settings *settings, enum rtl_setting setting, const char *value, char why[200]);

/* "sort -p99": the line of one that there is. */
void rtl_setting_line(const struct rtl_settings *settings, enum rtl_setting setting, char *line, size_t size);

/* Into the options of a screen, where the command line didn't say otherwise. */
void rtl_settings_apply(const struct rtl_settings *settings, struct rtl_options *options);

/* The same, and what the environment and the locale say: all that a screen goes by, once the options are read. */
void rtl_settings_complete(const struct rtl_settings *settings, struct rtl_options *options);

#endif
