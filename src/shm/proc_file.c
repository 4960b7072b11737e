/* Opens and reads files of other processes. See proc_file.h. */
#include "shm/proc_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

ssize_t rtl_process_file(pid_t pid, const char *file, char *buffer, size_t bytes)
{
    char path[64], number[16] = "self";
    size_t used = 0;
    ssize_t n = 0;
    if (pid)
        snprintf(number, sizeof number, "%d", (int)pid);
    snprintf(path, sizeof path, "/proc/%s/%s", number, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int error = fd < 0 ? errno : 0;
    while (!error && used < bytes - 1 && (n = read(fd, buffer + used, bytes - 1 - used)) != 0) {
        error = n < 0 && errno != EINTR ? errno : 0;
        used += n > 0 ? (size_t)n : 0;
    }
    if (fd >= 0)
        close(fd);
    buffer[used] = '\0';
    return error && !used ? -error : (ssize_t)used;
}

int rtl_process_open(pid_t pid, const char *path, int flags)
{
    char folder[64] = "/";
    struct open_how how = {.flags = (uint64_t)flags | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
    if (pid)
        snprintf(folder, sizeof folder, "/proc/%d/root", (int)pid);
    int root = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return -ESRCH;
    int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof how), error = errno;
    close(root);
    return fd < 0 ? -error : fd;
}
