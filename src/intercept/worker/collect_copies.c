/* Records completed copies (collect.h). */
#include "intercept/worker/collect.h"

#include "intercept/base/tool.h"
#include "intercept/track/app_signals.h"
#include "intercept/track/copy_slots.h"
#include "intercept/track/hot_line.h"
#include "intercept/worker/ticks.h"

static const uint64_t WAIT = 1000000000; /* ns; a completed copy waits this long for its times to be trusted */

static bool copy_is_done(struct rtl_copy *copy)
{
    return __atomic_load_n(&copy->stand_in.value, __ATOMIC_ACQUIRE) < RTL_SIGNAL_ARMED ||
           rtl_app_signal_poll(copy->app_signal, &copy->stand_in, copy->value);
}

static void put_copy_event(const struct rtl_gpu *gpu, const struct rtl_copy *copy, uint64_t start, uint64_t duration_ns)
{
    struct rtl_event_record event = {
        .duration_ns = duration_ns,
        .kernel = copy->row % RTL_DIRECTION_COUNT,
        .flags = RTL_EVENT_COPY,
        .grid = {(uint32_t)copy->bytes, (uint32_t)(copy->bytes >> 32)},
    };
    rtl_collect_event(gpu, start, &event, rtl_hot.linked ? &copy->link : NULL);
}

static void record_copy(struct rtl_collector *collector, const struct rtl_copy *copy)
{
    struct rtl_copies *counters = &rtl_tool.segment.copies[copy->row];
    enum rtl_copy_reason why = RTL_COPY_UNTIMED_BAD_TIME;
    uint64_t start = copy->stand_in.start_ts, end = copy->stand_in.end_ts, duration_ns;
    struct rtl_gpu *gpu;

    switch (__atomic_load_n(&copy->stand_in.value, __ATOMIC_RELAXED)) {
    case RTL_STAND_IN_SHARED:
        why = RTL_COPY_UNTIMED_SHARED_SIGNAL;
        break;
    case RTL_STAND_IN_GONE:
        why = RTL_COPY_UNTIMED_SIGNAL_GONE;
        break;
    default:
        if (start == 0 || end < start || !rtl_copy_times_are_right())
            break;
        gpu = atomic_load_explicit(&copy->gpu, memory_order_relaxed);
        if (!rtl_ticks_believed(gpu, start, end, collector->began)) /* a copy's time of submission isn't kept */
            break;
        rtl_busy_add_copy(&gpu->busy, start, end);
        duration_ns = rtl_ticks_to_ns(&gpu->rate, end - start);
        if (rtl_recorder_record(collector->recorder, RTL_HISTOGRAM_COPIES(copy->row), duration_ns)) {
            rtl_count(&counters->timed_bytes, copy->bytes);
            if (rtl_hot.linked)
                rtl_links_record_copy(&copy->link, duration_ns);
            if (rtl_hot.trace)
                put_copy_event(gpu, copy, start, duration_ns);
            return;
        }
        why = RTL_COPY_UNTIMED_NO_MEMORY;
    }
    rtl_copy_untimed(copy->row, why);
}

/* True if the copy has completed but its times can't be trusted yet; the next copy may confirm them. Waits for a
 * second at most: there may be no other copy, and the worker stays awake meanwhile. */
static bool awaits_layout(struct rtl_copy *copy)
{
    if (__atomic_load_n(&copy->stand_in.value, __ATOMIC_RELAXED) != RTL_STAND_IN_TIMED || copy->stand_in.end_ts == 0 ||
        !rtl_copy_times_are_unknown())
        return false;
    uint64_t now = rtl_clock_now();
    if (!copy->waits_since)
        copy->waits_since = now;
    return now - copy->waits_since < WAIT;
}

uint32_t rtl_collect_copies(struct rtl_collector *collector)
{
    uint32_t done = 0;
    for (uint32_t w = 0; w < RTL_COPY_WORDS; w++)
        for (uint64_t bits = rtl_copies_in_flight(w); bits; bits &= bits - 1) {
            struct rtl_copy *copy = rtl_copy_at(w * 64 + (uint32_t)__builtin_ctzll(bits));
            if (!copy_is_done(copy) || awaits_layout(copy) || !rtl_copy_claim(copy))
                continue;
            record_copy(collector, copy);
            rtl_copy_return(copy);
            done++;
        }
    return done;
}

void rtl_collect_copies_abandon(struct rtl_collector *collector)
{
    rtl_collect_copies(collector);
    for (uint32_t w = 0; w < RTL_COPY_WORDS; w++)
        for (uint64_t bits = rtl_copies_in_flight(w); bits; bits &= bits - 1) {
            struct rtl_copy *copy = rtl_copy_at(w * 64 + (uint32_t)__builtin_ctzll(bits));
            if (!rtl_copy_claim(copy))
                continue;
            rtl_copy_untimed(copy->row, RTL_COPY_UNTIMED_ABANDONED);
            if (rtl_app_signal_detach(copy->app_signal, &copy->stand_in, false))
                rtl_copy_return(copy);
        }
}
