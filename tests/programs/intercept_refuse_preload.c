/*
 * Makes the system refuse things to librtl.so alone, for tests of what it does then (LD_PRELOAD).
 *
 * REFUSE=memfd: memfd_create fails for its segment. REFUSE=thread: pthread_create fails for calls from it.
 * REFUSE=membarrier: there is no such system call. REFUSE=tsc: the kernel doesn't keep time by the time stamp counter.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define INSTEAD __attribute__((visibility("default")))

static int refused(const char *what)
{
    const char *wanted = getenv("REFUSE");
    return wanted && strcmp(wanted, what) == 0;
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
