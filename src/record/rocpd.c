/* Writing a trace: the start of a recording, rows in bulk, the state. See rocpd.h. */
#include "record/rocpd.h"
#include "base/clock.h"
#include "record/rocpd_calls.h"
#include "record/rocpd_refs.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The INSERT of one op and that of 16, which takes half the time for each. DIMS: its column. */
enum { COLUMNS = 11, TOGETHER = 16, CELLS = TOGETHER * COLUMNS, DIMS = 8 };
#define INSERT_OPS                                                                                        \
    "INSERT OR IGNORE INTO rocpd_op(id,gpuId,queueId,sequenceId,start,end,description_id,opType_id,dims," \
    "roctxId,correlation_id"
#define ROW  "(?,?,?,?,?,?,?,?,?,?,?)"
#define ROWS ROW "," ROW "," ROW "," ROW
static const char insert_op[] = INSERT_OPS ",completionSignal) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)";
static const char insert_ops[] = INSERT_OPS ") VALUES" ROWS "," ROWS "," ROWS "," ROWS;

/* --- metadata --- */

static int64_t add_metadata(struct rtl_db *db, const char *tag, const char *value)
{
    struct rtl_db_statement *add = rtl_db_prepare(db, "INSERT INTO rocpd_metadata(tag,value) VALUES(?,?)");
    rtl_db_bind_strings(add, 1, tag, value);
    return rtl_db_run(add) ? rtl_db_last_id(db) : 0;
}

static void set_metadata(struct rtl_db *db, int64_t row, const char *value)
{
    struct rtl_db_statement *set = rtl_db_prepare_ints(db, "UPDATE rocpd_metadata SET value = ?2 WHERE id = ?1", row);
    rtl_db_bind_string(set, 2, value);
    rtl_db_run(set);
}

/* --- beginning --- */

static void find_process(struct rtl_rocpd *r, const char *title)
{
    char command[200];
    const struct rtl_snapshot *s = &r->latest;
    bool made;
    r->escape(command, sizeof command, title, strlen(title));
    r->process =
        rtl_numbers_process(r->numbers, s, r->host, r->pid, &rtl_reader_clocks(r->reader, false)->its, command, &made);
    if (!made)
        return; /* the file has an earlier recording of the process */
    /* read by other tools */
    rtl_db_run(rtl_db_prepare_ints(r->db, "INSERT INTO rocpd_metadata(tag,value) VALUES('pid',?)", r->pid));
    static const char *const modes[] = {
#define MODE(sym, num, name, text) [num] = name,
        RTL_MODES(MODE)
#undef MODE
    };
    const char *mode = s->mode < sizeof modes / sizeof *modes ? modes[s->mode] : NULL;
    mode = s->mode == RTL_MODE_CALLS ? RTL_MODE_HIP : mode;
    add_metadata(r->db, "rtl_mode", mode ? mode : "unknown");
}

/* Add a marker that spans the recording and names the process: readers treat a file without API rows as empty. */
static void add_marker(struct rtl_rocpd *r, const char *title)
{
    char safe[200], text[300];
    r->escape(safe, sizeof safe, title, strlen(title));
    snprintf(text, sizeof text, "rtl-top --trace: process %" PRId64 " %s", r->pid, safe);
    int64_t marker = rtl_rocpd_string(r->db, "UserMarker"), name = rtl_rocpd_string(r->db, text);
    struct rtl_db_statement *add =
        rtl_db_prepare_ints(r->db,
                            "INSERT INTO rocpd_api(id,pid,tid,start,end,apiName_id,args_id) VALUES((SELECT"
                            " ifnull(max(id), 0) + 1 FROM rocpd_api WHERE id < 1 << 38),?1,?1,?2,?2,?3,?4)",
                            r->pid, r->start, marker, name);
    if (rtl_db_run(add))
        r->api_row = rtl_db_last_id(r->db);
}

