/* Separates and extends the lists of libraries in environment variables. See library_list.h. */
#include "launch/library_list.h"

#include <stdlib.h>
#include <string.h>

static bool has_base_name(const char *path, const char *prefix)
{
    const char *slash = strrchr(path, '/');
    return strncmp(slash ? slash + 1 : path, prefix, strlen(prefix)) == 0;
}

bool rtl_tools_is_rtl(const char *name)
{
    return has_base_name(name, "librtl.so");
}

bool rtl_tools_displaces(const char *name, const char *library)
{
    (void)library;
    return rtl_tools_is_rtl(name);
}

bool rtl_preload_same_kind(const char *name, const char *library)
{
    const char *kind = rtl_tools_is_rtl(library) ? "librtl.so" : "librtl-hip.so";
    return has_base_name(library, kind) && has_base_name(name, kind);
}

bool rtl_tools_next(const char **at, char *name, size_t size)
{
    size_t used = 0, kept = 0; /* `kept`: length up to the last character after a backslash */
    bool quoted = false;
    const char *c = *at;
    while (*c) {
        char now = *c++;
        bool over = false;
        if (now == '\\' && *c) {
            now = *c++;
            kept = used + 1;
        } else if (now == '\\') {
            continue;
        } else if (now == '"' && quoted) {
            over = true;
            quoted = false;
        } else if (now == '"') {
            used = kept; /* the runtime drops unescaped characters directly before a quote */
            quoted = true;
            continue;
        } else if (now == ' ' && !quoted) {
            over = true;
        }
        if (over && used)
            break;
        if (!over && used + 1 < size)
            name[used++] = now;
    }
    *at = c;
    name[used] = '\0';
    return used > 0;
}

bool rtl_tools_sane(const char *list)
{
    size_t backslashes = 0, length = strlen(list);
    while (backslashes < length && list[length - 1 - backslashes] == '\\')
        backslashes++;
    return backslashes % 2 == 0;
}

bool rtl_preload_next(const char **at, char *name, size_t size)
{
    *at += strspn(*at, " :");
    size_t length = strcspn(*at, " :"), kept = length < size ? length : size - 1;
    memcpy(name, *at, kept);
    name[kept] = '\0';
    *at += length;
    return length > 0;
}

bool rtl_preload_can_hold(const char *path)
{
    return !strpbrk(path, " :$");
}

/* Appends a name; escapes the characters that have a meaning in this list. Returns the new end. */
static char *put_name(char *to, const char *name, char separator, const char *escaped)
{
    *to = separator;
    to += separator != '\0';
    for (; *name; name++) {
        if (strchr(escaped, *name))
            *to++ = '\\';
        *to++ = *name;
    }
    *to = '\0';
    return to;
}

/* `displaces`: true for a name that `library` replaces. */
static char *append_library(const char *list, const char *library, char separator, const char *escaped,
                            bool (*next)(const char **, char *, size_t), bool (*displaces)(const char *, const char *))
{
    const char *at = list ? list : "";
    size_t bytes = strlen(at) + 1;
    char *name = malloc(bytes), *result = malloc(2 * bytes + 2 * strlen(library) + 2), *to = result;
    bool there = false;
    while (name && result && next(&at, name, bytes)) {
        bool same = !strcmp(name, library);
        if (same || !displaces(name, library))
            to = put_name(to, name, to == result ? '\0' : separator, escaped);
        there |= same;
    }
    if (name && result && !there)
        put_name(to, library, to == result ? '\0' : separator, escaped);
    if (!name) {
        free(result);
        result = NULL;
    }
    free(name);
    return result;
}

char *rtl_tools_append(const char *list, const char *library)
{
    return append_library(list, library, ' ', " \"\\", rtl_tools_next, rtl_tools_displaces);
}

char *rtl_preload_append(const char *list, const char *library)
{
    return append_library(list, library, ':', "", rtl_preload_next, rtl_preload_same_kind);
}
