/*
 * A tracker: what the library keeps about one queue of the application while it watches it.
 *
 * What decides about packets gets a tracker and a packet and knows nothing of how the packet came (hooks/packets.h).
 *
 * Life: FREE -> (create) LIVE -> (destroy) GONE -> (worker, when all that was in flight is accounted for) FREE, to be
 * used again; or LIVE -> (unload) DEAD for ever, because a callback may still come. Whoever makes a tracker GONE must
 * not touch it afterwards: it may be another queue's the next moment. Trackers are never given back to the system, and
 * are chained for good: the chain can be walked without a lock.
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

/* What looking after a tracker says: when it has to be looked at again. */
enum rtl_tend { RTL_TEND_NOTHING, RTL_TEND_RARELY, RTL_TEND_LATER, RTL_TEND_SOON, RTL_TEND_NOW };

#define RTL_TEND_END UINT64_MAX /* for the time: the worker ends, nobody will look after it again */

/* Dispatches are timed; any other reason is an enum rtl_untimed_reason of the dispatch path. */
enum { RTL_NO_REASON = -1 };

#define RTL_NO_SIGNAL UINT32_MAX /* not a signal's number: ends a list */

/* A packet that carries a signal of ours: when that is down, the GPU has taken all packets up to `index`. */
struct rtl_mark {
    uint64_t index;
    uint32_t number; /* of a signal in the pool, or RTL_MARKER + n for marker n */
};
enum { RTL_MARKS = 4, RTL_MARKER = RTL_NUMBERS };
_Static_assert((uint64_t)RTL_MARKER + RTL_MARKS <= RTL_NO_SIGNAL, "each has its own number");
_Static_assert(RTL_KERNELS_MAX <= 1 << 16, "rows have 16 bits in the pending ring (pending.h)");

/* A signal of the tracker's own, for a mark where the pool has none left. Nothing is timed with it. */
struct rtl_marker {
    hsa_signal_t signal; /* create; handle 0 = none; at the end load takes it away (throttle.c) */
    uint64_t index;      /* dispatch: the packet that carries it or carried it last */
};

struct rtl_tracker {
    /* create, before the tracker goes LIVE */
    struct rtl_tracker *next;          /* for ever */
    struct rtl_queue *counters;        /* in the segment: the slot */
    struct rtl_dispatches *dispatches; /* in the segment: the slot's, by row */
    struct rtl_gpu *gpu;
    struct rtl_pool *pool; /* also looked at by the worker, at any time */
    hsa_queue_t *queue;    /* NULL while it isn't known yet; create only */
    const char *ring;      /* packets of the queue, to bound batches by; NULL = not known */
    uint64_t ring_bytes;
    char *scratch; /* for batches: as many packets as the queue has slots, and one behind them (throttle.h) */
    uint32_t scratch_packets;
    uint32_t packets; /* size of the queue; 0: the queue is gone. Create only */
    uint32_t slot;
    _Atomic uint32_t batch;      /* signals to take at once; create stores, also later as queues come, dispatch loads */
    bool cooperative;            /* the queue is: its kernels' workgroups have to run all at once; before it is used */
    bool named;                  /* described in the segment; create only */
    bool remains;                /* the runtime didn't destroy the queue; create, before GONE; worker loads behind it */
    bool guarded;                /* the queue must not fill up (throttle.h) */
    _Atomic uint32_t generation; /* of the slot, 0 = shared; create stores, worker loads for events */
    bool shared;                 /* the slot is the shared one: others count in it too */
    struct rtl_notes *notes;     /* create: what is noted of its packets, by index; NULL: nothing (links.h) */
    struct rtl_native *native;   /* create: where the library stands in front of the queue itself (native_ring.h) */
    /* create; NULL = the queue needs no looking after. The worker calls it in every round (rtl_tracker_tend). */
    _Atomic(enum rtl_tend (*)(struct rtl_tracker *tracker, uint64_t now_ns)) tend;

    _Atomic uint32_t state;      /* enum rtl_tracker_state: create and worker store (release), any loads (acquire) */
    _Atomic int reason;          /* create, load: enum rtl_untimed_reason, or RTL_NO_REASON; dispatch loads */
    _Atomic uint32_t rows_ready; /* worker, dispatch (grows only): rows whose pages are present */

