/*
 * Which kernels got slower or faster between two recordings. Pure but for memory: spans of snapshots in, rows out.
 *
 * A span is what lies between two snapshots of a process, or everything up to one. Kernels are matched by their full
 * names, functions and ranges likewise. A kernel's cost is what its change costs in the second span: (mean B - mean A)
 * times the timed dispatches of B; one that is new costs all of its time, one that is gone saves it.
 */
#ifndef RTL_RECORD_DIFF_H
#define RTL_RECORD_DIFF_H

#include "shm/segment_reader.h"

struct rtl_diff_span {
    const struct rtl_snapshot *earlier, *later; /* earlier NULL = since the start */
};

/*
 * B counts from the start of a process, and so does A, an earlier snapshot of the same one: all of A is in B, and what
 * changed lately would hardly show. A process is known by its id (inside its container) and by both clocks at its
 * start, in ns: the id comes again, the machine starts anew, together they don't repeat.
 */
bool rtl_diff_contains(const struct rtl_snapshot *a, const struct rtl_snapshot *b);

struct rtl_diff_side {
    bool there;  /* called in the span */
    uint32_t id; /* of the kernel in its recording */
    uint64_t calls, timed, total_ns;
    uint64_t p50, p99; /* ns; mean nothing while timed is 0 */
    double share;      /* of all timed kernel time in the span, 0..1 */
};

struct rtl_diff_row {
    const char *name; /* the snapshots' */
    size_t name_length;
    struct rtl_diff_side a, b;
    double cost_ns;
};

struct rtl_diff {
    struct rtl_diff_row *rows; /* the dearest first */
    uint32_t count;
    uint64_t total_a, total_b; /* timed kernel time, ns */
};

bool rtl_diff_make(const struct rtl_diff_span *a, const struct rtl_diff_span *b,
                   struct rtl_diff *diff); /* false without memory */
/* The same of the functions of HIP, or of the ranges and marks of roctx, by their names: a row's calls are all timed.
 * Of spans without any there are no rows. */
enum rtl_diff_calls { RTL_DIFF_FUNCTIONS, RTL_DIFF_RANGES };
bool rtl_diff_make_calls(const struct rtl_diff_span *a, const struct rtl_diff_span *b, enum rtl_diff_calls what,
                         struct rtl_diff *diff);
void rtl_diff_free(struct rtl_diff *diff);

/* Change of p50 and p99 as a share of A's: 0.1 = ten percent slower. False when one of them was not measured, or on too
 * few dispatches to say: RTL_DIFF_P50_LEAST and RTL_DIFF_P99_LEAST on each side. */
enum { RTL_DIFF_P50_LEAST = 10, RTL_DIFF_P99_LEAST = 500 };
bool rtl_diff_p50(const struct rtl_diff_row *row, double *change);
bool rtl_diff_p99(const struct rtl_diff_row *row, double *change);

/* Slower than the limit allows: p50 or p99 changed by more, and the kernel has RTL_DIFF_SHARE_LEAST of the time in one
 * of the spans. */
#define RTL_DIFF_SHARE_LEAST 0.01
bool rtl_diff_is_slower(const struct rtl_diff_row *row, double limit);

#endif
