/*
 * The traced process among a started command (launch.h) and its descendants. While none is traced, remembers the
 * process that came closest, to explain what is missing.
 */
#ifndef RTL_WATCH_TRACED_CHILD_H
#define RTL_WATCH_TRACED_CHILD_H

#include "launch/launch.h"
#include "shm/gpu_use.h"

struct rtl_traced_child {
    const struct rtl_launch *launch;
    bool any; /* `seen` and `use` describe the process that came closest to being traced */
    struct rtl_process seen;
    struct rtl_gpu_use use;
    char refused[600]; /* why the segment of one of them can't be opened; "" = none was refused */
};

/* Searches once. Returns OK with the reader and pid of a traced process, NOT_TRACED while there is none, and any other
 * status, with a line in `why`, if a traced process can't be watched. */
enum rtl_reader_status rtl_traced_child_find(struct rtl_traced_child *child, struct rtl_reader **reader, pid_t *pid,
                                             char *why, size_t why_bytes);

/* Explains in one line why no process is traced (so far), as far as that is known. */
void rtl_traced_child_explain(const struct rtl_traced_child *child, char *why, size_t why_bytes);

#endif
