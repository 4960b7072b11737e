/* Frames out of a file, added up. See replay.h; the tables are in schema.h, the sums in replay_state.c. */
#include "record/replay.h"
#include "record/recorded_probe.h"
#include "record/replay_private.h"
#include "record/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHECKPOINT_EVERY = 100, FRAMES_MAX = 1 << 26 };
#define CHECKPOINT_BYTES (256ull << 20) /* of all of them together */

/* Which recordings there are instead, for the message. */
static enum rtl_db_status say_missing(struct rtl_db *db, pid_t pid, int64_t recording, char *why, size_t why_bytes)
{
    char list[200] = "";
    struct rtl_db_statement *st =
        rtl_db_prepare(db, "SELECT id, kind, pid FROM rtl_recording ORDER BY id DESC LIMIT 6");
    while (rtl_db_step(st)) {
        size_t used = strlen(list);
        char kind[9];
        rtl_replay_printable(kind, sizeof kind, rtl_db_text(st, 1, NULL));
        snprintf(list + used, sizeof list - used, "%s%lld (%s of process %lld)", used ? ", " : "",
                 (long long)rtl_db_int(st, 0), kind, (long long)rtl_db_int(st, 2));
    }
    if (rtl_db_status(db)) {
        snprintf(why, why_bytes, "%s", rtl_db_why(db));
        return rtl_db_status(db);
    }
    if (!*list)
        snprintf(why, why_bytes, "%s holds no time series and no snapshot", rtl_db_path(db));
    else if (recording)
        snprintf(why, why_bytes, "%s has no recording %lld; it has %s", rtl_db_path(db), (long long)recording, list);
    else
        snprintf(why, why_bytes, "%s has nothing of process %d; it has %s", rtl_db_path(db), (int)pid, list);
    return RTL_DB_MISSING;
}

static void copy_text(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from);
}

static bool find_recording(struct rtl_replay *r, pid_t pid, int64_t recording)
{
    struct rtl_db_statement *st = rtl_db_prepare(
        r->db, "SELECT id, pid, kind, title, recorder, interval_ns, comm, library, user" RTL_FIELD_NAMES(
                   RECORDING) " FROM rtl_recording WHERE (?1 = 0 OR pid = ?1) AND (?2 = 0 OR id = ?2) AND "
                              "EXISTS (SELECT 1 FROM rtl_frame WHERE recording = rtl_recording.id) "
                              "ORDER BY kind = 'series' DESC, id DESC LIMIT 1");
    rtl_db_bind_int(st, 1, pid);
    rtl_db_bind_int(st, 2, recording);
    if (!rtl_db_step(st))
        return false;
    r->info.id = rtl_db_int(st, 0);
    r->info.pid = (pid_t)rtl_db_int(st, 1);
    r->info.snapshot = strcmp(rtl_db_text(st, 2, NULL), "series") != 0;
    copy_text(r->info.title, sizeof r->info.title, rtl_db_text(st, 3, NULL));
    copy_text(r->info.recorder, sizeof r->info.recorder, rtl_db_text(st, 4, NULL));
    r->info.interval_ns = (uint64_t)rtl_db_int(st, 5);
    struct rtl_snapshot *s = &r->state.snapshot;
    rtl_replay_printable(s->comm, sizeof s->comm, rtl_db_text(st, 6, NULL));
    rtl_replay_printable(s->library_version, sizeof s->library_version, rtl_db_text(st, 7, NULL));
    rtl_replay_printable(r->info.user, sizeof r->info.user, rtl_db_text(st, 8, NULL));
    rtl_fields_take(st, 9, rtl_recording_fields, RTL_RECORDING_FIELD_COUNT, s);
    rtl_db_reset(st);
    return true;
}

/* Files of older recorders have none of it. */
static void load_process(struct rtl_replay *r)
{
    r->info.rank = -1;
    if (!rtl_db_has_set(r->db, &rtl_process_info_set))
        return;
    struct rtl_db_statement *st =
        rtl_db_prepare(r->db, "SELECT ifnull(rank, -1), label, container FROM rtl_process WHERE recording = ?");
    rtl_db_bind_int(st, 1, r->info.id);
    if (rtl_db_step(st)) {
        int64_t rank = rtl_db_int(st, 0);
        r->info.rank = rank >= 0 && rank < 100000 ? (int)rank : -1;
        rtl_replay_printable(r->info.label, sizeof r->info.label, rtl_db_text(st, 1, NULL));
        rtl_replay_printable(r->info.container, sizeof r->info.container, rtl_db_text(st, 2, NULL));
    }
    rtl_db_reset(st);
}

