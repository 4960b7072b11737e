/*
 * Reads completed signals and records their times (collect.h).
 *
 * A queue's dispatches mostly complete in order, so polling the first few in flight finds nearly all. Kernels without
 * the barrier bit overlap and complete in any order, so polling continues for a window behind each completed one, and a
 * cursor slowly scans all of them. That bounds the work of a round, and no slow kernel hides others for long, in its
 * queue or in another.
 */
#include "intercept/worker/collect.h"

#include "intercept/base/tool.h"
#include "intercept/track/app_signals.h"
#include "intercept/track/hot_line.h"
#include "intercept/track/links.h"
#include "intercept/worker/probe_runner.h"
#include "intercept/worker/ticks.h"
#include "shm/event_ring.h"

enum {
    WINDOW = 16,    /* signals polled behind the last completed one */
    WALK = 16,      /* signals polled at the cursor */
    LOOK_AHEAD = 6, /* signals prefetched before they are polled */
};

/* --- one dispatch --- */

static inline void return_number(struct rtl_collector *collector, uint32_t number)
{
    enum { ROOM = sizeof collector->back / sizeof collector->back[0] };
    if (rtl_is_stand_in(number))
        collector->back_stand_ins[collector->back_stand_ins_count++] = number;
    else
        collector->back[collector->back_count++] = number;
    if (collector->back_count == ROOM || collector->back_stand_ins_count == ROOM)
        rtl_collect_flush(collector);
}

static void count_untimed(struct rtl_collector *collector, const struct rtl_tracker *tracker, uint32_t number,
                          enum rtl_untimed_reason reason)
{
    rtl_recorder_untimed(collector->recorder, RTL_HISTOGRAM_KERNEL(collector->flight[number].kernel));
    rtl_count(&tracker->counters->untimed[reason], 1);
}

void rtl_collect_event(const struct rtl_gpu *gpu, uint64_t start, struct rtl_event_record *event,
                       const struct rtl_link *link)
{
    bool known = gpu->line.slope > 0;
    event->start_ns = known ? rtl_line_at(&gpu->line, start) : rtl_ticks_to_ns(&gpu->rate, start);
    event->agent = (uint8_t)gpu->index;
    event->flags |= known ? 0 : RTL_EVENT_AGENT_CLOCK;
    struct rtl_event_link linked;
    if (link && link->call) {
        linked = rtl_links_event(link);
        event->correlation = link->call;
    }
    rtl_event_put_linked(&rtl_tool.segment, event, event->correlation ? &linked : NULL);
}

static void put_dispatch_event(const struct rtl_collector *collector, const struct rtl_tracker *tracker,
                               uint32_t number, uint64_t start, uint64_t duration_ns)
{
    const struct rtl_inflight *inflight = &collector->pool->inflight[number];
    struct rtl_event_record event = {
        .duration_ns = duration_ns,
        .kernel = collector->flight[number].kernel,
        .generation = atomic_load_explicit(&tracker->generation, memory_order_relaxed),
        .queue = (uint16_t)tracker->slot,
        .grid = {inflight->grid[0], inflight->grid[1], inflight->grid[2]},
        .workgroup = {inflight->workgroup[0], inflight->workgroup[1], inflight->workgroup[2]},
    };
    rtl_collect_event(tracker->gpu, start, &event, rtl_hot.linked ? rtl_links_of(number) : NULL);
}

/* Rare work for a dispatch: its event, its link to a call. */
static __attribute__((noinline)) void record_more(const struct rtl_collector *collector,
                                                  const struct rtl_tracker *tracker, uint32_t number, uint64_t start,
                                                  uint64_t duration_ns)
{
    const struct rtl_gpu *gpu = tracker->gpu;
    if (rtl_hot.linked)
        rtl_links_record(number, collector->flight[number].kernel,
                         gpu->line.slope > 0 ? rtl_line_at(&gpu->line, start) : 0, duration_ns);
    if (rtl_hot.trace)
        put_dispatch_event(collector, tracker, number, start, duration_ns);
}

/* The value of a stand-in without times names the reason; a signal that the GPU wrote has none. */
static enum rtl_untimed_reason why_untimed(const amd_signal_t *signal)
{
    switch (__atomic_load_n(&signal->value, __ATOMIC_RELAXED)) {
    case RTL_STAND_IN_SHARED:
        return RTL_UNTIMED_SHARED_SIGNAL;
    case RTL_STAND_IN_GONE:
        return RTL_UNTIMED_SIGNAL_GONE;
    default:
        return RTL_UNTIMED_BAD_TIME;
    }
}

