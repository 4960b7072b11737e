/* The cache line that every dispatch reads and that rarely changes. Each field belongs to the file named here: other
 * files use that file's functions. */
#ifndef RTL_INTERCEPT_HOT_LINE_H
#define RTL_INTERCEPT_HOT_LINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct rtl_control;

struct rtl_hot_line {
    /* load.c: false = all packets pass uncounted; set when everything is ready, cleared in a forked child */
    _Alignas(64) _Atomic bool recording;
    bool linked; /* load.c: with librtl-hip.so dispatches and copies are linked to calls (links.h) */
    /* bits of RTL_MORE_*: additional work for each packet; load.c, then worker/probe_runner.c store, dispatch loads */
    _Atomic uint8_t more;
    bool trace;       /* load.c: with an event ring dispatches record their grid */
    _Atomic bool tsc; /* load.c sets, worker.c clears: stamp with the time stamp counter */
    /* barrier.h */
    _Atomic bool fence; /* without membarrier each dispatch needs its own fence */
    /* wakeup.h */
    _Atomic uint32_t
        parked; /* 1: the worker sleeps without a timeout; the thread that sets it to 0 wakes it. A futex */
    /* policy.h */
    _Atomic uint32_t policy;           /* enum rtl_policy */
    const struct rtl_control *control; /* the page that viewers write to; never NULL */
    _Atomic uint64_t control_seen;     /* its word when the worker last read it */
    _Atomic uint64_t control_mask;     /* the bits of the word that matter */
};
_Static_assert(sizeof(struct rtl_hot_line) == 64, "one line");

extern struct rtl_hot_line rtl_hot;

enum {
    RTL_MORE_LINKED = 1, /* as `linked` */
    RTL_MORE_PROBE = 2,  /* a probe is armed (probe_gate.h) */
};

/* Any: false = the hooks only pass on. */
static inline bool rtl_recording(void)
{
    return atomic_load_explicit(&rtl_hot.recording, memory_order_relaxed);
}

#endif
