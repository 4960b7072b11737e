/* rtl-top export FILE.db --perfetto OUT | --csv OUT: arguments, the file, names, ops. See export.h. */
#include "command/export.h"
#include "record/rocpd.h"
#include "session/commands.h"
#include "session/complain.h"
#include "session/target.h"
#include "text/text.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/segment_reader.h"

#define WRONG(...) (rtl_complain(__VA_ARGS__), RTL_READER_USAGE)

/* --- names --- */

static size_t slot_of(const struct rtl_export *e, int64_t id)
{
    size_t at = (size_t)((uint64_t)id * 0x9e3779b97f4a7c15ull >> 32) & (e->name_slots - 1);
    while (e->name[at] && e->name[at]->id != id)
        at = (at + 1) & (e->name_slots - 1);
    return at;
}

static bool grow(struct rtl_export *e)
{
    struct rtl_export old = *e;
    e->name_slots = old.name_slots ? 2 * old.name_slots : 1024;
    e->name = calloc(e->name_slots, sizeof *e->name);
    if (!e->name) {
        *e = old;
        return false;
    }
    for (size_t i = 0; i < old.name_slots; i++)
        if (old.name[i])
            e->name[slot_of(e, old.name[i]->id)] = old.name[i];
    free(old.name);
    return true;
}

static struct rtl_export_name *make_name(struct rtl_export *e, int64_t id, const char *text, size_t length)
{
    struct rtl_export_name *name = calloc(1, sizeof *name);
    if (!name)
        return NULL;
    name->id = id;
    name->raw = malloc(length + 1);
    if (name->raw) {
        memcpy(name->raw, text, length + 1);
        name->full = rtl_name_full(name->raw, length);
    }
    const char *shown = name->full;
    if (name->full && e->name_count < RTL_KERNELS_MAX) /* more have no short names */
        shown = rtl_names_cell(e->names, (uint32_t)e->name_count, name->raw, length, RTL_NAME_SHORT, RTL_NAMES_WHOLE,
                               false);
    name->shown = shown ? strdup(shown) : NULL;
    if (name->shown)
        return name;
    free(name->raw);
    free(name->full);
    free(name);
    return NULL;
}

const struct rtl_export_name *rtl_export_name(struct rtl_export *e, int64_t id)
{
    if (2 * e->name_count >= e->name_slots && !grow(e)) {
        rtl_db_fail(e->db, RTL_DB_FAILED, "out of memory");
        return NULL;
    }
    size_t at = slot_of(e, id), length;
    if (e->name[at])
        return e->name[at];
    struct rtl_db_statement *get = rtl_db_prepare(e->db, "SELECT string FROM rocpd_string WHERE id = ?");
    rtl_db_bind_int(get, 1, id);
    if (!rtl_db_step(get))
        return NULL;
    const char *text = rtl_db_text(get, 0, &length);
    e->name[at] = make_name(e, id, text, strlen(text) < length ? strlen(text) : length);
    rtl_db_reset(get);
    if (!e->name[at])
        rtl_db_fail(e->db, RTL_DB_FAILED, "out of memory");
    else
        e->name_count++;
    return e->name[at];
}

/* --- ops --- */

/* "hwq=0x1 wg=256,1,1 grid=1024,1,1", as rocpd has it; of a copy "hwq=0x1 size=4096". */
static bool parse_shape(const char *text, struct rtl_export_op *op)
{
    const char *wg = strstr(text, "wg="), *grid = strstr(text, "grid=");
    return wg && grid && sscanf(wg, "wg=%lu,%lu,%lu", &op->workgroup[0], &op->workgroup[1], &op->workgroup[2]) == 3 &&
           sscanf(grid, "grid=%lu,%lu,%lu", &op->grid[0], &op->grid[1], &op->grid[2]) == 3;
}

