/*
 * Reads completed signals and records what they say (collect.h).
 *
 * A queue's dispatches mostly complete in order, so looking at the first few in flight finds nearly all; kernels
 * without the barrier bit overlap and complete in any order, so the look goes on for a window behind each that is
 * done, and a cursor walks slowly over all of them. That bounds the work a round, and no kernel, however slow, hides
 * others for long, in its queue or in another.
 */
#include "intercept/worker/collect.h"

#include "intercept/base/tool.h"
#include "intercept/track/app_signals.h"
#include "intercept/track/hot_line.h"
#include "intercept/worker/ticks.h"
#include "shm/event_ring.h"

enum {
    WINDOW = 16,    /* signals looked at behind the last that was done */
    WALK = 16,      /* and at the cursor */
    LOOK_AHEAD = 6, /* signals fetched into the cache ahead of looking at them */
};

/* --- one dispatch --- */

static inline void give_back(struct rtl_collector *harvest, uint16_t number)
{
    enum { ROOM = sizeof harvest->back / sizeof harvest->back[0] };
    if (rtl_is_stand_in(number))
        harvest->back_cards[harvest->back_cards_count++] = number;
    else
        harvest->back[harvest->back_count++] = number;
    if (harvest->back_count == ROOM || harvest->back_cards_count == ROOM)
        rtl_collect_flush(harvest);
}

static void untimed(struct rtl_collector *harvest, struct rtl_tracker *tracker, uint16_t number,
                    enum rtl_untimed_reason reason)
{
    rtl_recorder_untimed(harvest->recorder, RTL_HISTOGRAM_KERNEL(harvest->pool->inflight[number].kernel));
    rtl_count(&tracker->counters->untimed[reason], 1);
}

void rtl_collect_event(const struct rtl_gpu *gpu, uint64_t start, struct rtl_event_record *event)
{
    bool known = gpu->line.slope > 0;
    event->start_ns = known ? rtl_line_at(&gpu->line, start) : rtl_ticks_to_ns(&gpu->rate, start);
    event->agent = (uint8_t)gpu->index;
    event->flags |= known ? 0 : RTL_EVENT_AGENT_CLOCK;
    rtl_event_put(&rtl_tool.segment, event);
}

static void put_event(const struct rtl_collector *harvest, const struct rtl_tracker *tracker, uint16_t number,
                      uint64_t start, uint64_t duration_ns)
{
    const struct rtl_inflight *inflight = &harvest->pool->inflight[number];
    struct rtl_event_record event = {
        .duration_ns = duration_ns,
        .kernel = inflight->kernel,
        .generation = atomic_load_explicit(&tracker->generation, memory_order_relaxed),
        .queue = (uint16_t)tracker->slot,
        .grid = {inflight->grid[0], inflight->grid[1], inflight->grid[2]},
        .workgroup = {inflight->workgroup[0], inflight->workgroup[1], inflight->workgroup[2]},
    };
    rtl_collect_event(tracker->gpu, start, &event);
}

/* A card that has no times says why; what the GPU writes says nothing. */
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

/* The one place where a dispatch that is over becomes statistics. */
static inline void record(struct rtl_collector *harvest, struct rtl_tracker *tracker, uint16_t number)
{
    const struct rtl_inflight *inflight = &harvest->pool->inflight[number];
    amd_signal_t *signal = rtl_pool_signal(harvest->pool, number);
    uint64_t start = __atomic_load_n(&signal->start_ts, __ATOMIC_RELAXED);
    uint64_t end = __atomic_load_n(&signal->end_ts, __ATOMIC_RELAXED);
    struct rtl_gpu *gpu = tracker->gpu;

    uint64_t submit = inflight->tsc ? rtl_line_at(&harvest->counter.line, inflight->submit) : inflight->submit;
    if (__builtin_expect(start == 0 || end < start || !rtl_ticks_believed(gpu, start, end, submit), 0)) {
        untimed(harvest, tracker, number, why_untimed(signal));
        return;
    }
    uint64_t duration_ns = rtl_ticks_to_ns(&gpu->rate, end - start);
    if (!rtl_recorder_record(harvest->recorder, RTL_HISTOGRAM_KERNEL(inflight->kernel), duration_ns))
        rtl_count(&tracker->counters->untimed[RTL_UNTIMED_NO_MEMORY], 1);
    else if (__builtin_expect(rtl_hot.trace, 0))
        put_event(harvest, tracker, number, start, duration_ns);
    if (__builtin_expect(gpu->line.slope > 0, 1)) {
        int64_t wait = (int64_t)(rtl_line_at(&gpu->line, start) - submit);
        rtl_recorder_record(harvest->recorder, RTL_HISTOGRAM_WAIT(tracker->slot), wait > 0 ? (uint64_t)wait : 0);
    }
    if (__builtin_expect(tracker->last_end != 0, 1)) {
        uint64_t gap = start > tracker->last_end ? start - tracker->last_end : 0;
        rtl_recorder_record(harvest->recorder, RTL_HISTOGRAM_GAP(tracker->slot), rtl_ticks_to_ns(&gpu->rate, gap));
    }
    if (end > tracker->last_end)
        tracker->last_end = end;
    rtl_busy_add(&gpu->busy, start, end);
}

