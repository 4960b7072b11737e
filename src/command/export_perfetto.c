/*
 * A trace as JSON in the Trace Event Format, which ui.perfetto.dev and chrome://tracing open: a process for each GPU,
 * in it a track for each queue, counters for what rocpd_monitor holds, and the API calls and markers by thread.
 *
 * A track shows slices that nest or follow one another; kernels of a queue that overlap get further tracks. Times are
 * in us since the first op, with the ns behind the point; where the file's clock began is in otherData.
 */
#include "command/export.h"
#include "text/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    GPU_PID = 5000000, /* beyond the pids of Linux */
    RECORDING_TID = 6000000,
    LANES_MAX = 64,  /* of a queue; what overlaps more is drawn over the last */
    SHAKE_NS = 1000, /* two kernels in a row may overlap by that much: host times are made of a line through clocks */
};

struct lane {
    int64_t gpu, queue, number;
    int64_t end; /* of the last slice */
};

struct perfetto {
    struct rtl_export *export;
    struct rtl_sink *sink;
    int64_t base;
    bool any;          /* an event was written: the next needs a comma */
    struct lane *lane; /* its index is the track's number */
    size_t lanes, lanes_room;
};

/* Text in a JSON string; bytes that are no UTF-8 or control characters come as \u escapes of safe text. */
static void string(struct rtl_sink *sink, const char *text)
{
    char out[1024];
    size_t n = 0;
    out[n++] = '"';
    for (const char *c = text; *c;) {
        uint32_t code;
        size_t length = (unsigned char)*c < 0x80 ? 1 : rtl_utf8_decode(c, strlen(c) < 4 ? strlen(c) : 4, &code);
        if (n + 16 > sizeof out) {
            rtl_sink_write(sink, out, n);
            n = 0;
        }
        if (!length || (unsigned char)*c < 0x20 || *c == 0x7f) {
            n += (size_t)snprintf(out + n, 8, "\\u%04x", length ? (unsigned char)*c : 0xfffd);
            length = 1;
        } else {
            if (*c == '"' || *c == '\\')
                out[n++] = '\\';
            memcpy(out + n, c, length);
            n += length;
        }
        c += length;
    }
    out[n++] = '"';
    rtl_sink_write(sink, out, n);
}

static void begin_event(struct perfetto *p, const char *phase, int64_t pid, int64_t tid)
{
    rtl_sink_print(p->sink, "%s{\"ph\":\"%s\",\"pid\":%" PRId64 ",\"tid\":%" PRId64, p->any ? ",\n" : "", phase, pid,
                   tid);
    p->any = true;
}

static void put_time(struct perfetto *p, const char *key, int64_t ns)
{
    rtl_sink_print(p->sink, ",\"%s\":%s%" PRIu64 ".%03u", key, ns < 0 ? "-" : "", (uint64_t)(ns < 0 ? -ns : ns) / 1000,
                   (unsigned)((ns < 0 ? -ns : ns) % 1000));
}

static void put_name(struct perfetto *p, const char *name)
{
    rtl_sink_print(p->sink, ",\"name\":");
    string(p->sink, name);
}

static void describe(struct perfetto *p, const char *what, int64_t pid, int64_t tid, const char *name)
{
    begin_event(p, "M", pid, tid);
    rtl_sink_print(p->sink, ",\"name\":\"%s\",\"args\":{\"name\":", what);
    string(p->sink, name);
    rtl_sink_print(p->sink, "}}");
}

/* --- GPUs and queues --- */

static int64_t gpu_pid(int64_t gpu)
{
    return gpu >= 0 && gpu < 1000000 ? GPU_PID + gpu : GPU_PID - 1;
}

static void describe_gpu(struct perfetto *p, int64_t gpu)
{
    const struct rtl_export_gpu *facts = rtl_export_gpu(p->export, gpu);
    char name[220], own[32] = "";
    if (facts && facts->own >= 0)
        snprintf(own, sizeof own, "G%" PRId64 " ", facts->own);
    if (gpu < 0)
        snprintf(name, sizeof name, "markers");
    else if (facts && *facts->pci)
        snprintf(name, sizeof name, "%s%s %s", own, facts->pci, facts->name);
    else
        snprintf(name, sizeof name, "GPU %" PRId64, gpu);
    describe(p, "process_name", gpu_pid(gpu), 0, name);
    begin_event(p, "M", gpu_pid(gpu), 0);
    rtl_sink_print(p->sink, ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%" PRId64 "}}", gpu);
}

