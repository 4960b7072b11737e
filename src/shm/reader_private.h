/*
 * Shared by the reader's files: the reader itself, and how it gets bytes out of a segment.
 *
 * segment_reader.c validates and opens, discover.c finds segments in /proc, snapshot.c copies statistics, changes.c
 * copies only what changed.
 */
#ifndef RTL_SHM_READER_PRIVATE_H
#define RTL_SHM_READER_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/types.h>

#include "shm/clock_offsets.h"
#include "shm/segment.h"

/* A section as validated against the size from fstat; never read from the segment again. */
struct rtl_section_view {
    uint64_t offset;
    uint32_t stride, capacity;
};

struct rtl_reader {
    int fd;
    const char *base;                                /* the mapping, or NULL: read with pread */
    uint64_t size;                                   /* from fstat, not from the header */
    struct rtl_section_view view[RTL_SECTION_KNOWN]; /* capacity 0: the segment has no such section */
    uint32_t kernels, queues, agents;                /* rows used: the capacity, bounded by this version's limits */
    char comm[RTL_COMM_MAX + 1];
    struct rtl_header header; /* copied at open: the fields written at load */

    char *environment; /* header.environment_length bytes and a terminator; NULL: not published */

    char **name;           /* [kernels], NULL until the row is READY; stable for the reader's life */
    uint32_t *name_length; /* [kernels] */
    uint64_t name_room;    /* bytes of names still allowed: all names fit into their section */

    struct rtl_seen *seen; /* what changes.c handed out last; NULL before */

    /* outcomes of copying histograms, for tests only */
    uint64_t whole;     /* accepted: the buckets' sum equals the count */
    uint64_t retried;   /* attempts that met the writer */
    uint64_t unsettled; /* given up: shown as approximate */

    /* for tests: called before each word loaded from a mapping, so that a test can play the writer */
    void (*meanwhile)(void *context, uint64_t offset);
    void *meanwhile_context;

    /* liveness, set by discover.c; pid 0 after open_fd */
    pid_t pid;
    int pidfd;           /* -1: the kernel has no pidfds */
    uint64_t start_time; /* of the process, in clock ticks since boot: detects a reused pid */
    char link[64];       /* path in /proc of the segment's descriptor */

    struct rtl_clocks clocks; /* set by discover.c; zeros after open_fd */
};

/* Numbers of a kernel's row as changes.c handed them out last. */
struct rtl_seen_row {
    uint64_t count, failed;  /* by the worker: timed, given up */
    uint64_t calls, untimed; /* from the cells of all queues */
    uint8_t quiet;           /* frames since the row changed */
    bool hot;                /* listed in rtl_seen.hot */
    bool unsettled;          /* its histogram met the writer too often: append it again */
    bool listed;             /* in this snapshot */
};

enum { RTL_CELLS_AT_ONCE = 16, RTL_THERE_WORDS = RTL_KERNELS_MAX / RTL_CELLS_AT_ONCE / 64 };

/* State of changes.c between two snapshots. */
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

/* Convert a time of the process (0: none) to the reader's time line: this process's CLOCK_MONOTONIC, or the host's. */
static inline uint64_t rtl_reader_line(const struct rtl_reader *reader, uint64_t mono_ns)
{
    return mono_ns ? mono_ns - (uint64_t)reader->clocks.ahead_ns : 0;
}

/* A block of a snapshot's storage. Blocks never move, because histogram copies point into them. */
struct rtl_block {
    struct rtl_block *next;
    size_t used, size;
    _Alignas(16) char bytes[];
};

/* Copy bytes out of the segment in units of 8 (offset and bytes are multiples), each an acquire load, so that later
 * fetches are not older. False if they lie outside, or can't be read. */
bool rtl_fetch(const struct rtl_reader *reader, uint64_t offset, void *to, size_t bytes);

/* Copy bytes of one entry of a section; bounded by the entry's stride. */
bool rtl_fetch_entry(const struct rtl_reader *reader, enum rtl_section_id section, uint32_t entry, size_t skip,
                     void *to, size_t bytes);

/* Prefetch the first bytes of an entry. Reads nothing, so that no hole of the file becomes a page. */
void rtl_expect_entry(const struct rtl_reader *reader, enum rtl_section_id section, uint32_t entry, size_t bytes);

/* Return the row's name from the cache, reading it the first time. NULL if the row isn't READY; sets *damaged if the
 * row lies. */
const char *rtl_reader_name(struct rtl_reader *reader, uint32_t kernel, bool *damaged);

/* Open the target of a link in /proc if it is a memfd; if that can't be found out, only without `strict`. Descriptor or
 * -errno. */
int rtl_open_memfd_link(const char *path, int flags, bool strict);

/* Copy at most bytes - 1 characters as printable ASCII and terminate them. */
void rtl_copy_printable(char *to, size_t bytes, const char *from, size_t from_bytes);

#endif
