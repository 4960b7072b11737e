/*
 * Rows of the calls of HIP and the ranges of roctx over the model's spans, ranked; made by model_calls.c.
 */
#ifndef RTL_MODEL_CALL_ROWS_H
#define RTL_MODEL_CALL_ROWS_H

#include "shm/calls.h"
#include "stats/quantile.h"

/* X(symbol, meaning): what calls and ranges can be ranked by */
#define RTL_CALL_ORDERS(X)            \
    X(SHARE, "share of the window")   \
    X(TOTAL, "time since the start")  \
    X(CALLS, "calls since the start") \
    X(P99, "p99 in the window")       \
    X(NAME, "name")
#define RTL_ENUM_CALL_ORDER(sym, meaning) RTL_CALLS_BY_##sym,
enum rtl_call_order { RTL_CALL_ORDERS(RTL_ENUM_CALL_ORDER) RTL_CALLS_BY_COUNT };
#undef RTL_ENUM_CALL_ORDER

struct rtl_call_row {
    const struct rtl_call *call;             /* in the latest snapshot */
    uint64_t calls, total_ns, errors, bytes; /* since start or zero */
    /* window; the quantiles mean nothing while window.count is 0 */
    struct rtl_window window;
    uint64_t window_errors, window_bytes;
    uint64_t p50, p99;
    double rate, bandwidth; /* calls and bytes a second */
    double share;           /* of the window that threads spent in it; above 1 when several do at once */
};

struct rtl_call_rows {
    struct rtl_call_row *rows; /* functions first, then ranges and marks; each in its order */
    uint32_t functions, ranges, room;
    enum rtl_call_order order;
    bool reverse;
    bool any; /* the process records them */
};

#endif