    /* dispatch; the worker once no dispatch can be inside any more */
    _Alignas(64) _Atomic uint32_t inside; /* dispatch: 1 while a call is under way; the worker waits for 0 at the end */
    uint32_t cached;                      /* free signals at hand */
    uint32_t cache[RTL_SIGNALS_BATCH];
    uint32_t stand_ins_cached; /* and stand-ins */
    uint32_t stand_ins[RTL_SIGNALS_BATCH];

    uint64_t written; /* packets handed on for this queue */
    /* only where the tracker is guarded: */
    uint64_t check_at;               /* `written` at which to look how full the queue is; else UINT64_MAX */
    uint64_t known;                  /* the GPU has taken at least that many of `written` */
    uint64_t stuck_at;               /* `known` when waiting for more was given up; UINT64_MAX = never */
    struct rtl_mark newest;          /* the last packet with a signal of ours */
    struct rtl_mark mark[RTL_MARKS]; /* and some before it, a quarter of the queue apart */
    uint32_t marks;
    struct rtl_marker marker[RTL_MARKS];
    _Atomic uint32_t reading;    /* dispatch stores, whoever destroys signals loads: the mark that it may be reading */
    struct rtl_pool *markers_of; /* create: the pool that the markers were made with */

    struct rtl_pending pending;

    /* worker */
    _Alignas(64) uint32_t first; /* list of the signals in flight, in the order of submission */
    uint32_t last;
    uint32_t cursor;           /* signal after which the slow scan over all of them goes on */
    uint32_t open;             /* how many */
    uint64_t last_end;         /* ticks; 0 before the first completion */
    _Atomic uint64_t consumed; /* worker stores, dispatch loads: the GPU has taken at least that many of `written` */
};

/* The chain of all trackers. */
extern struct rtl_tracker *_Atomic rtl_trackers; /* create stores (release), any loads (acquire) */

/*
 * Returns an unused tracker for that GPU with everything set but the queue, which will have room for `packets` packets;
 * NULL when there is no memory. Its dispatches are timed with that pool's signals, or counted as untimed for `reason`.
 * Adapts the pool's limit to the queues. Create.
 */
struct rtl_tracker *rtl_tracker_open(struct rtl_gpu *gpu, struct rtl_pool *pool, int reason, bool guarded,
                                     uint32_t packets);
/* Room to rewrite a batch as large as the queue; only touched if there ever is one. Create, before callbacks come. */
void rtl_tracker_make_scratch(struct rtl_tracker *tracker, uint32_t packets);
/* The queue is known: describes it in the segment, under that id. Create. */
void rtl_tracker_name(struct rtl_tracker *tracker, const hsa_queue_t *queue, uint64_t id);
/* The queue is no more, or was never made: nothing on it is timed from now on, and it is shown as gone. Create; the
 * tracker itself goes when the worker has accounted for what was in flight (rtl_worker_settle). */
void rtl_tracker_close(struct rtl_tracker *tracker);

/* Load: a runtime is there. Then, when it goes: no dispatch is timed from now on; afterwards, with the worker gone, the
 * trackers are dead for good. */
void rtl_trackers_start(void);
void rtl_trackers_stop(void);
void rtl_trackers_retire(void);

/* Any: between the end of timing and the next load. Sequentially consistent. */
bool rtl_trackers_stopping(void);

/*
 * All that was in flight on the tracker is accounted for: it and its slot may be another queue's at once. Worker;
 * create where there is none.
 */
void rtl_tracker_free(struct rtl_tracker *tracker);

/* Worker: looks after the queue, where that is needed. */
enum rtl_tend rtl_tracker_tend(struct rtl_tracker *tracker, uint64_t now_ns);
/* Create: the worker won't look after the queue any more when this returns. */
void rtl_tracker_stop_tending(struct rtl_tracker *tracker);

/* Create, dispatch, worker: how packets come to the library from this queue, and why so. */
void rtl_tracker_set_path(const struct rtl_tracker *tracker, enum rtl_queue_path path, enum rtl_path_reason why);

/* Makes the pages of the rows below present for a tracker. Worker, dispatch. False: there is no memory. */
bool rtl_tracker_populate(struct rtl_tracker *tracker, uint32_t rows);

#endif
