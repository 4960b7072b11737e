/* Output files that the user names. See outfile.h. */
#include "record/outfile.h"
#include "record/safe_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct rtl_outfile {
    char *path;                  /* as the user named it; NULL: written directly */
    struct rtl_safe_path at;     /* the folder and name of the output */
    struct temporary_file *part; /* until it is renamed; then NULL */
    int fd;
    bool replaces;
};

static bool refuse_output(char *why, size_t why_bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool refuse_output(char *why, size_t why_bytes, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, why_bytes, format, args);
    va_end(args);
    return false;
}

/* --- temporary files, which a signal handler deletes --- */

/*
 * Written by the thread that opens and closes files, with these signals blocked; read by the signal handler and by a
 * thread that ends the process. The entries are never freed, and `there` (release, acquire) is true only while the path
 * is complete.
 */
enum { TEMPORARY_FILES = 8 };
static struct temporary_file {
    _Atomic bool there;
    int folder; /* the output's descriptor */
    char name[NAME_MAX + 1];
} temporary_files[TEMPORARY_FILES];
static const int deadly[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGXCPU};

void rtl_outfile_clean(void)
{
    for (int i = 0; i < TEMPORARY_FILES; i++)
        if (atomic_load_explicit(&temporary_files[i].there, memory_order_acquire))
            unlinkat(temporary_files[i].folder, temporary_files[i].name, 0);
}

static void on_signal(int number)
{
    rtl_outfile_clean();
    raise(number); /* SA_RESETHAND has removed the handler: this ends the process */
}

static sigset_t block_deadly(void)
{
    sigset_t set, old;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        sigaddset(&set, deadly[i]);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    return old;
}

/* Handle only signals with the default action; an existing handler ends the process in order. */
static void watch_signals(void)
{
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) {
        struct sigaction now;
        struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESETHAND | SA_NODEFER};
        if (!sigaction(deadly[i], NULL, &now) && now.sa_handler == SIG_DFL)
            sigaction(deadly[i], &action, NULL);
    }
}

static void forget_temporary(struct rtl_outfile *file)
{
    atomic_store_explicit(&file->part->there, false, memory_order_release);
    file->part = NULL;
}

/* --- names --- */

static bool same_inode(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* True if both paths have the same folder and name, whether the file exists or not. */
static bool same_place(const char *a, const char *b)
{
    const char *names[] = {a, b};
    struct stat folder[2];
    for (int i = 0; i < 2; i++) {
        const char *slash = strrchr(names[i], '/');
        char path[PATH_MAX];
        int n = slash ? snprintf(path, sizeof path, "%.*s/", (int)(slash - names[i]), names[i])
                      : snprintf(path, sizeof path, ".");
        if (n >= (int)sizeof path || stat(path, &folder[i]))
            return false;
        names[i] = slash ? slash + 1 : names[i];
    }
    return same_inode(&folder[0], &folder[1]) && !strcmp(names[0], names[1]);
}

/* True if the path is one of the recordings or a file that SQLite keeps beside it. */
static bool is_one_of(const char *path, const struct rtl_outfile_options *o)
{
    static const char *const beside[] = {"", "-journal", "-wal", "-shm"};
    struct stat mine, other;
    bool there = !stat(path, &mine);
    for (int i = 0; i < RTL_OUTFILE_OTHERS; i++)
        for (size_t b = 0; o->others[i] && b < sizeof beside / sizeof *beside; b++) {
            char name[PATH_MAX];
            if (snprintf(name, sizeof name, "%s%s", o->others[i], beside[b]) >= (int)sizeof name)
                continue;
            if (there && !stat(name, &other) ? same_inode(&mine, &other) && S_ISREG(mine.st_mode)
                                             : same_place(path, name))
                return true;
        }
    return false;
}

/* The descriptor that a path names, such as "-" or /dev/fd/3; -1 if none. Opening such a path again would write a file
 * behind it from its beginning. */
static int descriptor_of(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (!strcmp(path, "-") || !strcmp(path, "/dev/stdout"))
        return STDOUT_FILENO;
    if (!strcmp(path, "/dev/stderr"))
        return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t length = strlen(folders[i]);
        const char *digits = path + length;
        if (!strncmp(path, folders[i], length) && *digits && strlen(digits) < 8 &&
            strspn(digits, "0123456789") == strlen(digits))
            return atoi(digits);
    }
    return -1;
}

bool rtl_outfile_is_standard_output(const char *path)
{
    return descriptor_of(path) == STDOUT_FILENO;
}

/* --- opening --- */

