/* Facts about a process from /proc. See process_info.h. */
#include "record/process_info.h"
#include "base/clock.h"
#include "shm/late_file.h"
#include "shm/process.h"

#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void read_command(pid_t pid, char *out, size_t size)
{
    ssize_t n = rtl_late_file(pid, "cmdline", out, size);
    while (n > 0 && !out[n - 1])
        n--;
    for (ssize_t i = 0; i < n; i++)
        if (!out[i])
            out[i] = ' ';
}

/* getpwuid may take minutes if a name server doesn't answer: keep the names of so many users. */
enum { USERS_KEPT = 256 };
static const uint64_t UNKNOWN_NS = 600000000000ull;

void rtl_user_name(uid_t uid, char *out, size_t size)
{
    static struct known_user {
        bool any;
        uid_t uid;
        uint64_t again_ns; /* no name: when to look it up again; 0: it has a name */
        char name[64];
    } users[USERS_KEPT];
    static uint32_t next;
    struct known_user *k = NULL;
    for (uint32_t i = 0; !k && i < USERS_KEPT && users[i].any; i++)
        if (users[i].uid == uid)
            k = &users[i];
    if (!k || (k->again_ns && rtl_mono_ns() >= k->again_ns)) {
        if (!k)
            k = &users[next++ % USERS_KEPT];
        const struct passwd *user = getpwuid(uid);
        *k = (struct known_user){.any = true, .uid = uid, .again_ns = user ? 0 : rtl_mono_ns() + UNKNOWN_NS};
        if (user)
            snprintf(k->name, sizeof k->name, "%s", user->pw_name);
        else
            snprintf(k->name, sizeof k->name, "%u", (unsigned)uid);
    }
    snprintf(out, size, "%s", k->name);
}

void rtl_process_user(pid_t pid, char *out, size_t size)
{
    char path[RTL_PROC_PATH_MAX];
    struct stat process;
    *out = 0;
    if (!stat(rtl_proc_path(path, pid, "%s", ""), &process))
        rtl_user_name(process.st_uid, out, size);
}

void rtl_process_info_read(pid_t pid, struct rtl_proc_member_info *info)
{
    memset(info, 0, sizeof *info);
    gethostname(info->host, sizeof info->host - 1);
    rtl_process_user(pid, info->user, sizeof info->user);
    read_command(pid, info->command, sizeof info->command);
    rtl_process_mapped_file(pid, "/libhsa-runtime64.so", info->runtime, sizeof info->runtime);
}
