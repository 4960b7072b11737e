/* What the viewer shows about a process beside its segment: command line and owner. */
#ifndef RTL_WATCH_PROC_TITLE_H
#define RTL_WATCH_PROC_TITLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The command line as safe text, the program's folder dropped; `fallback` when it can't be read. */
void rtl_proc_title(pid_t pid, const char *fallback, char *out, size_t size);
/* The name of the process's owner, or the number. */
void rtl_proc_user(pid_t pid, char *out, size_t size);

#endif
