/* Takes the list of LD_PRELOAD apart and puts it together. See preload_list.h. */
#include "session/preload_list.h"

#include <stdlib.h>
#include <string.h>

static const char separators[] = " :";

bool rtl_preload_next(const char **at, char *name, size_t size)
{
    *at += strspn(*at, separators);
    size_t length = strcspn(*at, separators), kept = length < size ? length : size - 1;
    memcpy(name, *at, kept);
    name[kept] = '\0';
    *at += length;
    return length > 0;
}

bool rtl_preload_can_say(const char *path)
{
    return !strpbrk(path, " :$");
}

bool rtl_preload_is_rtl(const char *name)
{
    const char *slash = strrchr(name, '/');
    return strncmp(slash ? slash + 1 : name, "librtl-hip.so", 13) == 0;
}

char *rtl_preload_append(const char *list, const char *library)
{
    const char *at = list ? list : "";
    size_t bytes = strlen(at) + 1;
    char *name = malloc(bytes), *result = malloc(bytes + strlen(library) + 1), *to = result;
    if (!name || !result) {
        free(name);
        free(result);
        return NULL;
    }
    bool there = false;
    while (rtl_preload_next(&at, name, bytes)) {
        bool same = !strcmp(name, library);
        if (!same && rtl_preload_is_rtl(name))
            continue;
        if (to != result)
            *to++ = ':';
        to = stpcpy(to, name);
        there |= same;
    }
    if (!there) {
        if (to != result)
            *to++ = ':';
        to = stpcpy(to, library);
    }
    *to = '\0';
    free(name);
    return result;
}
