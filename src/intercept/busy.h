/*
 * How long a GPU was busy: the length of the union of intervals that arrive in almost any order.
 *
 * Intervals are kept as a bounded list, ascending and disjoint. When the list is full its older half is joined
 * pairwise into hulls that remember how much of themselves is covered, so history gets coarser with age and is never
 * lost: an interval that covers a hull adds exactly what was missing in it, one that only touches it adds the share.
 * Pure: no clock, no allocation, no thread.
 */
#ifndef RTL_INTERCEPT_BUSY_H
#define RTL_INTERCEPT_BUSY_H

#include <stdint.h>

enum { RTL_BUSY_SPANS = 256 };

struct rtl_busy_span {
    uint64_t start, end; /* [start, end) */
    uint64_t covered;    /* at most end - start; equal but for hulls */
};

struct rtl_busy {
    uint64_t total; /* length of the union so far, in the unit of the intervals; only grows */
    uint32_t count;
    struct rtl_busy_span span[RTL_BUSY_SPANS];
};

/* Adds [start, end); nothing when it is empty. */
void rtl_busy_add(struct rtl_busy *busy, uint64_t start, uint64_t end);

#endif
