/*
 * The event rings of a full trace (RTL_TRACE): calls, ranges and marks that have ended, one ring a block.
 *
 * A thread with a block is the only writer of its ring: about ten stores. The others share the ring of the shared
 * block: one writes at a time; a thread that finds it busy drops its event and counts it instead of waiting.
 */
#ifndef RTL_HIP_EVENTS_H
#define RTL_HIP_EVENTS_H

#include "hip/counters.h"

/* Append an event of the calling thread and set its `sequence`. Only if api->events is not NULL. */
void rtl_hip_api_append_event(struct rtl_hip_api *api, const struct rtl_hip_api_event *event);

#endif
