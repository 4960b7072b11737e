/* The tables of snapshots and time series, and the mapping between columns and struct members. See schema.h. */
/* clang-format off */
#include "record/schema.h"

#include <string.h>

#define STRUCT struct rtl_snapshot
RTL_DEFINE_FIELDS(recording, RECORDING)
RTL_DEFINE_FIELDS(frame, FRAME)
RTL_DEFINE_FIELDS(observed, OBSERVED)
#undef STRUCT
#define STRUCT struct rtl_kernel_snapshot
RTL_DEFINE_FIELDS(kernel, KERNEL)
RTL_DEFINE_FIELDS(launch, LAUNCH)
RTL_DEFINE_FIELDS(estimate, ESTIMATE)
#undef STRUCT
#define STRUCT struct rtl_histogram_copy
RTL_DEFINE_FIELDS(histogram, HISTOGRAM)
#undef STRUCT
#define STRUCT struct rtl_queue_snapshot
RTL_DEFINE_FIELDS(queue, QUEUE)
RTL_DEFINE_FIELDS(queue_path, QUEUE_PATH)
RTL_DEFINE_FIELDS(queue_error, QUEUE_ERROR)
#undef STRUCT
#define STRUCT struct rtl_agent_snapshot
RTL_DEFINE_FIELDS(gpu, GPU)
RTL_DEFINE_FIELDS(busy, BUSY)
RTL_DEFINE_FIELDS(cause, CAUSE)
#undef STRUCT
#define STRUCT struct rtl_gap
RTL_DEFINE_FIELDS(gap, GAP)
#undef STRUCT
#define STRUCT struct rtl_copies_snapshot
RTL_DEFINE_FIELDS(copies, COPIES)
#undef STRUCT
#define STRUCT struct rtl_hip_api_snapshot
RTL_DEFINE_FIELDS(calls, CALLS)
RTL_DEFINE_FIELDS(pairs, PAIRS)
#undef STRUCT
#define STRUCT struct rtl_hip_api_row_snapshot
RTL_DEFINE_FIELDS(call, CALL)
#undef STRUCT
#define STRUCT struct rtl_hip_api_memory_snapshot
RTL_DEFINE_FIELDS(memory, MEMORY)
#undef STRUCT
#define STRUCT struct rtl_hip_api_node_snapshot
RTL_DEFINE_FIELDS(node, NODE)
#undef STRUCT

#define MAYBE(column, member, kind)         ", " #column " INTEGER"
#define MODE(sym, num, name, text)          "('mode', " #num ", '" name "'), "
#define FORCE(sym, num, key)                "('in_force', " #num ", '" key "'), "
#define REASON(sym, num, key, text, writer) "('reason', " #num ", '" key "'), "
#define STATE(sym, num, name)               "('state', " #num ", '" name "'), "
#define NOTE(sym, bit, key, text)           "('note', 1 << " #bit ", '" key "'), "
#define COPY_REASON(sym, num, key, text, writer)    ", ('copy_reason', " #num ", '" key "')"
#define DIRECTION(sym, num, key, text, meaning)     "('direction', " #num ", '" key "'), "
#define COPIES_KEY "frame INTEGER NOT NULL, agent INTEGER NOT NULL, direction INTEGER NOT NULL"
#define WAY(sym, num, key, text)                    ", ('way', " #num ", '" key "')"
#define WAY_REASON(sym, num, key, text)             ", ('way_reason', " #num ", '" key "')"
#define ERROR(status, key, text)            "('queue_error', " #status ", '" key "'), "

