/* rtl-top check --mode hip: what librtl-hip.so needs, so that the calls of HIP are recorded. */
#include "command/check.h"
#include "launch/library.h"
#include "launch/loader_list.h"
#include "launch/preload_list.h"
#include "shm/hip_api_reader.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool check_library(struct rtl_check *check, const char *library, char hip[PATH_MAX])
{
    char why[2 * PATH_MAX];
    if (!rtl_library_find_hip(library, hip, why, sizeof why)) {
        rtl_check_say(check, RTL_FINDING_WRONG, "calls", "%s", why);
        return false;
    }
    char *list = rtl_loader_list(hip);
    if (list && rtl_loader_complaint(list, why, sizeof why))
        rtl_check_say(check, RTL_FINDING_WRONG, "calls", "%s can't be loaded here: %s", hip, why);
    else
        rtl_check_say(check, RTL_FINDING_OK, "calls", "%s", hip);
    free(list);
    return true;
}

/* What the loader can't preload it says of every program that starts, and goes on. */
static void check_list(struct rtl_check *check, const char *hip)
{
    const char *list = getenv("LD_PRELOAD"), *at = list;
    char *name = list ? malloc(strlen(list) + 1) : NULL;
    while (name && rtl_preload_next(&at, name, strlen(list) + 1)) {
        if (!strcmp(name, hip))
            rtl_check_say(check, RTL_FINDING_OK, "preload", "LD_PRELOAD has the library already");
        else if (rtl_preload_same_kind(name, hip))
            rtl_check_say(check, RTL_FINDING_OK, "preload", "LD_PRELOAD lists %s: ours takes its place", name);
        else if (strchr(name, '/') && access(name, R_OK) != 0)
            rtl_check_say(check, RTL_FINDING_OPEN, "preload", "LD_PRELOAD lists %s: %s", name, strerror(errno));
        else
            rtl_check_say(check, RTL_FINDING_OK, "preload", "%s is preloaded, too, before ours", name);
    }
    free(name);
}

/* Where its calls of HIP go. HIP is looked for by a name of its own settings, which nobody else has reason to read. */
static void check_calls(struct rtl_check *check, const char *path, const struct rtl_elf_file *elf)
{
    char where[PATH_MAX] = "";
    if (!rtl_loader_is_ours(elf)) {
        rtl_check_say(
            check, RTL_FINDING_OPEN, "calls",
            "%s has a loader of its own (%s), for another libc perhaps (musl): librtl-hip.so is made for this "
            "system's",
            path, elf->interpreter);
        return;
    }
    if (rtl_elf_has(path, "AMD_DIRECT_DISPATCH")) {
        rtl_check_say(check, RTL_FINDING_WRONG, "calls",
                      "%s has HIP linked into it: its calls go there directly, and none is recorded. Its kernels are "
                      "traced; link it with libamdhip64.so for its calls",
                      path);
        return;
    }
    char *list = rtl_check_may_be_listed(path, elf) ? rtl_loader_list(path) : NULL;
    const char *at = list;
    if (list && rtl_loader_find(&at, "libamdhip64.so", where, sizeof where) && *where)
        rtl_check_say(check, RTL_FINDING_OK, "calls", "those of %s are recorded", where);
    else
        rtl_check_say(check, RTL_FINDING_OPEN, "calls",
                      "%s is not seen to be linked with HIP. If it loads it while it runs, its calls are recorded",
                      path);
    free(list);
}

static void check_program(struct rtl_check *check, const char *name)
{
    char path[PATH_MAX], why[200];
    struct rtl_elf_file *elf = malloc(sizeof *elf);
    if (elf && rtl_check_find_program(name, path) == 0) {
        bool read = rtl_elf_read(path, elf, why, sizeof why);
        if (rtl_check_gains_rights(path))
            rtl_check_say(check, RTL_FINDING_WRONG, "calls",
                          "the loader preloads no library from a folder of yours into a program that gets rights of "
                          "others: no call of %s is recorded",
                          path);
        else if (read && !elf->elf)
            rtl_check_say(check, RTL_FINDING_OPEN, "calls",
                          "all that the script starts has librtl-hip.so preloaded, unless it changes LD_PRELOAD");
        else if (read && elf->native && !elf->bits32 && elf->interpreter[0])
            check_calls(check, path, elf);
    }
    free(elf);
}

void rtl_check_hip(struct rtl_check *check, const char *name, const char *library)
{
    char hip[PATH_MAX];
    if (check_library(check, library, hip)) {
        check_list(check, hip);
        check_program(check, name);
    }
}

void rtl_check_hip_process(struct rtl_check *check, pid_t pid)
{
    const struct rtl_hip_api_request request = {.pid = pid, .without_links = true};
    struct rtl_snapshot snapshot = {0};
    char why[1000];
    int fd;
    enum rtl_reader_status status = rtl_hip_api_open(pid, &fd, why, sizeof why);
    if (status == RTL_READER_OK) {
        status = rtl_hip_api_read(fd, &request, &snapshot, why, sizeof why);
        close(fd);
    }
    if (status == RTL_READER_OK)
        rtl_check_say(check, RTL_FINDING_OK, "calls", "those of HIP are recorded, by librtl-hip.so %s",
                      snapshot.hip_api->library_version);
    else
        rtl_check_say(check, status == RTL_READER_NOT_TRACED ? RTL_FINDING_OPEN : RTL_FINDING_WRONG, "calls", "%s",
                      why);
    rtl_snapshot_free(&snapshot);
}
