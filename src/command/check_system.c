/* rtl-top check: checks the system and the environment. */
#include "command/check.h"
#include "launch/library.h"
#include "shm/segment.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- devices --- */

static void check_kfd(struct rtl_check *check)
{
    static const char path[] = "/dev/kfd";
    struct stat st;
    if (access(path, R_OK | W_OK) == 0)
        rtl_check_say(check, RTL_FINDING_OK, "device", "%s may be opened", path);
    else if (stat(path, &st) != 0)
        rtl_check_say(check, RTL_FINDING_WRONG, "device",
                      "there is no %s: load the driver (modprobe amdgpu); a container needs --device %s --device "
                      "/dev/dri",
                      path, path);
    else
        rtl_check_say(check, RTL_FINDING_WRONG, "device",
                      "%s belongs to uid %u, gid %u and you are uid %u, gid %u: join its group (usermod -aG render "
                      "USER), and log in again",
                      path, st.st_uid, st.st_gid, geteuid(), getegid());
}

static void check_render(struct rtl_check *check)
{
    unsigned nodes = 0, usable = 0;
    char path[300];
    DIR *dir = opendir("/dev/dri");
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (strncmp(e->d_name, "renderD", 7) != 0)
            continue;
        snprintf(path, sizeof path, "/dev/dri/%s", e->d_name);
        nodes++;
        usable += access(path, R_OK | W_OK) == 0;
    }
    if (dir)
        closedir(dir);
    if (usable)
        rtl_check_say(check, RTL_FINDING_OK, "device", "%u of %u render nodes in /dev/dri may be opened", usable,
                      nodes);
    else
        rtl_check_say(check, RTL_FINDING_WRONG, "device", "%s",
                      nodes ? "no render node in /dev/dri may be opened by you: join the group render"
                            : "there is no render node in /dev/dri: no GPU that the driver knows, or a container "
                              "without --device /dev/dri");
}

/* --- the segment --- */

/* Returns the largest size without an event ring: the sections of segment.h, each rounded up to pages. */
static uint64_t segment_bytes(void)
{
#define SECTION(type, count) (((uint64_t)sizeof(type) * (count) + 4095) / 4096 * 4096)
    return 4096 + SECTION(struct rtl_kernel, RTL_KERNELS_MAX) + SECTION(struct rtl_histogram, RTL_HISTOGRAMS_MAX) +
           SECTION(struct rtl_directory, RTL_HISTOGRAMS_MAX) + SECTION(struct rtl_coarse, RTL_HISTOGRAMS_MAX) +
           SECTION(struct rtl_chunk, RTL_CHUNKS_MAX + 1) + SECTION(struct rtl_queue, RTL_QUEUES_MAX) +
           SECTION(struct rtl_agent, RTL_AGENTS_MAX) +
           SECTION(struct rtl_dispatches, (uint64_t)RTL_QUEUES_MAX * RTL_KERNELS_MAX) + SECTION(char, RTL_NAMES_BYTES) +
           SECTION(struct rtl_copies, RTL_COPIES_MAX);
#undef SECTION
}

static void check_segment(struct rtl_check *check)
{
    struct rlimit limit;
    unsigned megabytes = (unsigned)((segment_bytes() + (1 << 20) - 1) >> 20);
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < segment_bytes()) {
        rtl_check_say(check, RTL_FINDING_WRONG, "segment",
                      "files may not be larger than %llu MB, and the segment is a sparse one of %u MB: ulimit -f "
                      "unlimited",
                      (unsigned long long)(limit.rlim_cur >> 20), megabytes);
        return;
    }
    int fd = memfd_create("rtl-check", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    bool made = fd >= 0 && ftruncate(fd, (off_t)segment_bytes()) == 0 && write(fd, "", 1) == 1;
    int error = errno;
    if (fd >= 0)
        close(fd);
    if (made)
        rtl_check_say(check, RTL_FINDING_OK, "segment", "a memfd of %u MB, sparse, can be had", megabytes);
    else
        rtl_check_say(check, RTL_FINDING_WRONG, "segment",
                      "no memfd of %u MB can be had: %s. A sandbox (seccomp), or a limit of memory?", megabytes,
                      strerror(error));
}

void rtl_check_system(struct rtl_check *check)
{
    check_kfd(check);
    check_render(check);
    check_segment(check);
}

/* --- the environment --- */

static void check_variable(struct rtl_check *check, const char *name, bool known, const char *otherwise)
{
    const char *value = getenv(name);
    if (value && *value && !known)
        rtl_check_say(check, RTL_FINDING_WRONG, "environment", "%s=%s is not understood: %s is used", name, value,
                      otherwise);
    else if (value && *value)
        rtl_check_say(check, RTL_FINDING_OK, "environment", "%s=%s", name, value);
}

void rtl_check_environment(struct rtl_check *check, const char *library, bool preload)
{
    const char *mode = getenv("RTL_MODE"), *queues = getenv("RTL_QUEUES"), *probe = getenv("RTL_PROBE");
    int begin;
    bool listed = rtl_check_tools(check, library);
    rtl_check_profiler(check, listed, preload);
    check_variable(check, "RTL_MODE", mode && rtl_start_mode_parse(mode, &begin), "default");
    check_variable(check, "RTL_QUEUES",
                   queues && (!strcmp(queues, "auto") || !strcmp(queues, "native") || !strcmp(queues, "intercept")),
                   "auto");
    check_variable(check, "RTL_PROBE", probe && (!strcmp(probe, "1") || !strcmp(probe, "0")), "0");
}
