/* State of the process and its runtime. OnLoad (load.c) sets it up, all other files read it. The fields that every
 * dispatch reads are in track/hot_line.h. */
#ifndef RTL_INTERCEPT_TOOL_H
#define RTL_INTERCEPT_TOOL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "intercept/base/hsa_table.h"
#include "intercept/base/env_settings.h"
#include "shm/segment_writer.h"

struct rtl_tool {
    /* load; constant while a runtime is loaded */
    struct rtl_segment segment;
    struct rtl_hsa hsa;
    struct rtl_env_settings settings;
    bool fragile;  /* release before 6.0: intercept queues must not fill up (throttle.h) */
    bool extended; /* vendor packets of format 3 are kernel dispatches */
    bool chained;  /* another tool hooked hsa_queue_create before us */

    /* Serialises create and destroy of queues, agents and kernels. Not held over calls of the runtime that may call
     * back or wait. */
    pthread_mutex_t create;
};

extern struct rtl_tool rtl_tool;

/* Add to a counter in the segment that one thread writes. */
static inline void rtl_count(uint64_t *counter, uint64_t n)
{
    __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
}

/* Add as a release: a reader that sees the new count also sees what was stored before. */
static inline void rtl_count_release(uint64_t *counter, uint64_t n)
{
    __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + n, __ATOMIC_RELEASE);
}

/* Add in the slot that queues share. */
static inline void rtl_count_shared(uint64_t *counter, uint64_t n)
{
    __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

#endif
