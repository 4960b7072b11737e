/*
 * Rows, sums and their order. See model_rows.h.
 *
 * Snapshots list kernels by ascending id, so one pass over two snapshots matches their rows. Order: by the chosen
 * column; rows without a measured value come last; ties by id, so that rows keep their places.
 */
#include "model/model_rows.h"
#include "base/array.h"
#include "model/model_hip_api.h"
#include "model/row_times.h"
#include "model/ranks.h"
#include "model/model_families.h"
#include "model/model_gpus.h"
#include "model/model_range.h"
#include "text/text.h"
#include "text/units.h"

#include <stdlib.h>
#include <string.h>

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
    if (!rows || !order)
        return false;
    model->row_size = size;
    return true;
}

/* Find a kernel; ids ascend from call to call, and *at keeps the position. */
static const struct rtl_kernel_snapshot *find_next_kernel(const struct rtl_sample *sample, uint32_t *at, uint32_t id)
{
    if (!sample)
        return NULL;
    while (*at < sample->snapshot.kernel_count && sample->snapshot.kernels[*at].id < id)
        ++*at;
    return *at < sample->snapshot.kernel_count && sample->snapshot.kernels[*at].id == id
               ? &sample->snapshot.kernels[*at]
               : NULL;
}

static double per_second(uint64_t count, uint64_t ns)
{
    return ns ? (double)count * 1e9 / (double)ns : 0;
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
    row->rate = per_second(row->window_calls, model->span_ns);
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
    const struct rtl_sample *base = range ? &range->base : model->base, *zero = range ? &range->zero : model->zero,
                            *before = range ? &range->before : model->before;
    uint32_t base_at = 0, before_at = 0, zero_at = 0;
    uint64_t window_total = 0;
    model->row_count = now->kernel_count;
    model->worst = NULL;
    model->estimated = model->no_shares = false;
    for (uint32_t i = 0; i < now->kernel_count; i++) {
        struct rtl_row *row = &model->rows[i];
        *row = (struct rtl_row){.id = now->kernels[i].id, .kernel = &now->kernels[i]};
        row->base = find_next_kernel(base, &base_at, row->id);
        row->before = find_next_kernel(before, &before_at, row->id);
        row->zero = find_next_kernel(zero, &zero_at, row->id);
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

static const struct rtl_copies_snapshot *copies_before(const struct rtl_sample *sample,
                                                       const struct rtl_copies_snapshot *copies)
{
    if (sample)
        for (uint32_t i = 0; i < sample->snapshot.copies_count; i++)
            if (sample->snapshot.copies[i].agent == copies->agent &&
                sample->snapshot.copies[i].direction == copies->direction)
                return &sample->snapshot.copies[i];
    return NULL;
}

/* Quantiles of later - earlier; both are 0, and the result false, if there are none. */
static bool p50_and_p99(const struct rtl_histogram_copy *earlier, const struct rtl_histogram_copy *later, uint64_t *p50,
                        uint64_t *p99)
{
    static const double q[] = {0.5, 0.99};
    uint64_t out[2] = {0, 0};
    bool known = rtl_quantiles(earlier, later, q, 2, out);
    *p50 = known ? out[0] : 0;
    *p99 = known ? out[1] : 0;
    return known;
}

static void make_copies(struct rtl_model *model)
{
    const struct rtl_snapshot *now = &model->latest->snapshot;
    model->copies_count = 0;
    for (uint32_t i = 0; i < now->copies_count && i < RTL_COPIES_MAX; i++) {
        const struct rtl_copies_snapshot *copies = &now->copies[i], *base = copies_before(model->base, copies);
        struct rtl_copies_row row = {.copies = copies};
        for (int r = 0; r < RTL_COPY_UNTIMED_LIMIT; r++)
            row.untimed += copies->untimed[r];
        row.window = rtl_window_between(base ? &base->histogram : NULL, &copies->histogram);
        row.window_count = rtl_grown(copies->count, base ? base->count : 0);
        row.window_bytes = rtl_grown(copies->bytes, base ? base->bytes : 0);
        row.window_timed_bytes = rtl_grown(copies->timed_bytes, base ? base->timed_bytes : 0);
        p50_and_p99(base ? &base->histogram : NULL, &copies->histogram, &row.p50, &row.p99);
        row.rate = per_second(row.window_count, model->span_ns);
        row.bandwidth = per_second(row.window_bytes, model->span_ns);
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
                                        *base =
                                            rtl_queue_of(model->base ? &model->base->snapshot : NULL, queue->slot, i);
        struct rtl_queue_row *row = &model->queues[i];
        *row = (struct rtl_queue_row){.queue = queue};
        row->rate = per_second(rtl_grown(queue->dispatches, base ? base->dispatches : 0), model->span_ns);
        row->has_wait = p50_and_p99(base ? &base->wait : NULL, &queue->wait, &row->wait_p50, &row->wait_p99);
        row->has_gap = p50_and_p99(base ? &base->gap : NULL, &queue->gap, &row->gap_p50, &row->gap_p99);
    }
}

/* Count a GPU's untimed dispatches in the window. */
static uint64_t untimed_of(const struct rtl_model *model, uint32_t gpu)
{
    uint64_t untimed = 0;
    for (uint32_t i = 0; i < model->queue_count; i++) {
        const struct rtl_queue_snapshot *queue = model->queues[i].queue,
                                        *base = queue->gpu == gpu
                                                    ? rtl_queue_of(model->base ? &model->base->snapshot : NULL,
                                                                   queue->slot, i)
                                                    : NULL;
        for (unsigned r = 0; queue->gpu == gpu && r < RTL_UNTIMED_LIMIT; r++)
            untimed += rtl_grown(queue->untimed[r], base ? base->untimed[r] : 0);
    }
    return untimed;
}

/* A gap is counted when it ends, so gaps may exceed the window. */
static void make_idle(struct rtl_gpu_row *row, const struct rtl_agent_snapshot *base, uint64_t span_ns)
{
    uint64_t count = 0;
    for (int c = 0; c < RTL_IDLE_COUNT; c++) {
        const struct rtl_idle *now = &row->agent->idle[c], none = {0, 0}, *before = base ? &base->idle[c] : &none;
        double idle = (double)rtl_grown(now->total_ns, before->total_ns) / (double)span_ns;
        row->idle[c] = idle < 1 ? idle : 1;
        count += rtl_grown(now->count, before->count);
    }
    row->idle_rate = per_second(count, span_ns);
}

static void make_gpus(struct rtl_model *model)
{
    const struct rtl_snapshot *now = &model->latest->snapshot;
    double sum = 0;
    uint32_t measured = 0;
    model->gpu_count = now->agent_count < RTL_AGENTS_MAX ? now->agent_count : RTL_AGENTS_MAX;
    for (uint32_t i = 0; i < model->gpu_count; i++) {
        const struct rtl_agent_snapshot *agent = &now->agents[i];
        struct rtl_gpu_row *row = &model->gpus[i];
        const struct rtl_agent_snapshot *base = rtl_agent_of(model->base ? &model->base->snapshot : NULL, agent->gpu);
        *row = (struct rtl_gpu_row){.agent = agent, .busy = -1, .idle_rate = -1};
        for (int c = 0; c < RTL_IDLE_COUNT; c++)
            row->idle[c] = -1;
        uint64_t busy_ns = rtl_grown(agent->busy_ns, base ? base->busy_ns : 0);
        /* busy is unknown if kernels were only counted */
        if (model->span_ns && (busy_ns || !untimed_of(model, agent->gpu))) {
            /* a kernel's time is counted when it ends, so it may exceed the window */
            double busy = (double)busy_ns / (double)model->span_ns;
            /* gaps of one process are no gaps of a shared GPU; an observed process has none */
            if (agent->users <= 1 && !rtl_is_observed(now))
                make_idle(row, base, model->span_ns);
            row->busy = busy < 1 ? busy : 1;
            sum += row->busy;
            measured++;
        }
        for (uint32_t j = 0; j < model->queue_count; j++) {
            const struct rtl_queue_snapshot *queue = model->queues[j].queue;
            if (queue->gpu != agent->gpu)
                continue;
            row->rate += model->queues[j].rate;
            if (queue->live) {
                row->queues++;
                row->depth += queue->depth;
            }
        }
    }
    model->busy = measured && measured == model->gpu_count ? sum / measured : -1;
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
    const struct rtl_snapshot *zero = model->zero ? &model->zero->snapshot : NULL;
    const struct rtl_snapshot *base = model->base ? &model->base->snapshot : NULL;
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
    model->rate = per_second(model->window_counted, model->span_ns);
}

/* --- order --- */

struct sort_item {
    double value; /* below all others if not measured */
    const char *name;
    bool down;      /* names descend */
    uint32_t index; /* of the row; rows ascend by id */
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
    return x->index < y->index ? -1 : 1;
}

static int by_row_name(const void *a, const void *b)
{
    const struct sort_item *x = a, *y = b;
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
                           : model->span_ns                                    ? RTL_COLUMN_RATE
                                                                               : RTL_COLUMN_CALLS;
    bool ascending = (rtl_columns[model->sort].order == RTL_ORDER_ASC) != model->reverse;
    model->shown = 0;
    for (uint32_t i = 0; i < model->row_count; i++)
        if (row_is_shown(model, &model->rows[i]))
            model->order[model->shown++] = i;
    model->kernels_shown = model->shown;
    if (model->families)
        rtl_families_sum(model);
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
    qsort(items, model->shown, sizeof *items, held || model->sort != RTL_COLUMN_NAME ? by_value : by_row_name);
    for (uint32_t i = 0; i < model->shown; i++)
        model->order[i] = items[i].index;
    free(items);
    if (model->families && !rtl_families_arrange(model))
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
    if (!grow_rows(model, model->latest->snapshot.kernel_count + RTL_FAMILY_COUNT)) {
        model->row_count = model->shown = 0;
        return false;
    }
    if (model->range && !rtl_range_make(model)) {
        model->row_count = model->shown = 0;
        return false;
    }
    make_kernels(model);
    make_queues(model);
    make_copies(model);
    make_gpus(model);
    bool calls = rtl_model_make_hip_api(model); /* before the verdict, which names a call */
    rtl_model_judge_gpus(model);
    make_sums(model);
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
        return rtl_family_row(model, id);
    uint32_t at = row_from(model, id);
    return at < model->row_count && model->rows[at].id == id ? &model->rows[at] : NULL;
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
