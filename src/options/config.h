/*
 * The user's configuration: $XDG_CONFIG_HOME/rtl-top/config, or ~/.config/rtl-top/config. Each line is a setting of the
 * screen (settings.h), a line of the table below, which is about names, or a comment that begins with "#". A wrong line
 * is reported with its number; the other lines take effect.
 *
 * The file may be damaged: its size is bounded, and its text is escaped before it is shown.
 *
 * An edit changes only the lines of the written settings; comments, rules and unknown lines stay as they are, byte for
 * byte. The file is replaced atomically. A link that another user made is not followed.
 */
#ifndef RTL_OPTIONS_CONFIG_H
#define RTL_OPTIONS_CONFIG_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "options/settings.h"

enum {
    RTL_CONFIG_BYTES_MAX = 256 << 10, /* of the file */
    RTL_CONFIG_LINE_MAX = 1000,       /* of a line */
};

/* X(symbol, first word of a line, the words after it, meaning) */
#define RTL_CONFIG_LINES(X)                                                                                   \
    X(RULE, "rule", "FAMILY PATTERN = WORDS", "show kernels that match PATTERN as WORDS")                     \
    X(FAMILY, "family", "FAMILY PATTERN", "put kernels that match PATTERN in FAMILY; their shown names stay") \
    X(NICKNAME, "nickname", "PATTERN = TEXT", "show kernels whose own, full or mangled name matches PATTERN as TEXT")

struct rtl_config {
    struct rtl_name_rules *names;
    struct rtl_settings settings;
};

/* Called for a wrong line; `why` says how to correct it. */
typedef void rtl_config_wrong(void *context, unsigned line, const char *why);

/* Parses a text. False without memory; a wrong line is no failure. Call rtl_config_free in either case. */
bool rtl_config_parse(struct rtl_config *config, const char *text, size_t length, rtl_config_wrong *wrong,
                      void *context);
void rtl_config_free(struct rtl_config *config);

/* Reads the user's file if it exists, reports its errors, and activates its rules for names. Call it once, before other
 * threads start. */
void rtl_config_load(void);

/* Returns the file's settings; valid as long as the program runs. */
const struct rtl_settings *rtl_config_settings(void);
/* Returns a line for the screen: the file's first error and the number of others; "" if there is none. */
const char *rtl_config_trouble(void);

/* False without XDG_CONFIG_HOME and HOME, or if the path is too long. */
bool rtl_config_path(char path[PATH_MAX]);

/* Returns the file's content; the caller frees it. NULL if the file doesn't exist (`why` is "") or can't be read (`why`
 * has the reason). */
char *rtl_config_read(const char *path, size_t *length, char *why, size_t why_bytes);

/* Returns the text with these settings, allocated; NULL without memory. Replaces the last line of each setting, or
 * appends a line. Pure. */
char *rtl_config_edit(const char *text, size_t length, const struct rtl_settings *settings, size_t *new_length);

/* Writes the settings into the user's file. On failure changes nothing and returns false with one line in `why`. */
bool rtl_config_save(const struct rtl_settings *settings, char path[PATH_MAX], char *why, size_t why_bytes);

#endif
