/*
 * The gate lets dispatches of a kernel run a probe's copy of it (shm/probe_page.h), one at a time.
 *
 * The worker sets it up, opens and closes it (worker/probe_runner.h). A timed dispatch may take it, and then its packet
 * gets the copy's kernel object. Dispatches test it only while one bit in the line that they read anyway is set
 * (rtl_hot.more): without an armed probe it costs nothing.
 *
 *  CLOSED -> FREE        worker: all fields are set (release)
 *  FREE -> TAKEN         dispatch, compare-and-swap; back to FREE if it can't run this copy
 *  TAKEN -> HELD         worker: the dispatch has completed; its numbers are being read
 *  HELD -> FREE          worker: the block is cleared again
 *  FREE, HELD -> CLOSED  worker: no dispatch can take it, nothing runs the copy
 *
 * So the fields don't change for a thread that has taken it until its dispatch has completed, however slow the thread
 * is.
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
    /* worker stores, any loads; the thread that destroys the kernel's executable clears them for good: the kernel
     * that a viewer requested, and while armed, the kernel object of packets to probe */
    _Alignas(64) _Atomic uint64_t wanted_object, kernel_object;
    _Atomic uint32_t state; /* enum rtl_probe_gate_state */
    _Atomic bool failed;    /* any sets: a queue failed while the gate was taken */
    /* worker, while it is CLOSED */
    const struct rtl_gpu *gpu; /* the GPU of the kernel object */
    uint64_t probed_object;
    uint32_t private_bytes, group_bytes; /* needs of the copy: a packet with less memory doesn't run it */
    uint32_t every;                      /* least distance between two probed dispatches */
    /* dispatch (atomic additions); worker clears them while CLOSED */
    _Atomic uint64_t seen;  /* dispatches of that kernel object */
    _Atomic uint64_t taken; /* dispatches that took the gate */
    _Atomic uint64_t due;   /* the last one that took it: the value of `seen` at which the next may */
    /* the dispatch that took it, then worker */
    uint32_t grid[3];
    uint16_t workgroup[3];
};

extern struct rtl_probe_gate rtl_probe_gate;

/* Dispatch, off the steady path: try to take the gate for a kernel dispatch. Returns the kernel object for its
 * packet, 0: unchanged. If not 0 the caller must push the dispatch to the worker, marked RTL_PENDING_PROBED. */
uint64_t rtl_probe_gate_try(const struct rtl_tracker *tracker, const hsa_kernel_dispatch_packet_t *packet, bool timed);

/* The thread that destroys an executable, after its kernels were forgotten (kernel_rows.h) and before the runtime
 * does it. */
void rtl_probe_gate_forget(void);

/* Any: a queue has failed. */
void rtl_probe_gate_queue_failed(void);

#endif
