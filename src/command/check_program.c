/* rtl-top check: checks a program's file, and a process. */
#include "command/check.h"
#include "model/labels.h"
#include "launch/launch.h"
#include "launch/library.h"
#include "launch/loader_list.h"
#include "launch/library_list.h"
#include "launch/runtime_release.h"
#include "shm/proc_file.h"
#include "watch/proc_title.h"
#include "shm/control_client.h"
#include "shm/probe_client.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { RUNTIMES_SAID = 8 };

/* --- a program --- */

static int find_program(const char *name, char path[PATH_MAX])
{
    const char *folders = getenv("PATH");
    struct stat st;
    int status = RTL_LAUNCH_NOT_FOUND;
    if (strchr(name, '/')) {
        snprintf(path, PATH_MAX, "%s", name);
        if (stat(path, &st) != 0)
            return errno == ENOENT || errno == ENOTDIR ? RTL_LAUNCH_NOT_FOUND : RTL_LAUNCH_NOT_EXECUTABLE;
        return S_ISREG(st.st_mode) && access(path, X_OK) == 0 ? 0 : RTL_LAUNCH_NOT_EXECUTABLE;
    }
    for (const char *at = folders ? folders : "/bin:/usr/bin"; *name;) {
        size_t length = strcspn(at, ":");
        snprintf(path, PATH_MAX, "%.*s%s%s", (int)length, at, length ? "/" : "", name);
        if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
            if (access(path, X_OK) == 0)
                return 0;
            status = RTL_LAUNCH_NOT_EXECUTABLE;
        }
        if (!at[length])
            break;
        at += length + 1;
    }
    return status;
}

static bool gains_rights(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return false;
    return ((st.st_mode & S_ISUID) && st.st_uid != geteuid()) || ((st.st_mode & S_ISGID) && st.st_gid != getegid()) ||
           (geteuid() && getxattr(path, "security.capability", NULL, 0) > 0);
}

static void check_runtime(struct rtl_check *check, const char *where)
{
    static const char *const keys[] = {
#define KEY(sym, num, key, text) [num] = key,
        RTL_QUEUE_PATHS(KEY)
#undef KEY
    };
    static const char *const reasons[] = {
#define TEXT(sym, num, key, text) [num] = text,
        RTL_PATH_REASONS(TEXT)
#undef TEXT
    };
    struct rtl_runtime_release release;
    rtl_runtime_release_read(0, where, &release);
    rtl_check_say(check, RTL_FINDING_OK, "runtime", "%s, %s", release.name, where);
    const char *choice = getenv("RTL_QUEUES");
    bool intercept = choice && !strcmp(choice, "intercept"), asked = intercept || (choice && !strcmp(choice, "native"));
    if (intercept && rtl_runtime_overwrites(&release))
        rtl_check_say(check, RTL_FINDING_WRONG, "queues",
                      "this runtime's intercept queues overwrite memory, so the library makes none: "
                      "unset RTL_QUEUES, or no kernel is counted");
    else
        rtl_check_say(check, RTL_FINDING_OK, "queues", "%s: %s", keys[intercept ? RTL_PATH_INTERCEPT : RTL_PATH_NATIVE],
                      reasons[asked ? RTL_REASON_ASKED_FOR : RTL_REASON_DEFAULT]);
}

static bool may_be_listed(const char *path, const struct rtl_elf_file *elf)
{
    struct stat is;
    bool known = stat(path, &is) == 0;
    return known && (is.st_uid == geteuid() || is.st_uid == 0) && !(is.st_mode & S_IWOTH) && !elf->audits;
}

static bool check_may_be_listed(struct rtl_check *check, const char *path, const struct rtl_elf_file *elf)
{
    if (may_be_listed(path, elf))
        return true;
    rtl_check_say(check, RTL_FINDING_OPEN, "runtime",
                  elf->audits ? "%s names an auditing library, which the loader would run: its libraries are not listed"
                              : "another user can change %s: its libraries are not listed; "
                                "its owner may run rtl-top check",
                  path);
    return false;
}

/* Lists what it would load: the HSA runtime, or HIP, which loads the runtime. */
static void check_libraries(struct rtl_check *check, const char *path, const struct rtl_elf_file *elf)
{
    char where[PATH_MAX], complaint[PATH_MAX + 100];
    if (!check_may_be_listed(check, path, elf))
        return;
    check->other_loader = !rtl_loader_is_ours(elf);
    char *list = check->other_loader ? NULL : rtl_loader_list(path);
    const char *at = list;
    if (!list) {
        rtl_check_say(check, RTL_FINDING_OPEN, "runtime",
                      "%s has its own loader (%s), which rtl-top does not run: its libraries are known when it runs",
                      path, elf->interpreter);
    } else if (rtl_loader_complaint(list, complaint, sizeof complaint)) {
        rtl_check_say(check, RTL_FINDING_WRONG, "runtime", "%s can't start: %s", path, complaint);
    } else if (rtl_loader_find(&at, "libhsa-runtime64.so", where, sizeof where)) {
        check_runtime(check, where);
        snprintf(check->runtime, sizeof check->runtime, "%s", where);
    } else if (rtl_elf_has(path, "HSA_TOOLS_LIB")) {
        rtl_check_say(check, RTL_FINDING_OPEN, "runtime",
                      "%s has an HSA runtime of its own in it, of a release that it doesn't tell", path);
    } else {
        rtl_check_say(check, RTL_FINDING_OPEN, "runtime",
                      "%s is not linked with the HSA runtime or HIP. If it loads one while it runs it is traced, "
                      "otherwise there is nothing to trace",
                      path);
    }
    if (list)
        rtl_check_profiler_files(check, path, list);
    free(list);
}