const struct rtl_db_set rtl_series_set = {
    "rtl_recording",
    "CREATE TABLE rtl_recording(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, time_ns INTEGER NOT NULL, recorder TEXT, "
    "recorder_pid INTEGER, host TEXT, user TEXT, pid INTEGER NOT NULL, title TEXT, command TEXT, comm TEXT, "
    "runtime TEXT, library TEXT, interval_ns INTEGER" RTL_RECORDING_FIELDS(RTL_COLUMN) ");\n"
    "CREATE TABLE rtl_gpu(recording INTEGER NOT NULL, gpu INTEGER NOT NULL, name TEXT, address TEXT, uuid TEXT"
    RTL_GPU_FIELDS(RTL_COLUMN) ", PRIMARY KEY(recording, gpu)) WITHOUT ROWID;\n"
    "CREATE TABLE rtl_kernel(recording INTEGER NOT NULL, kernel INTEGER NOT NULL, name TEXT, full_name TEXT, "
    "short_name TEXT, first INTEGER NOT NULL, PRIMARY KEY(recording, kernel)) WITHOUT ROWID;\n"
    "CREATE TABLE rtl_frame(id INTEGER PRIMARY KEY, recording INTEGER NOT NULL, sequence INTEGER NOT NULL, "
    "time_ns INTEGER NOT NULL, exited INTEGER NOT NULL" RTL_FRAME_FIELDS(RTL_COLUMN) ");\n"
    "CREATE UNIQUE INDEX rtl_frame_order ON rtl_frame(recording, sequence);\n"
    "CREATE TABLE rtl_kernel_sample(frame INTEGER NOT NULL, kernel INTEGER NOT NULL" RTL_KERNEL_FIELDS(RTL_COLUMN)
    RTL_HISTOGRAM_COLUMNS RTL_LAUNCH_FIELDS(MAYBE) ", PRIMARY KEY(frame, kernel)) WITHOUT ROWID;\n"
    "CREATE TABLE rtl_queue_sample(frame INTEGER NOT NULL, slot INTEGER NOT NULL" RTL_QUEUE_FIELDS(RTL_COLUMN)
    ", PRIMARY KEY(frame, slot)) WITHOUT ROWID;\n"
    "CREATE TABLE rtl_queue_histogram(frame INTEGER NOT NULL, slot INTEGER NOT NULL, kind TEXT NOT NULL"
    RTL_HISTOGRAM_COLUMNS ", PRIMARY KEY(frame, slot, kind)) WITHOUT ROWID;\n"
    "CREATE TABLE rtl_untimed(frame INTEGER NOT NULL, slot INTEGER NOT NULL, reason INTEGER NOT NULL, "
    "dispatches INTEGER NOT NULL, PRIMARY KEY(frame, slot, reason)) WITHOUT ROWID;\n"
    "CREATE TABLE rtl_gpu_sample(frame INTEGER NOT NULL, gpu INTEGER NOT NULL" RTL_BUSY_FIELDS(RTL_COLUMN)
    ", PRIMARY KEY(frame, gpu)) WITHOUT ROWID;\n"
    "CREATE TABLE rtl_label(kind TEXT NOT NULL, number INTEGER NOT NULL, key TEXT NOT NULL);\n"
    "INSERT INTO rtl_label VALUES " RTL_MODES(MODE) "('mode', 4092, '" RTL_MODE_HIP "'), " RTL_ACTIVITIES(FORCE) RTL_UNTIMED_REASONS(REASON) RTL_STATES(STATE)
    RTL_NOTES(NOTE) "('version', 1, 'rtl-top-db');\n"
    "CREATE VIEW rtl_kernels AS SELECT f.recording, f.sequence, f.time_ns, k.name, k.short_name, s.* "
    "FROM rtl_kernel_sample s JOIN rtl_frame f ON f.id = s.frame "
    "JOIN rtl_kernel k ON k.recording = f.recording AND k.kernel = s.kernel;\n"
    "CREATE VIEW rtl_drops AS SELECT f.recording, f.sequence, f.time_ns, u.frame, u.slot, l.key AS reason, "
    "u.dispatches FROM rtl_untimed u JOIN rtl_frame f ON f.id = u.frame "
    "LEFT JOIN rtl_label l ON l.kind = 'reason' AND l.number = u.reason;\n"
    /* [gap, count, gap, count, ...] as rows: a bucket's number is the sum of the gaps up to it */
    "CREATE VIEW rtl_buckets AS SELECT frame, kernel, "
    "CASE WHEN bucket < 128 THEN bucket ELSE (bucket - (((bucket >> 6) - 1) << 6)) << ((bucket >> 6) - 1) END AS low_ns, "
    "CASE WHEN bucket < 128 THEN 1 ELSE 1 << ((bucket >> 6) - 1) END AS width_ns, value AS dispatches FROM ("
    "SELECT s.frame, s.kernel, j.key, j.value, sum(CASE j.key % 2 WHEN 0 THEN j.value ELSE 0 END) "
    "OVER (PARTITION BY s.frame, s.kernel ORDER BY j.key) AS bucket "
    "FROM rtl_kernel_sample s, json_each(s.buckets) j) WHERE key % 2 = 1;\n"
    "CREATE TABLE rtl_copies_sample(" COPIES_KEY RTL_COPIES_FIELDS(RTL_COLUMN) RTL_HISTOGRAM_COLUMNS
    ", PRIMARY KEY(frame, agent, direction)) WITHOUT ROWID;\n"
    "CREATE TABLE rtl_copies_untimed(" COPIES_KEY ", reason INTEGER NOT NULL, copies INTEGER NOT NULL, "
    "PRIMARY KEY(frame, agent, direction, reason)) WITHOUT ROWID;\n"
    "INSERT INTO rtl_label VALUES " RTL_DIRECTIONS(DIRECTION) "('version', 1, 'copies')" RTL_COPY_REASONS(COPY_REASON)
    ";\n"
    "CREATE VIEW rtl_copies AS SELECT f.recording, f.sequence, f.time_ns, l.key AS direction_key, s.* "
    "FROM rtl_copies_sample s JOIN rtl_frame f ON f.id = s.frame "
    "LEFT JOIN rtl_label l ON l.kind = 'direction' AND l.number = s.direction;\n"
    "CREATE TABLE rtl_queue_way(frame INTEGER NOT NULL, slot INTEGER NOT NULL" RTL_QUEUE_PATH_FIELDS(RTL_COLUMN)
    ", PRIMARY KEY(frame, slot)) WITHOUT ROWID;\n"
    "INSERT INTO rtl_label VALUES ('version', 1, 'ways')" RTL_QUEUE_PATHS(WAY) RTL_PATH_REASONS(WAY_REASON) ";\n"
    "CREATE VIEW rtl_ways AS SELECT f.recording, f.sequence, f.time_ns, w.frame, w.slot, l.key AS way, "
    "r.key AS reason FROM rtl_queue_way w JOIN rtl_frame f ON f.id = w.frame "
    "LEFT JOIN rtl_label l ON l.kind = 'way' AND l.number = w.way "
    "LEFT JOIN rtl_label r ON r.kind = 'way_reason' AND r.number = w.reason;\n"
    "CREATE TABLE rtl_queue_error(frame INTEGER NOT NULL, slot INTEGER NOT NULL" RTL_QUEUE_ERROR_FIELDS(RTL_COLUMN)
    ", PRIMARY KEY(frame, slot)) WITHOUT ROWID;\n"
    "INSERT INTO rtl_label VALUES " RTL_QUEUE_ERRORS(ERROR) "('version', 1, 'queue_errors');\n"
    "CREATE VIEW rtl_queue_errors AS SELECT f.recording, f.sequence, f.time_ns, e.slot, "
    "COALESCE(l.key, e.error) AS error, k.full_name AS kernel, e.after_ns FROM rtl_queue_error e "
    "JOIN rtl_frame f ON f.id = e.frame LEFT JOIN rtl_label l ON l.kind = 'queue_error' AND l.number = e.error "
    "LEFT JOIN rtl_kernel k ON k.recording = f.recording AND k.kernel = e.kernel - 1 WHERE e.error <> 0;\n"
    "CREATE TABLE rtl_process(recording INTEGER PRIMARY KEY, rank INTEGER, label TEXT NOT NULL, container TEXT NOT NULL"
    ");\n"};

