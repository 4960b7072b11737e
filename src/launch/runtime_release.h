/*
 * Identifies the release of an HSA runtime by the name of its file and by the files and folders around it. These names
 * are untrusted input: only a version in plain characters is accepted.
 */
#ifndef RTL_LAUNCH_RUNTIME_RELEASE_H
#define RTL_LAUNCH_RUNTIME_RELEASE_H

#include <stdbool.h>
#include <sys/types.h>

enum { RTL_VERSION_MAX = 40 };

struct rtl_runtime_release {
    char name[80]; /* "ROCm 7.14.0 (Python wheel)", "HSA runtime 1.15"; "HSA runtime" when unknown */
    unsigned rocm; /* 60403 for 6.4.3; 0 = not known */
};

/* Identifies the runtime's file at that path below the process's root folder; pid 0: this process's. */
void rtl_runtime_release_read(pid_t pid, const char *path, struct rtl_runtime_release *release);
/* Identifies the runtime that a process has loaded. False when it has none, or its mappings can't be read. */
bool rtl_runtime_release_loaded(pid_t pid, struct rtl_runtime_release *release);

/* Reads a version, as in /opt/rocm/.info/version, below the root folder of the process; "" when there is none. */
bool rtl_version_file(pid_t pid, const char *path, char version[RTL_VERSION_MAX]);
/* Extracts the version from the name of a Python wheel's folder; "" and false for another name. Pure. */
bool rtl_version_of_wheel(const char *name, char version[RTL_VERSION_MAX]);

/* True for ROCm 7.2.0 to 7.2.4, as far as the release is known: their intercept queues overwrite memory. */
bool rtl_runtime_overwrites(const struct rtl_runtime_release *release);

#endif
