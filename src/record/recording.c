/* Writing frames: what changed since the previous frame. See recording.h; the tables are in schema.h. */
/* clang-format off */
#include "record/recording.h"
#include "record/process_info.h"
#include "record/recorded_probe.h"
#include "record/recording_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct rtl_recording {
    struct rtl_db *db;
    char *kind, *title, *recorder;
    struct rtl_recording_info info;
    struct rtl_proc_member_info process;
    int64_t id; /* of its row; 0 = not yet written */
    uint64_t sequence, frames;
    struct rtl_snapshot last; /* the last frame written */
    bool has_last;
    struct rtl_call_numbers calls;
    struct rtl_probe_writer probe;
    bool no_probes;     /* the file's table of probes is unusable: frames are written without probes */
    char left_out[400]; /* why, until rtl_recording_left_out has reported it */
    struct rtl_histogram_texts texts; /* of the histogram that is being written */
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
    static const struct rtl_db_set *const sets[] = {&rtl_series_set, &rtl_copies_set, &rtl_queue_paths_set, &rtl_process_info_set,
                                                    &rtl_queue_errors_set};
    for (size_t i = 0; !status && i < sizeof sets / sizeof *sets; i++)
        status = rtl_db_need(db, sets[i]);
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
    free(r->texts.buckets.bytes);
    free(r->texts.coarse.bytes);
    free(r->kind);
    free(r->title);
    free(r->recorder);
    free(r);
}

/* Write the recording's row. SQLite chooses its id within the transaction, so it is unique. */
static void write_recording(struct rtl_recording *r, const struct rtl_snapshot *s, uint64_t real_ns)
{
    struct rtl_db_statement *st = rtl_db_prepare(
        r->db, "INSERT INTO rtl_recording(kind, time_ns, recorder, recorder_pid, host, user, pid, title, command, comm, "
               "runtime, library, interval_ns" RTL_FIELD_NAMES(RECORDING) ") VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?"
               RTL_FIELD_MARKS(RECORDING) ")");
    rtl_db_bind_string(st, 1, r->info.kind);
    rtl_db_bind_int(st, 2, (int64_t)real_ns);
    rtl_db_bind_string(st, 3, r->info.recorder);
    rtl_db_bind_int(st, 4, getpid());
    rtl_db_bind_string(st, 5, r->process.host);
    rtl_db_bind_string(st, 6, r->process.user);
    rtl_db_bind_int(st, 7, r->info.pid);
    rtl_db_bind_string(st, 8, r->info.title);
    rtl_db_bind_string(st, 9, r->process.command);
    rtl_db_bind_string(st, 10, s->comm);
    rtl_db_bind_string(st, 11, r->process.runtime);
    rtl_db_bind_string(st, 12, s->library_version);
    rtl_db_bind_int(st, 13, (int64_t)r->info.interval_ns);
    if (!rtl_fields_insert(st, 14, &rtl_recording_fields, NULL, s))
        return;
    r->id = rtl_db_last_id(r->db);
    st = rtl_db_prepare_ints(r->db, "INSERT INTO rtl_process(recording, rank, label, container) VALUES(?, ?, ?, ?)",
                             r->id, r->info.rank);
    if (r->info.rank < 0)
        rtl_db_bind_null(st, 2);
    rtl_db_bind_string(st, 3, r->info.label);
    rtl_db_bind_string(st, 4, r->info.container);
    rtl_db_run(st);
}

static int64_t write_frame(struct rtl_recording *r, const struct rtl_snapshot *s, uint64_t real_ns, bool exited)
{
    struct rtl_db_statement *st = rtl_db_prepare_ints(
        r->db, "INSERT INTO rtl_frame(recording, sequence, time_ns, exited" RTL_FIELD_NAMES(FRAME) ") VALUES(?, ?, ?, ?"
               RTL_FIELD_MARKS(FRAME) ")", r->id, (int64_t)r->sequence, (int64_t)real_ns, exited);
    return rtl_fields_insert(st, 5, &rtl_frame_fields, NULL, s) ? rtl_db_last_id(r->db) : 0;
}

