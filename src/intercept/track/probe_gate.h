/*
 * The gate: through which dispatches of a kernel go that run a probe's copy of it (shm/probe_page.h), one at a time.
 *
 * The worker sets it up, opens and closes it (worker/probe.h); a dispatch that is timed may take it, and then the
 * packet gets the copy's kernel object. It is looked at only while one bit of the line that every dispatch reads anyway
 * is set (rtl_hot.more): with no probe armed it costs nothing.
 *
 *     CLOSED -> FREE    worker: all below is as it should be (release)
 *     FREE   -> TAKEN   dispatch, compare-and-swap; back to FREE where it turns out that it can't run this copy
 *     TAKEN  -> HELD    worker: that dispatch is over; its numbers are read
 *     HELD   -> FREE    worker: the block is clear again
 *     FREE, HELD -> CLOSED   worker: nobody can take it any more, nothing runs the copy
 *
 * So whoever has taken it finds its fields unchanged until the dispatch is over, however late the thread is.
 */
#ifndef RTL_INTERCEPT_PROBE_GATE_H
#define RTL_INTERCEPT_PROBE_GATE_H

#include <hsa/hsa.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "intercept/track/queue_tracker.h"

enum rtl_probe_gate_state { RTL_GATE_CLOSED, RTL_GATE_FREE, RTL_GATE_TAKEN, RTL_GATE_HELD };

struct rtl_probe_gate {
    /* worker stores, any loads; who destroys its executable makes them 0, for good: what a viewer has asked for a probe
     * of, and while it is armed what packets say that are to be probed */
    _Alignas(64) _Atomic uint64_t wanted_object, kernel_object;
    _Atomic uint32_t state; /* enum rtl_probe_gate_state */
    _Atomic bool failed;    /* any sets: a queue failed while the gate was taken */
    /* worker, while it is CLOSED */
    const struct rtl_gpu *gpu; /* whose kernel object it is */
    uint64_t probed_object;
    uint32_t private_bytes, group_bytes; /* what the copy needs: a packet that gives it less doesn't run it */
    uint32_t every;                      /* dispatches from one that is probed to the next, at least */
    /* dispatch (atomic additions); worker makes it 0 while it is CLOSED */
    _Atomic uint64_t seen;  /* dispatches of that kernel object */
    _Atomic uint64_t taken; /* of those, the ones that took the gate */
    _Atomic uint64_t due;   /* who took it last: the next does so at `seen` */
    /* who has taken it, then worker */
    uint32_t grid[3];
    uint16_t workgroup[3];
};

extern struct rtl_probe_gate rtl_probe_gate;

/*
 * Dispatch, off the steady path: a kernel dispatch, which is timed or not. What its packet is to say instead of its
 * kernel object; 0: it stays as it is. Who gets one must put the dispatch on its way to the worker, marked.
 */
uint64_t rtl_probe_gate_try(const struct rtl_tracker *tracker, const hsa_kernel_dispatch_packet_t *packet, bool timed);

/* Who destroys an executable, when its kernels have been forgotten (kernel_rows.h) and before the runtime does. */
void rtl_probe_gate_forget(void);

/* Any: a queue has failed. */
void rtl_probe_gate_queue_failed(void);

#endif