#define CAUSE(sym, num, key, words)         "('cause', " #num ", '" key "'), "

const struct rtl_db_set rtl_gaps_set = {
    "rtl_gpu_cause",
    "CREATE TABLE rtl_gpu_cause(frame INTEGER NOT NULL, gpu INTEGER NOT NULL" RTL_CAUSE_FIELDS(RTL_COLUMN)
    ", PRIMARY KEY(frame, gpu)) WITHOUT ROWID;\n"
    "CREATE TABLE rtl_gap(frame INTEGER NOT NULL, gpu INTEGER NOT NULL, number INTEGER NOT NULL"
    RTL_GAP_FIELDS(RTL_COLUMN) ", PRIMARY KEY(frame, gpu, number)) WITHOUT ROWID;\n"
    "INSERT INTO rtl_label VALUES " RTL_CAUSES(CAUSE) "('version', 1, 'gaps');\n"
    "CREATE VIEW rtl_gaps AS SELECT f.recording, f.sequence, f.time_ns, g.gpu, g.start_mono_ns, g.length_ns, "
    "COALESCE(l.key, g.cause) AS cause, g.no_work_ns, g.copies_ns, b.full_name AS before, a.full_name AS after, "
    "g.queue_before, g.queue_after FROM rtl_gap g JOIN rtl_frame f ON f.id = g.frame "
    "LEFT JOIN rtl_label l ON l.kind = 'cause' AND l.number = g.cause "
    "LEFT JOIN rtl_kernel b ON b.recording = f.recording AND b.kernel = g.kernel_before - 1 "
    "LEFT JOIN rtl_kernel a ON a.recording = f.recording AND a.kernel = g.kernel_after - 1 WHERE g.length_ns > 0;\n"};

