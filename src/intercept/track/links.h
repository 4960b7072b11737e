/*
 * Links between calls of the API and what they submit, where librtl-hip.so is in the process (shm/hip_api_link.h).
 *
 * Who reserves a packet's slot is who submits it, on the thread that is inside the call (with direct dispatch, HIP's
 * default). Who hands it on to the GPU may be another: streams share queues, and who rings walks over all that is
 * written. So each reservation leaves a note under the packet's index: the call that its thread is in, when that began,
 * the range around it. Whoever then looks at the packet of that index finds the note by the index alone, and puts it
 * beside the dispatch in flight; the worker counts it when the dispatch is over. Copies by engines are submitted by the
 * call's thread itself.
 *
 * A queue has twice as many notes as slots: threads may reserve beyond a full queue and wait. A note says its index, so
 * one that was overwritten is known as such: a dispatch is linked rightly, or counted under a reason, never wrongly.
 *
 * Without librtl-hip.so nothing here is called: rtl_hot.linked is false, and the functions of indices aren't hooked.
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

/* What is kept with a dispatch or copy in flight. */
struct rtl_link {
    uint64_t call; /* 0: it is linked to none */
    uint64_t entry_ns;
    uint64_t range;
    uint32_t node, ordinal;
};

/* Load: looks for librtl-hip.so, and says whether calls are recorded. Then rtl_hot.linked is to be set. */
bool rtl_links_find(void);
/* Load, behind all other hooks on the functions of write indices. */
void rtl_links_hook(void *table);

/* Create, before the application knows the queue: what is reserved in it is noted from here on. */
void rtl_links_open(struct rtl_tracker *tracker, const hsa_queue_t *queue);
/* Create: its address may be another queue's. */
void rtl_links_close(const hsa_queue_t *queue);

/*
 * Dispatch: a kernel dispatch at that index of its queue is counted as linked or not; where it is timed (number isn't
 * RTL_NO_SIGNAL) the worker will find its link. Before it is pushed.
 */
void rtl_links_see(struct rtl_tracker *tracker, uint64_t index, uint32_t number);

/* Any: the link of a copy that the calling thread makes now. */
struct rtl_link rtl_links_now(void);
/* Any: such a copy was counted. */
void rtl_links_copied(const struct rtl_link *link);

/* Worker: the line that calls are timed by from now on, for RTL_TSC_LINE_USED_NS at most; NULL: by none. */
void rtl_links_set_clock(const struct rtl_line *line);

/* Worker: the dispatch of that number is over and timed; start_ns is 0 where the host's time of it isn't known. */
void rtl_links_record(uint32_t number, uint32_t kernel, uint64_t start_ns, uint64_t duration_ns);
/* Worker: a copy. */
void rtl_links_record_copy(const struct rtl_link *link, uint64_t duration_ns);
/* Worker: what the event ring says of it. */
const struct rtl_link *rtl_links_of(uint32_t number);
struct rtl_event_link rtl_links_event(const struct rtl_link *link);

#endif
