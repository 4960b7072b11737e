/* rtl-top export FILE.db --perfetto OUT | --csv OUT: arguments, the file, names, ops. See export.h. */
#include "command/export.h"
#include "session/commands.h"
#include "session/complain.h"
#include "record/rocpd.h"
#include "shm/segment_reader.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRONG(...) (rtl_complain(__VA_ARGS__), RTL_READER_USAGE)

/* --- names --- */

static bool make_room(struct rtl_export *e)
{
    size_t room = e->name_room ? 2 * e->name_room : 1024;
    if (e->name_count < e->name_room)
        return true;
    struct rtl_export_name **more = realloc(e->name, room * sizeof *more);
    if (!more)
        return false;
    e->name = more;
    e->name_room = room;
    return true;
}

/*
 * A few bytes of a file can stand for a name in each row, computed or by default: more than it has in it is not kept.
 * What a segment's names take is allowed to any.
 */
static bool may_keep(struct rtl_export *e, size_t length)
{
    e->name_bytes += length;
    if (e->name_bytes <= RTL_NAMES_BYTES + rtl_db_bytes(e->db))
        return true;
    rtl_db_fail(e->db, RTL_DB_CORRUPT, "%s is damaged: its names are longer than the file", rtl_db_path(e->db));
    return false;
}

static void free_name(struct rtl_export_name *name)
{
    free(name->raw);
    free(name->full);
    free(name->shown);
    free(name);
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
    free_name(name);
    return NULL;
}

const struct rtl_export_name *rtl_export_name(struct rtl_export *e, int64_t id)
{
    struct rtl_identity identity = {{(uint64_t)id}};
    int64_t known = rtl_identities_find(e->name_index, &identity);
    size_t length;
    if (known >= 0)
        return e->name[known];
    struct rtl_db_statement *get = rtl_db_prepare(e->db, "SELECT string FROM rocpd_string WHERE id = ?");
    rtl_db_bind_int(get, 1, id);
    if (!rtl_db_step(get))
        return NULL;
    const char *text = rtl_db_text(get, 0, &length);
    struct rtl_export_name *name =
        may_keep(e, length) ? make_name(e, id, text, strlen(text) < length ? strlen(text) : length) : NULL;
    rtl_db_reset(get);
    if (name && make_room(e) && rtl_identities_add(e->name_index, &identity, (int64_t)e->name_count))
        return e->name[e->name_count++] = name;
    if (name)
        free_name(name);
    rtl_db_fail(e->db, RTL_DB_FAILED, "out of memory");
    return NULL;
}

void rtl_export_put(void *sink, const char *bytes, size_t count)
{
    rtl_sink_write(sink, bytes, count);
}

/* --- ops --- */

/* A number of the file's text: digits, and no more than fit. What has a sign, or is too large, is no size of anything.
 */
static const char *parse_number(const char *text, uint64_t *value)
{
    char *end;
    if (*text < '0' || *text > '9')
        return NULL;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return errno ? NULL : end;
}

static bool parse_three(const char *text, const char *key, uint64_t value[3])
{
    text = strstr(text, key);
    text = text ? parse_number(text + strlen(key), &value[0]) : NULL;
    text = text && *text == ',' ? parse_number(text + 1, &value[1]) : NULL;
    return text && *text == ',' && parse_number(text + 1, &value[2]);
}

/* "hwq=0x1 wg=256,1,1 grid=1024,1,1", as rocpd has it; of a copy "hwq=0x1 size=4096". */
static void parse_facts(const char *text, struct rtl_export_op *op)
{
    const char *size = strstr(text, "size=");
    op->has_shape = parse_three(text, "wg=", op->workgroup) && parse_three(text, "grid=", op->grid);
    op->has_bytes = size && parse_number(size + 5, &op->bytes);
}

bool rtl_export_next(struct rtl_export *e, struct rtl_export_op *op)
{
    if (!e->ops) {
        char sql[1200];
        snprintf(sql, sizeof sql,
                 "SELECT id, ifnull(gpuId, -1), ifnull(queueId, 0), ifnull(sequenceId, 0), start,"
                 " end, description_id, opType_id, %s"
                 " FROM rocpd_op WHERE start IS NOT NULL AND end >= start ORDER BY start",
                 rtl_rocpd_signal(e->db));
        e->ops = rtl_db_prepare(e->db, sql);
    }
    do {
        if (!rtl_db_step(e->ops))
            return false;
        *op = (struct rtl_export_op){.id = rtl_db_int(e->ops, 0),
                                     .gpu = rtl_db_int(e->ops, 1),
                                     .queue = rtl_db_int(e->ops, 2),
                                     .sequence = rtl_db_int(e->ops, 3),
                                     .start = rtl_db_int(e->ops, 4),
                                     .end = rtl_db_int(e->ops, 5)};
    } while (op->end < op->start); /* text, say: SQLite compares it in its own way */
    parse_facts(rtl_db_text(e->ops, 8, NULL), op);
    op->name = rtl_export_name(e, rtl_db_int(e->ops, 6));
    op->type = rtl_export_name(e, rtl_db_int(e->ops, 7));
    return !rtl_db_status(e->db) && !rtl_sink_failed(e->sink);
}

