/*
 * interpose.c - the interposed libc calls by which the thunk and tools reach the driver.
 *
 * open of /dev/kfd and the render nodes returns a descriptor of the memory file; ioctl on it goes to kfd_ioctl.c. The
 * GPUs' files in /sys are answered from memory. _exit first lets the engine write its truth. All other calls go to libc
 * unchanged.
 */
#include "vgpu.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The next definition of a function. It is looked up once; racing threads find the same one. */
#define NEXT(ret, name, ...)                                                              \
    static _Atomic(ret(*)(__VA_ARGS__)) next_##name;                                      \
    static ret (*real_##name(void))(__VA_ARGS__)                                          \
    {                                                                                     \
        ret (*f)(__VA_ARGS__) = atomic_load_explicit(&next_##name, memory_order_relaxed); \
        if (!f) {                                                                         \
            *(void **)&f = dlsym(RTLD_NEXT, #name);                                       \
            atomic_store_explicit(&next_##name, f, memory_order_relaxed);                 \
        }                                                                                 \
        return f;                                                                         \
    }

NEXT(int, open, const char *, int, ...)
NEXT(int, open64, const char *, int, ...)
NEXT(int, openat, int, const char *, int, ...)
NEXT(int, ioctl, int, unsigned long, ...)
NEXT(FILE *, fopen, const char *, const char *)
NEXT(FILE *, fopen64, const char *, const char *)
NEXT(DIR *, opendir, const char *)
NEXT(int, closedir, DIR *)
NEXT(struct dirent *, readdir, DIR *)
NEXT(struct dirent64 *, readdir64, DIR *)
NEXT(int, stat, const char *, struct stat *)
NEXT(int, stat64, const char *, struct stat64 *)
NEXT(int, lstat, const char *, struct stat *)
NEXT(int, lstat64, const char *, struct stat64 *)
NEXT(int, fstatat, int, const char *, struct stat *, int)
NEXT(int, fstatat64, int, const char *, struct stat64 *, int)
NEXT(int, statx, int, const char *, int, unsigned, struct statx *)
NEXT(int, access, const char *, int)
NEXT(ssize_t, readlinkat, int, const char *, char *, size_t)
NEXT(ssize_t, readlink, const char *, char *, size_t)
NEXT(void, _exit, int)

/* Return a descriptor from which a text can be read. If RLIMIT_FSIZE is too small for a memfd, it is a pipe. */
static int text_fd(const char *path, const char *text, size_t len, unsigned flags)
{
    struct rlimit limit;
    int ends[2];
    if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur >= len) {
        ends[0] = ends[1] = memfd_create("sysfs", flags & O_CLOEXEC ? MFD_CLOEXEC : 0);
    } else if (pipe2(ends, (int)(flags & O_CLOEXEC) | O_NONBLOCK)) {
        return -1;
    }
    if (ends[1] >= 0 && write(ends[1], text, len) != (ssize_t)len) /* a pipe that is too small: the text is cut */
        vg_log("%s: out of memory", path);
    if (ends[0] != ends[1])
        close(ends[1]);
    else if (ends[0] >= 0)
        lseek(ends[0], 0, SEEK_SET);
    return ends[0];
}

/* Open one of the model's files in /sys. -1 with errno: it cannot be written. -2: the path is not the model's. */
static int sys_open(const char *path, int flags)
{
    size_t len;
    if (!path || strncmp(path, "/sys/", 5))
        return -2;
    char *text = vg_is_topology_path(path) ? vg_topology_file(path, &len) : NULL;
    if (!text)
        text = vg_sysfs_file(path, &len);
    if (!text)
        return -2;
    int fd = -1;
    if ((flags & O_ACCMODE) != O_RDONLY)
        errno = EACCES;
    else
        fd = text_fd(path, text, len, (unsigned)flags);
    free(text);
    return fd;
}

static bool is_device(const char *path)
{
    if (!path || strncmp(path, "/dev/", 5))
        return false;
    if (!strcmp(path, "/dev/kfd"))
        return true;
    if (strncmp(path, "/dev/dri/renderD", 16))
        return false;
    char *end;
    long minor = strtol(path + 16, &end, 10);
    return !*end && minor >= 128 && minor < 128 + vg_cfg.gpus;
}

static int open_path(const char *path, int flags, mode_t mode, int (*next)(const char *, int, ...))
{
    if (is_device(path))
        return vg_mem_dup(flags & O_CLOEXEC);
    int fd = sys_open(path, flags);
    return fd == -2 ? next(path, flags, mode) : fd;
}

static mode_t mode_of(int flags, va_list ap)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
}

VG_EXPORT int open(const char *path, int flags, ...);
VG_EXPORT int open(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = mode_of(flags, ap);
    va_end(ap);
    return open_path(path, flags, mode, real_open());
}

VG_EXPORT int open64(const char *path, int flags, ...);
VG_EXPORT int open64(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = mode_of(flags, ap);
    va_end(ap);
    return open_path(path, flags, mode, real_open64());
}

/* _FORTIFY_SOURCE turns open without a mode into this function. */
VG_EXPORT int __open_2(const char *path, int flags);
VG_EXPORT int __open_2(const char *path, int flags)
{
    return open_path(path, flags, 0, real_open());
}

VG_EXPORT int __open64_2(const char *path, int flags);
VG_EXPORT int __open64_2(const char *path, int flags)
{
    return open_path(path, flags, 0, real_open64());
}

VG_EXPORT int openat(int dir, const char *path, int flags, ...);
VG_EXPORT int openat(int dir, const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = mode_of(flags, ap);
    va_end(ap);
    if (is_device(path))
        return vg_mem_dup(flags & O_CLOEXEC);
    int fd = sys_open(path, flags);
    return fd == -2 ? real_openat()(dir, path, flags, mode) : fd;
}

VG_EXPORT int ioctl(int fd, unsigned long request, ...);
VG_EXPORT int ioctl(int fd, unsigned long request, ...)
{
    va_list ap;
    va_start(ap, request);
    void *arg = va_arg(ap, void *);
    va_end(ap);
    unsigned type = _IOC_TYPE(request);
    if ((type == 'K' || type == 'd') && vg_mem_is_device_fd(fd)) {
        if (type == 'K')
            return vg_kfd_ioctl(request, arg);
        return vg_drm_ioctl(request, arg);
    }
    return real_ioctl()(fd, request, arg);
}

/* Intercepted to learn where doorbells are mapped. It makes the system call instead of calling the next mmap, because
 * it runs before and inside dlsym. */
static void *map_file(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
    bool ours = fd >= 0 && !(flags & MAP_ANONYMOUS) && vg_mem_is_device_fd(fd);
    void *p = ours ? vg_mem_map(at, len, prot, flags, (uint64_t)offset) : NULL;
    if (!p)
        p = (void *)syscall(SYS_mmap, at, len, prot, flags, fd, offset);
    if (ours && p != MAP_FAILED && vg_is_doorbell_offset((uint64_t)offset)) {
        syscall(SYS_madvise, p, len,
                MADV_DONTFORK); /* the driver's doorbells are not mapped in a forked child either */
        vg_bell_add((uint64_t)(uintptr_t)p, len);
    }
    return p;
}

VG_EXPORT void *mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
    return map_file(at, len, prot, flags, fd, offset);
}

VG_EXPORT void *mmap64(void *at, size_t len, int prot, int flags, int fd, off64_t offset)
{
    return map_file(at, len, prot, flags, fd, offset);
}

/* The C++ library reads from the stream's descriptor, so the stream needs one. */
static FILE *sys_stream(const char *path, const char *mode, FILE *(*next)(const char *, const char *))
{
    int fd = sys_open(path, mode[0] == 'r' && !strchr(mode, '+') ? O_RDONLY | O_CLOEXEC : O_RDWR);
    if (fd == -2 && vg_is_topology_path(path)) {
        errno = ENOENT;
        return NULL;
    }
    return fd == -2 ? next(path, mode) : fd < 0 ? NULL : fdopen(fd, "r");
}

VG_EXPORT FILE *fopen(const char *path, const char *mode);
VG_EXPORT FILE *fopen(const char *path, const char *mode)
{
    return sys_stream(path, mode, real_fopen());
}

VG_EXPORT FILE *fopen64(const char *path, const char *mode);
VG_EXPORT FILE *fopen64(const char *path, const char *mode)
{
    return sys_stream(path, mode, real_fopen64());
}

/* --- queries about /sys: 1 with the answer for a path of the model, 0 for any other --- */

static bool sys_stat(const char *path, bool follow, struct stat *out)
{
    char to[512];
    size_t len = 0;
    if (!path || strncmp(path, "/sys/", 5))
        return false;
    bool is_link = !follow && vg_sysfs_link(path, to, sizeof to);
    char *text = is_link ? NULL : vg_sysfs_file(path, &len), *names = NULL;
    if (!is_link && !text)
        names = vg_sysfs_dir(path);
    if (!is_link && !text && !names && vg_is_topology_path(path)) {
        text = vg_topology_file(path, &len);
        names = text ? NULL : vg_topology_dir(path);
    }
    bool found = is_link || text || names;
    if (found) {
        memset(out, 0, sizeof *out);
        out->st_mode = is_link ? S_IFLNK | 0777 : text ? S_IFREG | 0444 : S_IFDIR | 0555;
        out->st_size = text ? 4096 : 0;
        out->st_ino = vg_sysfs_number(path, follow);
        out->st_dev = 0x17;
        out->st_nlink = 1;
        out->st_blksize = 4096;
    }
    free(text);
    free(names);
    return found;
}

_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "x86-64 only");

