/*
 * The value of LD_PRELOAD: the list of libraries that the dynamic loader loads first. Pure.
 *
 * The loader takes names apart at blanks and colons, and nothing stands for one of these; it replaces $ORIGIN, $LIB and
 * $PLATFORM in them.
 */
#ifndef RTL_LAUNCH_PRELOAD_LIST_H
#define RTL_LAUNCH_PRELOAD_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* The next name of the list that `*at` points into; `name` has room for the whole list. False at the end. */
bool rtl_preload_next(const char **at, char *name, size_t size);

/* Whether a path can be said in such a list. */
bool rtl_preload_can_hold(const char *path);

/*
 * Returns the list (NULL: empty) with the library, a librtl.so or librtl-hip.so, appended. Removes another library of
 * that name from the list; leaves a library that the list already has in its place. Allocated; NULL without memory.
 */
char *rtl_preload_append(const char *list, const char *library);

/* True if both paths name a librtl.so, or both a librtl-hip.so, in any folders. */
bool rtl_preload_same_kind(const char *name, const char *library);

#endif
