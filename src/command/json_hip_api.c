/* Writes HIP calls, ranges and memory in use as JSON. See output.h. */
#include "command/output.h"
#include "model/model_range.h"
#include "text/text.h"

#include <stdlib.h>

static void put_times(struct json_writer *w, struct json_object *o, const struct rtl_histogram_copy *h)
{
    uint64_t v[2];
    bool any = rtl_p50_p99(h, v);
    put_measured(w, o, "total_ns", any, h->total_ns);
    put_measured(w, o, "p50_ns", any, v[0]);
    put_measured(w, o, "p99_ns", any, v[1]);
    put_measured(w, o, "max_ns", any, h->max_ns);
}

void rtl_json_hip_api_row(struct json_writer *w, struct json_object *o, const struct rtl_hip_api_row_snapshot *row)
{
    const char *kind = rtl_hip_api_kind_key(row->kind);
    char name[4 * RTL_HIP_API_TEXT + 1];
    rtl_text_escape(name, sizeof name, row->name, row->name_bytes);
    put_text(w, o, "name", name);
    put_text(w, o, "kind", kind ? kind : "unknown");
    put_number(w, o, "calls", row->histogram.count);
    put_times(w, o, &row->histogram);
    if (rtl_hip_api_is_range(row)) {
        put_number(w, o, "open", row->open);
    } else {
        put_number(w, o, "errors", row->errors);
        put_number(w, o, "bytes", row->bytes);
        put_number(w, o, "in_use_bytes", row->in_use);
    }
}

static void put_row(struct json_writer *w, struct json_object *array, const struct rtl_model *m,
                    const struct rtl_hip_api_model_row *row)
{
    bool window = m->previous, recent = window && row->window.count;
    struct json_object *o = object_at_end(w, array);
    rtl_json_hip_api_row(w, o, row->call);
    struct json_object *recently = object_in(w, o, "window");
    put_measured(w, recently, "calls", window, row->window.count);
    put_measured(w, recently, "total_ns", recent, row->window.total_ns);
    put_measured(w, recently, "p50_ns", recent, row->p50);
    put_measured(w, recently, "p99_ns", recent, row->p99);
    put_share(w, recently, "share", window, row->share);
    if (!rtl_hip_api_is_range(row->call)) {
        put_measured(w, recently, "errors", window, row->window_errors);
        put_measured(w, recently, "bytes_per_s", window, (uint64_t)row->bandwidth);
    }
}

/* Put the tree of ranges: outer ones first, each followed by the ranges in it. */
static void put_nested(struct json_writer *w, struct json_object *api, const struct rtl_model *m)
{
    const struct rtl_hip_api_rows *rows = &m->hip_api;
    struct json_object *array = array_in(w, api, "nested");
    bool window = m->previous;
    for (uint32_t i = 0; i < rows->tree_count && !w->failed; i++) {
        const struct rtl_hip_api_model_row *row = &rows->tree[i];
        const struct rtl_hip_api_node_snapshot *node = row->node;
        char name[4 * RTL_HIP_API_TEXT + 1];
        if (!node)
            continue;
        struct json_object *o = object_at_end(w, array);
        rtl_text_escape(name, sizeof name, node->name, node->name_bytes);
        put_text(w, o, "name", name);
        put_number(w, o, "depth", row->depth);
        put_number(w, o, "count", node->count);
        put_number(w, o, "total_ns", node->total_ns);
        put_number(w, o, "open", node->open);
        put_number(w, o, "kernels", node->kernels);
        put_number(w, o, "kernels_ns", node->kernels_ns);
        put_number(w, o, "copies", node->copies);
        put_number(w, o, "copies_ns", node->copies_ns);
        put_share(w, o, "window_share", window, row->share);
        put_share(w, o, "window_gpu_share", window, row->gpu_share);
    }
}

