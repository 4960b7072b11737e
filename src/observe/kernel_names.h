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

struct rtl_kernel_names {             /* others may read the first members; members without a comment are private */
    char *name[RTL_KERNELS_MAX];      /* [rows], terminated */
    uint32_t length[RTL_KERNELS_MAX]; /* of the names */
    uint32_t rows;                    /* with the fixed ones */
    bool full;                        /* rows or room for names have run out */
    uint32_t code_count, unread;      /* loaded code objects; those that could not be read */
    struct rtl_debug_list_end
        end[RTL_DEBUG_LISTS_MAX]; /* ends of the lists at the last read: unchanged if they still end so */

    uint32_t own;                               /* the row of the runtime's own kernels; 0 = none so far */
    size_t bytes;                               /* of names */
    bool no_room;                               /* for another kernel object */
    bool whole;                                 /* the last read reached the ends of all lists */
    struct rtl_names_slot *by_name, *by_object; /* by the name's hash; by kernel object */
    uint32_t objects, object_slots;
    struct rtl_known_code *codes;
    uint32_t code_room;
};

struct rtl_kernel_names *rtl_kernel_names_create(void); /* NULL without memory */
void rtl_kernel_names_free(struct rtl_kernel_names *names);

/* Read the lists of code objects, and the code objects new in them. `files`: the process's root folder, or -1. Kernels
 * of unloaded code objects lose their addresses, not their rows. False if a list was changing: read again later. */
bool rtl_kernel_names_read(struct rtl_kernel_names *names, const struct rtl_target_memory *memory,
                           const struct rtl_debug_lists *lists, int files);

/* Return the row of a kernel object; RTL_KERNEL_UNKNOWN if no code object has it. */
uint32_t rtl_kernel_names_row(const struct rtl_kernel_names *names, uint64_t object);

/* _known: true if the object's row is known, also if it has no name, or if there is no room for it. _nameless: record
 * that it has no name, until code objects are unloaded. */
bool rtl_kernel_names_known(const struct rtl_kernel_names *names, uint64_t object);
void rtl_kernel_names_set_nameless(struct rtl_kernel_names *names, uint64_t object);
/* True for the row "(runtime's own kernel)": kernels that no code object has although all are known. */
bool rtl_kernel_names_is_own(const struct rtl_kernel_names *names, uint32_t row);

/* Add one kernel of a code object, as reading does; for tests. */
void rtl_kernel_names_add(struct rtl_kernel_names *names, const char *name, size_t length, uint64_t object);

#endif
