/* Adds up the calls of several processes. See merge_calls.h. */
#include "model/merge_calls.h"
#include "stats/histogram_sum.h"

#include <stdlib.h>
#include <string.h>

/* The next row of all of them, in the order of rows; NULL at the end. */
static const struct rtl_call *least_of(const struct rtl_calls *const *from, uint32_t count, const uint32_t *at)
{
    const struct rtl_call *least = NULL;
    for (uint32_t i = 0; i < count; i++)
        if (from[i] && at[i] < from[i]->count && (!least || rtl_call_compare(&from[i]->rows[at[i]], least) < 0))
            least = &from[i]->rows[at[i]];
    return least;
}

/* Adds up all rows that are the same as `least`, and goes on behind them. */
static bool add_row(const struct rtl_calls *const *from, uint32_t count, uint32_t *at, const struct rtl_call *least,
                    const struct rtl_histogram_copy **list, struct rtl_snapshot *out)
{
    struct rtl_call *to = &out->calls->rows[out->calls->count];
    uint32_t found = 0;
    *to = *least;
    to->bytes = to->errors = to->open = to->in_use = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!from[i] || at[i] >= from[i]->count || rtl_call_compare(&from[i]->rows[at[i]], to) != 0)
            continue;
        const struct rtl_call *row = &from[i]->rows[at[i]++];
        to->bytes += row->bytes;
        to->errors += row->errors;
        to->open += row->open;
        to->in_use += row->in_use;
        list[found++] = &row->histogram;
    }
    size_t bytes = rtl_histogram_sum_bytes(list, found);
    void *storage = rtl_snapshot_allocate(out, bytes ? bytes : 1);
    if (!storage)
        return false;
    to->histogram = rtl_histogram_sum(list, found, storage);
    out->calls->count++;
    return true;
}

bool rtl_merge_calls(const struct rtl_calls *const *from, uint32_t count, struct rtl_snapshot *out)
{
    uint32_t rows = 0, memory = 0, any = 0;
    out->calls = NULL;
    for (uint32_t i = 0; i < count; i++)
        if (from[i]) {
            any++;
            rows += from[i]->count;
            memory += from[i]->memory_count;
        }
    if (!any)
        return true;
    uint32_t *at = calloc(count, sizeof *at);
    const struct rtl_histogram_copy **list = calloc(count, sizeof *list);
    bool ok = at && list && rtl_calls_make(out, rows, memory);
    for (const struct rtl_call *least; ok && (least = least_of(from, count, at));)
        ok = add_row(from, count, at, least, list, out);
    for (uint32_t i = 0; ok && i < count; i++) {
        if (!from[i])
            continue;
        memcpy(out->calls->memory + out->calls->memory_count, from[i]->memory,
               from[i]->memory_count * sizeof *from[i]->memory);
        out->calls->memory_count += from[i]->memory_count;
#define ADD(member, key, text) out->calls->member += from[i]->member;
        RTL_CALL_TROUBLES(ADD)
#undef ADD
    }
    free(at);
    free(list);
    if (!ok)
        out->calls = NULL;
    return ok;
}
