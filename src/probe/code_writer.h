/*
 * Writes a code object with one kernel: the smallest that the runtime loads. No notes, no relocations: the loader takes
 * what it needs from symbols and the descriptor.
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
    struct rtl_kernel_descriptor descriptor; /* `entry` is filled in: the text's first byte */
    const void *text;
    size_t text_bytes;
};

/* What has to be freed, or NULL: no memory. */
void *rtl_code_write(const struct rtl_code_draft *draft, size_t *bytes);

#endif