VG_EXPORT int stat(const char *path, struct stat *out)
{
    return sys_stat(path, true, out) ? 0 : real_stat()(path, out);
}

VG_EXPORT int stat64(const char *path, struct stat64 *out)
{
    return sys_stat(path, true, (struct stat *)(void *)out) ? 0 : real_stat64()(path, out);
}

VG_EXPORT int lstat(const char *path, struct stat *out)
{
    return sys_stat(path, false, out) ? 0 : real_lstat()(path, out);
}

VG_EXPORT int lstat64(const char *path, struct stat64 *out)
{
    return sys_stat(path, false, (struct stat *)(void *)out) ? 0 : real_lstat64()(path, out);
}

VG_EXPORT int fstatat(int dir, const char *path, struct stat *out, int flags)
{
    return sys_stat(path, !(flags & AT_SYMLINK_NOFOLLOW), out) ? 0 : real_fstatat()(dir, path, out, flags);
}

VG_EXPORT int fstatat64(int dir, const char *path, struct stat64 *out, int flags)
{
    return sys_stat(path, !(flags & AT_SYMLINK_NOFOLLOW), (struct stat *)(void *)out)
               ? 0
               : real_fstatat64()(dir, path, out, flags);
}

VG_EXPORT int statx(int dir, const char *path, int flags, unsigned mask, struct statx *out)
{
    struct stat found;
    if (!sys_stat(path, !(flags & AT_SYMLINK_NOFOLLOW), &found))
        return real_statx()(dir, path, flags, mask, out);
    memset(out, 0, sizeof *out);
    out->stx_mask = STATX_BASIC_STATS;
    out->stx_mode = (uint16_t)found.st_mode;
    out->stx_size = (uint64_t)found.st_size;
    out->stx_ino = found.st_ino;
    out->stx_nlink = 1;
    out->stx_blksize = 4096;
    return 0;
}

