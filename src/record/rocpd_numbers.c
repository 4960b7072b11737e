/* Numbers of processes, GPUs and queues in a trace. See rocpd_numbers.h. */
#include "record/rocpd_numbers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/id_map.h"
#include "shm/gpu_names.h"
#include "shm/hash.h"

/* First words of keys. The table has each object twice: by its identity, and by its number (*_TAKEN). */
enum { PROCESS = 1, GPU, UNDESCRIBED_GPU, QUEUE, PROCESS_TAKEN, GPU_TAKEN, QUEUE_TAKEN };

/* RESERVE: entries that every process gets, for each GPU and its two other queues. */
enum {
    RESERVE = 1024,
    ROOM = 2 * (RTL_NUMBERS_MOST + RTL_NUMBERS_QUEUES + RESERVE),
    PROCESSES_MOST = 1 << 23 /* the bits of an op's id above the sequence */
};

struct rtl_numbers {
    struct rtl_db *db;
    struct rtl_id_map *table;
    int64_t last_row;                           /* the last row that is in the table */
    bool is_current;                            /* rows of other processes are in the table, too */
    int64_t next_process, next_gpu, next_queue; /* all numbers below are in use */
    uint32_t queues;                            /* added by this recording */
};

/* --- what is in the file --- */

static struct rtl_id_key process_identity(const char *host, int64_t pid, int64_t start_real_ns)
{
    return (struct rtl_id_key){{PROCESS, rtl_hash(host, strlen(host)), (uint64_t)pid, (uint64_t)start_real_ns}};
}

static struct rtl_id_key gpu_identity(const char *host, const char *pci, const char *uuid, int64_t part)
{
    return (struct rtl_id_key){
        {GPU, rtl_hash(host, strlen(host)), rtl_hash(pci, strlen(pci)), rtl_hash(uuid, strlen(uuid)), (uint64_t)part}};
}

static struct rtl_id_key undescribed_identity(int64_t process, int64_t agent)
{
    return (struct rtl_id_key){{UNDESCRIBED_GPU, (uint64_t)process, (uint64_t)agent}};
}

/* SEEN and GONE queues are identified by slot and generation; of the other kinds each GPU has one queue. */
static struct rtl_id_key queue_identity(int64_t process, int64_t gpu, int64_t kind, int64_t slot, int64_t generation)
{
    bool single = kind >= RTL_QUEUE_KIND_OTHERS;
    return (struct rtl_id_key){{QUEUE, (uint64_t)process, (uint64_t)gpu, single ? (uint64_t)kind << 32 : (uint64_t)slot,
                                single ? 0 : (uint64_t)generation}};
}

static struct rtl_id_key taken(uint64_t kind, int64_t gpu, int64_t number)
{
    return (struct rtl_id_key){{kind, (uint64_t)gpu, (uint64_t)number}};
}

static const char *const queue_kinds[] = {[RTL_QUEUE_KIND_SEEN] = "queue",
                                          [RTL_QUEUE_KIND_GONE] = "gone",
                                          [RTL_QUEUE_KIND_OTHERS] = "others",
                                          [RTL_QUEUE_KIND_COPIES] = "copies",
                                          [RTL_QUEUE_KIND_UNKNOWN] = "unknown"};

static int queue_kind(const char *key)
{
    int kind = RTL_QUEUE_KIND_UNKNOWN;
    while (kind > RTL_QUEUE_KIND_SEEN && strcmp(key, queue_kinds[kind]))
        kind--;
    return kind;
}

static bool is_free(struct rtl_numbers *n, uint64_t kind, int64_t gpu, int64_t number)
{
    struct rtl_id_key identity = taken(kind, gpu, number);
    return rtl_id_map_find(n->table, &identity) < 0;
}

static void too_many(struct rtl_numbers *n)
{
    rtl_db_fail(n->db, RTL_DB_SCHEMA,
                "%s holds more than %d processes, GPUs and queues: choose another name for the trace",
                rtl_db_path(n->db), RTL_NUMBERS_MOST);
}

