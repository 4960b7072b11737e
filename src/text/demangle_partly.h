/*
 * Demangles the names that the C++ runtime's demangler refuses, because it is older than the compiler (DF16b, Tn...) or
 * because a profiler cut the name off.
 */
#ifndef RTL_TEXT_DEMANGLE_PARTLY_H
#define RTL_TEXT_DEMANGLE_PARTLY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * "_ZN5aiter4normIDF16bLi64EEEvPT0_" -> "aiter::norm<__bf16, 64>": no return type, no parameters. If the name ends
 * early, "..." and the closing brackets are appended. NULL if not even an identifier can be read. The caller frees the
 * result. *end gets the begin of the suffix, or the name's length if it has none or the reader stopped before it.
 * Time and memory are bounded for every input, because the length of the result is.
 */
char *rtl_demangle_partly(const char *mangled, size_t *end);

/* True for a character that may begin a suffix behind a mangled name: no type begins with one. */
bool rtl_may_begin_suffix(char c);

#endif
