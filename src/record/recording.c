/* Frames into a file: what changed since the frame before. See recording.h; the tables are in schema.h. */
/* clang-format off */
#include "record/recording.h"
#include "record/buckets.h"
#include "record/process_info.h"
#include "record/recorded_probe.h"
#include "record/recording_calls.h"
#include "stats/quantile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Kernels whose names are in the recording: they are written once. */
struct named {
    uint8_t kernel[RTL_KERNELS_MAX / 8];
};

struct rtl_recording {
    struct rtl_db *db;
    char *kind, *title, *recorder;
    struct rtl_recording_info info;
    struct rtl_proc_member_info process;
    int64_t id; /* of its row; 0 = not yet written */
    uint64_t sequence, frames, failed;
    struct rtl_snapshot last; /* the last frame written */
    bool has_last;
    struct named named;
    struct rtl_call_numbers calls;
    struct rtl_probe_writer probe;
    bool no_probes;     /* somebody else's table of that name can't be written: frames go on without */
    char left_out[400]; /* what it was, until it was asked for */
    struct rtl_histogram_delta delta; /* of the histogram that is being written */
};

enum rtl_db_status rtl_recording_open(const char *path, bool force, unsigned busy_ms,
                                      const struct rtl_recording_info *info, struct rtl_recording **out, char *why,
                                      size_t why_bytes)
{
    struct rtl_db *db;
    *out = NULL;
    enum rtl_db_status status = rtl_db_open(
        path, &(struct rtl_db_options){.write = true, .force = force, .busy_ms = busy_ms}, &db, why, why_bytes);
    if (status)
        return status;
    status = rtl_db_need(db, &rtl_series_set);
    if (!status)
        status = rtl_db_need(db, &rtl_copies_set);
    if (!status)
        status = rtl_db_need(db, &rtl_queue_paths_set);
    if (!status)
        status = rtl_db_need(db, &rtl_process_info_set);
    if (status) {
        snprintf(why, why_bytes, "%s", rtl_db_why(db));
        rtl_db_close(db);
        return status;
    }
    struct rtl_recording *r = calloc(1, sizeof *r);
    if (r) {
        r->db = db;
        r->info = *info;
        r->info.kind = r->kind = strdup(info->kind);
        r->info.title = r->title = strdup(info->title);
        r->info.recorder = r->recorder = strdup(info->recorder);
    }
    if (!r || !r->kind || !r->title || !r->recorder) {
        snprintf(why, why_bytes, "out of memory");
        if (!r)
            rtl_db_close(db);
        rtl_recording_close(r);
        return RTL_DB_FAILED;
    }
    if (info->process)
        r->process = *info->process;
    else
        rtl_process_info_read(info->pid, &r->process);
    *out = r;
    return RTL_DB_OK;
}

void rtl_recording_close(struct rtl_recording *r)
{
    if (!r)
        return;
    rtl_db_close(r->db);
    if (r->has_last)
        rtl_snapshot_free(&r->last);
    rtl_call_numbers_free(&r->calls);
    rtl_probe_writer_free(&r->probe);
    free(r->delta.buckets.bytes);
    free(r->delta.coarse.bytes);
    free(r->kind);
    free(r->title);
    free(r->recorder);
    free(r);
}

static void bind_string(struct rtl_db_statement *st, int at, const char *text)
{
    rtl_db_bind_text(st, at, text, strlen(text));
}

