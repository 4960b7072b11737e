/* Reads the names of GPUs, queues and processes of a trace, at once, because a file may have any number of them. Other
 * tools' files have numbers only. See export.h. */
#include "command/export.h"
#include "base/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/id_map.h"
#include "record/rocpd.h"

enum { MOST = 1 << 18, BOOTS = 1 << 12 /* enough for a suspend per hour for months */, PROCESS = 1, GPU, QUEUE };

struct rtl_export_queues {
    struct rtl_id_map *index; /* process -> pid; GPU or queue -> index in the arrays below */
    struct rtl_export_gpu *gpu;
    struct rtl_export_queue *queue;
    struct rtl_export_process *process; /* sorted by number */
    size_t gpus, queues, processes;
    uint32_t gpu_room, queue_room, process_room;
};

static struct rtl_id_key make_key(uint64_t kind, int64_t number, int64_t gpu)
{
    return (struct rtl_id_key){{kind, (uint64_t)number, (uint64_t)gpu}};
}

static int64_t find_number(const struct rtl_export_queues *q, uint64_t kind, int64_t number, int64_t gpu)
{
    struct rtl_id_key what = make_key(kind, number, gpu);
    return rtl_id_map_find(q->index, &what);
}

/* Adds a number unless it is known: the first of several counts, as in a file merged from others. */
static bool add_number(struct rtl_export_queues *q, uint64_t kind, int64_t number, int64_t gpu, int64_t value)
{
    struct rtl_id_key what = make_key(kind, number, gpu);
    return rtl_id_map_find(q->index, &what) < 0 && rtl_id_map_add(q->index, &what, value);
}

static bool make_room(struct rtl_export *e, void *array, size_t count, uint32_t *room, size_t size)
{
    bool grown = rtl_grow(array, room, count + 1, size);
    if (!grown)
        rtl_db_no_memory(e->db);
    return grown;
}

static void add_gpu(struct rtl_export *e, int64_t number, const char *pci, const char *name)
{
    struct rtl_export_queues *q = e->queues;
    if (!make_room(e, &q->gpu, q->gpus, &q->gpu_room, sizeof *q->gpu) ||
        !add_number(q, GPU, number, 0, (int64_t)q->gpus))
        return;
    struct rtl_export_gpu *gpu = &q->gpu[q->gpus++];
    *gpu = (struct rtl_export_gpu){.own = -1};
    snprintf(gpu->pci, sizeof gpu->pci, "%s", pci);
    snprintf(gpu->name, sizeof gpu->name, "%.79s", name);
}

static void add_queue(struct rtl_export *e, int64_t number, int64_t gpu, int64_t own, const char *name, int64_t pid)
{
    struct rtl_export_queues *q = e->queues;
    if (!make_room(e, &q->queue, q->queues, &q->queue_room, sizeof *q->queue) ||
        !add_number(q, QUEUE, number, gpu, (int64_t)q->queues))
        return;
    struct rtl_export_queue *queue = &q->queue[q->queues++];
    *queue = (struct rtl_export_queue){.pid = pid};
    snprintf(queue->name, sizeof queue->name, "%s", name);
    int64_t place = find_number(q, GPU, gpu, 0);
    if (place < 0 || own < 0)
        return;
    struct rtl_export_gpu *on = &q->gpu[place];
    on->own = on->own == -1 || on->own == own ? own : -2; /* processes have different numbers for it */
}

static void add_process(struct rtl_export *e, int64_t number, int64_t pid, const char *command)
{
    struct rtl_export_queues *q = e->queues;
    if (number < 0 || number > INT64_MAX >> RTL_ROCPD_SEQUENCE_BITS || !add_number(q, PROCESS, number, 0, pid) ||
        q->processes == RTL_EXPORT_PROCESSES ||
        !make_room(e, &q->process, q->processes, &q->process_room, sizeof *q->process))
        return;
    struct rtl_export_process *process = &q->process[q->processes++];
    *process = (struct rtl_export_process){.number = number, .pid = pid};
    snprintf(process->command, sizeof process->command, "%s", command);
}

static int by_number(const void *left, const void *right)
{
    const struct rtl_export_process *a = left, *b = right;
    return (a->number > b->number) - (a->number < b->number);
}

/* Queues need the names of processes and GPUs, so these are read first, in any order of the file. */
static const char known_sql[] =
    "SELECT tag, json_extract(v, '$.pid'), json_extract(v, '$.pci'),"
    " ifnull(json_extract(v, '$.name'), iif(json_extract(v, '$.copies'), 'copies', '')),"
    " json_extract(v, '$.process'), json_extract(v, '$.gpu'), ifnull(json_extract(v, '$.process_gpu'), -1),"
    " ifnull(nullif(json_extract(v, '$.command'), ''), json_extract(v, '$.comm'))"
    " FROM (SELECT id, tag, iif(json_valid(value), value, '{}') AS v FROM rocpd_metadata WHERE tag GLOB ?1)";

