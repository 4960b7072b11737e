/*
 * Finds segments: from a pid over the links in /proc/PID/fd to the memfd. The pid is all it needs.
 *
 * The links of a hostile process may lead anywhere (a pipe that blocks, a file system that never answers). So this code
 * first pins a descriptor with O_PATH and compares its device with that of a memfd of our own: all memfds live on one
 * kernel-internal file system, which nothing can imitate.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "shm/gpu_use.h"
#include "shm/process.h"
#include "shm/reader_private.h"
#include "shm/segment_reader.h"

#define LINK_TEXT  "/memfd:" RTL_SEGMENT_NAME " (deleted)"
#define LINK_START "/memfd:" RTL_SEGMENT_NAME

enum {
    USUAL_FIRST = 512, /* where librtl.so puts the descriptor; tried before all others */
    USUAL_LAST = 520,
    CANDIDATES_MAX = 16,
    LOOK_NS = 5000000, /* between two attempts at a segment that is being made */
};
static const uint64_t PATIENCE_NS = 2000000000;

struct segment_search {
    const struct rtl_process *process;
    struct rtl_reader *best; /* the youngest segment made by the process itself */
    enum rtl_reader_status status;
    pid_t inherited_from;  /* the maker of a segment inherited by fork; 0 = none */
    int candidates, error; /* error: errno of the first refusal */
    int left;              /* descriptors and tasks still allowed, over all tasks */
    bool being_made;       /* a segment without its mark exists */
    char *why;
    size_t why_bytes;
};

/* Return the device of memfds; 0 if it is not known (sandbox): then the check is skipped. */
static uint64_t memfd_device(void)
{
    struct stat st;
    int fd = memfd_create("rtl-top", MFD_CLOEXEC);
    if (fd < 0)
        return 0;
    bool ok = fstat(fd, &st) == 0;
    close(fd);
    return ok ? st.st_dev : 0;
}

int rtl_open_memfd_link(const char *path, int flags, bool strict)
{
    struct statx sx;
    char self[RTL_PROC_PATH_MAX];
    uint64_t device = memfd_device();
    int pin = open(path, O_PATH | O_CLOEXEC);
    if (pin < 0)
        return -errno;
    int fd = -ENOENT;
    /* DONT_SYNC: the kernel answers without asking a file server */
    if (statx(pin, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &sx) == 0 && S_ISREG(sx.stx_mode) &&
        (device ? (uint64_t)makedev(sx.stx_dev_major, sx.stx_dev_minor) == device : !strict)) {
        fd = open(rtl_proc_path(self, 0, "fd/%d", pin), flags | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0)
            fd = -errno;
    }
    close(pin);
    return fd;
}

/* The writer opens the descriptor before the segment has a size, and stores the mark last. */
static bool is_being_made(int fd)
{
    struct stat st;
    uint64_t mark = 0;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    return st.st_size == 0 || (pread(fd, &mark, sizeof mark, 0) == sizeof mark && mark == 0);
}

/* Accept or reject one candidate; owns fd. */
static void consider_candidate(struct segment_search *s, int fd, const char *path)
{
    struct rtl_reader *reader;
    char text[400];
    if (is_being_made(fd)) {
        s->being_made = true;
        close(fd);
        return;
    }
    enum rtl_reader_status status = rtl_reader_open_fd(fd, &reader, text, sizeof text);
    if (status != RTL_READER_OK) {
        close(fd);
        if (!s->best && s->status == RTL_READER_NOT_TRACED)
            s->status = rtl_explain(status, s->why, s->why_bytes, "process %d (%s): %s", (int)s->process->pid,
                                    s->process->name, text);
        return;
    }
    if (reader->header.pid != (uint64_t)s->process->innermost) {
        s->inherited_from = (pid_t)reader->header.pid;
        rtl_reader_close(reader);
        return;
    }
    if (s->best && s->best->header.start_mono_ns >= reader->header.start_mono_ns) {
        rtl_reader_close(reader);
        return;
    }
    rtl_reader_close(s->best);
    snprintf(reader->link, sizeof reader->link, "%s", path);
    s->best = reader;
    s->status = RTL_READER_OK;
}

static void try_link(struct segment_search *s, const char *path)
{
    char link[sizeof LINK_TEXT + 1];
    ssize_t n = readlink(path, link, sizeof link - 1);
    if (n < 0 && (errno == EACCES || errno == EPERM) && !s->error)
        s->error = errno;
    if (n != (ssize_t)strlen(LINK_TEXT) || memcmp(link, LINK_TEXT, (size_t)n) != 0 || s->candidates >= CANDIDATES_MAX)
        return;
    s->candidates++;
    int fd = rtl_open_memfd_link(path, O_RDONLY, false);
    if (fd >= 0)
        consider_candidate(s, fd, path);
    else if ((fd == -EACCES || fd == -EPERM) && !s->error)
        s->error = -fd;
}

