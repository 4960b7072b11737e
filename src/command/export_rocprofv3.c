/*
 * A trace in the JSON that rocprofv3 writes, for tools that read it: dispatches, copies, calls of HIP and markers as
 * buffer records, which name kinds and operations by their place in "strings", kernels by "kernel_symbols" and GPUs by
 * "agents". What a trace doesn't know (code objects, counters, streams) is empty, or 0.
 *
 * Of a file with several processes all is in one: its numbers of GPUs, queues and calls are the file's.
 */
#include "command/export.h"
#include "session/progress.h"
#include "text/quote.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* X(symbol, kind as rocprofv3 calls it): places in "buffer_records" */
#define KINDS(X)                 \
    X(NONE, "NONE")              \
    X(HIP, "HIP_RUNTIME_API")    \
    X(MARKER, "MARKER_CORE_API") \
    X(COPY, "MEMORY_COPY")       \
    X(DISPATCH, "KERNEL_DISPATCH")
#define ENUM(sym, name) KIND_##sym,
enum { KINDS(ENUM) KIND_COUNT };
#undef ENUM

/* X(opType of the trace, operation as rocprofv3 calls it, from the host, to the host) */
#define COPIES(X)                                                         \
    X("", "MEMORY_COPY_NONE", false, false)                               \
    X("CopyHostToDevice", "MEMORY_COPY_HOST_TO_DEVICE", true, false)      \
    X("CopyDeviceToHost", "MEMORY_COPY_DEVICE_TO_HOST", false, true)      \
    X("CopyDeviceToDevice", "MEMORY_COPY_DEVICE_TO_DEVICE", false, false) \
    X("CopyPeerToPeer", "MEMORY_COPY_DEVICE_TO_DEVICE_PEER", false, false)
static const struct {
    const char *type, *operation;
    bool from_host, to_host;
} copies[] = {
#define COPY(type, operation, from, to) {type, operation, from, to},
    COPIES(COPY)
#undef COPY
};
enum { COPY_KINDS = sizeof copies / sizeof *copies };

struct writer {
    struct rtl_export *export;
    struct rtl_sink *sink;
    bool any;                     /* something stands before the next in this list */
    struct rtl_identities *calls; /* names of functions, by their row in rocpd_string: place in "operations" */
    int64_t call_count;
};

static void string(struct writer *w, const char *text)
{
    rtl_quote_json(rtl_export_put, w->sink, text);
}

static void begin_list(struct writer *w, const char *name)
{
    rtl_sink_print(w->sink, "\"%s\":[", name);
    w->any = false;
}

static void next(struct writer *w)
{
    rtl_sink_print(w->sink, w->any ? ",\n" : "\n");
    w->any = true;
}

/* GPUs are agents from 1 on: 0 is the host. */
static int64_t agent_of(int64_t gpu)
{
    return gpu >= 0 && gpu < INT64_MAX ? gpu + 1 : 0;
}

static int64_t thread_of(struct writer *w, int64_t call)
{
    if (!call)
        return 0;
    struct rtl_db_statement *get = rtl_db_prepare(w->export->db, "SELECT tid FROM rocpd_api WHERE id = ?");
    rtl_db_bind_int(get, 1, call);
    int64_t tid = rtl_db_step(get) ? rtl_db_int(get, 0) : 0;
    rtl_db_reset(get);
    return tid;
}

static void put_record(struct writer *w, int kind, int64_t operation, int64_t thread, int64_t correlation,
                       int64_t start, int64_t end)
{
    next(w);
    rtl_sink_print(w->sink,
                   "{\"kind\":%d,\"operation\":%" PRId64 ",\"thread_id\":%" PRId64
                   ",\"correlation_id\":{\"internal\":%" PRId64 ",\"external\":0},\"start_timestamp\":%" PRId64
                   ",\"end_timestamp\":%" PRId64,
                   kind, operation, thread, correlation, start, end);
}

/* --- ops --- */

static bool is_dispatch(const struct rtl_export_op *op)
{
    return op->gpu >= 0 && op->name && *op->name->raw;
}

static void put_dispatch(struct writer *w, const struct rtl_export_op *op)
{
    put_record(w, KIND_DISPATCH, 1, thread_of(w, op->call), op->call, op->start, op->end);
    rtl_sink_print(w->sink,
                   ",\"stream_id\":{\"handle\":0},\"dispatch_info\":{\"agent_id\":{\"handle\":%" PRId64
                   "},\"queue_id\":{\"handle\":%" PRId64 "},\"kernel_id\":%" PRId64 ",\"dispatch_id\":%" PRId64
                   ",\"private_segment_size\":0,\"group_segment_size\":0,\"workgroup_size\":{\"x\":%" PRIu64
                   ",\"y\":%" PRIu64 ",\"z\":%" PRIu64 "},\"grid_size\":{\"x\":%" PRIu64 ",\"y\":%" PRIu64
                   ",\"z\":%" PRIu64 "}}}",
                   agent_of(op->gpu), op->queue, op->name->id, op->id, op->workgroup[0], op->workgroup[1],
                   op->workgroup[2], op->grid[0], op->grid[1], op->grid[2]);
}

