/*
 * Observes a ROCm process that was started without librtl.so, from outside and read-only. The observer finds the
 * process's queues and code objects in its memory and polls the queues with a thread of its own, within a budget of
 * CPU. Its results are snapshots like those of a segment's reader.
 *
 * It writes nothing into the process, never stops it and sends it no signal. The process's memory is as hostile as a
 * segment: time and memory are bounded.
 *
 * Threads: the caller's one for all calls, and one that reads the target. The latter may hang in a page that is never
 * delivered; no call waits long for it, and closing leaves it behind.
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
    bool named;          /* the user named this process */
    bool early;          /* also accept a process that has loaded and dispatched nothing so far */
    bool past_library;   /* of a traced process: only queues that the library doesn't see */
    uint64_t start_time; /* of the intended process (shm/process.h); 0: any process with that pid */
};
#define RTL_OBSERVE_CPU 0.05

/* Attach. NOT_TRACED: no ROCm process, or (without `early`) one with neither a queue nor a code object; PERMISSION:
 * this user may not read it. Then `why` gets one line; it may be NULL. The call waits seconds for memory that doesn't
 * answer; with `past_library` it doesn't wait, and never fails because of what the process is. */
enum rtl_reader_status rtl_observer_open(pid_t pid, const struct rtl_observer_options *options,
                                         struct rtl_observer **observer, char *why, size_t why_bytes);
void rtl_observer_close(struct rtl_observer *observer);

/* True if this user may read the process's memory. */
bool rtl_observer_may(pid_t pid);

/* False once the process has ended, or runs another program. */
bool rtl_observer_alive(struct rtl_observer *observer);

/* With `past_library`: _traced passes a snapshot of the segment as of `as_of_ns` (CLOCK_MONOTONIC, from before it was
 * read); _add adds the numbers of the other queues to a whole snapshot of the segment (past_library.h), false without
 * memory. */
void rtl_observer_traced(struct rtl_observer *observer, const struct rtl_snapshot *segment, uint64_t as_of_ns);
/* True if there are such queues, so that snapshots may have a part of them. NULL: false. */
bool rtl_observer_has_any(struct rtl_observer *observer);
bool rtl_observer_add(struct rtl_observer *observer, struct rtl_snapshot *segment);

/* As rtl_reader_snapshot; names belong to the observer. Never VERSION. */
enum rtl_reader_status rtl_observer_snapshot(struct rtl_observer *observer, struct rtl_snapshot *snapshot);

#endif
