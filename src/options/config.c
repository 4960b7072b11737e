/* Reads and edits the user's configuration. See config.h. */
#include "options/config.h"
#include "base/write_all.h"
#include "options/complain.h"
#include "record/outfile.h"
#include "record/safe_path.h"
#include "text/names_rules.h"
#include "text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPORTED_MAX = 10, SAFE_MAX = 10 * RTL_CONFIG_LINE_MAX + 1 };

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
    char *word = *rest + strspn(*rest, " \t\r"), *end = word + strcspn(word, " \t\r");
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
        snprintf(why, 200,
                 "a line must begin with one of" RTL_CONFIG_LINES(WORD) RTL_SETTINGS(WORD) ", not with '%.40s'",
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
            snprintf(why, 200, "'%.40s' is not a family; the families are" RTL_NAME_FAMILIES(NAME), l.family);
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
        snprintf(why, 200, "write it as: %s %s", line_kinds[kind].word, line_kinds[kind].form);
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
    snprintf(why, 200, "at most %d rules and families, and as many nicknames, are allowed", RTL_USER_RULES_MAX);
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

/* --- the file --- */

bool rtl_config_path(char path[PATH_MAX])
{
    const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int n;
    if (folder && *folder == '/') /* the XDG specification ignores relative paths */
        n = snprintf(path, PATH_MAX, "%s/rtl-top/config", folder);
    else if (home && *home)
        n = snprintf(path, PATH_MAX, "%s/.config/rtl-top/config", home);
    else
        return false;
    return n > 0 && n < PATH_MAX;
}

char *rtl_config_read(const char *path, size_t *length, char *why, size_t why_bytes)
{
    struct stat is;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    *why = '\0';
    *length = 0;
    if (fd < 0) {
        if (errno != ENOENT && errno != ENOTDIR)
            snprintf(why, why_bytes, "cannot read %s: %s", path, strerror(errno));
        return NULL;
    }
    char *text = NULL;
    if (fstat(fd, &is) || !S_ISREG(is.st_mode))
        snprintf(why, why_bytes, "%s is not a regular file", path);
    else if (is.st_size > RTL_CONFIG_BYTES_MAX)
        snprintf(why, why_bytes, "%s has more than %d bytes", path, RTL_CONFIG_BYTES_MAX);
    else if (!(text = malloc(RTL_CONFIG_BYTES_MAX)))
        snprintf(why, why_bytes, "out of memory");
    while (text && *length < RTL_CONFIG_BYTES_MAX) {
        ssize_t n = read(fd, text + *length, RTL_CONFIG_BYTES_MAX - *length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        *length += (size_t)n;
    }
    close(fd);
    return text;
}

/* --- editing --- */

/* Returns the setting of a line; RTL_SETTING_COUNT for comments and other lines. */
static enum rtl_setting find_setting(const char *line, size_t length)
{
    char copy[RTL_CONFIG_LINE_MAX + 1], *rest = copy;
    snprintf(copy, sizeof copy, "%.*s", (int)length, line);
    return length > RTL_CONFIG_LINE_MAX ? RTL_SETTING_COUNT : rtl_setting_find(first_word(&rest));
}

static size_t line_length(const char *text, size_t left)
{
    const char *end = memchr(text, '\n', left);
    return end ? (size_t)(end - text) : left;
}

char *rtl_config_edit(const char *text, size_t length, const struct rtl_settings *settings, size_t *new_length)
{
    size_t last[RTL_SETTING_COUNT]; /* where the last line of each setting begins: this line counts */
    char line[200], *result = NULL;
    for (int i = 0; i < RTL_SETTING_COUNT; i++)
        last[i] = SIZE_MAX;
    for (size_t at = 0, bytes; at < length; at += bytes + 1) {
        bytes = line_length(text + at, length - at);
        enum rtl_setting setting = find_setting(text + at, bytes);
        if (setting < RTL_SETTING_COUNT)
            last[setting] = at;
    }
    FILE *out = open_memstream(&result, new_length);
    if (!out)
        return NULL;
    for (size_t at = 0, bytes; at < length; at += bytes + 1) {
        bytes = line_length(text + at, length - at);
        enum rtl_setting setting = find_setting(text + at, bytes);
        bool ends = at + bytes < length, returns = bytes && text[at + bytes - 1] == '\r';
        if (setting < RTL_SETTING_COUNT && settings->has[setting] && last[setting] == at) {
            rtl_setting_line(settings, setting, line, sizeof line);
            fprintf(out, "%s%s", line, returns ? "\r" : "");
        } else {
            fwrite(text + at, 1, bytes, out);
        }
        if (ends)
            putc('\n', out);
    }
    if (length && text[length - 1] != '\n')
        putc('\n', out);
    for (int i = 0; i < RTL_SETTING_COUNT; i++)
        if (settings->has[i] && last[i] == SIZE_MAX) {
            rtl_setting_line(settings, (enum rtl_setting)i, line, sizeof line);
            fprintf(out, "%s\n", line);
        }
    bool failed = ferror(out) != 0;
    if (fclose(out) || failed) {
        free(result);
        return NULL;
    }
    return result;
}

/* --- writing --- */

static bool is_foreign_link(const char *path)
{
    struct stat is;
    return !lstat(path, &is) && rtl_is_foreign_link(&is);
}

/* True if another user owns the folder or may write to it, and so could replace its content at any moment. A sticky
 * folder such as /tmp and one's own group are safe. */
static bool is_foreign_folder(const char *path)
{
    struct stat is;
    if (stat(path, &is) != 0)
        return false;
    bool others = is.st_mode & S_IWOTH || (is.st_mode & S_IWGRP && is.st_gid != getegid() && is.st_gid != 0);
    return (is.st_uid != geteuid() && is.st_uid != 0) || (others && !(is.st_mode & S_ISVTX));
}

/* Makes missing folders. Refuses folders and links that another user controls. */
static bool make_folders(const char *path, char *why, size_t why_bytes)
{
    char part[PATH_MAX];
    snprintf(part, sizeof part, "%s", path);
    for (char *slash = part; slash;) {
        slash = strchr(slash + 1, '/'); /* NULL: the last part, which is the file */
        if (slash)
            *slash = '\0';
        if (is_foreign_link(part)) {
            snprintf(why, why_bytes, "%s is a link of another user: rtl-top doesn't write through it", part);
            return false;
        }
        if (slash && is_foreign_folder(part)) {
            snprintf(why, why_bytes, "another user can change the folder %s: rtl-top doesn't write below it", part);
            return false;
        }
        if (slash && mkdir(part, 0700) && errno != EEXIST) {
            int error = errno;
            if (access(part, F_OK)) { /* mkdir fails in an unwritable parent, where the folder may already exist */
                snprintf(why, why_bytes, "cannot create the folder %s: %s", part, strerror(error));
                return false;
            }
        }
        if (slash)
            *slash = '/';
    }
    return true;
}

static bool write_config(const char *path, const char *text, size_t length, char *why, size_t why_bytes)
{
    struct rtl_outfile *file = rtl_outfile_open(path, &(struct rtl_outfile_options){.force = true}, why, why_bytes);
    bool is_file = file && rtl_outfile_is_file(file),
         written = is_file && rtl_write_all(rtl_outfile_fd(file), text, length);
    if (file && !is_file)
        snprintf(why, why_bytes, "%s is not a regular file", path);
    else if (is_file && !written)
        snprintf(why, why_bytes, "cannot write %s: %s", path, strerror(errno));
    written = written && rtl_outfile_place(file, why, why_bytes);
    rtl_outfile_close(file);
    return written;
}

bool rtl_config_save(const struct rtl_settings *settings, char path[PATH_MAX], char *why, size_t why_bytes)
{
    static const char head[] =
        "# Configuration of rtl-top: a setting a line, see rtl-top(1). The key W writes those of the screen.\n";
    size_t length, new_length = 0;
    if (!rtl_config_path(path)) {
        snprintf(why, why_bytes, "neither XDG_CONFIG_HOME nor HOME says where the configuration is");
        return false;
    }
    if (!make_folders(path, why, why_bytes)) /* before reading anything that is written back */
        return false;
    char *text = rtl_config_read(path, &length, why, why_bytes);
    if (!text && *why)
        return false;
    char *edited = rtl_config_edit(text ? text : head, text ? length : sizeof head - 1, settings, &new_length);
    bool saved = false;
    if (!edited)
        snprintf(why, why_bytes, "out of memory");
    else if (new_length > RTL_CONFIG_BYTES_MAX)
        snprintf(why, why_bytes, "%s would have more than %d bytes", path, RTL_CONFIG_BYTES_MAX);
    else
        saved = write_config(path, edited, new_length, why, why_bytes);
    free(edited);
    free(text);
    return saved;
}

/* --- in force --- */

static struct rtl_config user_config; /* never freed */
static char first_trouble[256];
static unsigned trouble_count;

/* Complains on standard error, and keeps the first line for the screen, which covers standard error. */
static void report_trouble(const char *text)
{
    rtl_complain("%s", text);
    if (!trouble_count++)
        rtl_text_escape(first_trouble, sizeof first_trouble, text, strlen(text));
}

static void report_line(void *context, unsigned line, const char *why)
{
    const char *path = context;
    char text[PATH_MAX + 256];
    snprintf(text, sizeof text, "%s:%u: %s", path, line, why);
    if (trouble_count < REPORTED_MAX)
        report_trouble(text);
    else if (trouble_count++ == REPORTED_MAX)
        rtl_complain("%s:%u: more lines are wrong; correct these first", path, line);
    if (trouble_count == 1) { /* the screen has no room for the file's folders */
        snprintf(text, sizeof text, "config:%u: %s", line, why);
        rtl_text_escape(first_trouble, sizeof first_trouble, text, strlen(text));
    }
}

const struct rtl_settings *rtl_config_settings(void)
{
    return &user_config.settings;
}

const char *rtl_config_trouble(void)
{
    return first_trouble;
}

void rtl_config_load(void)
{
    char path[PATH_MAX], why[PATH_MAX + 256];
    size_t length;
    if (!rtl_config_path(path))
        return;
    char *text = rtl_config_read(path, &length, why, sizeof why - 20);
    if (*why) {
        strcat(why, "; continuing without it");
        report_trouble(why);
    }
    if (text && !rtl_config_parse(&user_config, text, length, report_line, path))
        rtl_complain("out of memory");
    free(text);
    rtl_name_rules_use(user_config.names);
    if (trouble_count > 1)
        rtl_text_append(first_trouble, sizeof first_trouble, " (and %u more)", trouble_count - 1);
}
