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
 * six tenths or less.
 */
void rtl_trend_p99(const struct rtl_model *model, const struct rtl_row *row, int width, int8_t *levels);

/* Percent busy of a GPU: the mean of each mark's intervals; -1: not measured. */
void rtl_trend_busy(const struct rtl_model *model, uint32_t gpu, int width, int8_t *percent);

/* The time that `width` marks cover, in ns; less while there are fewer intervals. */
uint64_t rtl_trend_span(const struct rtl_model *model, int width);

#endif