static inline bool is_timed(const amd_signal_t *stand_in)
{
    return __atomic_load_n(&stand_in->value, __ATOMIC_RELAXED) == RTL_STAND_IN_TIMED;
}

/* A dispatch that ran a probe's copy: counted apart, because its time includes the probe. It counts as busy time. A
 * stand-in that ended without times doesn't show that the kernel has completed. */
static __attribute__((noinline)) void record_probed(struct rtl_collector *collector, struct rtl_tracker *tracker,
                                                    uint32_t number)
{
    const struct rtl_flight *flight = &collector->flight[number];
    const amd_signal_t *signal = rtl_pool_signal(collector->pool, number);
    uint64_t start = __atomic_load_n(&signal->start_ts, __ATOMIC_RELAXED);
    uint64_t end = __atomic_load_n(&signal->end_ts, __ATOMIC_RELAXED);
    struct rtl_gpu *gpu = tracker->gpu;
    uint64_t submit =
        flight->how & RTL_PENDING_TSC ? rtl_line_at(&collector->tsc.line, flight->submit) : flight->submit;
    count_untimed(collector, tracker, number, RTL_UNTIMED_PROBED);
    if (rtl_is_stand_in(number) && !is_timed(signal)) {
        rtl_probe_over(RTL_PROBE_LOST, 0);
    } else if (start == 0 || end < start || !rtl_ticks_believed(gpu, start, end, submit)) {
        rtl_probe_over(RTL_PROBE_UNTIMED, 0);
    } else {
        rtl_probe_over(RTL_PROBE_TIMED, rtl_ticks_to_ns(&gpu->rate, end - start));
        if (end > tracker->last_end)
            tracker->last_end = end;
        rtl_busy_add(&gpu->busy, start, end);
    }
}

/* An abandoned probed dispatch: over if its queue is gone; it may still run if the runtime kept the queue. */
static void give_up_probed(struct rtl_collector *collector, const struct rtl_tracker *tracker, uint32_t number,
                           enum rtl_untimed_reason reason)
{
    count_untimed(collector, tracker, number, RTL_UNTIMED_PROBED);
    if (reason == RTL_UNTIMED_QUEUE_GONE)
        rtl_probe_over(tracker->remains ? RTL_PROBE_LOST : RTL_PROBE_QUEUE_GONE, 0);
}

/* The one place that turns a completed dispatch into statistics. */
static inline void record_dispatch(struct rtl_collector *collector, struct rtl_tracker *tracker, uint32_t number)
{
    const struct rtl_flight *flight = &collector->flight[number];
    amd_signal_t *signal = rtl_pool_signal(collector->pool, number);
    uint64_t start = __atomic_load_n(&signal->start_ts, __ATOMIC_RELAXED);
    uint64_t end = __atomic_load_n(&signal->end_ts, __ATOMIC_RELAXED);
    struct rtl_gpu *gpu = tracker->gpu;

    uint64_t submit = flight->submit;
    if (likely((flight->how & ~RTL_PENDING_BARRIER) == RTL_PENDING_TSC)) {
        submit = rtl_line_at(&collector->tsc.line, submit);
    } else if (flight->how & RTL_PENDING_PROBED) {
        record_probed(collector, tracker, number);
        return;
    }
    if (unlikely(start == 0 || end < start || !rtl_ticks_believed(gpu, start, end, submit))) {
        count_untimed(collector, tracker, number, why_untimed(signal));
        return;
    }
    uint64_t duration_ns = rtl_ticks_to_ns(&gpu->rate, end - start);
    if (!rtl_recorder_record(collector->recorder, RTL_HISTOGRAM_KERNEL(flight->kernel), duration_ns))
        rtl_count(&tracker->counters->untimed[RTL_UNTIMED_NO_MEMORY], 1);
    else if (unlikely(rtl_hot.trace | rtl_hot.linked))
        record_more(collector, tracker, number, start, duration_ns);
    struct rtl_busy_kernel kernel = {flight->kernel, (uint8_t)tracker->slot, RTL_BUSY_KERNEL};
    uint64_t submitted = 0; /* in ticks */
    if (likely(gpu->line.slope > 0)) {
        int64_t wait = (int64_t)(rtl_line_at(&gpu->line, start) - submit);
        rtl_recorder_record(collector->recorder, RTL_HISTOGRAM_WAIT(tracker->slot), wait > 0 ? (uint64_t)wait : 0);
        submitted = wait > 0 ? start - (uint64_t)((double)wait * gpu->rate.ticks_per_ns) : start;
        kernel.known |= flight->how & RTL_PENDING_BARRIER ? RTL_BUSY_SUBMIT | RTL_BUSY_BARRIER : RTL_BUSY_SUBMIT;
    }
    if (likely(tracker->last_end != 0)) {
        uint64_t gap = start > tracker->last_end ? start - tracker->last_end : 0;
        rtl_recorder_record(collector->recorder, RTL_HISTOGRAM_GAP(tracker->slot), rtl_ticks_to_ns(&gpu->rate, gap));
    }
    if (end > tracker->last_end)
        tracker->last_end = end;
    rtl_busy_add_kernel(&gpu->busy, start, end, submitted, kernel);
}

