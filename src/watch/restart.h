/* How to start an observed process again so that it is traced: the command, or what to change in its unit or container.
 * Its command line and control group are untrusted, so all is bounded, quoted for a shell, and safe text. */
#ifndef RTL_WATCH_RESTART_H
#define RTL_WATCH_RESTART_H

#include "watch/proc_scan.h"

struct rtl_restart {
    pid_t pid;
    char whole[16384]; /* "cd /srv && rtl-top run -- python3 serve.py"; a longer one ends in " ..." */
    char brief[512];   /* without the folders of process and program */
};

/* Read what /proc shows. A worker whose launcher (the same program, mpirun) still runs is started by the launcher's
 * command. */
void rtl_restart_read(pid_t pid, struct rtl_restart *restart);

/* Compose a restart from facts, without reading /proc. Unknown facts are empty. */
struct rtl_restart_facts {
    struct rtl_proc_text arguments; /* ends with a NUL */
    const char *cgroup, *own_cgroup, *folder;
    const char *user; /* "": that of rtl-top */
};
void rtl_restart_from(const struct rtl_restart_facts *facts, struct rtl_restart *restart);

#endif
