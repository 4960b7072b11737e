/*
 * Of which release an HSA runtime is, as far as its file and what stands beside it tell, and in which way its queues
 * would be watched. Files and names are whoever's that installed it: only a version in plain characters is believed.
 */
#ifndef RTL_SESSION_RUNTIME_RELEASE_H
#define RTL_SESSION_RUNTIME_RELEASE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "shm/tables.h"

enum { RTL_VERSION_MAX = 40 };

struct rtl_runtime_release {
    char name[80];  /* "ROCm 7.14.0 (Python wheel)", "HSA runtime 1.15"; "HSA runtime" when nothing tells */
    unsigned rocm;  /* 60403 for 6.4.3; 0 = not known */
    bool before_6;  /* its intercept queues stop the process when they are full */
    bool may_batch; /* and these may overwrite memory: known for sure at the first queue only */
};

/* Of the runtime's file, at that path as the process sees it; 0: as this one does. */
void rtl_runtime_release_read(pid_t pid, const char *path, struct rtl_runtime_release *release);
/* Of the runtime that a process has loaded. False when it has none, or can't be looked into. */
bool rtl_runtime_release_loaded(pid_t pid, struct rtl_runtime_release *release);

/* Reads a version, as in /opt/rocm/.info/version, below the root folder of the process; "" when there is none. */
bool rtl_version_file(pid_t pid, const char *path, char version[RTL_VERSION_MAX]);
/* What of the name of a Python wheel's folder is its version; "" for another name. Pure. */
bool rtl_version_of_wheel(const char *name, char version[RTL_VERSION_MAX]);

/* What RTL_QUEUES=auto comes to on it, and why; *sure is false where the first queue decides. */
enum rtl_way rtl_runtime_way(const struct rtl_runtime_release *release, enum rtl_way_reason *why, bool *sure);

#endif
