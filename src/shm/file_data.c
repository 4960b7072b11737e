/* Data in sparse files. See file_data.h. */
#include "shm/file_data.h"

#include <errno.h>
#include <unistd.h>

bool rtl_file_read(int fd, void *to, size_t bytes, uint64_t at)
{
    char *out = to;
    while (bytes) {
        ssize_t n = pread(fd, out, bytes, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        out += n;
        at += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return true;
}

bool rtl_file_data_next(int fd, struct rtl_file_data *known, uint64_t at, uint64_t *from, uint64_t *to)
{
    const off_t nowhere = INT64_MAX;
    if ((off_t)at < known->asked || (off_t)at >= known->to) {
        off_t data = lseek(fd, (off_t)at, SEEK_DATA), hole = data < 0 ? -1 : lseek(fd, data, SEEK_HOLE);
        if (data < 0 && errno == ENXIO) /* a hole up to the end of the file */
            data = hole = nowhere;
        if (data < 0 || hole < 0)
            return false;
        *known = (struct rtl_file_data){(off_t)at, data, hole};
    }
    *from = (uint64_t)((off_t)at > known->from ? (off_t)at : known->from);
    *to = (uint64_t)known->to;
    return true;
}
