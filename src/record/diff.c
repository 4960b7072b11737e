/* Comparing two spans. See diff.h. */
#include "record/diff.h"
#include "shm/hip_api_snapshot.h"
#include "stats/quantile.h"

#include <stdlib.h>
#include <string.h>

/* Find a kernel by id in another snapshot of its process; the name has to be the same. */
static const struct rtl_kernel_snapshot *find_matching_kernel(const struct rtl_snapshot *s,
                                                              const struct rtl_kernel_snapshot *k)
{
    const struct rtl_kernel_snapshot *was = s ? rtl_snapshot_kernel(s, k->id) : NULL;
    return was && was->name_length == k->name_length && !memcmp(was->name, k->name, k->name_length) ? was : NULL;
}

static struct rtl_diff_side side_of(const struct rtl_diff_span *span, const struct rtl_kernel_snapshot *k)
{
    const struct rtl_kernel_snapshot *was = find_matching_kernel(span->earlier, k);
    const struct rtl_histogram_copy *before = was ? &was->histogram : NULL;
    uint64_t earlier = was ? was->calls : 0;
    struct rtl_diff_side side = {.id = k->id, .calls = k->calls > earlier ? k->calls - earlier : 0};
    side.there = side.calls || (!was && k->histogram.count);
    if (rtl_p50_p99_between(before, &k->histogram, &side.p50, &side.p99)) {
        struct rtl_window window = rtl_window_between(before, &k->histogram);
        side.there = true;
        side.timed = window.count;
        side.total_ns = window.total_ns;
    }
    return side;
}

bool rtl_diff_contains(const struct rtl_snapshot *a, const struct rtl_snapshot *b)
{
    return a->start_mono_ns && a->pid == b->pid && a->start_mono_ns == b->start_mono_ns &&
           a->start_real_ns == b->start_real_ns && a->taken_mono_ns < b->taken_mono_ns;
}

static int compare_names(const void *x, const void *y)
{
    const struct rtl_diff_row *a = x, *b = y;
    size_t least = a->name_length < b->name_length ? a->name_length : b->name_length;
    int c = memcmp(a->name, b->name, least);
    if (c)
        return c;
    if (a->name_length != b->name_length)
        return a->name_length < b->name_length ? -1 : 1;
    if (a->a.there != b->a.there) /* rows of A first: rows of B are merged into them */
        return a->a.there ? -1 : 1;
    return (a->a.id > b->a.id) - (a->a.id < b->a.id);
}

static int compare_cost(const void *x, const void *y)
{
    const struct rtl_diff_row *a = x, *b = y;
    if (a->cost_ns != b->cost_ns)
        return a->cost_ns > b->cost_ns ? -1 : 1;
    return compare_names(x, y);
}

static uint64_t add_side(struct rtl_diff *diff, const struct rtl_diff_span *span, bool second)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < span->later->kernel_count; i++) {
        const struct rtl_kernel_snapshot *k = &span->later->kernels[i];
        struct rtl_diff_side side = side_of(span, k);
        if (!side.there)
            continue;
        struct rtl_diff_row *row = &diff->rows[diff->count++];
        *row = (struct rtl_diff_row){.name = k->name, .name_length = k->name_length};
        if (second)
            row->b = side;
        else
            row->a = side;
        total = side.total_ns > UINT64_MAX - total ? UINT64_MAX : total + side.total_ns;
    }
    return total;
}

static double mean(const struct rtl_diff_side *side)
{
    return side->timed ? (double)side->total_ns / (double)side->timed : 0;
}

static void compute_cost(struct rtl_diff_row *row, uint64_t total_a, uint64_t total_b)
{
    row->a.share = total_a ? (double)row->a.total_ns / (double)total_a : 0;
    row->b.share = total_b ? (double)row->b.total_ns / (double)total_b : 0;
    if (row->a.timed && row->b.timed)
        row->cost_ns = (mean(&row->b) - mean(&row->a)) * (double)row->b.timed;
    else if (row->b.timed && !row->a.there)
        row->cost_ns = (double)row->b.total_ns;
    else if (row->a.timed && !row->b.there)
        row->cost_ns = -(double)row->a.total_ns;
}

