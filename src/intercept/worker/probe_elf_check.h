/* Checks that a code object from a viewer is safe for the runtime's loader, which trusts ELF files. Pure. */
#ifndef RTL_INTERCEPT_PROBE_ELF_CHECK_H
#define RTL_INTERCEPT_PROBE_ELF_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* True for an AMD GPU's code object of the shape that src/probe/code_writer.c writes, with all parts in bounds and
 * no more memory than a copy of one kernel needs. */
bool rtl_probe_elf_is_complete(const void *code, size_t bytes);

#endif
