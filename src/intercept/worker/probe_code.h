/*
 * Whether bytes that somebody hands over can be given to the runtime's loader, which believes what an ELF file says of
 * itself. Pure.
 */
#ifndef RTL_INTERCEPT_PROBE_CODE_H
#define RTL_INTERCEPT_PROBE_CODE_H

#include <stdbool.h>
#include <stddef.h>

/* A code object of an AMD GPU whose parts all lie within it, and that takes no more memory than it should. */
bool rtl_probe_code_is_whole(const void *code, size_t bytes);

#endif