/* The kernel in the last frame, or NULL. Ids ascend; *at is the position of the search. */
static const struct rtl_kernel_snapshot *find_last_kernel(const struct rtl_recording *r, uint32_t *at, uint32_t id)
{
    uint32_t count = r->has_last ? r->last.kernel_count : 0;
    while (*at < count && r->last.kernels[*at].id < id)
        ++*at;
    return *at < count && r->last.kernels[*at].id == id ? &r->last.kernels[*at] : NULL;
}

static void write_name(struct rtl_recording *r, const struct rtl_kernel_snapshot *k)
{
    struct rtl_recorded_names names = {.full = "", .short_name = ""};
    r->info.name_kernel(r->info.context, k, &names);
    struct rtl_db_statement *st = rtl_db_prepare_ints(
        r->db, "INSERT OR IGNORE INTO rtl_kernel(recording, kernel, name, full_name, short_name, first) "
               "VALUES(?, ?, ?, ?, ?, ?)", r->id, k->id);
    /* a segment of an earlier library may have a longer one */
    rtl_db_bind_text(st, 3, k->name, k->name_length < RTL_NAME_MAX ? k->name_length : RTL_NAME_MAX);
    rtl_db_bind_string(st, 4, names.full);
    rtl_db_bind_string(st, 5, names.short_name);
    rtl_db_bind_int(st, 6, (int64_t)r->sequence);
    rtl_db_run(st);
}

static void write_kernels(struct rtl_recording *r, int64_t frame, const struct rtl_snapshot *s)
{
    struct rtl_db_statement *sample = rtl_db_prepare(
        r->db, "INSERT INTO rtl_kernel_sample(frame, kernel" RTL_FIELD_NAMES(KERNEL) RTL_HISTOGRAM_NAMES
               RTL_FIELD_NAMES(LAUNCH) ") VALUES(?, ?" RTL_FIELD_MARKS(KERNEL) RTL_HISTOGRAM_MARKS RTL_FIELD_MARKS(LAUNCH) ")");
    uint32_t at = 0;
    for (uint32_t i = 0; i < s->kernel_count && !rtl_db_status(r->db); i++) {
        const struct rtl_kernel_snapshot *k = &s->kernels[i], *was = find_last_kernel(r, &at, k->id);
        if (!was)
            write_name(r, k);
        bool launch = !was || rtl_fields_differ(&rtl_launch_fields, was, k);
        if (was && !launch && !rtl_fields_differ(&rtl_kernel_fields, was, k) &&
            !rtl_histogram_differs(&was->histogram, &k->histogram))
            continue;
        rtl_db_bind_ints(sample, 1, frame, k->id);
        int next = rtl_fields_bind(sample, 3, &rtl_kernel_fields, was, k);
        next = rtl_histogram_bind(r->db, sample, next, &r->texts, was ? &was->histogram : NULL, &k->histogram);
        if (launch)
            rtl_fields_bind(sample, next, &rtl_launch_fields, NULL, k);
        else
            for (int n = 0; n < rtl_launch_fields.count; n++)
                rtl_db_bind_null(sample, next + n);
        rtl_db_run(sample);
    }
}

static void write_queue_histogram(struct rtl_recording *r, int64_t frame, uint32_t slot, const char *kind,
                                  const struct rtl_histogram_copy *was, const struct rtl_histogram_copy *now)
{
    static const struct rtl_histogram_copy none;
    if (!rtl_histogram_differs(was ? was : &none, now))
        return;
    struct rtl_db_statement *st = rtl_db_prepare_ints(
        r->db, "INSERT INTO rtl_queue_histogram(frame, slot, kind" RTL_HISTOGRAM_NAMES ") VALUES(?, ?, ?"
               RTL_HISTOGRAM_MARKS ")", frame, slot);
    rtl_db_bind_string(st, 3, kind);
    rtl_histogram_bind(r->db, st, 4, &r->texts, was, now);
    rtl_db_run(st);
}

