/*
 * What time it is for what is recorded of a thread: CLOCK_MONOTONIC, by the time stamp counter where librtl.so says how
 * that runs (shm/hip_api_clock.h), from the system otherwise. A thread's times never go back, whichever of the two they
 * come from and however the line is redrawn: no call ends before it began, and what lies in a range stays in it.
 */
#ifndef RTL_HIP_NOW_H
#define RTL_HIP_NOW_H

#include "hip/counters.h"
#include "shm/hip_api_clock.h"

/* Lent to librtl.so by link.c. */
extern struct rtl_hip_api_clock rtl_hip_clock __attribute__((visibility("hidden")));

/* The system's: where there is no line, or the one there is too old. */
uint64_t rtl_hip_system_ns(void);

static inline uint64_t rtl_hip_forward(struct rtl_hip_thread *thread, uint64_t ns)
{
    if (__builtin_expect(!ns, 0))
        ns = rtl_hip_system_ns();
    thread->latest_ns = ns > thread->latest_ns ? ns : thread->latest_ns;
    return thread->latest_ns;
}

/* Of the calling thread. */
static inline uint64_t rtl_hip_now(struct rtl_hip_thread *thread)
{
    uint64_t version = rtl_hip_api_clock_version(&rtl_hip_clock);
    return rtl_hip_forward(thread, version ? rtl_hip_api_clock_at(&rtl_hip_clock, version, rtl_tsc()) : 0);
}

/* The same at the end of something: what it waited for isn't later. */
static inline uint64_t rtl_hip_now_behind(struct rtl_hip_thread *thread)
{
    uint64_t version = rtl_hip_api_clock_version(&rtl_hip_clock);
    return rtl_hip_forward(thread, version ? rtl_hip_api_clock_at(&rtl_hip_clock, version, rtl_tsc_behind()) : 0);
}

#endif
