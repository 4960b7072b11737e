/* Opens the library's pages by the links in /proc (page_open.h). */
#include "shm/page_open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL };

/* The descriptor's link in /proc: beside the one where the segment was found. */
static void link_of(const struct rtl_reader *reader, uint32_t number, char *path, size_t bytes)
{
    const char *slash = strstr(reader->link, "/fd/");
    if (slash)
        snprintf(path, bytes, "%.*s%u", (int)(slash - reader->link + 4), reader->link, number);
    else
        snprintf(path, bytes, "/proc/%d/fd/%u", (int)reader->pid, number);
}

int rtl_page_open(const struct rtl_reader *reader, uint32_t number, uint64_t inode, uint64_t bytes, void *first,
                  size_t first_bytes)
{
    char path[96];
    struct stat st;
    link_of(reader, number, path, sizeof path);
    int fd = rtl_open_memfd_link(path, O_RDWR, true);
    if (fd < 0)
        return fd;
    int seals = fcntl(fd, F_GET_SEALS);
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size == bytes && st.st_ino == inode &&
        seals >= 0 && (seals & SEALS) == SEALS && pread(fd, first, first_bytes, 0) == (ssize_t)first_bytes)
        return fd;
    close(fd);
    return -EBADF;
}
