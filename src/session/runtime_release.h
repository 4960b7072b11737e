/* Of which release an HSA runtime is, as far as its file tells, and in which way its queues would be watched. */
#ifndef RTL_SESSION_RUNTIME_RELEASE_H
#define RTL_SESSION_RUNTIME_RELEASE_H

#include <stdbool.h>
#include <stddef.h>

#include "shm/tables.h"

struct rtl_runtime_release {
    char name[80];  /* "ROCm 6.4.3", "HSA runtime 1.15"; "HSA runtime" when nothing tells */
    unsigned rocm;  /* 60403 for 6.4.3; 0 = not known */
    bool before_6;  /* its intercept queues stop the process when they are full */
    bool may_batch; /* and these may overwrite memory: known for sure at the first queue only */
};

void rtl_runtime_release_read(const char *path, struct rtl_runtime_release *release);

/* What RTL_QUEUES=auto comes to on it, and why; *sure is false where the first queue decides. */
enum rtl_way rtl_runtime_way(const struct rtl_runtime_release *release, enum rtl_way_reason *why, bool *sure);

#endif
