/*
 * The clock that times HIP calls: the CPU's time stamp counter and a line to CLOCK_MONOTONIC, which librtl.so's worker
 * keeps for its own stamps. librtl-hip.so owns the memory and passes it through hip_api_link.h. The worker of the first
 * librtl.so that claims it writes a line some hundred times a second; threads in a call read it. A line is valid for a
 * short time only: a read after that, during a write or without a librtl.so returns no time, and the reader asks the
 * system.
 */
#ifndef RTL_SHM_HIP_API_CLOCK_H
#define RTL_SHM_HIP_API_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/likely.h"
#include "base/line.h"

/* All zero: no line. */
struct rtl_hip_api_clock {
    _Alignas(64) _Atomic uint64_t version; /* 0: no line, or one is being written; else unique for each line */
    _Atomic uint64_t x, y;                 /* the line's point */
    _Atomic uint64_t factor;               /* ns a tick, times 2^32 */
    _Atomic uint64_t most;                 /* ticks after its point for which the line is valid */
    uint64_t written;                      /* private to the writer: lines so far */
    const void *_Atomic writer;            /* address that the first claimant stores, once */
};
_Static_assert(sizeof(struct rtl_hip_api_clock) == 64, "two libraries know it");

/* Claim the clock; called at load. True for the one writer, identified by the address `self`. */
static inline bool rtl_hip_api_clock_claim(struct rtl_hip_api_clock *clock, const void *self)
{
    const void *none = NULL;
    return atomic_compare_exchange_strong(&clock->writer, &none, self) || none == self;
}

/* Writer: withdraw the line. */
static inline void rtl_hip_api_clock_stop(struct rtl_hip_api_clock *clock)
{
    atomic_store_explicit(&clock->version, 0, memory_order_relaxed);
}

/* Writer: publish a line with a slope above 0, valid for `ns` after its point. */
static inline void rtl_hip_api_clock_set(struct rtl_hip_api_clock *clock, const struct rtl_line *line, uint64_t ns)
{
    atomic_store_explicit(&clock->version, 0, memory_order_relaxed);
    atomic_store_explicit(&clock->x, line->x, memory_order_release); /* release: after the 0, like each store below */
    atomic_store_explicit(&clock->y, line->y, memory_order_release);
    atomic_store_explicit(&clock->factor, (uint64_t)(line->slope * 0x1p32), memory_order_release);
    atomic_store_explicit(&clock->most, (uint64_t)((double)ns / line->slope), memory_order_release);
    atomic_store_explicit(&clock->version, ++clock->written, memory_order_release);
}

/* Reader: return the version of the line; 0: none, so reading the counter is useless. */
static inline uint64_t rtl_hip_api_clock_version(struct rtl_hip_api_clock *clock)
{
    return atomic_load_explicit(&clock->version, memory_order_acquire);
}

/* Reader: return CLOCK_MONOTONIC at that tick by the line of that version; 0 if the line isn't valid there. */
static inline uint64_t rtl_hip_api_clock_at(struct rtl_hip_api_clock *clock, uint64_t version, uint64_t tsc)
{
    /* huge for a tick before the point */
    uint64_t ticks = tsc - atomic_load_explicit(&clock->x, memory_order_acquire);
    uint64_t y = atomic_load_explicit(&clock->y, memory_order_acquire);
    uint64_t factor = atomic_load_explicit(&clock->factor, memory_order_acquire);
    uint64_t most = atomic_load_explicit(&clock->most, memory_order_acquire);
    bool same = atomic_load_explicit(&clock->version, memory_order_relaxed) == version;
    return likely(same && ticks < most) ? y + (ticks * factor >> 32) : 0;
}

#endif