/* The recording's row. SQLite chooses its id within the transaction, so that no other recorder gets the same. */
static void write_recording(struct rtl_recording *r, const struct rtl_snapshot *s, uint64_t real_ns)
{
    struct rtl_db_statement *st = rtl_db_prepare(
        r->db, "INSERT INTO rtl_recording(kind, time_ns, recorder, recorder_pid, host, user, pid, title, command, comm, "
               "runtime, library, interval_ns" RTL_FIELD_NAMES(RECORDING) ") VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?"
               RTL_FIELD_MARKS(RECORDING) ")");
    bind_string(st, 1, r->info.kind);
    rtl_db_bind_int(st, 2, (int64_t)real_ns);
    bind_string(st, 3, r->info.recorder);
    rtl_db_bind_int(st, 4, getpid());
    bind_string(st, 5, r->process.host);
    bind_string(st, 6, r->process.user);
    rtl_db_bind_int(st, 7, r->info.pid);
    bind_string(st, 8, r->info.title);
    bind_string(st, 9, r->process.command);
    bind_string(st, 10, s->comm);
    bind_string(st, 11, r->process.runtime);
    bind_string(st, 12, s->library_version);
    rtl_db_bind_int(st, 13, (int64_t)r->info.interval_ns);
    rtl_fields_bind(st, 14, rtl_recording_fields, RTL_RECORDING_FIELD_COUNT, NULL, s);
    if (!rtl_db_run(st))
        return;
    r->id = rtl_db_last_id(r->db);
    st = rtl_db_prepare(r->db, "INSERT INTO rtl_process(recording, rank, label, container) VALUES(?, ?, ?, ?)");
    rtl_db_bind_int(st, 1, r->id);
    if (r->info.rank < 0)
        rtl_db_bind_null(st, 2);
    else
        rtl_db_bind_int(st, 2, r->info.rank);
    bind_string(st, 3, r->info.label);
    bind_string(st, 4, r->info.container);
    rtl_db_run(st);
}

static int64_t write_frame(struct rtl_recording *r, const struct rtl_snapshot *s, uint64_t real_ns, bool exited)
{
    struct rtl_db_statement *st = rtl_db_prepare(
        r->db, "INSERT INTO rtl_frame(recording, sequence, time_ns, exited" RTL_FIELD_NAMES(FRAME) ") VALUES(?, ?, ?, ?"
               RTL_FIELD_MARKS(FRAME) ")");
    rtl_db_bind_int(st, 1, r->id);
    rtl_db_bind_int(st, 2, (int64_t)r->sequence);
    rtl_db_bind_int(st, 3, (int64_t)real_ns);
    rtl_db_bind_int(st, 4, exited);
    rtl_fields_bind(st, 5, rtl_frame_fields, RTL_FRAME_FIELD_COUNT, NULL, s);
    return rtl_db_run(st) ? rtl_db_last_id(r->db) : 0;
}

/* Fields, quantiles and buckets of what a histogram grew by, from parameter `at` on; returns the next one. */
static int bind_histogram(struct rtl_recording *r, struct rtl_db_statement *st, int at,
                          const struct rtl_histogram_copy *before, const struct rtl_histogram_copy *now)
{
    const struct rtl_histogram_delta *g = &r->delta;
    if (!rtl_histogram_delta_make(&r->delta, before, now))
        rtl_db_fail(r->db, RTL_DB_FAILED, "out of memory");
    at = rtl_fields_bind(st, at, rtl_histogram_fields, RTL_HISTOGRAM_FIELD_COUNT, before, now);
    for (int i = 0; i < RTL_RECORDED_QUANTILES; i++, at++)
        if (g->any)
            rtl_db_bind_int(st, at, (int64_t)g->quantile[i]);
        else
            rtl_db_bind_null(st, at);
    const struct rtl_text_buffer *texts[] = {&g->buckets, &g->coarse};
    for (int i = 0; i < 2; i++, at++)
        if (texts[i]->used)
            rtl_db_bind_text(st, at, texts[i]->bytes, texts[i]->used);
        else
            rtl_db_bind_null(st, at);
    return at;
}

static bool histogram_differs(const struct rtl_histogram_copy *a, const struct rtl_histogram_copy *b)
{
    return rtl_fields_differ(rtl_histogram_fields, RTL_HISTOGRAM_FIELD_COUNT, a, b);
}

