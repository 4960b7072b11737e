/*
 * Keeps queues from filling up, for runtimes whose intercept queues don't stand that.
 *
 * ROCr before 6.0 loses the order of packets, or stops the process by an assertion, when the hardware queue behind an
 * intercept queue is full and more than one packet waits in front. Releases that pass batches (from 7.2 on) can then
 * hang for good. The application can't know: its own ring has room. So a dispatch waits while three quarters of the
 * queue are full, which keeps the GPU busy. A longer batch waits until all earlier packets are done.
 *
 * The runtime doesn't tell a tool how full the queue is. But signals on timed dispatches show what has completed, and
 * the GPU consumes packets in order. If a quarter of the queue has no such signal, because the pool is empty or all
 * packets carry signals of the application, the throttle adds a marker: a signal of the tracker's own, four a queue. It
 * goes on the packet if that has none, else on an empty barrier behind it, the only packet that the library ever adds.
 * If the GPU makes no progress for half a second it may be waiting for this very thread: the dispatch goes on
 * unthrottled.
 *
 * Reading a signal's memory. A signal on a packet in flight is never destroyed. The worker owns it again after it
 * has raised `consumed` past that packet, and may destroy it later. So before a dispatch reads a signal it stores its
 * number in `reading`, and then reads `consumed` once more; a thread that destroys signals takes one out of use first,
 * and then reads `reading` (rtl_throttle_is_reading). Each side has a full barrier between its two steps: either the
 * dispatch sees that the packet is done, or the other thread sees that the signal is being read, and keeps it.
 */
#ifndef RTL_INTERCEPT_THROTTLE_H
#define RTL_INTERCEPT_THROTTLE_H

#include "intercept/track/queue_tracker.h"

/* Dispatch: with n more packets `written` passes `check_at`. Wait until the queue has room for them, and set
 * `check_at`. */
void rtl_throttle_wait(struct rtl_tracker *tracker, uint64_t n);

/* True if a dispatch may still read that signal. The caller has removed it from use and is about to destroy it. */
bool rtl_throttle_is_reading(uint32_t number);

/* Create: make the markers of a tracker whose queue must not fill up, unless it has them. */
void rtl_throttle_prepare(struct rtl_tracker *tracker);

/* Load, at the end, after rtl_trackers_retire: destroy the markers of trackers that no dispatch is inside, except
 * for those on packets in flight. */
void rtl_throttle_release(void);

/* Dispatch: get a marker for the packet number `written`, which carries no signal. False if none is free: then there
 * are enough marks. */
bool rtl_throttle_send_marker(struct rtl_tracker *tracker, hsa_signal_t *signal);

/* Dispatch: true if a quarter of the queue has no signal of ours. */
static inline bool rtl_throttle_mark_is_due(const struct rtl_tracker *tracker)
{
    return tracker->check_at != UINT64_MAX &&
           tracker->written - tracker->newest.index >= tracker->ring_bytes / 64 / RTL_MARKS;
}

/* Dispatch: the same behind a batch of n packets. The end of a batch of a quarter of the queue or more is always
 * marked: the next batch may need all room. */
static inline bool rtl_throttle_end_is_due(const struct rtl_tracker *tracker, uint64_t n)
{
    return rtl_throttle_mark_is_due(tracker) ||
           (tracker->check_at != UINT64_MAX && n >= tracker->ring_bytes / 64 / RTL_MARKS &&
            tracker->newest.index != tracker->written);
}

/* Dispatch: the packet number `written` carries that signal. */
static inline void rtl_throttle_mark(struct rtl_tracker *tracker, uint32_t number)
{
    struct rtl_mark mark = {tracker->written, number};
    if (tracker->written - tracker->mark[(tracker->marks - 1) % RTL_MARKS].index >=
        tracker->ring_bytes / 64 / RTL_MARKS)
        tracker->mark[tracker->marks++ % RTL_MARKS] = mark;
    tracker->newest = mark;
}

#endif
