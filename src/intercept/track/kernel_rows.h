/*
 * Kernels: from the kernel object in a dispatch packet to the kernel's row in the segment.
 *
 * Names come from hsa_executable_freeze, full and mangled. One name is one kernel, however many agents and executables
 * hold copies of it. A row in the segment is taken at a kernel's first dispatch, not at load: libraries bring tens of
 * thousands of kernels and use a few.
 */
#ifndef RTL_INTERCEPT_KERNEL_ROWS_H
#define RTL_INTERCEPT_KERNEL_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/likely.h"
#include "intercept/base/kernel_map.h"

/* The map's values: the name's number in the upper half, the row in the lower, or RTL_ROW_NONE before a dispatch. */
#define RTL_ROW_NONE UINT32_MAX

extern struct rtl_map rtl_kernel_map;

/* Dispatch, once a kernel object: takes the row. The segment's row for unknown kernels when entry is NULL. */
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

/* A kernel that an executable brought. The name may end in ".kd"; it is copied. */
struct rtl_loaded_kernel {
    uint64_t kernel_object;
    const char *name;
    size_t length;
    uint64_t agent; /* its handle; 0: not known */
};

/* Create: remembers the kernels of an executable; forgets them, so that their addresses can be reused. */
void rtl_kernels_load(uint64_t executable, const struct rtl_loaded_kernel *kernels, size_t count);
void rtl_kernels_forget(uint64_t executable);
/* Load: the runtime is going, and all executables with it. */
void rtl_kernels_forget_all(void);

/* Any, off the dispatch path: the row of that kernel object, RTL_KERNEL_UNKNOWN where it has none yet; its name, cut to
 * fit. */
uint32_t rtl_kernels_describe(uint64_t kernel_object, char *name, size_t bytes);
/* Any, off the dispatch path: that kernel object is known by that full name, which may end in ".kd". */
bool rtl_kernels_is_named(uint64_t kernel_object, const char *name, size_t length);

/* Any, off the dispatch path: that kernel object is an executable's for another agent. False when it isn't known, or
 * can't be looked up without waiting. */
bool rtl_kernels_is_elsewhere(uint64_t kernel_object, uint64_t agent);

/* Any, off the dispatch path: makes the pages of the next rows and names present. */
void rtl_kernels_populate(void);

#endif
