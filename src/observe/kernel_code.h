/*
 * Finds the code objects of another process that have a kernel: the bytes that the runtime got, and the load address of
 * the kernel's descriptor. Uses the runtime's list for debuggers, so the process need not help.
 */
#ifndef RTL_OBSERVE_KERNEL_CODE_H
#define RTL_OBSERVE_KERNEL_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/debug_list.h"

enum { RTL_KERNEL_CODE_MAX = 256 << 20 }; /* bytes of a code object; larger ones are skipped */

struct rtl_kernel_code {
    void *bytes;
    size_t size;
    uint64_t object; /* this kernel's kernel_object in packets */
};

/* Called for each code object that has the kernel, mostly one for each GPU. The bytes are freed on return; false ends
 * the search. */
typedef bool rtl_kernel_code_visit(void *context, const struct rtl_kernel_code *code);

/* `kernel`: the name under which packets are counted, without ".kd". `lists`: debug_list.h; `files`: the process's root
 * folder, or -1. False if a list's end was not reached: try again later. The function doesn't find a code object that
 * is neither in its file any more, nor mapped from one, nor in the process's memory. If the file was replaced since,
 * the result is the new file's code; to be sure, compare it with the process's memory. */
bool rtl_kernel_code_find(const struct rtl_target_memory *memory, const struct rtl_debug_lists *lists, int files,
                          const char *kernel, rtl_kernel_code_visit *take, void *context);

#endif
