/* Data of a process in /proc, and explanations in words why a process can't be watched. */
#ifndef RTL_SHM_PROCESS_H
#define RTL_SHM_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "shm/proc_file.h"
#include "shm/segment_reader.h"

enum { RTL_FILES_MAX = 1 << 16 }; /* open files searched in one process at most, over all tasks */

struct rtl_process {
    pid_t pid;       /* as requested; may be a thread */
    pid_t tgid;      /* the thread's process */
    pid_t innermost; /* the pid in its own pid namespace, as getpid() returns it there */
    char state;      /* R S D T Z X ... */
    uint64_t flags;  /* PF_* */
    uint64_t threads;
    uint64_t start_time; /* clock ticks since boot */
    uid_t ruid, euid, suid;
    gid_t rgid, egid, sgid;
    char name[40]; /* printable */
};

/* Returns 0 or -errno: -ESRCH for no such process, -EPERM if it exists but /proc hides it. */
int rtl_process_read(pid_t pid, struct rtl_process *process);

/* Return the owner of the user namespace that contains the process and whose parent is the reader's namespace; `own` if
 * the process is in the reader's namespace, or if the owner isn't known. An owner of a namespace has many uids in it.
 */
uid_t rtl_process_namespace_owner(uid_t own, pid_t pid);

/* True once all threads have ended; only the process's entry is left. */
bool rtl_process_is_zombie(const struct rtl_process *process);
/* True for a zombie, or while the kernel frees the process's memory, which can take seconds. */
bool rtl_process_is_ending(const struct rtl_process *process);
bool rtl_process_is_kernel_thread(const struct rtl_process *process);

/* Return a descriptor that is readable once the process has ended; -1: this kernel has none. */
int rtl_process_pidfd(pid_t tgid);
/* False once the process that started at that time has ended. `pidfd`: its descriptor, or -1. */
bool rtl_process_is_alive(pid_t pid, int pidfd, uint64_t start_time);

/* True if a mapped file's path contains `text`; *from and *to get the first such mapping. */
bool rtl_process_maps(pid_t pid, const char *text, uint64_t *from, uint64_t *to);

/* Write the path of the first such file from the process's mappings; "" and false: none. */
bool rtl_process_mapped_file(pid_t pid, const char *text, char *path, size_t bytes);

/* True if the process has opened the file; false if that is not visible. Bounded. */
bool rtl_process_has_open(pid_t pid, const char *path);

/* Write one line without a newline to `why`. They return the matching status. */
enum rtl_reader_status rtl_explain_missing(pid_t pid, int error, char *why, size_t why_bytes);
enum rtl_reader_status rtl_explain_permission(const struct rtl_process *process, char *why, size_t why_bytes);

#endif
