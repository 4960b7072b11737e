/*
 * timeline.c - simulated time: the two clocks, the heap of running kernels, and the times of signal completions.
 *
 * The system clock is CLOCK_BOOTTIME, as KFD reports it. The agent clock counts 10 ns ticks and may drift against the
 * system clock, to test that a tracer calibrates. All times in the engine are agent ticks.
 */
#include "vgpu.h"

#include <time.h>

uint64_t vg_clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The drift counts from boot. A double cannot hold single ticks at that distance, so use integers: parts per 10^12. */
static __int128 drifted(uint64_t v, double ppm)
{
    return (__int128)v + (__int128)v * (int64_t)(ppm * 1e6) / 1000000000000ll;
}

uint64_t vg_ns_to_ticks(uint64_t ns)
{
    return vg_cfg.drift_ppm != 0 ? (uint64_t)(drifted(ns, vg_cfg.drift_ppm) / VG_TICK_NS) : ns / VG_TICK_NS;
}

uint64_t vg_ticks_to_ns(uint64_t ticks)
{
    if (vg_cfg.drift_ppm == 0)
        return ticks * VG_TICK_NS;
    int64_t scale = 1000000000000ll + (int64_t)(vg_cfg.drift_ppm * 1e6);
    return (uint64_t)((__int128)ticks * VG_TICK_NS * 1000000000000ll / scale);
}

static bool ends_before(const struct vg_flight *a, const struct vg_flight *b)
{
    return a->end != b->end ? a->end < b->end : a->seq < b->seq;
}

void vg_heap_push(struct vg_heap *h, struct vg_flight f)
{
    unsigned i = h->n++;
    f.seq = h->seq++;
    while (i) {
        unsigned up = (i - 1) / 2;
        if (!ends_before(&f, &h->at[up]))
            break;
        h->at[i] = h->at[up];
        i = up;
    }
    h->at[i] = f;
}

struct vg_flight vg_heap_pop(struct vg_heap *h)
{
    struct vg_flight top = h->at[0], last = h->at[--h->n];
    unsigned i = 0;
    for (;;) {
        unsigned kid = 2 * i + 1;
        if (kid >= h->n)
            break;
        if (kid + 1 < h->n && ends_before(&h->at[kid + 1], &h->at[kid]))
            kid++;
        if (!ends_before(&h->at[kid], &last))
            break;
        h->at[i] = h->at[kid];
        i = kid;
    }
    if (h->n)
        h->at[i] = last;
    return top;
}

/* Direct mapped: if another signal evicts an entry, a barrier only loses its exact time. */
static struct {
    uint64_t va, tick;
} last_done[4096];

static unsigned slot_of(uint64_t va)
{
    return (unsigned)((va >> 6) * 0x9e3779b97f4a7c15ull >> 52);
}

void vg_signal_time_set(uint64_t va, uint64_t tick)
{
    unsigned i = slot_of(va);
    last_done[i].va = va;
    last_done[i].tick = tick;
}

bool vg_signal_time_get(uint64_t va, uint64_t *tick)
{
    unsigned i = slot_of(va);
    *tick = last_done[i].tick;
    return last_done[i].va == va;
}
