/*
 * Tells the release of an HSA runtime by its file and by what stands beside it. Whoever installed the runtime has named
 * them: only a version in plain characters is believed.
 */
#ifndef RTL_SESSION_RUNTIME_RELEASE_H
#define RTL_SESSION_RUNTIME_RELEASE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "shm/tables.h"

enum { RTL_VERSION_MAX = 40 };

struct rtl_runtime_release {
    char name[80]; /* "ROCm 7.14.0 (Python wheel)", "HSA runtime 1.15"; "HSA runtime" when nothing tells */
    unsigned rocm; /* 60403 for 6.4.3; 0 = not known */
};

/* Of the runtime's file, at that path as the process sees it; 0: as this one does. */
void rtl_runtime_release_read(pid_t pid, const char *path, struct rtl_runtime_release *release);
/* Of the runtime that a process has loaded. False when it has none, or can't be looked into. */
bool rtl_runtime_release_loaded(pid_t pid, struct rtl_runtime_release *release);

/* Reads a version, as in /opt/rocm/.info/version, below the root folder of the process; "" when there is none. */
bool rtl_version_file(pid_t pid, const char *path, char version[RTL_VERSION_MAX]);
/* What of the name of a Python wheel's folder is its version; "" for another name. Pure. */
bool rtl_version_of_wheel(const char *name, char version[RTL_VERSION_MAX]);

/* True for ROCm 7.2.0 to 7.2.4, as far as the release is known: their intercept queues overwrite memory. */
bool rtl_runtime_overwrites(const struct rtl_runtime_release *release);

#endif
