/* Files of other processes: those of /proc/PID, and those below a process's root folder. */
#ifndef RTL_SHM_PROC_FILE_H
#define RTL_SHM_PROC_FILE_H

#include <stdio.h>
#include <sys/types.h>

enum { RTL_PROC_PATH_MAX = 96 };

/* Write the path of a file in /proc/PID (0: this process) and return it. */
__attribute__((format(printf, 3, 4))) const char *rtl_proc_path(char path[RTL_PROC_PATH_MAX], pid_t pid,
                                                                const char *format, ...);
/* Open a file of /proc/PID; a descriptor, or -1 and errno. */
int rtl_proc_open(pid_t pid, const char *file, int flags);
FILE *rtl_proc_fopen(pid_t pid, const char *file);

/* Read the start of a file of /proc/PID and terminate it. Returns the bytes read or -errno. */
ssize_t rtl_process_file(pid_t pid, const char *file, char *buffer, size_t bytes);
/*
 * Open the path below the root folder of the process (0: this one), following links within that folder. Returns a
 * descriptor or -errno: -ESRCH if the process has no root any more (a zombie), -ENOSYS without openat2 (before Linux
 * 5.6). Callers open untrusted paths with O_PATH (base/plain_file.h).
 */
int rtl_process_open(pid_t pid, const char *path, int flags);
/* As above, from a descriptor of the root folder or -1. Returns a descriptor, or -1 and errno. */
int rtl_open_in_root(int root, const char *path, int flags);

#endif
