/*
 * Reads completed signals and records what they say (harvest.h).
 *
 * A queue's dispatches mostly complete in order, so looking at the first few in flight finds nearly all; kernels
 * without the barrier bit overlap and complete in any order, so the look goes on for a window behind each that is
 * done, and a cursor walks slowly over all of them. That bounds the work a round, and no kernel, however slow, hides
 * others for long, in its queue or in another.
 */
#include "intercept/harvest.h"

#include "intercept/own.h"
#include "intercept/tool.h"
#include "shm/event_ring.h"

enum {
    WINDOW = 16,            /* signals looked at behind the last that was done */
    WALK = 16,              /* and at the cursor */
    LOOK_AHEAD = 6,         /* signals fetched into the cache ahead of looking at them */
    LINE_NS = 20000000,     /* a line from ticks to host time is good for that long: 50 ppm are 1 us then */
    PROBE_TICKS = 1000000,  /* the slope is taken over that many, between 10 and 52 ms at known rates */
    ASSUMED_HZ = 100000000, /* when the runtime says nothing useful: the rate of all recent GPUs */
};

/* --- time --- */

/* System time, as the runtime has it, less monotonic time; from the tightest of a few looks. */
static bool system_offset(int64_t *offset)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 3; i++) {
        uint64_t system = 0, before = rtl_clock_now();
        if (rtl_tool.hsa.system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &system) != HSA_STATUS_SUCCESS)
            return false;
        uint64_t after = rtl_clock_now();
        if (after - before < best) {
            best = after - before;
            *offset = (int64_t)(system - (before + best / 2));
        }
    }
    return true;
}

static void publish_clock(const struct rtl_gpu *gpu)
{
    const struct rtl_calibration *c = &gpu->calibration;
    struct rtl_agent *shared = gpu->shared;
    __atomic_store_n(&shared->clock_residual_ns, c->residual_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&shared->clock_residual_most_ns, c->residual_most_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&shared->clock_residuals, c->residuals, __ATOMIC_RELEASE);
    __atomic_store_n(&shared->clock_drift_ppb, (int64_t)(c->drift_ppm * 1000), __ATOMIC_RELAXED);
    __atomic_store_n(&shared->clock_drift_over_ns, c->drift_over_ns, __ATOMIC_RELEASE);
}

/* The line through a tick of now, as the runtime converts it. Also finds the tick rate if nobody told it. */
static void make_line(struct rtl_gpu *gpu, uint64_t tick)
{
    uint64_t at = 0, ahead = 0;
    int64_t offset = 0;
    hsa_status_t (*convert)(hsa_agent_t, uint64_t, uint64_t *) =
        rtl_tool.hsa.amd_profiling_convert_tick_to_system_domain;
    /* the later one first: it may make the runtime look at the clocks again, and both should be of the same look */
    bool known = convert(gpu->agent, tick + PROBE_TICKS, &ahead) == HSA_STATUS_SUCCESS &&
                 convert(gpu->agent, tick, &at) == HSA_STATUS_SUCCESS && ahead > at;
    if (gpu->rate.hz == 0) {
        uint64_t hz = known ? rtl_tick_rate_guess(PROBE_TICKS, ahead - at) : 0;
        rtl_gpu_set_rate(gpu, hz ? hz : ASSUMED_HZ);
        __atomic_store_n(&gpu->shared->tick_hz, gpu->rate.hz, __ATOMIC_RELAXED);
    }
    if (known && system_offset(&offset)) {
        rtl_calibration_add(&gpu->calibration, gpu->rate.hz, tick, at - (uint64_t)offset,
                            (double)(ahead - at) / PROBE_TICKS);
        gpu->line = gpu->calibration.line;
        publish_clock(gpu);
    } else {
        if (gpu->line.slope > 0) /* the old line goes on; without one there are no waits */
            gpu->line.y = rtl_line_at(&gpu->line, tick);
        gpu->line.x = tick; /* ask again later */
    }
}