const struct rtl_db_set rtl_steps_set = {
    "rtl_step", "CREATE TABLE rtl_step(recording INTEGER PRIMARY KEY, marker TEXT);\n"};

const struct rtl_db_set rtl_observed_set = {
    "rtl_observed_frame",
    "CREATE TABLE rtl_observed_frame(frame INTEGER PRIMARY KEY" RTL_OBSERVED_FIELDS(RTL_COLUMN) ");\n"
    "CREATE TABLE rtl_observed_sample(frame INTEGER NOT NULL, kernel INTEGER NOT NULL" RTL_ESTIMATE_FIELDS(RTL_COLUMN)
    ", PRIMARY KEY(frame, kernel)) WITHOUT ROWID;\n"};

#define KIND(sym, number, name, text) "('call_kind', " #number ", '" name "'), "

const struct rtl_db_set rtl_calls_set = {
    "rtl_call_sample",
    "CREATE TABLE rtl_call(recording INTEGER NOT NULL, call INTEGER NOT NULL, kind INTEGER NOT NULL, name TEXT NOT NULL, "
    "first INTEGER NOT NULL, PRIMARY KEY(recording, call)) WITHOUT ROWID;\n"
    "CREATE TABLE rtl_range(recording INTEGER NOT NULL, range INTEGER NOT NULL, parent INTEGER NOT NULL, "
    "name TEXT NOT NULL, first INTEGER NOT NULL, PRIMARY KEY(recording, range)) WITHOUT ROWID;\n"
    "CREATE TABLE rtl_call_frame(frame INTEGER PRIMARY KEY" RTL_CALLS_FIELDS(RTL_COLUMN) ");\n"
    "CREATE TABLE rtl_call_sample(frame INTEGER NOT NULL, call INTEGER NOT NULL" RTL_CALL_FIELDS(RTL_COLUMN)
    RTL_HISTOGRAM_COLUMNS ", PRIMARY KEY(frame, call)) WITHOUT ROWID;\n"
    "CREATE TABLE rtl_call_memory(frame INTEGER NOT NULL, place INTEGER NOT NULL" RTL_MEMORY_FIELDS(RTL_COLUMN)
    ", PRIMARY KEY(frame, place)) WITHOUT ROWID;\n"
    "CREATE TABLE rtl_range_sample(frame INTEGER NOT NULL, range INTEGER NOT NULL" RTL_NODE_FIELDS(RTL_COLUMN)
    ", PRIMARY KEY(frame, range)) WITHOUT ROWID;\n"
    "CREATE TABLE rtl_launch_sample(frame INTEGER NOT NULL, kernel INTEGER NOT NULL" RTL_HISTOGRAM_COLUMNS
    ", PRIMARY KEY(frame, kernel)) WITHOUT ROWID;\n"
    "INSERT INTO rtl_label VALUES " RTL_HIP_API_KINDS(KIND) "('version', 1, 'calls');\n"
    "CREATE VIEW rtl_calls AS SELECT f.recording, f.sequence, f.time_ns, l.key AS kind, c.name, s.* "
    "FROM rtl_call_sample s JOIN rtl_frame f ON f.id = s.frame "
    "JOIN rtl_call c ON c.recording = f.recording AND c.call = s.call "
    "LEFT JOIN rtl_label l ON l.kind = 'call_kind' AND l.number = c.kind;\n"
    "CREATE VIEW rtl_ranges AS WITH RECURSIVE path(recording, range, path, depth) AS ("
    "SELECT recording, range, '', 0 FROM rtl_range WHERE range = 0 UNION ALL "
    "SELECT r.recording, r.range, CASE p.depth WHEN 0 THEN r.name ELSE p.path || ' > ' || r.name END, p.depth + 1 "
    "FROM rtl_range r JOIN path p ON p.recording = r.recording AND p.range = r.parent AND r.range > r.parent) "
    "SELECT f.recording, f.sequence, f.time_ns, p.path, s.* "
    "FROM rtl_range_sample s JOIN rtl_frame f ON f.id = s.frame "
    "JOIN path p ON p.recording = f.recording AND p.range = s.range;\n"
    "CREATE TABLE rtl_pair_frame(frame INTEGER PRIMARY KEY" RTL_PAIRS_FIELDS(RTL_COLUMN) ");\n"
    "CREATE TABLE rtl_pair_sample(frame INTEGER NOT NULL, range INTEGER NOT NULL, kernel INTEGER NOT NULL" RTL_HISTOGRAM_COLUMNS
    ", PRIMARY KEY(frame, range, kernel)) WITHOUT ROWID;\n"};

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "get_field and set_field copy the low bytes");

