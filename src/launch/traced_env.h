/* Makes the environment variables that a traced process needs: HSA_TOOLS_LIB, HSA_TOOLS_ROCPROFILER_V1_TOOLS, RTL_MODE,
 * RTL_TRACE, RTL_PROBE, LD_PRELOAD. */
#ifndef RTL_LAUNCH_TRACED_ENV_H
#define RTL_LAUNCH_TRACED_ENV_H

#include <stdbool.h>
#include <stddef.h>

#include "shm/tables.h"

enum { RTL_TRACED_ENV_MAX = 6 };

/* What a process may begin in: a mode (enum rtl_mode), or one of these. */
enum {
    RTL_START_FROM_ENV = -1, /* by the environment */
    RTL_START_HIP = 1000,    /* as by default, and the calls of HIP are recorded: RTL_MODE_HIP */
};

/* As --mode of run, env and check says it; false for what isn't known. */
bool rtl_start_mode_parse(const char *name, int *start_mode);
#define RTL_BEGIN_NAME(sym, num, name, text) " " name
#define RTL_START_MODE_UNKNOWN               "--mode knows the modes" RTL_MODES(RTL_BEGIN_NAME) " " RTL_MODE_HIP ", not '%s'"

/* Whether that is with calls of HIP, which take librtl-hip.so. */
bool rtl_start_mode_is_hip(int start_mode);

struct rtl_traced_env {
    unsigned count;
    struct {
        const char *name;
        char *value; /* allocated */
    } variable[RTL_TRACED_ENV_MAX];
};

struct rtl_traced_request {
    int start_mode; /* mode, or RTL_BEGIN_* */
    bool ring;      /* with an event ring, for traces */
    bool probe;     /* its kernels may be probed */
    bool preload;   /* LD_PRELOAD has the library, too: for a runtime that ignores HSA_TOOLS_LIB */
};

/*
 * Keeps the current entries of HSA_TOOLS_LIB and LD_PRELOAD, and a size in RTL_TRACE. On failure returns false with one
 * line in `why`; there is nothing to free then.
 */
bool rtl_traced_env_make(struct rtl_traced_env *env, const char *library, const struct rtl_traced_request *request,
                         char *why, size_t why_bytes);
void rtl_traced_env_free(struct rtl_traced_env *env);

#endif
