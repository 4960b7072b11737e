/*
 * The event ring's writer: one thread (the completion worker) appends, the oldest record is overwritten, nobody is
 * waited for. About 10 stores, no lock, no allocation, no syscall, and no page fault, because all of its pages are
 * there.
 */
#ifndef RTL_SHM_EVENT_RING_H
#define RTL_SHM_EVENT_RING_H

#include <string.h>

#include "shm/segment_writer.h"

/* Appends a record; its `sequence` is set here. The link, or NULL, is kept where the ring has links. Worker, and only
 * where segment->ring is not NULL. */
static inline void rtl_event_put_linked(struct rtl_segment *segment, const struct rtl_event_record *event,
                                        const struct rtl_event_link *link)
{
    enum { WORDS = sizeof *event / sizeof(uint64_t), LINK_WORDS = 3 /* the rest of it stays zeros */ };
    uint64_t number = ++segment->event_next, from[WORDS], linked[LINK_WORDS] = {0};
    uint64_t *to = (uint64_t *)(void *)&segment->events[((number - 1) & segment->event_mask) << segment->event_links];
    memcpy(from, event, sizeof from);
    __atomic_store_n(&to[0], 0, __ATOMIC_RELAXED);
    /* release stores keep behind the 0, like a fence would, but ThreadSanitizer understands them */
    for (int i = 1; i < WORDS; i++)
        __atomic_store_n(&to[i], from[i], __ATOMIC_RELEASE);
    if (segment->event_links) {
        if (link)
            memcpy(linked, link, sizeof linked);
        for (int i = 0; i < LINK_WORDS; i++)
            __atomic_store_n(&to[WORDS + i], linked[i], __ATOMIC_RELEASE);
    }
    __atomic_store_n(&to[0], number, __ATOMIC_RELEASE);
    __atomic_store_n(&segment->ring->head, number, __ATOMIC_RELEASE);
}

static inline void rtl_event_put(struct rtl_segment *segment, const struct rtl_event_record *event)
{
    rtl_event_put_linked(segment, event, NULL);
}

#endif
