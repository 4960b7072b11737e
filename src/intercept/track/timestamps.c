/* Reads the times that kernels and copies leave in signals (timestamps.h). */
#include "intercept/track/timestamps.h"

#include "intercept/base/agents.h"
#include "intercept/base/tool.h"
#include "intercept/track/copy_slots.h"
#include "intercept/track/signal_pool.h"

enum { CONTRADICTIONS = 8 };

/* Are the words behind a signal the runtime's times of a copy? Any; UNKNOWN -> RIGHT or WRONG, once a load. */
enum copy_layout { UNKNOWN, RIGHT, WRONG };
static _Atomic int layout;
static _Atomic uint32_t contradictions; /* any: copies whose times differed from the runtime's own answer */

/* The runtime's record of a signal. The frozen part comes first; the runtime checks handles by the word `id`. */
struct signal_record {
    amd_signal_t signal;
    uint64_t copy_start;
    uint64_t object;
    uint64_t id;
    uint64_t reserved0;
    uint64_t copy_end;
    uint64_t reserved1[3];
};
_Static_assert(sizeof(struct signal_record) == 128, "two cache lines");
static const uint64_t ID = 0x71FCCA6A3D5D5276;

static bool read_kernel(const amd_signal_t *signal, struct rtl_times *times)
{
    times->end = __atomic_load_n(&signal->end_ts, __ATOMIC_ACQUIRE);
    times->start = __atomic_load_n(&signal->start_ts, __ATOMIC_ACQUIRE);
    return times->start != 0 && times->end != 0;
}

static bool read_copy(uint64_t old_end, const amd_signal_t *signal, struct rtl_times *times)
{
    const struct signal_record *record = (const struct signal_record *)signal;
    if (record->id != ID)
        return false;
    times->end = __atomic_load_n(&record->copy_end, __ATOMIC_ACQUIRE);
    times->start = __atomic_load_n(&record->copy_start, __ATOMIC_ACQUIRE);
    /* the runtime zeroes both only when it accepts the copy */
    if (times->end == 0 || times->end == old_end) /* a kernel did the copy, or it isn't over */
        read_kernel(signal, times);
    return times->start != 0 && times->end >= times->start;
}

bool rtl_times_read(const amd_signal_t *stand_in, const amd_signal_t *signal, struct rtl_times *times)
{
    if (!stand_in || !rtl_stand_in_is_for_copy(stand_in))
        return read_kernel(signal, times);
    const struct rtl_copy *copy = (const struct rtl_copy *)stand_in;
    return atomic_load_explicit(&layout, memory_order_relaxed) != WRONG &&
           read_copy(atomic_load_explicit(&copy->old_end, memory_order_relaxed), signal, times);
}

void rtl_copy_prepare(struct rtl_copy *copy, struct rtl_gpu *gpu, const amd_signal_t *signal)
{
    const struct signal_record *record = (const struct signal_record *)signal;
    uint64_t old_end = record->id == ID ? __atomic_load_n(&record->copy_end, __ATOMIC_RELAXED) : 0;
    __atomic_store_n(&copy->stand_in.kind, RTL_STAND_IN_COPY, __ATOMIC_RELAXED);
    atomic_store_explicit(&copy->gpu, gpu, memory_order_relaxed);
    atomic_store_explicit(&copy->old_end, old_end, memory_order_relaxed);
    rtl_signal_arm(&copy->stand_in);
}

/* The runtime compares its clocks anew between two calls, so its answers differ slightly. */
static bool is_near(uint64_t a, uint64_t b, uint64_t tolerance)
{
    return (a > b ? a - b : b - a) <= tolerance;
}

/* Ask the runtime for the times of a completed copy whose signal can't be destroyed meanwhile. */
static void check_copy_times(const struct rtl_gpu *gpu, uint64_t old_end, const amd_signal_t *signal)
{
    struct rtl_times found = {0, 0};
    hsa_amd_profiling_async_copy_time_t told = {0, 0};
    uint64_t start = 0, end = 0;
    hsa_signal_t handle = {(uint64_t)(uintptr_t)signal};
    hsa_agent_t agent = {__atomic_load_n(&gpu->agent.handle, __ATOMIC_RELAXED)};
    int unknown = UNKNOWN;

    if (!agent.handle || !read_copy(old_end, signal, &found))
        return;
    bool right =
        rtl_tool.hsa.amd_profiling_get_async_copy_time(handle, &told) == HSA_STATUS_SUCCESS &&
        rtl_tool.hsa.amd_profiling_convert_tick_to_system_domain(agent, found.end, &end) == HSA_STATUS_SUCCESS &&
        rtl_tool.hsa.amd_profiling_convert_tick_to_system_domain(agent, found.start, &start) == HSA_STATUS_SUCCESS &&
        is_near(told.end, end, 1000000) && is_near(told.end - told.start, end - start, 2000 + (end - start) / 64);
    /* the runtime may have changed its clocks between two calls, so one difference proves nothing */
    if (right || atomic_fetch_add(&contradictions, 1) + 1 >= CONTRADICTIONS)
        atomic_compare_exchange_strong(&layout, &unknown, right ? RIGHT : WRONG);
}

void rtl_times_compare(const amd_signal_t *stand_in, const _Atomic uintptr_t *use, const amd_signal_t *signal)
{
    if (!rtl_stand_in_is_for_copy(stand_in) || !rtl_copy_times_are_unknown())
        return;
    const struct rtl_copy *copy = (const struct rtl_copy *)stand_in;
    const struct rtl_gpu *gpu = atomic_load_explicit(&copy->gpu, memory_order_relaxed);
    uint64_t old_end = atomic_load_explicit(&copy->old_end, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    if (!use || atomic_load_explicit(use, memory_order_relaxed) == (uintptr_t)stand_in)
        check_copy_times(gpu, old_end, signal);
}

bool rtl_copy_times_are_right(void)
{
    return atomic_load(&layout) == RIGHT;
}

bool rtl_copy_times_are_unknown(void)
{
    return atomic_load(&layout) == UNKNOWN;
}

void rtl_times_forget(void)
{
    atomic_store(&layout, UNKNOWN);
    atomic_store(&contradictions, 0);
}
