/*
 * The viewer's side of the API segment (shm/hip_api.h): finding it from a pid, refusing what can't be trusted, copying
 * it. Everything goes through pread. What comes out is bounded by this version's limits; names are untrusted bytes.
 */
#ifndef RTL_SHM_HIP_API_READER_H
#define RTL_SHM_HIP_API_READER_H

#include <stdbool.h>
#include <sys/types.h>

#include "shm/hip_api.h"
#include "shm/segment_reader.h"

struct rtl_hip_api_row_copy {
    char text[RTL_HIP_API_TEXT];
    uint32_t text_bytes;
    unsigned kind;
    uint64_t calls, total_ns, most_ns, bytes, errors, open, in_use, codes_more;
    struct rtl_hip_api_code code[RTL_HIP_API_CODES];
    struct rtl_hip_api_buckets *buckets; /* their sum is `calls`; NULL when that is 0 */
};

struct rtl_hip_api_launches_copy { /* of one kernel; the buckets are asked for (rtl_hip_api_read_launches) */
    uint32_t kernel;
    uint64_t calls; /* at least one; what the buckets add up to may be more by now */
    uint64_t total_ns, most_ns;
};

struct rtl_hip_api_pair_copy {
    uint32_t number;       /* for its buckets (rtl_hip_api_read_pair) */
    uint32_t node, kernel; /* the node is READY */
    uint64_t total_ns, most_ns;
};

struct rtl_hip_api_copy {
    struct rtl_hip_api_header header;
    bool links; /* what follows `memory` is there: a library older than 1.1 writes none of it */
    uint32_t count;
    struct rtl_hip_api_row_copy *rows; /* those that were called or are open, functions first */
    struct rtl_hip_api_memory memory[RTL_HIP_API_PLACES];
    struct rtl_hip_api_thread thread[RTL_HIP_API_BLOCKS]; /* those with a tid */
    struct rtl_hip_api_queue linked;                      /* the sum of all queues */
    uint32_t node_count;
    struct rtl_hip_api_node
        *nodes; /* by number; those that aren't READY are zeros. A parent's number is smaller, always */
    char (*node_text)[RTL_HIP_API_TEXT]; /* by number, as the rows' text */
    uint8_t *node_text_bytes;
    uint32_t launch_count;
    struct rtl_hip_api_launches_copy *launches; /* by row of the kernel, ascending */
    uint32_t pair_count;
    struct rtl_hip_api_pair_copy *pairs; /* those that have counted; none of a library older than 1.2 */
};

/* The descriptor of a process's API segment, which the caller closes; statuses as of rtl_reader_open. */
enum rtl_reader_status rtl_hip_api_open(pid_t pid, int *fd, char *why, size_t why_bytes);

/* Copies what the descriptor's file says now. rtl_hip_api_free also after a failure. */
enum rtl_reader_status rtl_hip_api_read(int fd, struct rtl_hip_api_copy *copy, char *why, size_t why_bytes);
void rtl_hip_api_free(struct rtl_hip_api_copy *copy);

/* How long it took from a call's begin to the start of that kernel. False: it can't be read. */
bool rtl_hip_api_read_launches(int fd, uint32_t kernel, struct rtl_hip_api_buckets *out);

/* How long the kernel of a pair took in its range. False: it can't be read. */
bool rtl_hip_api_read_pair(int fd, const struct rtl_hip_api_copy *copy, uint32_t number,
                           struct rtl_hip_api_buckets *out);

/* The text of a row by its number (a function, range or mark), up to RTL_HIP_API_TEXT bytes; 0 when there is none. */
uint32_t rtl_hip_api_read_text(int fd, uint32_t row, char text[RTL_HIP_API_TEXT], unsigned *kind);

/*
 * Events: calls, ranges and marks that have ended, the newest of each block's ring. In order within a thread, between
 * threads in none. Lost ones are counted.
 */
struct rtl_hip_api_events {
    uint64_t records;                  /* in each ring; 0: there are none */
    uint64_t next[RTL_HIP_API_BLOCKS]; /* number of the record that is read next */
    uint64_t lost;
    uint32_t block; /* which is read next */
    int64_t
        ahead_ns; /* set by the caller: how far the process's clock is ahead of the time line of the returned events */
};

/* From what is there now on. False when the process was started without RTL_TRACE. */
bool rtl_hip_api_events_begin(int fd, struct rtl_hip_api_events *events);
/* Copies out up to `most` whole records, and returns how many. */
uint32_t rtl_hip_api_events(int fd, struct rtl_hip_api_events *events, struct rtl_hip_api_event *out, uint32_t most);

#endif
