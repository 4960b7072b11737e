/* Opens and reads files of other processes. See proc_file.h. */
#include "shm/proc_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *rtl_proc_path(char path[RTL_PROC_PATH_MAX], pid_t pid, const char *format, ...)
{
    va_list args;
    int used = pid ? snprintf(path, RTL_PROC_PATH_MAX, "/proc/%d/", (int)pid)
                   : snprintf(path, RTL_PROC_PATH_MAX, "/proc/self/");
    va_start(args, format);
    vsnprintf(path + used, (size_t)(RTL_PROC_PATH_MAX - used), format, args);
    va_end(args);
    return path;
}

int rtl_proc_open(pid_t pid, const char *file, int flags)
{
    char path[RTL_PROC_PATH_MAX];
    return open(rtl_proc_path(path, pid, "%s", file), flags | O_CLOEXEC);
}

FILE *rtl_proc_fopen(pid_t pid, const char *file)
{
    char path[RTL_PROC_PATH_MAX];
    return fopen(rtl_proc_path(path, pid, "%s", file), "re");
}

ssize_t rtl_process_file(pid_t pid, const char *file, char *buffer, size_t bytes)
{
    size_t used = 0;
    ssize_t n = 0;
    int fd = rtl_proc_open(pid, file, O_RDONLY), error = fd < 0 ? errno : 0;
    while (!error && used < bytes - 1 && (n = read(fd, buffer + used, bytes - 1 - used)) != 0) {
        error = n < 0 && errno != EINTR ? errno : 0;
        used += n > 0 ? (size_t)n : 0;
    }
    if (fd >= 0)
        close(fd);
    buffer[used] = '\0';
    return error && !used ? -error : (ssize_t)used;
}

int rtl_open_in_root(int root, const char *path, int flags)
{
    struct open_how how = {.flags = (uint64_t)flags | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
    return root < 0 ? -1 : (int)syscall(SYS_openat2, root, path, &how, sizeof how);
}

int rtl_process_open(pid_t pid, const char *path, int flags)
{
    int root = pid ? rtl_proc_open(pid, "root", O_PATH | O_DIRECTORY) : open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return -ESRCH;
    int fd = rtl_open_in_root(root, path, flags), error = errno;
    close(root);
    return fd < 0 ? -error : fd;
}
