/*
 * The event rings of a full trace (RTL_TRACE): calls, ranges and marks that have ended, one ring a block.
 *
 * A thread that has a block writes its ring alone: about ten stores. Threads without one share that of the shared
 * block: one writes at a time, and who finds it busy drops its event, which is counted, rather than wait.
 */
#ifndef RTL_HIP_EVENTS_H
#define RTL_HIP_EVENTS_H

#include "hip/counters.h"

/* Appends an event of the calling thread; its `sequence` is set here. Only where api->events is not NULL. */
void rtl_hip_api_put(struct rtl_hip_api *api, const struct rtl_hip_api_event *event);

#endif