static void write_untimed(struct rtl_recording *r, int64_t frame, const struct rtl_queue_snapshot *was,
                          const struct rtl_queue_snapshot *q)
{
    for (int reason = 0; reason < RTL_UNTIMED_LIMIT; reason++) {
        uint64_t grown = q->untimed[reason] - (was ? was->untimed[reason] : 0);
        if (grown)
            rtl_db_run(rtl_db_prepare_ints(
                r->db, "INSERT INTO rtl_untimed(frame, slot, reason, dispatches) VALUES(?, ?, ?, ?)",
                frame, q->slot, reason, (int64_t)grown));
    }
}

/* Most queues keep their path for life. An older library reports none: then there is no row. */
static void write_path(struct rtl_recording *r, int64_t frame, const struct rtl_queue_snapshot *was,
                       const struct rtl_queue_snapshot *q)
{
    static const struct rtl_queue_snapshot none;
    if (!rtl_fields_differ(&rtl_queue_path_fields, was ? was : &none, q))
        return;
    struct rtl_db_statement *st = rtl_db_prepare_ints(
        r->db, "INSERT INTO rtl_queue_way(frame, slot" RTL_FIELD_NAMES(QUEUE_PATH) ") VALUES(?, ?" RTL_FIELD_MARKS(QUEUE_PATH) ")",
        frame, q->slot);
    rtl_fields_insert(st, 3, &rtl_queue_path_fields, NULL, q);
}

/* A row only where an error changed: most queues have one row, without an error. */
static void write_queue_error(struct rtl_recording *r, int64_t frame, const struct rtl_queue_snapshot *was,
                              const struct rtl_queue_snapshot *q)
{
    static const struct rtl_queue_snapshot none;
    if (!rtl_fields_differ(&rtl_queue_error_fields, was ? was : &none, q))
        return;
    struct rtl_db_statement *st = rtl_db_prepare_ints(
        r->db, "INSERT INTO rtl_queue_error(frame, slot" RTL_FIELD_NAMES(QUEUE_ERROR) ") VALUES(?, ?"
               RTL_FIELD_MARKS(QUEUE_ERROR) ")", frame, q->slot);
    rtl_fields_insert(st, 3, &rtl_queue_error_fields, NULL, q);
}

static void write_queues(struct rtl_recording *r, int64_t frame, const struct rtl_snapshot *s)
{
    uint32_t at = 0, old = r->has_last ? r->last.queue_count : 0;
    for (uint32_t i = 0; i < s->queue_count && !rtl_db_status(r->db); i++) {
        const struct rtl_queue_snapshot *q = &s->queues[i], *was = NULL;
        while (at < old && r->last.queues[at].slot < q->slot)
            at++;
        if (at < old && r->last.queues[at].slot == q->slot)
            was = &r->last.queues[at];
        if (!was || rtl_fields_differ(&rtl_queue_fields, was, q)) {
            struct rtl_db_statement *st = rtl_db_prepare_ints(
                r->db, "INSERT INTO rtl_queue_sample(frame, slot" RTL_FIELD_NAMES(QUEUE) ") VALUES(?, ?"
                       RTL_FIELD_MARKS(QUEUE) ")", frame, q->slot);
            rtl_fields_insert(st, 3, &rtl_queue_fields, was, q);
        }
        write_path(r, frame, was, q);
        write_queue_error(r, frame, was, q);
        write_untimed(r, frame, was, q);
        write_queue_histogram(r, frame, q->slot, "wait", was ? &was->wait : NULL, &q->wait);
        write_queue_histogram(r, frame, q->slot, "gap", was ? &was->gap : NULL, &q->gap);
    }
}