static void load_frames(struct rtl_replay *r)
{
    struct rtl_db_statement *st = rtl_db_prepare(
        r->db, "SELECT id, time_ns, mono_ns, sequence FROM rtl_frame WHERE recording = ? ORDER BY sequence");
    uint32_t size = 0;
    int64_t last = -1;
    rtl_db_bind_int(st, 1, r->info.id);
    while (rtl_db_step(st)) {
        if (r->info.frames == size) {
            size = 2 * size + 256;
            struct rtl_replay_frame *more = size <= FRAMES_MAX ? realloc(r->frames, size * sizeof *more) : NULL;
            if (!more) {
                rtl_db_fail(r->db, RTL_DB_FAILED, "out of memory");
                return;
            }
            r->frames = more;
        }
        struct rtl_replay_frame *f = &r->frames[r->info.frames++];
        *f = (struct rtl_replay_frame){rtl_db_int(st, 0), (uint64_t)rtl_db_int(st, 1), (uint64_t)rtl_db_int(st, 2)};
        int64_t sequence = rtl_db_int(st, 3);
        /* time that runs backwards would make spans of centuries, and a circle of pages frames without end */
        if (sequence <= last || (r->info.frames > 1 && (f->mono_ns < f[-1].mono_ns || f->mono_ns > INT64_MAX ||
                                                        (f->mono_ns == f[-1].mono_ns && f->time_ns < f[-1].time_ns))))
            rtl_db_fail(r->db, RTL_DB_CORRUPT, "%s is damaged: its frames are not in order", rtl_db_path(r->db));
        last = sequence;
    }
    if (!r->info.frames)
        rtl_db_fail(r->db, RTL_DB_CORRUPT, "%s is damaged: recording %lld has no frame", rtl_db_path(r->db),
                    (long long)r->info.id);
}

enum rtl_db_status rtl_replay_open(const char *path, pid_t pid, int64_t recording, struct rtl_replay **out, char *why,
                                   size_t why_bytes)
{
    struct rtl_db *db;
    *out = NULL;
    enum rtl_db_status status = rtl_db_open(path, &(struct rtl_db_options){0}, &db, why, why_bytes);
    if (status)
        return status;
    struct rtl_replay *r = calloc(1, sizeof *r);
    if (!r) {
        rtl_db_close(db);
        snprintf(why, why_bytes, "out of memory");
        return RTL_DB_FAILED;
    }
    r->db = db;
    r->of = 1;
    bool any = rtl_db_has_set(db, &rtl_series_set);
    if (!any && !rtl_db_status(db)) {
        snprintf(why, why_bytes, "%s holds no time series and no snapshot", path);
        status = RTL_DB_MISSING;
    } else if (!find_recording(r, pid, recording)) {
        status = say_missing(db, pid, recording, why, why_bytes);
    } else {
        load_process(r);
        load_frames(r);
        r->probes = rtl_db_has_set(db, &rtl_probe_set);
        rtl_replay_state_begin(&r->state, db, r->info.id);
        status = rtl_db_status(db);
        if (status)
            snprintf(why, why_bytes, "%s", rtl_db_why(db));
    }
    if (status) {
        rtl_replay_close(r);
        return status;
    }
    *out = r;
    return RTL_DB_OK;
}

void rtl_replay_share(struct rtl_replay *r, uint32_t count)
{
    r->of = count;
    rtl_replay_state_share(&r->state, count);
}

void rtl_replay_close(struct rtl_replay *r)
{
    if (!r)
        return;
    for (int i = 0; i < r->checkpoint_count; i++)
        rtl_snapshot_free(&r->checkpoints[i].snapshot);
    rtl_replay_state_end(&r->state);
    rtl_db_close(r->db);
    free(r->frames);
    free(r);
}

const struct rtl_replay_info *rtl_replay_info(const struct rtl_replay *r)
{
    return &r->info;
}

const char *rtl_replay_why(const struct rtl_replay *r)
{
    return rtl_db_why(r->db);
}

uint64_t rtl_replay_time(const struct rtl_replay *r, uint32_t frame)
{
    return r->frames[frame].time_ns;
}

