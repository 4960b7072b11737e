/* Finds librtl.so and librtl-hip.so. See library.h. */
#include "launch/library.h"
#include "launch/library_list.h"
#include "shm/elf_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef RTL_LIBRARY_FOLDER /* the Makefile sets the folder of its PREFIX */
#define RTL_LIBRARY_FOLDER "/usr/local/lib"
#endif

/* Relative to this program's folder: in the build, in an installation below a PREFIX, in a distribution. */
static const char *const candidates[] = {"librtl.so", "../lib/librtl.so", "../lib64/librtl.so",
                                         "../lib/x86_64-linux-gnu/librtl.so", RTL_LIBRARY_FOLDER "/librtl.so"};

static bool own_folder(char folder[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    if (n <= 0)
        return false;
    folder[n] = '\0';
    char *slash = strrchr(folder, '/');
    if (!slash)
        return false;
    *slash = '\0';
    return true;
}

bool rtl_library_has_control(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return true;
    return false;
}

static bool check_loadable(const char *path, char *why, size_t why_bytes)
{
    struct rtl_elf_file elf;
    char reason[200];
    if (rtl_library_has_control(path)) {
        snprintf(why, why_bytes, "%s has control characters in its path, which the environment can't hold: move it",
                 path);
        return false;
    }
    if (!rtl_elf_read(path, &elf, reason, sizeof reason)) {
        snprintf(why, why_bytes, "%s: %s: no process could load it", path, reason);
        return false;
    }
    if (!elf.native || !elf.shared) {
        snprintf(why, why_bytes, "%s is not a library for this machine: no process could load it", path);
        return false;
    }
    return true;
}

bool rtl_library_find(const char *given, char path[PATH_MAX], char *why, size_t why_bytes)
{
    char folder[PATH_MAX], place[PATH_MAX + 64];
    if (given) {
        if (!realpath(given, path)) {
            snprintf(why, why_bytes, "--library %s: %s", given, strerror(errno));
            return false;
        }
        return check_loadable(path, why, why_bytes);
    }
    if (!own_folder(folder))
        folder[0] = '\0';
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        if (candidates[i][0] == '/')
            snprintf(place, sizeof place, "%s", candidates[i]);
        else
            snprintf(place, sizeof place, "%s/%s", folder, candidates[i]);
        if ((*folder || candidates[i][0] == '/') && realpath(place, path))
            return check_loadable(path, why, why_bytes);
    }
    snprintf(why, why_bytes,
             "librtl.so is not beside this rtl-top (%s), in a lib folder there or in " RTL_LIBRARY_FOLDER
             ": install it, or pass --library FILE",
             *folder ? folder : "?");
    return false;
}

bool rtl_library_can_preload(const char *path, char *why, size_t why_bytes)
{
    if (rtl_preload_can_hold(path))
        return true;
    snprintf(why, why_bytes,
             "%s: LD_PRELOAD can't hold a path with a blank, a colon or a $: copy both libraries elsewhere, and "
             "pass --library",
             path);
    return false;
}

bool rtl_library_find_hip(const char *library, char path[PATH_MAX], char *why, size_t why_bytes)
{
    static const char name[] = "librtl-hip.so";
    const char *slash = strrchr(library, '/');
    int folder = slash ? (int)(slash - library) : 0;
    char place[PATH_MAX + sizeof name];
    snprintf(place, sizeof place, "%.*s/%s", folder, library, name);
    if (!realpath(place, path)) {
        snprintf(why, why_bytes, "%s, which records HIP calls, is not beside %s: %s", name, library, strerror(errno));
        return false;
    }
    return rtl_library_can_preload(path, why, why_bytes) && check_loadable(path, why, why_bytes);
}
