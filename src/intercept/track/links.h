/*
 * Links between API calls and what they submit, if librtl-hip.so is in the process (shm/hip_api_link.h).
 *
 * The thread that reserves a packet's slot submits the packet, inside the call (with direct dispatch, HIP's default).
 * Another thread may publish it to the GPU: streams share queues, and the thread that rings publishes all complete
 * packets. So each reservation leaves a note under the packet's index: the thread's current call, its begin, the
 * enclosing range. The thread that handles the packet finds the note by the index and stores the link beside the
 * dispatch in flight; the worker counts it when the dispatch has completed. The call's own thread submits copies to
 * engines.
 *
 * A queue has twice as many notes as slots: threads may reserve beyond a full queue and wait. A note contains its
 * index, so an overwritten note is detected: a dispatch is linked correctly or counted under a reason.
 *
 * Without librtl-hip.so none of this runs: rtl_hot.linked is false, and the index functions aren't hooked.
 */
#ifndef RTL_INTERCEPT_LINKS_H
#define RTL_INTERCEPT_LINKS_H

#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>

#include "shm/segment.h"

struct rtl_line;
struct rtl_tracker;
struct rtl_notes;

/* The link of a dispatch or copy in flight. */
struct rtl_link {
    uint64_t call; /* 0: no call */
    uint64_t entry_ns;
    uint64_t range;
    uint32_t node, ordinal;
};

/* Load: find librtl-hip.so. True if it records calls; the caller then sets rtl_hot.linked. */
bool rtl_links_find(void);
/* Load, after all other hooks on the functions of write indices. */
void rtl_links_hook(void *table);

/* Create, before the application knows the queue: note its reservations from here on. */
void rtl_links_open(struct rtl_tracker *tracker, const hsa_queue_t *queue);
/* Create: another queue may reuse the address. */
void rtl_links_close(const hsa_queue_t *queue);

/* Dispatch: count a kernel dispatch at that index of its queue as linked or not. If it is timed (number isn't
 * RTL_NO_SIGNAL), store its link for the worker. Before it is pushed. */
void rtl_links_see(struct rtl_tracker *tracker, uint64_t index, uint32_t number);

/* Any: return the link of a copy that the calling thread submits now. */
struct rtl_link rtl_links_now(void);
/* Any: count such a copy as linked or not. */
void rtl_links_copied(const struct rtl_link *link);

/* Worker: the line that times calls from now on, for RTL_TSC_LINE_USED_NS at most; NULL: none. */
void rtl_links_set_clock(const struct rtl_line *line);

/* Worker: record a timed dispatch that has completed; start_ns is 0 if its host time is unknown. */
void rtl_links_record(uint32_t number, uint32_t kernel, uint64_t start_ns, uint64_t duration_ns);
/* Worker: record a copy. */
void rtl_links_record_copy(const struct rtl_link *link, uint64_t duration_ns);
/* Worker: return the link for the event ring. */
const struct rtl_link *rtl_links_of(uint32_t number);
struct rtl_event_link rtl_links_event(const struct rtl_link *link);

#endif
