/* Where librtl.so and librtl-hip.so lie: what a process has to load to be traced. */
#ifndef RTL_LAUNCH_LIBRARY_H
#define RTL_LAUNCH_LIBRARY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * The absolute path, without symbolic links: of `given` (--library), or if that is NULL of the library beside this
 * program, in a ../lib* beside it, or where `make install` puts it. False and one line in `why` when there is none that
 * a process of ours could load, or its path can't be said in HSA_TOOLS_LIB.
 */
bool rtl_library_find(const char *given, char path[PATH_MAX], char *why, size_t why_bytes);

/* True if the text has a control character: it would not survive shells and unit files. */
bool rtl_library_has_control(const char *text);

/* True if LD_PRELOAD can hold the path; otherwise one line in `why`. */
bool rtl_library_can_preload(const char *path, char *why, size_t why_bytes);

/*
 * librtl-hip.so, which lies beside librtl.so: what a process has to preload so that its calls of HIP are recorded.
 * False and one line in `why` when it isn't there, or its path can't be said in LD_PRELOAD.
 */
bool rtl_library_find_hip(const char *library, char path[PATH_MAX], char *why, size_t why_bytes);

#endif
