/*
 * The lists of libraries in HSA_TOOLS_LIB, which the HSA runtime loads, and LD_PRELOAD, which the dynamic loader loads
 * first. Pure.
 */
#ifndef RTL_LAUNCH_LIBRARY_LIST_H
#define RTL_LAUNCH_LIBRARY_LIST_H

#include <stdbool.h>
#include <stddef.h>

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

/* True if the file's name is that of a librtl.so, in any folder. */
bool rtl_tools_is_rtl(const char *name);

/* Like rtl_tools_is_rtl, with the parameters of rtl_preload_same_kind. */
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

#endif
