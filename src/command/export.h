/*
 * rtl-top export: converts a trace in the rocpd schema, by rtl-top or another tool, to JSON for Perfetto, rocprofv3's
 * JSON or CSV.
 *
 * All formats stream: SQLite sorts ops by start, in a temporary file if needed, and each op is written before the next
 * is read. Only names of kernels and tracks stay in memory.
 */
#ifndef RTL_COMMAND_EXPORT_H
#define RTL_COMMAND_EXPORT_H

#include "record/db.h"
#include "record/id_map.h"
#include "record/sink.h"
#include "text/names.h"

struct rtl_export;

/* A string of the file that names ops. `shown`, its name on a track, is unique. */
struct rtl_export_name {
    int64_t id; /* in rocpd_string */
    char *raw;  /* as in the file */
    char *full; /* demangled, safe text */
    char *shown;
};

/* An op. NULL or -1 = not in the file. `end` is at least `start`. */
struct rtl_export_op {
    int64_t id, gpu, queue, sequence, start, end;
    int64_t call; /* row of rocpd_api that submitted it; 0 = unknown */
    bool in_api;  /* a marker that also has a row in rocpd_api */
    const struct rtl_export_name *name, *type;
    bool has_shape; /* it is a dispatch */
    uint64_t workgroup[3], grid[3];
    bool has_bytes; /* it is a copy */
    uint64_t bytes;
};

/* A GPU, and a queue on it; texts as in the file, truncated. */
struct rtl_export_gpu {
    char pci[32], name[80];
    int64_t own; /* the processes' number of this GPU; -1 = unknown, -2 = they differ */
};
struct rtl_export_queue {
    char name[128]; /* the process's name of it, "G1 04:00.0 queue 5"; empty in older files */
    int64_t pid;    /* -1 = unknown */
};

/* A process in a file of rtl-top. The ids of its ops, calls and markers begin at number << RTL_ROCPD_SEQUENCE_BITS. */
struct rtl_export_process {
    int64_t number, pid;
    char command[256]; /* command line, or name; as in the file, truncated */
};

/* From time `from` on, CLOCK_BOOTTIME is ahead of the process's times by `offset`. */
struct rtl_export_boot {
    int64_t process, from, offset;
};

struct rtl_export {
    struct rtl_db *db;
    struct rtl_sink *sink;
    struct rtl_names *names;
    struct rtl_export_name **name; /* [name_count], in order of first use */
    size_t name_count;
    uint32_t name_room;
    uint64_t name_bytes;              /* of all names in the file's form */
    struct rtl_id_map *name_index;    /* id -> index in `name` */
    struct rtl_export_queues *queues; /* queues and GPUs, read on first use */
    struct rtl_export_boot *boots;    /* [boot_count], sorted by `from`, read on first use */
    size_t boot_count;
    struct rtl_db_statement *ops;
    bool begun;
    bool bounded;     /* rtl_export_next returns only ops with ids from `from` to `to` */
    int64_t from, to; /* change them only after the last op */
    int links;        /* 1: ops are linked to calls; -1: not; 0: unknown yet */
    uint64_t written; /* ops */
};

/* Makes the members that remember names; rtl_export_end frees everything that the functions below allocate. */
bool rtl_export_begin(struct rtl_export *export);
void rtl_export_end(struct rtl_export *export);

/* Returns a name; NULL without memory or with endless names (the database has the error), or if the file lacks the
 * string. */
const struct rtl_export_name *rtl_export_name(struct rtl_export *export, int64_t id);
/* Reads the next op by start. False at the end and after an error, which the database has. */
bool rtl_export_next(struct rtl_export *export, struct rtl_export_op *op);

/* True if ops are linked to calls. In a damaged file an op may have several links; one of them counts. */
bool rtl_export_has_links(struct rtl_export *export);
#define RTL_EXPORT_LINKS                                                                                   \
    "SELECT l.op_id AS op, min(l.api_id) AS call FROM rocpd_api_ops l JOIN rocpd_api a ON a.id = l.api_id" \
    " GROUP BY l.op_id"

