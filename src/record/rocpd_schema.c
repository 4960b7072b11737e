/* The rocpd schema. See rocpd_schema.h. */
/* clang-format off */
#include "record/rocpd_schema.h"

/*
 * The packed shape `dims` (rtl_rocpd_pack). Bits 0-1 are the layout of the bits above:
 *   2: log2 of workgroup x (4 bits), workgroups in x; y and z are 1
 *   0: workgroup x - 1 (10), workgroups in x; y and z are 1
 *   1: workgroup x - 1 (10), y - 1 (10), z - 1 (6), workgroups in x (14), y - 1 (12), z - 1 (8)
 * Other shapes, and the size of a copy, are text in completionSignal.
 */
#define WX "((dims >> 2 & 1023) + 1)"
#define WY "((dims >> 12 & 1023) + 1)"
#define WZ "((dims >> 22 & 63) + 1)"
#define SIGNAL                                                                                                        \
    "CASE WHEN completionSignal IS NULL AND typeof(dims) = 'integer' THEN CASE dims & 3"                              \
    " WHEN 2 THEN printf('hwq=0x%x wg=%d,1,1 grid=%d,1,1', queueId, 1 << (dims >> 2 & 15), (dims >> 6) << (dims >> 2 & 15))" \
    " WHEN 0 THEN printf('hwq=0x%x wg=%d,1,1 grid=%d,1,1', queueId, " WX ", (dims >> 12) * " WX ")"                   \
    " WHEN 1 THEN printf('hwq=0x%x wg=%d,%d,%d grid=%d,%d,%d', queueId, " WX ", " WY ", " WZ ","                      \
    " (dims >> 28 & 16383) * " WX ", ((dims >> 42 & 4095) + 1) * " WY ", ((dims >> 54 & 255) + 1) * " WZ ") END"      \
    " ELSE completionSignal END"

const char *rtl_rocpd_signal(struct rtl_db *db)
{
    /* other tools' files have no `dims` */
    static const char plain[] = "SELECT count(*) FROM pragma_table_xinfo('rocpd_op')"
                                " WHERE hidden = 0 AND name IN ('completionSignal', 'queueId', 'dims')";
    return rtl_db_one(db, plain) == 3 ? SIGNAL : "completionSignal";
}

const struct rtl_db_set rtl_rocpd_set = {
    .table = "rocpd_op",
    .sql =
        "CREATE TABLE rocpd_string(id INTEGER PRIMARY KEY, string TEXT UNIQUE);"
        "CREATE TABLE rocpd_op("
        " id INTEGER PRIMARY KEY,"
        " gpuId INTEGER,"
        " queueId INTEGER,"
        " sequenceId INTEGER,"
        " completionSignal TEXT,"
        " start INTEGER,"
        " end INTEGER,"
        " description_id INTEGER REFERENCES rocpd_string(id),"
        " opType_id INTEGER REFERENCES rocpd_string(id),"
        " roctxId INTEGER DEFAULT 0,"
        " correlation_id INTEGER DEFAULT 0,"
        " dims INTEGER);"
        "CREATE TABLE rocpd_api("
        " id INTEGER PRIMARY KEY,"
        " pid INTEGER,"
        " tid INTEGER,"
        " start INTEGER,"
        " end INTEGER,"
        " apiName_id INTEGER REFERENCES rocpd_string(id),"
        " args_id INTEGER REFERENCES rocpd_string(id),"
        " category_id INTEGER DEFAULT 1 REFERENCES rocpd_string(id),"
        " domain_id INTEGER DEFAULT 1 REFERENCES rocpd_string(id),"
        " correlation_id INTEGER DEFAULT 0);"
        "CREATE TABLE rocpd_api_ops("
        " id INTEGER PRIMARY KEY,"
        " api_id INTEGER REFERENCES rocpd_api(id),"
        " op_id INTEGER REFERENCES rocpd_op(id));"
        /* RPD calls it api_ptr_id, other tools api_id: each writer fills its own column */
        "CREATE TABLE rocpd_kernelapi("
        " api_ptr_id INTEGER UNIQUE REFERENCES rocpd_api(id),"
        " api_id INTEGER UNIQUE REFERENCES rocpd_api(id),"
        " stream TEXT,"
        " gridX INTEGER, gridY INTEGER, gridZ INTEGER,"
        " workgroupX INTEGER, workgroupY INTEGER, workgroupZ INTEGER,"
        " groupSegmentSize INTEGER, privateSegmentSize INTEGER,"
        " kernelName_id INTEGER REFERENCES rocpd_string(id));"
        "CREATE TABLE rocpd_copyapi("
        " api_ptr_id INTEGER UNIQUE REFERENCES rocpd_api(id),"
        " api_id INTEGER UNIQUE REFERENCES rocpd_api(id),"
        " stream TEXT, size INTEGER, dst TEXT, src TEXT, kind INTEGER, sync INTEGER);"
        "CREATE TABLE rocpd_metadata(id INTEGER PRIMARY KEY, tag TEXT, value TEXT);"
        "CREATE TABLE rocpd_monitor("
        " id INTEGER PRIMARY KEY, deviceType TEXT, deviceId INTEGER, monitorType TEXT,"
        " start INTEGER, end INTEGER, value TEXT);"
        "CREATE VIEW rocpd_ustring AS SELECT id, string FROM rocpd_string;",
};

