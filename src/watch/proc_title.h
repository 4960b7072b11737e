/* A process's title and owner, which its segment doesn't have. */
#ifndef RTL_WATCH_PROC_TITLE_H
#define RTL_WATCH_PROC_TITLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Writes the command line as safe text without the program's folder; `fallback` if it is unreadable. */
void rtl_proc_title(pid_t pid, const char *fallback, char *out, size_t size);
/* Writes the name of the process's owner, or the uid. */
void rtl_proc_user(pid_t pid, char *out, size_t size);

#endif