bool rtl_diff_make(const struct rtl_diff_span *a, const struct rtl_diff_span *b, struct rtl_diff *diff)
{
    uint32_t size = a->later->kernel_count + b->later->kernel_count, kept = 0;
    *diff = (struct rtl_diff){.rows = calloc(size ? size : 1, sizeof *diff->rows)};
    if (!diff->rows)
        return false;
    diff->total_a = add_side(diff, a, false);
    diff->total_b = add_side(diff, b, true);
    qsort(diff->rows, diff->count, sizeof *diff->rows, compare_names);
    for (uint32_t i = 0; i < diff->count; i++) {
        struct rtl_diff_row *row = &diff->rows[i], *last = kept ? &diff->rows[kept - 1] : NULL;
        if (last && last->a.there && !last->b.there && !row->a.there && last->name_length == row->name_length &&
            !memcmp(last->name, row->name, row->name_length))
            last->b = row->b;
        else
            diff->rows[kept++] = *row;
    }
    diff->count = kept;
    for (uint32_t i = 0; i < kept; i++)
        compute_cost(&diff->rows[i], diff->total_a, diff->total_b);
    qsort(diff->rows, diff->count, sizeof *diff->rows, compare_cost);
    return true;
}

/* --- functions and ranges, compared as kernels --- */

/* Make a kernel of each function or range of `from`; its id is its index in `later`. */
static bool as_kernels(const struct rtl_snapshot *from, const struct rtl_snapshot *later, bool ranges,
                       struct rtl_snapshot *to)
{
    const struct rtl_hip_api_snapshot *calls = from ? from->hip_api : NULL, *all = later->hip_api;
    uint32_t at = 0;
    *to = (struct rtl_snapshot){0};
    if (!calls || !all)
        return true;
    to->kernels = calloc((size_t)calls->count + 1, sizeof *to->kernels);
    for (uint32_t i = 0; to->kernels && i < all->count; i++) {
        while (at < calls->count && rtl_hip_api_compare_rows(&calls->rows[at], &all->rows[i]) < 0)
            at++;
        if (at == calls->count)
            break;
        const struct rtl_hip_api_row_snapshot *call = &calls->rows[at];
        if (rtl_hip_api_compare_rows(call, &all->rows[i]) != 0 || rtl_hip_api_is_range(call) != ranges)
            continue;
        to->kernels[to->kernel_count++] = (struct rtl_kernel_snapshot){.id = i,
                                                                       .name = call->name,
                                                                       .name_length = call->name_bytes,
                                                                       .calls = call->histogram.count,
                                                                       .histogram = call->histogram};
    }
    return to->kernels;
}

bool rtl_diff_make_calls(const struct rtl_diff_span *a, const struct rtl_diff_span *b, enum rtl_diff_calls what,
                         struct rtl_diff *diff)
{
    const struct rtl_diff_span *span[] = {a, b};
    struct rtl_snapshot made[2][2] = {0};
    struct rtl_diff_span of[2];
    bool ok = true;
    *diff = (struct rtl_diff){0};
    for (int i = 0; i < 2; i++) {
        ok = ok && as_kernels(span[i]->earlier, span[i]->later, what == RTL_DIFF_RANGES, &made[i][0]) &&
             as_kernels(span[i]->later, span[i]->later, what == RTL_DIFF_RANGES, &made[i][1]);
        of[i] = (struct rtl_diff_span){span[i]->earlier ? &made[i][0] : NULL, &made[i][1]};
    }
    ok = ok && rtl_diff_make(&of[0], &of[1], diff);
    for (int i = 0; i < 4; i++)
        free(made[i / 2][i % 2].kernels); /* the rows point to names of the spans */
    return ok;
}

void rtl_diff_free(struct rtl_diff *diff)
{
    free(diff->rows);
    *diff = (struct rtl_diff){0};
}

static bool change_of(uint64_t a, uint64_t b, const struct rtl_diff_row *row, uint64_t least, double *change)
{
    if (row->a.timed < least || row->b.timed < least || !a)
        return false;
    *change = ((double)b - (double)a) / (double)a;
    return true;
}

bool rtl_diff_p50(const struct rtl_diff_row *row, double *change)
{
    return change_of(row->a.p50, row->b.p50, row, RTL_DIFF_P50_LEAST, change);
}

bool rtl_diff_p99(const struct rtl_diff_row *row, double *change)
{
    return change_of(row->a.p99, row->b.p99, row, RTL_DIFF_P99_LEAST, change);
}

bool rtl_diff_is_slower(const struct rtl_diff_row *row, double limit)
{
    double change;
    if (row->a.share < RTL_DIFF_SHARE_LEAST && row->b.share < RTL_DIFF_SHARE_LEAST)
        return false;
    return (rtl_diff_p50(row, &change) && change > limit) || (rtl_diff_p99(row, &change) && change > limit);
}
