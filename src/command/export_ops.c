/* Reads a trace's ops and their names, and chooses the tracks of ops. See export.h. */
#include "command/export.h"
#include "base/array.h"
#include "record/rocpd.h"
#include "text/quote.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- names --- */

/* A computed column or a default could make a name per row from few bytes. So the kept names may take no more bytes
 * than the file, plus those of a segment's names. */
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
    if (name->full && e->name_count < RTL_KERNELS_MAX) /* other kernels have no short names */
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
    struct rtl_id_key identity = {{(uint64_t)id}};
    int64_t known = rtl_id_map_find(e->name_index, &identity);
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
    if (name && rtl_grow(&e->name, &e->name_room, e->name_count + 1, sizeof(struct rtl_export_name *)) &&
        rtl_id_map_add(e->name_index, &identity, (int64_t)e->name_count)) {
        e->name[e->name_count++] = name;
        return name;
    }
    if (name)
        free_name(name);
    rtl_db_no_memory(e->db);
    return NULL;
}

void rtl_export_put(void *sink, const char *bytes, size_t count)
{
    rtl_sink_write(sink, bytes, count);
}

static void put_integer(struct rtl_sink *sink, const char *before, const char *key, bool negative, uint64_t digits)
{
    const char *sign = negative ? "-" : "";
    rtl_sink_write(sink, before, strlen(before));
    rtl_sink_print(sink, "\"%s\":%s%" PRIu64, key, sign, digits);
    if (digits >= RTL_JSON_EXACT)
        rtl_sink_print(sink, ",\"%s" RTL_JSON_TWIN "\":\"%s%" PRIu64 "\"", key, sign, digits);
}

