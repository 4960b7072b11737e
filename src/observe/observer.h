/*
 * Observes a ROCm process that was started without librtl.so: from outside and read-only. It finds the process's queues
 * and code objects in its memory and polls the queues with a thread of its own, within a budget of CPU; what it knows
 * comes out as the same snapshots that a segment's reader takes.
 *
 * Nothing is written into the process, it is never stopped and gets no signal. What its memory says is as hostile as a
 * segment: bounded in time and memory.
 *
 * Threads: the caller's one for all calls, and one that polls.
 */
#ifndef RTL_OBSERVE_OBSERVER_H
#define RTL_OBSERVE_OBSERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "shm/segment_reader.h"

struct rtl_observer;

struct rtl_observer_options {
    double cpu; /* share of a core for polling all observed processes: 0.05 */
    bool early; /* also one that hasn't loaded or dispatched anything so far */
};
#define RTL_OBSERVE_CPU 0.05

/*
 * Attaches. NOT_TRACED: it is no ROCm process, or (without `early`) one that has neither a queue nor a code object;
 * PERMISSION: it may not be looked into. `why` gets one line then; it may be NULL, to look around.
 */
enum rtl_reader_status rtl_observer_open(pid_t pid, const struct rtl_observer_options *options,
                                         struct rtl_observer **observer, char *why, size_t why_bytes);
void rtl_observer_close(struct rtl_observer *observer);

/* Whether this user may look into the process. */
bool rtl_observer_may(pid_t pid);

/* False once the process has ended, or runs another program. */
bool rtl_observer_alive(struct rtl_observer *observer);

/* As rtl_reader_snapshot; names are the observer's. Not VERSION. */
enum rtl_reader_status rtl_observer_snapshot(struct rtl_observer *observer, struct rtl_snapshot *snapshot);

#endif
