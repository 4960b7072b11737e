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
    char *title; /* info.title */
    struct rtl_recording_info info;
    struct rtl_proc_member_info process;
    int64_t id; /* of its row; 0 = not yet written */
    uint64_t sequence, frames;
    struct rtl_snapshot last; /* the last frame written; empty: none */
    struct rtl_call_numbers calls;
    struct rtl_probe_writer probe;
    char *step;         /* marker of steps; NULL: automatic */
    bool step_is_news;  /* the file has a different marker */
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
    status = rtl_db_need(db, &rtl_series_set);
    if (!status)
        status = rtl_db_need(db, &rtl_gaps_set);
    if (status) {
        snprintf(why, why_bytes, "%s", rtl_db_why(db));
        rtl_db_close(db);
        return status;
    }
    struct rtl_recording *r = calloc(1, sizeof *r);
    if (r) {
        r->db = db;
        r->info = *info;
        r->info.title = r->title = strdup(info->title);
    }
    if (!r || !r->title) {
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
    rtl_snapshot_free(&r->last);
    rtl_call_numbers_free(&r->calls);
    rtl_probe_writer_free(&r->probe);
    free(r->texts.buckets.bytes);
    free(r->texts.coarse.bytes);
    free(r->step);
    free(r->title);
    free(r);
}

/* Write the recording's row. SQLite chooses its id within the transaction, so it is unique. */
static void write_recording(struct rtl_recording *r, const struct rtl_snapshot *s, uint64_t real_ns)
{
    struct rtl_db_statement *st = rtl_db_prepare_ints(
        r->db, "INSERT INTO rtl_recording(time_ns, recorder_pid, pid, interval_ns, kind, recorder, host, user, title, "
               "command, comm, runtime, library" RTL_FIELD_NAMES(RECORDING) ") VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?"
               RTL_FIELD_MARKS(RECORDING) ")", (int64_t)real_ns, getpid(), r->info.pid, (int64_t)r->info.interval_ns);
    rtl_db_bind_strings(st, 5, r->info.kind, r->info.recorder, r->process.host, r->process.user, r->info.title,
                        r->process.command, s->comm, r->process.runtime, s->library_version);
    if (!rtl_fields_insert(st, 14, &rtl_recording_fields, NULL, s))
        return;
    r->id = rtl_db_last_id(r->db);
    st = rtl_db_prepare_ints(r->db, "INSERT INTO rtl_process(recording, rank, label, container) VALUES(?, ?, ?, ?)",
                             r->id, r->info.rank);
    if (r->info.rank < 0)
        rtl_db_bind_null(st, 2);
    rtl_db_bind_strings(st, 3, r->info.label, r->info.container);
    rtl_db_run(st);
}

static void write_step(struct rtl_recording *r)
{
    struct rtl_db_statement *st = rtl_db_prepare_ints(
        r->db, "INSERT OR REPLACE INTO rtl_step(recording, marker) VALUES(?, ?)", r->id);
    rtl_db_bind_string(st, 2, r->step);
    rtl_db_run(st);
}

static int64_t write_frame(struct rtl_recording *r, const struct rtl_snapshot *s, uint64_t real_ns, bool exited)
{
    struct rtl_db_statement *st = rtl_db_prepare_ints(
        r->db, "INSERT INTO rtl_frame(recording, sequence, time_ns, exited" RTL_FIELD_NAMES(FRAME) ") VALUES(?, ?, ?, ?"
               RTL_FIELD_MARKS(FRAME) ")", r->id, (int64_t)r->sequence, (int64_t)real_ns, exited);
    return rtl_fields_insert(st, 5, &rtl_frame_fields, NULL, s) ? rtl_db_last_id(r->db) : 0;
}

/* INSERT of a row of a frame: KEY and the columns of LIST. */
#define FRAME_ROW(INSERT, TABLE, KEY, LIST) \
    INSERT " INTO " TABLE "(frame, " KEY RTL_FIELD_NAMES(LIST) ") VALUES(?, ?" RTL_FIELD_MARKS(LIST) ")"

/* Write a row if a field changed. `was` NULL: always; growth counts from 0. */
static void write_changed(struct rtl_recording *r, const char *sql, int64_t frame, uint32_t key,
                          const struct rtl_field_list *list, const void *was, const void *now)
{
    if (!was || rtl_fields_differ(list, was, now))
        rtl_fields_insert(rtl_db_prepare_ints(r->db, sql, frame, key), 3, list, was, now);
}

static void write_name(struct rtl_recording *r, const struct rtl_kernel_snapshot *k)
{
    struct rtl_recorded_names names = {.full = "", .short_name = ""};
    r->info.name_kernel(r->info.context, k, &names);
    struct rtl_db_statement *st = rtl_db_prepare_ints(
        r->db, "INSERT OR IGNORE INTO rtl_kernel(recording, kernel, first, name, full_name, short_name) "
               "VALUES(?, ?, ?, ?, ?, ?)", r->id, k->id, (int64_t)r->sequence);
    /* a segment of an earlier library may have a longer one */
    rtl_db_bind_text(st, 4, k->name, k->name_length < RTL_NAME_MAX ? k->name_length : RTL_NAME_MAX);
    rtl_db_bind_strings(st, 5, names.full, names.short_name);
    rtl_db_run(st);
}