/* As its process calls it, and whose it is. */
static void name_queue(struct perfetto *p, int64_t gpu, int64_t queue, const char *more, char *name, size_t size)
{
    const struct rtl_export_queue *facts = rtl_export_queue(p->export, gpu, queue);
    char number[40], of[40] = "";
    snprintf(number, sizeof number, "queue %" PRId64, queue);
    if (facts && facts->pid >= 0)
        snprintf(of, sizeof of, " of process %" PRId64, facts->pid);
    snprintf(name, size, "%s%s%s", facts && *facts->name ? facts->name : number, more, of);
}

static void describe_lane(struct perfetto *p, size_t track)
{
    const struct lane *l = &p->lane[track];
    char name[260], full[320], overlapping[40] = "";
    name_queue(p, l->gpu, l->queue, "", name, sizeof name);
    if (l->number)
        snprintf(overlapping, sizeof overlapping, " (overlapping %" PRId64 ")", l->number);
    snprintf(full, sizeof full, "%s%s", name, overlapping);
    describe(p, "thread_name", gpu_pid(l->gpu), (int64_t)track + 1, full);
}

/* --- tracks --- */

/* The first track of the queue that is free at that time. SIZE_MAX without memory. */
static size_t track_for(struct perfetto *p, const struct rtl_export_op *op)
{
    int64_t number = 0;
    size_t last = SIZE_MAX;
    bool new_gpu = true;
    for (size_t i = 0; i < p->lanes; i++) {
        struct lane *l = &p->lane[i];
        new_gpu = new_gpu && l->gpu != op->gpu;
        if (l->gpu != op->gpu || l->queue != op->queue)
            continue;
        int64_t over = l->end - op->start;
        if (over <= 0 || (over <= SHAKE_NS && over < op->end - op->start))
            return i;
        number++;
        last = i;
    }
    if (number >= LANES_MAX)
        return last;
    if (p->lanes == p->lanes_room) {
        size_t room = p->lanes_room ? 2 * p->lanes_room : 64;
        struct lane *more = realloc(p->lane, room * sizeof *more);
        if (!more)
            return SIZE_MAX;
        p->lane = more;
        p->lanes_room = room;
    }
    p->lane[p->lanes] = (struct lane){.gpu = op->gpu, .queue = op->queue, .number = number, .end = INT64_MIN};
    if (new_gpu)
        describe_gpu(p, op->gpu);
    describe_lane(p, p->lanes);
    return p->lanes++;
}

static void put_op(struct perfetto *p, const struct rtl_export_op *op)
{
    size_t track = track_for(p, op);
    if (track == SIZE_MAX) {
        rtl_db_fail(p->export->db, RTL_DB_FAILED, "out of memory");
        return;
    }
    struct lane *lane = &p->lane[track];
    int64_t over = lane->end > op->start ? lane->end - op->start : 0;
    int64_t start =
        over && over <= SHAKE_NS ? lane->end : op->start; /* drawn that much shorter, or it would be dropped */
    begin_event(p, "X", gpu_pid(op->gpu), (int64_t)track + 1);
    put_time(p, "ts", start - p->base);
    put_time(p, "dur", op->end > start ? op->end - start : 0);
    bool named = op->name && *op->name->raw; /* copies aren't: their type says what they are */
    put_name(p, named ? op->name->shown : op->type && *op->type->raw ? op->type->raw : "(unknown)");
    rtl_sink_print(p->sink, ",\"cat\":");
    string(p->sink, op->type ? op->type->raw : "");
    rtl_sink_print(p->sink, ",\"args\":{\"op\":%" PRId64, op->id);
    if (op->has_shape)
        rtl_sink_print(p->sink, ",\"grid\":\"%lu,%lu,%lu\",\"workgroup\":\"%lu,%lu,%lu\"", op->grid[0], op->grid[1],
                       op->grid[2], op->workgroup[0], op->workgroup[1], op->workgroup[2]);
    if (op->has_bytes)
        rtl_sink_print(p->sink, ",\"bytes\":%" PRIu64, op->bytes);
    if (named && strcmp(op->name->shown, op->name->full)) {
        rtl_sink_print(p->sink, ",\"kernel\":");
        string(p->sink, op->name->full);
    }
    rtl_sink_print(p->sink, "}}");
    if (op->end > lane->end)
        lane->end = op->end;
    p->export->written++;
}

