/* Takes the list of LD_PRELOAD apart and puts it together. See preload_list.h. */
#include "launch/preload_list.h"

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

bool rtl_preload_can_hold(const char *path)
{
    return !strpbrk(path, " :$");
}

static const char *base_name(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

bool rtl_preload_same_kind(const char *name, const char *library)
{
    static const char *const kinds[] = {"librtl.so", "librtl-hip.so"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(base_name(library), kinds[i], strlen(kinds[i])) == 0)
            return strncmp(base_name(name), kinds[i], strlen(kinds[i])) == 0;
    return false;
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
        if (!same && rtl_preload_same_kind(name, library))
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
