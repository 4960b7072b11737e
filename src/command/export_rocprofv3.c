/*
 * Writes a trace as rocprofv3's JSON, for tools that read it: dispatches, copies, HIP calls and markers are buffer
 * records. Records refer to kinds and operations by index in "strings", to kernels by "kernel_symbols" and to GPUs by
 * "agents". Data that a trace lacks (code objects, counters, streams) is empty or 0.
 *
 * Each process has its own entry, as if rocprofv3 had written one file each. Records without a process, such as all of
 * another tool's file, have an entry too. Numbers of GPUs, queues and calls are those of the file.
 */
#include "command/export.h"
#include "record/rocpd.h"
#include "options/complain.h"

#include <inttypes.h>
#include <string.h>

/* Kinds in the order of rocprofv3's "buffer_records", which some readers rely on. */
enum { KIND_HIP = 5, KIND_MARKER = 7, KIND_COPY = 10, KIND_DISPATCH = 11, KIND_COUNT };
static const char *const kinds[KIND_COUNT] = {
    "NONE",
    "HSA_CORE_API",
    "HSA_AMD_EXT_API",
    "HSA_IMAGE_EXT_API",
    "HSA_FINALIZE_EXT_API",
    [KIND_HIP] = "HIP_RUNTIME_API",
    "HIP_COMPILER_API",
    [KIND_MARKER] = "MARKER_CORE_API",
    "MARKER_CONTROL_API",
    "MARKER_NAME_API",
    [KIND_COPY] = "MEMORY_COPY",
    [KIND_DISPATCH] = "KERNEL_DISPATCH",
};

static const struct {
    const char *type, *operation; /* the trace's opType, rocprofv3's operation */
    bool from_host, to_host;
} copies[] = {
    {"", "MEMORY_COPY_NONE", false, false},
    {"CopyHostToHost", "MEMORY_COPY_HOST_TO_HOST", true, true},
    {"CopyHostToDevice", "MEMORY_COPY_HOST_TO_DEVICE", true, false},
    {"CopyDeviceToHost", "MEMORY_COPY_DEVICE_TO_HOST", false, true},
    {"CopyDeviceToDevice", "MEMORY_COPY_DEVICE_TO_DEVICE", false, false},
};
enum { COPY_KINDS = sizeof copies / sizeof *copies };

enum { MARK, PUSH, DISPATCH_COMPLETE = 2 }; /* operation numbers */

struct rocprofv3_writer {
    struct rtl_export *export;
    struct rtl_sink *sink;
    bool any;         /* the current list has an element */
    bool entries;     /* an entry was written */
    int64_t id;       /* of the entry's process: first id of its rows */
    uint64_t guessed; /* times before the first known boot offset */
};

static void begin_list(struct rocprofv3_writer *w, const char *name)
{
    rtl_sink_print(w->sink, "\"%s\":[", name);
    w->any = false;
}

static void begin_element(struct rocprofv3_writer *w)
{
    rtl_sink_print(w->sink, w->any ? ",\n" : "\n");
    w->any = true;
}

/* Returns the GPU's agent, from 1 on; agent 0 is the host. */
static int64_t agent_of(int64_t gpu)
{
    return gpu >= 0 && gpu < INT64_MAX ? gpu + 1 : 0;
}

/* Returns the first column of the first row; 0 = none. */
static int64_t read_one(struct rtl_db_statement *get)
{
    int64_t value = rtl_db_step(get) ? rtl_db_int(get, 0) : 0;
    rtl_db_reset(get);
    return value;
}

static int64_t thread_of(struct rocprofv3_writer *w, int64_t call)
{
    return call ? read_one(rtl_db_prepare_ints(w->export->db, "SELECT tid FROM rocpd_api WHERE id = ?", call)) : 0;
}

/* Converts a time to CLOCK_BOOTTIME, rocprofv3's clock. Times of a file without boot offsets stay unchanged. */
static int64_t boot_time(struct rocprofv3_writer *w, int64_t at)
{
    const struct rtl_export_boot *boot = at ? rtl_export_boot(w->export, w->id, at) : NULL;
    w->guessed += boot && boot->from > at;
    return boot ? rtl_export_boot_time(boot, at) : at;
}

static void put_record(struct rocprofv3_writer *w, int kind, int64_t operation, int64_t thread, int64_t correlation,
                       int64_t start, int64_t end)
{
    begin_element(w);
    rtl_sink_print(w->sink, "{\"kind\":%d,\"operation\":%" PRId64, kind, operation);
    rtl_export_int(w->sink, ",", "thread_id", thread);
    rtl_export_int(w->sink, ",\"correlation_id\":{", "internal", correlation);
    rtl_export_int(w->sink, ",\"external\":0},", "start_timestamp", boot_time(w, start));
    rtl_export_int(w->sink, ",", "end_timestamp", boot_time(w, end));
}