/* The name of an op: its description, or for a copy, which has none, its type. In rtl-top's files the empty string has
 * id 1; after a merge with other files it may have another id or none. */
#define EMPTY "(SELECT id FROM rocpd_string WHERE string = '')"
#define NAME_ID "iif(o.description_id IS " EMPTY ", o.opType_id, o.description_id)"

/* Reads rows "boot PROCESS FROM" whose value is the offset. Not JSON: views may not call JSON functions. */
#define BOOT                                                                                                          \
    "SELECT process, from_ns, ifnull(lead(from_ns) OVER (PARTITION BY process ORDER BY from_ns, id),"                 \
    "  9223372036854775807) AS until_ns, offset_ns FROM (SELECT id, CAST(substr(tag, 6) AS INTEGER) AS process,"      \
    "  CAST(substr(tag, instr(substr(tag, 6), ' ') + 6) AS INTEGER) AS from_ns, CAST(value AS INTEGER) AS offset_ns"  \
    "  FROM rocpd_metadata WHERE tag GLOB 'boot [0-9]* [0-9]*')"
const char rtl_rocpd_boot_sql[] = BOOT;

const struct rtl_rocpd_view rtl_rocpd_views[RTL_ROCPD_VIEWS] = {
    {"top",
     "CREATE VIEW top AS"
     " SELECT s.string AS Name, count(*) AS Calls, sum(o.end - o.start) AS TotalNs, round(avg(o.end - o.start), 1) AS AvgNs,"
     "  min(o.end - o.start) AS MinNs, max(o.end - o.start) AS MaxNs,"
     "  round(100.0 * sum(o.end - o.start) / (SELECT sum(end - start) FROM rocpd_op WHERE gpuId >= 0 AND end >= start), 2) AS Pct"
     " FROM rocpd_op o JOIN rocpd_string s ON s.id = " NAME_ID
     " WHERE o.gpuId >= 0 AND o.end >= o.start GROUP BY " NAME_ID " ORDER BY TotalNs DESC"},
    /* the union of the kernels' intervals, at most 100 % even with overlapping kernels; no copies */
    {"busy",
     "CREATE VIEW busy AS"
     " SELECT gpuId, round(100.0 * sum(alone) / (max(end) - min(start)), 2) AS utilization_pct, count(*) AS ops,"
     "  sum(alone) AS busy_ns, max(end) - min(start) AS wall_ns"
     " FROM (SELECT gpuId, start, end,"
     "   max(0, end - max(start, ifnull(max(end) OVER (PARTITION BY gpuId ORDER BY start, id"
     "    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), start))) AS alone"
     "  FROM rocpd_op WHERE gpuId >= 0 AND end >= start AND description_id IS NOT " EMPTY ")"
     " GROUP BY gpuId"},
    {"op",
     "CREATE VIEW op AS"
     " SELECT o.id, gpuId, queueId, sequenceId, start, end, d.string AS description, t.string AS opType,"
     "  " SIGNAL " AS completionSignal"
     " FROM rocpd_op o LEFT JOIN rocpd_string d ON d.id = o.description_id"
     " LEFT JOIN rocpd_string t ON t.id = o.opType_id"},
    {"api",
     "CREATE VIEW api AS"
     " SELECT a.id, pid, tid, start, end, d.string AS domain, c.string AS category, n.string AS apiName,"
     "  s.string AS args"
     " FROM rocpd_api a LEFT JOIN rocpd_string d ON d.id = a.domain_id"
     " LEFT JOIN rocpd_string c ON c.id = a.category_id LEFT JOIN rocpd_string n ON n.id = a.apiName_id"
     " LEFT JOIN rocpd_ustring s ON s.id = a.args_id"},
    {"boot", "CREATE VIEW boot AS " BOOT},
};

bool rtl_rocpd_pack(const uint32_t grid[3], const uint16_t workgroup[3], int64_t *dims)
{
    uint64_t w[3], n[3];
    for (int i = 0; i < 3; i++) {
        if (!workgroup[i] || !grid[i] || grid[i] % workgroup[i])
            return false;
        w[i] = workgroup[i];
        n[i] = grid[i] / workgroup[i];
    }
    if (w[0] > 1024 || w[1] > 1024 || w[2] > 64)
        return false;
    if (w[1] == 1 && w[2] == 1 && n[1] == 1 && n[2] == 1) {
        uint64_t log2 = (uint64_t)__builtin_ctzll(w[0]);
        *dims = w[0] == 1ull << log2 ? (int64_t)(n[0] << 6 | log2 << 2 | 2) :
                (int64_t)(n[0] << 12 | (w[0] - 1) << 2);
        return true;
    }
    if (n[0] > 16383 || n[1] > 4096 || n[2] > 256)
        return false;
    *dims = (int64_t)((n[2] - 1) << 54 | (n[1] - 1) << 42 | n[0] << 28 | (w[2] - 1) << 22 | (w[1] - 1) << 12 |
                      (w[0] - 1) << 2 | 1);
    return true;
}
