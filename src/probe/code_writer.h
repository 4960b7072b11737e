/*
 * Writes a code object with one kernel: the smallest that the runtime loads. No notes or relocations: the loader needs
 * only symbols and the descriptor.
 */
#ifndef RTL_PROBE_CODE_WRITER_H
#define RTL_PROBE_CODE_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "probe/code_object.h"

struct rtl_code_draft {
    uint32_t flags;
    uint8_t abi_version;
    const char *kernel;                      /* without ".kd" */
    struct rtl_kernel_descriptor descriptor; /* rtl_code_write sets `entry` to the text's first byte */
    const void *text;
    size_t text_bytes;
};

/* Return the code object, which the caller frees; NULL without memory. */
void *rtl_code_write(const struct rtl_code_draft *draft, size_t *bytes);

#endif
