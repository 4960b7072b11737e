/* Opens a page that the library made for viewers to write to: the control page, the probe page. */
#ifndef RTL_SHM_PAGE_OPEN_H
#define RTL_SHM_PAGE_OPEN_H

#include <stddef.h>
#include <stdint.h>

#include "shm/reader_private.h"
#include "shm/segment_reader.h"

/* What all such pages begin with; who defines one asserts it by RTL_PAGE_BEGINS_SO. */
struct rtl_page_head {
    uint64_t magic;
    uint32_t version;
    uint32_t bytes;
    uint64_t pid;
};
#define RTL_PAGE_BEGINS_SO(page)                                                             \
    _Static_assert(offsetof(page, magic) == offsetof(struct rtl_page_head, magic) &&         \
                       offsetof(page, version) == offsetof(struct rtl_page_head, version) && \
                       offsetof(page, pid) == offsetof(struct rtl_page_head, pid),           \
                   "a page begins as all do")

struct rtl_page_kind {
    uint64_t magic;
    uint64_t bytes; /* all of it */
    uint32_t version;
    enum rtl_reader_status missing; /* what it is called when there is none */
    const char *name;               /* "control page" */
    const char *allows;             /* what only the same user may do, "may ..." */
};

/*
 * Maps the descriptor `number` of the process that the reader has open, for reading and writing, if it is a memfd of
 * that inode and size that nobody can cut off under a mapping, and begins as that kind of page of that process. The
 * process may be hostile: anything else is left alone. RTL_READER_OK, and it is the caller's to unmap; else NULL in
 * `page`, and why: RTL_READER_PERMISSION, or what the kind calls missing.
 */
enum rtl_reader_status rtl_page_map(const struct rtl_reader *reader, const struct rtl_page_kind *kind, uint32_t number,
                                    uint64_t inode, void **page, char *why, size_t why_bytes);

#endif
