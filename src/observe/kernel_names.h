/*
 * Which kernel a packet means: from the address in it (kernel_object) over the code objects that the process has loaded
 * to a name, and the row that the name has. Rows are as the segment's: numbered in the order of their first sight,
 * never given back; names are kept until the end, so that snapshots may point to them.
 *
 * Threads: one at a time.
 */
#ifndef RTL_OBSERVE_KERNEL_NAMES_H
#define RTL_OBSERVE_KERNEL_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "observe/debug_list.h"
#include "shm/segment.h"

struct rtl_kernel_names;

struct rtl_kernel_names *rtl_kernel_names_create(void); /* NULL without memory */
void rtl_kernel_names_free(struct rtl_kernel_names *names);

/*
 * Reads the lists of code objects, and the code objects new in them. `files`: the process's root folder, or -1. Kernels
 * of unloaded code objects lose their addresses, not their rows. False when a list was being changed: read again later.
 */
bool rtl_kernel_names_read(struct rtl_kernel_names *names, const struct rtl_target_memory *memory,
                           const struct rtl_debug_lists *lists, int files);

/* Returns the ends of the lists at the last read, [RTL_DEBUG_LISTS_MAX]: a list that still ends so is unchanged. */
const struct rtl_debug_list_end *rtl_kernel_names_end(const struct rtl_kernel_names *names);

/* The row of a kernel object; RTL_KERNEL_UNKNOWN where no code object has it. */
uint32_t rtl_kernel_names_row(const struct rtl_kernel_names *names, uint64_t object);

/* Whether it is known what the object is, be it that it has no name, or that there is no room for one; and that it has
 * none, until code objects go. */
bool rtl_kernel_names_known(const struct rtl_kernel_names *names, uint64_t object);
void rtl_kernel_names_nameless(struct rtl_kernel_names *names, uint64_t object);
/* Whether it is the row of such kernels that no code object has although all are known: "(runtime's own kernel)". */
bool rtl_kernel_names_is_own(const struct rtl_kernel_names *names, uint32_t row);

/* Rows so far, the fixed ones included; a row's name, terminated. */
uint32_t rtl_kernel_names_count(const struct rtl_kernel_names *names);
const char *rtl_kernel_names_text(const struct rtl_kernel_names *names, uint32_t row, uint32_t *length);

/* Code objects that are loaded, and those that couldn't be read. */
uint32_t rtl_kernel_names_objects(const struct rtl_kernel_names *names, uint32_t *unread);
/* More kernels than rows, or than room for names. */
bool rtl_kernel_names_full(const struct rtl_kernel_names *names);

/* One kernel of a code object; what reading makes, for tests. */
void rtl_kernel_names_add(struct rtl_kernel_names *names, const char *name, size_t length, uint64_t object);

#endif
