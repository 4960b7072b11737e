/* rtl-top check: checks a program's file, and a process. */
#include "base/plain_file.h"
#include "command/check.h"
#include "model/labels.h"
#include "launch/launch.h"
#include "launch/library.h"
#include "launch/runtime_release.h"
#include "shm/hip_api_reader.h"
#include "shm/proc_file.h"
#include "shm/process.h"
#include "text/text.h"
#include "watch/proc_scan.h"
#include "watch/restart.h"
#include "shm/control_client.h"
#include "shm/probe_client.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Bounds on a hostile process: files that are searched, files that are reported. */
enum { FILES_MAX = 1024, HIPS_SAID = 8, RUNTIMES_SAID = 8 };
static const int64_t SEARCHED_MAX = 8ll << 30;

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
        rtl_check_say(check, RTL_FINDING_OK, "queues", "%s: %s",
                      rtl_queue_path_key(intercept ? RTL_PATH_INTERCEPT : RTL_PATH_NATIVE),
                      rtl_path_reason_text(asked ? RTL_REASON_ASKED_FOR : RTL_REASON_DEFAULT));
}

static bool may_be_listed(const char *path, const struct rtl_elf_file *elf)
{
    struct stat is;
    bool known = stat(path, &is) == 0;
    return known && (is.st_uid == geteuid() || is.st_uid == 0) && !(is.st_mode & S_IWOTH) && !elf->audits;
}

