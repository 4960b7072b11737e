/*
 * Comparing two recordings: which kernels got slower or faster. Pure but for memory: spans of snapshots in, rows out.
 *
 * A span is the time between two snapshots of a process, or all time before one. Kernels, functions and ranges are
 * matched by their full names. The cost of a kernel's change is (mean B - mean A) times the timed dispatches of B; a
 * new kernel costs all of its time, a kernel that is gone saves its time.
 */
#ifndef RTL_RECORD_DIFF_H
#define RTL_RECORD_DIFF_H

#include "shm/segment_reader.h"

struct rtl_diff_span {
    const struct rtl_snapshot *earlier, *later; /* earlier NULL = since the start */
};

/*
 * Return whether B contains A: both are snapshots of one process and count from its start, A is earlier. Recent changes
 * would hardly show then. A process is identified by its id (inside its container) and both clocks at its start (ns):
 * ids repeat and machines reboot, but the combination is unique.
 */
bool rtl_diff_contains(const struct rtl_snapshot *a, const struct rtl_snapshot *b);

struct rtl_diff_side {
    bool there;  /* called in the span */
    uint32_t id; /* of the kernel in its recording */
    uint64_t calls, timed, total_ns;
    uint64_t p50, p99; /* ns; invalid if timed is 0 */
    double share;      /* of all timed kernel time in the span, 0..1 */
};

struct rtl_diff_row {
    const char *name; /* owned by the snapshots */
    size_t name_length;
    struct rtl_diff_side a, b;
    double cost_ns;
};

struct rtl_diff {
    struct rtl_diff_row *rows; /* highest cost first */
    uint32_t count;
    uint64_t total_a, total_b; /* timed kernel time, ns */
};

bool rtl_diff_make(const struct rtl_diff_span *a, const struct rtl_diff_span *b,
                   struct rtl_diff *diff); /* false without memory */
/* Compare HIP functions, or roctx ranges and marks, whose calls are all timed. Spans without calls make no rows. */
enum rtl_diff_calls { RTL_DIFF_FUNCTIONS, RTL_DIFF_RANGES };
bool rtl_diff_make_calls(const struct rtl_diff_span *a, const struct rtl_diff_span *b, enum rtl_diff_calls what,
                         struct rtl_diff *diff);
void rtl_diff_free(struct rtl_diff *diff);

/* Relative change of p50 and p99: 0.1 = ten percent slower than A. False with fewer than RTL_DIFF_P50_LEAST or
 * RTL_DIFF_P99_LEAST timed dispatches on a side. */
enum { RTL_DIFF_P50_LEAST = 10, RTL_DIFF_P99_LEAST = 500 };
bool rtl_diff_p50(const struct rtl_diff_row *row, double *change);
bool rtl_diff_p99(const struct rtl_diff_row *row, double *change);

/* Return whether p50 or p99 changed by more than the limit; the kernel needs RTL_DIFF_SHARE_LEAST of a span's time. */
#define RTL_DIFF_SHARE_LEAST 0.01
bool rtl_diff_is_slower(const struct rtl_diff_row *row, double limit);

#endif
