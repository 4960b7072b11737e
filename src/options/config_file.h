/*
 * Finds, reads and edits the configuration file.
 *
 * An edit changes only the lines of the written settings; comments, rules and unknown lines stay as they are, byte for
 * byte. The file is replaced atomically. A link that another user made is not followed.
 */
#ifndef RTL_OPTIONS_CONFIG_FILE_H
#define RTL_OPTIONS_CONFIG_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "options/settings.h"

enum {
    RTL_CONFIG_BYTES_MAX = 256 << 10, /* of the file */
    RTL_CONFIG_LINE_MAX = 1000,       /* of a line */
};

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
