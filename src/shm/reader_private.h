/*
 * What the files of the reader share: the reader itself, and how bytes get out of a segment.
 *
 * segment_reader.c validates and opens, discover.c finds segments in /proc, snapshot.c copies statistics out, changes.c
 * only those that changed.
 */
#ifndef RTL_SHM_READER_PRIVATE_H
#define RTL_SHM_READER_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/types.h>

#include "shm/clock_offsets.h"
#include "shm/segment.h"

/* A section as the reader uses it: validated against fstat's size, never read from the segment again. */
struct rtl_section_view {
    uint64_t offset;
    uint32_t stride, capacity;
};

struct rtl_reader {
    int fd;
    const char *base; /* the mapping, or NULL: then everything goes through pread */
    uint64_t size;    /* as fstat says, not the header */
    struct rtl_section_view view[RTL_SECTION_KNOWN];
    bool events;                      /* RING and EVENTS are there */
    bool copies;                      /* COPIES is there */
    bool probe;                       /* PROBE is there; PROBE_DIES, too, where its view has something */
    uint32_t kernels, queues, agents; /* rows used: capacity, but never more than this version knows */
    char comm[RTL_COMM_MAX + 1];
    struct rtl_header header; /* copy from when it was opened: the fields written at load */

    char **name;           /* [kernels], NULL until the row was seen READY; stable for the reader's life */
    uint32_t *name_length; /* [kernels] */
    uint64_t name_room;    /* bytes of names still to be believed: they can't add up to more than their section */

    struct rtl_seen *seen; /* changes.c: what it handed out last; NULL before */

    /* how copies of histograms went, for tests: no decision hangs on them */
    uint64_t whole;     /* accepted: the buckets' sum was the count */
    uint64_t retried;   /* tries that met the writer */
    uint64_t unsettled; /* given up on: shown as approximate */

    /* for tests: called before each word that is loaded from a mapping, so that a writer can be put in between */
    void (*meanwhile)(void *context, uint64_t offset);
    void *meanwhile_context;

    /* liveness, set by discover.c; pid 0 when opened by descriptor */
    pid_t pid;
    int pidfd;           /* -1 when the kernel has none */
    uint64_t start_time; /* of the process, in clock ticks since boot: tells a reused pid */
    char link[64];       /* in /proc, where the segment was found */

    struct rtl_clocks clocks; /* set by discover.c; zeros when opened by descriptor */
};

/* What changes.c handed out of a kernel's row. */
struct rtl_seen_row {
    uint64_t count, failed;  /* the worker's: timed, given up on */
    uint64_t calls, untimed; /* the cells' of all queues */
    uint8_t quiet;           /* frames since the row changed */
    bool hot;                /* listed in rtl_seen.hot */
    bool unsettled;          /* its histogram met the writer too often: hand it out again */
    bool listed;             /* in this snapshot */
};

enum { RTL_CELLS_AT_ONCE = 16, RTL_THERE_WORDS = RTL_KERNELS_MAX / RTL_CELLS_AT_ONCE / 64 };

/* What changes.c handed out last. */
struct rtl_seen {
    bool any;
    uint32_t rows, room; /* rows that were in use then */
    struct rtl_seen_row *row;
    uint32_t *hot, hot_count; /* rows that changed lately; room for all */
    /* sums over the rows; they wrap, and only show whether two are equal */
    uint64_t accounted, calls, untimed, timed;
    bool huge; /* the sums may have wrapped */
    uint64_t there[RTL_QUEUES_MAX * RTL_THERE_WORDS];
};

static inline void rtl_seen_free(struct rtl_seen *seen)
{
    if (!seen)
        return;
    free(seen->row);
    free(seen->hot);
    free(seen);
}

/* Converts a time of the process (0: none) to the time line in use: this process's CLOCK_MONOTONIC, or the host's. */
static inline uint64_t rtl_reader_line(const struct rtl_reader *reader, uint64_t mono_ns)
{
    return mono_ns ? mono_ns - (uint64_t)reader->clocks.ahead_ns : 0;
}

/* Memory of a snapshot's octaves: blocks that never move, because the copies point into them. */
struct rtl_block {
    struct rtl_block *next;
    size_t used, size;
    _Alignas(16) char bytes[];
};

/*
 * Copies bytes out of the segment in units of 8 (offset and bytes are multiples), each an acquire load, so that what
 * is fetched later is not older. False when they don't lie in the segment, or can't be read.
 */
bool rtl_fetch(const struct rtl_reader *reader, uint64_t offset, void *to, size_t bytes);

/* Likewise for a bounded number of bytes of one entry of a section. */
bool rtl_fetch_entry(const struct rtl_reader *reader, enum rtl_section_id section, uint32_t entry, size_t skip,
                     void *to, size_t bytes);

/* Has the start of an entry, so many bytes, on its way into the cache: it is asked for soon. Reads nothing, so that no
 * hole becomes a page. */
void rtl_expect_entry(const struct rtl_reader *reader, enum rtl_section_id section, uint32_t entry, size_t bytes);

/* The row's name in the cache, read on first sight. NULL when the row isn't ready; *damaged when it lies. */
const char *rtl_reader_name(struct rtl_reader *reader, uint32_t kernel, bool *damaged);

/* Opens what a link in /proc leads to, if it is a memfd; when that can't be told, only if not `strict`. Descriptor or
 * -errno. */
int rtl_open_memfd_link(const char *path, int flags, bool strict);

/* Printable ASCII only, at most bytes - 1 of them, terminated. */
void rtl_copy_printable(char *to, size_t bytes, const char *from, size_t from_bytes);

#endif