/* --- lists --- */

static void append(struct rtl_collector *harvest, struct rtl_tracker *tracker, uint16_t number)
{
    harvest->next[number] = RTL_NO_SIGNAL;
    harvest->previous[number] = tracker->last;
    if (tracker->last == RTL_NO_SIGNAL)
        tracker->first = number;
    else
        harvest->next[tracker->last] = number;
    tracker->last = number;
}

static inline void unlink_signal(struct rtl_collector *harvest, struct rtl_tracker *tracker, uint16_t number)
{
    uint16_t before = harvest->previous[number], after = harvest->next[number];
    if (before == RTL_NO_SIGNAL)
        tracker->first = after;
    else
        harvest->next[before] = after;
    if (after == RTL_NO_SIGNAL)
        tracker->last = before;
    else
        harvest->previous[after] = before;
    if (tracker->cursor == number)
        tracker->cursor = after;
}

void rtl_collect_take_in(struct rtl_collector *harvest, struct rtl_tracker *tracker)
{
    uint32_t n = rtl_pending_count(&tracker->pending);
    for (uint32_t i = 0; i < n; i++) {
        uint16_t number = (uint16_t)rtl_pending_at(&tracker->pending, i);
        harvest->open_cards += rtl_is_stand_in(number);
        append(harvest, tracker, number);
    }
    if (n)
        rtl_pending_drop(&tracker->pending, n);
    tracker->open += n;
    harvest->open += n;
    harvest->seen += n;
    if (harvest->open - harvest->open_cards > harvest->most)
        harvest->most = harvest->open - harvest->open_cards;
}

static inline bool is_done(const struct rtl_collector *harvest, uint16_t number)
{
    amd_signal_t *signal = rtl_pool_signal(harvest->pool, number);
    /* acquire: the GPU writes the timestamps before the value, and so does who ends a card */
    if (__atomic_load_n(&signal->value, __ATOMIC_ACQUIRE) < RTL_SIGNAL_ARMED)
        return true;
    const struct rtl_inflight *inflight = &harvest->pool->inflight[number];
    return rtl_is_stand_in(number) && rtl_app_signal_look(inflight->own, signal, inflight->value);
}

static inline void finish(struct rtl_collector *harvest, struct rtl_tracker *tracker, uint16_t number, bool reuse)
{
    unlink_signal(harvest, tracker, number);
    uint64_t index = harvest->pool->inflight[number].index;
    /* a card that was given up on says nothing of the GPU */
    bool taken = !rtl_is_stand_in(number) || __atomic_load_n(&rtl_pool_signal(harvest->pool, number)->value,
                                                             __ATOMIC_RELAXED) == RTL_STAND_IN_TIMED;
    if (taken && index > atomic_load_explicit(&tracker->consumed, memory_order_relaxed))
        atomic_store_explicit(&tracker->consumed, index, memory_order_relaxed);
    if (reuse) {
        rtl_signal_arm(rtl_pool_signal(harvest->pool, number));
        give_back(harvest, number);
    }
    tracker->open--;
    harvest->open--;
    harvest->open_cards -= rtl_is_stand_in(number);
}

static inline void fetch(const struct rtl_collector *harvest, uint16_t number)
{
    __builtin_prefetch(rtl_pool_signal(harvest->pool, number), 1);
    __builtin_prefetch(&harvest->pool->inflight[number]);
}