uint64_t rtl_replay_mono(const struct rtl_replay *r, uint32_t frame)
{
    return r->frames[frame].mono_ns;
}

bool rtl_replay_kernel(const struct rtl_replay *r, uint32_t n, uint32_t *id, const char **name, size_t *length)
{
    if (n >= r->state.name_count)
        return false;
    *id = r->state.order[n];
    *name = r->state.names[*id];
    *length = r->state.name_lengths[*id];
    return true;
}

uint32_t rtl_replay_find(const struct rtl_replay *r, uint64_t time_ns)
{
    uint32_t low = 0, high = r->info.frames;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (r->frames[middle].time_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : 0;
}

/* Now and then the state is kept, as long as that stays small: going back starts there. */
static void keep_checkpoint(struct rtl_replay *r)
{
    uint32_t last = r->checkpoint_count ? r->checkpoints[r->checkpoint_count - 1].frame : 0;
    uint32_t every = r->info.frames / RTL_CHECKPOINTS_MAX + 1;
    if (r->next - 1 < last + (every > CHECKPOINT_EVERY ? every : CHECKPOINT_EVERY) ||
        r->checkpoint_count == RTL_CHECKPOINTS_MAX)
        return;
    uint64_t bytes = rtl_replay_state_bytes(&r->state);
    struct rtl_checkpoint *c = &r->checkpoints[r->checkpoint_count];
    if (r->checkpoint_bytes + bytes > CHECKPOINT_BYTES / r->of || !rtl_snapshot_copy(&r->state.snapshot, &c->snapshot))
        return;
    c->frame = r->next - 1;
    r->checkpoint_bytes += bytes;
    r->checkpoint_count++;
}

static void go_back(struct rtl_replay *r, uint32_t frame)
{
    int at = r->checkpoint_count - 1;
    while (at >= 0 && r->checkpoints[at].frame > frame)
        at--;
    rtl_replay_state_set(&r->state, at >= 0 ? &r->checkpoints[at].snapshot : NULL);
    r->next = at >= 0 ? r->checkpoints[at].frame + 1 : 0;
}

enum rtl_db_status rtl_replay_read(struct rtl_replay *r, uint32_t frame, struct rtl_snapshot *snapshot, bool *exited)
{
    memset(snapshot, 0, sizeof *snapshot);
    if (frame >= r->info.frames) { /* of recordings whose times contradict each other, say */
        rtl_db_fail(r->db, RTL_DB_CORRUPT, "%s is damaged: a frame is missing", rtl_db_path(r->db));
        return rtl_db_status(r->db);
    }
    if (frame < r->next && frame + 1 != r->next)
        go_back(r, frame);
    if (frame + 1 == r->next && !r->state.whole) /* a checkpoint: `exited` and the frame's own values are not in it */
        rtl_replay_state_frame(&r->state, r->frames[frame].id, &r->exited);
    while (r->next <= frame && !rtl_db_status(r->db)) {
        rtl_replay_state_add(&r->state, r->frames[r->next].id, &r->exited);
        r->next++;
        keep_checkpoint(r);
    }
    enum rtl_db_status status = rtl_db_status(r->db);
    if (status == RTL_DB_STOPPED) { /* a frame was added in part: start over for the next one */
        rtl_db_rollback(r->db);
        rtl_replay_state_set(&r->state, NULL);
        r->next = 0;
        return status;
    }
    if (!status && !rtl_snapshot_copy(&r->state.snapshot, snapshot)) {
        rtl_db_fail(r->db, RTL_DB_FAILED, "out of memory");
        status = RTL_DB_FAILED;
    }
    *exited = r->exited;
    return status;
}

void rtl_replay_leave_probes(struct rtl_replay *r)
{
    r->probes = false;
    rtl_db_rollback(r->db);
}

enum rtl_db_status rtl_replay_probe(struct rtl_replay *r, uint32_t frame, struct rtl_probe_told *probe)
{
    memset(probe, 0, sizeof *probe);
    if (!r->probes || frame >= r->info.frames)
        return RTL_DB_OK;
    rtl_probe_read(r->db, r->info.id, r->frames[frame].id, probe);
    enum rtl_db_status status = rtl_db_status(r->db);
    if (status == RTL_DB_STOPPED)
        rtl_db_rollback(r->db);
    return status;
}
