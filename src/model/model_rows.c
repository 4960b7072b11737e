/*
 * Rows, sums and their order. See model_rows.h.
 *
 * Snapshots list kernels by ascending id, so one pass over two snapshots matches their rows. Order: by the chosen
 * column; rows without a measured value come last; ties by id, so that rows keep their places.
 */
#include "model/model_rows.h"
#include "base/array.h"
#include "model/ranks.h"
#include "model/model_gpus.h"
#include "model/model_range.h"
#include "text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- families --- */

bool rtl_family_is_open(const struct rtl_model *model, enum rtl_name_family family)
{
    return model->families_open >> family & 1;
}

/* Return the row of a family's id, or NULL if it is not shown. */
static const struct rtl_row *family_row(const struct rtl_model *model, uint32_t id)
{
    if (!model->families || !model->shown || id < RTL_KERNELS_MAX || id >= RTL_MODEL_IDS)
        return NULL;
    const struct rtl_row *row = &model->rows[model->row_count + id - RTL_KERNELS_MAX];
    return row->kernels ? row : NULL;
}

static void add_window(struct rtl_row *sum, const struct rtl_row *row)
{
    struct rtl_window *all = &sum->window;
    const struct rtl_window *w = &row->window;
    if (!w->count)
        return;
    all->min_ns = !all->count || w->min_ns < all->min_ns ? w->min_ns : all->min_ns;
    all->max_ns = w->max_ns > all->max_ns ? w->max_ns : all->max_ns;
    all->count += w->count;
    all->total_ns += w->total_ns;
    all->approximate |= w->approximate;
    sum->p99 = row->p99 > sum->p99 ? row->p99 : sum->p99;
}

static void add_to_family(struct rtl_row *sum, const struct rtl_row *row)
{
    /* one estimate makes the family's time an estimate */
    sum->estimated_ns += rtl_row_total_ns(row);
    sum->window_estimated_ns += rtl_row_window_ns(row);
    sum->kernels++;
    sum->calls += row->calls;
    sum->timed += row->timed;
    sum->untimed += row->untimed;
    sum->total_ns += row->total_ns;
    sum->window_calls += row->window_calls;
    sum->share += row->share;
    sum->rate += row->rate;
    add_window(sum, row);
}

static int by_share(const void *a, const void *b)
{
    double x = ((const struct rtl_family_share *)a)->share, y = ((const struct rtl_family_share *)b)->share;
    return x > y ? -1 : x < y;
}

int rtl_family_shares(const struct rtl_model *model, struct rtl_family_share out[RTL_FAMILY_COUNT])
{
    double share[RTL_FAMILY_COUNT] = {0}, before[RTL_FAMILY_COUNT] = {0}, all = 0;
    int count = 0;
    for (uint32_t i = 0; i < model->row_count; i++) {
        const struct rtl_row *row = &model->rows[i];
        enum rtl_name_family family = rtl_family_of(model, row);
        share[family] += row->share;
        if (!model->before || !row->base)
            continue;
        uint64_t since = row->before ? row->before->histogram.total_ns : 0;
        before[family] += (double)rtl_grown(row->base->histogram.total_ns, since);
        all += (double)rtl_grown(row->base->histogram.total_ns, since);
    }
    bool known = all > 0 && !model->estimated;
    for (int f = 0; f < RTL_FAMILY_COUNT && !model->no_shares; f++)
        if (share[f] > 0)
            out[count++] = (struct rtl_family_share){(enum rtl_name_family)f, share[f], known ? before[f] / all : -1};
    qsort(out, (size_t)count, sizeof *out, by_share);
    return count;
}

