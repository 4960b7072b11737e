/*
 * intercept_refuse_preload.c - a library to preload that makes system calls fail for librtl.so alone, to test how it
 * copes.
 *
 * REFUSE=memfd: memfd_create fails for its segment. REFUSE=thread: pthread_create fails for calls from it.
 * REFUSE=membarrier: the system call does not exist. REFUSE=tsc: the kernel's clock source is not the time stamp
 * counter. REFUSE=populate: MADV_POPULATE_WRITE fails for all, as before Linux 5.14. REFUSE=pages: it fails in the
 * library's worker, for lack of memory. REFUSE=lock: every lock that the runtime acquires is a cancellation point, as
 * it is when another thread holds it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define INSTEAD __attribute__((visibility("default")))

static int refused(const char *what)
{
    const char *wanted = getenv("REFUSE");
    return wanted && strstr(wanted, what); /* REFUSE may have several words */
}

INSTEAD int memfd_create(const char *name, unsigned flags)
{
    int (*real)(const char *, unsigned) = (int (*)(const char *, unsigned))dlsym(RTLD_NEXT, "memfd_create");
    if (refused("memfd") && strcmp(name, "rtl-segment") == 0) {
        errno = ENOSYS;
        return -1;
    }
    return real(name, flags);
}

INSTEAD int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *data)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
        (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
    Dl_info caller;
    if (refused("thread") && dladdr(__builtin_return_address(0), &caller) && strstr(caller.dli_fname, "librtl.so"))
        return EAGAIN;
    return real(thread, attributes, run, data);
}

INSTEAD int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static int (*real)(pthread_mutex_t *);
    static int wanted = -1;
    Dl_info caller;
    if (!real) /* no recursion: the dynamic linker locks without this function */
        real = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
    if (wanted < 0)
        wanted = refused("lock");
    if (wanted && dladdr(__builtin_return_address(0), &caller) && strstr(caller.dli_fname, "libhsa-runtime64"))
        pthread_testcancel();
    return real(mutex);
}

INSTEAD int madvise(void *address, size_t length, int advice)
{
    int (*real)(void *, size_t, int) = (int (*)(void *, size_t, int))dlsym(RTLD_NEXT, "madvise");
    char thread[16] = "";
    if (advice == MADV_POPULATE_WRITE && refused("populate")) {
        errno = EINVAL;
        return -1;
    }
    if (advice == MADV_POPULATE_WRITE && refused("pages") && prctl(PR_GET_NAME, thread, 0, 0, 0) == 0 &&
        strcmp(thread, "rtl-worker") == 0) {
        errno = ENOMEM;
        return -1;
    }
    return real(address, length, advice);
}

INSTEAD long syscall(long number, ...)
{
    long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    long a[6];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    if (refused("membarrier") && number == SYS_membarrier) {
        errno = ENOSYS;
        return -1;
    }
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

INSTEAD int open(const char *path, int flags, ...)
{
    int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    if (refused("tsc") && strstr(path, "current_clocksource")) {
        errno = ENOENT;
        return -1;
    }
    return real(path, flags, mode);
}
