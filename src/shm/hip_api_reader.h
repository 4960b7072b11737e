/*
 * The viewer's side of the API segment (hip_api.h): find it from a pid, refuse what can't be trusted, copy it into a
 * snapshot. The reader never maps the file, it only preads. Limits of this version bound all numbers; names are
 * untrusted bytes.
 */
#ifndef RTL_SHM_HIP_API_READER_H
#define RTL_SHM_HIP_API_READER_H

#include <stdbool.h>
#include <sys/types.h>

#include "shm/hip_api_snapshot.h"

/* Open a process's API segment; the caller closes *fd. Statuses as of rtl_reader_open. */
enum rtl_reader_status rtl_hip_api_open(pid_t pid, int *fd, char *why, size_t why_bytes);

struct rtl_hip_api_request {
    pid_t pid;                 /* stands in the memory rows */
    struct rtl_reader *reader; /* names kernels; NULL: only kernels of the snapshot are known */
    bool without_links;        /* read only rows and memory, which cost less */
};
/* Copy the segment into snapshot->hip_api, which is NULL after a failure. */
enum rtl_reader_status rtl_hip_api_read(int fd, const struct rtl_hip_api_request *request,
                                        struct rtl_snapshot *snapshot, char *why, size_t why_bytes);

/* Copy the text of a row (a function, range or mark). Returns its length, RTL_HIP_API_TEXT at most; 0: no such row. */
uint32_t rtl_hip_api_read_text(int fd, uint32_t row, char text[RTL_HIP_API_TEXT], unsigned *kind);

/* Finds a process's API segment while the process runs. It may appear at any time or never, so searches back off. */
struct rtl_hip_api_source {
    int fd;                       /* -1: not found so far */
    uint64_t search_ns, pause_ns; /* time of the next search; pause after it */
};
void rtl_hip_api_source_open(struct rtl_hip_api_source *source);
void rtl_hip_api_source_close(struct rtl_hip_api_source *source);
/* Add the process's HIP API to a new snapshot, or leave it without. `reader` as in the request. */
void rtl_hip_api_source_read(struct rtl_hip_api_source *source, pid_t pid, struct rtl_reader *reader,
                             struct rtl_snapshot *snapshot);

/* Reads the event rings: HIP calls, roctx ranges and marks that have ended, the newest of each block. Events are in
 * order within a thread, and in no order between threads. The reader counts lost events. */
struct rtl_hip_api_events {
    uint64_t records;                  /* in each ring; 0: there are none */
    uint64_t next[RTL_HIP_API_BLOCKS]; /* number of the record to read next */
    uint64_t lost;
    uint32_t block;   /* to read next */
    int64_t ahead_ns; /* set by the caller: how far the process's clock is ahead of the returned events' time line */
};

/* Start with the oldest records in the rings. False if the process was started without RTL_TRACE. */
bool rtl_hip_api_events_begin(int fd, struct rtl_hip_api_events *events);
/* Copy up to `most` records and return their number; 0: nothing new. */
uint32_t rtl_hip_api_events(int fd, struct rtl_hip_api_events *events, struct rtl_hip_api_event *out, uint32_t most);

#endif