/* Search the descriptors of one task within the allowance: each of a thousand threads shows all descriptors of the
 * process. */
static void search_descriptors(struct segment_search *s, const char *directory)
{
    char path[sizeof "/proc/2147483647/task/2147483647/fd/2147483647"];
    DIR *dir = opendir(directory);
    if (!dir) {
        if (!s->error && (errno == EACCES || errno == EPERM))
            s->error = errno;
        return;
    }
    for (struct dirent *e; s->left > 0 && (e = readdir(dir)); s->left--) {
        if (e->d_name[0] < '0' || e->d_name[0] > '9')
            continue;
        if (snprintf(path, sizeof path, "%s/%s", directory, e->d_name) < (int)sizeof path)
            try_link(s, path);
    }
    closedir(dir);
}

/* Open the file through the mapping (root only): the program may have closed the descriptor. */
static void search_mappings(struct segment_search *s)
{
    char path[RTL_PROC_PATH_MAX];
    uint64_t from, to;
    if (!rtl_process_maps(s->process->pid, LINK_START, &from, &to))
        return;
    rtl_proc_path(path, s->process->pid, "map_files/%llx-%llx", (unsigned long long)from, (unsigned long long)to);
    int fd = rtl_open_memfd_link(path, O_RDONLY, false);
    if (fd >= 0)
        consider_candidate(s, fd, path);
}

static void search_process(struct segment_search *s)
{
    char path[RTL_PROC_PATH_MAX];
    pid_t pid = s->process->pid;
    for (int i = USUAL_FIRST; i < USUAL_LAST; i++)
        try_link(s, rtl_proc_path(path, pid, "fd/%d", i));
    if (s->best)
        return;
    s->candidates = 0;
    s->left = RTL_FILES_MAX;
    search_descriptors(s, rtl_proc_path(path, pid, "fd"));
    if (!s->best && s->process->state == 'Z' && !rtl_process_is_zombie(s->process)) {
        /* the main thread has ended; the others hold the descriptors */
        DIR *dir = opendir(rtl_proc_path(path, pid, "task"));
        for (struct dirent *e; dir && !s->best && s->left > 0 && (e = readdir(dir)); s->left--) {
            if (atoi(e->d_name) <= 0 || atoi(e->d_name) == pid)
                continue;
            search_descriptors(s, rtl_proc_path(path, pid, "task/%d/fd", atoi(e->d_name)));
        }
        if (dir)
            closedir(dir);
    }
    if (!s->best && !s->inherited_from && s->status == RTL_READER_NOT_TRACED && geteuid() == 0)
        search_mappings(s);
}

/* Read the process's clocks for the segment's times. False if they differ from ours by an unknown offset. */
static bool read_clocks(struct rtl_reader *reader, pid_t pid)
{
    int thread; /* the thread with the descriptor: /proc shows no offsets once the main thread has ended */
    return rtl_clocks_read(pid, &reader->clocks) ||
           (sscanf(reader->link, "/proc/%*d/task/%d", &thread) == 1 && rtl_clocks_read(thread, &reader->clocks));
}

