/* Parses, writes and applies settings. See settings.h. */
#include "options/settings.h"
#include "model/model.h"
#include "text/text.h"

#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(RTL_COLUMN_COUNT <= 32, "each column is a bit");

static const struct {
    const char *word, *form;
} forms[] = {
#define FORM(sym, word, form, meaning) {word, form},
    RTL_SETTINGS(FORM)
#undef FORM
};

enum rtl_setting rtl_setting_find(const char *word)
{
    int i = 0;
    while (i < RTL_SETTING_COUNT && strcmp(forms[i].word, word) != 0)
        i++;
    return (enum rtl_setting)i;
}

/* Finds a column by its key, also one that can't be sorted by; -1 = none. */
static int find_column(const char *key, size_t length)
{
    for (int i = 0; i < RTL_COLUMN_COUNT; i++)
        if (strlen(rtl_columns[i].key) == length && !memcmp(rtl_columns[i].key, key, length))
            return i;
    return -1;
}

static bool parse_columns(uint32_t *columns, uint8_t places[RTL_COLUMN_COUNT], const char *value, char why[200])
{
    uint8_t place = 0;
    *columns = 0;
    memset(places, 0, RTL_COLUMN_COUNT);
    if (!strcmp(value, "auto"))
        return true;
    *columns = 1u << RTL_COLUMN_NAME; /* a row without a name is useless */
    for (size_t length; *value; value += length) {
        value += strspn(value, " ");
        length = strcspn(value, " ");
        int column = length ? find_column(value, length) : RTL_COLUMN_NAME;
        if (column < 0) {
            snprintf(why, 200, "no column '%.*s'; rtl-top(1), COLUMNS, lists the keys",
                     (int)(length < 40 ? length : 40), value);
            return false;
        }
        if (!(*columns & 1u << column))
            places[column] = ++place;
        *columns |= 1u << column;
    }
    return true;
}

static bool parse_span(const char *value, bool all, uint64_t *ns, char why[200])
{
    if (all && !strcmp(value, "all")) {
        *ns = RTL_WINDOW_ALL;
        return true;
    }
    if (rtl_parse_interval(value, ns))
        return true;
    snprintf(why, 200, "'%.40s' is not seconds from 0.05 to 3600, such as 0.5, 2 or 500ms%s", value,
             all ? ", or all" : "");
    return false;
}

bool rtl_setting_parse(struct rtl_settings *settings, enum rtl_setting setting, const char *value, char why[200])
{
    struct rtl_settings new = *settings;
    bool parsed = false;
    snprintf(why, 200, "write it as: %s %s", forms[setting].word, forms[setting].form);
    if (!*value)
        return false;
    switch (setting) {
    case RTL_SETTING_COLUMNS:
        parsed = parse_columns(&new.columns, new.column_places, value, why);
        break;
    case RTL_SETTING_SORT:
        parsed = rtl_column_parse(value, &new.sort, &new.reverse);
        if (!parsed)
            snprintf(why, 200, "'%.40s' is not a column to sort by; 'rtl-top -s help' lists them", value);
        break;
    case RTL_SETTING_THEME:
        parsed = rtl_theme_parse(value, &new.theme);
        if (!parsed)
#define NAME(sym, name, meaning) " " name
            snprintf(why, 200, "'%.40s' is not a theme; the themes are" RTL_THEMES(NAME), value);
#undef NAME
        break;
    case RTL_SETTING_WINDOW:
        parsed = parse_span(value, true, &new.window_ns, why);
        break;
    case RTL_SETTING_STEP:
        parsed = (size_t)snprintf(new.step, sizeof new.step, "%s", value) < sizeof new.step;
        if (!parsed)
            snprintf(why, 200, "a step has at most %d bytes", (int)sizeof new.step - 1);
        break;
    case RTL_SETTING_INTERVAL:
        parsed = parse_span(value, false, &new.interval_ns, why);
        break;
    case RTL_SETTING_UNITS:
        parsed = rtl_unit_parse(value, &new.units);
        if (!parsed)
            snprintf(why, 200, "'%.40s' is not a unit; the units are auto ns us ms s", value);
        break;
    case RTL_SETTING_MOUSE:
        new.mouse = !strcmp(value, "on");
        parsed = new.mouse || !strcmp(value, "off");
        break;
    default:
        break;
    }
    if (!parsed)
        return false;
    new.has[setting] = true;
    *settings = new;
    return true;
}

