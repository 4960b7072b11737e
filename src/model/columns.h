/*
 * The columns of the kernel table, one row each: header, sort keys, `-s help`, the text output, the help screen and the
 * tests of the manual use them.
 *
 * A column's text comes from rtl_cell_text (cells.c), its sort value from column_value and its numbers from
 * make_kernel_row (both model_rows.c). P50CHG and P99CHG: rtl_changes_between (change.c); change.h has the rule.
 */
#ifndef RTL_MODEL_COLUMNS_H
#define RTL_MODEL_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * X(symbol, sort key, header, width, least terminal width that shows it, order, meaning)
 * order: DESC or ASC is the first direction of sorting; NO: the column is no sort key. The rows are in the order of the
 * screen. KERNEL gets the remaining width, of which TREND, HEAT and the bar beside %TIME get a part. SLOWEST needs
 * several processes, LAUNCH recorded calls of HIP.
 */
#define RTL_COLUMNS(X)                                                                                            \
    X(TIME, "time", "%TIME", 5, 12, DESC, "share of timed kernel time in the window; full bar: the highest")      \
    X(RATE, "rate", "CALL/s", 6, 50, DESC, "dispatches per second in the window, timed or not")                   \
    X(CALLS, "calls", "CALLS", 6, 210, DESC, "dispatches since the start or key z, timed or not")                 \
    X(TOTAL, "total", "TOTAL", 6, 112, DESC, "time of all timed dispatches since the start or key z")             \
    X(MEAN, "mean", "MEAN", 6, 112, DESC, "mean duration in the window")                                          \
    X(MIN, "min", "MIN", 6, 240, ASC, "shortest duration in the window")                                          \
    X(P50, "p50", "P50", 6, 60, DESC, "median duration in the window")                                            \
    X(P90, "p90", "P90", 6, 220, DESC, "90th percentile of the durations in the window")                          \
    X(P99, "p99", "P99", 6, 34, DESC, "99th percentile of the durations in the window")                           \
    X(MAX, "max", "MAX", 6, 112, DESC, "longest duration in the window")                                          \
    X(LAUNCH, "launch", "LAUNCH", 6, 100, DESC, "median time from the call to the kernel's start, in the window") \
    X(UNTIMED, "untimed", "%UNTMD", 6, 230, DESC, "share of dispatches that were counted but not timed")          \
    X(CHANGE50, "change50", "P50CHG", 6, 150, DESC, "change of p50 since the previous window, as P99CHG")         \
    X(CHANGE, "change", "P99CHG", 6, 66, DESC, "change of p99 since the previous window; =: not significant")     \
    X(TREND, "trend", "TREND", 7, 76, NO, "p99 over time: a line at its median, marks where 30% off")             \
    X(HEAT, "heat", "DURATIONS", 12, 140, NO, "distribution of durations in the window; a step: factor 2")        \
    X(SLOWEST, "slowest", "SLOWEST", 10, 78, DESC, "slowest process, compared with the median of the others")     \
    X(GRID, "grid", "GRID", 14, 180, NO, "grid of the last dispatch, in work-items")                              \
    X(WORKGROUP, "wg", "WG", 9, 250, NO, "workgroup of the last dispatch, in work-items")                         \
    X(LDS, "lds", "LDS", 5, 250, NO, "local memory of the last dispatch, in bytes")                               \
    X(FAMILY, "family", "FAMILY", 11, 260, ASC, "purpose of the kernel: gemm, attention, comm ...")               \
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

/* The order of the columns from left to right: by `places` (from 1; 0 for none), then the others in the order above.
 * The name is always the last. `places` may be NULL. */
struct rtl_column_order {
    int column[RTL_COLUMN_COUNT];
};
struct rtl_column_order rtl_column_order(const uint8_t *places);

/* Parse a sort key, with "-" in front for the reverse order. False if no column with this key can be sorted by. */
bool rtl_column_parse(const char *key, enum rtl_column *column, bool *reverse);

/* Return the next column to the left or right (step -1 or 1) that can be sorted by. */
enum rtl_column rtl_column_step(enum rtl_column column, int step);

#endif