static void write_name(struct rtl_recording *r, const struct rtl_kernel_snapshot *k, const struct rtl_recorded_names *names)
{
    if (k->id < RTL_KERNELS_MAX && r->named.kernel[k->id / 8] >> k->id % 8 & 1)
        return;
    struct rtl_db_statement *st = rtl_db_prepare(
        r->db, "INSERT OR IGNORE INTO rtl_kernel(recording, kernel, name, full_name, short_name, first) "
               "VALUES(?, ?, ?, ?, ?, ?)");
    rtl_db_bind_int(st, 1, r->id);
    rtl_db_bind_int(st, 2, k->id);
    /* a segment of an earlier library may have a longer one */
    rtl_db_bind_text(st, 3, k->name, k->name_length < RTL_NAME_MAX ? k->name_length : RTL_NAME_MAX);
    bind_string(st, 4, names->full);
    bind_string(st, 5, names->short_name);
    rtl_db_bind_int(st, 6, (int64_t)r->sequence);
    rtl_db_run(st);
    if (k->id < RTL_KERNELS_MAX)
        r->named.kernel[k->id / 8] |= (uint8_t)(1 << k->id % 8);
}

static void write_kernels(struct rtl_recording *r, int64_t frame, const struct rtl_snapshot *s)
{
    struct rtl_db_statement *sample = rtl_db_prepare(
        r->db, "INSERT INTO rtl_kernel_sample(frame, kernel" RTL_FIELD_NAMES(KERNEL) RTL_FIELD_NAMES(HISTOGRAM)
               RTL_QUANTILE_COLUMNS ", buckets, coarse" RTL_FIELD_NAMES(LAUNCH) ") VALUES(?, ?" RTL_FIELD_MARKS(KERNEL)
               RTL_FIELD_MARKS(HISTOGRAM) ", ?, ?, ?, ?, ?, ?" RTL_FIELD_MARKS(LAUNCH) ")");
    uint32_t at = 0, old = r->has_last ? r->last.kernel_count : 0;
    for (uint32_t i = 0; i < s->kernel_count && !rtl_db_status(r->db); i++) {
        const struct rtl_kernel_snapshot *k = &s->kernels[i], *was = NULL;
        while (at < old && r->last.kernels[at].id < k->id)
            at++;
        if (at < old && r->last.kernels[at].id == k->id)
            was = &r->last.kernels[at];
        struct rtl_recorded_names names = {.full = "", .short_name = ""};
        if (!was) {
            r->info.name_kernel(r->info.context, k, &names);
            write_name(r, k, &names);
        }
        bool launch = !was || rtl_fields_differ(rtl_launch_fields, RTL_LAUNCH_FIELD_COUNT, was, k);
        if (was && !launch && !rtl_fields_differ(rtl_kernel_fields, RTL_KERNEL_FIELD_COUNT, was, k) &&
            !histogram_differs(&was->histogram, &k->histogram))
            continue;
        rtl_db_bind_int(sample, 1, frame);
        rtl_db_bind_int(sample, 2, k->id);
        int next = rtl_fields_bind(sample, 3, rtl_kernel_fields, RTL_KERNEL_FIELD_COUNT, was, k);
        next = bind_histogram(r, sample, next, was ? &was->histogram : NULL, &k->histogram);
        if (launch)
            rtl_fields_bind(sample, next, rtl_launch_fields, RTL_LAUNCH_FIELD_COUNT, NULL, k);
        else
            for (int n = 0; n < RTL_LAUNCH_FIELD_COUNT; n++)
                rtl_db_bind_null(sample, next + n);
        rtl_db_run(sample);
    }
}

