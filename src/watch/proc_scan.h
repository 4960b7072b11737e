/*
 * Which processes there are: what /proc says of all of them at a moment, who descends from whom and who goes by a name,
 * and what of one process tells it apart from its like. Everything in it is the processes' own word: bounded, escaped.
 */
#ifndef RTL_WATCH_PROC_SCAN_H
#define RTL_WATCH_PROC_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/merge.h"
#include "model/ranks.h"

struct rtl_proc_entry {
    pid_t pid, parent;
    uint64_t start_time; /* clock ticks since boot: with the pid it names a process for good */
};

/* All that can be seen, ascending pid; the caller frees *entries. Count or -errno. */
int rtl_proc_scan(struct rtl_proc_entry **entries);
/* The one with that pid among such; NULL: none. */
const struct rtl_proc_entry *rtl_proc_find(const struct rtl_proc_entry *entries, uint32_t count, pid_t pid);

/*
 * Whether a user who says `name` means the process: its comm, the file name of its program, or of the script that an
 * interpreter runs.
 */
bool rtl_proc_has_name(pid_t pid, const char *name);

/* Whether one of its open files is that path; false when it may not be looked at. Bounded. */
bool rtl_proc_has_open(pid_t pid, const char *path);

/* Title, owner, container, and rank from its title, environment or arguments, as far as they may be read. */
void rtl_proc_member_info(pid_t pid, struct rtl_member_info *info);

/* Processes that have the GPUs' driver open and aren't among the rows: not traced, if they may be seen. */
struct rtl_untraced {
    struct rtl_member_info *list;
    uint32_t count;
};
void rtl_untraced_find(struct rtl_untraced *untraced, const struct rtl_process_row *rows, uint32_t count);
void rtl_untraced_free(struct rtl_untraced *untraced);

/* The parts of it that are pure, on bytes with a NUL after each string; `bytes` need not end with one. */
void rtl_rank_from(const char *arguments, size_t argument_bytes, const char *environment, size_t environment_bytes,
                   struct rtl_member_info *info);
void rtl_container_from(const char *cgroup, char *out, size_t size);

#endif