static inline void see_tick(struct rtl_gpu *gpu, uint64_t tick)
{
    int64_t since = (int64_t)(tick - gpu->line.x);
    if (__builtin_expect(gpu->rate.hz == 0 || gpu->line.x == 0, 0) ||
        __builtin_expect(since > 0 && rtl_ticks_to_ns(&gpu->rate, (uint64_t)since) > LINE_NS, 0))
        make_line(gpu, tick);
}

void rtl_harvest_see_tick(struct rtl_gpu *gpu, uint64_t tick)
{
    see_tick(gpu, tick);
}

/* --- one dispatch --- */

static inline void give_back(struct rtl_harvest *harvest, uint16_t number)
{
    enum { ROOM = sizeof harvest->back / sizeof harvest->back[0] };
    if (rtl_is_card(number))
        harvest->back_cards[harvest->back_cards_count++] = number;
    else
        harvest->back[harvest->back_count++] = number;
    if (harvest->back_count == ROOM || harvest->back_cards_count == ROOM)
        rtl_harvest_flush(harvest);
}

static void untimed(struct rtl_harvest *harvest, struct rtl_tap *tap, uint16_t number, enum rtl_untimed_reason reason)
{
    rtl_recorder_untimed(harvest->recorder, RTL_HISTOGRAM_KERNEL(harvest->pool->inflight[number].kernel));
    rtl_count(&tap->line->untimed[reason], 1);
}

void rtl_harvest_event(const struct rtl_gpu *gpu, uint64_t start, struct rtl_event_record *event)
{
    bool known = gpu->line.slope > 0;
    event->start_ns = known ? rtl_line_at(&gpu->line, start) : rtl_ticks_to_ns(&gpu->rate, start);
    event->agent = (uint8_t)gpu->index;
    event->flags |= known ? 0 : RTL_EVENT_AGENT_CLOCK;
    rtl_event_put(&rtl_tool.segment, event);
}

static void put_event(const struct rtl_harvest *harvest, const struct rtl_tap *tap, uint16_t number, uint64_t start,
                      uint64_t duration_ns)
{
    const struct rtl_inflight *inflight = &harvest->pool->inflight[number];
    struct rtl_event_record event = {
        .duration_ns = duration_ns,
        .kernel = inflight->kernel,
        .generation = atomic_load_explicit(&tap->generation, memory_order_relaxed),
        .queue = (uint16_t)tap->slot,
        .grid = {inflight->grid[0], inflight->grid[1], inflight->grid[2]},
        .workgroup = {inflight->workgroup[0], inflight->workgroup[1], inflight->workgroup[2]},
    };
    rtl_harvest_event(tap->gpu, start, &event);
}

/* A card that has no times says why; what the GPU writes says nothing. */
static enum rtl_untimed_reason why_untimed(const amd_signal_t *signal)
{
    switch (__atomic_load_n(&signal->value, __ATOMIC_RELAXED)) {
    case RTL_CARD_SHARED:
        return RTL_UNTIMED_SHARED_SIGNAL;
    case RTL_CARD_GONE:
        return RTL_UNTIMED_SIGNAL_GONE;
    default:
        return RTL_UNTIMED_BAD_TIME;
    }
}