static void read_kind(struct rtl_export *e, const char *glob, size_t prefix, uint64_t kind)
{
    struct rtl_db_statement *row = rtl_db_prepare(e->db, known_sql);
    rtl_db_bind_text(row, 1, glob, strlen(glob));
    while (rtl_db_step(row) && rtl_id_map_count(e->queues->index) < MOST) {
        int64_t number;
        char name[sizeof e->queues->queue->name], pci[sizeof e->queues->gpu->pci];
        if (sscanf(rtl_db_text(row, 0, NULL) + prefix, "%18" SCNd64, &number) != 1)
            continue;
        snprintf(pci, sizeof pci, "%s", rtl_db_text(row, 2, NULL));
        snprintf(name, sizeof name, "%s", rtl_db_text(row, 3, NULL));
        if (kind == PROCESS)
            add_process(e, number, rtl_db_int(row, 1), rtl_db_text(row, 7, NULL));
        else if (kind == GPU)
            add_gpu(e, number, pci, name);
        else
            add_queue(e, number, rtl_db_int(row, 5), rtl_db_int(row, 6), name,
                      find_number(e->queues, PROCESS, rtl_db_int(row, 4), 0));
    }
    rtl_db_reset(row);
}

static bool load_queues(struct rtl_export *e)
{
    if (e->queues)
        return true;
    e->queues = calloc(1, sizeof *e->queues);
    if (!e->queues || !(e->queues->index = rtl_id_map_new(MOST))) {
        free(e->queues);
        e->queues = NULL;
        rtl_db_no_memory(e->db);
        return false;
    }
    if (rtl_db_has(e->db, "rocpd_metadata")) {
        read_kind(e, "process [0-9]*", 8, PROCESS);
        read_kind(e, "gpu [0-9]*", 4, GPU);
        read_kind(e, "queue [0-9]*", 6, QUEUE);
        if (e->queues->processes)
            qsort(e->queues->process, e->queues->processes, sizeof *e->queues->process, by_number);
    }
    return true;
}

const struct rtl_export_gpu *rtl_export_gpu(struct rtl_export *e, int64_t gpu)
{
    int64_t place = load_queues(e) ? find_number(e->queues, GPU, gpu, 0) : -1;
    return place < 0 ? NULL : &e->queues->gpu[place];
}

const struct rtl_export_queue *rtl_export_queue(struct rtl_export *e, int64_t gpu, int64_t queue)
{
    int64_t place = load_queues(e) ? find_number(e->queues, QUEUE, queue, gpu) : -1;
    return place < 0 ? NULL : &e->queues->queue[place];
}

const struct rtl_export_process *rtl_export_processes(struct rtl_export *e, size_t *count)
{
    *count = load_queues(e) ? e->queues->processes : 0;
    return *count ? e->queues->process : NULL;
}

const struct rtl_export_process *rtl_export_process_of(struct rtl_export *e, int64_t id)
{
    const struct rtl_export_process key = {.number = id >= 0 ? id >> RTL_ROCPD_SEQUENCE_BITS : -1};
    size_t count;
    const struct rtl_export_process *all = rtl_export_processes(e, &count);
    return count ? bsearch(&key, all, count, sizeof key, by_number) : NULL;
}

const struct rtl_export_boot *rtl_export_boot(struct rtl_export *e, int64_t id, int64_t at)
{
    const struct rtl_export_boot *found = NULL;
    if (!e->boots && (e->boots = calloc(BOOTS, sizeof *e->boots)) && rtl_db_has(e->db, "rocpd_metadata")) {
        char sql[1200];
        snprintf(sql, sizeof sql, "%s ORDER BY from_ns, until_ns", rtl_rocpd_boot_sql);
        struct rtl_db_statement *row = rtl_db_prepare(e->db, sql);
        for (; e->boot_count < BOOTS && rtl_db_step(row); e->boot_count++)
            e->boots[e->boot_count] =
                (struct rtl_export_boot){rtl_db_int(row, 0), rtl_db_int(row, 1), rtl_db_int(row, 3)};
        rtl_db_reset(row);
    }
    for (size_t i = e->boot_count; i-- > 0 && !(found && found->from <= at);)
        if (e->boots[i].process == id >> RTL_ROCPD_SEQUENCE_BITS)
            found = &e->boots[i];
    return found;
}

void rtl_export_queues_free(struct rtl_export *e)
{
    free(e->boots);
    if (!e->queues)
        return;
    rtl_id_map_free(e->queues->index);
    free(e->queues->gpu);
    free(e->queues->queue);
    free(e->queues->process);
    free(e->queues);
}
