/*
 * How long a GPU was busy and how it was idle: the length of the union of intervals that arrive in almost any order,
 * and the gaps in it by size class.
 *
 * Intervals are kept as a bounded list, ascending and disjoint. When the list is full, neighbours are joined into hulls
 * that are short beside their age and remember how much of themselves is covered and which gaps they hide. So history
 * gets coarser with age and is never lost: an interval that covers a hull adds exactly what was missing in it and ends
 * its gaps, one that only touches it takes its share of both.
 *
 * What a queue reports ascends, but the queues of a GPU report one after the other, each reaching back to where the one
 * before began. So intervals are gathered while they ascend, and a run of them is merged into the list in one go.
 *
 * Gaps are counted when they are settled: from then on no late interval changes them. Pure: no clock, no allocation, no
 * thread.
 */
#ifndef RTL_INTERCEPT_BUSY_H
#define RTL_INTERCEPT_BUSY_H

#include <stdint.h>

#include "shm/tables.h"

enum { RTL_BUSY_SPANS = 1024, RTL_BUSY_RUN = 256 };

struct rtl_busy_span {
    uint64_t start, end; /* [start, end) */
    uint64_t covered;    /* at most end - start; equal but for hulls */
};

struct rtl_gaps {
    uint64_t total[RTL_IDLE_COUNT];
    uint32_t count[RTL_IDLE_COUNT];
};

struct rtl_busy {
    uint64_t total; /* length of the union so far, but for the run; in the unit of the intervals; only grows */
    /* gaps that are settled; only grow */
    uint64_t idle_count[RTL_IDLE_COUNT];
    uint64_t idle_total[RTL_IDLE_COUNT]; /* in the unit of the intervals */

    uint64_t below[RTL_IDLE_COUNT - 1]; /* the classes' bounds in that unit; rtl_busy_classes */
    uint64_t settled;                   /* gaps in front of it are settled */
    uint32_t count;
    uint32_t coarser; /* how much coarser hulls are than the finest; what was right when the list was full last */
    uint32_t gathered;
    struct rtl_busy_span span[RTL_BUSY_SPANS]; /* `count` of them */
    struct rtl_gaps inner[RTL_BUSY_SPANS];     /* of hulls: unsettled gaps inside; means nothing where span is none */
    struct rtl_busy_interval {
        uint64_t start, end; /* [start, end) */
    } run[RTL_BUSY_RUN];     /* `gathered`, ascending and disjoint: not in the list yet */
};

/* Sets the classes' bounds for intervals in ticks of that rate. */
void rtl_busy_classes(struct rtl_busy *busy, uint64_t hz);

/* Takes the run into the list. */
void rtl_busy_merge_run(struct rtl_busy *busy);

/* Adds [start, end); nothing when it is empty. */
static inline void rtl_busy_add(struct rtl_busy *busy, uint64_t start, uint64_t end)
{
    if (end <= start)
        return;
    uint32_t n = busy->gathered;
    if (n) {
        struct rtl_busy_interval *last = &busy->run[n - 1];
        if (start >= last->start && start <= last->end) { /* back to back, or overlapping */
            last->end = end > last->end ? end : last->end;
            return;
        }
        if (start < last->start || n == RTL_BUSY_RUN) {
            rtl_busy_merge_run(busy);
            n = 0;
        }
    }
    busy->run[n].start = start;
    busy->run[n].end = end;
    busy->gathered = n + 1;
}

/* The length of the union of all that was added. */
static inline uint64_t rtl_busy_total(struct rtl_busy *busy)
{
    rtl_busy_merge_run(busy);
    return busy->total;
}

/* The clock of the intervals has leapt: those so far count, and stand in no order to what comes. */
void rtl_busy_restart(struct rtl_busy *busy);

/* Settles the gaps that lie further than `behind` before the newest end; all of them with 0. */
void rtl_busy_settle(struct rtl_busy *busy, uint64_t behind);

#endif
