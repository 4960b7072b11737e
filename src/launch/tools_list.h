/*
 * The value of HSA_TOOLS_LIB: the list of libraries that the HSA runtime loads. Pure.
 *
 * The runtime takes names apart at blanks; "..." holds one together, and a backslash takes the next character as it is,
 * in quotes too. A quote that isn't closed ends with the list. A backslash at the very end makes the runtime search for
 * ever for what follows it.
 */
#ifndef RTL_LAUNCH_TOOLS_LIST_H
#define RTL_LAUNCH_TOOLS_LIST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The next name of the list that `*at` points into, as the runtime would open it; names that are empty are left out.
 * `name` has room for the whole list. False at the end.
 */
bool rtl_tools_next(const char **at, char *name, size_t size);

/* False for a list on which the runtime hangs. */
bool rtl_tools_sane(const char *list);

/*
 * The list (NULL is an empty one) with the library at its end, in a form that the runtime takes apart to the same
 * names. Another librtl.so in it gives way: two would count everything twice. The library stays where it is when it is
 * in the list already. Allocated; NULL without memory.
 */
char *rtl_tools_append(const char *list, const char *library);

/* Whether a name of the list is that of a library of ours, wherever it lies. */
bool rtl_tools_is_rtl(const char *name);

#endif
