/*
 * A GPU's busy and idle time: the length of the union of intervals that arrive in almost any order, and its gaps by
 * size class.
 *
 * The intervals are kept as a bounded list, ascending and disjoint. When it is full, neighbours are joined into hulls
 * that are short beside their age. A hull remembers how much of it is covered and the gaps inside. So history gets
 * coarser with age, but no time is lost: an interval that covers a hull adds exactly the uncovered part and ends its
 * gaps; one that covers a part of it takes a proportional share of both.
 *
 * The intervals of one queue ascend, but the worker reports one queue after the other, each reaching back to where the
 * previous one began. So intervals are gathered while they ascend, and the run is merged into the list in one pass.
 *
 * A gap is counted when it is settled: later intervals don't change it any more. Pure: no clock, no allocation, no
 * thread.
 */
#ifndef RTL_INTERCEPT_BUSY_H
#define RTL_INTERCEPT_BUSY_H

#include <stdint.h>

#include "shm/tables.h"

enum { RTL_BUSY_SPANS = 1024, RTL_BUSY_RUN = 256 };

struct rtl_busy_span {
    uint64_t start, end; /* [start, end) */
    uint64_t covered;    /* at most end - start; less only for hulls */
};

struct rtl_gaps {
    uint64_t total[RTL_IDLE_COUNT];
    uint32_t count[RTL_IDLE_COUNT];
};

struct rtl_busy {
    uint64_t total; /* length of the union so far without the run, in units of the intervals; only grows */
    /* settled gaps; only grow */
    uint64_t idle_count[RTL_IDLE_COUNT];
    uint64_t idle_total[RTL_IDLE_COUNT]; /* in the unit of the intervals */

    uint64_t below[RTL_IDLE_COUNT - 1]; /* upper bounds of the classes in that unit (rtl_busy_classes) */
    uint64_t settled;                   /* gaps before this are settled */
    uint32_t count;
    uint32_t coarser; /* how much coarser than the finest hulls are, since the list was last full */
    uint32_t gathered;
    struct rtl_busy_span span[RTL_BUSY_SPANS]; /* `count` of them */
    struct rtl_gaps
        inner[RTL_BUSY_SPANS]; /* gaps in each hull that aren't settled; undefined for spans that are no hull */
    struct rtl_busy_interval {
        uint64_t start, end; /* [start, end) */
    } run[RTL_BUSY_RUN];     /* `gathered` intervals, ascending and disjoint, not in the list yet */
};

/* Set the classes' bounds for intervals in ticks of that rate. */
void rtl_busy_classes(struct rtl_busy *busy, uint64_t hz);

/* Merge the run into the list. */
void rtl_busy_merge_run(struct rtl_busy *busy);

/* Add [start, end), if it isn't empty. */
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

/* Return the length of the union of all intervals. */
static inline uint64_t rtl_busy_total(struct rtl_busy *busy)
{
    rtl_busy_merge_run(busy);
    return busy->total;
}

/* The clock of the intervals leapt: keep their sum, and compare later ones with none of them. */
void rtl_busy_restart(struct rtl_busy *busy);

/* Settle gaps that lie more than `behind` before the newest end; all of them with 0. */
void rtl_busy_settle(struct rtl_busy *busy, uint64_t behind);

#endif
