/*
 * The value of LD_PRELOAD: the list of libraries that the dynamic loader loads first. Pure.
 *
 * The loader takes names apart at blanks and colons, and nothing stands for one of these; it replaces $ORIGIN, $LIB and
 * $PLATFORM in them.
 */
#ifndef RTL_SESSION_PRELOAD_LIST_H
#define RTL_SESSION_PRELOAD_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* The next name of the list that `*at` points into; `name` has room for the whole list. False at the end. */
bool rtl_preload_next(const char **at, char *name, size_t size);

/* Whether a path can be said in such a list. */
bool rtl_preload_can_say(const char *path);

/*
 * The list (NULL is an empty one) with the library, a librtl.so or librtl-hip.so, at its end. Another one of that name
 * gives way; the library stays where it is when it is in the list already. Allocated; NULL without memory.
 */
char *rtl_preload_append(const char *list, const char *library);

/* Whether both names are those of a librtl.so, or of a librtl-hip.so, wherever they lie. */
bool rtl_preload_same_kind(const char *name, const char *library);

#endif
