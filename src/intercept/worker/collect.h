/*
 * Collecting: from completed signals to recorded times. Everything here belongs to the worker thread.
 */
#ifndef RTL_INTERCEPT_COLLECT_H
#define RTL_INTERCEPT_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include "intercept/base/hsa_clock.h"
#include "intercept/track/links.h"
#include "intercept/track/signal_pool.h"
#include "intercept/track/queue_tracker.h"
#include "stats/recorder.h"

struct rtl_collector {
    struct rtl_recorder *recorder;
    struct rtl_pool *pool;
    struct rtl_tsc_line tsc;
    uint64_t began;          /* monotonic ns: when it was made, before anything of this load was over */
    uint32_t open;           /* dispatches in flight, over all trackers, */
    uint32_t open_stand_ins; /* and those of them that carry a signal of the application's */
    uint32_t most;           /* the most signals of ours in flight since somebody looked */
    uint64_t seen;           /* dispatches that came in through the pending rings, ever */
    uint64_t completed;      /* and those that are accounted for */
    uint32_t back_count;     /* numbers on their way back into the free ring */
    uint32_t back_stand_ins_count;
    uint32_t back[64], back_stand_ins[64];
    struct rtl_flight {  /* by number: the dispatch in flight, on the list of its tracker */
        uint64_t submit; /* when, on the clock that `how` says */
        uint32_t next;   /* number of the next one in flight, or RTL_NO_SIGNAL */
        uint16_t kernel; /* row in the segment */
        uint8_t how;     /* bits of RTL_PENDING_* (pending.h) */
    } flight[RTL_NUMBERS];
};

/* Signals of the pool that are in flight. */
static inline uint32_t rtl_collect_in_use(const struct rtl_collector *collector)
{
    return collector->open - collector->open_stand_ins;
}

/* Takes in what was dispatched on a tracker. */
void rtl_collect_pending(struct rtl_collector *collector, struct rtl_tracker *tracker);

/* Records what has completed, in any order. Bounded: returns how many it recorded, at most `most`. */
uint32_t rtl_collect_tracker(struct rtl_collector *collector, struct rtl_tracker *tracker, uint32_t most);

/*
 * Accounts for everything that is still in flight on a tracker under a reason of the worker's. Its signals are used
 * again only if `reuse`: when nothing can write to them any more.
 */
void rtl_collect_abandon(struct rtl_collector *collector, struct rtl_tracker *tracker, enum rtl_untimed_reason reason,
                         bool reuse);

/* Gives back the signals that a tracker that is GONE had at hand. */
void rtl_collect_close(struct rtl_collector *collector, struct rtl_tracker *tracker);

/*
 * Fills in agent and time of a record, for something that started at that tick, and puts it into the event ring. Behind
 * rtl_ticks_believed of its end, which sees to the GPU's clock. `link` is NULL where calls aren't recorded.
 */
void rtl_collect_event(const struct rtl_gpu *gpu, uint64_t start, struct rtl_event_record *event,
                       const struct rtl_link *link);

/* Gives back the numbers in `back`. To be called after every round. */
void rtl_collect_flush(struct rtl_collector *collector);

#endif