static void write_queue_histogram(struct rtl_recording *r, int64_t frame, uint32_t slot, const char *kind,
                                  const struct rtl_histogram_copy *was, const struct rtl_histogram_copy *now)
{
    static const struct rtl_histogram_copy none;
    if (!histogram_differs(was ? was : &none, now))
        return;
    struct rtl_db_statement *st = rtl_db_prepare(
        r->db, "INSERT INTO rtl_queue_histogram(frame, slot, kind" RTL_FIELD_NAMES(HISTOGRAM) RTL_QUANTILE_COLUMNS
               ", buckets, coarse) VALUES(?, ?, ?" RTL_FIELD_MARKS(HISTOGRAM) ", ?, ?, ?, ?, ?, ?)");
    rtl_db_bind_int(st, 1, frame);
    rtl_db_bind_int(st, 2, slot);
    bind_string(st, 3, kind);
    bind_histogram(r, st, 4, was, now);
    rtl_db_run(st);
}

static void write_untimed(struct rtl_recording *r, int64_t frame, const struct rtl_queue_snapshot *was,
                          const struct rtl_queue_snapshot *q)
{
    struct rtl_db_statement *st =
        rtl_db_prepare(r->db, "INSERT INTO rtl_untimed(frame, slot, reason, dispatches) VALUES(?, ?, ?, ?)");
    for (int reason = 0; reason < RTL_UNTIMED_LIMIT; reason++) {
        uint64_t grown = q->untimed[reason] - (was ? was->untimed[reason] : 0);
        if (!grown)
            continue;
        rtl_db_bind_int(st, 1, frame);
        rtl_db_bind_int(st, 2, q->slot);
        rtl_db_bind_int(st, 3, reason);
        rtl_db_bind_int(st, 4, (int64_t)grown);
        rtl_db_run(st);
    }
}

/* Most queues keep their way for life, and an older library tells none: no row then. */
static void write_way(struct rtl_recording *r, int64_t frame, const struct rtl_queue_snapshot *was,
                      const struct rtl_queue_snapshot *q)
{
    static const struct rtl_queue_snapshot none;
    if (!rtl_fields_differ(rtl_queue_path_fields, RTL_QUEUE_PATH_FIELD_COUNT, was ? was : &none, q))
        return;
    struct rtl_db_statement *st = rtl_db_prepare(
        r->db, "INSERT INTO rtl_queue_way(frame, slot" RTL_FIELD_NAMES(QUEUE_PATH) ") VALUES(?, ?" RTL_FIELD_MARKS(QUEUE_PATH) ")");
    rtl_db_bind_int(st, 1, frame);
    rtl_db_bind_int(st, 2, q->slot);
    rtl_fields_bind(st, 3, rtl_queue_path_fields, RTL_QUEUE_PATH_FIELD_COUNT, NULL, q);
    rtl_db_run(st);
}

static void write_queues(struct rtl_recording *r, int64_t frame, const struct rtl_snapshot *s)
{
    struct rtl_db_statement *st = rtl_db_prepare(
        r->db, "INSERT INTO rtl_queue_sample(frame, slot" RTL_FIELD_NAMES(QUEUE) ") VALUES(?, ?"
               RTL_FIELD_MARKS(QUEUE) ")");
    uint32_t at = 0, old = r->has_last ? r->last.queue_count : 0;
    for (uint32_t i = 0; i < s->queue_count && !rtl_db_status(r->db); i++) {
        const struct rtl_queue_snapshot *q = &s->queues[i], *was = NULL;
        while (at < old && r->last.queues[at].slot < q->slot)
            at++;
        if (at < old && r->last.queues[at].slot == q->slot)
            was = &r->last.queues[at];
        if (!was || rtl_fields_differ(rtl_queue_fields, RTL_QUEUE_FIELD_COUNT, was, q)) {
            rtl_db_bind_int(st, 1, frame);
            rtl_db_bind_int(st, 2, q->slot);
            rtl_fields_bind(st, 3, rtl_queue_fields, RTL_QUEUE_FIELD_COUNT, was, q);
            rtl_db_run(st);
        }
        write_way(r, frame, was, q);
        write_untimed(r, frame, was, q);
        write_queue_histogram(r, frame, q->slot, "wait", was ? &was->wait : NULL, &q->wait);
        write_queue_histogram(r, frame, q->slot, "gap", was ? &was->gap : NULL, &q->gap);
    }
}

