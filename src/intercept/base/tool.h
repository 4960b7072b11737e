/*
 * What is known of this process and its runtime, one a process: OnLoad sets it up (load.c), everybody else reads it.
 * What every dispatch looks at is elsewhere (track/hot_line.h).
 */
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
    bool fragile;  /* a release before 6.0, where intercept queues must not fill up (throttle.h) */
    bool extended; /* vendor packets of format 3 are kernel dispatches here */
    bool chained;  /* hsa_queue_create was another tool's before it was ours */

    /*
     * Serialises create and destroy of queues, agents, kernels. Never held while the runtime is called with anything
     * that could call back or wait.
     */
    pthread_mutex_t create;
};

extern struct rtl_tool rtl_tool;

/* Adds to a counter in the segment that one thread writes. */
static inline void rtl_count(uint64_t *counter, uint64_t n)
{
    __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
}

/* The same as a release: a reader that sees the new count also sees what was stored before. */
static inline void rtl_count_release(uint64_t *counter, uint64_t n)
{
    __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + n, __ATOMIC_RELEASE);
}

/* The same for the slot that queues share. */
static inline void rtl_count_shared(uint64_t *counter, uint64_t n)
{
    __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

#endif