static void make_views(struct rtl_db *db)
{
    for (int i = 0; i < RTL_ROCPD_VIEWS; i++) {
        const struct rtl_rocpd_view *view = &rtl_rocpd_views[i];
        char drop[64];
        struct rtl_db_statement *get = rtl_db_prepare(db, "SELECT sql = ?2 FROM sqlite_master WHERE name = ?1");
        rtl_db_bind_strings(get, 1, view->name, view->sql);
        if (rtl_db_value(get))
            continue;
        snprintf(drop, sizeof drop, "DROP VIEW IF EXISTS %s", view->name);
        rtl_db_exec(db, drop);
        rtl_db_exec(db, view->sql);
    }
}

/* Latch the error again for the caller, because a failed commit has cleared it. */
static struct rtl_rocpd *fail_begin(struct rtl_rocpd *r, enum rtl_db_status status)
{
    char why[512];
    snprintf(why, sizeof why, "%s", rtl_db_why(r->db));
    if (status)
        rtl_db_fail(r->db, status, "%s", why);
    rtl_rocpd_free(r);
    return NULL;
}

struct rtl_rocpd *rtl_rocpd_begin(struct rtl_db *db, struct rtl_reader *reader, int64_t pid, const char *title,
                                  rtl_rocpd_escape *escape)
{
    char host[64] = "";
    static const char choosy[] =
        "SELECT (SELECT count(*) FROM pragma_index_list('rocpd_op') WHERE \"unique\" AND origin = 'c')"
        " + (SELECT count(*) FROM pragma_index_list('rocpd_string') WHERE \"unique\" AND origin = 'c')";
    struct rtl_rocpd *r = calloc(1, sizeof *r);
    if (!r) {
        rtl_db_no_memory(db);
        return NULL;
    }
    r->db = db;
    r->reader = reader;
    r->escape = escape;
    r->pid = pid;
    r->signals = -1;
    memset(r->single, -1, sizeof r->single);
    for (int i = 0; i < RTL_QUEUES_MAX; i++)
        r->depth[i] = -1;
    gethostname(host, sizeof host - 1);
    r->escape(r->host, sizeof r->host, host, strlen(host));
    rtl_rocpd_refresh(r);

    enum rtl_db_status status = rtl_db_need(db, &rtl_rocpd_set);
    if (status)
        return fail_begin(r, status);
    if (rtl_db_one(db, choosy) > 0) /* INSERT OR IGNORE would drop rows silently */
        rtl_db_fail(
            db, RTL_DB_SCHEMA,
            "%s has a unique index that rtl-top did not make, which keeps rows out: drop it, or choose another name",
            rtl_db_path(db));
    r->numbers = rtl_numbers_open(db);
    if (!r->numbers)
        return fail_begin(r, rtl_db_status(db));
    rtl_db_exec(db, "PRAGMA cache_size=-16384");
    rtl_db_begin(db);
    make_views(db);
    rtl_db_exec(db, "INSERT OR IGNORE INTO rocpd_string(id,string) VALUES(1,'')");
    if (!rtl_db_one(db, "SELECT count(*) FROM rocpd_metadata WHERE tag = 'schema_version'")) {
        rtl_db_run(rtl_db_prepare_ints(db, "INSERT INTO rocpd_metadata(tag,value) VALUES('schema_version',?)",
                                       RTL_ROCPD_SCHEMA));
        add_metadata(db, "clock", "CLOCK_MONOTONIC, ns");
    }
    r->type = rtl_rocpd_string(db, "KernelExecution");
    r->unknown_kernel = rtl_rocpd_string(db, "(unknown kernel)");
    find_process(r, title);
    rtl_rocpd_number_gpus(r);
    rtl_db_exec(db, "INSERT INTO rocpd_metadata(tag,value) SELECT 'recording ' || count(*),'{}' FROM rocpd_metadata"
                    " WHERE tag GLOB 'recording *'");
    r->recording_row = rtl_db_last_id(db);
    r->batch_row = add_metadata(db, "drop_batch_skip", "0"); /* RTL's tag for untimed dispatches of graphs */
    r->start = r->end = (int64_t)(r->latest.taken_mono_ns & INT64_MAX);
    add_marker(r, title);
    status = rtl_db_commit(db);
    return status ? fail_begin(r, status) : r;
}

