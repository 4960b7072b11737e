/* The libraries of a traced process: librtl.so and librtl-hip.so, those that its loader would load, and its
 * environment. */
#ifndef RTL_LAUNCH_LIBRARY_H
#define RTL_LAUNCH_LIBRARY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "shm/elf_file.h"
#include "shm/tables.h"

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

/*
 * The libraries that the dynamic loader would load for a program, without starting the program. Only this program's own
 * loader is run, never the one that a file names.
 */

/* True if the file names this program's loader, which can therefore list its libraries. */
bool rtl_loader_is_ours(const struct rtl_elf_file *elf);

/* Returns the loader's output for the file, terminated and bounded in size and time, allocated. NULL if the loader
 * can't run. */
char *rtl_loader_list(const char *path);

/* Finds the next library in such a list, from *at on, whose name begins with `name`, and writes its path to `where`: ""
 * if the loader didn't find the library. Returns false when the list has no such library. */
bool rtl_loader_find(const char **at, const char *name, char *where, size_t size);
/* Copies the loader's first complaint: a missing library or version. False if there is none. */
bool rtl_loader_complaint(const char *list, char *line, size_t size);

/*
 * The lists of libraries in HSA_TOOLS_LIB, which the HSA runtime loads, and LD_PRELOAD, which the dynamic loader loads
 * first. These functions are pure.
 */

/*
 * Reads the next name of HSA_TOOLS_LIB as the runtime would open it; skips empty names. `name` has room for the whole
 * list. False at the end.
 *
 * The runtime separates names by blanks. "..." holds a name together. A backslash takes the next character literally,
 * in quotes too. An unclosed quote ends with the list.
 */
bool rtl_tools_next(const char **at, char *name, size_t size);

/* False for a list that ends with an unescaped backslash: the runtime would search forever for the next character. */
bool rtl_tools_sane(const char *list);

/*
 * Returns the list (NULL: empty) with the library appended, in a form that the runtime separates into the same names.
 * Removes another librtl.so, which would count everything twice; leaves the library in its place if the list has it.
 * Allocated; NULL without memory.
 */
char *rtl_tools_append(const char *list, const char *library);

/* True if the file's name is that of a librtl.so, in any folder, whatever the other library is. */
bool rtl_tools_displaces(const char *name, const char *library);

/* Reads the next name of LD_PRELOAD. `name` has room for the whole list. False at the end. The loader separates names
 * by blanks and colons, which can't be escaped, and replaces $ORIGIN, $LIB and $PLATFORM. */
bool rtl_preload_next(const char **at, char *name, size_t size);

/* True if LD_PRELOAD can hold the path. */
bool rtl_preload_can_hold(const char *path);

/* Like rtl_tools_append, for LD_PRELOAD and a librtl.so or librtl-hip.so. */
char *rtl_preload_append(const char *list, const char *library);

/* True if both paths name a librtl.so, or both a librtl-hip.so, in any folders. */
bool rtl_preload_same_kind(const char *name, const char *library);

/*
 * The environment variables that a traced process needs: HSA_TOOLS_LIB, HSA_TOOLS_ROCPROFILER_V1_TOOLS, RTL_MODE,
 * RTL_TRACE, RTL_PROBE, LD_PRELOAD.
 */

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
