/*
 * The clock that calls are timed by: the CPU's time stamp counter, along the line to CLOCK_MONOTONIC that librtl.so's
 * worker keeps for its own stamps. librtl-hip.so has the memory, and lends it through hip_api_link.h; the worker of the
 * first librtl.so that takes it writes, some hundred times a second; each thread in a call reads. It is a line to be
 * believed for a short time only: what is read beyond that, while it is written, or without a librtl.so is no time, and
 * whoever reads asks the system instead.
 */
#ifndef RTL_SHM_HIP_API_CLOCK_H
#define RTL_SHM_HIP_API_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/likely.h"
#include "base/line.h"

/* All zero: there is no line. */
struct rtl_hip_api_clock {
    _Alignas(64) _Atomic uint64_t version; /* 0: none, or it is being written; else no other line had this number */
    _Atomic uint64_t x, y;                 /* the line's point */
    _Atomic uint64_t factor;               /* ns a tick, times 2^32 */
    _Atomic uint64_t most;                 /* ticks behind its point for which it is to be believed */
    uint64_t written;                      /* the writer's: lines so far */
    const void *_Atomic writer;            /* whoever comes first stores an address of its own, once */
};
_Static_assert(sizeof(struct rtl_hip_api_clock) == 64, "two libraries know it");

/* Load: true for the one who may write, whose address `self` is. */
static inline bool rtl_hip_api_clock_take(struct rtl_hip_api_clock *clock, const void *self)
{
    const void *none = NULL;
    return atomic_compare_exchange_strong(&clock->writer, &none, self) || none == self;
}

/* The writer: there is no line. */
static inline void rtl_hip_api_clock_stop(struct rtl_hip_api_clock *clock)
{
    atomic_store_explicit(&clock->version, 0, memory_order_relaxed);
}

/* The writer: a line with a slope above 0, to be believed for so many ns behind its point. */
static inline void rtl_hip_api_clock_set(struct rtl_hip_api_clock *clock, const struct rtl_line *line, uint64_t ns)
{
    atomic_store_explicit(&clock->version, 0, memory_order_relaxed);
    atomic_store_explicit(&clock->x, line->x, memory_order_release); /* behind the 0; each is */
    atomic_store_explicit(&clock->y, line->y, memory_order_release);
    atomic_store_explicit(&clock->factor, (uint64_t)(line->slope * 0x1p32), memory_order_release);
    atomic_store_explicit(&clock->most, (uint64_t)((double)ns / line->slope), memory_order_release);
    atomic_store_explicit(&clock->version, ++clock->written, memory_order_release);
}

/* Any: which line it is now; 0: there is none, and the counter needn't be read. */
static inline uint64_t rtl_hip_api_clock_version(struct rtl_hip_api_clock *clock)
{
    return atomic_load_explicit(&clock->version, memory_order_acquire);
}

/* Any: the time at that tick, CLOCK_MONOTONIC, by the line of that version; 0 where it says nothing of it. */
static inline uint64_t rtl_hip_api_clock_at(struct rtl_hip_api_clock *clock, uint64_t version, uint64_t tsc)
{
    /* of what is before its point, huge */
    uint64_t ticks = tsc - atomic_load_explicit(&clock->x, memory_order_acquire);
    uint64_t y = atomic_load_explicit(&clock->y, memory_order_acquire);
    uint64_t factor = atomic_load_explicit(&clock->factor, memory_order_acquire);
    uint64_t most = atomic_load_explicit(&clock->most, memory_order_acquire);
    bool same = atomic_load_explicit(&clock->version, memory_order_relaxed) == version;
    return likely(same && ticks < most) ? y + (ticks * factor >> 32) : 0;
}

#endif
