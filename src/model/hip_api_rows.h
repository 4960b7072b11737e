/*
 * Rows of the calls of HIP and the ranges of roctx over the model's spans, ranked; made by model_hip_api.c.
 */
#ifndef RTL_MODEL_HIP_API_ROWS_H
#define RTL_MODEL_HIP_API_ROWS_H

#include "shm/hip_api_snapshot.h"
#include "stats/quantile.h"

/* X(symbol, header, meaning): what calls and ranges can be ranked by */
#define RTL_HIP_API_ORDERS(X)                  \
    X(SHARE, "%TIME", "share of the window")   \
    X(TOTAL, "TOTAL", "time since the start")  \
    X(CALLS, "CALLS", "calls since the start") \
    X(P99, "P99", "p99 in the window")         \
    X(NAME, "NAME", "name")
#define RTL_ENUM_HIP_API_ORDER(sym, header, meaning) RTL_HIP_API_BY_##sym,
enum rtl_hip_api_order { RTL_HIP_API_ORDERS(RTL_ENUM_HIP_API_ORDER) RTL_HIP_API_BY_COUNT };
#undef RTL_ENUM_HIP_API_ORDER

struct rtl_hip_api_model_row {
    const struct rtl_hip_api_row_snapshot *call; /* in the latest snapshot */
    uint64_t calls, total_ns, errors, bytes;     /* since start or zero */
    /* window; the quantiles mean nothing while window.count is 0 */
    struct rtl_window window;
    uint64_t window_errors, window_bytes;
    uint64_t p50, p99;
    double rate, bandwidth; /* calls and bytes a second */
    double share;           /* of the window that threads spent in it; above 1 when several do at once */
    /* of a tree's row, which is of a range in this very place; the quantiles are those of all ranges of its name */
    const struct rtl_hip_api_node_snapshot *node; /* NULL: of what was never pushed */
    uint32_t depth;                               /* ranges around it */
    uint64_t open;
    uint64_t gpu_ns;  /* since start or zero: of kernels of calls in it, and in the ranges in it */
    double gpu_share; /* of the window; above 1 when several run at once */
};

struct rtl_hip_api_rows {
    struct rtl_hip_api_model_row *rows; /* functions first, then ranges and marks; each in its order */
    uint32_t functions, ranges, room;
    enum rtl_hip_api_order order;
    bool reverse;
    bool any;      /* the process records them */
    bool launches; /* kernels have latencies */
    /* ranges by where they are nested, outer ones first, in their order; behind them what was never pushed. Empty where
     * nothing of that is known. */
    struct rtl_hip_api_model_row *tree;
    uint32_t tree_count, tree_room;
};

#endif
