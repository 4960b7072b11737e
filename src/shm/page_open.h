/* Opens a page that the library made for viewers to write to: the control page, the probe page. */
#ifndef RTL_SHM_PAGE_OPEN_H
#define RTL_SHM_PAGE_OPEN_H

#include <stddef.h>
#include <stdint.h>

#include "shm/reader_private.h"

/*
 * The descriptor `number` of the process that the reader has open, for reading and writing, if it is a memfd of that
 * inode and size that nobody can cut off under a mapping; its first bytes are read into `first`. The process may be
 * hostile: anything else is left alone. Descriptor, or -errno: -EACCES, -EPERM, -EROFS when this user may not, any
 * other when it is none such.
 */
int rtl_page_open(const struct rtl_reader *reader, uint32_t number, uint64_t inode, uint64_t bytes, void *first,
                  size_t first_bytes);

#endif
