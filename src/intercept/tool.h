/*
 * The state of the library as a whole, one a process: what OnLoad sets up and everybody else looks at.
 */
#ifndef RTL_INTERCEPT_TOOL_H
#define RTL_INTERCEPT_TOOL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "intercept/hsa_table.h"
#include "intercept/settings.h"
#include "intercept/signals.h"
#include "shm/segment_writer.h"

struct rtl_tool {
    /* Looked at by every dispatch, written when the process's situation changes. */
    _Alignas(64) _Atomic bool recording; /* load sets, fork's child clears: false = pass everything through unseen */
    _Atomic uint32_t parked;             /* worker sets, whoever takes it away wakes the worker (worker.h) */
    _Atomic bool counter;                /* load sets, worker clears: stamp with the time stamp counter */
    _Atomic bool fence;                  /* create, worker: no membarrier here, so each dispatch needs its own fence */
    _Atomic bool stopping; /* load: from the end of timing to the next load; taps look at it when opened */
    bool fragile;          /* load: a release before 6.0, where intercept queues must not fill up (full.h) */
    bool trace;            /* load: there is an event ring, dispatches say what they are for it */
    bool extended;         /* load: vendor packets of format 3 are kernel dispatches here */
    /* the mode in force, and how a dispatch sees that somebody asks for another (mode.h) */
    _Atomic uint32_t policy; /* enum rtl_policy; load, then worker store (release), dispatch loads (acquire) */
    const struct rtl_control *control; /* load: the page that viewers write to */
    _Atomic uint64_t control_seen;     /* its word as it was last looked at: load, then worker store, dispatch loads */
    _Atomic uint64_t control_mask;     /* the bits of it that matter: likewise */

    /* load; constant while a runtime is loaded */
    _Alignas(64) struct rtl_segment segment;
    struct rtl_hsa hsa;
    struct rtl_settings settings;
    bool chained; /* hsa_queue_create was another tool's before it was ours */

    /*
     * Serialises create and destroy of queues, agents, kernels. Never held while the runtime is called with anything
     * that could call back or wait.
     */
    pthread_mutex_t create;
};

extern struct rtl_tool rtl_tool;

/* A full barrier; ThreadSanitizer knows none, but understands an exchange. */
static inline void rtl_full_barrier(void)
{
#if defined(__SANITIZE_THREAD__)
    static _Atomic int somewhere;
    atomic_exchange(&somewhere, 1);
#else
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

/* Adds to a counter in the segment that one thread writes. */
static inline void rtl_count(uint64_t *counter, uint64_t n)
{
    __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
}

/* The same for the slot that queues share. */
static inline void rtl_count_shared(uint64_t *counter, uint64_t n)
{
    __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

#endif
