/*
 * A tracker: the library's state of one watched queue of the application.
 *
 * Code that handles packets gets a tracker and a packet; it doesn't depend on the kind of queue (hooks/packets.h).
 *
 * Life: FREE -> (create) LIVE -> (destroy) GONE -> (worker, when everything in flight is accounted for) FREE, to be
 * reused; or LIVE -> (unload) DEAD for ever, because a callback may still come. The thread that makes a tracker GONE
 * must not touch it afterwards: another queue may get it at once. Trackers are never freed and stay chained for ever,
 * so any thread can iterate without a lock.
 */
#ifndef RTL_INTERCEPT_QUEUE_TRACKER_H
#define RTL_INTERCEPT_QUEUE_TRACKER_H

#include <hsa/hsa.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "intercept/base/agents.h"
#include "intercept/track/pending.h"
#include "intercept/track/signal_pool.h"
#include "shm/segment.h"

enum rtl_tracker_state { RTL_TRACKER_FREE, RTL_TRACKER_LIVE, RTL_TRACKER_GONE, RTL_TRACKER_DEAD };

/* The result of tending a tracker: when to tend it again. */
enum rtl_tend { RTL_TEND_NOTHING, RTL_TEND_RARELY, RTL_TEND_LATER, RTL_TEND_SOON, RTL_TEND_NOW };

#define RTL_TEND_END UINT64_MAX /* as time: the worker ends and tends it for the last time */

/* Dispatches are timed. Any other reason is an enum rtl_untimed_reason of the dispatch path. */
enum { RTL_NO_REASON = -1 };

#define RTL_NO_SIGNAL UINT32_MAX /* no signal's number: ends a list */

#define RTL_FIRST_WANTED UINT32_MAX /* in first_kernel: a thread waits for the worker's answer */

/* A packet that carries a signal of ours: once that is lowered, the GPU has consumed all packets up to `index`. */
struct rtl_mark {
    uint64_t index;
    uint32_t number; /* of a signal in the pool, or RTL_MARKER + n for marker n */
};
enum { RTL_MARKS = 4, RTL_MARKER = RTL_NUMBERS };
_Static_assert((uint64_t)RTL_MARKER + RTL_MARKS <= RTL_NO_SIGNAL, "each has its own number");
_Static_assert(RTL_KERNELS_MAX <= 1 << 16, "rows have 16 bits in the pending ring (pending.h)");

/* A signal of the tracker, for a mark when the pool has none left. It times nothing. */
struct rtl_marker {
    hsa_signal_t signal; /* create; handle 0 = none; load removes it at the end (throttle.c) */
    uint64_t index;      /* dispatch: the packet that carries it or last carried it */
};

struct rtl_tracker {
    /* create, before the tracker goes LIVE */
    struct rtl_tracker *next;          /* for ever */
    struct rtl_queue *counters;        /* the slot in the segment */
    struct rtl_dispatches *dispatches; /* the slot's rows in the segment */
    struct rtl_gpu *gpu;
    struct rtl_pool *pool; /* the worker reads it at any time */
    hsa_queue_t *queue;    /* create; NULL until the runtime has made it */
    const char *ring;      /* ring of the queue, which bounds batches; NULL = unknown */
    uint64_t ring_bytes;
    char *scratch; /* copies of batches: one packet more than the queue has (throttle.h) */
    uint32_t scratch_packets;
    uint32_t packets; /* create: size of the queue; 0: it is gone */
    uint32_t slot;
    _Atomic uint32_t batch; /* signals to acquire at once; create stores, also later as queues come, dispatch loads */
    bool cooperative;       /* set before use: the kernels' workgroups must run concurrently */
    bool named;             /* create: described in the segment */
    bool failed;            /* create: its error is in the segment */
    bool remains;           /* create, before GONE; then worker: the runtime didn't destroy the queue */
    bool guarded;           /* the queue must not fill up (throttle.h) */
    _Atomic uint32_t generation; /* of the slot, 0 = shared; create stores, worker loads for events */
    bool shared;                 /* the slot is the shared one: other queues count in it, too */
    struct rtl_notes *notes;     /* create: notes of its packets by index, NULL: none (links.h) */
    struct rtl_native *native;   /* create: state of a native queue (native_ring.h), else NULL */
    /* create; NULL = the queue needs no tending. The worker calls it in every round (rtl_tracker_tend). */
    _Atomic(enum rtl_tend (*)(struct rtl_tracker *tracker, uint64_t now_ns)) tend;