/* Writes the shortest text that parses to the same value. */
static void span_text(uint64_t ns, char *text, size_t size)
{
    if (ns == RTL_WINDOW_ALL)
        snprintf(text, size, "all");
    else if (ns % RTL_SEC)
        snprintf(text, size, "%llums", (unsigned long long)(ns / 1000000));
    else
        snprintf(text, size, "%llu", (unsigned long long)(ns / RTL_SEC));
}

void rtl_setting_line(const struct rtl_settings *settings, enum rtl_setting setting, char *line, size_t size)
{
    char text[sizeof settings->step] = "";
    snprintf(line, size, "%s", forms[setting].word);
    switch (setting) {
    case RTL_SETTING_COLUMNS: {
        struct rtl_column_order order = rtl_column_order(settings->column_places);
        for (int i = 0; i < RTL_COLUMN_COUNT; i++)
            if (settings->columns & 1u << order.column[i])
                rtl_text_append(line, size, " %s", rtl_columns[order.column[i]].key);
        if (!settings->columns)
            rtl_text_append(line, size, " auto");
        return;
    }
    case RTL_SETTING_SORT:
        snprintf(text, sizeof text, "%s%s", settings->reverse ? "-" : "", rtl_columns[settings->sort].key);
        break;
    case RTL_SETTING_THEME:
        snprintf(text, sizeof text, "%s", rtl_theme_name(settings->theme));
        break;
    case RTL_SETTING_WINDOW:
        span_text(settings->window_ns, text, sizeof text);
        break;
    case RTL_SETTING_STEP:
        snprintf(text, sizeof text, "%s", settings->step);
        break;
    case RTL_SETTING_INTERVAL:
        span_text(settings->interval_ns, text, sizeof text);
        break;
    case RTL_SETTING_UNITS:
        snprintf(text, sizeof text, "%s", rtl_unit_name(settings->units));
        break;
    case RTL_SETTING_MOUSE:
        snprintf(text, sizeof text, "%s", settings->mouse ? "on" : "off");
        break;
    default:
        break;
    }
    rtl_text_append(line, size, " %s", text);
}

void rtl_settings_apply(const struct rtl_settings *settings, struct rtl_options *options)
{
    const bool *has = settings->has;
    if (options->output != RTL_OUTPUT_SCREEN)
        return;
    if (has[RTL_SETTING_COLUMNS]) {
        options->columns = settings->columns;
        memcpy(options->column_places, settings->column_places, sizeof options->column_places);
    }
    if (has[RTL_SETTING_SORT] && !rtl_option_asked(options, RTL_OPTION_SORT)) {
        options->sort = settings->sort;
        options->reverse = settings->reverse;
    }
    if (has[RTL_SETTING_THEME] && !rtl_option_asked(options, RTL_OPTION_THEME) && !options->no_color)
        options->theme = settings->theme;
    if (has[RTL_SETTING_WINDOW] && !rtl_option_asked(options, RTL_OPTION_WINDOW))
        options->window_ns = settings->window_ns;
    if (has[RTL_SETTING_STEP] && !rtl_option_asked(options, RTL_OPTION_STEP))
        options->step = strcmp(settings->step, "auto") ? settings->step : NULL;
    if (has[RTL_SETTING_INTERVAL] && !rtl_option_asked(options, RTL_OPTION_DELAY))
        options->delay_ns = settings->interval_ns;
    if (has[RTL_SETTING_UNITS] && !rtl_option_asked(options, RTL_OPTION_UNITS))
        options->units = settings->units;
    if (has[RTL_SETTING_MOUSE] && !settings->mouse)
        options->no_mouse = true;
}

void rtl_settings_complete(const struct rtl_settings *settings, struct rtl_options *options)
{
    const char *no_color = getenv("NO_COLOR");
    options->no_color |= no_color && *no_color && !rtl_option_asked(options, RTL_OPTION_THEME);
    rtl_settings_apply(settings, options);
    if (options->no_color)
        options->theme = RTL_THEME_MONO;
    options->ascii |= strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
}
