/*
 * Writes a trace as JSON in the Trace Event Format for ui.perfetto.dev and chrome://tracing. Each GPU is a process with
 * a track per queue. Rows of rocpd_monitor are counters; API calls and markers are drawn by thread.
 *
 * The slices of a track nest or follow one another; overlapping kernels of a queue get additional tracks. Times are us
 * since the first drawn event, with ns as decimals. otherData has the time of that event and the offsets to boot time.
 */
#include "command/export.h"
#include "options/complain.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define ARROW ",\"cat\":\"submits\",\"name\":\"submits\"}"

enum {
    GPU_PID = 5000000, /* larger than any pid of Linux */
};

struct perfetto_writer {
    struct rtl_export *export;
    struct rtl_sink *sink;
    int64_t base;
    bool any;                 /* an event was written; the next needs a comma */
    struct rtl_tracks tracks; /* a track's number is its index + 1 */
};

static void begin_event(struct perfetto_writer *p, const char *phase, int64_t pid, int64_t tid)
{
    rtl_sink_print(p->sink, "%s{\"ph\":\"%s\"", p->any ? ",\n" : "", phase);
    rtl_export_int(p->sink, ",", "pid", pid);
    rtl_export_int(p->sink, ",", "tid", tid);
    p->any = true;
}

static void put_us(struct perfetto_writer *p, const char *key, const char *sign, uint64_t ns)
{
    rtl_sink_print(p->sink, ",\"%s\":%s%" PRIu64 ".%03u", key, sign, ns / 1000, (unsigned)(ns % 1000));
}

static void put_moment(struct perfetto_writer *p, int64_t at)
{
    bool before = at < p->base;
    put_us(p, "ts", before ? "-" : "", before ? rtl_span_ns(at, p->base) : rtl_span_ns(p->base, at));
}

static void put_span(struct perfetto_writer *p, int64_t start, int64_t end)
{
    put_moment(p, start);
    put_us(p, "dur", "", rtl_span_ns(start, end));
}

static void put_name(struct perfetto_writer *p, const char *name)
{
    rtl_export_string(p->sink, ",\"name\":", name);
}

static void put_metadata(struct perfetto_writer *p, const char *what, int64_t pid, int64_t tid, const char *name)
{
    begin_event(p, "M", pid, tid);
    rtl_sink_print(p->sink, ",\"name\":\"%s\",\"args\":{\"name\":", what);
    rtl_export_string(p->sink, "", name);
    rtl_sink_print(p->sink, "}}");
}

/* --- GPUs and queues --- */

static int64_t gpu_pid(int64_t gpu)
{
    return gpu >= 0 && gpu < 1000000 ? GPU_PID + gpu : GPU_PID - 1;
}

static void describe_gpu(struct perfetto_writer *p, int64_t gpu)
{
    const struct rtl_export_gpu *info = rtl_export_gpu(p->export, gpu);
    char name[220], own[32] = "";
    const char *pci = info ? info->pci : "";
    if (info && info->own >= 0) { /* use the name that its queues have for it */
        snprintf(own, sizeof own, "G%" PRId64 " ", info->own);
        pci += strncmp(pci, "0000:", 5) ? 0 : 5;
    }
    if (gpu < 0)
        snprintf(name, sizeof name, "markers");
    else if (*pci)
        snprintf(name, sizeof name, "%s%s %s", own, pci, info->name);
    else
        snprintf(name, sizeof name, "GPU %" PRId64, gpu);
    put_metadata(p, "process_name", gpu_pid(gpu), 0, name);
    begin_event(p, "M", gpu_pid(gpu), 0);
    rtl_sink_print(p->sink, ",\"name\":\"process_sort_index\",\"args\":{");
    rtl_export_int(p->sink, "", "sort_index", gpu);
    rtl_sink_print(p->sink, "}}");
}

/* Writes the process's name of the queue, and the process. */
static void name_queue(struct perfetto_writer *p, int64_t gpu, int64_t queue, const char *more, char *name, size_t size)
{
    const struct rtl_export_queue *info = rtl_export_queue(p->export, gpu, queue);
    char number[40], of[40] = "";
    snprintf(number, sizeof number, "queue %" PRId64, queue);
    if (info && info->pid >= 0)
        snprintf(of, sizeof of, " of process %" PRId64, info->pid);
    snprintf(name, size, "%s%s%s", info && *info->name ? info->name : number, more, of);
}

static void describe_track(struct perfetto_writer *p, size_t at)
{
    const struct rtl_track *t = &p->tracks.track[at];
    char name[260], full[320], overlapping[40] = "";
    name_queue(p, t->gpu, t->queue, "", name, sizeof name);
    if (t->number)
        snprintf(overlapping, sizeof overlapping, " (overlapping %u)", t->number);
    snprintf(full, sizeof full, "%s%s", name, overlapping);
    put_metadata(p, "thread_name", gpu_pid(t->gpu), (int64_t)at + 1, full);
}

