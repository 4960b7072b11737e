/*
 * Reads /proc/PID and explains in one line why a process can't be watched and what its user can do.
 *
 * Nothing here decides: the kernel does, when discover.c opens the descriptor. This file explains the refusal
 * afterwards, from what everybody may read (status, stat) and, if allowed, environ and maps.
 */
#include "shm/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/nsfs.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shm/reader_private.h"
#include "shm/segment_reader.h"

#define KERNEL_THREAD_FLAG 0x00200000u /* PF_KTHREAD */
#define EXITING_FLAG       0x00000004u /* PF_EXITING */

static const char *value_after(const char *line, const char *name)
{
    size_t length = strlen(name);
    return strncmp(line, name, length) == 0 ? line + length : NULL;
}

static int parse_stat(struct rtl_process *p, const char *stat)
{
    const char *open = strchr(stat, '('), *close = strrchr(stat, ')'); /* a name may contain ')' */
    unsigned long flags, threads;
    unsigned long long start;
    if (!open || !close || close < open)
        return -EIO;
    rtl_copy_printable(p->name, sizeof p->name, open + 1, (size_t)(close - open - 1));
    if (sscanf(close + 1, " %c %*d %*d %*d %*d %*d %lu %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %lu %*d %llu", &p->state,
               &flags, &threads, &start) != 4)
        return -EIO;
    p->flags = flags;
    p->threads = threads;
    p->start_time = start;
    return 0;
}

static void parse_status_line(struct rtl_process *p, const char *line)
{
    const char *at;
    if ((at = value_after(line, "Tgid:")))
        p->tgid = p->innermost = (pid_t)atol(at);
    if ((at = value_after(line, "Uid:")))
        sscanf(at, "%u %u %u", &p->ruid, &p->euid, &p->suid);
    if ((at = value_after(line, "Gid:")))
        sscanf(at, "%u %u %u", &p->rgid, &p->egid, &p->sgid);
    /* "NStgid: 4711 12 1": outermost first; kernels before 4.1 lack it */
    for (at = value_after(line, "NStgid:"); at && *at && *at != '\n';) {
        char *end;
        if (*at < '0' || *at > '9') {
            at++;
            continue;
        }
        p->innermost = (pid_t)strtol(at, &end, 10);
        at = end;
    }
}

/* Read all lines: 65,536 groups make a line of 700 kB before the wanted ones. 0 or -errno. */
static int read_status(struct rtl_process *p)
{
    char *line = NULL;
    size_t room = 0;
    FILE *status = rtl_proc_fopen(p->pid, "status");
    if (!status)
        return -errno;
    while (getline(&line, &room, status) > 0)
        parse_status_line(p, line);
    int error = ferror(status) ? -errno : 0;
    free(line);
    fclose(status);
    return error;
}

int rtl_process_read(pid_t pid, struct rtl_process *process)
{
    char buffer[4096];
    memset(process, 0, sizeof *process);
    process->pid = process->tgid = process->innermost = pid;
    if (pid <= 0)
        return -ESRCH;
    ssize_t n = rtl_process_file(pid, "stat", buffer, sizeof buffer);
    if (n == -ENOENT || n == -ESRCH)
        return kill(pid, 0) == 0 || errno == EPERM ? -EPERM : -ESRCH;
    if (n < 0)
        return (int)n;
    int error = parse_stat(process, buffer);
    if (error)
        return error;
    error = read_status(process);
    return error == -ENOENT ? -ESRCH : error;
}

uid_t rtl_process_namespace_owner(uid_t own, pid_t pid)
{
    enum { DEPTH_MAX = 33 }; /* the kernel nests 32 */
    struct stat ours, theirs;
    char path[RTL_PROC_PATH_MAX];
    uid_t owner = own;
    if (stat("/proc/self/ns/user", &ours) || stat(rtl_proc_path(path, pid, "ns/user"), &theirs) ||
        theirs.st_ino == ours.st_ino)
        return own;
    int fd = rtl_proc_open(pid, "ns/user", O_RDONLY);
    for (int depth = 0; fd >= 0 && depth < DEPTH_MAX; depth++) {
        int parent = -1;
        if (!fstat(fd, &theirs) && theirs.st_ino != ours.st_ino && !ioctl(fd, NS_GET_OWNER_UID, &owner))
            parent = ioctl(fd, NS_GET_PARENT);
        close(fd);
        fd = parent;
    }
    if (fd >= 0)
        close(fd);
    return owner;
}

bool rtl_process_is_zombie(const struct rtl_process *process)
{
    /* a process whose main thread ended first has state Z, too, but more threads */
    return process->state == 'X' || (process->state == 'Z' && process->threads <= 1);
}

bool rtl_process_is_ending(const struct rtl_process *process)
{
    return rtl_process_is_zombie(process) || (process->flags & EXITING_FLAG && process->threads <= 1);
}

bool rtl_process_is_kernel_thread(const struct rtl_process *process)
{
    return process->flags & KERNEL_THREAD_FLAG;
}

int rtl_process_pidfd(pid_t tgid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, tgid, 0);
#else
    (void)tgid;
    return -1;
#endif
}

bool rtl_process_is_alive(pid_t pid, int pidfd, uint64_t start_time)
{
    struct rtl_process p;
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};
    if (pidfd >= 0)
        return poll(&ended, 1, 0) <= 0;
    return rtl_process_read(pid, &p) == 0 && p.start_time == start_time && !rtl_process_is_zombie(&p);
}