void rtl_rocpd_free(struct rtl_rocpd *r)
{
    if (!r)
        return;
    rtl_snapshot_free(&r->latest);
    rtl_numbers_free(r->numbers);
    rtl_rocpd_calls_free(r->calls);
    free(r);
}

/* --- rows --- */

/* Insert one op. `text`: a copy, or a kernel whose shape does not fit in `dims` (rare), which is text; else NULL. */
static void add_op(struct rtl_rocpd *r, const int64_t *values, const struct rtl_event_record *text)
{
    char signal[140];
    struct rtl_db_statement *add = rtl_db_prepare(r->db, insert_op);
    rtl_db_bind_list(add, 1, values, COLUMNS);
    if (text && text->flags & RTL_EVENT_COPY)
        snprintf(signal, sizeof signal, "hwq=0x%" PRIx64 " size=%" PRIu64, values[2],
                 (uint64_t)text->grid[1] << 32 | text->grid[0]);
    else if (text)
        snprintf(signal, sizeof signal, "hwq=0x%" PRIx64 " wg=%u,%u,%u grid=%u,%u,%u", values[2], text->workgroup[0],
                 text->workgroup[1], text->workgroup[2], text->grid[0], text->grid[1], text->grid[2]);
    if (text)
        rtl_db_bind_null(add, DIMS + 1);
    rtl_db_bind_string(add, COLUMNS + 1, text ? signal : NULL);
    rtl_db_run(add);
}

/* Link the ops to their calls, after the ops were inserted. */
static void link_rows(struct rtl_rocpd *r, const struct rtl_linked_event *events, uint32_t count)
{
    for (uint32_t i = 0; r->calls && i < count && !rtl_db_status(r->db); i++) {
        const struct rtl_linked_event *e = &events[i];
        int64_t sequence = (int64_t)(e->record.sequence & ((1ull << RTL_ROCPD_SEQUENCE_BITS) - 1));
        rtl_rocpd_calls_op(r->calls, r->process << RTL_ROCPD_SEQUENCE_BITS | sequence,
                           e->record.flags & RTL_EVENT_COPY ? RTL_ROCPD_EMPTY : rtl_rocpd_kernel(r, e->record.kernel),
                           e);
    }
}

static void add_rows(struct rtl_rocpd *r, const struct rtl_linked_event *events, uint32_t count)
{
    int64_t values[CELLS] = {0}, bound[CELLS] = {0};
    struct rtl_db_statement *add = rtl_db_bind_list(rtl_db_prepare(r->db, insert_ops), 1, bound, CELLS);
    uint32_t packed = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct rtl_event_record *e = &events[i].record;
        int64_t *v = &values[packed * COLUMNS];
        int64_t start = rtl_rocpd_bounded(e->start_ns), end = start + rtl_rocpd_bounded(e->duration_ns);
        bool copy = e->flags & RTL_EVENT_COPY, first = !r->written++;
        r->copies += copy;
        const struct rtl_rocpd_gpu *gpu = rtl_rocpd_gpu(r, rtl_rocpd_agent(e));
        uint64_t unknown = r->unknown;
        v[1] = gpu->id;
        v[2] = copy ? rtl_rocpd_single_queue(r, rtl_rocpd_agent(e), RTL_QUEUE_KIND_COPIES) : rtl_rocpd_queue(r, e);
        v[3] = (int64_t)(e->sequence & ((1ull << RTL_ROCPD_SEQUENCE_BITS) - 1));
        v[0] = r->process << RTL_ROCPD_SEQUENCE_BITS | v[3];
        v[4] = start;
        v[5] = end;
        v[6] = copy ? RTL_ROCPD_EMPTY : rtl_rocpd_kernel(r, e->kernel);
        v[7] = copy ? rtl_rocpd_copy_type(r, e->kernel) : r->type;
        v[9] = v[10] = 0;
        if (r->calls) {
            struct rtl_rocpd_link link = rtl_rocpd_calls_link(r->calls, &events[i]);
            v[9] = link.range;
            v[10] = link.call;
        }
        r->unknown = unknown + (r->unknown > unknown || !gpu->described);
        if (first || start < r->start)
            r->start = start;
        if (first || end > r->end)
            r->end = end;
        if (!copy && rtl_rocpd_pack(e->grid, e->workgroup, &v[DIMS]))
            packed++;
        else
            add_op(r, v, e);
        if (packed == TOGETHER) {
            for (int at = 0; at < CELLS; at++) /* most numbers are those of earlier rows */
                if (values[at] != bound[at])
                    rtl_db_bind_int(add, at + 1, bound[at] = values[at]);
            rtl_db_run(add);
            packed = 0;
        }
    }
    for (uint32_t i = 0; i < packed; i++)
        add_op(r, &values[i * COLUMNS], NULL);
    link_rows(r, events, count);
}