/* Sum the kernels in the unsorted `order` into families' rows, and append these to `order`, which has room. */
static void sum_families(struct rtl_model *model)
{
    struct rtl_row *families = &model->rows[model->row_count];
    memset(model->family_kernels, 0, sizeof model->family_kernels);
    for (uint32_t f = 0; f < RTL_FAMILY_COUNT; f++)
        families[f] = (struct rtl_row){.id = RTL_KERNELS_MAX + f, .kernel = &model->family_kernels[f]};
    for (uint32_t i = 0; i < model->shown; i++) {
        const struct rtl_row *row = &model->rows[model->order[i]];
        add_to_family(&families[rtl_family_of(model, row)], row);
    }
    for (uint32_t f = 0; f < RTL_FAMILY_COUNT; f++) {
        if (!model->estimated)
            families[f].estimated_ns = families[f].window_estimated_ns = 0;
        struct rtl_kernel_snapshot *k = &model->family_kernels[f];
        const char *name = rtl_name_family_name((enum rtl_name_family)f);
        k->id = RTL_KERNELS_MAX + f;
        k->name = name;
        k->name_length = strlen(name);
        k->calls = families[f].calls;
        k->untimed = families[f].untimed;
        snprintf(model->family_labels[f], sizeof model->family_labels[f], "%c %s  %u kernel%s",
                 rtl_family_is_open(model, (enum rtl_name_family)f) ? '-' : '+', name, families[f].kernels,
                 families[f].kernels == 1 ? "" : "s");
        if (families[f].kernels)
            model->order[model->shown++] = model->row_count + f;
    }
}

/* Move the kernels of a sorted order below their families; drop those of closed families. False without memory. */
static bool arrange_families(struct rtl_model *model)
{
    uint32_t count = model->shown, *sorted = malloc((count + 1) * sizeof *sorted);
    uint32_t at[RTL_FAMILY_COUNT] = {0}, rows[RTL_FAMILY_COUNT] = {0}, used = 0;
    if (!sorted)
        return false;
    memcpy(sorted, model->order, count * sizeof *sorted);
    for (uint32_t i = 0; i < count; i++)
        if (!model->rows[sorted[i]].kernels)
            rows[rtl_family_of(model, &model->rows[sorted[i]])]++;
    for (uint32_t i = 0; i < count; i++) { /* place each family and leave room for its kernels */
        const struct rtl_row *row = &model->rows[sorted[i]];
        enum rtl_name_family family = rtl_family_of(model, row);
        if (!row->kernels)
            continue;
        model->order[used++] = sorted[i];
        at[family] = used;
        used += rtl_family_is_open(model, family) ? rows[family] : 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct rtl_row *row = &model->rows[sorted[i]];
        enum rtl_name_family family = rtl_family_of(model, row);
        if (!row->kernels && rtl_family_is_open(model, family))
            model->order[at[family]++] = sorted[i];
    }
    model->shown = used;
    free(sorted);
    return true;
}

/* --- rows --- */

static bool grow_rows(struct rtl_model *model, uint32_t count)
{
    if (count <= model->row_size)
        return true;
    uint32_t size = count + count / 4 + 64;
    struct rtl_row *rows = realloc(model->rows, size * sizeof *rows);
    if (rows)
        model->rows = rows;
    uint32_t *order = realloc(model->order, size * sizeof *order);
    if (order)
        model->order = order;
    struct rtl_step_line *lines = realloc(model->step_lines, (size + RTL_MEMBERS_MAX + 1) * sizeof *lines);
    if (lines)
        model->step_lines = lines;
    if (!rows || !order || !lines)
        return false;
    model->row_size = size;
    return true;
}

static double per_second(uint64_t count, uint64_t ns)
{
    return ns ? (double)count * 1e9 / (double)ns : -1;
}

/* The estimate for the window. If estimates began after `base`, they cover all calls: return the window's share. */
static uint64_t estimated_between(const struct rtl_kernel_snapshot *base, const struct rtl_kernel_snapshot *now)
{
    uint64_t ns = rtl_grown(now->estimated_ns, base ? base->estimated_ns : 0);
    if (!base || base->estimated_ns || !base->calls)
        return ns;
    return (uint64_t)((double)ns / (double)now->calls * (double)rtl_grown(now->calls, base->calls));
}

