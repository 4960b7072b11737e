/* Finds librtl.so and librtl-hip.so, which a process has to load to be traced. */
#ifndef RTL_LAUNCH_LIBRARY_H
#define RTL_LAUNCH_LIBRARY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Finds the absolute path without symbolic links: of `given` (--library), or if that is NULL, beside this program, in a
 * ../lib* beside it, or in the folder of `make install`. False with one line in `why` if no process of this system
 * could load it, or HSA_TOOLS_LIB can't hold the path.
 */
bool rtl_library_find(const char *given, char path[PATH_MAX], char *why, size_t why_bytes);

/* True if the text has a control character, which shells and unit files may change. */
bool rtl_library_has_control(const char *text);

/* True if LD_PRELOAD can hold the path; otherwise one line in `why`. */
bool rtl_library_can_preload(const char *path, char *why, size_t why_bytes);

/* Finds librtl-hip.so beside librtl.so; a process that preloads it has its HIP calls recorded. False with one line in
 * `why` if it is missing or LD_PRELOAD can't hold the path. */
bool rtl_library_find_hip(const char *library, char path[PATH_MAX], char *why, size_t why_bytes);

#endif
