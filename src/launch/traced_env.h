/* Makes the environment variables that a traced process needs: HSA_TOOLS_LIB, HSA_TOOLS_ROCPROFILER_V1_TOOLS, RTL_MODE,
 * RTL_TRACE, RTL_PROBE, LD_PRELOAD. */
#ifndef RTL_LAUNCH_TRACED_ENV_H
#define RTL_LAUNCH_TRACED_ENV_H

#include <stdbool.h>
#include <stddef.h>

#include "shm/tables.h"

enum { RTL_TRACED_ENV_MAX = 6 };

/* The mode that a process starts in: enum rtl_mode, or one of these. */
enum {
    RTL_START_FROM_ENV = -1, /* not set: RTL_MODE of the environment counts */
    RTL_START_HIP = 1000,    /* mode default with recording of HIP calls (RTL_MODE_HIP) */
};

/* Parses --mode of run, env and check; false if it is unknown. */
bool rtl_start_mode_parse(const char *name, int *start_mode);
#define RTL_BEGIN_NAME(sym, num, name, text) " " name
#define RTL_START_MODE_UNKNOWN               "--mode needs one of" RTL_MODES(RTL_BEGIN_NAME) " " RTL_MODE_HIP ", not '%s'"

/* True if that mode records HIP calls, which needs librtl-hip.so. */
bool rtl_start_mode_is_hip(int start_mode);

struct rtl_traced_env {
    unsigned count;
    struct {
        const char *name;
        char *value; /* allocated */
    } variable[RTL_TRACED_ENV_MAX];
};

struct rtl_traced_request {
    int start_mode; /* mode, or RTL_START_* */
    bool ring;      /* add an event ring, for traces */
    bool probe;     /* allow probes of its kernels */
    bool preload;   /* also preload the library, for runtimes that ignore HSA_TOOLS_LIB */
};

/* Keeps the current entries of HSA_TOOLS_LIB and LD_PRELOAD, and a size in RTL_TRACE. On failure returns false with one
 * line in `why`, and nothing to free. */
bool rtl_traced_env_make(struct rtl_traced_env *env, const char *library, const struct rtl_traced_request *request,
                         char *why, size_t why_bytes);
void rtl_traced_env_free(struct rtl_traced_env *env);

#endif
