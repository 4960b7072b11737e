/* The heat strip. See heat.h. */
#include "model/heat.h"
#include "stats/quantile.h"

#include <math.h>
#include <string.h>

struct rtl_heat_axis rtl_heat_axis(uint64_t low_ns, uint64_t high_ns)
{
    const uint64_t most = 1000000000000000ull; /* beyond everything that a histogram holds */
    struct rtl_heat_axis axis = {1, 10};
    while (axis.low_ns < most / 10 && axis.low_ns * 10 <= low_ns)
        axis.low_ns *= 10;
    axis.high_ns = axis.low_ns * 10;
    while (axis.high_ns < most && axis.high_ns < high_ns)
        axis.high_ns *= 10;
    return axis;
}

void rtl_heat(const struct rtl_histogram_copy *earlier, const struct rtl_histogram_copy *later,
              struct rtl_heat_axis axis, int width, int8_t *levels)
{
    double edges[RTL_HEAT_WIDTH_MAX + 1];
    uint64_t bins[RTL_HEAT_WIDTH_MAX], most = 0;
    width = width < RTL_HEAT_WIDTH_MAX ? width : RTL_HEAT_WIDTH_MAX;
    if (width < 1)
        return;
    double step = log((double)axis.high_ns / (double)axis.low_ns) / width;
    for (int i = 0; i <= width; i++)
        edges[i] = (double)axis.low_ns * exp(step * i);
    rtl_bin(earlier, later, edges, width + 1, bins);
    for (int i = 0; i < width; i++)
        most = bins[i] > most ? bins[i] : most;
    for (int i = 0; i < width; i++) {
        levels[i] = bins[i] ? 7 : -1;
        for (uint64_t of = most; levels[i] > 0 && bins[i] <= of / 2; of /= 2)
            levels[i]--;
    }
}
