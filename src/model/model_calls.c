/* Calls and ranges over the window. See model_calls.h. */
#include "model/model_calls.h"

#include <stdlib.h>
#include <string.h>

const char *rtl_call_order_text(enum rtl_call_order order)
{
    static const char *const texts[] = {
#define TEXT(sym, meaning) meaning,
        RTL_CALL_ORDERS(TEXT)
#undef TEXT
    };
    return order < RTL_CALLS_BY_COUNT ? texts[order] : "";
}

/* Rows have one order in all snapshots, so what is looked for is never behind. */
static const struct rtl_call *find_next(const struct rtl_sample *sample, uint32_t *at, const struct rtl_call *call)
{
    const struct rtl_calls *calls = sample ? sample->snapshot.calls : NULL;
    int order = -1;
    while (calls && *at < calls->count && (order = rtl_call_compare(&calls->rows[*at], call)) < 0)
        ++*at;
    return calls && *at < calls->count && order == 0 ? &calls->rows[*at] : NULL;
}

static uint64_t grown(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

static void make_row(const struct rtl_model *model, struct rtl_call_row *row, const struct rtl_call *call,
                     const struct rtl_call *base, const struct rtl_call *zero)
{
    static const double q[] = {0.5, 0.99};
    double seconds = (double)model->span_ns / 1e9;
    uint64_t out[2] = {0, 0};
    *row = (struct rtl_call_row){.call = call};
    row->calls = grown(call->histogram.count, zero ? zero->histogram.count : 0);
    row->total_ns = grown(call->histogram.total_ns, zero ? zero->histogram.total_ns : 0);
    row->errors = grown(call->errors, zero ? zero->errors : 0);
    row->bytes = grown(call->bytes, zero ? zero->bytes : 0);
    row->window = rtl_window_between(base ? &base->histogram : NULL, &call->histogram);
    row->window_errors = grown(call->errors, base ? base->errors : 0);
    row->window_bytes = grown(call->bytes, base ? base->bytes : 0);
    rtl_quantiles(base ? &base->histogram : NULL, &call->histogram, q, 2, out);
    row->p50 = out[0];
    row->p99 = out[1];
    if (seconds > 0) {
        row->rate = (double)row->window.count / seconds;
        row->bandwidth = (double)row->window_bytes / seconds;
        row->share = (double)row->window.total_ns / (double)model->span_ns;
    }
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a < b) - (a > b);
}

static enum rtl_call_order sorting; /* qsort has no context; the viewer has one thread */
static bool reversed;

static int compare(const void *left, const void *right)
{
    const struct rtl_call_row *a = left, *b = right;
    int order = 0;
    if (sorting == RTL_CALLS_BY_SHARE)
        order = compare_numbers(a->window.total_ns, b->window.total_ns);
    else if (sorting == RTL_CALLS_BY_TOTAL)
        order = compare_numbers(a->total_ns, b->total_ns);
    else if (sorting == RTL_CALLS_BY_CALLS)
        order = compare_numbers(a->calls, b->calls);
    else if (sorting == RTL_CALLS_BY_P99)
        order = compare_numbers(a->p99, b->p99);
    if (!order && sorting == RTL_CALLS_BY_SHARE)
        order = compare_numbers(a->total_ns, b->total_ns);
    order = reversed ? -order : order;
    int name = rtl_call_compare(a->call, b->call);
    return order ? order : sorting == RTL_CALLS_BY_NAME && reversed ? -name : name;
}

bool rtl_model_make_calls(struct rtl_model *model)
{
    struct rtl_call_rows *rows = &model->calls;
    const struct rtl_calls *calls = model->latest->snapshot.calls;
    uint32_t base = 0, zero = 0;
    rows->functions = rows->ranges = 0;
    rows->any = calls != NULL;
    if (!calls)
        return true;
    if (calls->count > rows->room) {
        struct rtl_call_row *more = realloc(rows->rows, calls->count * sizeof *more);
        if (!more)
            return false;
        rows->rows = more;
        rows->room = calls->count;
    }
    for (uint32_t i = 0; i < calls->count; i++) {
        const struct rtl_call *call = &calls->rows[i];
        make_row(model, &rows->rows[i], call, find_next(model->base, &base, call), find_next(model->zero, &zero, call));
        *(rtl_call_is_range(call) ? &rows->ranges : &rows->functions) += 1;
    }
    sorting = rows->order;
    reversed = rows->reverse;
    if (rows->functions)
        qsort(rows->rows, rows->functions, sizeof *rows->rows, compare);
    if (rows->ranges)
        qsort(rows->rows + rows->functions, rows->ranges, sizeof *rows->rows, compare);
    return true;
}
