/*
 * Whether bytes that somebody hands over can be given to the runtime's loader, which believes what an ELF file says of
 * itself. Pure.
 */
#ifndef RTL_INTERCEPT_PROBE_ELF_CHECK_H
#define RTL_INTERCEPT_PROBE_ELF_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* A code object of an AMD GPU of the shape that src/probe/code_writer.c writes, whose parts all lie where they should,
 * and that takes no more memory than a copy of one kernel does. */
bool rtl_probe_elf_is_complete(const void *code, size_t bytes);

#endif