/* The one place where a dispatch that is over becomes statistics. */
static inline void record(struct rtl_harvest *harvest, struct rtl_tap *tap, uint16_t number)
{
    const struct rtl_inflight *inflight = &harvest->pool->inflight[number];
    amd_signal_t *signal = rtl_pool_signal(harvest->pool, number);
    uint64_t start = __atomic_load_n(&signal->start_ts, __ATOMIC_RELAXED);
    uint64_t end = __atomic_load_n(&signal->end_ts, __ATOMIC_RELAXED);
    struct rtl_gpu *gpu = tap->gpu;

    if (__builtin_expect(start == 0 || end < start, 0)) {
        untimed(harvest, tap, number, why_untimed(signal));
        return;
    }
    see_tick(gpu, end);
    uint64_t duration_ns = rtl_ticks_to_ns(&gpu->rate, end - start);
    if (!rtl_recorder_record(harvest->recorder, RTL_HISTOGRAM_KERNEL(inflight->kernel), duration_ns))
        rtl_count(&tap->line->untimed[RTL_UNTIMED_NO_MEMORY], 1);
    else if (__builtin_expect(rtl_tool.trace, 0))
        put_event(harvest, tap, number, start, duration_ns);
    if (__builtin_expect(gpu->line.slope > 0, 1)) {
        uint64_t submit = inflight->counter ? rtl_line_at(&harvest->counter.line, inflight->submit) : inflight->submit;
        int64_t wait = (int64_t)(rtl_line_at(&gpu->line, start) - submit);
        rtl_recorder_record(harvest->recorder, RTL_HISTOGRAM_WAIT(tap->slot), wait > 0 ? (uint64_t)wait : 0);
    }
    if (__builtin_expect(tap->last_end != 0, 1)) {
        uint64_t gap = start > tap->last_end ? start - tap->last_end : 0;
        rtl_recorder_record(harvest->recorder, RTL_HISTOGRAM_GAP(tap->slot), rtl_ticks_to_ns(&gpu->rate, gap));
    }
    if (end > tap->last_end)
        tap->last_end = end;
    rtl_busy_add(&gpu->busy, start, end);
}

/* --- lists --- */

static void append(struct rtl_harvest *harvest, struct rtl_tap *tap, uint16_t number)
{
    harvest->next[number] = RTL_NO_SIGNAL;
    harvest->previous[number] = tap->last;
    if (tap->last == RTL_NO_SIGNAL)
        tap->first = number;
    else
        harvest->next[tap->last] = number;
    tap->last = number;
}

static inline void unlink_signal(struct rtl_harvest *harvest, struct rtl_tap *tap, uint16_t number)
{
    uint16_t before = harvest->previous[number], after = harvest->next[number];
    if (before == RTL_NO_SIGNAL)
        tap->first = after;
    else
        harvest->next[before] = after;
    if (after == RTL_NO_SIGNAL)
        tap->last = before;
    else
        harvest->previous[after] = before;
    if (tap->cursor == number)
        tap->cursor = after;
}

void rtl_harvest_take_in(struct rtl_harvest *harvest, struct rtl_tap *tap)
{
    uint32_t n = rtl_pending_count(&tap->pending);
    for (uint32_t i = 0; i < n; i++) {
        uint16_t number = (uint16_t)rtl_pending_at(&tap->pending, i);
        harvest->open_cards += rtl_is_card(number);
        append(harvest, tap, number);
    }
    if (n)
        rtl_pending_drop(&tap->pending, n);
    tap->open += n;
    harvest->open += n;
    harvest->seen += n;
    if (harvest->open - harvest->open_cards > harvest->most)
        harvest->most = harvest->open - harvest->open_cards;
}

static inline bool is_done(const struct rtl_harvest *harvest, uint16_t number)
{
    amd_signal_t *signal = rtl_pool_signal(harvest->pool, number);
    /* acquire: the GPU writes the timestamps before the value, and so does who ends a card */
    if (__atomic_load_n(&signal->value, __ATOMIC_ACQUIRE) < RTL_SIGNAL_ARMED)
        return true;
    const struct rtl_inflight *inflight = &harvest->pool->inflight[number];
    return rtl_is_card(number) && rtl_own_look(inflight->own, signal, inflight->value);
}

static inline void finish(struct rtl_harvest *harvest, struct rtl_tap *tap, uint16_t number, bool reuse)
{
    unlink_signal(harvest, tap, number);
    uint64_t index = harvest->pool->inflight[number].index;
    /* a card that was given up on says nothing of the GPU */
    bool taken = !rtl_is_card(number) ||
                 __atomic_load_n(&rtl_pool_signal(harvest->pool, number)->value, __ATOMIC_RELAXED) == RTL_CARD_TIMED;
    if (taken && index > atomic_load_explicit(&tap->consumed, memory_order_relaxed))
        atomic_store_explicit(&tap->consumed, index, memory_order_relaxed);
    if (reuse) {
        rtl_signal_arm(rtl_pool_signal(harvest->pool, number));
        give_back(harvest, number);
    }
    tap->open--;
    harvest->open--;
    harvest->open_cards -= rtl_is_card(number);
}

