/* Takes the list of HSA_TOOLS_LIB apart and puts it together. See tools_list.h. */
#include "launch/tools_list.h"

#include <stdlib.h>
#include <string.h>

bool rtl_tools_next(const char **at, char *name, size_t size)
{
    size_t used = 0, kept = 0; /* `kept`: up to the last character that a backslash took */
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
            used = kept; /* what stands right before a quote is lost: the runtime's doing, which this has to follow */
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

/* Escapes what the runtime would take for something else; returns the end. */
static char *put_escaped(char *to, const char *name)
{
    for (; *name; name++) {
        if (strchr(" \"\\", *name))
            *to++ = '\\';
        *to++ = *name;
    }
    *to = '\0';
    return to;
}

bool rtl_tools_is_rtl(const char *name)
{
    const char *slash = strrchr(name, '/');
    return strncmp(slash ? slash + 1 : name, "librtl.so", 9) == 0;
}

char *rtl_tools_append(const char *list, const char *library)
{
    const char *at = list ? list : "";
    size_t bytes = strlen(at) + 1;
    char *name = malloc(bytes), *result = malloc(2 * bytes + 2 * strlen(library) + 2), *to = result;
    if (!name || !result) {
        free(name);
        free(result);
        return NULL;
    }
    bool there = false;
    *to = '\0';
    while (rtl_tools_next(&at, name, bytes)) {
        bool same = !strcmp(name, library);
        if (!same && rtl_tools_is_rtl(name))
            continue;
        if (to != result)
            *to++ = ' ';
        to = put_escaped(to, name);
        there |= same;
    }
    if (!there) {
        if (to != result)
            *to++ = ' ';
        put_escaped(to, library);
    }
    free(name);
    return result;
}
