/*
 * rtl-top export: a trace in the rocpd schema, ours or another tool's, as JSON for Perfetto or as
 * rocprofv3's, or as CSV.
 *
 * Both stream: ops are sorted by start (by SQLite, which uses a temporary file for much) and written one by one; what
 * is kept is the names of kernels and the tracks.
 */
#ifndef RTL_COMMAND_EXPORT_H
#define RTL_COMMAND_EXPORT_H

#include "record/db.h"
#include "record/id_map.h"
#include "record/sink.h"
#include "text/names.h"

struct rtl_export;

/* A string of the file that names ops; `shown`, its name on a track, differs from that of every other. */
struct rtl_export_name {
    int64_t id; /* in rocpd_string */
    char *raw;  /* as it stands in the file */
    char *full; /* demangled, safe text */
    char *shown;
};

/* An op as both formats need it; NULL or -1 where the file says nothing. It does not end before it starts. */
struct rtl_export_op {
    int64_t id, gpu, queue, sequence, start, end;
    int64_t call; /* in rocpd_api, that submitted it; 0 = none is known */
    bool in_api;  /* a marker that is in rocpd_api, too */
    const struct rtl_export_name *name, *type;
    bool has_shape; /* a dispatch */
    uint64_t workgroup[3], grid[3];
    bool has_bytes; /* a copy */
    uint64_t bytes;
};

/* What the file says of a GPU, and of a queue on it; text as it stands there, cut. */
struct rtl_export_gpu {
    char pci[32], name[80];
    int64_t own; /* the number that its processes have for it; -1 = none says, -2 = they have different ones */
};
struct rtl_export_queue {
    char name[128]; /* as its process calls it: "G1 04:00.0 queue 5"; empty in older files */
    int64_t pid;    /* -1 = not known */
};

/* A process of a file of ours: the ids of its ops, calls and markers are number << RTL_ROCPD_SEQUENCE_BITS and up. */
struct rtl_export_process {
    int64_t number, pid;
    char command[256]; /* its command line, or its name; as it stands there, cut */
};

/* CLOCK_BOOTTIME is ahead of the process's times by `offset` from `from` on. */
struct rtl_export_boot {
    int64_t process, from, offset;
};

struct rtl_export {
    struct rtl_db *db;
    struct rtl_sink *sink;
    struct rtl_names *names;
    struct rtl_export_name **name; /* [name_count], in the order of first sight */
    size_t name_count;
    uint32_t name_room;
    uint64_t name_bytes;              /* of all names, as they stand in the file */
    struct rtl_id_map *name_index;    /* by id: place in `name` */
    struct rtl_export_queues *queues; /* what is known of them, read on first use */
    struct rtl_export_boot *boots;    /* likewise, by `from`, [boot_count] */
    size_t boot_count;
    struct rtl_db_statement *ops;
    bool begun;
    bool bounded;     /* only ops whose ids lie from `from` to `to` are handed out */
    int64_t from, to; /* to be changed only where ops have come to their end */
    int links;        /* ops have calls: 1, or -1: they don't; 0: not asked so far */
    uint64_t written; /* ops */
};

/* NULL without memory or when names are endless (the database then has the error), or when the file has no such string.
 */
const struct rtl_export_name *rtl_export_name(struct rtl_export *export, int64_t id);
void rtl_export_names_free(struct rtl_export *export);
/* The next op by start; false at the end and after an error, which the database has. */
bool rtl_export_next(struct rtl_export *export, struct rtl_export_op *op);

/* Whether ops are linked to calls; of an op that is linked to several, as a damaged file may have it, one counts. */
bool rtl_export_has_links(struct rtl_export *export);
#define RTL_EXPORT_LINKS                                                                                   \
    "SELECT l.op_id AS op, min(l.api_id) AS call FROM rocpd_api_ops l JOIN rocpd_api a ON a.id = l.api_id" \
    " GROUP BY l.op_id"

/* NULL where the file says nothing. */
const struct rtl_export_gpu *rtl_export_gpu(struct rtl_export *export, int64_t gpu);
const struct rtl_export_queue *rtl_export_queue(struct rtl_export *export, int64_t gpu, int64_t queue);
/* Processes of the file by number, at most RTL_EXPORT_PROCESSES of them; none in another tool's. */
enum { RTL_EXPORT_PROCESSES = 256 };
const struct rtl_export_process *rtl_export_processes(struct rtl_export *export, size_t *count);
/* Whose op, call or marker that id is; NULL where the file doesn't say. */
const struct rtl_export_process *rtl_export_process_of(struct rtl_export *export, int64_t id);
void rtl_export_queues_free(struct rtl_export *export);

/* Returns the boot offset for time `at` of the op, call or marker with that id: the offset in force then, or the first
 * known one if that begins later; NULL if the file has none. */
const struct rtl_export_boot *rtl_export_boot(struct rtl_export *export, int64_t id, int64_t at);

static inline int64_t rtl_export_boot_time(const struct rtl_export_boot *boot, int64_t at)
{
    return (int64_t)((uint64_t)at + (uint64_t)boot->offset); /* unsigned: a damaged file may overflow */
}

/* Rows of rocpd_api that rtl-top --trace has made to name a process, as a condition on a (rocpd_api) and its args s. */
#define RTL_EXPORT_OWN_MARKER "(a.id < 1 << 38 AND s.string GLOB 'rtl-top --trace: *')"

/* For rtl_quote_json and rtl_quote_csv (text/quote.h). */
void rtl_export_put(void *sink, const char *bytes, size_t count);

/* Write everything to the sink. Errors stay in the database and the sink. */
void rtl_export_perfetto(struct rtl_export *export);
void rtl_export_csv(struct rtl_export *export);
void rtl_export_rocprofv3(struct rtl_export *export);

#endif
