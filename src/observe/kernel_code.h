/*
 * The code objects that have a kernel, in another process: the bytes that the runtime was given, and where it has
 * loaded the kernel's descriptor. Found by the list that the runtime keeps for debuggers, so the process need not help.
 */
#ifndef RTL_OBSERVE_KERNEL_CODE_H
#define RTL_OBSERVE_KERNEL_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/debug_list.h"

enum { RTL_KERNEL_CODE_MAX = 256 << 20 }; /* bytes of a code object; a larger one isn't read */

struct rtl_kernel_code {
    void *bytes;
    size_t size;
    uint64_t object; /* what packets say that mean this kernel, there */
};

/* What is called for each code object that has the kernel: one a GPU, mostly. The bytes go when it returns; false ends
 * it. */
typedef bool rtl_kernel_code_take(void *context, const struct rtl_kernel_code *code);

/*
 * `kernel`: its name as packets are counted under, without ".kd". `lists`: debug_list.h; `files`: the
 * process's root folder, or -1. False when the list couldn't be followed to its end: once more, later. A code object
 * that is neither in a file of its own any more nor mapped from one, nor in the process's memory, isn't found. What was
 * loaded from a file that is another by now is another, too: whoever needs to be sure compares it with what the process
 * has in its memory.
 */
bool rtl_kernel_code_find(const struct rtl_target_memory *memory, const struct rtl_debug_lists *lists, int files,
                          const char *kernel, rtl_kernel_code_take *take, void *context);

#endif