static void add_key(struct rtl_numbers *n, const struct rtl_id_key *identity, int64_t number)
{
    if (rtl_id_map_find(n->table, identity) >= 0 || rtl_id_map_add(n->table, identity, number))
        return;
    if (rtl_id_map_count(n->table) < ROOM)
        rtl_db_no_memory(n->db);
    else
        too_many(n);
}

/* Add an object and its number. In a merged file an object may have several numbers: the first is used. */
static void add_number(struct rtl_numbers *n, const struct rtl_id_key *identity, uint64_t kind, int64_t gpu,
                       int64_t number)
{
    struct rtl_id_key number_taken = taken(kind, gpu, number);
    add_key(n, identity, number);
    add_key(n, &number_taken, number);
}

/* Columns of the statement below. */
enum { ID, TAG, HOST, PID, START, PCI, UUID, PART, OF_PROCESS, AGENT, OF_GPU, KIND, SLOT, GENERATION };

static const char known_sql[] =
    "SELECT id, tag, json_extract(v, '$.host'), json_extract(v, '$.pid'), json_extract(v, '$.start_real_ns'),"
    " json_extract(v, '$.pci'), json_extract(v, '$.uuid'), json_extract(v, '$.part'), json_extract(v, '$.process'),"
    " json_extract(v, '$.agent'), json_extract(v, '$.gpu'), json_extract(v, '$.kind'), json_extract(v, '$.slot'),"
    " json_extract(v, '$.generation')"
    " FROM (SELECT id, tag, iif(json_valid(value), value, '{}') AS v FROM rocpd_metadata WHERE id > ?1"
    " AND (tag GLOB 'process [0-9]*' OR tag GLOB 'gpu [0-9]*' OR tag GLOB 'queue [0-9]*')) ORDER BY id";

static void read_row(struct rtl_numbers *n, struct rtl_db_statement *row)
{
    static const char *const kinds[] = {"process ", "gpu ", "queue "};
    char tag[48];
    int64_t number = -1;
    snprintf(tag, sizeof tag, "%s", rtl_db_text(row, TAG, NULL));
    size_t kind = 0, length = 0;
    while (kind < 3 && strncmp(tag, kinds[kind], length = strlen(kinds[kind])))
        kind++;
    if (kind == 3 || sscanf(tag + length, "%9" SCNd64, &number) != 1)
        return; /* rtl-top's numbers have up to 9 digits */
    char host[128];
    snprintf(host, sizeof host, "%s", rtl_db_text(row, HOST, NULL));
    struct rtl_id_key identity;
    if (kind == 0) {
        identity = process_identity(host, rtl_db_int(row, PID), rtl_db_int(row, START));
        add_number(n, &identity, PROCESS_TAKEN, 0, number);
    } else if (kind == 1) {
        char pci[32], uuid[64];
        snprintf(pci, sizeof pci, "%s", rtl_db_text(row, PCI, NULL));
        snprintf(uuid, sizeof uuid, "%s", rtl_db_text(row, UUID, NULL));
        identity = rtl_db_is_null(row, AGENT)
                       ? gpu_identity(host, pci, uuid, rtl_db_int(row, PART))
                       : undescribed_identity(rtl_db_int(row, OF_PROCESS), rtl_db_int(row, AGENT));
        add_number(n, &identity, GPU_TAKEN, 0, number);
    } else {
        int64_t gpu = rtl_db_int(row, OF_GPU);
        identity = queue_identity(rtl_db_int(row, OF_PROCESS), gpu, queue_kind(rtl_db_text(row, KIND, NULL)),
                                  rtl_db_int(row, SLOT), rtl_db_int(row, GENERATION));
        add_number(n, &identity, QUEUE_TAKEN, gpu, number);
    }
}

/* Read the rows that were added since the last call. */
static void catch_up(struct rtl_numbers *n, size_t most)
{
    if (n->is_current)
        return;
    n->is_current = true;
    struct rtl_db_statement *known = rtl_db_prepare_ints(n->db, known_sql, n->last_row);
    while (rtl_db_step(known)) {
        n->last_row = rtl_db_int(known, ID);
        read_row(n, known);
        if (rtl_id_map_count(n->table) > most)
            too_many(n);
    }
    rtl_db_reset(known);
}