/* Prepare a statement for the entry's rows: ids from ?1 to ?2. */
static struct rtl_db_statement *prepare_bounded(const struct rocprofv3_writer *w, const char *sql)
{
    return rtl_db_prepare_ints(w->export->db, sql, w->export->from, w->export->to);
}

/* --- ops --- */

static bool is_dispatch(const struct rtl_export_op *op)
{
    return op->gpu >= 0 && op->name && *op->name->raw;
}

static void put_size(struct rocprofv3_writer *w, const char *before, const uint64_t size[3])
{
    rtl_export_uint(w->sink, before, "x", size[0]);
    rtl_export_uint(w->sink, ",", "y", size[1]);
    rtl_export_uint(w->sink, ",", "z", size[2]);
}

static void put_dispatch(struct rocprofv3_writer *w, const struct rtl_export_op *op)
{
    put_record(w, KIND_DISPATCH, DISPATCH_COMPLETE, thread_of(w, op->call), op->call, op->start, op->end);
    rtl_export_int(w->sink, ",\"stream_id\":{\"handle\":0},\"dispatch_info\":{\"agent_id\":{", "handle",
                   agent_of(op->gpu));
    rtl_export_int(w->sink, "},\"queue_id\":{", "handle", op->queue);
    rtl_export_int(w->sink, "},", "kernel_id", op->name->id);
    rtl_export_int(w->sink, ",", "dispatch_id", op->id);
    put_size(w, ",\"private_segment_size\":0,\"group_segment_size\":0,\"workgroup_size\":{", op->workgroup);
    put_size(w, "},\"grid_size\":{", op->grid);
    rtl_sink_print(w->sink, "}}}");
}

static void put_copy(struct rocprofv3_writer *w, const struct rtl_export_op *op)
{
    int kind = COPY_KINDS - 1;
    while (kind > 0 && strcmp(copies[kind].type, op->type ? op->type->raw : "") != 0)
        kind--;
    put_record(w, KIND_COPY, kind, thread_of(w, op->call), op->call, op->start, op->end);
    int64_t agent = agent_of(op->gpu);
    rtl_export_int(w->sink, ",\"stream_id\":{\"handle\":0},\"src_agent_id\":{", "handle",
                   copies[kind].from_host ? 0 : agent);
    rtl_export_int(w->sink, "},\"dst_agent_id\":{", "handle", copies[kind].to_host ? 0 : agent);
    rtl_export_uint(w->sink, "},", "bytes", op->has_bytes ? op->bytes : 0);
    rtl_sink_print(w->sink, "}");
}

static void put_ops(struct rocprofv3_writer *w, const char *name, bool dispatches)
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

/* The entry's rows of rocpd_api, without those that only name a process. */
#define CALLS_OF                                                                                     \
    " FROM rocpd_api a JOIN rocpd_string n ON n.id = a.apiName_id"                                   \
    " LEFT JOIN rocpd_string s ON s.id = a.args_id WHERE a.id BETWEEN ?1 AND ?2"                     \
    " AND a.end >= a.start AND (n.string = 'UserMarker') = ?3 AND NOT (n.string = 'UserMarker' AND " \
    "ifnull(" RTL_EXPORT_OWN_MARKER ", 0))"

static struct rtl_db_statement *calls_of(struct rocprofv3_writer *w, const char *sql, bool markers)
{
    struct rtl_db_statement *get = rtl_db_has(w->export->db, "rocpd_api") ? prepare_bounded(w, sql) : NULL;
    rtl_db_bind_int(get, 3, markers);
    return get;
}

static void put_calls(struct rocprofv3_writer *w, const char *list, bool markers)
{
    begin_list(w, list);
    struct rtl_db_statement *get =
        calls_of(w,
                 "SELECT a.id, a.tid, a.start, a.end, dense_rank() OVER (ORDER BY a.apiName_id) - 1" CALLS_OF
                 " ORDER BY a.start, a.id",
                 markers);
    while (rtl_db_step(get) && !rtl_sink_failed(w->sink)) {
        int64_t id = rtl_db_int(get, 0), tid = rtl_db_int(get, 1), start = rtl_db_int(get, 2), end = rtl_db_int(get, 3);
        int64_t operation = markers ? (start == end ? MARK : PUSH) : rtl_db_int(get, 4);
        put_record(w, markers ? KIND_MARKER : KIND_HIP, operation, tid, id, start, end);
        rtl_sink_print(w->sink, "}");
    }
    rtl_sink_print(w->sink, "],\n");
}

