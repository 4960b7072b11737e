/*
 * A probe, from the viewer's request to its numbers (shm/probe_page.h). All of it is the worker's, and there only in a
 * process that was started with RTL_PROBE=1.
 *
 * It looks at the page's word once a round; a parked worker gets up for that ten times a second (rtl_probe_is_needed),
 * so that dispatches need not. Nothing is waited for, but the runtime while it loads the copy (probe_parts.h): what the
 * runtime does in its own time (copies between the GPU and the host) is looked for in later rounds, for a bounded time.
 */
#ifndef RTL_INTERCEPT_PROBE_RUNNER_H
#define RTL_INTERCEPT_PROBE_RUNNER_H

#include <stdbool.h>
#include <stdint.h>

/* How a probed dispatch ended: its duration is known; it is not; with its queue, maybe because it made that fail;
 * nobody can tell whether it has (its signal is somebody else's by now). */
enum rtl_probe_end { RTL_PROBE_TIMED, RTL_PROBE_UNTIMED, RTL_PROBE_QUEUE_GONE, RTL_PROBE_LOST };

/* The probed dispatch that was in flight. A mark is left, nothing else. */
void rtl_probe_over(enum rtl_probe_end end, uint64_t duration_ns);

/* Every round, at that time. */
void rtl_probe_round(uint64_t now);

/* There is something to do before anything is dispatched. */
bool rtl_probe_is_needed(uint64_t now);
/* Something is under way that later rounds have to look at; and a copy is, which is soon over. */
bool rtl_probe_is_busy(void);
bool rtl_probe_is_copying(uint64_t now);
/* There may be a probe in this process: longest sleep of a parked worker, in ns; UINT64_MAX: there can be none. */
uint64_t rtl_probe_longest_park(void);

/* The worker ends: what isn't in flight is given back, the rest left as it is. */
void rtl_probe_stop(void);

#endif