static void make_kernel_row(struct rtl_model *model, struct rtl_row *row)
{
    static const double q[] = {0.5, 0.9, 0.99};
    const struct rtl_kernel_snapshot *k = row->kernel, *zero = row->zero;
    row->calls = rtl_grown(k->calls, zero ? zero->calls : 0);
    row->timed = rtl_grown(k->histogram.count, zero ? zero->histogram.count : 0);
    row->untimed = rtl_grown(k->untimed, zero ? zero->untimed : 0);
    row->total_ns = rtl_grown(k->histogram.total_ns, zero ? zero->histogram.total_ns : 0);
    if (row->base && model->before)
        row->change =
            rtl_changes_between(row->before ? &row->before->histogram : NULL, &row->base->histogram, &k->histogram);
    row->window_calls = rtl_grown(k->calls, row->base ? row->base->calls : 0);
    row->rate = per_second(row->window_calls, model->counted_ns);
    row->window = (struct rtl_window){0};
    row->estimated_ns = rtl_grown(k->estimated_ns, zero ? zero->estimated_ns : 0);
    row->window_estimated_ns = estimated_between(row->base, k);
    row->history = k->id < RTL_KERNELS_MAX && !model->range ? model->history[k->id] : NULL;
    const struct rtl_histogram_copy *from = row->base ? &row->base->histogram : NULL;
    if (from && from->count == k->histogram.count)
        return;
    uint64_t out[3];
    row->window = rtl_window_between(from, &k->histogram);
    if (row->window.count && rtl_quantiles(from, &k->histogram, q, 3, out)) {
        row->p50 = out[0];
        row->p90 = out[1];
        row->p99 = out[2];
    } else {
        row->window.count = 0;
    }
    if (!from && row->window.count) { /* extremes since the start are exact */
        row->window.min_ns = k->histogram.min_ns;
        row->window.max_ns = k->histogram.max_ns;
    }
}

static void make_kernels(struct rtl_model *model)
{
    const struct rtl_range_choice *range = model->range;
    const struct rtl_snapshot *now = range ? &range->latest.snapshot : &model->latest->snapshot;
    const struct rtl_snapshot *base = rtl_snapshot_of(range ? &range->base : model->base),
                              *zero = rtl_snapshot_of(range ? &range->zero : model->zero),
                              *before = rtl_snapshot_of(range ? &range->before : model->before);
    uint32_t base_at = 0, before_at = 0, zero_at = 0;
    uint64_t window_total = 0;
    model->row_count = now->kernel_count;
    model->worst = NULL;
    model->estimated = model->no_shares = false;
    for (uint32_t i = 0; i < now->kernel_count; i++) {
        struct rtl_row *row = &model->rows[i];
        *row = (struct rtl_row){.id = now->kernels[i].id, .kernel = &now->kernels[i]};
        row->base = rtl_next_kernel(base, &base_at, row->id);
        row->before = rtl_next_kernel(before, &before_at, row->id);
        row->zero = rtl_next_kernel(zero, &zero_at, row->id);
        make_kernel_row(model, row);
        window_total += rtl_row_window_ns(row);
        model->estimated |= rtl_row_window_estimated(row);
        /* the timed dispatches of an observed process are no representative sample */
        model->no_shares |= now->in_force != RTL_ACTIVITY_TIMING && now->mode == RTL_MODE_OBSERVED &&
                            row->window.count < row->window_calls && row->kernel->name[0] != '(';
        if (row->window.count && (!model->worst || row->p99 > model->worst->p99))
            model->worst = row;
    }
    for (uint32_t i = 0; i < model->row_count; i++)
        model->rows[i].share = window_total ? (double)rtl_row_window_ns(&model->rows[i]) / (double)window_total : 0;
}

static void make_copies(struct rtl_model *model)
{
    const struct rtl_snapshot *now = &model->latest->snapshot;
    model->copies_count = 0;
    for (uint32_t i = 0; i < now->copies_count && i < RTL_COPIES_MAX; i++) {
        const struct rtl_copies_snapshot *copies = &now->copies[i],
                                         *base = rtl_copies_of(rtl_snapshot_of(model->base), copies->agent,
                                                               copies->direction);
        struct rtl_copies_row row = {.copies = copies};
        for (int r = 0; r < RTL_COPY_UNTIMED_LIMIT; r++)
            row.untimed += copies->untimed[r];
        row.window = rtl_window_between(base ? &base->histogram : NULL, &copies->histogram);
        row.window_count = rtl_grown(copies->count, base ? base->count : 0);
        row.window_bytes = rtl_grown(copies->bytes, base ? base->bytes : 0);
        row.window_timed_bytes = rtl_grown(copies->timed_bytes, base ? base->timed_bytes : 0);
        rtl_p50_p99_between(base ? &base->histogram : NULL, &copies->histogram, &row.p50, &row.p99);
        row.rate = per_second(row.window_count, model->counted_ns);
        row.bandwidth = per_second(row.window_bytes, model->counted_ns);
        row.share = model->span_ns ? (double)row.window.total_ns / (double)model->span_ns : 0;
        uint32_t at = model->copies_count++; /* sort by GPU: agents may be in another order */
        for (; at > 0 && model->copies[at - 1].copies->gpu > copies->gpu; at--)
            model->copies[at] = model->copies[at - 1];
        model->copies[at] = row;
    }
}