/* Writes the markers' messages by correlation id. */
static void put_messages(struct rocprofv3_writer *w)
{
    begin_list(w, "marker_api");
    struct rtl_db_statement *get = calls_of(w, "SELECT a.id, s.string" CALLS_OF " ORDER BY a.start, a.id", true);
    while (rtl_db_step(get) && !rtl_sink_failed(w->sink)) {
        begin_element(w);
        rtl_export_int(w->sink, "{", "key", rtl_db_int(get, 0));
        rtl_export_string(w->sink, ",\"value\":", rtl_db_text(get, 1, NULL));
        rtl_sink_print(w->sink, "}");
    }
    rtl_sink_print(w->sink, "]");
}

/* --- what records refer to --- */

static void put_agents(struct rocprofv3_writer *w)
{
    begin_list(w, "agents");
    begin_element(w);
    rtl_sink_print(w->sink, "{\"id\":{\"handle\":0},\"type\":1,\"node_id\":0,\"logical_node_id\":0,\"name\":\"host\"}");
    struct rtl_db_statement *get =
        prepare_bounded(w, "SELECT DISTINCT gpuId FROM rocpd_op WHERE gpuId >= 0 AND id BETWEEN ?1 AND ?2 ORDER BY 1");
    while (rtl_db_step(get) && !rtl_sink_failed(w->sink)) {
        int64_t gpu = rtl_db_int(get, 0);
        const struct rtl_export_gpu *info = rtl_export_gpu(w->export, gpu);
        begin_element(w);
        rtl_export_int(w->sink, "{\"id\":{", "handle", agent_of(gpu));
        rtl_export_int(w->sink, "},\"type\":2,", "node_id", agent_of(gpu));
        rtl_export_int(w->sink, ",", "logical_node_id", agent_of(gpu));
        rtl_export_string(w->sink, ",\"name\":", info ? info->name : "");
        rtl_export_string(w->sink, ",\"location\":", info ? info->pci : "");
        rtl_sink_print(w->sink, "}");
    }
    rtl_sink_print(w->sink, "],\n");
}

/* Writes the kernels of the entry's dispatches. */
static void put_symbols(struct rocprofv3_writer *w)
{
    begin_list(w, "kernel_symbols");
    struct rtl_db_statement *get =
        prepare_bounded(w, "SELECT DISTINCT description_id FROM rocpd_op WHERE gpuId >= 0 AND end >= start"
                           " AND id BETWEEN ?1 AND ?2 ORDER BY 1");
    while (rtl_db_step(get) && !rtl_sink_failed(w->sink)) {
        const struct rtl_export_name *name = rtl_export_name(w->export, rtl_db_int(get, 0));
        if (!name || !*name->raw)
            continue;
        begin_element(w);
        rtl_export_int(w->sink, "{", "kernel_id", name->id);
        rtl_export_string(w->sink, ",\"code_object_id\":0,\"kernel_name\":", name->raw);
        rtl_export_string(w->sink, ",\"formatted_kernel_name\":", name->full);
        rtl_export_string(w->sink, ",\"demangled_kernel_name\":", name->full);
        rtl_export_string(w->sink, ",\"truncated_kernel_name\":", name->shown);
        rtl_sink_print(w->sink, "}");
    }
    rtl_sink_print(w->sink, "],\n");
}

static void put_operations(struct rocprofv3_writer *w, int kind)
{
    begin_list(w, "operations");
    for (int i = 0; kind == KIND_COPY && i < COPY_KINDS; i++) {
        begin_element(w);
        rtl_export_string(w->sink, "", copies[i].operation);
    }
    if (kind == KIND_DISPATCH)
        rtl_sink_print(w->sink, "\"KERNEL_DISPATCH_NONE\",\"KERNEL_DISPATCH_ENQUEUE\",\"KERNEL_DISPATCH_COMPLETE\"");
    if (kind == KIND_MARKER)
        rtl_sink_print(w->sink, "\"roctxMarkA\",\"roctxRangePushA\"");
    /* in the order of dense_rank() in put_calls */
    struct rtl_db_statement *get =
        kind == KIND_HIP ? calls_of(w, "SELECT n.string" CALLS_OF " GROUP BY a.apiName_id ORDER BY a.apiName_id", false)
                         : NULL;
    while (rtl_db_step(get) && !rtl_sink_failed(w->sink)) {
        begin_element(w);
        rtl_export_string(w->sink, "", rtl_db_text(get, 0, NULL));
    }
    rtl_sink_print(w->sink, "]");
}