/* --- counters and API calls --- */

/* The depth of a queue goes by the queue's name; the rest is called what the file says. */
static void put_counter_name(struct perfetto *p, int64_t device, const char *text)
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

static void put_counters(struct perfetto *p)
{
    if (!rtl_db_has(p->export->db, "rocpd_monitor"))
        return;
    struct rtl_db_statement *get = rtl_db_prepare(
        p->export->db, "SELECT deviceType, deviceId, monitorType, start, value FROM rocpd_monitor ORDER BY id");
    while (rtl_db_step(get) && !rtl_sink_failed(p->sink)) {
        bool gpu = strcmp(rtl_db_text(get, 0, NULL), "process") != 0;
        begin_event(p, "C", gpu ? gpu_pid(rtl_db_int(get, 1)) : rtl_db_int(get, 1), 0);
        put_time(p, "ts", rtl_db_int(get, 3) - p->base);
        put_counter_name(p, rtl_db_int(get, 1), rtl_db_text(get, 2, NULL));
        rtl_sink_print(p->sink, ",\"args\":{\"value\":%.15g}}", rtl_db_real(get, 4));
    }
}

static void put_api(struct perfetto *p)
{
    if (!rtl_db_has(p->export->db, "rocpd_api"))
        return;
    struct rtl_db_statement *get = rtl_db_prepare(
        p->export->db, "SELECT a.pid, a.tid, a.start, a.end, n.string, s.string, ifnull(a.pid <> last.pid, 1)"
                       " FROM (SELECT *, lag(id) OVER (ORDER BY pid, tid, start) AS before FROM rocpd_api) a"
                       " LEFT JOIN rocpd_api last ON last.id = a.before"
                       " LEFT JOIN rocpd_string n ON n.id = a.apiName_id LEFT JOIN rocpd_string s ON s.id = a.args_id"
                       " WHERE a.end >= a.start ORDER BY a.pid, a.tid, a.start");
    int64_t recordings = 0;
    while (rtl_db_step(get) && !rtl_sink_failed(p->sink)) {
        int64_t pid = rtl_db_int(get, 0), tid = rtl_db_int(get, 1), start = rtl_db_int(get, 2);
        bool marker = !strcmp(rtl_db_text(get, 4, NULL), "UserMarker");
        /* recordings of one process may overlap without nesting: each has a track of its own */
        if (marker && !strncmp(rtl_db_text(get, 5, NULL), "rtl-top --trace: ", 17))
            tid = RECORDING_TID + ++recordings;
        if (rtl_db_int(get, 6)) {
            char name[60];
            snprintf(name, sizeof name, "process %" PRId64, pid);
            describe(p, "process_name", pid, 0, name);
        }
        begin_event(p, "X", pid, tid);
        put_time(p, "ts", start - p->base);
        put_time(p, "dur", rtl_db_int(get, 3) - start);
        put_name(p, rtl_db_text(get, marker ? 5 : 4, NULL));
        rtl_sink_print(p->sink, ",\"cat\":\"%s\",\"args\":{\"args\":", marker ? "marker" : "api");
        string(p->sink, rtl_db_text(get, 5, NULL));
        rtl_sink_print(p->sink, "}}");
    }
}

void rtl_export_perfetto(struct rtl_export *e)
{
    struct perfetto p = {.export = e, .sink = e->sink};
    struct rtl_export_op op;
    p.base = rtl_db_one(e->db, "SELECT min(start) FROM rocpd_op");
    rtl_sink_print(
        p.sink, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"base_ns\":\"%" PRId64 "\"},\"traceEvents\":[\n", p.base);
    while (rtl_export_next(e, &op) && !rtl_db_status(e->db))
        put_op(&p, &op);
    put_counters(&p);
    put_api(&p);
    rtl_sink_print(p.sink, "\n]}\n");
    free(p.lane);
}
