/* Reads the user's configuration. See config.h. */
#include "options/config.h"
#include "options/complain.h"
#include "text/names_rules.h"
#include "text/text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOLD_MAX = 10, SAFE_MAX = 10 * RTL_CONFIG_LINE_MAX + 1 };

/* The parts of a line; pointers into the line. */
struct config_line {
    char *word, *family, *pattern, *text; /* family and text may be NULL */
};

/* The form after the first word tells which parts the line has. */
static const struct {
    const char *word, *form;
} line_kinds[] = {
#define KIND(sym, word, form, meaning) {word, form},
    RTL_CONFIG_LINES(KIND)
#undef KIND
};

static char *trimmed(char *text)
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length && strchr(" \t\r", text[length - 1]))
        text[--length] = '\0';
    return text;
}

/* Cuts off the first word; "" if there is none. */
static char *first_word(char **rest)
{
    char *word = *rest + strspn(*rest, " \t"), *end = word + strcspn(word, " \t");
    *rest = *end ? end + 1 : end;
    *end = '\0';
    return word;
}

/* Returns what is wrong with a line, "" if nothing is. */
static const char *parse_line(struct rtl_config *config, char *line, char why[200])
{
    struct config_line l = {.word = first_word(&line)};
    enum rtl_name_family family = RTL_FAMILY_OTHER;
    size_t kind = 0;
    while (kind < sizeof line_kinds / sizeof *line_kinds && strcmp(l.word, line_kinds[kind].word) != 0)
        kind++;
    if (kind == sizeof line_kinds / sizeof *line_kinds) {
        enum rtl_setting setting = rtl_setting_find(l.word);
        if (setting < RTL_SETTING_COUNT)
            return rtl_setting_parse(&config->settings, setting, trimmed(line), why) ? "" : why;
#define WORD(sym, word, form, meaning) " " word
        snprintf(why, 200, "a line begins with one of" RTL_CONFIG_LINES(WORD) RTL_SETTINGS(WORD) ", not with '%.40s'",
                 l.word);
#undef WORD
        return why;
    }
    bool has_family = !strncmp(line_kinds[kind].form, "FAMILY ", 7),
         has_text = strchr(line_kinds[kind].form, '=') != NULL;
    if (has_family) {
        l.family = first_word(&line);
        if (*l.family && !rtl_name_family_parse(l.family, &family)) {
#define NAME(sym, name, text) " " name
            snprintf(why, 200, "'%.40s' is none of the families" RTL_NAME_FAMILIES(NAME), l.family);
#undef NAME
            return why;
        }
    }
    if (has_text) {
        char *equals = strstr(line, " =");
        if (equals) {
            *equals = '\0';
            l.text = trimmed(equals + 2);
        }
    }
    l.pattern = trimmed(line);
    if (!*l.pattern || (has_text && (!l.text || !*l.text))) {
        snprintf(why, 200, "this wants to be: %s %s", line_kinds[kind].word, line_kinds[kind].form);
        return why;
    }
    const char *wrong = l.family && l.text ? rtl_name_show_wrong(l.text) : NULL;
    if (wrong) {
        snprintf(why, 200, "%.80s: %s; see NAMES in rtl-top(1)", l.text, wrong);
        return why;
    }
    if (!l.family ? rtl_name_rules_call(config->names, l.pattern, l.text)
                  : rtl_name_rules_add(config->names, family, l.pattern, l.text))
        return "";
    snprintf(why, 200, "there is room for %d rules and families, and as many nicknames", RTL_USER_RULES_MAX);
    return why;
}

bool rtl_config_parse(struct rtl_config *config, const char *text, size_t length, rtl_config_wrong *wrong,
                      void *context)
{
    char *safe = malloc(SAFE_MAX);
    if (!config->names)
        config->names = rtl_name_rules_create();
    if (!safe || !config->names) {
        free(safe);
        return false;
    }
    for (unsigned number = 1; length; number++) {
        const char *end = memchr(text, '\n', length);
        size_t bytes = end ? (size_t)(end - text) : length, tabs = 0;
        char why[200];
        if (bytes > RTL_CONFIG_LINE_MAX) {
            snprintf(why, sizeof why, "a line has at most %d bytes", RTL_CONFIG_LINE_MAX);
            wrong(context, number, why);
        } else {
            /* tabs and carriage returns count as blanks; other unprintable bytes are shown and compared as escapes */
            char line[RTL_CONFIG_LINE_MAX + 1];
            for (; tabs < bytes; tabs++)
                line[tabs] = text[tabs] == '\t' || text[tabs] == '\r' ? ' ' : text[tabs];
            rtl_text_escape(safe, SAFE_MAX, line, bytes);
            char *start = trimmed(safe);
            const char *fault = *start && *start != '#' ? parse_line(config, start, why) : "";
            if (*fault)
                wrong(context, number, fault);
        }
        size_t taken = end ? bytes + 1 : bytes;
        text += taken;
        length -= taken;
    }
    free(safe);
    return true;
}

void rtl_config_free(struct rtl_config *config)
{
    rtl_name_rules_free(config->names);
    config->names = NULL;
}

/* --- the user's file --- */

static struct rtl_config user_config; /* never freed */
static char trouble[256];
static unsigned troubles;

/* Complains on standard error, and keeps the first line for the screen, which covers standard error. */
static void report_trouble(const char *text)
{
    rtl_complain("%s", text);
    if (!troubles++)
        rtl_text_escape(trouble, sizeof trouble, text, strlen(text));
}

static void report_line(void *context, unsigned line, const char *why)
{
    const char *path = context;
    char text[PATH_MAX + 256];
    snprintf(text, sizeof text, "%s:%u: %s", path, line, why);
    if (troubles < TOLD_MAX)
        report_trouble(text);
    else if (troubles++ == TOLD_MAX)
        rtl_complain("%s:%u: more lines are wrong; mend these first", path, line);
    if (troubles == 1) { /* the screen has no room for the file's folders */
        snprintf(text, sizeof text, "config:%u: %s", line, why);
        rtl_text_escape(trouble, sizeof trouble, text, strlen(text));
    }
}

const struct rtl_settings *rtl_config_settings(void)
{
    return &user_config.settings;
}

const char *rtl_config_trouble(void)
{
    return trouble;
}

void rtl_config_load(void)
{
    char path[PATH_MAX], why[PATH_MAX + 256];
    size_t length;
    if (!rtl_config_path(path))
        return;
    char *text = rtl_config_read(path, &length, why, sizeof why - 20);
    if (*why) {
        strcat(why, "; going on without");
        report_trouble(why);
    }
    if (text && !rtl_config_parse(&user_config, text, length, report_line, path))
        rtl_complain("out of memory");
    free(text);
    rtl_name_rules_use(user_config.names);
    if (troubles > 1)
        rtl_text_append(trouble, sizeof trouble, " (and %u more)", troubles - 1);
}
