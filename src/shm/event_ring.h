/*
 * The event ring's writer: one thread (the completion worker) appends, the oldest record is overwritten, nobody is
 * waited for. About 10 stores, no lock, no allocation, no syscall, and no page fault, because all of its pages are
 * there.
 */
#ifndef RTL_SHM_EVENT_RING_H
#define RTL_SHM_EVENT_RING_H

#include <string.h>

#include "shm/segment_writer.h"

/* Appends a record; its `sequence` is set here. Worker, and only where segment->ring is not NULL. */
static inline void rtl_event_put(struct rtl_segment *segment, const struct rtl_event_record *event)
{
    enum { WORDS = sizeof *event / sizeof(uint64_t) };
    uint64_t number = ++segment->event_next, from[WORDS];
    uint64_t *to = (uint64_t *)(void *)&segment->events[(number - 1) & segment->event_mask];
    memcpy(from, event, sizeof from);
    __atomic_store_n(&to[0], 0, __ATOMIC_RELAXED);
    /* release stores stay behind the store of 0, as behind a fence, which ThreadSanitizer doesn't understand */
    for (int i = 1; i < WORDS; i++)
        __atomic_store_n(&to[i], from[i], __ATOMIC_RELEASE);
    __atomic_store_n(&to[0], number, __ATOMIC_RELEASE);
    __atomic_store_n(&segment->ring->head, number, __ATOMIC_RELEASE);
}

#endif