/* --- lists --- */

void rtl_collect_pending(struct rtl_collector *collector, struct rtl_tracker *tracker)
{
    uint32_t n = rtl_pending_count(&tracker->pending), stand_ins = 0;
    if (!n)
        return;
    uint32_t *link = tracker->last == RTL_NO_SIGNAL ? &tracker->first : &collector->flight[tracker->last].next;
    for (uint32_t i = 0; i < n; i++) {
        const struct rtl_pending_dispatch *pending = rtl_pending_at(&tracker->pending, i);
        uint32_t number = pending->number;
        struct rtl_flight *flight = &collector->flight[number];
        stand_ins += rtl_is_stand_in(number);
        flight->submit = pending->submit;
        flight->kernel = pending->kernel;
        flight->how = pending->how;
        *link = number;
        link = &flight->next;
        tracker->last = number;
    }
    *link = RTL_NO_SIGNAL;
    rtl_pending_drop(&tracker->pending, n);
    tracker->open += n;
    collector->open += n;
    collector->open_stand_ins += stand_ins;
    collector->seen += n;
    if (rtl_collect_in_use(collector) > collector->most)
        collector->most = rtl_collect_in_use(collector);
}

static inline bool dispatch_is_done(const struct rtl_collector *collector, uint32_t number)
{
    amd_signal_t *signal = rtl_pool_signal(collector->pool, number);
    /* acquire: the GPU, or the thread that ends a stand-in, writes timestamps before the value */
    if (__atomic_load_n(&signal->value, __ATOMIC_ACQUIRE) < RTL_SIGNAL_ARMED)
        return true;
    const struct rtl_inflight *inflight = &collector->pool->inflight[number];
    return rtl_is_stand_in(number) && rtl_app_signal_poll(inflight->app_signal, signal, inflight->value);
}

/* Publish the packet's index for throttle.c, before its signal is armed again. A stand-in without times doesn't show
 * that the GPU has consumed the packet. */
static void publish_consumed(const struct rtl_collector *collector, struct rtl_tracker *tracker, uint32_t number)
{
    uint64_t index = collector->pool->inflight[number].index;
    bool taken = !rtl_is_stand_in(number) || is_timed(rtl_pool_signal(collector->pool, number));
    if (taken && index > atomic_load_explicit(&tracker->consumed, memory_order_relaxed))
        atomic_store_explicit(&tracker->consumed, index, memory_order_relaxed);
}

/* The dispatch is accounted for and off the list. */
static inline void finish_dispatch(struct rtl_collector *collector, struct rtl_tracker *tracker, uint32_t number,
                                   bool reuse)
{
    if (unlikely(tracker->guarded))
        publish_consumed(collector, tracker, number);
    if (reuse) {
        rtl_signal_arm(rtl_pool_signal(collector->pool, number));
        return_number(collector, number);
    }
    collector->open_stand_ins -= rtl_is_stand_in(number);
}

/* Prefetch for writing: most signals have completed, and the worker arms those again. */
static inline void prefetch_signal(const struct rtl_collector *collector, uint32_t number)
{
    rtl_prefetch_to_write(rtl_pool_signal(collector->pool, number));
}

/* Poll the list, from the one behind `*before` (RTL_NO_SIGNAL: from the first), until `window` in a row are not
 * done. Sets `before` to the last one polled that stays; returns the number recorded. Completed ones in a row go off
 * the list with one store. */
