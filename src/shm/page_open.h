/* Opens a page that the library made for viewers to write: the control page or the probe page, which begins like it. */
#ifndef RTL_SHM_PAGE_OPEN_H
#define RTL_SHM_PAGE_OPEN_H

#include <stddef.h>
#include <stdint.h>

#include "shm/control.h"
#include "shm/reader_private.h"
#include "shm/segment_reader.h"

struct rtl_page_kind {
    uint64_t magic;
    uint64_t bytes; /* of the page */
    uint32_t version;
    enum rtl_reader_status missing; /* status without such a page */
    const char *name;               /* "control page" */
    const char *allows;             /* what only the same user may do: "probe its kernels" */
};

/* Map descriptor `number` of the reader's process for reading and writing, if it is a memfd of that inode and size,
 * sealed so that no process can truncate it under the mapping, and begins as that kind of page of that process. The
 * process may be hostile: nothing else is mapped. On RTL_READER_OK the caller unmaps *page; otherwise it is NULL and
 * the status is RTL_READER_PERMISSION or kind->missing. */
enum rtl_reader_status rtl_page_map(const struct rtl_reader *reader, const struct rtl_page_kind *kind, uint32_t number,
                                    uint64_t inode, void **page, char *why, size_t why_bytes);

#endif