bool rtl_export_next(struct rtl_export *e, struct rtl_export_op *op)
{
    if (!e->ops)
        e->ops = rtl_db_prepare(e->db, "SELECT id, ifnull(gpuId, -1), ifnull(queueId, 0), ifnull(sequenceId, 0), start,"
                                       " end, description_id, opType_id, completionSignal"
                                       " FROM rocpd_op WHERE start IS NOT NULL AND end >= start ORDER BY start");
    if (!rtl_db_step(e->ops))
        return false;
    *op = (struct rtl_export_op){.id = rtl_db_int(e->ops, 0),
                                 .gpu = rtl_db_int(e->ops, 1),
                                 .queue = rtl_db_int(e->ops, 2),
                                 .sequence = rtl_db_int(e->ops, 3),
                                 .start = rtl_db_int(e->ops, 4),
                                 .end = rtl_db_int(e->ops, 5)};
    const char *text = rtl_db_text(e->ops, 8, NULL), *size = strstr(text, "size=");
    op->has_shape = parse_shape(text, op);
    op->has_bytes = size && sscanf(size, "size=%" SCNu64, &op->bytes) == 1;
    op->name = rtl_export_name(e, rtl_db_int(e->ops, 6));
    op->type = rtl_export_name(e, rtl_db_int(e->ops, 7));
    return !rtl_db_status(e->db) && !rtl_sink_failed(e->sink);
}

/* --- the command --- */

static int export_to(const char *file, const char *out, void (*format)(struct rtl_export *))
{
    char why[512];
    struct rtl_export e = {0};
    struct rtl_db_options options = {.foreign = true};
    if (rtl_target_same_file(file, out))
        return WRONG("%s is the recording itself: give the export another name", out);
    int status = (int)rtl_db_open(file, &options, &e.db, why, sizeof why);
    if (status) {
        rtl_complain("%s", why);
        return status;
    }
    if (!rtl_db_has_set(e.db, &rtl_rocpd_set)) {
        status = rtl_db_status(e.db) ? (int)rtl_db_status(e.db) : (int)RTL_DB_MISSING;
        if (status == RTL_DB_MISSING)
            rtl_complain("%s has no trace in it: record one with --trace", file);
        else
            rtl_complain("%s", rtl_db_why(e.db));
        rtl_db_close(e.db);
        return status;
    }
    e.names = rtl_names_create();
    e.sink = rtl_sink_open(out, why, sizeof why);
    if (!e.names || !e.sink) {
        rtl_complain("%s", e.sink ? "out of memory" : why);
        status = e.sink ? (int)RTL_READER_USAGE : (int)RTL_DB_PATH;
    } else {
        format(&e);
        status = (int)rtl_db_status(e.db);
        if (status)
            rtl_complain("%s", rtl_db_why(e.db));
    }
    if (e.sink && !rtl_sink_close(e.sink, !status, why, sizeof why) && !status) {
        rtl_complain("%s", why);
        status = RTL_DB_FULL;
    }
    rtl_db_close(e.db);
    rtl_names_free(e.names); /* its names are the table's */
    for (size_t i = 0; i < e.name_slots; i++)
        if (e.name[i]) {
            free(e.name[i]->raw);
            free(e.name[i]->full);
            free(e.name[i]->shown);
            free(e.name[i]);
        }
    free(e.name);
    if (!status)
        fprintf(stderr, "rtl-top: %llu dispatches, copies and markers in %s\n", (unsigned long long)e.written, out);
    return status;
}

int rtl_export_command(int argc, char **argv)
{
    enum { PERFETTO = 256, CSV };
    static const struct option options[] = {
        {"perfetto", required_argument, NULL, PERFETTO}, {"csv", required_argument, NULL, CSV}, {NULL, 0, NULL, 0}};
    const char *perfetto = NULL, *csv = NULL;
    optind = 0;
    for (int o; (o = getopt_long(argc, argv, ":", options, NULL)) != -1;)
        switch (o) {
        case PERFETTO:
            perfetto = optarg;
            break;
        case CSV:
            csv = optarg;
            break;
        default:
            if (o == ':')
                return WRONG("%s wants a file to write, or - for standard output", argv[optind - 1]);
            return optopt ? WRONG("export has no option -%c; 'rtl-top --help' shows what it takes", optopt)
                          : WRONG("export has no option %s; 'rtl-top --help' shows what it takes", argv[optind - 1]);
        }
    if (argc - optind != 1 || (!perfetto && !csv))
        return WRONG("%s wants a trace and what to make of it: rtl-top export FILE.db --perfetto OUT.json.gz", argv[0]);
    int status = perfetto ? export_to(argv[optind], perfetto, rtl_export_perfetto) : 0;
    if (!status && csv)
        status = export_to(argv[optind], csv, rtl_export_csv);
    return status;
}
