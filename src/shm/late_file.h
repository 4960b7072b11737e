/* Reads the files of /proc/PID that show the process's own memory: its arguments and its environment. */
#ifndef RTL_SHM_LATE_FILE_H
#define RTL_SHM_LATE_FILE_H

#include <sys/types.h>

enum {
    RTL_LATE_MS = 500,    /* longest wait of a caller for one file */
    RTL_LATE_THREADS = 8, /* maximum number of hanging reads; further reads fail */
};

/*
 * Read the start of "cmdline" or "environ" and terminate it, as rtl_process_file does. A thread of its own reads,
 * because the process decides when the kernel gets its memory (FUSE), and may never deliver it. Returns
 * the bytes read or -errno: -ETIMEDOUT after RTL_LATE_MS, and at once while an earlier read of this process hangs. A
 * hanging thread ends when its read returns. Pid 0 is this process. Any thread may call it.
 */
ssize_t rtl_late_file(pid_t pid, const char *file, char *buffer, size_t bytes);

#endif
