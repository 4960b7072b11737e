/* Files of other processes: those of /proc/PID, and those below a process's root folder. */
#ifndef RTL_SHM_PROC_FILE_H
#define RTL_SHM_PROC_FILE_H

#include <sys/types.h>

/* Reads the start of a file of /proc/PID (0: this process), terminated. Returns the bytes read or -errno. */
ssize_t rtl_process_file(pid_t pid, const char *file, char *buffer, size_t bytes);
/*
 * Opens the path below the root folder of the process (0: this one) and follows links within that folder. Returns a
 * descriptor or -errno: -ESRCH if the process has no root any more (a zombie), -ENOSYS without openat2 (before Linux
 * 5.6). Callers open untrusted paths with O_PATH (base/plain_file.h).
 */
int rtl_process_open(pid_t pid, const char *path, int flags);

#endif