static void write_gpu(struct rtl_recording *r, const struct rtl_agent_snapshot *a)
{
    struct rtl_db_statement *st =
        rtl_db_prepare(r->db, "INSERT OR IGNORE INTO rtl_gpu(recording, gpu, name, address, uuid" RTL_FIELD_NAMES(GPU)
                              ") VALUES(?, ?, ?, ?, ?" RTL_FIELD_MARKS(GPU) ")");
    char address[32];
    snprintf(address, sizeof address, "%04x:%02x:%02x.%u", a->bdf >> 16, a->bdf >> 8 & 0xff, a->bdf >> 3 & 0x1f,
             a->bdf & 7);
    rtl_db_bind_int(st, 1, r->id);
    rtl_db_bind_int(st, 2, a->gpu);
    bind_string(st, 3, a->name);
    bind_string(st, 4, address);
    bind_string(st, 5, a->uuid);
    rtl_fields_bind(st, 6, rtl_gpu_fields, RTL_GPU_FIELD_COUNT, NULL, a);
    rtl_db_run(st);
}

static void write_gpus(struct rtl_recording *r, int64_t frame, const struct rtl_snapshot *s)
{
    struct rtl_db_statement *st = rtl_db_prepare(
        r->db, "INSERT OR IGNORE INTO rtl_gpu_sample(frame, gpu" RTL_FIELD_NAMES(BUSY) ") VALUES(?, ?"
               RTL_FIELD_MARKS(BUSY) ")");
    for (uint32_t i = 0; i < s->agent_count; i++) {
        const struct rtl_agent_snapshot *a = &s->agents[i], *was = NULL;
        for (uint32_t j = 0; r->has_last && !was && j < r->last.agent_count; j++)
            if (r->last.agents[j].gpu == a->gpu)
                was = &r->last.agents[j];
        if (!was)
            write_gpu(r, a);
        if (was && !rtl_fields_differ(rtl_busy_fields, RTL_BUSY_FIELD_COUNT, was, a))
            continue;
        rtl_db_bind_int(st, 1, frame);
        rtl_db_bind_int(st, 2, a->gpu);
        rtl_fields_bind(st, 3, rtl_busy_fields, RTL_BUSY_FIELD_COUNT, was, a);
        rtl_db_run(st);
    }
}

static void write_copies_untimed(struct rtl_recording *r, int64_t frame, const struct rtl_copies_snapshot *was,
                                 const struct rtl_copies_snapshot *c)
{
    struct rtl_db_statement *st = rtl_db_prepare(
        r->db, "INSERT INTO rtl_copies_untimed(frame, agent, direction, reason, copies) VALUES(?, ?, ?, ?, ?)");
    for (int reason = 0; reason < RTL_COPY_UNTIMED_LIMIT; reason++) {
        uint64_t grown = c->untimed[reason] - (was ? was->untimed[reason] : 0);
        if (!grown)
            continue;
        rtl_db_bind_int(st, 1, frame);
        rtl_db_bind_int(st, 2, c->agent);
        rtl_db_bind_int(st, 3, c->direction);
        rtl_db_bind_int(st, 4, reason);
        rtl_db_bind_int(st, 5, (int64_t)grown);
        rtl_db_run(st);
    }
}