static void put_strings(struct rocprofv3_writer *w)
{
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

/* --- entries --- */

/* Returns a time of the entry, such as its first start; 0 = none. */
static int64_t moment(struct rocprofv3_writer *w, const char *sql)
{
    return read_one(prepare_bounded(w, sql));
}

#define EITHER(of_ops, of_calls)                                                             \
    "SELECT " of_ops " FROM rocpd_op WHERE id BETWEEN ?1 AND ?2 AND end >= start",           \
        "SELECT " of_calls " FROM rocpd_api a LEFT JOIN rocpd_string s ON s.id = a.args_id " \
        "WHERE a.id BETWEEN ?1 AND ?2 AND a.end >= a.start AND NOT ifnull(" RTL_EXPORT_OWN_MARKER ", 0)"

static int64_t moment_of_both(struct rocprofv3_writer *w, const char *ops, const char *calls, bool last)
{
    int64_t a = moment(w, ops), b = rtl_db_has(w->export->db, "rocpd_api") ? moment(w, calls) : 0;
    if (!a || !b)
        return a ? a : b;
    return (a > b) == last ? a : b;
}

static void put_entry(struct rocprofv3_writer *w, int64_t pid, const char *command)
{
    rtl_export_int(w->sink, w->entries ? ",\n{\"metadata\":{" : "{\"metadata\":{", "pid", pid);
    rtl_export_int(w->sink, ",", "init_time",
                   boot_time(w, moment_of_both(w, EITHER("min(start)", "min(a.start)"), false)));
    rtl_export_int(w->sink, ",", "fini_time", boot_time(w, moment_of_both(w, EITHER("max(end)", "max(a.end)"), true)));
    rtl_sink_print(w->sink, ",\"command\":[");
    if (*command)
        rtl_export_string(w->sink, "", command);
    rtl_sink_print(w->sink, "]},\n\"buffer_records\":{");
    w->entries = true;
    put_ops(w, "kernel_dispatch", true);
    put_ops(w, "memory_copy", false);
    put_calls(w, "hip_api", false);
    put_calls(w, "marker_api", true);
    rtl_sink_print(w->sink, "\"hsa_api\":[],\"rccl_api\":[],\"memory_allocation\":[],\"scratch_memory\":[]},\n");
    put_agents(w);
    put_symbols(w);
    put_strings(w);
    rtl_sink_print(w->sink, "\"callback_records\":{\"counter_collection\":[]},\"counters\":[],\"code_objects\":[],"
                            "\"host_functions\":[]}");
}

/* Writes an entry for ids between two processes: of other tools, or of processes beyond RTL_EXPORT_PROCESSES. */
static void put_between(struct rocprofv3_writer *w, int64_t from, int64_t to, bool needed)
{
    static const char any_op[] = "SELECT EXISTS (SELECT 1 FROM rocpd_op WHERE id BETWEEN ?1 AND ?2)";
    static const char any_call[] =
        "SELECT EXISTS (SELECT 1 FROM rocpd_api a LEFT JOIN rocpd_string s ON s.id ="
        " a.args_id WHERE a.id BETWEEN ?1 AND ?2 AND NOT ifnull(" RTL_EXPORT_OWN_MARKER ", 0))";
    struct rtl_export *e = w->export;
    e->from = from;
    e->to = to;
    w->id = -1;
    bool calls = rtl_db_has(e->db, "rocpd_api");
    if (from > to || !(needed || moment(w, any_op) || (calls && moment(w, any_call))))
        return;
    int64_t pid = calls ? moment(w, "SELECT min(pid) FROM rocpd_api WHERE id BETWEEN ?1 AND ?2") : 0;
    put_entry(w, pid ? pid : rtl_db_one(e->db, "SELECT CAST(value AS INTEGER) FROM rocpd_metadata WHERE tag = 'pid'"),
              "");
}

void rtl_export_rocprofv3(struct rtl_export *e)
{
    struct rocprofv3_writer w = {.export = e, .sink = e->sink};
    size_t count;
    const struct rtl_export_process *process = rtl_export_processes(e, &count);
    int64_t from = INT64_MIN;
    e->ops = NULL; /* prepared without bounds */
    e->bounded = true;
    rtl_sink_print(w.sink, "{\"rocprofiler-sdk-tool\":[");
    for (size_t i = 0; i < count && !rtl_db_status(e->db) && !rtl_sink_failed(w.sink); i++) {
        int64_t first = process[i].number << RTL_ROCPD_SEQUENCE_BITS;
        if (first > INT64_MIN)
            put_between(&w, from, first - 1, false);
        e->from = first;
        e->to = first + ((int64_t)1 << RTL_ROCPD_SEQUENCE_BITS) - 1;
        from = e->to < INT64_MAX ? e->to + 1 : e->to;
        w.id = first;
        put_entry(&w, process[i].pid, process[i].command);
    }
    if (!rtl_db_status(e->db))
        put_between(&w, from, INT64_MAX, !w.entries);
    rtl_sink_print(w.sink, "]}\n");
    if (w.guessed)
        rtl_complain(
            "--rocprofv3: %llu times are from before the recording and a suspend: their boot time isn't known, and "
            "is computed with the first known offset",
            (unsigned long long)w.guessed);
    e->ops = NULL;
    e->bounded = false;
}