static uint32_t collect_list(struct rtl_collector *collector, struct rtl_tracker *tracker, uint32_t *before,
                             uint32_t window, uint32_t most)
{
    uint32_t done = 0, misses = 0;
    uint32_t last = *before;
    uint32_t *link = last == RTL_NO_SIGNAL ? &tracker->first : &collector->flight[last].next;
    uint32_t number = *link, ahead = number;
    for (int i = 0; i < LOOK_AHEAD && ahead != RTL_NO_SIGNAL; i++) {
        prefetch_signal(collector, ahead);
        ahead = collector->flight[ahead].next;
    }
    while (number != RTL_NO_SIGNAL && misses < window && done < most) {
        uint32_t after = collector->flight[number].next;
        if (ahead != RTL_NO_SIGNAL) {
            prefetch_signal(collector, ahead);
            ahead = collector->flight[ahead].next;
        }
        if (dispatch_is_done(collector, number)) {
            record_dispatch(collector, tracker, number);
            finish_dispatch(collector, tracker, number, true);
            if (tracker->cursor == number)
                tracker->cursor = last;
            done++;
            misses = 0;
        } else {
            *link = number;
            link = &collector->flight[number].next;
            last = number;
            misses++;
        }
        number = after;
    }
    *link = number;
    if (number == RTL_NO_SIGNAL)
        tracker->last = last;
    tracker->open -= done;
    collector->open -= done;
    *before = last;
    return done;
}

/* --- a tracker --- */

static void publish_completed(struct rtl_collector *collector, struct rtl_tracker *tracker, uint32_t done)
{
    if (!done)
        return;
    collector->completed += done;
    /* release: a reader that sees the count also sees the recorded times */
    rtl_count_release(&tracker->counters->completed, done);
    if (tracker->gpu->line.slope > 0 && tracker->last_end)
        __atomic_store_n(&tracker->counters->last_end_mono_ns, rtl_line_at(&tracker->gpu->line, tracker->last_end),
                         __ATOMIC_RELAXED);
    __atomic_store_n(&tracker->gpu->shared->busy_ns, rtl_gpu_busy_ns(tracker->gpu), __ATOMIC_RELAXED);
}

uint32_t rtl_collect_tracker(struct rtl_collector *collector, struct rtl_tracker *tracker, uint32_t most)
{
    if (!tracker->open)
        return 0;
    uint32_t before = RTL_NO_SIGNAL;
    uint32_t done = collect_list(collector, tracker, &before, WINDOW, most);
    if (before != tracker->last && done < most) { /* some weren't polled */
        uint32_t cursor = tracker->cursor == RTL_NO_SIGNAL ? before : tracker->cursor;
        done += collect_list(collector, tracker, &cursor, WALK, most - done);
        tracker->cursor = cursor == tracker->last ? RTL_NO_SIGNAL : cursor;
    }
    publish_completed(collector, tracker, done);
    return done;
}

void rtl_collect_abandon(struct rtl_collector *collector, struct rtl_tracker *tracker, enum rtl_untimed_reason reason,
                         bool reuse)
{
    rtl_collect_pending(collector, tracker);
    uint32_t done = tracker->open;
    for (uint32_t number = tracker->first; number != RTL_NO_SIGNAL; number = collector->flight[number].next) {
        bool over = dispatch_is_done(collector, number), again = over || reuse;
        if (over)
            record_dispatch(collector, tracker, number);
        else if (collector->flight[number].how & RTL_PENDING_PROBED)
            give_up_probed(collector, tracker, number, reason);
        else
            count_untimed(collector, tracker, number, reason);
        if (!over && rtl_is_stand_in(number))
            again = rtl_app_signal_detach(collector->pool->inflight[number].app_signal,
                                          rtl_pool_signal(collector->pool, number), reuse) &&
                    reuse;
        finish_dispatch(collector, tracker, number, again);
    }
    tracker->first = tracker->last = tracker->cursor = RTL_NO_SIGNAL;
    tracker->open = 0;
    collector->open -= done;
    publish_completed(collector, tracker, done);
}

void rtl_collect_close(struct rtl_collector *collector, struct rtl_tracker *tracker)
{
    while (tracker->cached)
        return_number(collector, tracker->cache[--tracker->cached]);
    while (tracker->stand_ins_cached)
        return_number(collector, tracker->stand_ins[--tracker->stand_ins_cached]);
}

void rtl_collect_flush(struct rtl_collector *collector)
{
    rtl_pool_return(collector->pool, collector->back, collector->back_count);
    collector->back_count = 0;
    rtl_pool_return_stand_ins(collector->pool, collector->back_stand_ins, collector->back_stand_ins_count);
    collector->back_stand_ins_count = 0;
}