static void write_copies(struct rtl_recording *r, int64_t frame, const struct rtl_snapshot *s)
{
    struct rtl_db_statement *st = rtl_db_prepare(
        r->db, "INSERT INTO rtl_copies_sample(frame, agent, direction" RTL_FIELD_NAMES(COPIES) RTL_FIELD_NAMES(HISTOGRAM)
               RTL_QUANTILE_COLUMNS ", buckets, coarse) VALUES(?, ?, ?" RTL_FIELD_MARKS(COPIES) RTL_FIELD_MARKS(HISTOGRAM)
               ", ?, ?, ?, ?, ?, ?)");
    for (uint32_t i = 0; i < s->copies_count; i++) {
        const struct rtl_copies_snapshot *c = &s->copies[i], *was = NULL;
        for (uint32_t j = 0; r->has_last && !was && j < r->last.copies_count; j++)
            if (r->last.copies[j].agent == c->agent && r->last.copies[j].direction == c->direction)
                was = &r->last.copies[j];
        if (!was || rtl_fields_differ(rtl_copies_fields, RTL_COPIES_FIELD_COUNT, was, c) ||
            histogram_differs(&was->histogram, &c->histogram)) {
            rtl_db_bind_int(st, 1, frame);
            rtl_db_bind_int(st, 2, c->agent);
            rtl_db_bind_int(st, 3, c->direction);
            int next = rtl_fields_bind(st, 4, rtl_copies_fields, RTL_COPIES_FIELD_COUNT, was, c);
            bind_histogram(r, st, next, was ? &was->histogram : NULL, &c->histogram);
            rtl_db_run(st);
        }
        write_copies_untimed(r, frame, was, c);
    }
}

/* What was seen from outside, beside what a process that is traced has, too. */
static void write_observed(struct rtl_recording *r, int64_t frame, const struct rtl_snapshot *s)
{
    struct rtl_db_statement *st = rtl_db_prepare(
        r->db, "INSERT INTO rtl_observed_frame(frame" RTL_FIELD_NAMES(OBSERVED) ") VALUES(?" RTL_FIELD_MARKS(OBSERVED) ")");
    rtl_db_bind_int(st, 1, frame);
    rtl_fields_bind(st, 2, rtl_observed_fields, RTL_OBSERVED_FIELD_COUNT, NULL, s);
    rtl_db_run(st);
    st = rtl_db_prepare(r->db, "INSERT INTO rtl_observed_sample(frame, kernel" RTL_FIELD_NAMES(ESTIMATE) ") VALUES(?, ?"
                               RTL_FIELD_MARKS(ESTIMATE) ")");
    uint32_t at = 0, old = r->has_last ? r->last.kernel_count : 0;
    for (uint32_t i = 0; i < s->kernel_count && !rtl_db_status(r->db); i++) {
        static const struct rtl_kernel_snapshot none;
        const struct rtl_kernel_snapshot *k = &s->kernels[i], *was = &none;
        while (at < old && r->last.kernels[at].id < k->id)
            at++;
        if (at < old && r->last.kernels[at].id == k->id)
            was = &r->last.kernels[at];
        if (!rtl_fields_differ(rtl_estimate_fields, RTL_ESTIMATE_FIELD_COUNT, was, k))
            continue;
        rtl_db_bind_int(st, 1, frame);
        rtl_db_bind_int(st, 2, k->id);
        rtl_fields_bind(st, 3, rtl_estimate_fields, RTL_ESTIMATE_FIELD_COUNT, was, k);
        rtl_db_run(st);
    }
}

/* The next frame starts a recording of its own. */
static void begin_again(struct rtl_recording *r)
{
    if (r->has_last)
        rtl_snapshot_free(&r->last);
    r->has_last = false;
    r->id = 0;
    r->sequence = 0;
    r->probe.any = false;
    memset(&r->named, 0, sizeof r->named);
    rtl_call_numbers_take_back(&r->calls, 0, 0);
}

/* Somebody else may have made the table: what it doesn't take is no reason to lose the frames. True: once more. */
static bool leave_probes_out(struct rtl_recording *r, enum rtl_db_status status)
{
    if (r->no_probes || status == RTL_DB_BUSY || status == RTL_DB_STOPPED ||
        !strstr(rtl_db_why(r->db), rtl_probe_set.table))
        return false;
    snprintf(r->left_out, sizeof r->left_out, "%s", rtl_db_why(r->db));
    rtl_db_rollback(r->db);
    r->no_probes = true;
    return true;
}

