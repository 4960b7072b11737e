/*
 * Observes a ROCm process that was started without librtl.so: from outside and read-only. It finds the process's queues
 * and code objects in its memory and polls the queues with a thread of its own, within a budget of CPU; what it knows
 * comes out as the same snapshots that a segment's reader takes.
 *
 * Nothing is written into the process, it is never stopped and gets no signal. What its memory says is as hostile as a
 * segment: bounded in time and memory.
 *
 * Threads: the caller's one for all calls, and one that reads the target. That one may hang in a page that nobody
 * brings; no call here waits for it for long, and closing leaves it behind.
 */
#ifndef RTL_OBSERVE_OBSERVER_H
#define RTL_OBSERVE_OBSERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "shm/segment_reader.h"

struct rtl_observer;

struct rtl_observer_options {
    double cpu;          /* share of a core for polling all observed processes: 0.05 */
    bool named;          /* somebody asked for this very process */
    bool early;          /* also one that hasn't loaded or dispatched anything so far */
    bool past_library;   /* of a traced process: only those queues that the library doesn't see */
    uint64_t start_time; /* of the process that is meant (shm/process.h); 0: whichever has the number */
};
#define RTL_OBSERVE_CPU 0.05

/*
 * Attaches. NOT_TRACED: it is no ROCm process, or (without `early`) one that has neither a queue nor a code object;
 * PERMISSION: it may not be looked into. `why` gets one line then; it may be NULL. Memory that doesn't answer is waited
 * for for seconds; with `past_library` nothing is waited for, and it never fails for what the process is.
 */
enum rtl_reader_status rtl_observer_open(pid_t pid, const struct rtl_observer_options *options,
                                         struct rtl_observer **observer, char *why, size_t why_bytes);
void rtl_observer_close(struct rtl_observer *observer);

/* Whether this user may look into the process. */
bool rtl_observer_may(pid_t pid);

/* False once the process has ended, or runs another program. */
bool rtl_observer_alive(struct rtl_observer *observer);

/*
 * With `past_library`: what the segment said of the process at `as_of_ns` (CLOCK_MONOTONIC, from before it was read),
 * and adding to a whole snapshot of the segment what is known of the other queues (past_library.h). False without
 * memory.
 */
void rtl_observer_traced(struct rtl_observer *observer, const struct rtl_snapshot *segment, uint64_t as_of_ns);
/* Whether there are any; they may have a part in each snapshot then. NULL: none. */
bool rtl_observer_has_any(struct rtl_observer *observer);
bool rtl_observer_add(struct rtl_observer *observer, struct rtl_snapshot *segment);

/* As rtl_reader_snapshot; names are the observer's. Not VERSION. */
enum rtl_reader_status rtl_observer_snapshot(struct rtl_observer *observer, struct rtl_snapshot *snapshot);

#endif
