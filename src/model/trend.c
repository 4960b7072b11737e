/* Intervals as marks. See trend.h. */
#include "model/trend.h"
#include "model/model_gpus.h"

#include <math.h>
#include <stdlib.h>

static int intervals_of(int width)
{
    return width > 0 && width < RTL_MODEL_TREND ? (RTL_MODEL_TREND + width - 1) / width : 1;
}

/* The intervals of mark `mark` from the right, as how long ago: [*from, *to). The newest group may be incomplete. */
static void group(const struct rtl_model *model, int width, int mark, uint32_t *from, uint32_t *to)
{
    uint32_t size = (uint32_t)intervals_of(width), newest = (uint32_t)(model->samples % size) + 1;
    *from = mark ? newest + (uint32_t)(mark - 1) * size : 0;
    *to = newest + (uint32_t)mark * size;
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

void rtl_trend_p99(const struct rtl_model *model, const struct rtl_row *row, int width, int8_t *levels)
{
    uint64_t value[RTL_MODEL_HISTORY], sorted[RTL_MODEL_HISTORY];
    int count = 0;
    width = width < RTL_MODEL_HISTORY ? width : RTL_MODEL_HISTORY;
    for (int i = 0; i < width; i++) {
        uint32_t from, to;
        uint64_t *most = &value[width - 1 - i];
        *most = 0;
        group(model, width, i, &from, &to);
        for (uint32_t back = from; back < to; back++) {
            uint64_t ns = rtl_model_history(model, row, back);
            *most = ns > *most ? ns : *most;
        }
        if (*most)
            sorted[count++] = *most;
    }
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
    width = width < RTL_MODEL_HISTORY ? width : RTL_MODEL_HISTORY;
    for (int i = 0; i < width; i++) {
        uint32_t from, to;
        int sum = 0, count = 0;
        group(model, width, i, &from, &to);
        for (uint32_t back = from; back < to; back++) {
            int busy = rtl_model_busy(model, gpu, back);
            sum += busy < 0 ? 0 : busy;
            count += busy >= 0;
        }
        percent[width - 1 - i] = (int8_t)(count ? sum / count : -1);
    }
}

uint64_t rtl_trend_span(const struct rtl_model *model, int width)
{
    uint32_t length = rtl_model_history_length(model), most = (uint32_t)(width * intervals_of(width));
    uint64_t ns = 0;
    most = most > RTL_MODEL_TREND && width < RTL_MODEL_TREND ? RTL_MODEL_TREND : most;
    for (uint32_t back = 0; back < length && back < most; back++)
        ns += model->history_ns[(model->samples - back) % RTL_MODEL_HISTORY];
    return ns;
}
