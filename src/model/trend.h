/*
 * What happened in the last intervals, as marks, the newest to the right. Pure.
 *
 * Where there are fewer marks than RTL_MODEL_TREND each stands for several intervals, always the same number of them
 * together, so that marks move by whole ones and hold still in between.
 */
#ifndef RTL_MODEL_TREND_H
#define RTL_MODEL_TREND_H

#include "model/model.h"

/*
 * p99 of a kernel: `width` levels, at most RTL_MODEL_HISTORY, each the highest of its intervals; -1 where nothing was
 * timed. One scale for all rows: 3 is the median of what is shown, a level up or down is a factor of 2^(1/4) (19 %), so
 * 7 is twice the median and more, 0 six tenths and less.
 */
void rtl_trend_p99(const struct rtl_model *model, const struct rtl_row *row, int width, int8_t *levels);

/* How busy a GPU was: percent, the mean of the intervals; -1 where that wasn't measured. */
void rtl_trend_busy(const struct rtl_model *model, uint32_t gpu, int width, int8_t *percent);

/* The time that `width` marks cover once there are so many intervals: "60s", or less at the beginning. */
uint64_t rtl_trend_span(const struct rtl_model *model, int width);

#endif
