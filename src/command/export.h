/*
 * rtl-top export: a trace in the rocpd schema, ours or another tool's, as JSON for Perfetto or as CSV.
 *
 * Both stream: ops are sorted by start (by SQLite, which uses a temporary file for much) and written one by one; what
 * is kept is the names of kernels and the tracks.
 */
#ifndef RTL_COMMAND_EXPORT_H
#define RTL_COMMAND_EXPORT_H

#include "record/db.h"
#include "record/sink.h"
#include "text/names.h"

struct rtl_export;

/* A string of the file that names ops: what it is called on a track is different from all others. */
struct rtl_export_name {
    int64_t id; /* in rocpd_string */
    char *raw;  /* as it stands in the file */
    char *full; /* demangled, safe text */
    char *shown;
};

/* An op as both formats need it; NULL or -1 where the file says nothing. */
struct rtl_export_op {
    int64_t id, gpu, queue, sequence, start, end;
    const struct rtl_export_name *name, *type;
    bool has_shape; /* a dispatch */
    unsigned long workgroup[3], grid[3];
    bool has_bytes; /* a copy */
    uint64_t bytes;
};

struct rtl_export {
    struct rtl_db *db;
    struct rtl_sink *sink;
    struct rtl_names *names;
    struct rtl_export_name **name; /* hash table by id */
    size_t name_slots, name_count; /* slots: a power of two */
    struct rtl_db_statement *ops;
    uint64_t written; /* ops */
};

/* NULL without memory (the database then has the error), or when the file has no such string. */
const struct rtl_export_name *rtl_export_name(struct rtl_export *export, int64_t id);
/* The next op by start; false at the end and after an error, which the database has. */
bool rtl_export_next(struct rtl_export *export, struct rtl_export_op *op);

/* Write everything to the sink. Errors stay in the database and the sink. */
void rtl_export_perfetto(struct rtl_export *export);
void rtl_export_csv(struct rtl_export *export);

#endif