static uint64_t get_field(const struct rtl_field *f, const void *from)
{
    uint64_t value = 0;
    memcpy(&value, (const char *)from + f->offset, f->size);
    return value;
}

/* A bool (the members of one byte) stays 0 or 1, whatever the file contains. */
static void set_field(const struct rtl_field *f, void *to, uint64_t value)
{
    if (f->size == 1)
        value = value != 0;
    memcpy((char *)to + f->offset, &value, f->size);
}

int rtl_fields_bind(struct rtl_db_statement *st, int at, const struct rtl_field_list *list, const void *before,
                    const void *now)
{
    for (const struct rtl_field *f = list->fields; f < list->fields + list->count; f++) {
        uint64_t value = get_field(f, now);
        if (f->kind == RTL_FIELD_GROW && before)
            value -= get_field(f, before);
        rtl_db_bind_int(st, at++, (int64_t)value);
    }
    return at;
}

bool rtl_fields_insert(struct rtl_db_statement *st, int at, const struct rtl_field_list *list, const void *before,
                       const void *now)
{
    rtl_fields_bind(st, at, list, before, now);
    return rtl_db_run(st);
}

int rtl_fields_read(struct rtl_db_statement *st, int at, const struct rtl_field_list *list, void *to)
{
    for (const struct rtl_field *f = list->fields; f < list->fields + list->count; f++) {
        uint64_t value = (uint64_t)rtl_db_int(st, at++);
        if (f->kind == RTL_FIELD_GROW)
            value += get_field(f, to);
        set_field(f, to, value);
    }
    return at;
}

bool rtl_fields_differ(const struct rtl_field_list *list, const void *a, const void *b)
{
    for (const struct rtl_field *f = list->fields; f < list->fields + list->count; f++)
        if (get_field(f, a) != get_field(f, b))
            return true;
    return false;
}