static void make_queues(struct rtl_model *model)
{
    const struct rtl_snapshot *now = &model->latest->snapshot;
    model->queue_count = now->queue_count < RTL_MODEL_QUEUES ? now->queue_count : RTL_MODEL_QUEUES;
    for (uint32_t i = 0; i < model->queue_count; i++) {
        const struct rtl_queue_snapshot *queue = &now->queues[i],
                                        *base = rtl_queue_of(rtl_snapshot_of(model->base), queue->slot, i);
        struct rtl_queue_row *row = &model->queues[i];
        *row = (struct rtl_queue_row){.queue = queue};
        row->rate = per_second(rtl_grown(queue->dispatches, base ? base->dispatches : 0), model->counted_ns);
        row->has_wait = rtl_p50_p99_between(base ? &base->wait : NULL, &queue->wait, &row->wait_p50, &row->wait_p99);
        row->has_gap = rtl_p50_p99_between(base ? &base->gap : NULL, &queue->gap, &row->gap_p50, &row->gap_p99);
    }
}

/* True for reasons that follow from the mode or the application; dispatches with other reasons are lost. */
static bool is_by_design(int reason)
{
    if (reason == RTL_UNTIMED_OBSERVED || reason == RTL_UNTIMED_PROBED)
        return true;
    return reason == RTL_UNTIMED_OWN_SIGNAL || reason == RTL_UNTIMED_BATCH || reason == RTL_UNTIMED_UNSAFE_SIGNAL ||
           reason == RTL_UNTIMED_SHARED_SIGNAL || reason == RTL_UNTIMED_SIGNAL_GONE ||
           reason == RTL_UNTIMED_UNWATCHED || reason == RTL_UNTIMED_DEMOTED || reason == RTL_UNTIMED_LET_GO;
}

static void make_sums(struct rtl_model *model)
{
    const struct rtl_snapshot *now = &model->latest->snapshot;
    const struct rtl_snapshot *zero = rtl_snapshot_of(model->zero);
    const struct rtl_snapshot *base = rtl_snapshot_of(model->base);
    model->counted = rtl_grown(now->counted, zero ? zero->counted : 0);
    model->timed = rtl_grown(now->timed, zero ? zero->timed : 0);
    model->untimed = rtl_grown(now->untimed_total, zero ? zero->untimed_total : 0);
    model->window_counted = rtl_grown(now->counted, base ? base->counted : 0);
    model->window_untimed = rtl_grown(now->untimed_total, base ? base->untimed_total : 0);
    model->lost = model->window_lost = 0;
    for (int i = 0; i < RTL_UNTIMED_LIMIT; i++) {
        model->untimed_by[i] = rtl_grown(now->untimed[i], zero ? zero->untimed[i] : 0);
        model->window_untimed_by[i] = rtl_grown(now->untimed[i], base ? base->untimed[i] : 0);
        if (is_by_design(i))
            continue;
        model->lost += model->untimed_by[i];
        model->window_lost += model->window_untimed_by[i];
    }
    model->rate = per_second(model->window_counted, model->counted_ns);
}

/* --- order --- */

struct sort_item {
    double value;     /* below all others if not measured */
    const char *name; /* "" unless names are sorted; values are equal then */
    bool down;        /* names descend */
    uint32_t index;   /* of the row; rows ascend by id */
};

