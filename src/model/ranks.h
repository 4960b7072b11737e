/*
 * Compares processes: each one's numbers of a kernel in the window, the slowest process, and the sums of each process.
 * Computed on request from the parts of merged snapshots (model/merge.h).
 */
#ifndef RTL_MODEL_RANKS_H
#define RTL_MODEL_RANKS_H

#include "model/merge.h"
#include "model/model_data.h"

/* A process with fewer timed dispatches in the window is not compared. */
enum { RTL_RANK_LEAST = 5 };
/* A process stands out if its time is this many times the median of the others. */
#define RTL_RANK_STANDS_OUT 1.2

/* A kernel in one process. */
struct rtl_rank {
    const struct rtl_member *member;          /* in the latest snapshot */
    const struct rtl_kernel_snapshot *kernel; /* the process's own */
    uint64_t calls, timed, total_ns;          /* since the process's start */
    uint64_t window_calls, window_timed, window_total_ns;
    bool collective;
    bool has_quantiles;
    uint64_t p50, p99; /* of the window */
    /* its mean in the window, or its p50 of a collective, / the median of the others' in its peer group; 0: not
     * compared */
    double against;
};

/* List at most `most` processes that ever called the kernel, in the order in which they joined; return the count. p50
 * and p99 are computed only if `quantiles`, and for collectives. */
uint32_t rtl_ranks(const struct rtl_model *model, const struct rtl_row *row, bool quantiles, struct rtl_rank *out,
                   uint32_t most);

/* The process that slows the others down. */
struct rtl_slowest {
    struct rtl_rank rank;
    bool collective; /* the last process to arrive waits least, so its time is the shortest */
    uint32_t compared;
};
/* Find the slowest rank. False if no two processes of a peer group have RTL_RANK_LEAST timed dispatches in the window.
 */
bool rtl_slowest(const struct rtl_model *model, const struct rtl_row *row, struct rtl_slowest *slowest);

/* True if this rank is the slowest, and slow enough for the screen to mark it. */
bool rtl_rank_stands_out(const struct rtl_slowest *slowest, const struct rtl_rank *rank);

/* The sort value: the slowest process's ratio, its inverse for a collective; below 0: none. */
double rtl_slowest_value(const struct rtl_model *model, const struct rtl_row *row);

/* Write the slowest rank's name (rtl_member.name) and ratio: "R5 2.1x"; "R5 last" for a collective; "=" if the
 * difference is below 5 %; "-" if there is nothing to compare. */
void rtl_slowest_text(const struct rtl_model *model, const struct rtl_row *row, char *out, size_t size);

/* The sums of one process. */
struct rtl_process_row {
    const struct rtl_member *member;
    double rate;               /* dispatches a second in the window */
    double busy;               /* mean over its GPUs; below 0: not measured */
    const struct rtl_row *top; /* the kernel with most time in the window, or NULL */
    double top_share;
    const struct rtl_row *worst; /* highest p99 in the window, or NULL */
    uint64_t worst_p99;
};
/* List the processes in the order in which they joined; return the count. */
uint32_t rtl_process_rows(const struct rtl_model *model, struct rtl_process_row *out, uint32_t most);

#endif
