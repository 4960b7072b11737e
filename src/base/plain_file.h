/*
 * Opening a file whose name somebody else chose: nothing but a plain one is ever opened, for opening alone has effects
 * with others (a tape rewinds, a watchdog starts, a pipe wakes its writer).
 */
#ifndef RTL_BASE_PLAIN_FILE_H
#define RTL_BASE_PLAIN_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* For reading, what a descriptor made with O_PATH stands for; that one is closed. Else -1 and errno, 0 = not plain. */
static inline int rtl_plain_file_open(int where, struct stat *st)
{
    char path[32];
    int fd = -1;
    if (where < 0)
        return -1;
    int error = fstat(where, st) != 0 ? errno : 0;
    if (!error && S_ISREG(st->st_mode)) {
        /* through the descriptor, not the name, which may mean something else by now */
        snprintf(path, sizeof path, "/proc/self/fd/%d", where);
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        error = fd < 0 ? errno : 0;
    }
    close(where);
    errno = error;
    return fd;
}

#endif