static double column_value(const struct rtl_model *model, const struct rtl_row *row, enum rtl_column column)
{
    bool timed = row->window.count > 0;
    switch (column) {
    case RTL_COLUMN_TIME:
        return (timed || row->window_estimated_ns) && !model->no_shares ? row->share : -1;
    case RTL_COLUMN_RATE:
        return row->rate;
    case RTL_COLUMN_CALLS:
        return (double)row->calls;
    case RTL_COLUMN_TOTAL:
        return rtl_row_total_ns(row) ? (double)rtl_row_total_ns(row) : row->timed ? 0 : -1;
    case RTL_COLUMN_MEAN:
        return rtl_row_mean_ns(row) || timed ? (double)rtl_row_mean_ns(row) : -1;
    case RTL_COLUMN_MIN:
    case RTL_COLUMN_P50:
    case RTL_COLUMN_P90:
    case RTL_COLUMN_P99:
    case RTL_COLUMN_MAX:
    case RTL_COLUMN_LAUNCH: {
        uint64_t ns = rtl_row_time_ns(row, column);
        return ns ? (double)ns : -1;
    }
    case RTL_COLUMN_UNTIMED:
        return row->calls ? (double)row->untimed / (double)row->calls : -1;
    case RTL_COLUMN_SLOWEST:
        return rtl_slowest_value(model, row);
    case RTL_COLUMN_CHANGE:
        return row->change.p99.kind ? row->change.p99.ratio : -1;
    case RTL_COLUMN_CHANGE50:
        return row->change.p50.kind ? row->change.p50.ratio : -1;
    case RTL_COLUMN_FAMILY:
        return rtl_family_of(model, row);
    default:
        return 0;
    }
}

static int by_value(const void *a, const void *b)
{
    const struct sort_item *x = a, *y = b;
    /* unmeasured rows come last in both directions: the caller negates ascending values, but not theirs */
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    int c = x->down ? strcmp(y->name, x->name) : strcmp(x->name, y->name);
    return c ? c : x->index < y->index ? -1 : 1;
}

static bool row_is_shown(struct rtl_model *model, const struct rtl_row *row)
{
    if (!row->kernel->calls || (model->hide_idle && !row->window_calls)) /* no calls: they moved to another row */
        return false;
    return !model->filter[0] ||
           rtl_names_match(model->names, row->id, row->kernel->name, row->kernel->name_length, model->filter);
}

static bool make_order(struct rtl_model *model)
{
    bool held = rtl_model_order_is_frozen(model);
    /* without shares of time, sort by rate or calls */
    enum rtl_column sort = model->sort != RTL_COLUMN_TIME || !model->no_shares ? model->sort
                           : model->counted_ns                                 ? RTL_COLUMN_RATE
                                                                               : RTL_COLUMN_CALLS;
    bool ascending = (rtl_columns[model->sort].order == RTL_ORDER_ASC) != model->reverse;
    model->shown = 0;
    for (uint32_t i = 0; i < model->row_count; i++)
        if (row_is_shown(model, &model->rows[i]))
            model->order[model->shown++] = i;
    model->kernels_shown = model->shown;
    if (model->families)
        sum_families(model);
    struct sort_item *items = malloc((model->shown + 1) * sizeof *items);
    if (!items)
        return false;
    for (uint32_t i = 0; i < model->shown; i++) {
        struct rtl_row *row = &model->rows[model->order[i]];
        struct sort_item *item = &items[i];
        item->index = model->order[i];
        item->name = "";
        item->down = !ascending;
        if (held) { /* keep the order; new rows come last */
            uint32_t rank = row->id < RTL_MODEL_IDS ? model->rank[row->id] : 0;
            item->value = rank ? -(double)rank : -1e18;
        } else {
            double value = column_value(model, row, sort);
            item->value = value < 0 ? -1e300 : ascending ? -value : value;
            if (model->sort == RTL_COLUMN_NAME)
                item->name = rtl_model_form(model, row, RTL_NAME_SHORT);
        }
    }
    qsort(items, model->shown, sizeof *items, by_value);
    for (uint32_t i = 0; i < model->shown; i++)
        model->order[i] = items[i].index;
    free(items);
    if (model->families && !arrange_families(model))
        return false;
    memset(model->rank, 0, RTL_MODEL_IDS * sizeof *model->rank);
    for (uint32_t i = 0; i < model->shown; i++)
        if (model->rows[model->order[i]].id < RTL_MODEL_IDS)
            model->rank[model->rows[model->order[i]].id] = i + 1;
    return true;
}

bool rtl_model_order_is_frozen(const struct rtl_model *model)
{
    return model->latest && model->latest->snapshot.taken_mono_ns < model->frozen_until_ns;
}

