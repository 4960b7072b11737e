/*
 * libFuzzer target: the user's configuration, which may be truncated or binary, and its rules applied to names.
 *
 * The input is a configuration and, after a byte 0, names separated by bytes 0. Each line is accepted or reported once.
 * The shown names are safe text, fit their column, and differ where the names differ. Settings that key W writes read
 * back as the same.
 *
 * fuzz: -timeout=10 -rss_limit_mb=768 -max_len=4096
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "options/config.h"
#include "text/names.h"
#include "text/text.h"

enum { NAMES_MAX = 12, WIDTH = 40 };

struct told {
    unsigned count, last;
};

static void wrong(void *context, unsigned line, const char *why)
{
    struct told *t = context;
    MUST(line > t->last && *why); /* in order, at most one for a line */
    t->last = line;
    t->count++;
}

static void check_safe(const char *text)
{
    size_t length = strlen(text);
    for (const char *end = text + length; text < end;) {
        uint32_t code = 0;
        size_t n = rtl_utf8_decode(text, (size_t)(end - text), &code);
        MUST(n && (rtl_text_code_is_safe(code) || code == 0x2026));
        text += n;
    }
}

static void ignored(void *context, unsigned line, const char *why)
{
    (void)context;
    (void)line;
    (void)why;
}

/* Settings that key W writes read back as the same; the rest of the file stays unchanged. */
static void check_written(const char *text, size_t length, const struct rtl_settings *settings)
{
    struct rtl_config again = {0};
    size_t new_length;
    char *edited = rtl_config_edit(text, length, settings, &new_length);
    MUST(edited && new_length <= length + 1 + RTL_SETTING_COUNT * 200);
    MUST(rtl_config_parse(&again, edited, new_length, ignored, NULL));
    for (int i = 0; i < RTL_SETTING_COUNT; i++) {
        char before[200], after[200];
        MUST(again.settings.has[i] == settings->has[i]);
        if (!settings->has[i])
            continue;
        rtl_setting_line(settings, (enum rtl_setting)i, before, sizeof before);
        rtl_setting_line(&again.settings, (enum rtl_setting)i, after, sizeof after);
        MUST(!strcmp(before, after));
    }
    rtl_config_free(&again);
    free(edited);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rtl_config config = {0};
    struct told told = {0};
    char *raw[NAMES_MAX];
    const char *cell[NAMES_MAX];
    uint32_t count = 0;
    const uint8_t *end = memchr(data, 0, size);
    size_t length = end ? (size_t)(end - data) : size, lines = 1;
    for (size_t i = 0; i < length; i++)
        lines += data[i] == '\n';
    MUST(rtl_config_parse(&config, (const char *)data, length, wrong, &told));
    MUST(told.count <= lines && told.last <= lines);
    check_written((const char *)data, length, &config.settings);
    rtl_name_rules_use(config.names);
    struct rtl_names *names = rtl_names_create();
    MUST(names);
    for (size_t at = length + 1; at < size && count < NAMES_MAX;) {
        const uint8_t *zero = memchr(data + at, 0, size - at);
        size_t bytes = zero ? (size_t)(zero - data) - at : size - at;
        raw[count] = strndup((const char *)data + at, bytes);
        MUST(raw[count]);
        cell[count] = rtl_names_cell(names, count, raw[count], bytes, RTL_NAME_SHORT, WIDTH, false);
        MUST(rtl_names_family(names, count, raw[count], bytes) < RTL_FAMILY_COUNT);
        check_safe(cell[count]);
        MUST(rtl_text_columns(cell[count]) <= WIDTH);
        for (uint32_t i = 0; i < count; i++)
            MUST(strcmp(cell[i], cell[count]) != 0);
        count++;
        at += bytes + 1;
    }
    rtl_names_free(names);
    rtl_name_rules_use(NULL);
    rtl_config_free(&config);
    while (count)
        free(raw[--count]);
    return 0;
}
