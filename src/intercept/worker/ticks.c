/* The line from a GPU's ticks to host time, and the check of ticks (ticks.h). */
#include "intercept/worker/ticks.h"

#include "intercept/base/hsa_clock.h"
#include "intercept/track/queue_tracker.h"
#include "intercept/base/tool.h"

enum {
    LINE_NS = 20000000,     /* a line from ticks to host time is valid for 20 ms of ticks: 50 ppm are 1 us then */
    PROBE_TICKS = 1000000,  /* the slope is measured over that many: 10 to 52 ms at known rates */
    ASSUMED_HZ = 100000000, /* without a usable answer of the runtime: the rate of all recent GPUs */
    REFUSED_MOST = 8,       /* successive ends in the future */
    APART = 1000,           /* clocks that differ by more than 1/1000 don't run together */
};
static const int64_t SLACK = 1000000000; /* ns; smaller differences are plausible */

/* The runtime's system time minus monotonic time, by the tightest of three readings. */
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

/* Ask the runtime for a tick's time, in monotonic ns; slope 0 if the answer is no clock. Also measures the tick rate
 * if it is unknown. */
static bool ask_runtime_clock(struct rtl_gpu *gpu, uint64_t tick, struct rtl_line *answer)
{
    uint64_t at = 0, ahead = 0;
    int64_t offset = 0;
    hsa_status_t (*convert)(hsa_agent_t, uint64_t, uint64_t *) =
        rtl_tool.hsa.amd_profiling_convert_tick_to_system_domain;
    /* the later one first: it may make the runtime read its clocks again, and both answers should use the same
     * reading */
    bool asked = convert(gpu->agent, tick + PROBE_TICKS, &ahead) == HSA_STATUS_SUCCESS &&
                 convert(gpu->agent, tick, &at) == HSA_STATUS_SUCCESS;
    if (gpu->rate.hz == 0) {
        uint64_t hz = asked && ahead > at ? rtl_tick_rate_guess(PROBE_TICKS, ahead - at) : 0;
        rtl_gpu_set_rate(gpu, hz ? hz : ASSUMED_HZ);
        __atomic_store_n(&gpu->shared->tick_hz, gpu->rate.hz, __ATOMIC_RELAXED);
    }
    if (!asked || !system_offset(&offset))
        return false;
    *answer = (struct rtl_line){tick, at - (uint64_t)offset, ahead > at ? (double)(ahead - at) / PROBE_TICKS : 0};
    return true;
}

/* True if the point is further off the line than a clock without a leap can be. */
static bool is_leap(const struct rtl_gpu *gpu, const struct rtl_line *point)
{
    int64_t off = (int64_t)(rtl_line_at(&gpu->line, point->x) - point->y);
    int64_t distance = (int64_t)(point->y - gpu->line.y);
    return gpu->line.slope > 0 && (off < 0 ? -off : off) > SLACK + (distance < 0 ? -distance : distance) / APART;
}

/* Times before a leap can't be compared with later ones: reset ends of kernels and busy spans. */
static void forget_past_ends(struct rtl_gpu *gpu)
{
    rtl_busy_restart(&gpu->busy);
    for (struct rtl_tracker *tracker = atomic_load_explicit(&rtl_trackers, memory_order_acquire); tracker;
         tracker = tracker->next) {
        /* in other states create owns the tracker's fields */
        uint32_t state = atomic_load_explicit(&tracker->state, memory_order_acquire);
        if ((state == RTL_TRACKER_LIVE || state == RTL_TRACKER_GONE) && tracker->gpu == gpu)
            tracker->last_end = 0;
    }
}

void rtl_ticks_restart(void)
{
    for (uint32_t i = 0; i < RTL_AGENTS_MAX; i++) {
        struct rtl_gpu *gpu = rtl_gpu_at(i);
        if (gpu)
            forget_past_ends(gpu);
    }
}

/* Ends near that tick need no check. */
static void set_near(struct rtl_gpu *gpu, uint64_t tick)
{
    uint64_t second = gpu->rate.hz;
    gpu->near_from = tick - second;
    gpu->near_ticks = second + second / (1000000000 / LINE_NS) + 1;
    gpu->long_ticks = second;
}

/* Draw the line through that point, which the runtime (`from_runtime`) or the library measured. */
static void redraw_line(struct rtl_gpu *gpu, const struct rtl_line *point, bool from_runtime)
{
    if (is_leap(gpu, point))
        forget_past_ends(gpu);
    if (from_runtime) {
        rtl_calibration_add(&gpu->calibration, gpu->rate.hz, point->x, point->y, point->slope);
        gpu->line = gpu->calibration.line;
        publish_clock(gpu);
    } else {
        gpu->calibration.line.slope = 0; /* its slope belongs to the clock before the leap */
        gpu->line = *point;
    }
    set_near(gpu, point->x);
}

bool rtl_ticks_judge(struct rtl_gpu *gpu, uint64_t start, uint64_t end, uint64_t submit)
{
    uint64_t now = rtl_clock_now();
    struct rtl_line answer = {0, 0, 0};
    bool near = gpu->near_ticks && end - gpu->near_from < gpu->near_ticks;
    bool asked = !near && ask_runtime_clock(gpu, end, &answer);
    int64_t longest = (int64_t)(now - submit) + SLACK;
    uint64_t duration_ns = rtl_ticks_to_ns(&gpu->rate, end - start);

    if (end - start > UINT32_MAX * gpu->rate.hz || (int64_t)duration_ns > longest)
        return false;
    if (near)
        return true;
    uint64_t at = asked ? answer.y : gpu->line.slope > 0 ? rtl_line_at(&gpu->line, end) : now;
    bool future = (int64_t)(at - now) > SLACK, past = asked && (int64_t)(submit - at) > SLACK;
    if (future && !gpu->distrusted && ++gpu->refused < REFUSED_MOST)
        return false;
    gpu->distrusted = future;
    gpu->refused = 0;
    if (future || past) {
        const struct rtl_line found = {end, now, 1e9 / (double)gpu->rate.hz};
        redraw_line(gpu, &found, false);
    } else if (answer.slope <= 0) { /* no answer: the old line continues; without one there are no waits */
        gpu->line.x = end;
        gpu->line.y = at;
        set_near(gpu, end);
    } else if ((int64_t)(end - gpu->line.x) > 0 || gpu->line.slope <= 0 || is_leap(gpu, &answer)) {
        redraw_line(gpu, &answer, true); /* otherwise the kernel was only reported late */
    }
    return true;
}
