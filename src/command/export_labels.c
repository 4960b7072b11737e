/* Labels of GPUs and queues out of rocpd_metadata. See export_labels.h. */
#include "command/export_labels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_BYTES = 160 };

/* The first one of a number holds. */
static bool add(struct rtl_labels *l, struct rtl_index *index, int64_t number, const char *text)
{
    if (rtl_index_get(index, number, 0))
        return true;
    if (l->count == l->room) {
        size_t room = l->room ? 2 * l->room : 64;
        char **more = realloc(l->text, room * sizeof *more);
        if (!more)
            return false;
        l->text = more;
        l->room = room;
    }
    l->text[l->count] = strndup(text, LABEL_BYTES);
    if (!l->text[l->count])
        return false;
    l->count++;
    return rtl_index_add(index, number, 0, l->count);
}

/* Rows of (tag "KIND N", ...) whose value is JSON; false at the end. */
static bool next(struct rtl_db_statement *rows, size_t kind, int64_t *number)
{
    while (rtl_db_step(rows)) {
        const char *digits = rtl_db_text(rows, 0, NULL) + kind;
        char *end;
        *number = strtoll(digits, &end, 10);
        if (*digits >= '0' && *digits <= '9' && !*end)
            return true;
    }
    return false;
}

static struct rtl_db_statement *rows_of(struct rtl_db *db, const char *tags)
{
    struct rtl_db_statement *rows = rtl_db_prepare(
        db,
        "SELECT tag, ifnull(json_extract(value, '$.name'), '') || ' ' || ifnull(json_extract(value, '$.pci'), ''),"
        " json_extract(value, '$.pid'), json_extract(value, '$.process'), ifnull(json_extract(value, '$.copies'), 0)"
        " FROM rocpd_metadata WHERE tag GLOB ? AND json_valid(value) ORDER BY id");
    rtl_db_bind_text(rows, 1, tags, strlen(tags));
    return rows;
}

void rtl_labels_read(struct rtl_labels *l, struct rtl_db *db)
{
    struct rtl_index processes = {0};
    char text[LABEL_BYTES];
    int64_t number;
    bool fine = true;
    if (!rtl_db_has(db, "rocpd_metadata"))
        return;
    struct rtl_db_statement *rows = rows_of(db, "gpu *");
    while (fine && next(rows, strlen("gpu "), &number))
        fine = add(l, &l->gpus, number, rtl_db_text(rows, 1, NULL));
    rtl_db_reset(rows);
    rows = rows_of(db, "process *");
    while (fine && next(rows, strlen("process "), &number))
        if (!rtl_db_is_null(rows, 2)) {
            snprintf(text, sizeof text, " of process %.40s", rtl_db_text(rows, 2, NULL));
            fine = add(l, &processes, number, text);
        }
    rtl_db_reset(rows);
    rows = rows_of(db, "queue *");
    while (fine && next(rows, strlen("queue "), &number)) {
        size_t process = rtl_db_is_null(rows, 3) ? 0 : rtl_index_get(&processes, rtl_db_int(rows, 3), 0);
        if (!process)
            continue;
        snprintf(text, sizeof text, "%s%s", rtl_db_int(rows, 4) ? "copies" : "", l->text[process - 1]);
        fine = add(l, &l->queues, number, text);
    }
    rtl_db_reset(rows);
    rtl_index_free(&processes);
    if (!fine)
        rtl_db_fail(db, RTL_DB_FAILED, "out of memory");
}

static const char *label(const struct rtl_labels *l, const struct rtl_index *index, int64_t number)
{
    size_t at = rtl_index_get(index, number, 0);
    return at ? l->text[at - 1] : NULL;
}

const char *rtl_labels_gpu(const struct rtl_labels *l, int64_t gpu)
{
    return label(l, &l->gpus, gpu);
}

const char *rtl_labels_queue(const struct rtl_labels *l, int64_t queue)
{
    return label(l, &l->queues, queue);
}

void rtl_labels_free(struct rtl_labels *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->text[i]);
    free(l->text);
    rtl_index_free(&l->gpus);
    rtl_index_free(&l->queues);
}