static void write_gpu(struct rtl_recording *r, const struct rtl_agent_snapshot *a)
{
    struct rtl_db_statement *st = rtl_db_prepare_ints(
        r->db, "INSERT OR IGNORE INTO rtl_gpu(recording, gpu, name, address, uuid" RTL_FIELD_NAMES(GPU)
               ") VALUES(?, ?, ?, ?, ?" RTL_FIELD_MARKS(GPU) ")", r->id, a->gpu);
    char address[32];
    snprintf(address, sizeof address, "%04x:%02x:%02x.%u", a->bdf >> 16, a->bdf >> 8 & 0xff, a->bdf >> 3 & 0x1f,
             a->bdf & 7);
    rtl_db_bind_string(st, 3, a->name);
    rtl_db_bind_string(st, 4, address);
    rtl_db_bind_string(st, 5, a->uuid);
    rtl_fields_insert(st, 6, &rtl_gpu_fields, NULL, a);
}

static void write_gpus(struct rtl_recording *r, int64_t frame, const struct rtl_snapshot *s)
{
    for (uint32_t i = 0; i < s->agent_count; i++) {
        const struct rtl_agent_snapshot *a = &s->agents[i], *was = NULL;
        for (uint32_t j = 0; r->has_last && !was && j < r->last.agent_count; j++)
            if (r->last.agents[j].gpu == a->gpu)
                was = &r->last.agents[j];
        if (!was)
            write_gpu(r, a);
        if (was && !rtl_fields_differ(&rtl_busy_fields, was, a))
            continue;
        struct rtl_db_statement *st = rtl_db_prepare_ints(
            r->db, "INSERT OR IGNORE INTO rtl_gpu_sample(frame, gpu" RTL_FIELD_NAMES(BUSY) ") VALUES(?, ?"
                   RTL_FIELD_MARKS(BUSY) ")", frame, a->gpu);
        rtl_fields_insert(st, 3, &rtl_busy_fields, was, a);
    }
}

static void write_copies_untimed(struct rtl_recording *r, int64_t frame, const struct rtl_copies_snapshot *was,
                                 const struct rtl_copies_snapshot *c)
{
    for (int reason = 0; reason < RTL_COPY_UNTIMED_LIMIT; reason++) {
        uint64_t grown = c->untimed[reason] - (was ? was->untimed[reason] : 0);
        if (grown)
            rtl_db_run(rtl_db_prepare_ints(
                r->db, "INSERT INTO rtl_copies_untimed(frame, agent, direction, reason, copies) VALUES(?, ?, ?, ?, ?)",
                frame, c->agent, c->direction, reason, (int64_t)grown));
    }
}

static void write_copies(struct rtl_recording *r, int64_t frame, const struct rtl_snapshot *s)
{
    for (uint32_t i = 0; i < s->copies_count; i++) {
        const struct rtl_copies_snapshot *c = &s->copies[i], *was = NULL;
        for (uint32_t j = 0; r->has_last && !was && j < r->last.copies_count; j++)
            if (r->last.copies[j].agent == c->agent && r->last.copies[j].direction == c->direction)
                was = &r->last.copies[j];
        if (!was || rtl_fields_differ(&rtl_copies_fields, was, c) ||
            rtl_histogram_differs(&was->histogram, &c->histogram)) {
            struct rtl_db_statement *st = rtl_db_prepare_ints(
                r->db, "INSERT INTO rtl_copies_sample(frame, agent, direction" RTL_FIELD_NAMES(COPIES) RTL_HISTOGRAM_NAMES
                       ") VALUES(?, ?, ?" RTL_FIELD_MARKS(COPIES) RTL_HISTOGRAM_MARKS ")", frame, c->agent, c->direction);
            int next = rtl_fields_bind(st, 4, &rtl_copies_fields, was, c);
            rtl_histogram_bind(r->db, st, next, &r->texts, was ? &was->histogram : NULL, &c->histogram);
            rtl_db_run(st);
        }
        write_copies_untimed(r, frame, was, c);
    }
}

