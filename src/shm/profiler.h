/*
 * Finds out from a process's environment and files whether rocprofiler-sdk is active in it. The HSA runtime then
 * ignores HSA_TOOLS_LIB, unless HSA_TOOLS_ROCPROFILER_V1_TOOLS asks for both.
 */
#ifndef RTL_SHM_PROFILER_H
#define RTL_SHM_PROFILER_H

#include <stdbool.h>

#define RTL_PROFILER_BOTH      "HSA_TOOLS_ROCPROFILER_V1_TOOLS"
#define RTL_PROFILER_LIBRARY   "librocprofiler-sdk.so"
#define RTL_PROFILER_CONFIGURE "rocprofiler_configure" /* exported by each tool of rocprofiler-sdk */

struct rtl_profiler {
    bool active;
    bool both;     /* RTL_PROFILER_BOTH is on */
    bool disabled; /* ROCPROFILER_REGISTER_ENABLED=0: nothing makes it active */
    char why[400]; /* the first thing that makes it active, printable */
};

/* Evaluate one NAME=VALUE of the environment; ignore names that it doesn't know. */
void rtl_profiler_variable(struct rtl_profiler *profiler, const char *entry);
/* Record that rocprofiler-sdk is active for another reason, unless it is disabled or a reason is known. */
__attribute__((format(printf, 2, 3))) void rtl_profiler_because(struct rtl_profiler *profiler, const char *format, ...);

#endif
