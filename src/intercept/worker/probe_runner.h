/*
 * A probe, from the viewer's request to its numbers (shm/probe_page.h). Worker only, and only in a process that was
 * started with RTL_PROBE=1.
 *
 * The worker polls the page's word once a round, and a parked worker ten times a second (rtl_probe_is_needed), so that
 * dispatches needn't. It waits only while the runtime loads the copy (probe_resources.h). Copies between GPU and host
 * are polled in later rounds, for a bounded time.
 */
#ifndef RTL_INTERCEPT_PROBE_RUNNER_H
#define RTL_INTERCEPT_PROBE_RUNNER_H

#include <stdbool.h>
#include <stdint.h>

/* The end of a probed dispatch: its duration is known; is unknown; its queue is gone, perhaps because of the copy;
 * unknown whether it has completed (another use took its signal). */
enum rtl_probe_end { RTL_PROBE_TIMED, RTL_PROBE_UNTIMED, RTL_PROBE_QUEUE_GONE, RTL_PROBE_LOST };

/* The probed dispatch in flight has ended. Only stores this. */
void rtl_probe_over(enum rtl_probe_end end, uint64_t duration_ns);

/* Every round. */
void rtl_probe_round(uint64_t now);

/* True if the probe needs the worker before a dispatch does. */
bool rtl_probe_is_needed(uint64_t now);
/* True if later rounds must poll something; if that is a copy that will complete soon. */
bool rtl_probe_is_busy(void);
bool rtl_probe_is_copying(uint64_t now);
/* Return the longest sleep of a parked worker, in ns; UINT64_MAX if no probe is possible. */
uint64_t rtl_probe_longest_park(void);

/* The worker ends: free the block and the code, or leak them if a dispatch or copy may still use them. */
void rtl_probe_stop(void);

#endif
