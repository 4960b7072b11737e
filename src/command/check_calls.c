/* rtl-top check -p: reports whether the HIP calls of a process are recorded, and the files whose calls are not. A
 * dispatch that no recorded call submitted shows that calls are missing. */
#include "base/plain_file.h"
#include "command/check.h"
#include "shm/hip_api_reader.h"
#include "shm/proc_file.h"
#include "shm/process.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bounds on a hostile process: files that are searched, files that are reported. */
enum { FILES_MAX = 1024, HIPS_SAID = 8 };
static const int64_t SEARCHED_MAX = 8ll << 30;

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

void rtl_check_calls(struct rtl_check *check, pid_t pid)
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
