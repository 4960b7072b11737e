/* What a recording says about a process beside its segment, out of /proc; best effort, empty when it can't be read. */
#ifndef RTL_RECORD_PROCESS_INFO_H
#define RTL_RECORD_PROCESS_INFO_H

#include <sys/types.h>

struct rtl_proc_member_info {
    char host[256], user[64], command[4096], runtime[512];
};
/* command: the whole command line, words separated by blanks. runtime: the file of the HSA runtime, which names its
 * release. */
void rtl_process_info_read(pid_t pid, struct rtl_proc_member_info *info);

/* The name of a user, cut to 63 bytes, or the number. The system is asked once for each, after ten minutes again for
 * one without a name: that may take long, and is done in one thread. */
void rtl_user_name(uid_t uid, char *out, size_t size);
/* The name of its owner, as the system has it, or the number; empty when there is no such process. */
void rtl_process_user(pid_t pid, char *out, size_t size);

#endif