    _Atomic uint32_t state; /* enum rtl_tracker_state: create and worker store (release), any loads (acquire) */
    /* A futex. Any stores RTL_FIRST_WANTED; the worker replaces it (release) with row + 1 of the first kernel in
     * flight, 0: none. */
    _Atomic uint32_t first_kernel;
    _Atomic int reason;          /* create, load: enum rtl_untimed_reason, or RTL_NO_REASON; dispatch loads */
    _Atomic uint32_t rows_ready; /* worker, dispatch (grows only): rows whose pages are present */

    /* dispatch; the worker once no dispatch can be inside */
    _Alignas(64) _Atomic uint32_t inside; /* dispatch: 1 during a call; the worker waits for 0 at the end */
    uint32_t cached;                      /* cached free signals */
    uint8_t barrier;                      /* RTL_PENDING_BARRIER: for the next dispatch; or 0 */
    uint32_t cache[RTL_SIGNALS_BATCH];
    uint32_t stand_ins_cached; /* cached stand-ins */
    uint32_t stand_ins[RTL_SIGNALS_BATCH];

    uint64_t written; /* packets published for this queue */
    /* only if guarded: */
    uint64_t check_at;               /* check how full the queue is when `written` reaches this; else UINT64_MAX */
    uint64_t known;                  /* the GPU has consumed at least that many of `written` */
    uint64_t stuck_at;               /* `known` when waiting timed out; UINT64_MAX = never */
    struct rtl_mark newest;          /* the last packet with a signal of ours */
    struct rtl_mark mark[RTL_MARKS]; /* some packets before it, a quarter of the queue apart */
    uint32_t marks;
    struct rtl_marker marker[RTL_MARKS];
    _Atomic uint32_t
        reading; /* dispatch stores, a thread that destroys signals loads: the mark that it may be reading */
    struct rtl_pool *markers_of; /* create: the pool that made the markers */

    struct rtl_pending pending;

    /* worker */
    _Alignas(64) uint32_t first; /* list of the signals in flight, in order of submission */
    uint32_t last;
    uint32_t cursor;           /* signal behind which the slow scan of all of them continues */
    uint32_t open;             /* their number */
    uint64_t last_end;         /* ticks; 0 before the first completion */
    _Atomic uint64_t consumed; /* worker stores, dispatch loads: the GPU has consumed at least that many of `written` */
};

extern struct rtl_tracker *_Atomic rtl_trackers; /* the chain; create stores (release), any loads (acquire) */

/* Create: return a LIVE tracker for that GPU and a queue of `packets` packets, with all fields but the queue; NULL
 * when there is no memory. Its dispatches are timed with that pool's signals, or counted as untimed for `reason`.
 * Adapts the pool's limit to the queues. */
struct rtl_tracker *rtl_tracker_open(struct rtl_gpu *gpu, struct rtl_pool *pool, int reason, bool guarded,
                                     uint32_t packets);
/* Create, before callbacks come: reserve memory to rewrite a batch as large as the queue; touched only if one comes. */
void rtl_tracker_make_scratch(struct rtl_tracker *tracker, uint32_t packets);
/* Create: describe the queue in the segment, under that id. */
void rtl_tracker_name(struct rtl_tracker *tracker, const hsa_queue_t *queue, uint64_t id);
/* Create: the queue is gone or was never made: show it as gone and time nothing on it. The worker frees the tracker
 * when everything in flight is accounted for (rtl_worker_settle). */
void rtl_tracker_close(struct rtl_tracker *tracker);

/* Load: a runtime is there; the runtime goes, so no dispatch is timed from now on; afterwards, without a worker, the
 * trackers are dead for good. */
void rtl_trackers_start(void);
void rtl_trackers_stop(void);
void rtl_trackers_retire(void);

/* Any: true between the end of timing and the next load. Sequentially consistent. */
bool rtl_trackers_stopping(void);

/* Everything in flight on the tracker is accounted for: another queue may get it and its slot at once. Worker;
 * create where there is no worker. */
void rtl_tracker_free(struct rtl_tracker *tracker);

/* Worker: tend the queue, if it needs that. */
enum rtl_tend rtl_tracker_tend(struct rtl_tracker *tracker, uint64_t now_ns);
/* Create: afterwards the worker doesn't tend the queue any more. */
void rtl_tracker_stop_tending(struct rtl_tracker *tracker);

/* Create, under its lock: publish the queue error, if it is the queue's first. `kernel`: row + 1, 0: not known. */
void rtl_tracker_fail(struct rtl_tracker *tracker, uint32_t status, uint32_t kernel);

/* Create, dispatch, worker: publish how packets of this queue reach the library, and the reason. */
void rtl_tracker_set_path(const struct rtl_tracker *tracker, enum rtl_queue_path path, enum rtl_path_reason why);

/* Worker, dispatch: populate the pages of a tracker's rows below `rows`. False when there is no memory. */
bool rtl_tracker_populate(struct rtl_tracker *tracker, uint32_t rows);

#endif