/* Looks along the list from `at` until `window` in a row are not done. Says where it stopped. */
static uint32_t look(struct rtl_collector *harvest, struct rtl_tracker *tracker, uint16_t *at, uint32_t window,
                     uint32_t most)
{
    uint32_t done = 0, misses = 0;
    uint16_t number = *at, ahead = number;
    for (int i = 0; i < LOOK_AHEAD && ahead != RTL_NO_SIGNAL; i++) {
        fetch(harvest, ahead);
        ahead = harvest->next[ahead];
    }
    while (number != RTL_NO_SIGNAL && misses < window && done < most) {
        uint16_t after = harvest->next[number];
        if (ahead != RTL_NO_SIGNAL) {
            fetch(harvest, ahead);
            ahead = harvest->next[ahead];
        }
        if (is_done(harvest, number)) {
            record(harvest, tracker, number);
            finish(harvest, tracker, number, true);
            done++;
            misses = 0;
        } else {
            misses++;
        }
        number = after;
    }
    *at = number;
    return done;
}

/* --- a tracker --- */

static void publish(struct rtl_collector *harvest, struct rtl_tracker *tracker, uint32_t done)
{
    if (!done)
        return;
    harvest->completed += done;
    /* release: whoever sees these over also sees them recorded */
    __atomic_store_n(&tracker->counters->completed,
                     __atomic_load_n(&tracker->counters->completed, __ATOMIC_RELAXED) + done, __ATOMIC_RELEASE);
    if (tracker->gpu->line.slope > 0 && tracker->last_end)
        __atomic_store_n(&tracker->counters->last_end_mono_ns, rtl_line_at(&tracker->gpu->line, tracker->last_end),
                         __ATOMIC_RELAXED);
    __atomic_store_n(&tracker->gpu->shared->busy_ns, rtl_gpu_busy_ns(tracker->gpu), __ATOMIC_RELAXED);
}

uint32_t rtl_collect_tracker(struct rtl_collector *harvest, struct rtl_tracker *tracker, uint32_t most)
{
    if (!tracker->open)
        return 0;
    uint16_t at = tracker->first;
    uint32_t done = look(harvest, tracker, &at, WINDOW, most);
    if (at != RTL_NO_SIGNAL && done < most) { /* there is more than was looked at */
        if (tracker->cursor == RTL_NO_SIGNAL)
            tracker->cursor = at;
        uint16_t cursor = tracker->cursor;
        done += look(harvest, tracker, &cursor, WALK, most - done);
        tracker->cursor = cursor;
    }
    publish(harvest, tracker, done);
    return done;
}

void rtl_collect_give_up(struct rtl_collector *harvest, struct rtl_tracker *tracker, enum rtl_untimed_reason reason,
                         bool reuse)
{
    uint32_t done = 0;
    rtl_collect_take_in(harvest, tracker);
    while (tracker->first != RTL_NO_SIGNAL) {
        uint16_t number = tracker->first;
        bool over = is_done(harvest, number), again = over || reuse;
        if (over)
            record(harvest, tracker, number);
        else
            untimed(harvest, tracker, number, reason);
        if (!over && rtl_is_stand_in(number))
            again = rtl_app_signal_detach(harvest->pool->inflight[number].own, rtl_pool_signal(harvest->pool, number),
                                          reuse) &&
                    reuse;
        finish(harvest, tracker, number, again);
        done++;
    }
    tracker->cursor = RTL_NO_SIGNAL;
    publish(harvest, tracker, done);
}

void rtl_collect_close(struct rtl_collector *harvest, struct rtl_tracker *tracker)
{
    while (tracker->cached)
        give_back(harvest, tracker->cache[--tracker->cached]);
    while (tracker->stand_ins_cached)
        give_back(harvest, tracker->cards[--tracker->stand_ins_cached]);
}

void rtl_collect_flush(struct rtl_collector *harvest)
{
    rtl_pool_give(harvest->pool, harvest->back, harvest->back_count);
    harvest->back_count = 0;
    rtl_pool_give_stand_ins(harvest->pool, harvest->back_cards, harvest->back_cards_count);
    harvest->back_cards_count = 0;
}
