/*
 * The time of a kernel: measured per dispatch, or estimated for all calls of a process that is observed from outside
 * (src/observe). An estimate is shown with "~". Pure.
 */
#ifndef RTL_MODEL_ROW_TIMES_H
#define RTL_MODEL_ROW_TIMES_H

#include "model/model_data.h"

/* In the window; 0 if unknown. */
static inline uint64_t rtl_row_window_ns(const struct rtl_row *row)
{
    return row->window_estimated_ns ? row->window_estimated_ns : row->window.count ? row->window.total_ns : 0;
}

/* Since the start or zero. */
static inline uint64_t rtl_row_total_ns(const struct rtl_row *row)
{
    return row->estimated_ns ? row->estimated_ns : row->timed ? row->total_ns : 0;
}

static inline uint64_t rtl_row_mean_ns(const struct rtl_row *row)
{
    if (row->window_estimated_ns && row->window_calls)
        return row->window_estimated_ns / row->window_calls;
    return row->window.count ? row->window.total_ns / row->window.count : 0;
}

/* True if some of the window's dispatches were not measured. */
static inline bool rtl_row_window_estimated(const struct rtl_row *row)
{
    return row->window_estimated_ns && row->window.count < row->window_calls;
}

static inline bool rtl_row_total_estimated(const struct rtl_row *row)
{
    return row->estimated_ns && row->timed < row->calls;
}

/* The time that a column shows, in ns; 0 if there is none. A family has no common quantile but the highest p99. */
static inline uint64_t rtl_row_time_ns(const struct rtl_row *row, int column)
{
    bool timed = row->window.count > 0;
    switch (column) {
    case RTL_COLUMN_TOTAL:
        return rtl_row_total_ns(row);
    case RTL_COLUMN_MEAN:
        return rtl_row_mean_ns(row);
    case RTL_COLUMN_MIN:
        return timed ? row->window.min_ns : 0;
    case RTL_COLUMN_P50:
        return timed && !row->kernels ? row->p50 : 0;
    case RTL_COLUMN_P90:
        return timed && !row->kernels ? row->p90 : 0;
    case RTL_COLUMN_P99:
        return timed ? row->p99 : 0;
    case RTL_COLUMN_MAX:
        return timed ? row->window.max_ns : 0;
    case RTL_COLUMN_LAUNCH:
        return row->launches ? row->launch_p50 : 0;
    default:
        return 0;
    }
}

#endif
