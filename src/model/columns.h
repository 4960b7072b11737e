/*
 * The columns of the kernel table: one line each, from which header, sort keys, `-s help`, the text output, the help
 * screen and the tests of the manual are made.
 */
#ifndef RTL_MODEL_COLUMNS_H
#define RTL_MODEL_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * X(symbol, sort key, header, width, least terminal width that shows it, order, meaning)
 * order: DESC and ASC are where sorting starts, NO can't be sorted by. In the order of the screen; KERNEL takes what is
 * left; SLOWEST is there when several processes are watched. "in the window" columns follow the sliding window; the
 * others count since the start, or since zero was pressed.
 */
#define RTL_COLUMNS(X)                                                                                        \
    X(TIME, "time", "%TIME", 5, 12, DESC, "share of all timed kernel time in the window")                     \
    X(RATE, "rate", "CALL/s", 6, 50, DESC, "dispatches a second in the window, timed or not")                 \
    X(CALLS, "calls", "CALLS", 6, 100, DESC, "dispatches since the start or zero, timed or not")              \
    X(TOTAL, "total", "TOTAL", 6, 100, DESC, "time of all timed dispatches since the start or zero")          \
    X(MEAN, "mean", "MEAN", 6, 124, DESC, "mean duration in the window")                                      \
    X(MIN, "min", "MIN", 6, 140, ASC, "shortest duration in the window")                                      \
    X(P50, "p50", "P50", 6, 60, DESC, "median duration in the window")                                        \
    X(P90, "p90", "P90", 6, 124, DESC, "90 % of the durations in the window are at most this")                \
    X(P99, "p99", "P99", 6, 34, DESC, "99 % of the durations in the window are at most this")                 \
    X(MAX, "max", "MAX", 6, 140, DESC, "longest duration in the window")                                      \
    X(UNTIMED, "untimed", "%UNTMD", 6, 110, DESC, "share of the dispatches that were counted, not timed")     \
    X(TREND, "trend", "P99 TREND", 9, 72, NO, "p99 of the last intervals, scaled to this kernel's own range") \
    X(SLOWEST, "slowest", "SLOWEST", 10, 78, DESC, "which process is slow, against the median of the others") \
    X(GRID, "grid", "GRID", 14, 170, NO, "grid of the last dispatch, work-items")                             \
    X(WORKGROUP, "wg", "WG", 9, 170, NO, "workgroup of the last dispatch, work-items")                        \
    X(LDS, "lds", "LDS", 5, 170, NO, "local memory of the last dispatch, bytes")                              \
    X(FAMILY, "family", "FAMILY", 11, 220, ASC, "what the kernel is for: gemm, attention, comm ...")          \
    X(NAME, "name", "KERNEL", 8, 0, ASC, "name of the kernel")

#define RTL_ENUM_COLUMN(sym, ...) RTL_COLUMN_##sym,
enum rtl_column { RTL_COLUMNS(RTL_ENUM_COLUMN) RTL_COLUMN_COUNT };
#undef RTL_ENUM_COLUMN

enum rtl_order { RTL_ORDER_NO, RTL_ORDER_ASC, RTL_ORDER_DESC };

struct rtl_column_info {
    const char *key, *header, *meaning;
    int width, from_cols;
    enum rtl_order order;
};
extern const struct rtl_column_info rtl_columns[RTL_COLUMN_COUNT];

/* A sort key, with "-" in front for the reverse order. False if there is none of that name that can be sorted by. */
bool rtl_column_parse(const char *key, enum rtl_column *column, bool *reverse);

/* The next column to the left or right (step -1 or 1) that can be sorted by. */
enum rtl_column rtl_column_step(enum rtl_column column, int step);

#endif
