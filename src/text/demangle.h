/*
 * Demangling untrusted names.
 *
 * The C++ runtime's demangler expands back references without a limit: a few hundred hostile bytes can keep it busy
 * for years. Names with few references are demangled in this process, others in a helper process with limited CPU time.
 */
#ifndef RTL_TEXT_DEMANGLE_H
#define RTL_TEXT_DEMANGLE_H

#include <stddef.h>

/* Return the demangled name, which the caller frees: "f(int)". A suffix that a compiler appended follows unchanged:
 * "f(int) [clone .constprop.0$jit$1f$]". NULL if the name is not mangled or too long, or on a timeout. */
char *rtl_demangle(const char *name, size_t length);

#endif