VG_EXPORT int access(const char *path, int mode)
{
    struct stat found;
    if (!sys_stat(path, true, &found))
        return real_access()(path, mode);
    if (!(mode & W_OK))
        return 0;
    errno = EACCES;
    return -1;
}

static ssize_t sys_link(const char *path, char *out, size_t size)
{
    char to[512];
    if (strncmp(path, "/sys/", 5) != 0 || !vg_sysfs_link(path, to, sizeof to))
        return -1;
    size_t n = strlen(to) < size ? strlen(to) : size;
    memcpy(out, to, n);
    return (ssize_t)n;
}

VG_EXPORT ssize_t readlink(const char *path, char *out, size_t size)
{
    ssize_t n = sys_link(path, out, size);
    return n < 0 ? real_readlink()(path, out, size) : n;
}

VG_EXPORT ssize_t readlinkat(int dir, const char *path, char *out, size_t size)
{
    ssize_t n = sys_link(path, out, size);
    return n < 0 ? real_readlinkat()(dir, path, out, size) : n;
}

/* --- folders in /sys: the model's own streams, kept in a list; only opendir, readdir and closedir know them --- */

struct folder {
    struct folder *next;
    char *names, *at;
    unsigned pos;
    unsigned char type; /* d_type of its entries */
    union {
        struct dirent d;
        struct dirent64 d64;
    };
};

static pthread_mutex_t folder_lock = PTHREAD_MUTEX_INITIALIZER;
static struct folder *folders;        /* under folder_lock */
static _Atomic unsigned folder_count; /* written under folder_lock, read relaxed: at 0 readdir skips the lock */

