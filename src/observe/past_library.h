/*
 * The queues of a traced process that the library doesn't see: another tool's or the program's own, created past the
 * library, or cooperative ones that could be neither intercepted nor native. The observer finds all queues of the
 * process; those in the segment are the library's and never count here.
 *
 * The other queues' numbers are added to the segment's snapshots: their dispatches to the kernels of the same name, as
 * not timed, and the queues themselves, marked. The runtime's own queue is left out: its work is copies, which the
 * library counts as copies. Pure, except for memory; one thread.
 */
#ifndef RTL_OBSERVE_PAST_LIBRARY_H
#define RTL_OBSERVE_PAST_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#include "observe/ring_counter.h"
#include "shm/segment_reader.h"

/* The library's queues, from a snapshot of its segment. */
struct rtl_traced_queues {
    uint64_t as_of_ns; /* CLOCK_MONOTONIC before the snapshot; 0: the library's queues can't be identified */
    uint32_t count;
    uint64_t id[RTL_QUEUES_MAX];  /* hsa_queue_t.id */
    uint32_t key[RTL_QUEUES_MAX]; /* RTL_QUEUE_KEY; 0 = not known */
    uint32_t agent[RTL_QUEUES_MAX];
    uint64_t refused;     /* queues that the library counts as refused */
    bool another_runtime; /* the process has a runtime that the library doesn't trace */
};
void rtl_traced_queues_of(const struct rtl_snapshot *snapshot, uint64_t as_of_ns, struct rtl_traced_queues *traced);
/* Return the queue's index in the list, or -1. `key`: RTL_QUEUE_KEY, compared if both keys are known, because queues of
 * another runtime have the same ids. */
int rtl_traced_queues_find(const struct rtl_traced_queues *traced, uint64_t id, uint32_t key);

/* A found queue that the segment doesn't have so far. */
struct rtl_candidate {
    uint64_t at, id, seen_ns;
    bool from_start; /* it existed before the observer */
};
/* True if the library has had a second to publish the queue, by a list newer than that. It publishes a queue moments
 * after the runtime has created it, and the list may be old. */
bool rtl_candidate_is_past(const struct rtl_candidate *candidate, const struct rtl_traced_queues *traced);

struct rtl_past_row {
    const char *name; /* owned by the observer; stable */
    uint32_t length;
    uint32_t traced; /* the segment's row of that name; UINT32_MAX before it has one */
    bool alone;      /* shown in a row of its own before */
    uint64_t calls;
    struct rtl_ring_packet last;
};
enum { RTL_PAST_ROWS = 1024 }; /* further kernels count as "(other kernels)" */

struct rtl_past_library {
    struct rtl_past_row rows[RTL_PAST_ROWS];
    uint32_t row_count;
    uint64_t unnamed, other; /* dispatches without a name, without a row */
    struct rtl_queue_snapshot queues[RTL_QUEUES_MAX];
    uint32_t queue_count;
    uint64_t lost; /* packets */
};

/* Add all numbers to a snapshot of the segment. False without memory: then nothing was added. */
bool rtl_past_library_add(struct rtl_past_library *past, struct rtl_snapshot *snapshot);

#endif