static void check_elf(struct rtl_check *check, const char *path, const struct rtl_elf_file *elf)
{
    if (elf->bits32)
        rtl_check_say(check, RTL_FINDING_WRONG, "program", "%s is a 32-bit program: ROCm and librtl.so have 64 bits",
                      path);
    else if (!elf->native)
        rtl_check_say(check, RTL_FINDING_WRONG, "program", "%s is a program for another machine", path);
    else if (!elf->interpreter[0])
        rtl_check_say(check, RTL_FINDING_WRONG, "program",
                      "%s is linked statically: it can load no library, so neither a ROCm of this system's nor "
                      "librtl.so. Link it dynamically",
                      path);
    else {
        rtl_check_say(check, RTL_FINDING_OK, "program", "%s", path);
        check_libraries(check, path, elf);
    }
}

static void check_script(struct rtl_check *check, const char *path)
{
    char first[200] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd >= 0 ? read(fd, first, sizeof first - 1) : 0;
    if (fd >= 0)
        close(fd);
    first[n > 0 ? n : 0] = '\0';
    first[strcspn(first, "\n")] = '\0';
    rtl_check_say(check, RTL_FINDING_OK, "program", "%s%s%s%s", path, first[0] == '#' ? " (" : "",
                  first[0] == '#' ? first : "", first[0] == '#' ? ")" : "");
    rtl_check_say(check, RTL_FINDING_OPEN, "runtime",
                  "it is a script: what it starts and loads can't be known before it runs. rtl-top run says what was "
                  "missing");
}

int rtl_check_program(struct rtl_check *check, const char *name)
{
    char path[PATH_MAX], why[200];
    int status = find_program(name, path);
    if (status) {
        rtl_check_say(check, RTL_FINDING_WRONG, "program", "%s: %s", name,
                      status == RTL_LAUNCH_NOT_EXECUTABLE ? "can't be executed (chmod +x?)"
                      : strchr(name, '/')                 ? "there is no such file"
                                                          : "not found in PATH");
        return status;
    }
    if (gains_rights(path)) {
        rtl_check_say(
            check, RTL_FINDING_WRONG, "program",
            "%s gets rights of another user or capabilities (set-user-ID): only root can watch it, and it may "
            "drop the environment. Start rtl-top as that user instead",
            path);
        return 0;
    }
    struct rtl_elf_file *elf = malloc(sizeof *elf);
    if (!elf || !rtl_elf_read(path, elf, why, sizeof why))
        rtl_check_say(check, RTL_FINDING_OPEN, "program", "%s: %s", path, elf ? why : "out of memory");
    else if (elf->elf)
        check_elf(check, path, elf);
    else
        check_script(check, path);
    free(elf);
    return 0;
}

/* --- HIP calls (--mode hip): what librtl-hip.so needs to record them --- */

