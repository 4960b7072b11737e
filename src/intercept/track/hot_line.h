/*
 * The cache line that every dispatch reads and that hardly ever changes. What is in it belongs to the files that are
 * named here: each field is read and written through the functions of its owner, and of nobody else.
 */
#ifndef RTL_INTERCEPT_HOT_LINE_H
#define RTL_INTERCEPT_HOT_LINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct rtl_control;

struct rtl_hot_line {
    /* load.c: false = all packets pass uncounted; set when everything is ready, cleared in a fork's child */
    _Alignas(64) _Atomic bool recording;
    bool linked; /* load.c: there is librtl-hip.so, dispatches and copies are linked to calls (links.h) */
    /* bits of RTL_MORE_*: what else is done with a packet; load.c, then worker/probe.c. Dispatch loads */
    _Atomic uint8_t more;
    bool trace;       /* load.c: there is an event ring, dispatches say what they are for it */
    _Atomic bool tsc; /* load.c sets, worker.c clears: stamp with the time stamp counter */
    /* barrier.h */
    _Atomic bool fence; /* no membarrier here, so each dispatch needs its own fence */
    /* wakeup.h */
    _Atomic uint32_t parked; /* 1: the worker sleeps for good; whoever sets it to 0 wakes it. A futex */
    /* policy.h */
    _Atomic uint32_t policy;           /* enum rtl_policy */
    const struct rtl_control *control; /* the page that viewers write to; never NULL */
    _Atomic uint64_t control_seen;     /* its word as it was last looked at */
    _Atomic uint64_t control_mask;     /* the bits of it that matter */
};
_Static_assert(sizeof(struct rtl_hot_line) == 64, "one line");

extern struct rtl_hot_line rtl_hot;

enum {
    RTL_MORE_LINKED = 1, /* as `linked` */
    RTL_MORE_PROBE = 2,  /* a probe is armed (probe.h) */
};

/* Any: false = the hooks only pass on. */
static inline bool rtl_recording(void)
{
    return atomic_load_explicit(&rtl_hot.recording, memory_order_relaxed);
}

#endif