static void write_kernels(struct rtl_recording *r, int64_t frame, const struct rtl_snapshot *s)
{
    struct rtl_db_statement *sample = rtl_db_prepare(
        r->db, "INSERT INTO rtl_kernel_sample(frame, kernel" RTL_FIELD_NAMES(KERNEL) RTL_HISTOGRAM_NAMES
               RTL_FIELD_NAMES(LAUNCH) ") VALUES(?, ?" RTL_FIELD_MARKS(KERNEL) RTL_HISTOGRAM_MARKS RTL_FIELD_MARKS(LAUNCH) ")");
    for (uint32_t i = 0; i < s->kernel_count && !rtl_db_status(r->db); i++) {
        const struct rtl_kernel_snapshot *k = &s->kernels[i], *was = rtl_snapshot_kernel(&r->last, k->id);
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

/* Write a row for each reason that grew, with its number in parameter `at` and the growth behind it. */
static void write_untimed(struct rtl_db_statement *st, int at, const uint64_t *was, const uint64_t *now, int reasons)
{
    for (int reason = 0; reason < reasons; reason++) {
        uint64_t grown = now[reason] - (was ? was[reason] : 0);
        rtl_db_bind_ints(st, at, reason, (int64_t)grown);
        if (grown)
            rtl_db_run(st);
    }
}

static void write_queues(struct rtl_recording *r, int64_t frame, const struct rtl_snapshot *s)
{
    static const struct rtl_queue_snapshot none;
    for (uint32_t i = 0; i < s->queue_count && !rtl_db_status(r->db); i++) {
        const struct rtl_queue_snapshot *q = &s->queues[i], *was = rtl_queue_of(&r->last, q->slot, i);
        write_changed(r, FRAME_ROW("INSERT", "rtl_queue_sample", "slot", QUEUE), frame, q->slot, &rtl_queue_fields, was,
                      q);
        /* Most queues keep their path for life and have no error. An older library reports no path: no row. */
        write_changed(r, FRAME_ROW("INSERT", "rtl_queue_way", "slot", QUEUE_PATH), frame, q->slot,
                      &rtl_queue_path_fields, was ? was : &none, q);
        write_changed(r, FRAME_ROW("INSERT", "rtl_queue_error", "slot", QUEUE_ERROR), frame, q->slot,
                      &rtl_queue_error_fields, was ? was : &none, q);
        struct rtl_db_statement *untimed = rtl_db_prepare_ints(
            r->db, "INSERT INTO rtl_untimed(frame, slot, reason, dispatches) VALUES(?, ?, ?, ?)", frame, q->slot);
        write_untimed(untimed, 3, was ? was->untimed : NULL, q->untimed, RTL_UNTIMED_LIMIT);
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
    rtl_db_bind_strings(st, 3, a->name, address, a->uuid);
    rtl_fields_insert(st, 6, &rtl_gpu_fields, NULL, a);
}

static bool has_gap(const struct rtl_agent_snapshot *a, const struct rtl_gap *gap)
{
    bool has = false;
    for (uint32_t i = 0; !has && i < a->gap_count; i++)
        has = !rtl_fields_differ(&rtl_gap_fields, &a->gap[i], gap);
    return has;
}

/* Write the gaps of `a` that `other` lacks, numbered from `number` on. `gone`: they have left the list, which a length of
 * 0 records. */
static void write_other_gaps(struct rtl_recording *r, int64_t frame, const struct rtl_agent_snapshot *a,
                             const struct rtl_agent_snapshot *other, uint32_t number, bool gone)
{
    for (uint32_t i = 0; i < a->gap_count; i++) {
        struct rtl_gap gap = a->gap[i];
        if (has_gap(other, &gap))
            continue;
        gap.length_ns = gone ? 0 : gap.length_ns;
        struct rtl_db_statement *st = rtl_db_prepare_ints(
            r->db, "INSERT OR IGNORE INTO rtl_gap(frame, gpu, number" RTL_FIELD_NAMES(GAP) ") VALUES(?, ?, ?"
                   RTL_FIELD_MARKS(GAP) ")", frame, a->gpu, number + i);
        rtl_fields_insert(st, 4, &rtl_gap_fields, NULL, &gap);
    }
}

/* Write the causes of a GPU's idle time, and the gaps that joined or left its longest ones since the last frame. */
static void write_gaps(struct rtl_recording *r, int64_t frame, const struct rtl_agent_snapshot *was,
                       const struct rtl_agent_snapshot *a)
{
    if (a->gaps_known)
        write_changed(r, FRAME_ROW("INSERT OR IGNORE", "rtl_gpu_cause", "gpu", CAUSE), frame, a->gpu, &rtl_cause_fields,
                      was, a);
    static const struct rtl_agent_snapshot none;
    write_other_gaps(r, frame, a, was ? was : &none, 0, false);
    if (was)
        write_other_gaps(r, frame, was, a, RTL_GAPS_MAX, true);
}

static void write_gpus(struct rtl_recording *r, int64_t frame, const struct rtl_snapshot *s)
{
    for (uint32_t i = 0; i < s->agent_count; i++) {
        const struct rtl_agent_snapshot *a = &s->agents[i];
        const struct rtl_agent_snapshot *was = rtl_agent_of(&r->last, a->gpu);
        if (!was)
            write_gpu(r, a);
        write_gaps(r, frame, was, a);
        write_changed(r, FRAME_ROW("INSERT OR IGNORE", "rtl_gpu_sample", "gpu", BUSY), frame, a->gpu, &rtl_busy_fields,
                      was, a);
    }
}

static void write_copies(struct rtl_recording *r, int64_t frame, const struct rtl_snapshot *s)
{
    for (uint32_t i = 0; i < s->copies_count; i++) {
        const struct rtl_copies_snapshot *c = &s->copies[i], *was = rtl_copies_of(&r->last, c->agent, c->direction);
        if (!was || rtl_fields_differ(&rtl_copies_fields, was, c) ||
            rtl_histogram_differs(&was->histogram, &c->histogram)) {
            struct rtl_db_statement *st = rtl_db_prepare_ints(
                r->db, "INSERT INTO rtl_copies_sample(frame, agent, direction" RTL_FIELD_NAMES(COPIES) RTL_HISTOGRAM_NAMES
                       ") VALUES(?, ?, ?" RTL_FIELD_MARKS(COPIES) RTL_HISTOGRAM_MARKS ")", frame, c->agent, c->direction);
            int next = rtl_fields_bind(st, 4, &rtl_copies_fields, was, c);
            rtl_histogram_bind(r->db, st, next, &r->texts, was ? &was->histogram : NULL, &c->histogram);
            rtl_db_run(st);
        }
        struct rtl_db_statement *untimed = rtl_db_prepare_ints(
            r->db, "INSERT INTO rtl_copies_untimed(frame, agent, direction, reason, copies) VALUES(?, ?, ?, ?, ?)",
            frame, c->agent, c->direction);
        write_untimed(untimed, 4, was ? was->untimed : NULL, c->untimed, RTL_COPY_UNTIMED_LIMIT);
    }
}

/* Rows that only observed processes have. */
static void write_observed(struct rtl_recording *r, int64_t frame, const struct rtl_snapshot *s)
{
    struct rtl_db_statement *st = rtl_db_prepare_ints(
        r->db, "INSERT INTO rtl_observed_frame(frame" RTL_FIELD_NAMES(OBSERVED) ") VALUES(?" RTL_FIELD_MARKS(OBSERVED) ")",
        frame);
    rtl_fields_insert(st, 2, &rtl_observed_fields, NULL, s);
    for (uint32_t i = 0; i < s->kernel_count && !rtl_db_status(r->db); i++) {
        static const struct rtl_kernel_snapshot none;
        const struct rtl_kernel_snapshot *k = &s->kernels[i], *was = rtl_snapshot_kernel(&r->last, k->id);
        write_changed(r, FRAME_ROW("INSERT", "rtl_observed_sample", "kernel", ESTIMATE), frame, k->id,
                      &rtl_estimate_fields, was ? was : &none, k);
    }
}

/* Let the next frame start a new recording. */
static void forget_recording(struct rtl_recording *r)
{
    rtl_snapshot_free(&r->last);
    r->id = 0;
    r->sequence = 0;
    r->probe.any = false;
    r->step_is_news = r->step != NULL;
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
    if (!status && rtl_is_observed(s))
        status = rtl_db_need(r->db, &rtl_observed_set);
    if (!status && r->step_is_news)
        status = rtl_db_need(r->db, &rtl_steps_set);
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
    if (r->step_is_news)
        write_step(r);
    int64_t frame = write_frame(r, s, real_ns, exited);
    write_gpus(r, frame, s);
    write_kernels(r, frame, s);
    write_queues(r, frame, s);
    write_copies(r, frame, s);
    if (rtl_is_observed(s))
        write_observed(r, frame, s);
    const struct rtl_calls_writer writer = {r->db, r->id, frame, r->sequence, &r->calls, &r->texts,
                                            &r->last, s};
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
    r->step_is_news = false;
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
    bool copied = rtl_snapshot_copy(s, &r->last);
    /* this frame's calls could not be read: the next frame's growth counts from the last known ones */
    if (copied && !r->last.hip_api)
        copied = rtl_hip_api_copy_to(before.hip_api, &r->last);
    rtl_snapshot_free(&before);
    if (!copied)
        forget_recording(r);
    return RTL_DB_OK;
}

void rtl_recording_probe(struct rtl_recording *r, const struct rtl_probe_told *probe)
{
    r->probe.now = *probe;
}

void rtl_recording_mark_step(struct rtl_recording *r, const char *marker)
{
    if (!r->step == !marker && (!marker || !strcmp(r->step, marker)))
        return;
    free(r->step);
    r->step = marker ? strdup(marker) : NULL; /* without memory automatic */
    r->step_is_news = true;
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
