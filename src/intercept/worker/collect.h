/* Records the times of completed signals. Worker only. */
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
    uint64_t began;          /* monotonic ns when it was made; all dispatches of this load complete later */
    uint32_t open;           /* dispatches in flight, over all trackers */
    uint32_t open_stand_ins; /* those that carry a signal of the application */
    uint32_t most;           /* most signals of ours in flight since the last reset */
    uint64_t seen;           /* dispatches taken from pending rings so far */
    uint64_t completed;      /* dispatches accounted for so far */
    uint32_t back_count;     /* numbers to return to the free ring */
    uint32_t back_stand_ins_count;
    uint32_t back[64], back_stand_ins[64];
    struct rtl_flight {  /* by number: a dispatch in flight, on its tracker's list */
        uint64_t submit; /* time of submission, on the clock in `how` */
        uint32_t next;   /* number of the next in flight, or RTL_NO_SIGNAL */
        uint16_t kernel; /* row in the segment */
        uint8_t how;     /* bits of RTL_PENDING_* (pending.h) */
    } flight[RTL_NUMBERS];
};

/* Return the number of the pool's signals in flight. */
static inline uint32_t rtl_collect_in_use(const struct rtl_collector *collector)
{
    return collector->open - collector->open_stand_ins;
}

/* Move a tracker's pending dispatches to its list. */
void rtl_collect_pending(struct rtl_collector *collector, struct rtl_tracker *tracker);

/* Record completed dispatches, in any order. Bounded: returns the number recorded, at most `most`. */
uint32_t rtl_collect_tracker(struct rtl_collector *collector, struct rtl_tracker *tracker, uint32_t most);

/* Account for everything in flight on a tracker under that reason. Recycles its signals only if `reuse`: when
 * nothing can write to them any more. */
void rtl_collect_abandon(struct rtl_collector *collector, struct rtl_tracker *tracker, enum rtl_untimed_reason reason,
                         bool reuse);

/* Return the cached signals of a GONE tracker. */
void rtl_collect_close(struct rtl_collector *collector, struct rtl_tracker *tracker);

/* Fill in agent and time of a record that started at that tick, and append it to the event ring. After
 * rtl_ticks_believed of its end, which updates the GPU's clock. `link` is NULL if calls aren't recorded. */
void rtl_collect_event(const struct rtl_gpu *gpu, uint64_t start, struct rtl_event_record *event,
                       const struct rtl_link *link);

/* Return the numbers in `back`. After every round. */
void rtl_collect_flush(struct rtl_collector *collector);

/* Record completed copies; return their number. */
uint32_t rtl_collect_copies(struct rtl_collector *collector);

/* At the worker's end: abandon the copies in flight. */
void rtl_collect_copies_abandon(struct rtl_collector *collector);

#endif
