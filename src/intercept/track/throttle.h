/*
 * Keeps queues from filling up, on runtimes whose intercept queues can't bear it.
 *
 * Releases of ROCr before 6.0 lose the order of packets, or stop the process by an assertion, when the hardware's queue
 * behind an intercept queue is full and more than one packet waits in front; those that hand over batches (from 7.2 on)
 * can then hang for good. The application can't know, because what it sees has room. So there a dispatch waits while
 * three quarters of the queue are taken: the GPU has work enough. A batch that is longer waits until all before it is
 * done.
 *
 * How full the queue is isn't told to a tool, but the signals on timed dispatches say what has completed, and packets
 * are taken in order. Where a quarter of the queue goes by without one, because the pool is empty or all packets carry
 * signals of the application's, a signal of the queue's own is sent along (a marker; four a queue): on the packet if
 * that has none, else on an empty barrier behind it, the one packet that the library ever adds. A GPU that takes
 * nothing for half a second may be waiting for this very thread: then the dispatch goes on as it would without this.
 *
 * Who may touch a signal's memory. One that is on a packet under way is destroyed by nobody. The worker has it back
 * when it has raised `consumed` past that packet, and may destroy it some time after. So before a dispatch reads a
 * signal it says which one in `looking`, and then looks at `consumed` once more; whoever destroys signals takes one out
 * of use first, and then looks at `looking` (rtl_throttle_is_reading). With a full barrier between the two steps on
 * both sides, either the dispatch sees that the packet is done, or the other sees that the signal is being read and
 * leaves it alone.
 */
#ifndef RTL_INTERCEPT_THROTTLE_H
#define RTL_INTERCEPT_THROTTLE_H

#include "intercept/track/queue_tracker.h"

/* Dispatch: with n more packets `written` comes past `look_at`. Looks how full the queue is, waits until they have room
 * if need be, and says when to look again. */
void rtl_throttle_wait(struct rtl_tracker *tracker, uint64_t n);

/* Whoever is about to destroy that signal of the pool, and has taken it out of use: a dispatch may be reading it. */
bool rtl_throttle_is_reading(uint32_t number);

/* Create: the signals of a tracker that is about to watch a queue which must not fill up, unless it has them. */
void rtl_throttle_prepare(struct rtl_tracker *tracker);

/* Load, at the end, behind rtl_trackers_retire: gives the markers of trackers that no dispatch is inside of back to the
 * runtime, but for those on packets under way. */
void rtl_throttle_release(void);

/* Dispatch: a signal for the packet number `written`, which carries none. False when no marker is free: then there are
 * marks enough. */
bool rtl_throttle_send_marker(struct rtl_tracker *tracker, hsa_signal_t *signal);

/* Dispatch: has a quarter of the queue gone by without a signal of ours? */
static inline bool rtl_throttle_mark_is_due(const struct rtl_tracker *tracker)
{
    return tracker->check_at != UINT64_MAX &&
           tracker->written - tracker->newest.index >= tracker->ring_bytes / 64 / RTL_MARKS;
}

/* Dispatch: and behind a batch? One of a quarter of the queue and more has its end marked: the next may need it all. */
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