struct rtl_numbers *rtl_numbers_open(struct rtl_db *db)
{
    struct rtl_numbers *n = calloc(1, sizeof *n);
    if (!n || !(n->table = rtl_id_map_new(ROOM))) {
        free(n);
        rtl_db_no_memory(db);
        return NULL;
    }
    n->db = db;
    n->next_queue = RTL_NUMBERS_OWN;
    catch_up(n, 2 * RTL_NUMBERS_MOST); /* leaves room for this recording's objects */
    n->is_current = false;
    if (rtl_db_status(db)) {
        rtl_numbers_free(n);
        return NULL;
    }
    return n;
}

void rtl_numbers_free(struct rtl_numbers *n)
{
    if (n)
        rtl_id_map_free(n->table);
    free(n);
}

void rtl_numbers_begin(struct rtl_numbers *n)
{
    n->is_current = false;
}

uint64_t rtl_numbers_steps(const struct rtl_numbers *n)
{
    return rtl_id_map_steps(n->table);
}

/* --- new objects --- */

/* Return the number or -1; reads rows that another recorder has added. */
static int64_t find_number(struct rtl_numbers *n, const struct rtl_id_key *identity)
{
    int64_t number = rtl_id_map_find(n->table, identity);
    if (number >= 0 || n->is_current)
        return number;
    catch_up(n, ROOM);
    return rtl_id_map_find(n->table, identity);
}

/* Run an INSERT of a metadata row. */
static void add_description(struct rtl_numbers *n, struct rtl_db_statement *add)
{
    if (rtl_db_run(add))
        n->last_row = rtl_db_last_id(n->db); /* the transaction is open, so no other process has added a row */
}

int64_t rtl_numbers_process(struct rtl_numbers *n, const struct rtl_snapshot *process, const char *host, int64_t pid,
                            const struct rtl_clock_offsets *clocks, const char *command, bool *made)
{
    char rocr[32];
    int64_t start_real_ns = rtl_rocpd_bounded(process->start_real_ns);
    struct rtl_id_key identity = process_identity(host, pid, start_real_ns);
    int64_t number = find_number(n, &identity);
    *made = number < 0;
    if (number >= 0)
        return number;
    for (number = n->next_process; !is_free(n, PROCESS_TAKEN, 0, number); number++)
        continue;
    n->next_process = number + 1;
    if (number >= PROCESSES_MOST) {
        rtl_db_fail(n->db, RTL_DB_SCHEMA, "%s holds too many processes: choose another name for the trace",
                    rtl_db_path(n->db));
        return 0;
    }
    struct rtl_db_statement *add = rtl_db_prepare_ints(
        n->db,
        "INSERT INTO rocpd_metadata(tag,value) VALUES('process ' || ?1, json_object('host',?7,'pid',?2,"
        "'start_real_ns',?3,'start_mono_ns',?4,'comm',?8,'command',?9,'rocr',?10,'librtl',?11,'mono_ahead_ns',?5,"
        "'boot_ahead_ns',?6))",
        number, pid, start_real_ns, rtl_rocpd_bounded(process->start_mono_ns), clocks->mono_ns, clocks->boot_ns);
    snprintf(rocr, sizeof rocr, "%u.%u", process->runtime_major, process->runtime_minor);
    rtl_db_bind_strings(add, 7, host, process->comm, command, rocr, process->library_version);
    add_description(n, add);
    add_number(n, &identity, PROCESS_TAKEN, 0, number);
    return number;
}

