/*
 * The event ring's writer: one thread (the completion worker) appends and overwrites the oldest record without waiting.
 * About 10 stores; no lock, allocation, syscall or page fault, because all pages exist.
 */
#ifndef RTL_SHM_EVENT_RING_H
#define RTL_SHM_EVENT_RING_H

#include <string.h>

#include "shm/segment_writer.h"

/* Append a record and set its `sequence`. The link, or NULL, is stored if the ring has links. Worker only, and only if
 * segment->ring is not NULL. */
static inline void rtl_event_put_linked(struct rtl_segment *segment, const struct rtl_event_record *event,
                                        const struct rtl_event_link *link)
{
    enum { WORDS = sizeof *event / sizeof(uint64_t), LINK_WORDS = 3 /* its other words stay zeros */ };
    uint64_t number = ++segment->event_next, from[WORDS], linked[LINK_WORDS] = {0};
    uint64_t *to = (uint64_t *)(void *)&segment->events[((number - 1) & segment->event_mask) << segment->event_links];
    memcpy(from, event, sizeof from);
    __atomic_store_n(&to[0], 0, __ATOMIC_RELAXED);
    /* release stores stay behind the 0, as with a fence, and ThreadSanitizer understands them */
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

#endif