static void add_samples(struct rtl_rocpd *r)
{
    for (uint32_t i = 0; i < r->sample_count; i++) {
        const struct rtl_rocpd_sample *l = &r->samples[i];
        rtl_db_run(rtl_db_prepare_ints(
            r->db,
            "INSERT INTO rocpd_monitor(deviceType,deviceId,monitorType,start,end,value) VALUES(iif(?5 < 0,"
            "'process','gpu'),?1,iif(?5 < 0,'signals in use','queue ' || ?5 || ' depth'),?2,?3,?4)",
            l->device, l->start, l->end, l->value, l->queue));
    }
    r->sample_count = 0;
}

/* --- boot time --- */

void rtl_rocpd_note_clocks(struct rtl_rocpd *r, int64_t mono_ns, int64_t real_ns, int64_t boot_offset_ns)
{
    enum { SLACK_NS = 1000000 }; /* time that may pass between two clock readings */
    if ((r->clocks_seen && boot_offset_ns == r->boot_offset) || r->boot_count == sizeof r->boots / sizeof *r->boots)
        return; /* a full buffer is emptied by the next write; the clocks are read again then */
    /* real time shows whether the host was suspended since the process began; setting the clock looks the same */
    int64_t then = rtl_rocpd_bounded(r->latest.start_real_ns) - rtl_rocpd_bounded(r->latest.start_mono_ns);
    bool slept = boot_offset_ns && llabs(real_ns - mono_ns - then) > SLACK_NS;
    int64_t *boot = r->boots[r->boot_count++];
    boot[0] = r->clocks_seen || slept ? mono_ns : 0;
    boot[1] = r->boot_offset = boot_offset_ns;
    r->clocks_seen = true;
}

void rtl_rocpd_read_clocks(struct rtl_rocpd *r)
{
    const struct rtl_clock_offsets *own = &rtl_reader_clocks(r->reader, false)->own;
    int64_t boot_offset = rtl_boot_offset(own, r->boot_offset);
    rtl_rocpd_note_clocks(r, (int64_t)rtl_mono_ns() - own->mono_ns, (int64_t)rtl_real_ns(), boot_offset);
}

static void write_state(struct rtl_rocpd *r, const struct rtl_rocpd_state *state)
{
    char json[900], calls[240] = "", number[32];
    const struct rtl_events *e = &state->events;
    if (r->calls) {
        struct rtl_rocpd_calls_sums s = rtl_rocpd_calls_sums(r->calls);
        snprintf(calls, sizeof calls,
                 ",\"calls\":%" PRIu64 ",\"markers\":%" PRIu64 ",\"calls_lost\":%" PRIu64 ",\"linked\":%" PRIu64
                 ",\"waiting\":%" PRIu64,
                 s.calls, s.markers, s.lost, s.linked, s.waiting);
    }
    snprintf(json, sizeof json,
             "{\"process\":%" PRId64 ",\"rows\":%" PRIu64 ",\"copies\":%" PRIu64 ",\"lost\":%" PRIu64
             ",\"before\":%" PRIu64 ",\"left_out\":%" PRIu64 ",\"unknown\":%" PRIu64 ",\"untimed\":%" PRIu64
             "%s,\"start_ns\":%" PRId64 ",\"end_ns\":%" PRId64 ",\"end\":\"%s\"}",
             r->process, r->written, r->copies, e->lost, e->first, state->left_out, r->unknown, r->untimed, calls,
             r->start, r->end, state->end ? state->end : "none: it was cut off");
    set_metadata(r->db, r->recording_row, json);
    snprintf(number, sizeof number, "%" PRIu64, r->batch);
    set_metadata(r->db, r->batch_row, number);
    rtl_db_run(rtl_db_prepare_ints(r->db, "UPDATE rocpd_api SET start = ?2, end = ?3 WHERE id = ?1", r->api_row,
                                   r->start, r->end));
    for (uint32_t i = 0; i < r->boot_count; i++)
        rtl_db_run(rtl_db_prepare_ints(r->db,
                                       "INSERT INTO rocpd_metadata(tag,value) VALUES('boot ' || ?1 || ' ' || ?2, ?3)",
                                       r->process, r->boots[i][0], r->boots[i][1]));
    r->boot_count = 0;
}

