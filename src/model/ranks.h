/*
 * Several processes compared: what each has of a kernel in the window, who is slow, and what each does altogether. Made
 * of the parts of merged snapshots (model/merge.h) when it is asked for; of one process there is nothing to compare.
 */
#ifndef RTL_MODEL_RANKS_H
#define RTL_MODEL_RANKS_H

#include "model/merge.h"
#include "model/model_data.h"

/* Of fewer timed dispatches in the window nothing is concluded. */
enum { RTL_RANK_LEAST = 5 };

/* A kernel in one process. */
struct rtl_rank {
    const struct rtl_member *member;          /* in the latest snapshot */
    const struct rtl_kernel_snapshot *kernel; /* its own */
    uint64_t calls, timed, total_ns;          /* since its start */
    uint64_t window_calls, window_timed, window_total_ns;
    bool has_quantiles; /* of the window */
    uint64_t p50, p99;
    double against; /* its mean in the window, how many times the median of the others'; 0 when there is too little */
};

/*
 * Into `out`, at most `most`: those that ever called the kernel, in the order in which they came; how many. p50 and p99
 * only if `quantiles`.
 */
uint32_t rtl_ranks(const struct rtl_model *model, const struct rtl_row *row, bool quantiles, struct rtl_rank *out,
                   uint32_t most);

/* Who stands out. */
struct rtl_slowest {
    struct rtl_rank rank;
    bool collective; /* whoever arrives last waits least: its time is the shortest, and it keeps the others waiting */
    uint32_t compared;
};
/* False when fewer than two have RTL_RANK_LEAST timed dispatches in the window. */
bool rtl_slowest(const struct rtl_model *model, const struct rtl_row *row, struct rtl_slowest *slowest);

/* "R5", "TP3"; of one without a rank "G5" if it has one GPU, else "4711". */
struct rtl_member_name {
    char text[24];
};
struct rtl_member_name rtl_member_name(const struct rtl_member *member);

/* How far off the one that stands out is, for sorting: its ratio, or of a collective the inverse; below 0 for none. */
double rtl_slowest_value(const struct rtl_model *model, const struct rtl_row *row);

/* "R5 2.1x"; of a collective "R5 last"; "=" when nobody is 5 % off; "-" when there is nothing to compare. */
void rtl_slowest_text(const struct rtl_model *model, const struct rtl_row *row, char *out, size_t size);

/* One process altogether. */
struct rtl_process_row {
    const struct rtl_member *member;
    double rate;               /* dispatches a second in the window */
    double busy;               /* of its GPUs, their mean; below 0 when not measured */
    const struct rtl_row *top; /* where most of its time in the window went, or NULL */
    double top_share;
    const struct rtl_row *worst; /* highest p99 in the window, or NULL */
    uint64_t worst_p99;
};
/* In the order in which they came; how many. */
uint32_t rtl_process_rows(const struct rtl_model *model, struct rtl_process_row *out, uint32_t most);

#endif
