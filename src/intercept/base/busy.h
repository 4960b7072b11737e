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
 * A gap is counted when it is settled: later intervals don't change it any more. Then its time is divided by cause
 * (RTL_CAUSES): each interval knows when its first kernel was submitted, and a second list has the copies. The longest
 * gaps are kept; a hull remembers one. Pure: no clock, no allocation, no thread.
 */
#ifndef RTL_INTERCEPT_BUSY_H
#define RTL_INTERCEPT_BUSY_H

#include <stdint.h>

#include "shm/segment.h"

enum { RTL_BUSY_SPANS = 1024, RTL_BUSY_RUN = 256, RTL_BUSY_COPIES = 1024 };

/* The kernel at an edge of an interval. */
struct rtl_busy_kernel {
    uint16_t row;  /* in the segment */
    uint8_t queue; /* slot */
    uint8_t known; /* bits of RTL_BUSY_* */
};
enum {
    RTL_BUSY_KERNEL = 1,  /* row and queue are known */
    RTL_BUSY_SUBMIT = 2,  /* its time of submission is known */
    RTL_BUSY_BARRIER = 4, /* a barrier that waits for a signal was submitted right before it */
};

struct rtl_busy_span {
    uint64_t start, end;                /* [start, end) */
    uint64_t covered;                   /* at most end - start; less only for hulls */
    uint64_t submit;                    /* time of submission of `first` */
    struct rtl_busy_kernel first, last; /* that start and end the span */
};

struct rtl_busy_gap {
    uint64_t start, end; /* equal: none */
    uint64_t submit;     /* of the kernel behind it */
    struct rtl_busy_kernel before, after;
    uint64_t no_work, copies; /* parts of it, once it is settled */
    enum rtl_cause cause;     /* with most of its time, once it is settled */
    uint64_t start_mono_ns;   /* set by agents.c: `start` as host time, once known */
};

struct rtl_gaps {
    uint64_t total[RTL_IDLE_COUNT];
    uint32_t count[RTL_IDLE_COUNT];
    uint64_t cause[RTL_CAUSE_COUNT];
    struct rtl_busy_gap longest;
};

struct rtl_busy {
    uint64_t total; /* length of the union so far without the run, in units of the intervals; only grows */
    /* settled gaps; only grow */
    uint64_t idle_count[RTL_IDLE_COUNT];
    uint64_t idle_total[RTL_IDLE_COUNT]; /* in the unit of the intervals */
    uint64_t cause_total[RTL_CAUSE_COUNT];

    /* the longest settled gaps of the present slice of time, then of the previous one */
    struct rtl_busy_gap longest[2][RTL_GAPS_A_SLICE];
    uint32_t longest_count[2];
    uint64_t slice_from, slice_length; /* 0: the list stays empty */
    uint64_t changes;                  /* of the list */

    uint64_t below[RTL_IDLE_COUNT - 1]; /* upper bounds of the classes in that unit (rtl_busy_classes) */
    uint64_t settled;                   /* gaps before this are settled */
    uint32_t copies;
    uint32_t count;
    uint32_t coarser; /* how much coarser than the finest hulls are, since the list was last full */
    uint32_t gathered;
    struct rtl_busy_span span[RTL_BUSY_SPANS]; /* `count` of them */
    struct rtl_gaps
        inner[RTL_BUSY_SPANS]; /* gaps in each hull that aren't settled; undefined for spans that are no hull */
    struct rtl_busy_interval {
        uint64_t start, end; /* [start, end) */
        uint64_t submit;
        struct rtl_busy_kernel first, last;
    } run[RTL_BUSY_RUN]; /* `gathered` intervals, ascending and disjoint, not in the list yet */
    struct rtl_busy_copy {
        uint64_t start, end;
    } copy[RTL_BUSY_COPIES]; /* `copies` of them, ascending and disjoint, behind `settled` */
};

/* Set the classes' bounds for intervals in ticks of that rate. */
void rtl_busy_classes(struct rtl_busy *busy, uint64_t hz);

/* Merge the run into the list. */
void rtl_busy_merge_run(struct rtl_busy *busy);

/* Add a copy's interval. */
void rtl_busy_add_copy(struct rtl_busy *busy, uint64_t start, uint64_t end);

/* Add a kernel's interval [start, end), if it isn't empty. */
static inline void rtl_busy_add_kernel(struct rtl_busy *busy, uint64_t start, uint64_t end, uint64_t submit,
                                       struct rtl_busy_kernel kernel)
{
    if (end <= start)
        return;
    uint32_t n = busy->gathered;
    if (n) {
        struct rtl_busy_interval *last = &busy->run[n - 1];
        if (start >= last->start && start <= last->end) { /* back to back, or overlapping */
            if (end > last->end) {
                last->end = end;
                last->last = kernel;
            }
            return;
        }
        if (start < last->start || n == RTL_BUSY_RUN) {
            rtl_busy_merge_run(busy);
            n = 0;
        }
    }
    busy->run[n] = (struct rtl_busy_interval){start, end, submit, kernel, kernel};
    busy->gathered = n + 1;
}

/* Likewise for a kernel of which only the interval is known. */
static inline void rtl_busy_add(struct rtl_busy *busy, uint64_t start, uint64_t end)
{
    rtl_busy_add_kernel(busy, start, end, 0, (struct rtl_busy_kernel){0, 0, 0});
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
