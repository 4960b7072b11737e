/* Makes the rows of HIP calls and roctx ranges from snapshots. See model_data.h. */
#include "model/model_data.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

enum { RTL_HIP_API_DEPTH_MAX = 256 };

const char *rtl_hip_api_order_text(enum rtl_hip_api_order order)
{
    static const char *const texts[] = {
#define TEXT(sym, header, meaning) meaning,
        RTL_HIP_API_ORDERS(TEXT)
#undef TEXT
    };
    return order < RTL_HIP_API_BY_COUNT ? texts[order] : "";
}

static const struct rtl_hip_api_snapshot *hip_api_of(const struct rtl_sample *sample)
{
    return sample ? sample->snapshot.hip_api : NULL;
}

static void set_rates(const struct rtl_model *model, struct rtl_hip_api_model_row *row)
{
    double seconds = (double)model->span_ns / 1e9;
    if (!model->span_ns)
        return;
    row->rate = (double)row->window.count / seconds;
    row->bandwidth = (double)row->window_bytes / seconds;
    row->share = (double)row->window.total_ns / (double)model->span_ns;
}

static void make_model_row(const struct rtl_model *model, struct rtl_hip_api_model_row *row,
                           const struct rtl_hip_api_row_snapshot *call, const struct rtl_hip_api_row_snapshot *base,
                           const struct rtl_hip_api_row_snapshot *zero)
{
    *row = (struct rtl_hip_api_model_row){.call = call};
    row->calls = rtl_grown(call->histogram.count, zero ? zero->histogram.count : 0);
    row->total_ns = rtl_grown(call->histogram.total_ns, zero ? zero->histogram.total_ns : 0);
    row->errors = rtl_grown(call->errors, zero ? zero->errors : 0);
    row->bytes = rtl_grown(call->bytes, zero ? zero->bytes : 0);
    row->window = rtl_window_between(base ? &base->histogram : NULL, &call->histogram);
    row->window_errors = rtl_grown(call->errors, base ? base->errors : 0);
    row->window_bytes = rtl_grown(call->bytes, base ? base->bytes : 0);
    rtl_p50_p99_between(base ? &base->histogram : NULL, &call->histogram, &row->p50, &row->p99);
    row->open = call->open;
    set_rates(model, row);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a < b) - (a > b);
}

static enum rtl_hip_api_order sorting; /* qsort has no context; the viewer has one thread */
static bool reversed;

static int compare_model_rows(const void *left, const void *right)
{
    const struct rtl_hip_api_model_row *a = left, *b = right;
    int order = 0;
    if (sorting == RTL_HIP_API_BY_SHARE)
        order = compare_numbers(a->window.total_ns, b->window.total_ns);
    else if (sorting == RTL_HIP_API_BY_TOTAL)
        order = compare_numbers(a->total_ns, b->total_ns);
    else if (sorting == RTL_HIP_API_BY_CALLS)
        order = compare_numbers(a->calls, b->calls);
    else if (sorting == RTL_HIP_API_BY_P99)
        order = compare_numbers(a->p99, b->p99);
    if (!order && sorting == RTL_HIP_API_BY_SHARE)
        order = compare_numbers(a->total_ns, b->total_ns);
    order = reversed ? -order : order;
    int name = rtl_hip_api_compare_rows(a->call, b->call);
    return order ? order : sorting == RTL_HIP_API_BY_NAME && reversed ? -name : name;
}

/* --- the tree of ranges --- */

/* A node while the tree is built; its numbers include all nodes below it. */
struct nested {
    struct rtl_hip_api_model_row row;
    uint64_t gpu_window_ns;
    uint32_t base, zero; /* the same node in those snapshots; UINT32_MAX: none */
    uint32_t child, next;
};

static uint32_t same_node(const struct rtl_sample *sample, uint32_t parent,
                          const struct rtl_hip_api_node_snapshot *node)
{
    const struct rtl_hip_api_snapshot *calls = hip_api_of(sample);
    if (!calls || parent >= calls->node_count)
        return UINT32_MAX;
    uint32_t at = rtl_hip_api_find_child(calls, parent, node->name, node->name_bytes);
    return at < calls->node_count ? at : UINT32_MAX;
}

static const struct rtl_hip_api_node_snapshot *node_at(const struct rtl_sample *sample, uint32_t at)
{
    static const struct rtl_hip_api_node_snapshot none;
    const struct rtl_hip_api_snapshot *calls = hip_api_of(sample);
    return calls && at < calls->node_count ? &calls->nodes[at] : &none;
}

static void make_nested(const struct rtl_model *model, struct nested *n, const struct rtl_hip_api_node_snapshot *node)
{
    const struct rtl_hip_api_node_snapshot *base = node_at(model->base, n->base), *zero = node_at(model->zero, n->zero);
    n->row.node = node;
    n->row.open = node->open;
    n->row.calls = rtl_grown(node->count, zero->count);
    n->row.total_ns = rtl_grown(node->total_ns, zero->total_ns);
    n->row.gpu_ns = rtl_grown(node->kernels_ns, zero->kernels_ns);
    n->row.window.count = rtl_grown(node->count, base->count);
    n->row.window.total_ns = rtl_grown(node->total_ns, base->total_ns);
    n->gpu_window_ns = rtl_grown(node->kernels_ns, base->kernels_ns);
    set_rates(model, &n->row);
}

/* Add the numbers known only by name: durations of the ranges of that name at all places. */
static void add_name(const struct rtl_hip_api_rows *rows, struct rtl_hip_api_model_row *row, bool *has_node)
{
    for (uint32_t i = 0; i < rows->ranges; i++) {
        const struct rtl_hip_api_model_row *name = &rows->rows[rows->functions + i];
        if (name->call->kind != RTL_HIP_API_RANGE || name->call->name_bytes != row->node->name_bytes ||
            memcmp(name->call->name, row->node->name, row->node->name_bytes) != 0)
            continue;
        has_node[i] = true;
        row->call = name->call;
        row->p50 = name->p50;
        row->p99 = name->p99;
        row->window.max_ns = name->window.max_ns;
        return;
    }
}