/* Finds where HIP calls go. A variable that only HIP reads shows that HIP is linked into the file. */
static void check_calls(struct rtl_check *check, const char *path, const struct rtl_elf_file *elf)
{
    char where[PATH_MAX] = "";
    if (!rtl_loader_is_ours(elf)) {
        rtl_check_say(check, RTL_FINDING_OPEN, "calls",
                      "%s has its own loader (%s), perhaps of another libc (musl): librtl-hip.so is made for this "
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
    char *list = may_be_listed(path, elf) ? rtl_loader_list(path) : NULL;
    const char *at = list;
    if (list && rtl_loader_find(&at, "libamdhip64.so", where, sizeof where) && *where)
        rtl_check_say(check, RTL_FINDING_OK, "calls", "those of %s are recorded", where);
    else
        rtl_check_say(check, RTL_FINDING_OPEN, "calls",
                      "%s is not seen to be linked with HIP. If it loads it while it runs, its calls are recorded",
                      path);
    free(list);
}

static void check_hip_program(struct rtl_check *check, const char *name)
{
    char path[PATH_MAX], why[200];
    struct rtl_elf_file *elf = malloc(sizeof *elf);
    if (elf && find_program(name, path) == 0) {
        bool read = rtl_elf_read(path, elf, why, sizeof why);
        if (gains_rights(path))
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
    char hip[PATH_MAX], why[2 * PATH_MAX];
    if (!rtl_library_find_hip(library, hip, why, sizeof why)) {
        rtl_check_say(check, RTL_FINDING_WRONG, "calls", "%s", why);
        return;
    }
    rtl_check_loads(check, "calls", hip);
    rtl_check_preloads(check, hip);
    check_hip_program(check, name);
}

/* --- a process --- */

static void check_queues(struct rtl_check *check, const struct rtl_snapshot *s)
{
    unsigned ways[8] = {0}, live = 0;
    char text[200] = "";
    for (uint32_t i = 0; i < s->queue_count; i++) {
        if (!s->queues[i].live)
            continue;
        live++;
        ways[s->queues[i].path < 8 ? s->queues[i].path : 0]++;
    }
#define WAY(sym, num, key, meaning) \
    if (ways[num])                  \
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u %s", *text ? ", " : "", ways[num], key);
    RTL_QUEUE_PATHS(WAY)
#undef WAY
    if (live)
        rtl_check_say(check, RTL_FINDING_OK, "queues", "%u live: %s", live, *text ? text : "paths unknown");
    else
        rtl_check_say(check, RTL_FINDING_OPEN, "queues", "none so far: nothing has been dispatched");
}

static void check_notes(struct rtl_check *check, const struct rtl_snapshot *s)
{
#define NOTE(sym, bit, key, text)  \
    if (s->notes & RTL_NOTE_##sym) \
        rtl_check_say(check, RTL_FINDING_OPEN, "note", "%s", text);
    RTL_NOTES(NOTE)
#undef NOTE
}

/* Prints the file of each runtime of the process: exactly one mapping of a library is executable. */
static void check_runtimes(struct rtl_check *check, pid_t pid)
{
    char *line = NULL;
    size_t room = 0;
    unsigned left = RUNTIMES_SAID;
    FILE *maps = rtl_proc_fopen(pid, "maps");
    while (maps && left && getline(&line, &room, maps) > 0) {
        const char *file = strchr(line, '/');
        line[strcspn(line, "\n")] = '\0';
        if (!file || !strstr(file, "/libhsa-runtime64") || !strstr(line, "-xp "))
            continue;
        left--;
        rtl_check_say(check, RTL_FINDING_OPEN, "runtime", "one of several: %s", file);
    }
    free(line);
    if (maps)
        fclose(maps);
}

static int check_segment(struct rtl_check *check, struct rtl_reader *reader, pid_t pid)
{
    struct rtl_snapshot s = {0};
    char title[160], why[600];
    struct rtl_control_link link;
    struct rtl_runtime_release release;
    enum rtl_reader_status status = rtl_reader_snapshot(reader, &s);
    if (status != RTL_READER_OK) {
        rtl_check_say(check, RTL_FINDING_WRONG, "segment", "it is damaged: nothing in it can be shown");
        return (int)status;
    }
    rtl_proc_title(pid, s.comm, title, sizeof title);
    rtl_check_say(check, RTL_FINDING_OK, "process", "%d (%s) is traced, by librtl.so %s", (int)pid, title,
                  s.library_version);
    bool loaded = rtl_runtime_release_loaded(pid, &release);
    rtl_check_say(check, RTL_FINDING_OK, "runtime", "%s%sHSA API %u.%u", loaded ? release.name : "", loaded ? ", " : "",
                  s.runtime_major, s.runtime_minor);
    rtl_check_say(check, RTL_FINDING_OK, "mode", "%s", rtl_mode_label(s.mode));
    check_queues(check, &s);
    if (rtl_control_open(reader, &link, why, sizeof why) == RTL_READER_OK) {
        rtl_check_say(check, RTL_FINDING_OK, "control", "its mode can be changed (--mode, M)");
        rtl_control_close(&link);
    } else {
        rtl_check_say(check, RTL_FINDING_OPEN, "control", "%s", why);
    }
    if (rtl_reader_events_capacity(reader))
        rtl_check_say(check, RTL_FINDING_OK, "trace", "an event ring of %u records",
                      rtl_reader_events_capacity(reader));
    else
        rtl_check_say(check, RTL_FINDING_OPEN, "trace", "no event ring: --trace needs RTL_TRACE=1 at its start");
    struct rtl_probe_link probe;
    if (rtl_probe_open(reader, &probe, why, sizeof why) == RTL_READER_OK) {
        rtl_check_say(check, RTL_FINDING_OK, "probe", "its kernels can be probed (rtl-top probe)");
        rtl_probe_close(&probe);
    } else {
        rtl_check_say(check, RTL_FINDING_OPEN, "probe", "%s", why);
    }
    check_notes(check, &s);
    if (s.notes & RTL_NOTE_ANOTHER_RUNTIME)
        check_runtimes(check, pid);
    rtl_check_calls(check, pid);
    rtl_snapshot_free(&s);
    return 0;
}

int rtl_check_process(struct rtl_check *check, pid_t pid)
{
    struct rtl_reader *reader;
    char why[2000];
    enum rtl_reader_status status = rtl_reader_open(pid, &reader, why, sizeof why);
    if (status != RTL_READER_OK) {
        rtl_check_say(check, RTL_FINDING_WRONG, "process", "%s", why);
        rtl_check_profiler_process(check, pid, false);
        return (int)status;
    }
    int result = check_segment(check, reader, pid);
    rtl_check_profiler_process(check, pid, true);
    rtl_reader_close(reader);
    return result;
}
