/* Reads the files of /proc/PID that show the process's own memory: its arguments and its environment. */
#ifndef RTL_SHM_LATE_FILE_H
#define RTL_SHM_LATE_FILE_H

#include <sys/types.h>

enum {
    RTL_LATE_MS = 500,    /* a caller waits for one file that long */
    RTL_LATE_THREADS = 8, /* reads that hang at once; further ones fail */
};

/*
 * Read the start of "cmdline" or "environ" and terminate it, as rtl_process_file does, in a thread of its own: the
 * process decides when its memory is delivered (userfaultfd, FUSE), and may never do so. Returns the bytes read or
 * -errno: -ETIMEDOUT after RTL_LATE_MS, and at once while an earlier read of this process hangs. A thread that hangs
 * ends when its read returns. 0 is this process. Any thread may call it.
 */
ssize_t rtl_late_file(pid_t pid, const char *file, char *buffer, size_t bytes);

#endif
