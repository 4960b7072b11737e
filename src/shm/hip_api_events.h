/*
 * Reads the API segment's event rings: HIP calls, roctx ranges and marks that have ended, the newest of each block.
 * Events are in order within a thread, and in no order between threads. The reader counts lost events.
 */
#ifndef RTL_SHM_HIP_API_EVENTS_H
#define RTL_SHM_HIP_API_EVENTS_H

#include <stdbool.h>

#include "shm/hip_api.h"

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