static void put_copy(struct writer *w, const struct rtl_export_op *op)
{
    int kind = COPY_KINDS - 1;
    while (kind > 0 && strcmp(copies[kind].type, op->type ? op->type->raw : "") != 0)
        kind--;
    put_record(w, KIND_COPY, kind, thread_of(w, op->call), op->call, op->start, op->end);
    rtl_sink_print(w->sink,
                   ",\"stream_id\":{\"handle\":0},\"src_agent_id\":{\"handle\":%" PRId64
                   "},\"dst_agent_id\":{\"handle\":%" PRId64 "},\"bytes\":%" PRIu64 "}",
                   copies[kind].from_host ? 0 : agent_of(op->gpu), copies[kind].to_host ? 0 : agent_of(op->gpu),
                   op->has_bytes ? op->bytes : 0);
}

static void put_ops(struct writer *w, const char *name, bool dispatches)
{
    struct rtl_export_op op;
    begin_list(w, name);
    while (rtl_export_next(w->export, &op) && !rtl_db_status(w->export->db)) {
        if (op.gpu < 0 || is_dispatch(&op) != dispatches)
            continue;
        if (dispatches)
            put_dispatch(w, &op);
        else
            put_copy(w, &op);
        rtl_progress_at(++w->export->written, 0);
    }
    rtl_sink_print(w->sink, "],\n");
}

/* --- calls and markers --- */

static int64_t operation_of(struct writer *w, int64_t name)
{
    struct rtl_identity identity = {{(uint64_t)name}};
    int64_t known = rtl_identities_find(w->calls, &identity);
    if (known >= 0)
        return known;
    if (rtl_identities_add(w->calls, &identity, w->call_count))
        return w->call_count++;
    rtl_db_fail(w->export->db, RTL_DB_FAILED, "out of memory");
    return 0;
}

static void put_calls(struct writer *w, const char *list, bool markers)
{
    begin_list(w, list);
    struct rtl_db_statement *get =
        rtl_db_has(w->export->db, "rocpd_api")
            ? rtl_db_prepare(w->export->db,
                             "SELECT a.id, a.tid, a.start, a.end, a.apiName_id, a.args_id FROM rocpd_api a"
                             " JOIN rocpd_string n ON n.id = a.apiName_id"
                             " WHERE a.end >= a.start AND (n.string = 'UserMarker') = ?1 ORDER BY a.start")
            : NULL;
    if (get)
        rtl_db_bind_int(get, 1, markers);
    while (get && rtl_db_step(get) && !rtl_sink_failed(w->sink)) {
        int64_t id = rtl_db_int(get, 0), tid = rtl_db_int(get, 1), start = rtl_db_int(get, 2), end = rtl_db_int(get, 3);
        int64_t name = rtl_db_int(get, markers ? 5 : 4);
        put_record(w, markers ? KIND_MARKER : KIND_HIP, markers ? 0 : operation_of(w, name), tid, id, start, end);
        rtl_sink_print(w->sink, "}");
    }
    if (get)
        rtl_db_reset(get);
    rtl_sink_print(w->sink, "],\n");
}

/* What markers say, by their correlation. */
static void put_messages(struct writer *w)
{
    begin_list(w, "marker_api");
    struct rtl_db_statement *get =
        rtl_db_has(w->export->db, "rocpd_api")
            ? rtl_db_prepare(w->export->db, "SELECT a.id, s.string FROM rocpd_api a"
                                            " JOIN rocpd_string n ON n.id = a.apiName_id AND n.string = 'UserMarker'"
                                            " JOIN rocpd_string s ON s.id = a.args_id WHERE a.end >= a.start"
                                            " ORDER BY a.start")
            : NULL;
    while (get && rtl_db_step(get) && !rtl_sink_failed(w->sink)) {
        next(w);
        rtl_sink_print(w->sink, "{\"key\":%" PRId64 ",\"value\":", rtl_db_int(get, 0));
        string(w, rtl_db_text(get, 1, NULL));
        rtl_sink_print(w->sink, "}");
    }
    if (get)
        rtl_db_reset(get);
    rtl_sink_print(w->sink, "]");
}

/* --- what records refer to --- */

static void put_agents(struct writer *w)
{
    begin_list(w, "agents");
    next(w);
    rtl_sink_print(w->sink, "{\"id\":{\"handle\":0},\"type\":1,\"node_id\":0,\"logical_node_id\":0,\"name\":\"host\"}");
    struct rtl_db_statement *get =
        rtl_db_prepare(w->export->db, "SELECT DISTINCT gpuId FROM rocpd_op WHERE gpuId >= 0 ORDER BY 1");
    while (rtl_db_step(get) && !rtl_sink_failed(w->sink)) {
        int64_t gpu = rtl_db_int(get, 0);
        const struct rtl_export_gpu *info = rtl_export_gpu(w->export, gpu);
        next(w);
        rtl_sink_print(w->sink,
                       "{\"id\":{\"handle\":%" PRId64 "},\"type\":2,\"node_id\":%" PRId64
                       ",\"logical_node_id\":%" PRId64 ",\"name\":",
                       agent_of(gpu), agent_of(gpu), agent_of(gpu));
        string(w, info ? info->name : "");
        rtl_sink_print(w->sink, ",\"location\":");
        string(w, info ? info->pci : "");
        rtl_sink_print(w->sink, "}");
    }
    rtl_db_reset(get);
    rtl_sink_print(w->sink, "],\n");
}

