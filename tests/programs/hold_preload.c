/*
 * hold_preload.c - a library to preload that holds a program at its end, so that a test can read counters that
 * disappear with the process.
 *
 * With HOLD_AT_END=FILE in the environment, the program writes "holding STATUS" into FILE when main returns or it calls
 * exit, before anything is torn down. It continues when that file or the process's parent is gone. Forked children are
 * held too if FILE contains %p, which becomes the process id; otherwise they are not held.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *path, *number; /* number: the %p in it */
static pid_t parent, self;  /* process ids of the program and its parent */

static void hold_at_end(int status)
{
    pid_t starter = getpid() == self ? parent : getppid();
    char own[4096];
    if (!path || (getpid() != self && !number))
        return;
    snprintf(own, sizeof own, "%s", path);
    if (number)
        snprintf(own, sizeof own, "%.*s%d%s", (int)(number - path), path, (int)getpid(), number + 2);
    int fd = open(own, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    dprintf(fd, "holding %d\n", status);
    close(fd);
    while (access(own, F_OK) == 0 && getppid() == starter)
        usleep(20000);
}

__attribute__((visibility("default"))) _Noreturn void exit(int status)
{
    void (*next)(int) = NULL;
    hold_at_end(status);
    *(void **)&next = dlsym(RTLD_NEXT, "exit");
    if (next)
        next(status);
    _exit(status);
}

static int (*program)(int, char **, char **);

static int held_main(int argc, char **argv, char **envp)
{
    int status = program(argc, argv, envp);
    hold_at_end(status);
    return status;
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end);
__attribute__((visibility("default"))) int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
                                                             void (*init)(void), void (*fini)(void),
                                                             void (*rtld_fini)(void), void *stack_end)
{
    int (*next)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
    *(void **)&next = dlsym(RTLD_NEXT, "__libc_start_main");
    if (!next)
        abort();
    path = getenv("HOLD_AT_END");
    if (path)
        path = strdup(path);
    number = path ? strstr(path, "%p") : NULL;
    unsetenv("HOLD_AT_END");
    program = main;
    self = getpid();
    parent = getppid();
    return next(held_main, argc, argv, init, fini, rtld_fini, stack_end);
}
