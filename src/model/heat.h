/*
 * The heat strip: a histogram as one line of marks on a logarithmic axis of time. Pure.
 *
 * Each level stands for twice as many durations as the level below, so that one in a hundred is still visible.
 */
#ifndef RTL_MODEL_HEAT_H
#define RTL_MODEL_HEAT_H

#include <stdint.h>

#include "shm/segment_reader.h"

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
