/* Calls, ranges and memory in use in JSON. See json_calls.h. */
#include "command/json_calls.h"
#include "text/text.h"

static void put_row(struct json_writer *w, struct json_object *array, const struct rtl_model *m,
                    const struct rtl_call_row *row)
{
    static const double q[] = {0.5, 0.99};
    const struct rtl_call *call = row->call;
    const char *kind = rtl_call_kind_key(call->kind);
    uint64_t v[2] = {0, 0};
    bool any = rtl_quantiles(NULL, &call->histogram, q, 2, v), window = m->previous,
         recent = window && row->window.count;
    struct json_object *o = object_at_end(w, array);
    if (!o)
        return;
    char name[4 * RTL_API_TEXT + 1];
    rtl_text_escape(name, sizeof name, call->name, call->name_bytes);
    put_text(w, o, "name", name);
    put_text(w, o, "kind", kind ? kind : "unknown");
    put_number(w, o, "calls", call->histogram.count);
    put_measured(w, o, "total_ns", any, call->histogram.total_ns);
    put_measured(w, o, "p50_ns", any, v[0]);
    put_measured(w, o, "p99_ns", any, v[1]);
    put_measured(w, o, "max_ns", any, call->histogram.max_ns);
    if (rtl_call_is_range(call)) {
        put_number(w, o, "open", call->open);
    } else {
        put_number(w, o, "errors", call->errors);
        put_number(w, o, "bytes", call->bytes);
        put_number(w, o, "in_use_bytes", call->in_use);
    }
    struct json_object *recently = object_in(w, o, "window");
    if (!recently)
        return;
    put_measured(w, recently, "calls", window, row->window.count);
    put_measured(w, recently, "total_ns", recent, row->window.total_ns);
    put_measured(w, recently, "p50_ns", recent, row->p50);
    put_measured(w, recently, "p99_ns", recent, row->p99);
    put_share(w, recently, "share", window, row->share);
    if (!rtl_call_is_range(call)) {
        put_measured(w, recently, "errors", window, row->window_errors);
        put_measured(w, recently, "bytes_per_s", window, (uint64_t)row->bandwidth);
    }
}

void rtl_json_calls(struct json_writer *w, struct json_object *root, const struct rtl_model *m)
{
    const struct rtl_calls *calls = m->latest->snapshot.calls;
    const struct rtl_call_rows *rows = &m->calls;
    if (!calls) {
        put_measured(w, root, "api", false, 0);
        return;
    }
    struct json_object *api = object_in(w, root, "api");
    struct json_object *array = api ? array_in(w, api, "functions") : NULL;
    for (uint32_t i = 0; array && !w->failed && i < rows->functions; i++)
        put_row(w, array, m, &rows->rows[i]);
    array = w->failed ? NULL : array_in(w, api, "ranges");
    for (uint32_t i = 0; array && !w->failed && i < rows->ranges; i++)
        put_row(w, array, m, &rows->rows[rows->functions + i]);
    array = w->failed ? NULL : array_in(w, api, "memory");
    for (uint32_t i = 0; array && i < calls->memory_count; i++) {
        const struct rtl_call_memory *memory = &calls->memory[i];
        struct json_object *o = object_at_end(w, array);
        if (!o)
            return;
        put_number(w, o, "pid", memory->pid);
        put_text(w, o, "place", memory->place < RTL_API_GPUS ? "gpu" : "host");
        put_measured(w, o, "gpu", memory->place < RTL_API_GPUS, memory->place);
        put_number(w, o, "in_use_bytes", memory->in_use);
        put_number(w, o, "peak_bytes", memory->peak);
        put_number(w, o, "allocations", memory->allocations);
    }
#define TROUBLE(member, key, text) \
    if (!w->failed)                \
        put_number(w, api, key, calls->member);
    RTL_CALL_TROUBLES(TROUBLE)
#undef TROUBLE
}