/* Appends a kernel's numbers in one range. */
static void put_range_kernel(struct json_writer *w, struct json_object *array, const struct rtl_hip_api_snapshot *api,
                             const struct rtl_range_kernel *kernel, const char *kernel_name)
{
    uint32_t path[RTL_RANGE_PATH_MAX], depth = 0;
    struct json_object *o = object_at_end(w, array), *range = array_in(w, o, "range");
    for (uint32_t n = kernel->pair->node; n && depth < RTL_RANGE_PATH_MAX; n = api->nodes[n].parent)
        path[depth++] = n;
    while (depth--) {
        const struct rtl_hip_api_node_snapshot *node = &api->nodes[path[depth]];
        char name[4 * RTL_HIP_API_TEXT + 1];
        rtl_text_escape(name, sizeof name, node->name, node->name_bytes);
        put_at_end(w, range, json_object_new_string(name));
    }
    put_text(w, o, "kernel", kernel_name);
    put_number(w, o, "timed", kernel->pair->histogram.count);
    put_times(w, o, &kernel->pair->histogram);
}

void rtl_json_range_kernels(struct json_writer *w, struct json_object *o, const struct rtl_snapshot *s,
                            struct rtl_names *names)
{
    struct rtl_range_kernel *kernels;
    uint32_t count = rtl_range_kernels(s, &kernels);
    struct json_object *array = array_in(w, o, "range_kernels");
    for (uint32_t i = 0; i < count && !w->failed; i++) {
        const struct rtl_kernel_snapshot *k = kernels[i].kernel;
        put_range_kernel(w, array, s->hip_api, &kernels[i],
                         rtl_names_form(names, k->id, k->name, k->name_length, RTL_NAME_FULL));
    }
    w->failed |= !kernels;
    free(kernels);
}

/* Put how many dispatches and copies belong to a known call, and why others don't. */
static void put_link_counts(struct json_writer *w, struct json_object *api, const struct rtl_hip_api_snapshot *calls)
{
    struct json_object *o = object_in(w, api, "links");
    put_number(w, o, "dispatches", calls->linked);
    put_number(w, o, "copies", calls->copies_linked);
    struct json_object *unlinked = object_in(w, o, "unlinked");
#define REASON(sym, num, key, text) put_number(w, unlinked, key, calls->unlinked[num]);
    RTL_HIP_API_UNLINKED(REASON)
#undef REASON
    put_number(w, o, "unlinked_copies", calls->copies_unlinked);
}

void rtl_json_hip_api_rest(struct json_writer *w, struct json_object *root, const struct rtl_hip_api_snapshot *api)
{
    struct json_object *array = array_in(w, root, "memory");
    for (uint32_t i = 0; i < api->memory_count; i++) {
        const struct rtl_hip_api_memory_snapshot *m = &api->memory[i];
        struct json_object *o = object_at_end(w, array);
        put_number(w, o, "pid", m->pid);
        put_text(w, o, "place", m->place < RTL_HIP_API_GPUS ? "gpu" : "host");
        put_measured(w, o, "gpu", m->place < RTL_HIP_API_GPUS, m->place);
        put_number(w, o, "in_use_bytes", m->in_use);
        put_number(w, o, "peak_bytes", m->peak);
        put_number(w, o, "allocations", m->allocations);
    }
#define TROUBLE(member, key, text) put_number(w, root, key, api->member);
    RTL_HIP_API_TROUBLES(TROUBLE)
#undef TROUBLE
}

void rtl_json_hip_api(struct json_writer *w, struct json_object *root, const struct rtl_model *m)
{
    const struct rtl_hip_api_snapshot *calls = m->latest->snapshot.hip_api;
    const struct rtl_hip_api_rows *rows = &m->hip_api;
    if (!calls) {
        put_measured(w, root, "api", false, 0);
        return;
    }
    struct json_object *api = object_in(w, root, "api");
    struct json_object *array = array_in(w, api, "functions");
    for (uint32_t i = 0; i < rows->functions; i++)
        put_row(w, array, m, &rows->rows[i]);
    array = array_in(w, api, "ranges");
    for (uint32_t i = 0; i < rows->ranges; i++)
        put_row(w, array, m, &rows->rows[rows->functions + i]);
    put_nested(w, api, m);
    rtl_json_range_kernels(w, api, &m->latest->snapshot, m->names);
    if (calls->links)
        put_link_counts(w, api, calls);
    rtl_json_hip_api_rest(w, api, calls);
}
