/*
 * interpose.c - where the model takes the place of the system: the libc calls by which the thunk reaches the driver.
 *
 * open of /dev/kfd and the render nodes gives a descriptor of the memory file, ioctl on it goes to kfd_ioctl.c, fopen
 * and opendir of the topology are answered from memory, _exit lets the engine write its truth. Everything else goes on
 * to libc untouched; no path is looked at twice.
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
#include <sys/syscall.h>
#include <unistd.h>

/* the next definition of a function; looked up once, racing threads find the same */
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
NEXT(void, _exit, int)

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
    return next(path, flags, mode);
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

/* what _FORTIFY_SOURCE makes of open without a mode */
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
    return real_openat()(dir, path, flags, mode);
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
        vg_say("DRM ioctl 0x%02x (%u bytes) isn't modelled: EINVAL", (unsigned)_IOC_NR(request),
               (unsigned)_IOC_SIZE(request));
        errno = EINVAL;
        return -1;
    }
    return real_ioctl()(fd, request, arg);
}

/* To learn where doorbells are mapped. The system call and not the next mmap: this is called before dlsym works, and
 * from within it. */
static void *map(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
    bool ours = fd >= 0 && !(flags & MAP_ANONYMOUS) && vg_mem_is_device_fd(fd);
    void *p = ours ? vg_mem_map(at, len, prot, flags, (uint64_t)offset) : NULL;
    if (!p)
        p = (void *)syscall(SYS_mmap, at, len, prot, flags, fd, offset);
    if (ours && p != MAP_FAILED && vg_is_doorbell_offset((uint64_t)offset))
        vg_bell_add((uint64_t)(uintptr_t)p, len);
    return p;
}

VG_EXPORT void *mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
    return map(at, len, prot, flags, fd, offset);
}

VG_EXPORT void *mmap64(void *at, size_t len, int prot, int flags, int fd, off64_t offset)
{
    return map(at, len, prot, flags, fd, offset);
}

static FILE *topology_stream(const char *path)
{
    size_t len;
    char *text = vg_topology_file(path, &len);
    if (!text) {
        errno = ENOENT;
        return NULL;
    }
    /* the stream owns a buffer of its own; one byte more because fmemopen ends what is written with a '\0' */
    FILE *f = fmemopen(NULL, len + 1, "w+");
    if (f) {
        fwrite(text, 1, len, f);
        rewind(f);
    }
    free(text);
    return f;
}

VG_EXPORT FILE *fopen(const char *path, const char *mode);
VG_EXPORT FILE *fopen(const char *path, const char *mode)
{
    return vg_is_topology_path(path) ? topology_stream(path) : real_fopen()(path, mode);
}

VG_EXPORT FILE *fopen64(const char *path, const char *mode);
VG_EXPORT FILE *fopen64(const char *path, const char *mode)
{
    return vg_is_topology_path(path) ? topology_stream(path) : real_fopen64()(path, mode);
}

/* --- topology folders: our own streams, found in a list; nothing but opendir, readdir and closedir knows them --- */

struct folder {
    struct folder *next;
    char *names, *at;
    unsigned pos;
    union {
        struct dirent d;
        struct dirent64 d64;
    };
};

static pthread_mutex_t folder_lock = PTHREAD_MUTEX_INITIALIZER;
static struct folder *folders;        /* under folder_lock */
static _Atomic unsigned folder_count; /* written under folder_lock, read relaxed: 0 spares readdir the lock */

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
    if (!vg_is_topology_path(path))
        return real_opendir()(path);
    struct folder *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->names = f->at = vg_topology_dir(path);
    if (!f->names) {
        free(f);
        errno = ENOENT;
        return NULL;
    }
    pthread_mutex_lock(&folder_lock);
    f->next = folders;
    folders = f;
    atomic_fetch_add_explicit(&folder_count, 1, memory_order_relaxed);
    pthread_mutex_unlock(&folder_lock);
    return (DIR *)(void *)f;
}

/* dirent and dirent64 are the same on this architecture */
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
    f->d.d_type = DT_DIR;
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

/* --- coming and going --- */

VG_EXPORT _Noreturn void _exit(int status);
VG_EXPORT _Noreturn void _exit(int status)
{
    vg_engine_flush();
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

/* The child of a fork has none of our threads: it gets a machine whose GPUs nobody has opened. */
static void in_child(void)
{
    pthread_mutex_init(&folder_lock, NULL);
    vg_engine_reset_after_fork();
    vg_bell_reset_after_fork();
    vg_events_reset_after_fork();
    vg_kernels_reset_after_fork();
    vg_mem_reset_after_fork();
}

__attribute__((constructor)) static void start(int argc, char **argv)
{
    vg_show_program(argc, argv);
    vg_config_load();
    pthread_atfork(vg_engine_lock, vg_engine_unlock, in_child);
}

__attribute__((destructor)) static void stop(void)
{
    vg_engine_flush();
}
