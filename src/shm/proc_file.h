/* Files of other processes: those of /proc/PID, and those below a process's root folder. */
#ifndef RTL_SHM_PROC_FILE_H
#define RTL_SHM_PROC_FILE_H

#include <sys/types.h>

/* The start of a file of /proc/PID (0: of this process), terminated; bytes read or -errno. */
ssize_t rtl_process_file(pid_t pid, const char *file, char *buffer, size_t bytes);
/*
 * Opens what is at the path as the process sees its files (0: this one), links followed in its root folder and not in
 * ours: a descriptor or -errno, -ESRCH where it has no root any more, as a zombie, and -ENOSYS without openat2 (before
 * Linux 5.6). What may be any file is opened with O_PATH (base/plain_file.h).
 */
int rtl_process_open(pid_t pid, const char *path, int flags);

#endif
