/*
 * The file that the configuration stands in: where it is, what is in it, and how settings get into it.
 *
 * Only the lines of settings that are written change; comments, rules and what nobody understands stay as they are,
 * byte for byte. The file is replaced as a whole, so that nobody ever finds half of it; a link that another user put
 * in its place is not followed.
 */
#ifndef RTL_OPTIONS_CONFIG_FILE_H
#define RTL_OPTIONS_CONFIG_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "options/settings.h"

enum {
    RTL_CONFIG_BYTES_MAX = 256 << 10, /* of the file */
    RTL_CONFIG_LINE_MAX = 1000,       /* bytes of a line */
};

/* False without XDG_CONFIG_HOME and HOME, or when the name gets too long. */
bool rtl_config_path(char path[PATH_MAX]);

/* The whole file, to be freed. NULL when there is none (`why` is "" then), or when it can't be read (`why` says why).
 */
char *rtl_config_read(const char *path, size_t *length, char *why, size_t why_bytes);

/*
 * A text with the lines of these settings: in place of the last line of each that there is, or at the end. Pure;
 * to be freed, NULL without memory.
 */
char *rtl_config_edit(const char *text, size_t length, const struct rtl_settings *settings, size_t *new_length);

/* Writes them into the user's file. False, with one line in `why`, when that fails: nothing has changed then. */
bool rtl_config_save(const struct rtl_settings *settings, char path[PATH_MAX], char *why, size_t why_bytes);

#endif