/* Returns NULL if the file doesn't describe it. */
const struct rtl_export_gpu *rtl_export_gpu(struct rtl_export *export, int64_t gpu);
const struct rtl_export_queue *rtl_export_queue(struct rtl_export *export, int64_t gpu, int64_t queue);
/* Returns the file's processes by number, at most RTL_EXPORT_PROCESSES; none for another tool's file. */
enum { RTL_EXPORT_PROCESSES = 256 };
const struct rtl_export_process *rtl_export_processes(struct rtl_export *export, size_t *count);
/* Returns the process of an op, call or marker; NULL if unknown. */
const struct rtl_export_process *rtl_export_process_of(struct rtl_export *export, int64_t id);
void rtl_export_queues_free(struct rtl_export *export); /* rtl_export_end calls it */

/* Returns the boot offset in force at time `at` of an op, call or marker, or the first known offset if that begins
 * later. NULL if the file has none. */
const struct rtl_export_boot *rtl_export_boot(struct rtl_export *export, int64_t id, int64_t at);

static inline int64_t rtl_export_boot_time(const struct rtl_export_boot *boot, int64_t at)
{
    return (int64_t)((uint64_t)at + (uint64_t)boot->offset); /* unsigned: a damaged file may overflow */
}

/* Condition on rocpd_api (a) and its args (s): rows by which rtl-top --trace names a process. */
#define RTL_EXPORT_OWN_MARKER "(a.id < 1 << 38 AND s.string GLOB 'rtl-top --trace: *')"

/* Returns to - from, 0 if negative. Does not overflow. */
uint64_t rtl_span_ns(int64_t from, int64_t to);

/* Writes to a sink; for rtl_quote_json and rtl_quote_csv (text/quote.h). */
void rtl_export_put(void *sink, const char *bytes, size_t count);

/* Write `before`, such as "{" or ",", then an integer member and its twin if it needs one (RTL_JSON_EXACT), or a
 * string. */
void rtl_export_int(struct rtl_sink *sink, const char *before, const char *key, int64_t value);
void rtl_export_uint(struct rtl_sink *sink, const char *before, const char *key, uint64_t value);
void rtl_export_string(struct rtl_sink *sink, const char *before, const char *text);

/* The tracks of a trace: one per queue of a GPU, and additional ones for overlapping ops. The slices of a track follow
 * one another. */
enum {
    RTL_TRACKS_OVERLAP = 64, /* tracks of a queue; further overlapping ops go to the last */
    RTL_TRACKS_SHAKE =
        1000, /* ns by which successive ops may seem to overlap: host times are interpolated between clock samples */
};

struct rtl_track {
    int64_t gpu, queue;
    unsigned number; /* from 0 among the tracks of its queue */
    bool used;       /* `end` is the end of the last slice */
    int64_t end;
    size_t next; /* next track of the queue: index + 1; 0 = none */
};

struct rtl_tracks { /* zero-initialise it */
    struct rtl_track *track;
    size_t count;
    uint32_t room;
    struct rtl_id_map *index; /* GPUs, and the first track of each queue */
};

/* Returns the index of the queue's first free track at the op's start; SIZE_MAX without memory. Pass ops by start. A
 * new track is the last one; `new_gpu`: it is the first of its GPU. */
size_t rtl_tracks_for(struct rtl_tracks *tracks, const struct rtl_export_op *op, bool *new_track, bool *new_gpu);
void rtl_tracks_free(struct rtl_tracks *tracks);

/* Write everything to the sink. Errors stay in the database and the sink. */
void rtl_export_perfetto(struct rtl_export *export);
void rtl_export_csv(struct rtl_export *export);
void rtl_export_rocprofv3(struct rtl_export *export);

#endif
