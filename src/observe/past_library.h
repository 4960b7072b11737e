/*
 * The queues of a traced process that the library sees nothing of: another tool's or the program's own, made past the
 * library, cooperative ones that could be neither intercepted nor stood in front of. The observer finds all queues of
 * the process; those that the segment has are the library's, and what those do is never counted here.
 *
 * What the others do is added to the segment's snapshots: their dispatches, to the kernels of the same name, as not
 * timed, and the queues themselves, marked. The runtime's own queue is left out: what it does are copies, which the
 * library counts as such. Pure, but for memory; one thread.
 */
#ifndef RTL_OBSERVE_PAST_LIBRARY_H
#define RTL_OBSERVE_PAST_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#include "observe/ring_counter.h"
#include "shm/segment_reader.h"

/* The library's queues, from a snapshot of its segment. */
struct rtl_traced_queues {
    uint64_t as_of_ns; /* CLOCK_MONOTONIC before the snapshot was taken; 0: it can't be told which queues it has */
    uint32_t count;
    uint64_t id[RTL_QUEUES_MAX];  /* hsa_queue_t.id */
    uint32_t key[RTL_QUEUES_MAX]; /* RTL_QUEUE_KEY; 0 = not known */
    uint32_t agent[RTL_QUEUES_MAX];
    uint64_t refused;     /* queues that the library knows it doesn't see */
    bool another_runtime; /* the process has a runtime that the library doesn't trace */
};
void rtl_traced_queues_of(const struct rtl_snapshot *snapshot, uint64_t as_of_ns, struct rtl_traced_queues *traced);
/* Returns the queue's index in the list, or -1. `key`: RTL_QUEUE_KEY, compared if both keys are known, because queues
 * of another runtime have the same ids. */
int rtl_traced_queues_find(const struct rtl_traced_queues *traced, uint64_t id, uint32_t key);

/* A queue that was found and that the segment doesn't have, so far. */
struct rtl_candidate {
    uint64_t at, id, seen_ns;
    bool from_start; /* it was there before us */
};
/*
 * Whether the library has had its time to take that queue in: a second, by a list that is newer than that. Between the
 * runtime's making a queue and the library's showing it there are moments, and the list may be old.
 */
bool rtl_candidate_is_past(const struct rtl_candidate *candidate, const struct rtl_traced_queues *traced);

struct rtl_past_row {
    const char *name; /* the observer's; stays */
    uint32_t length;
    uint32_t traced; /* the segment's row of that name, once it had one; or UINT32_MAX */
    bool alone;      /* it has been shown in a row of its own */
    uint64_t calls;
    struct rtl_ring_packet last;
};
enum { RTL_PAST_ROWS = 1024 }; /* what has no room is in "(other kernels)" */

struct rtl_past_library {
    struct rtl_past_row rows[RTL_PAST_ROWS];
    uint32_t row_count;
    uint64_t unnamed, other; /* dispatches without a name, without a row */
    struct rtl_queue_snapshot queues[RTL_QUEUES_MAX];
    uint32_t queue_count;
    uint64_t lost; /* packets */
};

/* All that is known into a snapshot of the segment. False without memory: nothing was added. */
bool rtl_past_library_add(struct rtl_past_library *past, struct rtl_snapshot *snapshot);

#endif
