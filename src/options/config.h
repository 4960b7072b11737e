/*
 * The user's configuration: $XDG_CONFIG_HOME/rtl-top/config, or ~/.config/rtl-top/config. One setting a line; a
 * line that begins with "#" is a comment. What a line may be is in the table below; a wrong line is told with its
 * number, and the others still count. Lines of settings (settings.h) are for the screen, the others for names.
 *
 * Whoever can write that file is the user, but it may be cut off, or no such file at all: how much of it is read is
 * bounded, and what it says is escaped before anything shows it.
 */
#ifndef RTL_OPTIONS_CONFIG_H
#define RTL_OPTIONS_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "options/config_file.h"
#include "text/names.h"

/* X(symbol, first word of a line, what follows it, meaning) */
#define RTL_CONFIG_LINES(X)                                                                                   \
    X(RULE, "rule", "FAMILY PATTERN = WORDS", "show kernels that match PATTERN as WORDS")                     \
    X(FAMILY, "family", "FAMILY PATTERN", "put kernels that match PATTERN in FAMILY; their shown names stay") \
    X(NICKNAME, "nickname", "PATTERN = TEXT", "show kernels whose own, full or mangled name matches PATTERN as TEXT")

struct rtl_config {
    struct rtl_name_rules *names;
    struct rtl_settings settings;
};

/* Called for a wrong line; `why` says what to do. */
typedef void rtl_config_wrong(void *context, unsigned line, const char *why);

/* Reads settings from a text. False without memory; wrong lines are no failure. Free it in any case. */
bool rtl_config_parse(struct rtl_config *config, const char *text, size_t length, rtl_config_wrong *wrong,
                      void *context);
void rtl_config_free(struct rtl_config *config);

/*
 * Reads the user's file, if there is one, tells what is wrong with it, and puts what it says about names in force. Call
 * it once, before there are threads.
 */
void rtl_config_load(void);

/* What that file said, for as long as the program runs. */
const struct rtl_settings *rtl_config_settings(void);
/* The first thing that was wrong with it, and how many more there were: a line for the screen; "" for nothing. */
const char *rtl_config_trouble(void);

#endif
