/*
 * Demangling names that another process chose.
 *
 * The C++ runtime's demangler expands back references without a limit: a few hundred hostile bytes can keep it busy
 * for years. Names with few references are demangled here; the others in a helper process that is given so much CPU
 * time and no more.
 */
#ifndef RTL_TEXT_DEMANGLE_H
#define RTL_TEXT_DEMANGLE_H

#include <stddef.h>

/* The demangled name, allocated; NULL when it is not a mangled name, is too long, or could not be had in time. */
char *rtl_demangle(const char *name, size_t length);

#endif