void rtl_export_int(struct rtl_sink *sink, const char *before, const char *key, int64_t value)
{
    put_integer(sink, before, key, value < 0, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void rtl_export_uint(struct rtl_sink *sink, const char *before, const char *key, uint64_t value)
{
    put_integer(sink, before, key, false, value);
}

void rtl_export_string(struct rtl_sink *sink, const char *before, const char *text)
{
    rtl_sink_write(sink, before, strlen(before));
    rtl_quote_json(rtl_export_put, sink, text);
}

/* --- ops --- */

/* Parses digits without a sign that fit into 64 bits; NULL for other text. */
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

/* Parses rocpd's "hwq=0x1 wg=256,1,1 grid=1024,1,1"; of a copy "hwq=0x1 size=4096". */
static void parse_description(const char *text, struct rtl_export_op *op)
{
    const char *size = strstr(text, "size=");
    op->has_shape = parse_three(text, "wg=", op->workgroup) && parse_three(text, "grid=", op->grid);
    op->has_bytes = size && parse_number(size + 5, &op->bytes);
}

bool rtl_export_has_links(struct rtl_export *e)
{
    if (!e->links)
        e->links = rtl_db_has(e->db, "rocpd_api_ops") && rtl_db_has(e->db, "rocpd_api") &&
                           rtl_db_one(e->db, "SELECT count(*) FROM (SELECT 1 FROM rocpd_api_ops LIMIT 1)")
                       ? 1
                       : -1;
    return e->links > 0;
}

/* True if markers have the id of their row in rocpd_api, as in newer files. */
static bool marks_apis(struct rtl_export *e)
{
    static const char sql[] = "SELECT count(*) FROM pragma_table_info('rocpd_op') WHERE name = 'roctxId'";
    return rtl_db_has(e->db, "rocpd_api") && rtl_db_one(e->db, sql) > 0;
}

bool rtl_export_next(struct rtl_export *e, struct rtl_export_op *op)
{
    if (!e->ops) {
        char sql[2000];
        snprintf(sql, sizeof sql,
                 "SELECT id, ifnull(gpuId, -1), ifnull(queueId, 0), ifnull(sequenceId, 0), start,"
                 " end, description_id, opType_id, %s, %s, %s"
                 " FROM rocpd_op%s WHERE start IS NOT NULL AND end >= start%s ORDER BY start, id",
                 rtl_rocpd_signal(e->db), rtl_export_has_links(e) ? "ifnull(links.call, 0)" : "0",
                 marks_apis(e) ? "gpuId < 0 AND roctxId <> 0 AND EXISTS (SELECT 1 FROM rocpd_api WHERE rocpd_api.id ="
                                 " rocpd_op.roctxId)"
                               : "0",
                 rtl_export_has_links(e) ? " LEFT JOIN (" RTL_EXPORT_LINKS ") links ON links.op = rocpd_op.id" : "",
                 e->bounded ? " AND rocpd_op.id BETWEEN ?1 AND ?2" : "");
        e->ops = rtl_db_prepare(e->db, sql);
        e->begun = false;
    }
    if (!e->begun && e->bounded) {
        rtl_db_bind_int(e->ops, 1, e->from);
        rtl_db_bind_int(e->ops, 2, e->to);
    }
    do {
        e->begun = rtl_db_step(e->ops);
        if (!e->begun)
            return false;
        *op = (struct rtl_export_op){.id = rtl_db_int(e->ops, 0),
                                     .gpu = rtl_db_int(e->ops, 1),
                                     .queue = rtl_db_int(e->ops, 2),
                                     .sequence = rtl_db_int(e->ops, 3),
                                     .start = rtl_db_int(e->ops, 4),
                                     .end = rtl_db_int(e->ops, 5)};
    } while (op->end < op->start); /* possible if the columns hold text, which SQLite compares differently */
    op->call = rtl_db_int(e->ops, 9);
    op->in_api = rtl_db_int(e->ops, 10) != 0;
    parse_description(rtl_db_text(e->ops, 8, NULL), op);
    op->name = rtl_export_name(e, rtl_db_int(e->ops, 6));
    op->type = rtl_export_name(e, rtl_db_int(e->ops, 7));
    return !rtl_db_status(e->db) && !rtl_sink_failed(e->sink);
}

bool rtl_export_begin(struct rtl_export *e)
{
    e->names = rtl_names_create();
    e->name_index = rtl_id_map_new(SIZE_MAX);
    return e->names && e->name_index;
}

void rtl_export_end(struct rtl_export *e)
{
    rtl_names_free(e->names); /* the short names point into the table's names */
    for (size_t i = 0; i < e->name_count; i++)
        free_name(e->name[i]);
    free(e->name);
    rtl_id_map_free(e->name_index);
    rtl_export_queues_free(e);
}

uint64_t rtl_span_ns(int64_t from, int64_t to)
{
    return to > from ? (uint64_t)to - (uint64_t)from : 0;
}

/* --- tracks --- */

enum { QUEUE = 1, GPU };

static bool is_free(const struct rtl_track *track, const struct rtl_export_op *op)
{
    uint64_t over = track->used ? rtl_span_ns(op->start, track->end) : 0;
    return !over || (over <= RTL_TRACKS_SHAKE && over < rtl_span_ns(op->start, op->end));
}

size_t rtl_tracks_for(struct rtl_tracks *t, const struct rtl_export_op *op, bool *new_track, bool *new_gpu)
{
    struct rtl_track *last = NULL;
    *new_track = *new_gpu = false;
    const struct rtl_id_key queue = {{QUEUE, (uint64_t)op->gpu, (uint64_t)op->queue}}, gpu = {{GPU, (uint64_t)op->gpu}};
    if (!t->index && !(t->index = rtl_id_map_new(SIZE_MAX)))
        return SIZE_MAX;
    for (size_t next = (size_t)(rtl_id_map_find(t->index, &queue) + 1); next; next = last->next) {
        last = &t->track[next - 1];
        if (is_free(last, op))
            return next - 1;
    }
    if (last && last->number + 1 >= RTL_TRACKS_OVERLAP)
        return (size_t)(last - t->track);
    size_t before = last ? (size_t)(last - t->track) : 0, at = t->count;
    bool first = !last;
    if (!rtl_grow(&t->track, &t->room, t->count + 1, sizeof *t->track) ||
        (first && !rtl_id_map_add(t->index, &queue, (int64_t)at)))
        return SIZE_MAX;
    *new_gpu = rtl_id_map_find(t->index, &gpu) < 0;
    if (*new_gpu && !rtl_id_map_add(t->index, &gpu, 0))
        return SIZE_MAX;
    t->track[at] = (struct rtl_track){.gpu = op->gpu, .queue = op->queue};
    if (!first) {
        t->track[at].number = t->track[before].number + 1;
        t->track[before].next = at + 1;
    }
    t->count++;
    *new_track = true;
    return at;
}

void rtl_tracks_free(struct rtl_tracks *t)
{
    free(t->track);
    rtl_id_map_free(t->index);
}
