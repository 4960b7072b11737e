/*
 * What /proc tells about a process, and why one can't be watched, in words for its user.
 */
#ifndef RTL_SHM_PROCESS_H
#define RTL_SHM_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "shm/proc_file.h"
#include "shm/segment_reader.h"

enum { RTL_FILES_MAX = 1 << 16 }; /* open files of one process that are looked at, at most; of all tasks */

struct rtl_process {
    pid_t pid;       /* as asked for; may be a thread's */
    pid_t tgid;      /* its process */
    pid_t innermost; /* the process's number in its own pid namespace: what getpid() tells it */
    char state;      /* R S D T Z X ... */
    uint64_t flags;  /* PF_* */
    uint64_t threads;
    uint64_t start_time; /* clock ticks since boot */
    uid_t ruid, euid, suid;
    gid_t rgid, egid, sgid;
    char name[40]; /* printable */
};

/* 0 or -errno: -ESRCH when there is no such process, -EPERM when it exists but /proc hides it. */
int rtl_process_read(pid_t pid, struct rtl_process *process);

/* Ended, but for its entry: its last thread too. */
bool rtl_process_is_zombie(const struct rtl_process *process);
/* Ended, or about to: the kernel frees its memory, which can take seconds. */
bool rtl_process_is_ending(const struct rtl_process *process);
bool rtl_process_is_kernel_thread(const struct rtl_process *process);

/* True when a file whose path contains `text` is mapped; *from, *to get the first such mapping. */
bool rtl_process_maps(pid_t pid, const char *text, uint64_t *from, uint64_t *to);

/* Writes the path of the first such file, as in the process's mappings; "" and false: none. */
bool rtl_process_mapped_file(pid_t pid, const char *text, char *path, size_t bytes);

/* One line each into why, without a newline. They return the status that goes with it. */
enum rtl_reader_status rtl_explain_missing(pid_t pid, int error, char *why, size_t why_bytes);
enum rtl_reader_status rtl_explain_permission(const struct rtl_process *process, char *why, size_t why_bytes);

#endif