bool rtl_model_make_rows(struct rtl_model *model)
{
    model->steps = (struct rtl_steps){.known = false};
    if (!grow_rows(model, model->latest->snapshot.kernel_count + RTL_FAMILY_COUNT) ||
        (model->range && !rtl_range_make(model))) {
        model->row_count = model->shown = 0;
        return false;
    }
    make_kernels(model);
    make_queues(model);
    make_copies(model);
    rtl_model_make_gpus(model);
    bool calls = rtl_model_make_hip_api(model); /* before the verdict, which names a call */
    rtl_model_judge_gpus(model);
    make_sums(model);
    rtl_steps_make(model);
    return calls && make_order(model);
}

int rtl_model_position(const struct rtl_model *model, uint32_t id)
{
    return id < RTL_MODEL_IDS ? (int)model->rank[id] - 1 : -1;
}

static int compare_id(const void *key, const void *row)
{
    uint32_t wanted = *(const uint32_t *)key, id = ((const struct rtl_row *)row)->id;
    return (wanted > id) - (wanted < id);
}

/* Return the index of the first kernel's row whose id is not below `id`. */
static uint32_t row_from(const struct rtl_model *model, uint32_t id)
{
    return (uint32_t)rtl_lower_bound(model->rows, model->row_count, sizeof *model->rows, &id, compare_id);
}

const struct rtl_row *rtl_model_row(const struct rtl_model *model, uint32_t id)
{
    if (id >= RTL_KERNELS_MAX)
        return family_row(model, id);
    uint32_t at = row_from(model, id);
    return at < model->row_count && model->rows[at].id == id ? &model->rows[at] : NULL;
}

const struct rtl_row *rtl_gap_kernel(const struct rtl_model *model, const struct rtl_gap *gap, bool after)
{
    const struct rtl_snapshot *now = &model->latest->snapshot;
    uint32_t kernel = after ? gap->kernel_after : gap->kernel_before;
    if (!kernel || !gap->member)
        return kernel ? rtl_model_row(model, kernel - 1) : NULL;
    /* a merged snapshot has rows of its own: find the one with this row of the member */
    for (uint32_t g = 0; now->parts && g < now->parts->group_count && g < now->kernel_count; g++)
        for (uint32_t i = 0; i < now->parts->groups[g]->count; i++) {
            const struct rtl_part *part = now->parts->groups[g]->parts[i];
            if (part->member == gap->member - 1 && part->row == kernel - 1)
                return rtl_model_row(model, now->kernels[g].id);
        }
    return NULL;
}

/* A closed family also matches by the names of its kernels, so that a search finds them. */
static bool row_matches(struct rtl_model *model, const struct rtl_row *row, const char *text)
{
    if (!row->kernels)
        return rtl_names_match(model->names, row->id, row->kernel->name, row->kernel->name_length, text);
    enum rtl_name_family family = rtl_family_of(model, row);
    bool found = rtl_text_contains(rtl_name_family_name(family), text);
    for (uint32_t i = 0; i < model->row_count && !found && !rtl_family_is_open(model, family); i++)
        found = rtl_family_of(model, &model->rows[i]) == family && row_is_shown(model, &model->rows[i]) &&
                row_matches(model, &model->rows[i], text);
    return found;
}

int rtl_model_search(struct rtl_model *model, const char *text, int from, int step)
{
    int count = (int)model->shown;
    for (int i = 0; i < count; i++) {
        int at = (((from + i * step) % count) + count) % count;
        const struct rtl_row *row = &model->rows[model->order[at]];
        if (row_matches(model, row, text))
            return at;
    }
    return -1;
}

const char *rtl_model_name(const struct rtl_model *model, const struct rtl_row *row, enum rtl_name_form form, int width,
                           bool ascii)
{
    if (row->kernels)
        return model->family_labels[rtl_family_of(model, row)];
    return rtl_names_cell(model->names, row->id, row->kernel->name, row->kernel->name_length, form, width, ascii);
}

const char *rtl_model_form(const struct rtl_model *model, const struct rtl_row *row, enum rtl_name_form form)
{
    if (row->kernels)
        return rtl_name_family_name(rtl_family_of(model, row));
    return rtl_names_form(model->names, row->id, row->kernel->name, row->kernel->name_length, form);
}

bool rtl_model_prepare(struct rtl_model *model, uint32_t most)
{
    uint32_t low = row_from(model, model->prepared); /* new kernels mostly have higher ids */
    for (; low < model->row_count && most; low++, most--) {
        rtl_family_of(model, &model->rows[low]);
        model->prepared = model->rows[low].id + 1;
    }
    return low < model->row_count;
}
