/* Tells an HSA runtime's release as far as its file shows it. */
#ifndef RTL_SESSION_RUNTIME_RELEASE_H
#define RTL_SESSION_RUNTIME_RELEASE_H

#include <stdbool.h>
#include <stddef.h>

#include "shm/tables.h"

struct rtl_runtime_release {
    char name[80]; /* "ROCm 6.4.3", "HSA runtime 1.15"; "HSA runtime" when nothing tells */
    unsigned rocm; /* 60403 for 6.4.3; 0 = not known */
};

void rtl_runtime_release_read(const char *path, struct rtl_runtime_release *release);

/* True for ROCm 7.2.0 to 7.2.4, as far as the release is known: their intercept queues overwrite memory. */
bool rtl_runtime_overwrites(const struct rtl_runtime_release *release);

#endif
