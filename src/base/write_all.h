/* Writes all bytes to a descriptor, also after interrupts and short writes. */
#ifndef RTL_BASE_WRITE_ALL_H
#define RTL_BASE_WRITE_ALL_H

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

/* False with errno set: a part may have been written. */
static inline bool rtl_write_all(int fd, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size) {
        ssize_t n = write(fd, at, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            errno = n ? errno : ENOSPC;
            return false;
        }
        at += n;
        size -= (size_t)n;
    }
    return true;
}

#endif