int64_t rtl_numbers_gpu(struct rtl_numbers *n, const char *host, int64_t process, uint32_t agent,
                        const struct rtl_agent_snapshot *gpu, uint32_t part, bool wanted)
{
    struct rtl_gpu_name pci = rtl_pci_address(gpu ? gpu->bdf : RTL_NO_BDF);
    struct rtl_id_key identity =
        gpu ? gpu_identity(host, pci.text, gpu->uuid, part) : undescribed_identity(process, agent);
    int64_t number = find_number(n, &identity);
    if (number >= 0)
        return number;
    number = gpu ? gpu->gpu : agent;
    if (number >= RTL_NUMBERS_OWN || !is_free(n, GPU_TAKEN, 0, number)) {
        if (wanted)
            return -1;
        for (number = n->next_gpu; !is_free(n, GPU_TAKEN, 0, number); number++)
            continue;
        n->next_gpu = number;
    }
    struct rtl_db_statement *add;
    if (gpu) {
        add = rtl_db_prepare_ints(n->db,
                                  "INSERT INTO rocpd_metadata(tag,value) VALUES('gpu ' || ?1, json_object('host',?4,"
                                  "'pci',?5,'uuid',?6,'part',?2,'name',?7,'compute_units',?3))",
                                  number, part, gpu->compute_units);
        rtl_db_bind_strings(add, 4, host, pci.text, gpu->uuid, gpu->name);
    } else {
        add = rtl_db_prepare_ints(
            n->db, "INSERT INTO rocpd_metadata(tag,value) VALUES('gpu ' || ?1, json_object('process',?2,'agent',?3))",
            number, process, agent);
    }
    add_description(n, add);
    add_number(n, &identity, GPU_TAKEN, 0, number);
    return number;
}

/* The name on the process's screen, so that users can compare trace and screen. */
static void name_queue(const struct rtl_numbers_queue *q, int64_t number, char *name, size_t size)
{
    struct rtl_gpu_name gpu = rtl_gpu_name(q->own, q->bdf);
    switch (q->kind) {
    case RTL_QUEUE_KIND_SEEN:
        snprintf(name, size, "%s", rtl_queue_name(q->own, q->bdf, q->queue_id).text);
        break;
    case RTL_QUEUE_KIND_GONE:
        snprintf(name, size, "%s gone queue %" PRId64, gpu.text, number);
        break;
    case RTL_QUEUE_KIND_OTHERS:
        snprintf(name, size, "%s", rtl_other_queues_name(q->own, q->bdf).text);
        break;
    case RTL_QUEUE_KIND_COPIES:
        snprintf(name, size, "%s copies", gpu.text);
        break;
    case RTL_QUEUE_KIND_UNKNOWN:
        snprintf(name, size, "%s unknown queues", gpu.text);
        break;
    }
}

int64_t rtl_numbers_queue(struct rtl_numbers *n, const struct rtl_numbers_queue *q)
{
    bool single = q->kind >= RTL_QUEUE_KIND_OTHERS;
    struct rtl_id_key identity = queue_identity(q->process, q->gpu, q->kind, q->slot, q->generation);
    int64_t number = find_number(n, &identity);
    if (number >= 0)
        return number;
    if (!single &&
        (n->queues >= RTL_NUMBERS_QUEUES || rtl_id_map_count(n->table) >= 2 * (RTL_NUMBERS_MOST + RTL_NUMBERS_QUEUES)))
        return -1;
    n->queues += !single;
    number = q->kind == RTL_QUEUE_KIND_SEEN && q->queue_id < RTL_NUMBERS_OWN ? (int64_t)q->queue_id : -1;
    if (number < 0 || !is_free(n, QUEUE_TAKEN, q->gpu, number)) {
        for (number = n->next_queue; !is_free(n, QUEUE_TAKEN, q->gpu, number); number++)
            continue;
        n->next_queue = number + 1;
    }
    char name[100];
    name_queue(q, number, name, sizeof name);
    struct rtl_db_statement *add =
        rtl_db_prepare_ints(n->db,
                            "INSERT INTO rocpd_metadata(tag,value) VALUES('queue ' || ?1, json_object('process',?2,"
                            "'gpu',?3,'process_gpu',?4,'queue',?5,'name',?8,'kind',?9,'slot',?6,'generation',?7,"
                            "'way',?10,'way_why',?11))",
                            number, q->process, q->gpu, q->own,
                            q->queue_id <= INT64_MAX ? (int64_t)q->queue_id : INT64_MAX, q->slot, q->generation);
    rtl_db_bind_strings(add, 8, name, queue_kinds[q->kind], rtl_queue_path_key(q->path),
                        rtl_path_reason_key(q->path_reason));
    if (q->kind != RTL_QUEUE_KIND_SEEN)
        rtl_db_bind_null(add, 5);
    if (single) {
        rtl_db_bind_null(add, 6);
        rtl_db_bind_null(add, 7);
    }
    add_description(n, add);
    add_number(n, &identity, QUEUE_TAKEN, q->gpu, number);
    return number;
}
