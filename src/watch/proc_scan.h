/* Scans /proc: all processes with their parents, the name of a process, and what distinguishes it from its siblings.
 * The processes choose these texts themselves, so all are bounded and escaped. */
#ifndef RTL_WATCH_PROC_SCAN_H
#define RTL_WATCH_PROC_SCAN_H

#include "model/merge.h"
#include "model/ranks.h"

struct rtl_proc_entry {
    pid_t pid, parent;
    uint64_t start_time; /* clock ticks since boot; pid and start_time identify a process */
};

bool rtl_proc_entry_read(pid_t pid, struct rtl_proc_entry *entry);
/* Lists all visible processes, sorted by pid; the caller frees *entries. Returns their number or -errno. */
int rtl_proc_scan(struct rtl_proc_entry **entries);
/* Finds a pid in such a list; NULL = none. */
const struct rtl_proc_entry *rtl_proc_find(const struct rtl_proc_entry *entries, uint32_t count, pid_t pid);
bool rtl_proc_is_among(const struct rtl_proc_entry *entries, uint32_t count, pid_t pid, uint64_t start_time);
/* Returns the pause after scans of this CPU time: scans take 1 % of the time, but at most 10 s pass between two. */
uint64_t rtl_proc_scan_pause(uint64_t took_ns, uint64_t least_ns);

/* True if the process goes by `name`: its comm, the file name of its program, or of the script that it interprets. */
bool rtl_proc_has_name(pid_t pid, const char *name);

/* Writes the command line as safe text without the program's folder; `fallback` if it is unreadable. */
void rtl_proc_title(pid_t pid, const char *fallback, char *out, size_t size);
/* Writes the name of the process's owner, or the uid. */
void rtl_proc_user(pid_t pid, char *out, size_t size);

/* Reads title, owner and container, and the rank from title, environment or arguments, as far as they are readable. The
 * environment is the one that `reader` publishes, if it is not NULL and its library does; else that of /proc. */
void rtl_proc_member_info(pid_t pid, const struct rtl_reader *reader, struct rtl_member_info *info);

/* Lists the visible processes that have opened the GPU driver and aren't among the rows: they are not traced. */
struct rtl_untraced {
    struct rtl_member_info *list;
    uint32_t count;
};
void rtl_untraced_find(struct rtl_untraced *untraced, const struct rtl_process_row *rows, uint32_t count);
void rtl_untraced_free(struct rtl_untraced *untraced);

/* The pure parts. Untrusted strings that end with a NUL; the last may lack it. */
struct rtl_proc_text {
    const char *bytes;
    size_t size;
};
void rtl_rank_from(const struct rtl_proc_text *arguments, const struct rtl_proc_text *environment,
                   struct rtl_member_info *info);
void rtl_container_from(const char *cgroup, char *out, size_t size);

#endif