static void put_op(struct perfetto_writer *p, const struct rtl_export_op *op)
{
    bool new_track, new_gpu;
    if (op->in_api) /* put_api draws it on its thread */
        return;
    size_t at = rtl_tracks_for(&p->tracks, op, &new_track, &new_gpu);
    if (at == SIZE_MAX) {
        rtl_db_no_memory(p->export->db);
        return;
    }
    if (new_gpu)
        describe_gpu(p, op->gpu);
    if (new_track)
        describe_track(p, at);
    struct rtl_track *track = &p->tracks.track[at];
    uint64_t over = track->used ? rtl_span_ns(op->start, track->end) : 0;
    int64_t start = over && over <= RTL_TRACKS_SHAKE
                        ? track->end
                        : op->start; /* shorten it, because Perfetto drops overlapping slices */
    begin_event(p, "X", gpu_pid(op->gpu), (int64_t)at + 1);
    put_span(p, start, op->end);
    bool named = op->name && *op->name->raw; /* a copy has no name but a type */
    put_name(p, named ? op->name->shown : op->type && *op->type->raw ? op->type->raw : "(unknown)");
    rtl_export_string(p->sink, ",\"cat\":", op->type ? op->type->raw : "");
    rtl_export_int(p->sink, ",\"args\":{", "op", op->id);
    if (op->has_shape)
        rtl_sink_print(p->sink,
                       ",\"grid\":\"%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\",\"workgroup\":\"%" PRIu64 ",%" PRIu64
                       ",%" PRIu64 "\"",
                       op->grid[0], op->grid[1], op->grid[2], op->workgroup[0], op->workgroup[1], op->workgroup[2]);
    if (op->has_bytes)
        rtl_export_uint(p->sink, ",", "bytes", op->bytes);
    if (named && strcmp(op->name->shown, op->name->full)) {
        rtl_export_string(p->sink, ",\"kernel\":", op->name->full);
    }
    rtl_sink_print(p->sink, "}}");
    if (op->call) { /* the head of an arrow; put_links draws its tail */
        begin_event(p, "f", gpu_pid(op->gpu), (int64_t)at + 1);
        put_moment(p, start);
        rtl_export_int(p->sink, ",\"bp\":\"e\",", "id", op->id);
        rtl_sink_print(p->sink, ARROW);
    }
    if (!track->used || op->end > track->end)
        track->end = op->end;
    track->used = true;
    rtl_progress_at(++p->export->written, 0);
}

/* --- counters and API calls --- */

/* Names the depth of a queue by the queue; other counters keep their names. */
static void put_counter_name(struct perfetto_writer *p, int64_t device, const char *text)
{
    int64_t queue;
    int length = 0;
    char name[260];
    if (sscanf(text, "queue %18" SCNd64 " depth%n", &queue, &length) == 1 && length && !text[length] &&
        rtl_export_queue(p->export, device, queue)) {
        name_queue(p, device, queue, " depth", name, sizeof name);
        text = name;
    }
    put_name(p, text);
}

static void put_counters(struct perfetto_writer *p)
{
    if (!rtl_db_has(p->export->db, "rocpd_monitor"))
        return;
    struct rtl_db_statement *get = rtl_db_prepare(
        p->export->db, "SELECT deviceType, deviceId, monitorType, start, value FROM rocpd_monitor ORDER BY id");
    while (rtl_db_step(get) && !rtl_sink_failed(p->sink)) {
        double value = rtl_db_real(get, 4);
        if (!isfinite(value)) /* JSON can't represent it */
            continue;
        bool gpu = strcmp(rtl_db_text(get, 0, NULL), "process") != 0;
        begin_event(p, "C", gpu ? gpu_pid(rtl_db_int(get, 1)) : rtl_db_int(get, 1), 0);
        put_moment(p, rtl_db_int(get, 3));
        put_counter_name(p, rtl_db_int(get, 1), rtl_db_text(get, 2, NULL));
        rtl_sink_print(p->sink, ",\"args\":{\"value\":%.15g}}", value);
    }
}

static void describe_process(struct perfetto_writer *p, int64_t pid, const char *command)
{
    char name[320];
    snprintf(name, sizeof name, "process %" PRId64 "%s%s", pid, *command ? ": " : "", command);
    put_metadata(p, "process_name", pid, 0, name);
}

/* Describes the file's processes; put_api describes others. */
static void put_processes(struct perfetto_writer *p)
{
    size_t count;
    const struct rtl_export_process *process = rtl_export_processes(p->export, &count);
    for (size_t i = 0; i < count; i++)
        describe_process(p, process[i].pid, process[i].command);
}

