/* Trends and the heat strip. See trend.h. */
#include "model/trend.h"
#include "model/model_gpus.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The usual length of an interval: the median of the last ones, rounded to a tenth to hide the timer's jitter. */
static double interval_ns(const struct rtl_model *model)
{
    uint64_t last[15];
    uint32_t count = rtl_model_history_length(model);
    count = count < sizeof last / sizeof *last ? count : sizeof last / sizeof *last;
    for (uint32_t back = 0; back < count; back++)
        last[back] = model->history_ns[(model->samples - back) % RTL_MODEL_HISTORY];
    qsort(last, count, sizeof *last, ascending);
    double median = count && last[count / 2] ? (double)last[count / 2] : 1e9;
    return 1e9 * pow(1.1, round(log(median / 1e9) / log(1.1)));
}

/* Assign each interval to a mark, counted from the right. Marks of several intervals begin at fixed times, not at the
 * viewer's start, so that a replay shows the same as the live screen. */
static uint32_t assign_marks(const struct rtl_model *model, int width, int mark[RTL_MODEL_HISTORY])
{
    uint32_t length = rtl_model_history_length(model);
    int size = width > 0 && width < RTL_MODEL_TREND ? (RTL_MODEL_TREND + width - 1) / width : 1; /* of a mark */
    if (!length)
        return 0;
    double span = interval_ns(model) * size;
    uint64_t end = model->latest->snapshot.taken_mono_ns;
    double newest = floor((double)end / span);
    for (uint32_t back = 0; back < length; back++) {
        double at = size > 1 ? newest - floor((double)end / span) : back;
        uint64_t ns = model->history_ns[(model->samples - back) % RTL_MODEL_HISTORY];
        mark[back] = at < width ? (int)at : width;
        end = end > ns ? end - ns : 0;
    }
    return length;
}

void rtl_trend_p99(const struct rtl_model *model, const struct rtl_row *row, int width, int8_t *levels)
{
    uint64_t value[RTL_MODEL_HISTORY] = {0}, sorted[RTL_MODEL_HISTORY];
    int mark[RTL_MODEL_HISTORY], count = 0;
    width = width < RTL_MODEL_HISTORY ? width : RTL_MODEL_HISTORY;
    uint32_t length = assign_marks(model, width, mark);
    for (uint32_t back = 0; back < length; back++) {
        uint64_t ns = mark[back] < width ? rtl_model_history(model, row, back, false) : 0;
        if (ns && ns > value[width - 1 - mark[back]])
            value[width - 1 - mark[back]] = ns;
    }
    for (int i = 0; i < width; i++)
        if (value[i])
            sorted[count++] = value[i];
    if (count)
        qsort(sorted, (size_t)count, sizeof *sorted, ascending);
    double median = count ? (double)sorted[count / 2] : 1;
    for (int i = 0; i < width; i++) {
        int level = value[i] ? 3 + (int)lround(4 * log2((double)value[i] / median)) : -1;
        levels[i] = (int8_t)(!value[i] ? -1 : level < 0 ? 0 : level > 7 ? 7 : level);
    }
}

void rtl_trend_busy(const struct rtl_model *model, uint32_t gpu, int width, int8_t *percent)
{
    int mark[RTL_MODEL_HISTORY], sum[RTL_MODEL_HISTORY] = {0}, count[RTL_MODEL_HISTORY] = {0};
    width = width < RTL_MODEL_HISTORY ? width : RTL_MODEL_HISTORY;
    uint32_t length = assign_marks(model, width, mark);
    for (uint32_t back = 0; back < length; back++) {
        int busy = mark[back] < width ? rtl_model_busy(model, gpu, back) : -1;
        if (busy < 0)
            continue;
        sum[mark[back]] += busy;
        count[mark[back]]++;
    }
    for (int i = 0; i < width; i++)
        percent[width - 1 - i] = (int8_t)(count[i] ? sum[i] / count[i] : -1);
}

uint64_t rtl_trend_span(const struct rtl_model *model, int width)
{
    uint32_t length = rtl_model_history_length(model),
             most = width > RTL_MODEL_TREND ? (uint32_t)width : RTL_MODEL_TREND;
    uint64_t ns = 0;
    for (uint32_t back = 0; back < length && back < most; back++)
        ns += model->history_ns[(model->samples - back) % RTL_MODEL_HISTORY];
    return ns;
}

/* --- the heat strip --- */

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
