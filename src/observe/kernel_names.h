/*
 * Resolves kernels: from a packet's kernel_object through the process's code objects to a name, and to the name's row.
 * Rows are like the segment's: numbered by first sight, never freed; names live as long as the object, so snapshots may
 * point to them.
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

/* Read the lists of code objects, and the code objects new in them. `files`: the process's root folder, or -1. Kernels
 * of unloaded code objects lose their addresses, not their rows. False if a list was changing: read again later. */
bool rtl_kernel_names_read(struct rtl_kernel_names *names, const struct rtl_target_memory *memory,
                           const struct rtl_debug_lists *lists, int files);

/* Return the ends of the lists at the last read, [RTL_DEBUG_LISTS_MAX]: a list that still ends so is unchanged. */
const struct rtl_debug_list_end *rtl_kernel_names_end(const struct rtl_kernel_names *names);

/* Return the row of a kernel object; RTL_KERNEL_UNKNOWN if no code object has it. */
uint32_t rtl_kernel_names_row(const struct rtl_kernel_names *names, uint64_t object);

/* _known: true if the object's row is known, also if it has no name, or if there is no room for it. _nameless: record
 * that it has no name, until code objects are unloaded. */
bool rtl_kernel_names_known(const struct rtl_kernel_names *names, uint64_t object);
void rtl_kernel_names_set_nameless(struct rtl_kernel_names *names, uint64_t object);
/* True for the row "(runtime's own kernel)": kernels that no code object has although all are known. */
bool rtl_kernel_names_is_own(const struct rtl_kernel_names *names, uint32_t row);

/* Return the number of rows, including the fixed ones; a row's name, terminated. */
uint32_t rtl_kernel_names_count(const struct rtl_kernel_names *names);
const char *rtl_kernel_names_text(const struct rtl_kernel_names *names, uint32_t row, uint32_t *length);

/* Return the number of loaded code objects; *unread: those that could not be read. */
uint32_t rtl_kernel_names_objects(const struct rtl_kernel_names *names, uint32_t *unread);
/* True if rows or room for names have run out. */
bool rtl_kernel_names_full(const struct rtl_kernel_names *names);

/* Add one kernel of a code object, as reading does; for tests. */
void rtl_kernel_names_add(struct rtl_kernel_names *names, const char *name, size_t length, uint64_t object);

#endif
