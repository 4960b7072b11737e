/* Reads the files of /proc/PID that show the process's own memory: its arguments and its environment. */
#ifndef RTL_SHM_LATE_FILE_H
#define RTL_SHM_LATE_FILE_H

#include <sys/types.h>

enum {
    RTL_LATE_MS = 500,       /* a caller waits for one file that long */
    RTL_LATE_PROMPT_MS = 20, /* shorter waits aren't counted */
    RTL_LATE_REFILL = 10,    /* a user's processes may keep readers waiting for 1/10 of the time, */
    RTL_LATE_OWED_MS = 5000, /* and for 1/10 of this in advance */
    RTL_LATE_THREADS = 128,  /* hanging reads of all other users; further reads fail */
    RTL_LATE_EACH = 2,       /* hanging reads of one other user */
    RTL_LATE_OWN = 8,        /* hanging reads of the reader's own user */
    RTL_LATE_USERS = 64,     /* users whose waits are counted at once */
};

/*
 * Read the start of "cmdline" or "environ", a constant, and terminate it, as rtl_process_file does. A thread of its own
 * reads, because the process decides when the kernel gets its memory (FUSE), and may never deliver it. Returns the
 * bytes read or -errno: -ETIMEDOUT after RTL_LATE_MS, and at once while an earlier read of this process hangs. A
 * hanging thread ends when its read returns. Pid 0 is this process. Any thread may call it.
 *
 * If processes of one user deliver late again and again, their reads return -ETIMEDOUT at once for a while, so that
 * other users' processes are read. The reader's own user has no limit in time.
 */
ssize_t rtl_late_file(pid_t pid, const char *file, char *buffer, size_t bytes);

#endif
