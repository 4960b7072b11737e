/* Opens the library's pages by the links in /proc (page_open.h). */
#include "shm/page_open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/process.h"

enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL };

/* Write the path of the descriptor in /proc, beside the segment's own link. */
static void link_of(const struct rtl_reader *reader, uint32_t number, char path[RTL_PROC_PATH_MAX])
{
    const char *slash = strstr(reader->link, "/fd/");
    if (slash)
        snprintf(path, RTL_PROC_PATH_MAX, "%.*s%u", (int)(slash - reader->link + 4), reader->link, number);
    else
        rtl_proc_path(path, reader->pid, "fd/%u", number);
}

/* Open and check the page, and read its head. Returns a descriptor or -errno. */
static int open_page(const struct rtl_reader *reader, uint32_t number, uint64_t inode, uint64_t bytes,
                     struct rtl_control *head)
{
    char path[RTL_PROC_PATH_MAX];
    struct stat st;
    link_of(reader, number, path);
    int fd = rtl_open_memfd_link(path, O_RDWR, true);
    if (fd < 0)
        return fd;
    int seals = fcntl(fd, F_GET_SEALS);
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size == bytes && st.st_ino == inode &&
        seals >= 0 && (seals & SEALS) == SEALS && pread(fd, head, sizeof *head, 0) == (ssize_t)sizeof *head)
        return fd;
    close(fd);
    return -EBADF;
}

enum rtl_reader_status rtl_page_map(const struct rtl_reader *reader, const struct rtl_page_kind *kind, uint32_t number,
                                    uint64_t inode, void **page, char *why, size_t why_bytes)
{
    struct rtl_process process;
    struct rtl_control head;
    *page = NULL;
    int fd = open_page(reader, number, inode, kind->bytes, &head);
    if (fd == -EACCES || fd == -EPERM || fd == -EROFS) {
        if (rtl_process_read(reader->pid, &process) != 0)
            process.euid = (uid_t)-1;
        return rtl_explain(RTL_READER_PERMISSION, why, why_bytes,
                           "process %d (%s) belongs to uid %u and you are uid %u: only that user and root may %s",
                           (int)reader->pid, reader->comm, process.euid, geteuid(), kind->allows);
    }
    if (fd >= 0 && head.magic == kind->magic && head.version == kind->version && head.pid == reader->header.pid) {
        void *mapped = mmap(NULL, kind->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (mapped != MAP_FAILED)
            *page = mapped;
    }
    if (fd >= 0)
        close(fd);
    if (*page)
        return RTL_READER_OK;
    return rtl_explain(kind->missing, why, why_bytes,
                       "process %d (%s): its %s cannot be opened: has the program closed a descriptor that is not its "
                       "own?",
                       (int)reader->pid, reader->comm, kind->name);
}
