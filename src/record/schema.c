/* The tables of snapshots and time series, and the way between columns and members. See schema.h. */
/* clang-format off */
#include "record/schema.h"

#include <string.h>

#define FIELD(column_, member, kind_)              \
    {.column = #column_,                           \
     .offset = offsetof(STRUCT, member),           \
     .size = sizeof((STRUCT){0}.member),           \
     .kind = RTL_FIELD_##kind_},

#define STRUCT struct rtl_snapshot
const struct rtl_field rtl_recording_fields[] = {RTL_RECORDING_FIELDS(FIELD)};
const struct rtl_field rtl_frame_fields[] = {RTL_FRAME_FIELDS(FIELD)};
const struct rtl_field rtl_observed_fields[] = {RTL_OBSERVED_FIELDS(FIELD)};
#undef STRUCT
#define STRUCT struct rtl_kernel_snapshot
const struct rtl_field rtl_kernel_fields[] = {RTL_KERNEL_FIELDS(FIELD)};
const struct rtl_field rtl_launch_fields[] = {RTL_LAUNCH_FIELDS(FIELD)};
const struct rtl_field rtl_estimate_fields[] = {RTL_ESTIMATE_FIELDS(FIELD)};
#undef STRUCT
#define STRUCT struct rtl_histogram_copy
const struct rtl_field rtl_histogram_fields[] = {RTL_HISTOGRAM_FIELDS(FIELD)};
#undef STRUCT
#define STRUCT struct rtl_queue_snapshot
const struct rtl_field rtl_queue_fields[] = {RTL_QUEUE_FIELDS(FIELD)};
const struct rtl_field rtl_queue_path_fields[] = {RTL_QUEUE_PATH_FIELDS(FIELD)};
#undef STRUCT
#define STRUCT struct rtl_agent_snapshot
const struct rtl_field rtl_gpu_fields[] = {RTL_GPU_FIELDS(FIELD)};
const struct rtl_field rtl_busy_fields[] = {RTL_BUSY_FIELDS(FIELD)};
#undef STRUCT
#define STRUCT struct rtl_copies_snapshot
const struct rtl_field rtl_copies_fields[] = {RTL_COPIES_FIELDS(FIELD)};
#undef STRUCT

#define COLUMN(column, member, kind) ", " #column " INTEGER NOT NULL"
#define MAYBE(column, member, kind)  ", " #column " INTEGER"
#define HISTOGRAM_COLUMNS                                                                                  \
    RTL_HISTOGRAM_FIELDS(COLUMN) ", p50_ns INTEGER, p90_ns INTEGER, p99_ns INTEGER, p999_ns INTEGER, " \
                                 "buckets TEXT, coarse TEXT"
#define MODE(sym, num, name, text)          "('mode', " #num ", '" name "'), "
#define FORCE(sym, num, key)                "('in_force', " #num ", '" key "'), "
#define REASON(sym, num, key, text, writer) "('reason', " #num ", '" key "'), "
#define STATE(sym, num, name)               "('state', " #num ", '" name "'), "
#define NOTE(sym, bit, key, text)           "('note', 1 << " #bit ", '" key "'), "

const struct rtl_db_set rtl_series_set = {
    "rtl_recording",
    "CREATE TABLE rtl_recording(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, time_ns INTEGER NOT NULL, recorder TEXT, "
    "recorder_pid INTEGER, host TEXT, user TEXT, pid INTEGER NOT NULL, title TEXT, command TEXT, comm TEXT, "
    "runtime TEXT, library TEXT, interval_ns INTEGER" RTL_RECORDING_FIELDS(COLUMN) ");\n"
    "CREATE TABLE rtl_gpu(recording INTEGER NOT NULL, gpu INTEGER NOT NULL, name TEXT, address TEXT, uuid TEXT"
    RTL_GPU_FIELDS(COLUMN) ", PRIMARY KEY(recording, gpu)) WITHOUT ROWID;\n"
    "CREATE TABLE rtl_kernel(recording INTEGER NOT NULL, kernel INTEGER NOT NULL, name TEXT, full_name TEXT, "
    "short_name TEXT, first INTEGER NOT NULL, PRIMARY KEY(recording, kernel)) WITHOUT ROWID;\n"
    "CREATE TABLE rtl_frame(id INTEGER PRIMARY KEY, recording INTEGER NOT NULL, sequence INTEGER NOT NULL, "
    "time_ns INTEGER NOT NULL, exited INTEGER NOT NULL" RTL_FRAME_FIELDS(COLUMN) ");\n"
    "CREATE UNIQUE INDEX rtl_frame_order ON rtl_frame(recording, sequence);\n"
    "CREATE TABLE rtl_kernel_sample(frame INTEGER NOT NULL, kernel INTEGER NOT NULL" RTL_KERNEL_FIELDS(COLUMN)
    HISTOGRAM_COLUMNS RTL_LAUNCH_FIELDS(MAYBE) ", PRIMARY KEY(frame, kernel)) WITHOUT ROWID;\n"
    "CREATE TABLE rtl_queue_sample(frame INTEGER NOT NULL, slot INTEGER NOT NULL" RTL_QUEUE_FIELDS(COLUMN)
    ", PRIMARY KEY(frame, slot)) WITHOUT ROWID;\n"
    "CREATE TABLE rtl_queue_histogram(frame INTEGER NOT NULL, slot INTEGER NOT NULL, kind TEXT NOT NULL"
    HISTOGRAM_COLUMNS ", PRIMARY KEY(frame, slot, kind)) WITHOUT ROWID;\n"
    "CREATE TABLE rtl_untimed(frame INTEGER NOT NULL, slot INTEGER NOT NULL, reason INTEGER NOT NULL, "
    "dispatches INTEGER NOT NULL, PRIMARY KEY(frame, slot, reason)) WITHOUT ROWID;\n"
    "CREATE TABLE rtl_gpu_sample(frame INTEGER NOT NULL, gpu INTEGER NOT NULL" RTL_BUSY_FIELDS(COLUMN)
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
    /* the pairs [gap, count, gap, count, ...] as rows: a bucket's number is the sum of the gaps up to it */
    "CREATE VIEW rtl_buckets AS SELECT frame, kernel, "
    "CASE WHEN bucket < 128 THEN bucket ELSE (bucket - (((bucket >> 6) - 1) << 6)) << ((bucket >> 6) - 1) END AS low_ns, "
    "CASE WHEN bucket < 128 THEN 1 ELSE 1 << ((bucket >> 6) - 1) END AS width_ns, value AS dispatches FROM ("
    "SELECT s.frame, s.kernel, j.key, j.value, sum(CASE j.key % 2 WHEN 0 THEN j.value ELSE 0 END) "
    "OVER (PARTITION BY s.frame, s.kernel ORDER BY j.key) AS bucket "
    "FROM rtl_kernel_sample s, json_each(s.buckets) j) WHERE key % 2 = 1;\n"};

#define COPY_REASON(sym, num, key, text, writer)    ", ('copy_reason', " #num ", '" key "')"
#define DIRECTION(sym, num, key, text, meaning)     "('direction', " #num ", '" key "'), "
#define COPIES_KEY "frame INTEGER NOT NULL, agent INTEGER NOT NULL, direction INTEGER NOT NULL"

const struct rtl_db_set rtl_copies_set = {
    "rtl_copies_sample",
    "CREATE TABLE rtl_copies_sample(" COPIES_KEY RTL_COPIES_FIELDS(COLUMN) HISTOGRAM_COLUMNS
    ", PRIMARY KEY(frame, agent, direction)) WITHOUT ROWID;\n"
    "CREATE TABLE rtl_copies_untimed(" COPIES_KEY ", reason INTEGER NOT NULL, copies INTEGER NOT NULL, "
    "PRIMARY KEY(frame, agent, direction, reason)) WITHOUT ROWID;\n"
    "INSERT INTO rtl_label VALUES " RTL_DIRECTIONS(DIRECTION) "('version', 1, 'copies')" RTL_COPY_REASONS(COPY_REASON)
    ";\n"
    "CREATE VIEW rtl_copies AS SELECT f.recording, f.sequence, f.time_ns, l.key AS direction_key, s.* "
    "FROM rtl_copies_sample s JOIN rtl_frame f ON f.id = s.frame "
    "LEFT JOIN rtl_label l ON l.kind = 'direction' AND l.number = s.direction;\n"};

#define WAY(sym, num, key, text)                    ", ('way', " #num ", '" key "')"
#define WAY_REASON(sym, num, key, text)             ", ('way_reason', " #num ", '" key "')"

/* An older recorder's file lacks the names of reasons and notes that came later, too. */
const struct rtl_db_set rtl_queue_paths_set = {
    "rtl_queue_way",
    "CREATE TABLE rtl_queue_way(frame INTEGER NOT NULL, slot INTEGER NOT NULL" RTL_QUEUE_PATH_FIELDS(COLUMN)
    ", PRIMARY KEY(frame, slot)) WITHOUT ROWID;\n"
    "INSERT INTO rtl_label VALUES ('version', 1, 'ways')" RTL_QUEUE_PATHS(WAY) RTL_PATH_REASONS(WAY_REASON) ";\n"
    "INSERT INTO rtl_label SELECT v.column1, v.column2, v.column3 FROM (VALUES " RTL_UNTIMED_REASONS(REASON)
    RTL_NOTES(NOTE) "('version', 1, 'rtl-top-db')) v WHERE NOT EXISTS "
    "(SELECT 1 FROM rtl_label l WHERE l.kind = v.column1 AND l.number = v.column2);\n"
    "CREATE VIEW rtl_ways AS SELECT f.recording, f.sequence, f.time_ns, w.frame, w.slot, l.key AS way, "
    "r.key AS reason FROM rtl_queue_way w JOIN rtl_frame f ON f.id = w.frame "
    "LEFT JOIN rtl_label l ON l.kind = 'way' AND l.number = w.way "
    "LEFT JOIN rtl_label r ON r.kind = 'way_reason' AND r.number = w.reason;\n"};

const struct rtl_db_set rtl_process_info_set = {
    "rtl_process",
    "CREATE TABLE rtl_process(recording INTEGER PRIMARY KEY, rank INTEGER, label TEXT NOT NULL, container TEXT NOT NULL"
    ");\n"};

const struct rtl_db_set rtl_observed_set = {
    "rtl_observed_frame",
    "CREATE TABLE rtl_observed_frame(frame INTEGER PRIMARY KEY" RTL_OBSERVED_FIELDS(COLUMN) ");\n"
    "CREATE TABLE rtl_observed_sample(frame INTEGER NOT NULL, kernel INTEGER NOT NULL" RTL_ESTIMATE_FIELDS(COLUMN)
    ", PRIMARY KEY(frame, kernel)) WITHOUT ROWID;\n"};

static uint64_t get(const struct rtl_field *f, const void *from)
{
    const char *at = (const char *)from + f->offset;
    uint64_t v8 = 0;
    uint32_t v4 = 0;
    uint16_t v2 = 0;
    switch (f->size) {
    case 8:
        memcpy(&v8, at, 8);
        return v8;
    case 4:
        memcpy(&v4, at, 4);
        return v4;
    case 2:
        memcpy(&v2, at, 2);
        return v2;
    default:
        return (unsigned char)*at;
    }
}

/* A bool stays one whatever a file says. */
static void put(const struct rtl_field *f, void *to, uint64_t value)
{
    char *at = (char *)to + f->offset;
    uint32_t v4 = (uint32_t)value;
    uint16_t v2 = (uint16_t)value;
    switch (f->size) {
    case 8:
        memcpy(at, &value, 8);
        break;
    case 4:
        memcpy(at, &v4, 4);
        break;
    case 2:
        memcpy(at, &v2, 2);
        break;
    default:
        *at = value != 0;
        break;
    }
}

int rtl_fields_bind(struct rtl_db_statement *st, int at, const struct rtl_field *fields, int count, const void *before,
                    const void *now)
{
    for (int i = 0; i < count; i++) {
        uint64_t value = get(&fields[i], now);
        if (fields[i].kind == RTL_FIELD_GROW && before)
            value -= get(&fields[i], before);
        rtl_db_bind_int(st, at++, (int64_t)value);
    }
    return at;
}

int rtl_fields_take(struct rtl_db_statement *st, int at, const struct rtl_field *fields, int count, void *to)
{
    for (int i = 0; i < count; i++) {
        uint64_t value = (uint64_t)rtl_db_int(st, at++);
        if (fields[i].kind == RTL_FIELD_GROW)
            value += get(&fields[i], to);
        put(&fields[i], to, value);
    }
    return at;
}

bool rtl_fields_differ(const struct rtl_field *fields, int count, const void *a, const void *b)
{
    for (int i = 0; i < count; i++)
        if (get(&fields[i], a) != get(&fields[i], b))
            return true;
    return false;
}
