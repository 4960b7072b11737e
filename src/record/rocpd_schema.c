/* The rocpd schema: names of tables, columns and views are the format. See rocpd.h. */
/* clang-format off */
#include "record/rocpd.h"

/*
 * dims, as rtl_rocpd_pack makes it: bits 0-1 say how. 0: workgroup x - 1 in 10 bits, then the workgroups in x, all else
 * is 1. 1: workgroup x - 1, y - 1 (10 bits each), z - 1 (6); workgroups in x (14), y - 1 (12), z - 1 (8). What doesn't
 * fit is text, and of a copy its size. Rare: `duration`, not `end`, because it is short.
 */
#define WX "((dims >> 2 & 1023) + 1)"
#define WY "((dims >> 12 & 1023) + 1)"
#define WZ "((dims >> 22 & 63) + 1)"
#define COMPLETION_SIGNAL                                                                                       \
    "CASE typeof(dims) WHEN 'text' THEN printf('hwq=0x%x %s', queueId, dims) WHEN 'integer' THEN"               \
    " CASE dims & 3 WHEN 0 THEN printf('hwq=0x%x wg=%d,1,1 grid=%d,1,1', queueId, " WX ", (dims >> 12) * " WX ")" \
    " ELSE printf('hwq=0x%x wg=%d,%d,%d grid=%d,%d,%d', queueId, " WX ", " WY ", " WZ ","                       \
    " (dims >> 28 & 16383) * " WX ", ((dims >> 42 & 4095) + 1) * " WY ", ((dims >> 54 & 255) + 1) * " WZ ") END END"

const struct rtl_db_set rtl_rocpd_set = {
    .table = "rocpd_op",
    .sql =
        "CREATE TABLE rocpd_string(id INTEGER PRIMARY KEY, string TEXT UNIQUE);"
        "CREATE TABLE rocpd_op("
        " id INTEGER PRIMARY KEY,"
        " gpuId INTEGER,"
        " queueId INTEGER,"
        " sequenceId INTEGER GENERATED ALWAYS AS (id & 1099511627775) VIRTUAL,"
        " completionSignal TEXT GENERATED ALWAYS AS (" COMPLETION_SIGNAL ") VIRTUAL,"
        " start INTEGER,"
        " end INTEGER GENERATED ALWAYS AS (start + duration) VIRTUAL,"
        " description_id INTEGER REFERENCES rocpd_string(id),"
        " opType_id INTEGER REFERENCES rocpd_string(id),"
        " roctxId INTEGER DEFAULT 0,"
        " correlation_id INTEGER DEFAULT 0,"
        " duration INTEGER,"
        " dims);"
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
        "CREATE TABLE rocpd_kernelapi("
        " api_ptr_id INTEGER PRIMARY KEY REFERENCES rocpd_api(id),"
        " api_id INTEGER GENERATED ALWAYS AS (api_ptr_id) VIRTUAL,"
        " stream TEXT,"
        " gridX INTEGER, gridY INTEGER, gridZ INTEGER,"
        " workgroupX INTEGER, workgroupY INTEGER, workgroupZ INTEGER,"
        " groupSegmentSize INTEGER, privateSegmentSize INTEGER,"
        " kernelName_id INTEGER REFERENCES rocpd_string(id));"
        "CREATE TABLE rocpd_copyapi("
        " api_ptr_id INTEGER PRIMARY KEY REFERENCES rocpd_api(id),"
        " api_id INTEGER GENERATED ALWAYS AS (api_ptr_id) VIRTUAL,"
        " stream TEXT, size INTEGER, dst TEXT, src TEXT, kind INTEGER, sync INTEGER);"
        "CREATE TABLE rocpd_metadata(id INTEGER PRIMARY KEY, tag TEXT, value TEXT);"
        "CREATE TABLE rocpd_monitor("
        " id INTEGER PRIMARY KEY, deviceType TEXT, deviceId INTEGER, monitorType TEXT,"
        " start INTEGER, end INTEGER, value TEXT);"
        "CREATE VIEW rocpd_ustring AS SELECT id, string FROM rocpd_string;",
};

/* What an op is called: a copy has no description (string 1 is empty), but a type. */
#define NAME_ID "iif(o.description_id = 1, o.opType_id, o.description_id)"

const struct rtl_rocpd_view rtl_rocpd_views[RTL_ROCPD_VIEWS] = {
    {"top",
     "CREATE VIEW top AS"
     " SELECT s.string AS Name, count(*) AS Calls, sum(o.duration) AS TotalNs, round(avg(o.duration), 1) AS AvgNs,"
     "  min(o.duration) AS MinNs, max(o.duration) AS MaxNs,"
     "  round(100.0 * sum(o.duration) / (SELECT sum(duration) FROM rocpd_op WHERE gpuId >= 0), 2) AS Pct"
     " FROM rocpd_op o JOIN rocpd_string s ON s.id = " NAME_ID
     " WHERE o.gpuId >= 0 GROUP BY " NAME_ID " ORDER BY TotalNs DESC"},
    /* the union of the kernels' intervals, so that overlapping kernels don't make more than 100 %; no copies */
    {"busy",
     "CREATE VIEW busy AS"
     " SELECT gpuId, round(100.0 * sum(alone) / (max(end) - min(start)), 2) AS utilization_pct, count(*) AS ops,"
     "  sum(alone) AS busy_ns, max(end) - min(start) AS wall_ns"
     " FROM (SELECT gpuId, start, end,"
     "   max(0, end - max(start, ifnull(max(end) OVER (PARTITION BY gpuId ORDER BY start, id"
     "    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), start))) AS alone"
     "  FROM rocpd_op WHERE gpuId >= 0 AND description_id <> 1)"
     " GROUP BY gpuId"},
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
        *dims = (int64_t)(n[0] << 12 | (w[0] - 1) << 2);
        return true;
    }
    if (n[0] > 16383 || n[1] > 4096 || n[2] > 256)
        return false;
    *dims = (int64_t)((n[2] - 1) << 54 | (n[1] - 1) << 42 | n[0] << 28 | (w[2] - 1) << 22 | (w[1] - 1) << 12 |
                      (w[0] - 1) << 2 | 1);
    return true;
}