/* Every name that ops have shown; types of ops are among them, and no dispatch has their number. */
static void put_symbols(struct writer *w)
{
    struct rtl_export *e = w->export;
    begin_list(w, "kernel_symbols");
    for (size_t i = 0; i < e->name_count && !rtl_sink_failed(w->sink); i++) {
        const struct rtl_export_name *name = e->name[i];
        if (!*name->raw)
            continue;
        next(w);
        rtl_sink_print(w->sink, "{\"kernel_id\":%" PRId64 ",\"code_object_id\":0,\"kernel_name\":", name->id);
        string(w, name->raw);
        rtl_sink_print(w->sink, ",\"formatted_kernel_name\":");
        string(w, name->full);
        rtl_sink_print(w->sink, ",\"demangled_kernel_name\":");
        string(w, name->full);
        rtl_sink_print(w->sink, ",\"truncated_kernel_name\":");
        string(w, name->shown);
        rtl_sink_print(w->sink, "}");
    }
    rtl_sink_print(w->sink, "],\n");
}

static void put_operations(struct writer *w, int kind)
{
    begin_list(w, "operations");
    for (int i = 0; kind == KIND_COPY && i < COPY_KINDS; i++) {
        next(w);
        string(w, copies[i].operation);
    }
    if (kind == KIND_DISPATCH)
        rtl_sink_print(w->sink, "\"KERNEL_DISPATCH_NONE\",\"KERNEL_DISPATCH_COMPLETE\"");
    if (kind == KIND_MARKER)
        rtl_sink_print(w->sink, "\"roctxRangePushA\"");
    if (kind == KIND_HIP) {
        /* in the order in which operation_of numbered them: by their first call */
        struct rtl_db_statement *get =
            w->call_count ? rtl_db_prepare(w->export->db,
                                           "SELECT n.string FROM rocpd_api a JOIN rocpd_string n ON n.id = a.apiName_id"
                                           " WHERE a.end >= a.start AND n.string <> 'UserMarker' GROUP BY a.apiName_id"
                                           " ORDER BY min(a.start)")
                          : NULL;
        while (get && rtl_db_step(get) && !rtl_sink_failed(w->sink)) {
            next(w);
            string(w, rtl_db_text(get, 0, NULL));
        }
        if (get)
            rtl_db_reset(get);
    }
    rtl_sink_print(w->sink, "]");
}

static void put_strings(struct writer *w)
{
    static const char *const kinds[] = {
#define NAME(sym, name) name,
        KINDS(NAME)
#undef NAME
    };
    rtl_sink_print(w->sink, "\"strings\":{\"callback_records\":[],\"buffer_records\":[");
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        rtl_sink_print(w->sink, "%s{\"kind\":\"%s\",", kind ? ",\n" : "\n", kinds[kind]);
        put_operations(w, kind);
        rtl_sink_print(w->sink, "}");
    }
    rtl_sink_print(w->sink, "],\n");
    put_messages(w);
    rtl_sink_print(w->sink, "},\n");
}

void rtl_export_rocprofv3(struct rtl_export *e)
{
    struct writer w = {.export = e, .sink = e->sink, .calls = rtl_identities_new(SIZE_MAX)};
    if (!w.calls) {
        rtl_db_fail(e->db, RTL_DB_FAILED, "out of memory");
        return;
    }
    rtl_sink_print(w.sink,
                   "{\"rocprofiler-sdk-tool\":[{\"metadata\":{\"pid\":%" PRId64 ",\"init_time\":%" PRId64
                   ",\"fini_time\":%" PRId64 ",\"command\":[]},\n\"buffer_records\":{",
                   rtl_db_one(e->db, "SELECT CAST(value AS INTEGER) FROM rocpd_metadata WHERE tag = 'pid'"),
                   rtl_db_one(e->db, "SELECT min(start) FROM rocpd_op"),
                   rtl_db_one(e->db, "SELECT max(end) FROM rocpd_op"));
    put_ops(&w, "kernel_dispatch", true);
    put_ops(&w, "memory_copy", false);
    put_calls(&w, "hip_api", false);
    put_calls(&w, "marker_api", true);
    rtl_sink_print(w.sink, "\"hsa_api\":[],\"rccl_api\":[],\"memory_allocation\":[],\"scratch_memory\":[]},\n");
    put_agents(&w);
    put_symbols(&w);
    put_strings(&w);
    rtl_sink_print(w.sink, "\"callback_records\":{\"counter_collection\":[]},\"counters\":[],\"code_objects\":[],"
                           "\"host_functions\":[]}]}\n");
    rtl_identities_free(w.calls);
}