/* Lists what it would load: the HSA runtime, or HIP, which loads the runtime. */
static void check_libraries(struct rtl_check *check, const char *path, const struct rtl_elf_file *elf)
{
    char where[PATH_MAX], complaint[PATH_MAX + 100];
    if (!may_be_listed(path, elf)) {
        rtl_check_say(check, RTL_FINDING_OPEN, "runtime",
                      elf->audits
                          ? "%s names an auditing library, which the loader would run: its libraries are not listed"
                          : "another user can change %s: its libraries are not listed; "
                            "its owner may run rtl-top check",
                      path);
        return;
    }
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
    char *path = check->program, why[200];
    int status = find_program(name, path);
    if (status) {
        *path = '\0';
        rtl_check_say(check, RTL_FINDING_WRONG, "program", "%s: %s", name,
                      status == RTL_LAUNCH_NOT_EXECUTABLE ? "can't be executed (chmod +x?)"
                      : strchr(name, '/')                 ? "there is no such file"
                                                          : "not found in PATH");
        return status;
    }
    check->gains_rights = gains_rights(path);
    if (check->gains_rights) {
        rtl_check_say(
            check, RTL_FINDING_WRONG, "program",
            "%s gets rights of another user or capabilities (set-user-ID): only root can watch it, and it may "
            "drop the environment. Start rtl-top as that user instead",
            path);
        return 0;
    }
    struct rtl_elf_file *elf = check->elf = malloc(sizeof *elf);
    if (elf && rtl_elf_read(path, elf, why, sizeof why)) {
        if (elf->elf)
            check_elf(check, path, elf);
        else
            check_script(check, path);
        return 0;
    }
    rtl_check_say(check, RTL_FINDING_OPEN, "program", "%s: %s", path, elf ? why : "out of memory");
    free(elf);
    check->elf = NULL;
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

void rtl_check_hip(struct rtl_check *check, const char *library)
{
    char hip[PATH_MAX], why[2 * PATH_MAX];
    const struct rtl_elf_file *elf = check->elf;
    if (!rtl_library_find_hip(library, hip, why, sizeof why)) {
        rtl_check_say(check, RTL_FINDING_WRONG, "calls", "%s", why);
        return;
    }
    rtl_check_loads(check, "calls", hip);
    rtl_check_preloads(check, hip);
    if (check->gains_rights)
        rtl_check_say(check, RTL_FINDING_WRONG, "calls",
                      "the loader preloads no library from a folder of yours into a program that gets rights of "
                      "others: no call of %s is recorded",
                      check->program);
    else if (elf && !elf->elf)
        rtl_check_say(check, RTL_FINDING_OPEN, "calls",
                      "all that the script starts has librtl-hip.so preloaded, unless it changes LD_PRELOAD");
    else if (elf && elf->native && !elf->bits32 && elf->interpreter[0])
        check_calls(check, check->program, elf);
}

/* --- HIP calls of a process: a dispatch that no recorded call submitted shows that calls are missing --- */

/* A variable that only HIP reads shows that HIP is linked into a file. */
static bool has_hip_inside(pid_t pid, const char *file, int64_t *searched)
{
    struct stat st;
    char path[40];
    int fd = rtl_plain_file_open(rtl_process_open(pid, file, O_PATH), &st);
    if (fd < 0)
        return false;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    bool found = *searched < SEARCHED_MAX && rtl_elf_has(path, "AMD_DIRECT_DISPATCH");
    *searched += st.st_size;
    close(fd);
    return found;
}

/* Prints the files that contain HIP, if they explain missing calls. Each executable mapping is a loaded copy. */
static void say_hips(struct rtl_check *check, pid_t pid)
{
    char *line = NULL, *shared[HIPS_SAID];
    size_t room = 0;
    unsigned files = 0, count = 0, inside = 0;
    int64_t searched = 0;
    FILE *maps = rtl_proc_fopen(pid, "maps");
    while (maps && files < FILES_MAX && count + inside < HIPS_SAID && getline(&line, &room, maps) > 0) {
        const char *file = strchr(line, '/');
        line[strcspn(line, "\n")] = '\0';
        if (!file || !strstr(line, "-xp ") || strstr(file, "/librtl-hip"))
            continue;
        files++;
        if (strstr(file, "/libamdhip64") && (shared[count] = strdup(file)))
            count++;
        else if (has_hip_inside(pid, file, &searched) && ++inside)
            rtl_check_say(check, RTL_FINDING_WRONG, "calls",
                          "%s has HIP linked into it: its calls go there directly, and none is recorded. Link it with "
                          "libamdhip64.so",
                          file);
    }
    for (unsigned i = 0; i < count; i++) {
        if (count + inside > 1)
            rtl_check_say(check, RTL_FINDING_OPEN, "calls", "one of several HIPs: %s", shared[i]);
        free(shared[i]);
    }
    free(line);
    if (maps)
        fclose(maps);
}

/* Prints the most frequent reason why dispatches have no recorded call. */
static void say_unlinked(struct rtl_check *check, const struct rtl_hip_api_snapshot *api, uint64_t unlinked)
{
    static const char *const reasons[RTL_HIP_API_UNLINKED_LIMIT] = {
#define TEXT(sym, num, key, text) [num] = text,
        RTL_HIP_API_UNLINKED(TEXT)
#undef TEXT
    };
    int most = 0;
    for (int i = 1; i < RTL_HIP_API_UNLINKED_LIMIT; i++)
        most = api->unlinked[i] > api->unlinked[most] ? i : most;
    rtl_check_say(check, api->linked ? RTL_FINDING_OPEN : RTL_FINDING_WRONG, "calls",
                  "%" PRIu64 " of %" PRIu64 " dispatches have no recorded call (%s)", unlinked, api->linked + unlinked,
                  reasons[most] ? reasons[most] : "a reason of a newer library");
}

static void check_recorded_calls(struct rtl_check *check, pid_t pid, const struct rtl_hip_api_snapshot *api)
{
    static const char *const how[RTL_HIP_API_UNRECORDED_END] = {
#define TEXT(sym, num, text) [num] = text,
        RTL_HIP_API_UNRECORDED(TEXT)
#undef TEXT
    };
    uint64_t unlinked = rtl_hip_api_unlinked_sum(api);
    uint32_t why = api->unrecorded_why;
    if (unlinked)
        say_unlinked(check, api, unlinked);
    if (why)
        rtl_check_say(check, RTL_FINDING_WRONG, "calls", "%s was %s", api->unrecorded_file,
                      why < RTL_HIP_API_UNRECORDED_END && how[why] ? how[why] : "opened in a way that hides its calls");
    if (unlinked)
        say_hips(check, pid);
    if (!unlinked && !why)
        rtl_check_say(check, RTL_FINDING_OK, "calls", "those of HIP are recorded, by librtl-hip.so %s",
                      api->library_version);
}

static void check_process_calls(struct rtl_check *check, pid_t pid)
{
    const struct rtl_hip_api_request request = {.pid = pid};
    struct rtl_snapshot snapshot = {0};
    char why[1000];
    int fd;
    enum rtl_reader_status status = rtl_hip_api_open(pid, &fd, why, sizeof why);
    if (status == RTL_READER_OK) {
        status = rtl_hip_api_read(fd, &request, &snapshot, why, sizeof why);
        close(fd);
    }
    if (status == RTL_READER_OK)
        check_recorded_calls(check, pid, snapshot.hip_api);
    else
        rtl_check_say(check, status == RTL_READER_NOT_TRACED ? RTL_FINDING_OPEN : RTL_FINDING_WRONG, "calls", "%s",
                      why);
    rtl_snapshot_free(&snapshot);
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
    for (uint32_t way = 0; way < 8; way++)
        if (ways[way] && rtl_queue_path_key(way))
            rtl_text_append(text, sizeof text, "%s%u %s", *text ? ", " : "", ways[way], rtl_queue_path_key(way));
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
    check_process_calls(check, pid);
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
        struct rtl_restart restart;
        rtl_restart_read(pid, &restart);
        if (strstr(why, "rtl-top run")) /* a restart helps */
            rtl_check_say(check, RTL_FINDING_OPEN, "restart", "%s", restart.whole);
        rtl_check_profiler_process(check, pid, false);
        return (int)status;
    }
    int result = check_segment(check, reader, pid);
    rtl_check_profiler_process(check, pid, true);
    rtl_reader_close(reader);
    return result;
}