/* `patience`: how long to wait for a segment that is being made, ns. */
static enum rtl_reader_status attach_reader(pid_t pid, uint64_t patience, struct rtl_reader **out, char *why,
                                            size_t why_bytes)
{
    struct rtl_process process, again;
    int error = rtl_process_read(pid, &process);
    *out = NULL;
    if (error)
        return rtl_explain_missing(pid, error, why, why_bytes);

    struct segment_search s = {
        .process = &process, .status = RTL_READER_NOT_TRACED, .why = why, .why_bytes = why_bytes};
    int pidfd = rtl_process_pidfd(process.tgid);
    search_process(&s);
    for (uint64_t waited = 0; s.being_made && s.status == RTL_READER_NOT_TRACED && waited < patience;
         waited += LOOK_NS) {
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
        s = (struct segment_search){
            .process = &process, .status = RTL_READER_NOT_TRACED, .why = why, .why_bytes = why_bytes};
        search_process(&s);
    }
    if (s.status == RTL_READER_NOT_TRACED && s.being_made) {
        s.status = rtl_explain(RTL_READER_VERSION, why, why_bytes,
                               "process %d (%s): its segment is still being made: try again", (int)pid, process.name);
    } else if (s.status == RTL_READER_OK) {
        bool known = read_clocks(s.best, pid); /* may take time: compare start times afterwards */
        bool same = rtl_process_read(pid, &again) == 0 && again.start_time == process.start_time;
        if (same && known) {
            s.best->pid = pid;
            s.best->pidfd = pidfd;
            s.best->start_time = process.start_time;
            *out = s.best;
            return RTL_READER_OK;
        }
        rtl_reader_close(s.best);
        if (same && !rtl_process_is_zombie(&again))
            s.status =
                rtl_explain(RTL_READER_PERMISSION, why, why_bytes,
                            "process %d (%s) has clocks of its own (a time namespace), and /proc/%d/timens_offsets "
                            "doesn't show their offsets: its times can't be compared with others",
                            (int)pid, process.name, (int)pid);
        else
            s.status = rtl_explain(RTL_READER_NO_PROCESS, why, why_bytes, "process %d ended while it was being opened",
                                   (int)pid);
    } else if (s.status == RTL_READER_NOT_TRACED) {
        if (s.error && !rtl_process_is_zombie(&process) && !rtl_process_is_kernel_thread(&process))
            s.status = rtl_explain_permission(&process, why, why_bytes);
        else if (s.inherited_from)
            s.status = rtl_explain(RTL_READER_NOT_TRACED, why, why_bytes,
                                   "process %d (%s) is a fork of traced process %d and not traced itself: children are "
                                   "traced once they exec. Watch -p %d",
                                   (int)pid, process.name, (int)s.inherited_from, (int)s.inherited_from);
        else if (why) /* reads maps and environment: too slow for each process in /proc */
            s.status = rtl_explain_untraced(&process, why, why_bytes);
    }
    if (pidfd >= 0)
        close(pidfd);
    return s.status;
}

enum rtl_reader_status rtl_reader_open(pid_t pid, struct rtl_reader **reader, char *why, size_t why_bytes)
{
    return attach_reader(pid, PATIENCE_NS, reader, why, why_bytes);
}

enum rtl_reader_status rtl_reader_try(pid_t pid, struct rtl_reader **reader)
{
    return attach_reader(pid, 0, reader, NULL, 0);
}

/* True if the process still has the segment: an exec keeps the pid but not the program. */
static bool still_holds(const struct rtl_reader *reader)
{
    struct stat ours, theirs;
    if (fstat(reader->fd, &ours) != 0)
        return true;
    errno = 0;
    if (stat(reader->link, &theirs) == 0 && ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino)
        return true;
    if (errno == EACCES || errno == EPERM)
        return true; /* no permission any more (the process changed its user): rely on pidfd or start time */
    return rtl_process_maps(reader->pid, LINK_START, NULL, NULL); /* the process may have closed the descriptor */
}

bool rtl_reader_alive(struct rtl_reader *reader)
{
    return !reader->pid ||
           (rtl_process_is_alive(reader->pid, reader->pidfd, reader->start_time) && still_holds(reader));
}

uint64_t rtl_reader_number(const struct rtl_reader *reader)
{
    struct stat file;
    return fstat(reader->fd, &file) == 0 ? file.st_ino : 0;
}

uid_t rtl_reader_maker(const struct rtl_reader *reader)
{
    struct stat file;
    return fstat(reader->fd, &file) == 0 ? file.st_uid : (uid_t)-1;
}

static int compare_pids(const void *a, const void *b)
{
    pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;
    return (x > y) - (x < y);
}

int rtl_discover(pid_t **pids)
{
    uint32_t room = 0;
    int count = 0;
    *pids = NULL;
    DIR *dir = opendir("/proc");
    if (!dir)
        return -errno;
    for (struct dirent *e; (e = readdir(dir));) {
        struct rtl_reader *reader;
        pid_t pid = (pid_t)atoi(e->d_name);
        if (pid <= 0)
            continue;
        enum rtl_reader_status status = rtl_reader_try(pid, &reader);
        rtl_reader_close(reader);
        if (status != RTL_READER_OK && status != RTL_READER_VERSION)
            continue; /* list a segment of another version: choosing it explains the version */
        if (!rtl_grow(pids, &room, (size_t)count + 1, sizeof **pids)) {
            free(*pids);
            *pids = NULL;
            closedir(dir);
            return -ENOMEM;
        }
        (*pids)[count++] = pid;
    }
    closedir(dir);
    if (count)
        qsort(*pids, (size_t)count, sizeof **pids, compare_pids);
    return count;
}
