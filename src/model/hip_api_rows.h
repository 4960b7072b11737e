/* Ranked rows of HIP calls and roctx ranges over the model's spans; made by model_hip_api.c. */
#ifndef RTL_MODEL_HIP_API_ROWS_H
#define RTL_MODEL_HIP_API_ROWS_H

#include "shm/hip_api_snapshot.h"
#include "stats/quantile.h"

/* Ranking of rows. X(symbol, header, meaning) */
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
    /* of the window; quantiles are invalid while window.count is 0 */
    struct rtl_window window;
    uint64_t window_errors, window_bytes;
    uint64_t p50, p99;
    double rate, bandwidth; /* calls and bytes a second */
    double share;           /* share of the window that threads spent in it; above 1 for several threads at once */
    /* of a row of the tree: a range at one place of the nesting; its quantiles are those of all ranges of its name */
    const struct rtl_hip_api_node_snapshot *node; /* NULL: never pushed */
    uint32_t depth;                               /* number of ranges around it */
    uint64_t open;
    uint64_t gpu_ns;  /* since start or zero: kernels submitted in it and in the ranges below it */
    double gpu_share; /* of the window; above 1 if several kernels run at once */
};

struct rtl_hip_api_rows {
    struct rtl_hip_api_model_row *rows; /* functions first, then ranges and marks; each part ranked */
    uint32_t functions, ranges, room;
    enum rtl_hip_api_order order;
    bool reverse;
    bool any;      /* the process records HIP calls */
    bool launches; /* kernels have launch latencies */
    /* ranges by their nesting, outer ones first, ranked among siblings; then ranges never pushed. Empty without nodes.
     */
    struct rtl_hip_api_model_row *tree;
    uint32_t tree_count, tree_room;
};

#endif