/* Create a temporary file with a new random name in the folder of the output. */
static bool open_temporary(struct rtl_outfile *file, const struct stat *was, char *why, size_t why_bytes)
{
    sigset_t old = block_deadly();
    struct temporary_file *part = temporary_files, *end = temporary_files + TEMPORARY_FILES;
    while (part < end && atomic_load_explicit(&part->there, memory_order_relaxed))
        part++;
    if (part < end) {
        part->folder = file->at.folder;
        file->fd = rtl_safe_path_create(part->folder, ".rtl-top-", "", was ? 0600 : 0666, part->name);
    }
    int error = part < end ? errno : EMFILE;
    if (file->fd >= 0) {
        file->part = part;
        atomic_store_explicit(&part->there, true, memory_order_release);
        watch_signals();
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (file->fd < 0)
        return refuse_output(why, why_bytes, "cannot write %s: %s", file->path, strerror(error));
    if (was) {
        mode_t mode = was->st_mode & 0777;
        /* if the group can't be set, the file's group gets the rights of "other" */
        if (fchown(file->fd, was->st_uid, was->st_gid))
            mode = (mode & 0707) | (mode & 7) << 3;
        fchmod(file->fd, mode);
    }
    return true;
}

static bool open_direct(struct rtl_outfile *file, const char *path, char *why, size_t why_bytes)
{
    struct stat info;
    int fd = descriptor_of(path);
    file->fd = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : rtl_safe_path_open(&file->at, O_WRONLY, 0);
    if (file->fd < 0 && !(fd < 0 && errno == ELOOP))
        return refuse_output(why, why_bytes, "cannot write %s: %s", path, strerror(errno));
    /* a plain file is never written in place: another process has replaced the file between two checks */
    if (fd < 0 && (fstat(file->fd, &info) || S_ISREG(info.st_mode)))
        return refuse_output(why, why_bytes, "cannot write %s: another file has just been put there", path);
    return true;
}

static bool open_at(struct rtl_outfile *file, const char *path, const struct rtl_outfile_options *o, char *why,
                    size_t why_bytes)
{
    struct stat info;
    if (descriptor_of(path) >= 0)
        return open_direct(file, path, why, why_bytes);
    if (!rtl_safe_path_find(&file->at, path, true, "cannot write", why, why_bytes))
        return false;
    bool there = rtl_safe_path_stat(&file->at, &info);
    if (!there && errno != ENOENT)
        return refuse_output(why, why_bytes, "cannot write %s: %s", path, strerror(errno));
    if (!there && file->at.linked)
        return refuse_output(why, why_bytes, "cannot write %s: it is a symbolic link that leads nowhere", path);
    if (there && S_ISDIR(info.st_mode))
        return refuse_output(why, why_bytes, "cannot write %s: it is a folder", path);
    if (there && !S_ISREG(info.st_mode))
        return open_direct(file, path, why, why_bytes);
    if (there && !o->force)
        return refuse_output(why, why_bytes, "%s exists: choose another name, or replace it with --force", path);
    if (there && rtl_safe_path_is_planted(&file->at, &info))
        return refuse_output(why, why_bytes, "cannot write %s: " RTL_PLANTED, path);
    if (!(file->path = strdup(path)))
        return refuse_output(why, why_bytes, "out of memory");
    file->replaces = there;
    return open_temporary(file, there ? &info : NULL, why, why_bytes);
}

struct rtl_outfile *rtl_outfile_open(const char *path, const struct rtl_outfile_options *o, char *why, size_t why_bytes)
{
    if (strcmp(path, "-") && is_one_of(path, o)) {
        refuse_output(why, why_bytes, "%s is the recording itself: give the output another name", path);
        return NULL;
    }
    struct rtl_outfile *file = calloc(1, sizeof *file);
    if (!file) {
        refuse_output(why, why_bytes, "out of memory");
        return NULL;
    }
    file->fd = file->at.folder = -1;
    if (open_at(file, path, o, why, why_bytes))
        return file;
    rtl_outfile_close(file);
    return NULL;
}

int rtl_outfile_fd(const struct rtl_outfile *file)
{
    return file->fd;
}

bool rtl_outfile_is_file(const struct rtl_outfile *file)
{
    return file->path != NULL;
}

/* --- renaming --- */

/* Rename without replacing a file that was created meanwhile; returns errno or 0. */
static int rename_new(const char *part, const struct rtl_safe_path *at)
{
    if (!renameat2(at->folder, part, at->folder, at->name, RENAME_NOREPLACE))
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
    if (!linkat(at->folder, part, at->folder, at->name, 0)) { /* the file system lacks RENAME_NOREPLACE */
        unlinkat(at->folder, part, 0);
        return 0;
    }
    if (errno == EEXIST || !faccessat(at->folder, at->name, F_OK, 0))
        return EEXIST;
    return renameat(at->folder, part, at->folder, at->name) ? errno : 0; /* hard links are missing, too */
}

bool rtl_outfile_place(struct rtl_outfile *file, char *why, size_t why_bytes)
{
    if (!file->part)
        return true;
    if (file->replaces)
        fdatasync(file->fd); /* without it a crash of the machine may leave neither the old file nor the new one */
    int error = 0;
    if (!file->replaces)
        error = rename_new(file->part->name, &file->at);
    else if (renameat(file->at.folder, file->part->name, file->at.folder, file->at.name))
        error = errno;
    if (error == EEXIST)
        return refuse_output(why, why_bytes, "%s exists by now: choose another name, or replace it with --force",
                             file->path);
    if (error)
        return refuse_output(why, why_bytes, "cannot write %s: %s", file->path, strerror(error));
    sigset_t old = block_deadly();
    forget_temporary(file);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return true;
}

void rtl_outfile_close(struct rtl_outfile *file)
{
    if (!file)
        return;
    if (file->part) {
        sigset_t old = block_deadly();
        unlinkat(file->part->folder, file->part->name, 0);
        forget_temporary(file);
        pthread_sigmask(SIG_SETMASK, &old, NULL);
    }
    if (file->fd >= 0)
        close(file->fd);
    rtl_safe_path_release(&file->at);
    free(file->path);
    free(file);
}
