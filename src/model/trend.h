/*
 * Trends: the last intervals as marks, the newest to the right. Pure.
 *
 * With fewer marks than RTL_MODEL_TREND, each mark stands for several intervals, always the same ones, so that the
 * marks move only when a new one begins.
 */
#ifndef RTL_MODEL_TREND_H
#define RTL_MODEL_TREND_H

#include "model/model.h"

/*
 * p99 of a kernel: `width` levels, at most RTL_MODEL_HISTORY, each the highest of its intervals; -1: nothing timed.
 * Level 3 is the median of the shown values, each level a factor of 2^(1/4) (19 %): 7 is twice the median or more, 0
 * six tenths or less. From RTL_TREND_LOW to RTL_TREND_HIGH, p99 is steady: within 30 % of its median.
 */
enum { RTL_TREND_LOW = 2, RTL_TREND_HIGH = 4 };
void rtl_trend_p99(const struct rtl_model *model, const struct rtl_row *row, int width, int8_t *levels);

/* Percent busy of a GPU: the mean of each mark's intervals; -1: not measured. */
void rtl_trend_busy(const struct rtl_model *model, uint32_t gpu, int width, int8_t *percent);

/* The time that `width` marks cover, in ns; less while there are fewer intervals. */
uint64_t rtl_trend_span(const struct rtl_model *model, int width);

/*
 * The heat strip: a histogram as one line of marks on a logarithmic axis of time.
 *
 * Each level stands for twice as many durations as the level below, so that one in a hundred is still visible.
 */
enum { RTL_HEAT_WIDTH_MAX = 256 };

/* The ends of the axis, powers of ten, so that rows can share it and a header can show it. */
struct rtl_heat_axis {
    uint64_t low_ns, high_ns;
};

/* Return the narrowest axis with both values: at least one decade. */
struct rtl_heat_axis rtl_heat_axis(uint64_t low_ns, uint64_t high_ns);

/* Compute one level per column for later - earlier (which may be NULL): 7 for the most frequent, one less for each
 * halving down to 0, -1 for an empty column. `width` is at most RTL_HEAT_WIDTH_MAX. */
void rtl_heat(const struct rtl_histogram_copy *earlier, const struct rtl_histogram_copy *later,
              struct rtl_heat_axis axis, int width, int8_t *levels);

#endif
