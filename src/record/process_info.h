/* Facts about a process from /proc, for recordings; best effort, empty if they can't be read. */
#ifndef RTL_RECORD_PROCESS_INFO_H
#define RTL_RECORD_PROCESS_INFO_H

#include <sys/types.h>

struct rtl_proc_member_info {
    char host[256], user[64], command[4096], runtime[512];
};
/* command: the command line, words separated by blanks. runtime: path of the HSA runtime, whose name has the release.
 */
void rtl_process_info_read(pid_t pid, struct rtl_proc_member_info *info);

/* The user's name, cut to 63 bytes, or the number. getpwuid may block, so names are cached; a user without a name is
 * looked up again after ten minutes. One thread. */
void rtl_user_name(uid_t uid, char *out, size_t size);
/* The name of the process's owner, or the number; empty if there is no such process. */
void rtl_process_user(pid_t pid, char *out, size_t size);

#endif