enum rtl_db_status rtl_rocpd_write_linked(struct rtl_rocpd *r, const struct rtl_linked_event *events, uint32_t count,
                                          struct rtl_rocpd_state *state, const _Atomic bool *leave)
{
    uint32_t done = 0;
    r->fresh = false;
    rtl_db_begin(r->db);
    rtl_numbers_begin(r->numbers);
    if (r->calls)
        rtl_rocpd_calls_write(r->calls);
    for (uint32_t n; done < count && !rtl_db_status(r->db) && !(leave && atomic_load(leave)); done += n) {
        n = count - done < RTL_ROCPD_ROWS ? count - done : RTL_ROCPD_ROWS;
        add_rows(r, events + done, n);
    }
    state->left_out += count - done;
    if (r->calls && state->end)
        rtl_rocpd_calls_end(r->calls);
    add_samples(r);
    write_state(r, state);
    enum rtl_db_status status = rtl_db_commit(r->db);
    if (!status) {
        state->rows = r->written;
        state->copies = r->copies;
        state->unknown = r->unknown;
        if (r->calls)
            state->calls = rtl_rocpd_calls_sums(r->calls);
    }
    return status;
}

bool rtl_rocpd_follow_calls(struct rtl_rocpd *r, int api)
{
    r->calls = rtl_rocpd_calls_begin(r->db, api, r->process << RTL_ROCPD_SEQUENCE_BITS, r->pid,
                                     rtl_reader_clocks(r->reader, false)->ahead_ns, r->escape);
    return r->calls != NULL;
}

bool rtl_rocpd_read_calls(struct rtl_rocpd *r)
{
    return !r->calls || rtl_rocpd_calls_read(r->calls);
}

uint64_t rtl_rocpd_steps(const struct rtl_rocpd *r)
{
    return rtl_numbers_steps(r->numbers);
}

/* --- monitors --- */

/* Add a row for the previous value, which holds from the previous sample until now; -1 = no previous value. */
static void add_sample(struct rtl_rocpd *r, int64_t device, int64_t queue, int64_t was, int64_t now)
{
    if (was >= 0 && r->sample_count < RTL_ROCPD_SAMPLES)
        r->samples[r->sample_count++] =
            (struct rtl_rocpd_sample){.device = device, .start = r->sampled, .end = now, .value = was, .queue = queue};
}

void rtl_rocpd_sample_depths(struct rtl_rocpd *r)
{
    r->fresh = false;
    rtl_rocpd_refresh(r);
    const struct rtl_snapshot *s = &r->latest;
    int64_t now = rtl_rocpd_bounded(s->taken_mono_ns);
    r->untimed = s->untimed_total;
    r->batch = s->untimed[RTL_UNTIMED_BATCH];
    add_sample(r, r->pid, -1, r->signals, now);
    r->signals = rtl_rocpd_bounded(s->signals_in_use);
    for (uint32_t i = 0; i < s->queue_count; i++) {
        const struct rtl_queue_snapshot *q = &s->queues[i];
        const struct rtl_rocpd_queue *known = &r->queue[q->slot % RTL_QUEUES_MAX];
        int64_t *depth = &r->depth[q->slot % RTL_QUEUES_MAX];
        if (known->known && known->generation == q->generation && known->agent == q->agent && q->agent < RTL_AGENTS_MAX)
            add_sample(r, r->gpu[known->agent].id, known->id, *depth, now);
        *depth = rtl_rocpd_bounded(q->depth);
    }
    r->sampled = now;
}