static inline void fetch(const struct rtl_harvest *harvest, uint16_t number)
{
    __builtin_prefetch(rtl_pool_signal(harvest->pool, number), 1);
    __builtin_prefetch(&harvest->pool->inflight[number]);
}

/* Looks along the list from `at` until `window` in a row are not done. Says where it stopped. */
static uint32_t look(struct rtl_harvest *harvest, struct rtl_tap *tap, uint16_t *at, uint32_t window, uint32_t most)
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
            record(harvest, tap, number);
            finish(harvest, tap, number, true);
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

/* --- a tap --- */

static void publish(struct rtl_harvest *harvest, struct rtl_tap *tap, uint32_t done)
{
    if (!done)
        return;
    harvest->completed += done;
    /* release: whoever sees these over also sees them recorded */
    __atomic_store_n(&tap->line->completed, __atomic_load_n(&tap->line->completed, __ATOMIC_RELAXED) + done,
                     __ATOMIC_RELEASE);
    if (tap->gpu->line.slope > 0 && tap->last_end)
        __atomic_store_n(&tap->line->last_end_mono_ns, rtl_line_at(&tap->gpu->line, tap->last_end), __ATOMIC_RELAXED);
    __atomic_store_n(&tap->gpu->shared->busy_ns,
                     tap->gpu->busy_before_ns + rtl_ticks_to_ns(&tap->gpu->rate, tap->gpu->busy.total),
                     __ATOMIC_RELAXED);
}

uint32_t rtl_harvest_tap(struct rtl_harvest *harvest, struct rtl_tap *tap, uint32_t most)
{
    if (!tap->open)
        return 0;
    uint16_t at = tap->first;
    uint32_t done = look(harvest, tap, &at, WINDOW, most);
    if (at != RTL_NO_SIGNAL && done < most) { /* there is more than was looked at */
        if (tap->cursor == RTL_NO_SIGNAL)
            tap->cursor = at;
        uint16_t cursor = tap->cursor;
        done += look(harvest, tap, &cursor, WALK, most - done);
        tap->cursor = cursor;
    }
    publish(harvest, tap, done);
    return done;
}

void rtl_harvest_give_up(struct rtl_harvest *harvest, struct rtl_tap *tap, enum rtl_untimed_reason reason, bool reuse)
{
    uint32_t done = 0;
    rtl_harvest_take_in(harvest, tap);
    while (tap->first != RTL_NO_SIGNAL) {
        uint16_t number = tap->first;
        bool over = is_done(harvest, number), again = over || reuse;
        if (over)
            record(harvest, tap, number);
        else
            untimed(harvest, tap, number, reason);
        if (!over && rtl_is_card(number))
            again =
                rtl_own_detach(harvest->pool->inflight[number].own, rtl_pool_signal(harvest->pool, number), reuse) &&
                reuse;
        finish(harvest, tap, number, again);
        done++;
    }
    tap->cursor = RTL_NO_SIGNAL;
    publish(harvest, tap, done);
}

void rtl_harvest_close(struct rtl_harvest *harvest, struct rtl_tap *tap)
{
    while (tap->cached)
        give_back(harvest, tap->cache[--tap->cached]);
    while (tap->cards_cached)
        give_back(harvest, tap->cards[--tap->cards_cached]);
}

void rtl_harvest_flush(struct rtl_harvest *harvest)
{
    rtl_pool_give(harvest->pool, harvest->back, harvest->back_count);
    harvest->back_count = 0;
    rtl_pool_give_cards(harvest->pool, harvest->back_cards, harvest->back_cards_count);
    harvest->back_cards_count = 0;
}