static void put_api(struct perfetto_writer *p)
{
    if (!rtl_db_has(p->export->db, "rocpd_api"))
        return;
    struct rtl_db_statement *get = rtl_db_prepare(
        p->export->db, "SELECT a.pid, a.tid, a.start, a.end, n.string, s.string,"
                       " ifnull(a.pid <> last.pid, 1), ifnull(a.pid <> last.pid OR a.tid <> last.tid, 1), a.id"
                       " FROM (SELECT *, lag(id) OVER (ORDER BY pid, tid, start) AS before FROM rocpd_api a"
                       "  WHERE a.end >= a.start AND NOT EXISTS (SELECT 1 FROM rocpd_string s WHERE s.id = a.args_id "
                       "AND " RTL_EXPORT_OWN_MARKER ")) a LEFT JOIN rocpd_api last ON last.id = a.before"
                       " LEFT JOIN rocpd_string n ON n.id = a.apiName_id LEFT JOIN rocpd_string s ON s.id = a.args_id"
                       " ORDER BY a.pid, a.tid, a.start, a.id");
    while (rtl_db_step(get) && !rtl_sink_failed(p->sink)) {
        int64_t pid = rtl_db_int(get, 0), tid = rtl_db_int(get, 1), start = rtl_db_int(get, 2);
        bool marker = !strcmp(rtl_db_text(get, 4, NULL), "UserMarker");
        if (rtl_db_int(get, 6) && !rtl_export_process_of(p->export, rtl_db_int(get, 8)))
            describe_process(p, pid, "");
        if (rtl_db_int(get, 7)) {
            char name[40];
            snprintf(name, sizeof name, "thread %" PRId64, tid);
            put_metadata(p, "thread_name", pid, tid, name);
        }
        begin_event(p, "X", pid, tid);
        put_span(p, start, rtl_db_int(get, 3));
        put_name(p, rtl_db_text(get, marker ? 5 : 4, NULL));
        rtl_sink_print(p->sink, ",\"cat\":\"%s\",\"args\":{\"args\":", marker ? "marker" : "api");
        rtl_export_string(p->sink, "", rtl_db_text(get, 5, NULL));
        rtl_sink_print(p->sink, "}}");
    }
}

/* Draws the tails of arrows from calls to what they submitted. */
static void put_links(struct perfetto_writer *p)
{
    if (!rtl_export_has_links(p->export))
        return;
    struct rtl_db_statement *get =
        rtl_db_prepare(p->export->db, "SELECT o.id, a.pid, a.tid, a.start FROM (" RTL_EXPORT_LINKS ") l"
                                      " JOIN rocpd_op o ON o.id = l.op JOIN rocpd_api a ON a.id = l.call"
                                      " WHERE o.start IS NOT NULL AND o.end >= o.start AND a.end >= a.start");
    while (rtl_db_step(get) && !rtl_sink_failed(p->sink)) {
        begin_event(p, "s", rtl_db_int(get, 1), rtl_db_int(get, 2));
        put_moment(p, rtl_db_int(get, 3));
        rtl_export_int(p->sink, ",", "id", rtl_db_int(get, 0));
        rtl_sink_print(p->sink, ARROW);
    }
}

/* Returns the time of the first drawn event. */
static int64_t find_base(struct rtl_export *e)
{
    static const char *const of[][2] = {
        {"rocpd_op", "SELECT min(start) FROM rocpd_op WHERE end >= start"},
        {"rocpd_monitor", "SELECT min(start) FROM rocpd_monitor"},
        {"rocpd_api", "SELECT min(a.start) FROM rocpd_api a LEFT JOIN rocpd_string s ON s.id = a.args_id"
                      " WHERE a.end >= a.start AND NOT ifnull(" RTL_EXPORT_OWN_MARKER ", 0)"}};
    int64_t base = 0;
    for (int i = 0; i < 3; i++) {
        int64_t first = rtl_db_has(e->db, of[i][0]) ? rtl_db_one(e->db, of[i][1]) : 0;
        base = first && (!base || first < base) ? first : base;
    }
    return base;
}

void rtl_export_perfetto(struct rtl_export *e)
{
    struct perfetto_writer p = {.export = e, .sink = e->sink};
    struct rtl_export_op op;
    p.base = find_base(e);
    rtl_sink_print(p.sink, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"base_ns\":\"%" PRId64 "\",\"boot\":[", p.base);
    rtl_export_boot(e, 0, 0); /* loads e->boots */
    for (size_t i = 0; i < e->boot_count; i++) {
        rtl_export_int(p.sink, i ? ",{" : "{", "process", e->boots[i].process);
        rtl_sink_print(p.sink, ",\"from_ns\":\"%" PRId64 "\",\"offset_ns\":\"%" PRId64 "\"}", e->boots[i].from,
                       e->boots[i].offset);
    }
    rtl_sink_print(p.sink, "]},\"traceEvents\":[\n");
    while (rtl_export_next(e, &op) && !rtl_db_status(e->db))
        put_op(&p, &op);
    put_processes(&p);
    put_counters(&p);
    put_api(&p);
    put_links(&p);
    rtl_sink_print(p.sink, "\n]}\n");
    rtl_tracks_free(&p.tracks);
}