const char *rtl_recording_left_out(struct rtl_recording *r, char *out, size_t size)
{
    snprintf(out, size, "%s", r->left_out);
    r->left_out[0] = 0;
    return out;
}

enum rtl_db_status rtl_recording_add(struct rtl_recording *r, const struct rtl_snapshot *s, uint64_t real_ns,
                                     bool exited)
{
    struct named named = r->named; /* kept until the commit: names of a transaction that fails are not in the file */
    enum rtl_db_status status = s->hip_api ? rtl_db_need(r->db, &rtl_calls_set) : RTL_DB_OK;
    if (!status && s->hip_api && (s->hip_api->pair_count || s->hip_api->pairs_over))
        status = rtl_db_need(r->db, &rtl_pairs_set);
    if (!status && rtl_is_observed(s))
        status = rtl_db_need(r->db, &rtl_observed_set);
    bool probe = !r->no_probes && rtl_probe_has_news(&r->probe);
    if (!status && probe)
        status = rtl_db_need(r->db, &rtl_probe_set);
    if (status && probe && leave_probes_out(r, status))
        return rtl_recording_add(r, s, real_ns, exited);
    if (status) {
        r->failed++;
        return status;
    }
    uint32_t calls = r->calls.calls.count, nodes = r->calls.nodes.count;
    int64_t id = r->id;
    rtl_db_begin(r->db);
    if (!r->id)
        write_recording(r, s, real_ns);
    int64_t frame = write_frame(r, s, real_ns, exited);
    write_gpus(r, frame, s);
    write_kernels(r, frame, s);
    write_queues(r, frame, s);
    write_copies(r, frame, s);
    if (rtl_is_observed(s))
        write_observed(r, frame, s);
    const struct rtl_calls_writer writer = {r->db, r->id, frame, r->sequence, &r->calls, &r->delta,
                                            r->has_last ? &r->last : NULL, s};
    rtl_calls_write(&writer);
    if (probe)
        rtl_probe_write(&r->probe, r->db, r->id, frame);
    status = rtl_db_commit(r->db);
    if (status) {
        r->named = named;
        rtl_call_numbers_take_back(&r->calls, calls, nodes);
        r->id = id;
        if (probe && leave_probes_out(r, status))
            return rtl_recording_add(r, s, real_ns, exited);
        r->failed++;
        return status;
    }
    r->frames++;
    r->sequence++;
    if (probe) {
        r->probe.last = r->probe.now;
        r->probe.any = true;
    }
    if (!strcmp(r->info.kind, RTL_RECORDING_SNAPSHOT)) {
        begin_again(r);
        return RTL_DB_OK;
    }
    struct rtl_snapshot before = r->last;
    bool had = r->has_last;
    r->has_last = rtl_snapshot_copy(s, &r->last);
    /* calls that couldn't be read once grow from where they were */
    if (r->has_last && had && !r->last.hip_api && !rtl_hip_api_copy_to(before.hip_api, &r->last)) {
        rtl_snapshot_free(&r->last);
        r->has_last = false;
    }
    if (had)
        rtl_snapshot_free(&before);
    if (!r->has_last)
        begin_again(r);
    return RTL_DB_OK;
}

void rtl_recording_probe(struct rtl_recording *r, const struct rtl_probe_told *probe)
{
    r->probe.now = *probe;
}

void rtl_recording_wait(struct rtl_recording *r, unsigned busy_ms)
{
    rtl_db_wait(r->db, busy_ms);
}

const char *rtl_recording_why(const struct rtl_recording *r)
{
    return rtl_db_why(r->db);
}

uint64_t rtl_recording_frames(const struct rtl_recording *r)
{
    return r->frames;
}

uint64_t rtl_recording_failed(const struct rtl_recording *r)
{
    return r->failed;
}

struct rtl_db *rtl_recording_db(struct rtl_recording *r)
{
    return r->db;
}
