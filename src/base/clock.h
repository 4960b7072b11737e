/* The system's clocks in ns. */
#ifndef RTL_BASE_CLOCK_H
#define RTL_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t rtl_clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static inline uint64_t rtl_mono_ns(void)
{
    return rtl_clock_ns(CLOCK_MONOTONIC);
}

/* Since 1970. */
static inline uint64_t rtl_real_ns(void)
{
    return rtl_clock_ns(CLOCK_REALTIME);
}

#endif
