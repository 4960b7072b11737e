/* The time on CLOCK_MONOTONIC for recorded calls: from the time stamp counter while librtl.so publishes a line for
 * it (shm/hip_api_clock.h), else from the system. A thread's times never go back, also when the source or the line
 * changes: no call ends before it began, and a call stays within its range. */
#ifndef RTL_HIP_NOW_H
#define RTL_HIP_NOW_H

#include "base/likely.h"
#include "hip/counters.h"
#include "shm/hip_api_clock.h"

/* link.c passes it to librtl.so. */
extern struct rtl_hip_api_clock rtl_hip_clock __attribute__((visibility("hidden")));

/* Read the system's clock: there is no line, or it is too old. */
uint64_t rtl_hip_system_ns(void);

static inline uint64_t rtl_hip_forward(struct rtl_hip_thread *thread, uint64_t ns)
{
    if (unlikely(!ns))
        ns = rtl_hip_system_ns();
    thread->latest_ns = ns > thread->latest_ns ? ns : thread->latest_ns;
    return thread->latest_ns;
}

/* Return the time for the calling thread. */
static inline uint64_t rtl_hip_now(struct rtl_hip_thread *thread)
{
    uint64_t version = rtl_hip_api_clock_version(&rtl_hip_clock);
    return rtl_hip_forward(thread, version ? rtl_hip_api_clock_at(&rtl_hip_clock, version, rtl_tsc()) : 0);
}

/* The time at the end of a call: a fenced read, so that whatever the call waited for isn't later. */
static inline uint64_t rtl_hip_now_fenced(struct rtl_hip_thread *thread)
{
    uint64_t version = rtl_hip_api_clock_version(&rtl_hip_clock);
    return rtl_hip_forward(thread, version ? rtl_hip_api_clock_at(&rtl_hip_clock, version, rtl_tsc_fenced()) : 0);
}

#endif