static struct folder *our_folder(DIR *d, bool remove)
{
    struct folder *found = NULL;
    if (!atomic_load_explicit(&folder_count, memory_order_relaxed))
        return NULL;
    pthread_mutex_lock(&folder_lock);
    for (struct folder **p = &folders; *p; p = &(*p)->next)
        if ((void *)*p == (void *)d) {
            found = *p;
            if (remove) {
                *p = found->next;
                atomic_fetch_sub_explicit(&folder_count, 1, memory_order_relaxed);
            }
            break;
        }
    pthread_mutex_unlock(&folder_lock);
    return found;
}

VG_EXPORT DIR *opendir(const char *path);
VG_EXPORT DIR *opendir(const char *path)
{
    if (strncmp(path, "/sys/", 5) != 0)
        return real_opendir()(path);
    char *names = vg_sysfs_dir(path);
    if (!names && vg_is_topology_path(path)) {
        names = vg_topology_dir(path);
        if (!names)
            errno = ENOENT;
    } else if (!names) {
        return real_opendir()(path);
    }
    struct folder *f = names ? calloc(1, sizeof *f) : NULL;
    if (!f) {
        free(names);
        return NULL;
    }
    f->names = f->at = names;
    f->type = vg_is_topology_path(path) ? DT_DIR : DT_UNKNOWN; /* DT_UNKNOWN makes the reader call stat */
    pthread_mutex_lock(&folder_lock);
    f->next = folders;
    folders = f;
    atomic_fetch_add_explicit(&folder_count, 1, memory_order_relaxed);
    pthread_mutex_unlock(&folder_lock);
    return (DIR *)(void *)f;
}

/* dirent and dirent64 are equal on this architecture. */
_Static_assert(sizeof(struct dirent) == sizeof(struct dirent64), "x86-64 only");

static struct dirent *next_entry(struct folder *f)
{
    const char *name = f->pos == 0 ? "." : f->pos == 1 ? ".." : f->at;
    if (!*name)
        return NULL;
    if (f->pos++ >= 2)
        f->at += strlen(f->at) + 1;
    snprintf(f->d.d_name, sizeof f->d.d_name, "%s", name);
    f->d.d_ino = f->pos;
    f->d.d_type = f->type;
    f->d.d_reclen = sizeof f->d;
    return &f->d;
}

VG_EXPORT struct dirent *readdir(DIR *d);
VG_EXPORT struct dirent *readdir(DIR *d)
{
    struct folder *f = our_folder(d, false);
    return f ? next_entry(f) : real_readdir()(d);
}

VG_EXPORT struct dirent64 *readdir64(DIR *d);
VG_EXPORT struct dirent64 *readdir64(DIR *d)
{
    struct folder *f = our_folder(d, false);
    return f ? (struct dirent64 *)(void *)next_entry(f) : real_readdir64()(d);
}

VG_EXPORT int closedir(DIR *d);
VG_EXPORT int closedir(DIR *d)
{
    struct folder *f = our_folder(d, true);
    if (!f)
        return real_closedir()(d);
    free(f->names);
    free(f);
    return 0;
}

/* --- fork and exit --- */

VG_EXPORT _Noreturn void _exit(int status);
VG_EXPORT _Noreturn void _exit(int status)
{
    vg_meet_leave();
    vg_engine_flush();
    vg_execute_end();
    if (real__exit())
        real__exit()(status);
    for (;;)
        syscall(SYS_exit_group, status);
}

VG_EXPORT _Noreturn void _Exit(int status);
VG_EXPORT _Noreturn void _Exit(int status)
{
    _exit(status);
}

/* The child of a fork has none of these threads: reset to a machine whose GPUs are not open. */
static void in_child(void)
{
    pthread_mutex_init(&folder_lock, NULL);
    vg_engine_reset_after_fork();
    vg_execute_reset_after_fork();
    vg_bell_reset_after_fork();
    vg_events_reset_after_fork();
    vg_kernels_reset_after_fork();
    vg_meet_reset_after_fork();
    vg_mem_reset_after_fork();
}

__attribute__((constructor)) static void load_model(int argc, char **argv)
{
    vg_show_program(argc, argv);
    vg_config_load();
    pthread_atfork(vg_engine_lock, vg_engine_unlock, in_child);
}

__attribute__((destructor)) static void unload_model(void)
{
    vg_meet_leave();
    vg_engine_flush();
    vg_execute_end();
}
