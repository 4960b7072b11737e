/*
 * Whether rocprofiler-sdk is active in a process, as far as its environment and its files show. The HSA runtime then
 * leaves HSA_TOOLS_LIB out, unless HSA_TOOLS_ROCPROFILER_V1_TOOLS asks for both.
 */
#ifndef RTL_SHM_PROFILER_H
#define RTL_SHM_PROFILER_H

#include <stdbool.h>

#define RTL_PROFILER_BOTH      "HSA_TOOLS_ROCPROFILER_V1_TOOLS"
#define RTL_PROFILER_LIBRARY   "librocprofiler-sdk.so"
#define RTL_PROFILER_CONFIGURE "rocprofiler_configure" /* what a tool of it exports */

struct rtl_profiler {
    bool active;
    bool both;     /* RTL_PROFILER_BOTH is on */
    bool disabled; /* ROCPROFILER_REGISTER_ENABLED=0: nothing makes it active */
    char why[400]; /* the first thing that makes it active, printable */
};

/* One NAME=VALUE of the environment; most have nothing to do with it. */
void rtl_profiler_variable(struct rtl_profiler *profiler, const char *entry);
/* Something else makes it active. */
__attribute__((format(printf, 2, 3))) void rtl_profiler_because(struct rtl_profiler *profiler, const char *format, ...);

#endif
