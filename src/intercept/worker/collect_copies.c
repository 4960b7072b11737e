/* Records copies that are over (collect_copies.h). */
#include "intercept/worker/collect_copies.h"

#include "intercept/base/tool.h"
#include "intercept/track/app_signals.h"
#include "intercept/track/copy_slots.h"
#include "intercept/track/hot_line.h"
#include "intercept/worker/collect.h"
#include "intercept/worker/ticks.h"

static const uint64_t WAIT = 1000000000; /* ns; a copy that is over waits so long for its times to be believed */

static bool is_over(struct rtl_copy *copy)
{
    return __atomic_load_n(&copy->card.value, __ATOMIC_ACQUIRE) < RTL_SIGNAL_ARMED ||
           rtl_app_signal_look(copy->own, &copy->card, copy->value);
}

static void put_event(const struct rtl_gpu *gpu, const struct rtl_copy *copy, uint64_t start, uint64_t duration_ns)
{
    struct rtl_event_record event = {
        .duration_ns = duration_ns,
        .kernel = copy->line % RTL_DIRECTION_COUNT,
        .flags = RTL_EVENT_COPY,
        .grid = {(uint32_t)copy->bytes, (uint32_t)(copy->bytes >> 32)},
    };
    rtl_collect_event(gpu, start, &event);
}

static void record(struct rtl_collector *harvest, const struct rtl_copy *copy)
{
    struct rtl_copies *line = &rtl_tool.segment.copies[copy->line];
    enum rtl_copy_reason why = RTL_COPY_UNTIMED_BAD_TIME;
    uint64_t start = copy->card.start_ts, end = copy->card.end_ts, duration_ns;
    struct rtl_gpu *gpu;

    switch (__atomic_load_n(&copy->card.value, __ATOMIC_RELAXED)) {
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
        if (!rtl_ticks_believed(gpu, start, end, harvest->began)) /* when it was asked for isn't kept */
            break;
        duration_ns = rtl_ticks_to_ns(&gpu->rate, end - start);
        if (rtl_recorder_record(harvest->recorder, RTL_HISTOGRAM_COPIES(copy->line), duration_ns)) {
            rtl_count(&line->timed_bytes, copy->bytes);
            if (rtl_hot.trace)
                put_event(gpu, copy, start, duration_ns);
            return;
        }
        why = RTL_COPY_UNTIMED_NO_MEMORY;
    }
    rtl_copy_untimed(copy->line, why);
}

/*
 * Over, but nobody knows yet what its times mean: the next copy may tell. Not for ever, because the worker looks at it
 * again and again, and there may be no other.
 */
static bool waits(struct rtl_copy *copy)
{
    if (__atomic_load_n(&copy->card.value, __ATOMIC_RELAXED) != RTL_STAND_IN_TIMED || copy->card.end_ts == 0 ||
        !rtl_copy_times_are_unknown())
        return false;
    uint64_t now = rtl_clock_now();
    if (!copy->waits_since)
        copy->waits_since = now;
    return now - copy->waits_since < WAIT;
}

uint32_t rtl_collect_copies(struct rtl_collector *harvest)
{
    uint32_t done = 0;
    for (uint32_t w = 0; w < RTL_COPY_WORDS; w++)
        for (uint64_t bits = rtl_copies_in_flight(w); bits; bits &= bits - 1) {
            struct rtl_copy *copy = rtl_copy_at(w * 64 + (uint32_t)__builtin_ctzll(bits));
            if (!is_over(copy) || waits(copy) || !rtl_copy_claim(copy))
                continue;
            record(harvest, copy);
            rtl_copy_give(copy);
            done++;
        }
    return done;
}

void rtl_copies_give_up(struct rtl_collector *harvest)
{
    rtl_collect_copies(harvest);
    for (uint32_t w = 0; w < RTL_COPY_WORDS; w++)
        for (uint64_t bits = rtl_copies_in_flight(w); bits; bits &= bits - 1) {
            struct rtl_copy *copy = rtl_copy_at(w * 64 + (uint32_t)__builtin_ctzll(bits));
            if (!rtl_copy_claim(copy))
                continue;
            rtl_copy_untimed(copy->line, RTL_COPY_UNTIMED_ABANDONED);
            if (rtl_app_signal_detach(copy->own, &copy->card, false))
                rtl_copy_give(copy);
        }
}
