/*
 * Kernels: from the kernel object in a dispatch packet to the kernel's row in the segment.
 *
 * Names come from hsa_executable_freeze, full and mangled. One name is one kernel, however many agents and executables
 * have copies of it. A kernel gets its row at its first dispatch, not at load: libraries contain tens of thousands of
 * kernels and use a few.
 */
#ifndef RTL_INTERCEPT_KERNEL_ROWS_H
#define RTL_INTERCEPT_KERNEL_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/likely.h"
#include "intercept/base/kernel_map.h"

/* The map's values: the name's number in the upper half; the row in the lower, RTL_ROW_NONE before the first
 * dispatch. */
#define RTL_ROW_NONE UINT32_MAX

extern struct rtl_map rtl_kernel_map;

/* Dispatch, once a kernel object: assign the row. Returns the row of unknown kernels when entry is NULL. */
uint32_t rtl_kernels_first(struct rtl_map_entry *entry, uint64_t kernel_object);

/* Dispatch. */
static inline uint32_t rtl_kernels_row(uint64_t kernel_object)
{
    struct rtl_map_entry *entry = rtl_map_find(&rtl_kernel_map, kernel_object);
    if (likely(entry != NULL)) {
        uint32_t row = (uint32_t)atomic_load_explicit(&entry->value, memory_order_acquire);
        if (likely(row != RTL_ROW_NONE))
            return row;
    }
    return rtl_kernels_first(entry, kernel_object);
}

/* A kernel of an executable. The name may end in ".kd"; it is copied. */
struct rtl_loaded_kernel {
    uint64_t kernel_object;
    const char *name;
    size_t length;
    uint64_t agent; /* its handle; 0: unknown */
};

/* Create: add the kernels of an executable; remove them, so that their addresses can be reused. */
void rtl_kernels_load(uint64_t executable, const struct rtl_loaded_kernel *kernels, size_t count);
void rtl_kernels_forget(uint64_t executable);
/* Load: the runtime is being unloaded, with all its executables. */
void rtl_kernels_forget_all(void);

/* Any, off the dispatch path: return the row of a kernel object, RTL_KERNEL_UNKNOWN if it has none yet, and its
 * name, truncated to fit. */
uint32_t rtl_kernels_describe(uint64_t kernel_object, char *name, size_t bytes);
/* Any, off the dispatch path: true if the kernel object has that full name, which may end in ".kd". */
bool rtl_kernels_is_named(uint64_t kernel_object, const char *name, size_t length);

/* Any, off the dispatch path: true if the kernel object belongs to another agent. False if it is unknown, or the
 * lock is held. */
bool rtl_kernels_is_elsewhere(uint64_t kernel_object, uint64_t agent);

/* Any, off the dispatch path: populate the pages of the next rows and names. */
void rtl_kernels_populate(void);

#endif