/* --- the command --- */

struct output {
    const char *path;
    void (*write)(struct rtl_export *);
    struct rtl_sink *sink;
};
enum { OUTPUTS = 2 };

struct command {
    const char *file;
    bool force;
    struct output output[OUTPUTS];
};

/* All of them are there, or can be, before the first one is written. */
static int open_outputs(struct command *c)
{
    char why[512];
    for (int i = 0; i < OUTPUTS; i++) {
        struct rtl_outfile_options options = {.force = c->force, .others = {c->file, c->output[!i].path}};
        if (options.others[1] && !strcmp(options.others[1], "-"))
            options.others[1] = NULL;
        if (!c->output[i].path)
            continue;
        c->output[i].sink = rtl_sink_open(c->output[i].path, &options, why, sizeof why);
        if (!c->output[i].sink) {
            rtl_complain("%s", why);
            return RTL_DB_PATH;
        }
    }
    return 0;
}

static int write_output(struct rtl_export *e, struct output *output)
{
    char why[512];
    e->sink = output->sink;
    e->written = 0;
    output->write(e);
    int status = (int)rtl_db_status(e->db);
    if (status)
        rtl_complain("%s", rtl_db_why(e->db));
    output->sink = NULL;
    if (!rtl_sink_close(e->sink, !status, why, sizeof why) && !status) {
        rtl_complain("%s", why);
        status = RTL_DB_FULL;
    }
    if (!status)
        rtl_complain("%llu dispatches, copies and markers in %s", (unsigned long long)e->written, output->path);
    return status;
}

static int write_outputs(struct command *c, struct rtl_export *e)
{
    if (!rtl_db_has_set(e->db, &rtl_rocpd_set)) {
        int refused = (int)rtl_db_status(e->db);
        if (refused)
            rtl_complain("%s", rtl_db_why(e->db));
        else
            rtl_complain("%s has no trace in it: record one with --trace", c->file);
        return refused ? refused : RTL_DB_MISSING;
    }
    e->names = rtl_names_create();
    e->name_index = rtl_identities_new(SIZE_MAX);
    int status = e->names && e->name_index ? open_outputs(c) : WRONG("out of memory");
    for (int i = 0; i < OUTPUTS && !status; i++)
        if (c->output[i].sink)
            status = write_output(e, &c->output[i]);
    for (int i = 0; i < OUTPUTS; i++)
        if (c->output[i].sink)
            rtl_sink_close(c->output[i].sink, false, (char[8]){0}, 8);
    rtl_names_free(e->names); /* its names are the table's */
    for (size_t i = 0; i < e->name_count; i++)
        free_name(e->name[i]);
    free(e->name);
    rtl_identities_free(e->name_index);
    rtl_export_queues_free(e);
    return status;
}

static int parse(struct command *c, int argc, char **argv)
{
    enum { PERFETTO = 256, CSV, FORCE };
    static const struct option options[] = {{"perfetto", required_argument, NULL, PERFETTO},
                                            {"csv", required_argument, NULL, CSV},
                                            {"force", no_argument, NULL, FORCE},
                                            {NULL, 0, NULL, 0}};
    *c = (struct command){.output = {{.write = rtl_export_perfetto}, {.write = rtl_export_csv}}};
    optind = 0;
    for (int o; (o = getopt_long(argc, argv, ":", options, NULL)) != -1;)
        switch (o) {
        case PERFETTO:
        case CSV:
            c->output[o - PERFETTO].path = optarg;
            break;
        case FORCE:
            c->force = true;
            break;
        default:
            if (o == ':')
                return WRONG("%s wants a file to write, or - for standard output", argv[optind - 1]);
            rtl_complain_of_option(argv[0], PERFETTO, argv[optind - 1]);
            return RTL_READER_USAGE;
        }
    if (argc - optind != 1 || (!c->output[0].path && !c->output[1].path))
        return WRONG("%s wants a trace and what to make of it: rtl-top export FILE.db --perfetto OUT.json.gz", argv[0]);
    c->file = argv[optind];
    return 0;
}

int rtl_export_command(int argc, char **argv)
{
    char why[512];
    struct command command;
    struct rtl_export e = {0};
    int status = parse(&command, argc, argv);
    if (status)
        return status;
    status = (int)rtl_db_open(command.file, &(struct rtl_db_options){.foreign = true}, &e.db, why, sizeof why);
    if (status) {
        rtl_complain("%s", why);
        return status;
    }
    status = write_outputs(&command, &e);
    rtl_db_close(e.db);
    return status;
}
