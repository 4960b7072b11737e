/*
 * A histogram in one line of marks, the heat strip: where on an axis of time the durations lie. Pure.
 *
 * Columns are equal steps of the logarithm. A mark stands for twice the durations of the one before it, so that one in
 * a hundred is still seen beside the most frequent.
 */
#ifndef RTL_MODEL_HEAT_H
#define RTL_MODEL_HEAT_H

#include <stdint.h>

#include "shm/segment_reader.h"

enum { RTL_HEAT_WIDTH_MAX = 256 };

/* Ends of the axis, in ns: powers of ten, so that rows can share it and a header can say it. */
struct rtl_heat_axis {
    uint64_t low_ns, high_ns;
};

/* The narrowest axis that has both values, one decade at least. */
struct rtl_heat_axis rtl_heat_axis(uint64_t low_ns, uint64_t high_ns);

/* The column of `width` that a value falls into; what is beyond an end falls into the first or last. */
int rtl_heat_column(struct rtl_heat_axis axis, int width, uint64_t ns);

/*
 * later - earlier (earlier may be NULL) as one level a column: 7 for the most frequent, one less for each halving, 0
 * for whatever is less than that, -1 for none at all. `width` is at most RTL_HEAT_WIDTH_MAX; what lies outside the axis
 * is in the first or last column.
 */
void rtl_heat(const struct rtl_histogram_copy *earlier, const struct rtl_histogram_copy *later,
              struct rtl_heat_axis axis, int width, int8_t *levels);

#endif