/* Rows that only observed processes have. */
static void write_observed(struct rtl_recording *r, int64_t frame, const struct rtl_snapshot *s)
{
    struct rtl_db_statement *st = rtl_db_prepare_ints(
        r->db, "INSERT INTO rtl_observed_frame(frame" RTL_FIELD_NAMES(OBSERVED) ") VALUES(?" RTL_FIELD_MARKS(OBSERVED) ")",
        frame);
    rtl_fields_insert(st, 2, &rtl_observed_fields, NULL, s);
    st = rtl_db_prepare(r->db, "INSERT INTO rtl_observed_sample(frame, kernel" RTL_FIELD_NAMES(ESTIMATE) ") VALUES(?, ?"
                               RTL_FIELD_MARKS(ESTIMATE) ")");
    uint32_t at = 0;
    for (uint32_t i = 0; i < s->kernel_count && !rtl_db_status(r->db); i++) {
        static const struct rtl_kernel_snapshot none;
        const struct rtl_kernel_snapshot *k = &s->kernels[i], *was = find_last_kernel(r, &at, k->id);
        if (!rtl_fields_differ(&rtl_estimate_fields, was ? was : &none, k))
            continue;
        rtl_db_bind_ints(st, 1, frame, k->id);
        rtl_fields_insert(st, 3, &rtl_estimate_fields, was, k);
    }
}

/* Let the next frame start a new recording. */
static void forget_recording(struct rtl_recording *r)
{
    if (r->has_last)
        rtl_snapshot_free(&r->last);
    r->has_last = false;
    r->id = 0;
    r->sequence = 0;
    r->probe.any = false;
    rtl_call_numbers_take_back(&r->calls, 0, 0);
}

/* Give up probes if their table, which another program may have created, failed; frames continue. True: try again. */
static bool leave_out_probes(struct rtl_recording *r, enum rtl_db_status status)
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
    enum rtl_db_status status = s->hip_api ? rtl_db_need(r->db, &rtl_calls_set) : RTL_DB_OK;
    if (!status && s->hip_api && (s->hip_api->pair_count || s->hip_api->pairs_over))
        status = rtl_db_need(r->db, &rtl_pairs_set);
    if (!status && rtl_is_observed(s))
        status = rtl_db_need(r->db, &rtl_observed_set);
    bool probe = !r->no_probes && rtl_probe_has_news(&r->probe);
    if (!status && probe)
        status = rtl_db_need(r->db, &rtl_probe_set);
    if (status && probe && leave_out_probes(r, status))
        return rtl_recording_add(r, s, real_ns, exited);
    if (status)
        return status;
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
    const struct rtl_calls_writer writer = {r->db, r->id, frame, r->sequence, &r->calls, &r->texts,
                                            r->has_last ? &r->last : NULL, s};
    rtl_calls_write(&writer);
    if (probe)
        rtl_probe_write(&r->probe, r->db, r->id, frame);
    status = rtl_db_commit(r->db);
    if (status) {
        rtl_call_numbers_take_back(&r->calls, calls, nodes);
        r->id = id;
        if (probe && leave_out_probes(r, status))
            return rtl_recording_add(r, s, real_ns, exited);
        return status;
    }
    r->frames++;
    r->sequence++;
    if (probe) {
        r->probe.last = r->probe.now;
        r->probe.any = true;
    }
    if (!strcmp(r->info.kind, RTL_RECORDING_SNAPSHOT)) {
        forget_recording(r);
        return RTL_DB_OK;
    }
    struct rtl_snapshot before = r->last;
    bool had = r->has_last;
    r->has_last = rtl_snapshot_copy(s, &r->last);
    /* this frame's calls could not be read: the next frame's growth counts from the last known ones */
    if (r->has_last && had && !r->last.hip_api && !rtl_hip_api_copy_to(before.hip_api, &r->last)) {
        rtl_snapshot_free(&r->last);
        r->has_last = false;
    }
    if (had)
        rtl_snapshot_free(&before);
    if (!r->has_last)
        forget_recording(r);
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

struct rtl_db *rtl_recording_db(struct rtl_recording *r)
{
    return r->db;
}
