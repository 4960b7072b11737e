/* The tables of calls and ranges. See calls_schema.h. */
/* clang-format off */
#include "record/calls_schema.h"

#define FIELD(column_, member, kind_)              \
    {.column = #column_,                           \
     .offset = offsetof(STRUCT, member),           \
     .size = sizeof((STRUCT){0}.member),           \
     .kind = RTL_FIELD_##kind_},

#define STRUCT struct rtl_hip_api_snapshot
const struct rtl_field rtl_calls_fields[] = {RTL_CALLS_FIELDS(FIELD)};
const struct rtl_field rtl_pairs_fields[] = {RTL_PAIRS_FIELDS(FIELD)};
#undef STRUCT
#define STRUCT struct rtl_hip_api_row_snapshot
const struct rtl_field rtl_call_fields[] = {RTL_CALL_FIELDS(FIELD)};
#undef STRUCT
#define STRUCT struct rtl_hip_api_memory_snapshot
const struct rtl_field rtl_memory_fields[] = {RTL_MEMORY_FIELDS(FIELD)};
#undef STRUCT
#define STRUCT struct rtl_hip_api_node_snapshot
const struct rtl_field rtl_node_fields[] = {RTL_NODE_FIELDS(FIELD)};
#undef STRUCT

#define COLUMN(column, member, kind) ", " #column " INTEGER NOT NULL"
#define HISTOGRAM_COLUMNS                                                                              \
    RTL_HISTOGRAM_FIELDS(COLUMN) ", p50_ns INTEGER, p90_ns INTEGER, p99_ns INTEGER, p999_ns INTEGER, " \
                                 "buckets TEXT, coarse TEXT"
#define KIND(sym, number, name, text) "('call_kind', " #number ", '" name "'), "

const struct rtl_db_set rtl_calls_set = {
    "rtl_call_sample",
    "CREATE TABLE rtl_call(recording INTEGER NOT NULL, call INTEGER NOT NULL, kind INTEGER NOT NULL, name TEXT NOT NULL, "
    "first INTEGER NOT NULL, PRIMARY KEY(recording, call)) WITHOUT ROWID;\n"
    "CREATE TABLE rtl_range(recording INTEGER NOT NULL, range INTEGER NOT NULL, parent INTEGER NOT NULL, "
    "name TEXT NOT NULL, first INTEGER NOT NULL, PRIMARY KEY(recording, range)) WITHOUT ROWID;\n"
    "CREATE TABLE rtl_call_frame(frame INTEGER PRIMARY KEY" RTL_CALLS_FIELDS(COLUMN) ");\n"
    "CREATE TABLE rtl_call_sample(frame INTEGER NOT NULL, call INTEGER NOT NULL" RTL_CALL_FIELDS(COLUMN)
    HISTOGRAM_COLUMNS ", PRIMARY KEY(frame, call)) WITHOUT ROWID;\n"
    "CREATE TABLE rtl_call_memory(frame INTEGER NOT NULL, place INTEGER NOT NULL" RTL_MEMORY_FIELDS(COLUMN)
    ", PRIMARY KEY(frame, place)) WITHOUT ROWID;\n"
    "CREATE TABLE rtl_range_sample(frame INTEGER NOT NULL, range INTEGER NOT NULL" RTL_NODE_FIELDS(COLUMN)
    ", PRIMARY KEY(frame, range)) WITHOUT ROWID;\n"
    "CREATE TABLE rtl_launch_sample(frame INTEGER NOT NULL, kernel INTEGER NOT NULL" HISTOGRAM_COLUMNS
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
    "JOIN path p ON p.recording = f.recording AND p.range = s.range;\n"};

const struct rtl_db_set rtl_pairs_set = {
    "rtl_pair_sample",
    "CREATE TABLE rtl_pair_frame(frame INTEGER PRIMARY KEY" RTL_PAIRS_FIELDS(COLUMN) ");\n"
    "CREATE TABLE rtl_pair_sample(frame INTEGER NOT NULL, range INTEGER NOT NULL, kernel INTEGER NOT NULL" HISTOGRAM_COLUMNS
    ", PRIMARY KEY(frame, range, kernel)) WITHOUT ROWID;\n"
    "INSERT INTO rtl_label VALUES ('version', 1, 'pairs');\n"};