/* Return the first line of the mappings that contains the text, allocated; NULL: none. */
static char *find_mapping(pid_t pid, const char *text)
{
    char *line = NULL;
    size_t room = 0;
    bool found = false;
    FILE *maps = rtl_proc_fopen(pid, "maps");
    while (maps && !found && getline(&line, &room, maps) > 0)
        found = strstr(line, text);
    if (maps)
        fclose(maps);
    if (found)
        return line;
    free(line);
    return NULL;
}

bool rtl_process_maps(pid_t pid, const char *text, uint64_t *from, uint64_t *to)
{
    unsigned long long a = 0, b = 0;
    char *line = find_mapping(pid, text);
    bool found = line && sscanf(line, "%llx-%llx", &a, &b) == 2;
    if (found && from)
        *from = a;
    if (found && to)
        *to = b;
    free(line);
    return found;
}

bool rtl_process_mapped_file(pid_t pid, const char *text, char *path, size_t bytes)
{
    char *line = find_mapping(pid, text), *file = line ? strchr(line, '/') : NULL;
    snprintf(path, bytes, "%.*s", file ? (int)strcspn(file, "\n") : 0, file ? file : "");
    free(line);
    return *path;
}

bool rtl_process_has_open(pid_t pid, const char *path)
{
    char name[RTL_PROC_PATH_MAX], link[256];
    bool held = false;
    int left = RTL_FILES_MAX;
    DIR *dir = opendir(rtl_proc_path(name, pid, "fd"));
    if (!dir)
        return false;
    for (struct dirent *e; !held && left-- && (e = readdir(dir));) {
        ssize_t n = readlinkat(dirfd(dir), e->d_name, link, sizeof link - 1);
        held = n > 0 && (size_t)n == strlen(path) && !memcmp(link, path, (size_t)n);
    }
    closedir(dir);
    return held;
}

enum rtl_reader_status rtl_explain_missing(pid_t pid, int error, char *why, size_t why_bytes)
{
    if (error == -EPERM || error == -EACCES)
        return rtl_explain(RTL_READER_PERMISSION, why, why_bytes,
                           "process %d exists but /proc hides it from you (hidepid): run rtl-top as root (sudo)",
                           (int)pid);
    if (error == -ESRCH)
        return rtl_explain(RTL_READER_NO_PROCESS, why, why_bytes,
                           "no process %d: rtl-top without -p lists the traced ones", (int)pid);
    return rtl_explain(RTL_READER_USAGE, why, why_bytes, "cannot read /proc/%d: %s", (int)pid, strerror(-error));
}

/* Return "alice (uid 1001)", or "uid 1001" if the number has no name here (a container's). */
static const char *user_text(uid_t uid, char *buffer, size_t bytes)
{
    struct passwd *user = getpwuid(uid);
    if (user)
        snprintf(buffer, bytes, "%s (uid %u)", user->pw_name, uid);
    else
        snprintf(buffer, bytes, "uid %u", uid);
    return buffer;
}

static const char *group_text(gid_t gid, char *buffer, size_t bytes)
{
    struct group *group = getgrgid(gid);
    if (group)
        snprintf(buffer, bytes, "%s (gid %u)", group->gr_name, gid);
    else
        snprintf(buffer, bytes, "gid %u", gid);
    return buffer;
}

/* ptrace(2) allows reading with the same user and group in all three ids and a dumpable process, or with a capability.
 */
enum rtl_reader_status rtl_explain_permission(const struct rtl_process *p, char *why, size_t why_bytes)
{
    char theirs[80], mine[80], user[80], group[80], own[80];
    uid_t uid = geteuid();
    gid_t gid = getegid();

    if (uid == 0)
        return rtl_explain(RTL_READER_PERMISSION, why, why_bytes,
                           "not permitted to look into process %d (%s) of uid %u, gid %u, although you are root: a "
                           "container without CAP_SYS_PTRACE, or with users of its own? Give it that (docker run "
                           "--cap-add SYS_PTRACE) or run rtl-top on the host",
                           (int)p->pid, p->name, p->euid, p->egid);
    uid_t other = p->euid != uid ? p->euid : p->ruid != uid ? p->ruid : p->suid;
    if (other != uid)
        return rtl_explain(RTL_READER_PERMISSION, why, why_bytes,
                           "process %d (%s) belongs to user %s, group %s and you are %s, %s: run rtl-top as that user "
                           "and group (sudo -u '#%u' -g '#%u' rtl-top -p %d) or as root (sudo rtl-top -p %d)",
                           (int)p->pid, p->name, user_text(other, theirs, sizeof theirs),
                           group_text(p->egid, group, sizeof group), user_text(uid, mine, sizeof mine),
                           group_text(gid, own, sizeof own), other, p->egid, (int)p->pid, (int)p->pid);
    if (p->egid != gid || p->rgid != gid || p->sgid != gid) {
        gid_t kept = p->egid != gid ? p->egid : p->rgid != gid ? p->rgid : p->sgid;
        return rtl_explain(RTL_READER_PERMISSION, why, why_bytes,
                           "process %d (%s) runs with group %s, you with group %s: the kernel wants the same group, "
                           "not only the same user (%s). Use sudo -u '#%u' -g '#%u' rtl-top -p %d, or root",
                           (int)p->pid, p->name, group_text(kept, theirs, sizeof theirs),
                           group_text(gid, mine, sizeof mine), user_text(uid, user, sizeof user), uid, kept,
                           (int)p->pid);
    }
    return rtl_explain(RTL_READER_PERMISSION, why, why_bytes,
                       "process %d (%s) is yours (%s) but not dumpable (started with set-user-ID or file capabilities, "
                       "or by prctl PR_SET_DUMPABLE): only root may look into it (sudo rtl-top -p %d)",
                       (int)p->pid, p->name, user_text(uid, mine, sizeof mine), (int)p->pid);
}