static int compare_nested(const void *left, const void *right)
{
    const struct nested *const *a = left, *const *b = right;
    return compare_model_rows(&(*a)->row, &(*b)->row);
}

/* Append the children of a node, each followed by its own children. */
static void append_children(struct rtl_hip_api_rows *rows, struct nested *nodes, uint32_t of, uint32_t depth,
                            struct nested **sorted)
{
    uint32_t count = 0;
    for (uint32_t i = nodes[of].child; i; i = nodes[i].next)
        if (nodes[i].row.call)
            sorted[count++] = &nodes[i];
    if (count)
        qsort(sorted, count, sizeof *sorted, compare_nested);
    for (uint32_t i = 0; i < count; i++) {
        sorted[i]->row.depth = depth;
        rows->tree[rows->tree_count++] = sorted[i]->row;
        if (depth < RTL_HIP_API_DEPTH_MAX) /* no library nests deeper */
            append_children(rows, nodes, (uint32_t)(sorted[i] - nodes), depth + 1, sorted + count);
    }
}

static bool make_tree(struct rtl_model *model)
{
    struct rtl_hip_api_rows *rows = &model->hip_api;
    const struct rtl_hip_api_snapshot *calls = model->latest->snapshot.hip_api;
    uint32_t count = calls->node_count, all = count + rows->ranges;
    rows->tree_count = 0;
    if (count < 2)
        return true;
    struct nested *nodes = calloc(count, sizeof *nodes), **sorted = calloc(count, sizeof *sorted);
    bool *has_node = calloc(rows->ranges + 1, sizeof *has_node);
    bool ok = nodes && sorted && has_node && rtl_grow(&rows->tree, &rows->tree_room, all, sizeof *rows->tree);
    for (uint32_t i = 0; ok && i < count; i++) {
        const struct rtl_hip_api_node_snapshot *node = &calls->nodes[i];
        nodes[i].base = i ? same_node(model->base, nodes[node->parent].base, node) : 0;
        nodes[i].zero = i ? same_node(model->zero, nodes[node->parent].zero, node) : 0;
        make_nested(model, &nodes[i], node);
        if (i)
            add_name(rows, &nodes[i].row, has_node);
    }
    for (uint32_t i = count; ok && i-- > 1;) { /* children come behind their parents */
        uint32_t parent = calls->nodes[i].parent;
        nodes[parent].gpu_window_ns += nodes[i].gpu_window_ns;
        nodes[parent].row.gpu_ns += nodes[i].row.gpu_ns;
        nodes[i].row.gpu_share = model->span_ns ? (double)nodes[i].gpu_window_ns / (double)model->span_ns : 0;
        nodes[i].next = nodes[parent].child;
        nodes[parent].child = i;
    }
    if (ok)
        append_children(rows, nodes, 0, 0, sorted);
    for (uint32_t i = 0; ok && i < rows->ranges; i++)
        if (!has_node[i])
            rows->tree[rows->tree_count++] = rows->rows[rows->functions + i];
    free(nodes);
    free(sorted);
    free(has_node);
    return ok;
}

/* Compute launch latencies: from the begin of a call to the start of its kernel. */
static void make_launches(struct rtl_model *model)
{
    const struct rtl_hip_api_snapshot *calls = model->latest->snapshot.hip_api, *base = hip_api_of(model->base);
    model->hip_api.launches = calls && calls->launch_count && !model->range; /* not known for a single range */
    for (uint32_t i = 0; model->hip_api.launches && i < model->row_count; i++) {
        struct rtl_row *row = &model->rows[i];
        const struct rtl_hip_api_launch_snapshot *now = rtl_hip_api_find_launch(calls, row->kernel);
        const struct rtl_hip_api_launch_snapshot *was = now ? rtl_hip_api_find_launch(base, row->kernel) : NULL;
        if (now &&
            rtl_p50_p99_between(was ? &was->histogram : NULL, &now->histogram, &row->launch_p50, &row->launch_p99))
            row->launches = now->histogram.count - (was ? was->histogram.count : 0);
    }
}

bool rtl_model_make_hip_api(struct rtl_model *model)
{
    struct rtl_hip_api_rows *rows = &model->hip_api;
    const struct rtl_hip_api_snapshot *calls = model->latest->snapshot.hip_api;
    uint32_t base = 0, zero = 0;
    rows->functions = rows->ranges = rows->tree_count = 0;
    rows->any = calls != NULL;
    make_launches(model);
    if (!calls)
        return true;
    if (!rtl_grow(&rows->rows, &rows->room, calls->count, sizeof *rows->rows))
        return false;
    for (uint32_t i = 0; i < calls->count; i++) {
        const struct rtl_hip_api_row_snapshot *call = &calls->rows[i];
        make_model_row(model, &rows->rows[i], call, rtl_hip_api_find_row(hip_api_of(model->base), &base, call),
                       rtl_hip_api_find_row(hip_api_of(model->zero), &zero, call));
        *(rtl_hip_api_is_range(call) ? &rows->ranges : &rows->functions) += 1;
    }
    sorting = rows->order;
    reversed = rows->reverse;
    if (rows->functions)
        qsort(rows->rows, rows->functions, sizeof *rows->rows, compare_model_rows);
    if (rows->ranges)
        qsort(rows->rows + rows->functions, rows->ranges, sizeof *rows->rows, compare_model_rows);
    return make_tree(model);
}
