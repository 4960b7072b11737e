/* Opens a file whose name another program chose, if it is a regular file. Opening others has effects: a tape
 * rewinds, a watchdog starts, a pipe wakes its writer. */
#ifndef RTL_BASE_PLAIN_FILE_H
#define RTL_BASE_PLAIN_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Open for reading the file that an O_PATH descriptor stands for, and close that one. Returns -1 and errno on
 * failure; errno 0: not a regular file. */
static inline int rtl_plain_file_open(int where, struct stat *st)
{
    char path[32];
    int fd = -1;
    if (where < 0)
        return -1;
    int error = fstat(where, st) != 0 ? errno : 0;
    if (!error && S_ISREG(st->st_mode)) {
        /* by the descriptor: the name may be another file's by now */
        snprintf(path, sizeof path, "/proc/self/fd/%d", where);
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        error = fd < 0 ? errno : 0;
    }
    close(where);
    errno = error;
    return fd;
}

#endif
