/* Writes a trace: rows in bulk, and the strings, queues and GPUs that they refer to on first sight. See rocpd.h. */
#include "record/rocpd.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "record/rocpd_numbers.h"
#include "shm/gpu_names.h"

enum {
    ROWS = 8192,      /* at a time: their integers stay in the cache */
    COLUMNS = 9,      /* of the statement below */
    LOOKS_MAX = 4096, /* monitor rows between two writes */
    STRING_EMPTY = 1,
    AGENTS = RTL_AGENTS_MAX + 1, /* the last one is for numbers that no agent can have */
    DIRECTIONS = RTL_DIRECTION_COUNT + 1,
    KINDS = RTL_QUEUE_KIND_UNKNOWN + 1,
};

static const char insert_rows[] = "INSERT OR IGNORE INTO rocpd_op"
                                  "(id,gpuId,queueId,sequenceId,start,end,description_id,opType_id,dims)"
                                  " SELECT * FROM rtl_rows";
static const char insert_row[] = "INSERT OR IGNORE INTO rocpd_op"
                                 "(id,gpuId,queueId,sequenceId,start,end,description_id,opType_id,completionSignal)"
                                 " VALUES(?,?,?,?,?,?,?,?,?)";

struct look {
    const char *type; /* of device */
    int64_t device, start, end, value;
    int64_t queue; /* -1: it is about signals */
};

struct gpu {
    bool known, described;
    int64_t id;        /* in the file */
    uint32_t own, bdf; /* the process's number; address */
};

struct queue {
    bool known;
    uint32_t generation;
    uint8_t agent;
    int64_t id;
};

struct rtl_rocpd {
    struct rtl_db *db;
    struct rtl_reader *reader;
    rtl_rocpd_escape *escape;
    struct rtl_numbers *numbers;
    int64_t pid, process, recording_row, batch_row, api_row;
    int64_t type;                  /* string: KernelExecution */
    int64_t copy_type[DIRECTIONS]; /* strings, 0 = not met yet */
    int64_t unknown;               /* string: what a kernel without a name is called */
    char host[80];
    uint64_t written, copies;        /* records; copies among them */
    uint64_t strange;                /* of them those whose queue or GPU the process doesn't have */
    size_t names;                    /* bytes of kernels' names so far */
    int64_t start, end;              /* of the first and the last op */
    uint64_t untimed, batch;         /* when last looked at */
    int64_t looked;                  /* when */
    int64_t kernel[RTL_KERNELS_MAX]; /* strings, 0 = not met yet */
    struct queue queue[RTL_QUEUES_MAX];
    struct gpu gpu[AGENTS];
    int64_t single[AGENTS][KINDS]; /* queues of the kinds that a GPU has one of, -1 = not met yet */
    struct rtl_snapshot facts;     /* the last one taken; names of queues and GPUs */
    bool fresh;                    /* it was taken in this write */
    int64_t depth[RTL_QUEUES_MAX], signals;
    struct look looks[LOOKS_MAX];
    uint32_t look_count;
    struct rtl_db_rows rows;
    int64_t values[ROWS * COLUMNS];
};

/* --- strings and metadata --- */

static int64_t string_id(struct rtl_db *db, const char *text)
{
    struct rtl_db_statement *add = rtl_db_prepare(db, "INSERT OR IGNORE INTO rocpd_string(string) VALUES(?)");
    rtl_db_bind_text(add, 1, text, strlen(text));
    rtl_db_run(add);
    struct rtl_db_statement *get = rtl_db_prepare(db, "SELECT id FROM rocpd_string WHERE string = ?");
    rtl_db_bind_text(get, 1, text, strlen(text));
    int64_t id = rtl_db_step(get) ? rtl_db_int(get, 0) : 0;
    rtl_db_reset(get);
    return id;
}

static int64_t add_metadata(struct rtl_db *db, const char *tag, const char *value)
{
    struct rtl_db_statement *add = rtl_db_prepare(db, "INSERT INTO rocpd_metadata(tag,value) VALUES(?,?)");
    rtl_db_bind_text(add, 1, tag, strlen(tag));
    rtl_db_bind_text(add, 2, value, strlen(value));
    return rtl_db_run(add) ? rtl_db_last_id(db) : 0;
}

static void set_metadata(struct rtl_db *db, int64_t row, const char *value)
{
    struct rtl_db_statement *set = rtl_db_prepare(db, "UPDATE rocpd_metadata SET value = ?2 WHERE id = ?1");
    rtl_db_bind_int(set, 1, row);
    rtl_db_bind_text(set, 2, value, strlen(value));
    rtl_db_run(set);
}

/* --- what rows refer to --- */

static int64_t kernel_id(struct rtl_rocpd *r, uint32_t kernel)
{
    if (kernel >= RTL_KERNELS_MAX)
        return r->unknown;
    if (r->kernel[kernel])
        return r->kernel[kernel];
    const char *name = rtl_reader_kernel_name(r->reader, kernel);
    size_t length = name ? strlen(name) : 0;
    if (!name || length > RTL_NAMES_BYTES - r->names) /* more than a segment holds, unless names lie over one another */
        return r->unknown;
    r->names += length;
    size_t room = 10 * length + 1; /* every byte an escape of a code point */
    char *safe = malloc(room);
    if (!safe) {
        rtl_db_fail(r->db, RTL_DB_FAILED, "out of memory");
        return 0;
    }
    r->escape(safe, room, name, length);
    int64_t id = *safe ? string_id(r->db, safe) : r->unknown; /* without a name are copies */
    free(safe);
    return r->kernel[kernel] = id;
}

static void refresh(struct rtl_rocpd *r)
{
    if (r->fresh)
        return;
    r->fresh = true;
    struct rtl_snapshot snapshot = {0};
    if (rtl_reader_snapshot(r->reader, &snapshot) != RTL_READER_OK)
        return; /* the facts stay what they were */
    rtl_snapshot_free(&r->facts);
    r->facts = snapshot;
}

static const struct rtl_agent_snapshot *agent_facts(const struct rtl_rocpd *r, uint32_t agent)
{
    for (uint32_t i = 0; i < r->facts.agent_count; i++)
        if (r->facts.agents[i].agent == agent)
            return &r->facts.agents[i];
    return NULL;
}

/* Of GPUs in parts, which may share an address. */
static uint32_t part_of(const struct rtl_rocpd *r, const struct rtl_agent_snapshot *a)
{
    uint32_t part = 0;
    for (uint32_t i = 0; i < r->facts.agent_count; i++) {
        const struct rtl_agent_snapshot *other = &r->facts.agents[i];
        part += other->agent < a->agent && other->bdf == a->bdf && !strcmp(other->uuid, a->uuid);
    }
    return part;
}

/* Gives an agent its number; `wanted`: only when it can be the one that it has on the screen. */
static void number_gpu(struct rtl_rocpd *r, uint32_t agent, const struct rtl_agent_snapshot *a, bool wanted)
{
    struct gpu *gpu = &r->gpu[agent];
    struct rtl_gpu_name address = rtl_pci_address(a ? a->bdf : RTL_NO_BDF);
    struct rtl_numbers_gpu g = {.host = r->host,
                                .pci = address.text,
                                .uuid = a ? a->uuid : "",
                                .part = a ? part_of(r, a) : 0,
                                .process = r->process,
                                .agent = a ? -1 : (int64_t)agent,
                                .own = a ? a->gpu : agent,
                                .name = a ? a->name : "",
                                .compute_units = a ? a->compute_units : 0};
    int64_t id = rtl_numbers_gpu(r->numbers, &g, wanted);
    if (id >= 0)
        *gpu = (struct gpu){.known = true, .described = a, .id = id, .own = g.own, .bdf = a ? a->bdf : RTL_NO_BDF};
}

/* All of the process's GPUs, before others of the file take their numbers. */
static void number_gpus(struct rtl_rocpd *r)
{
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < r->facts.agent_count; i++) {
            const struct rtl_agent_snapshot *a = &r->facts.agents[i];
            if (a->agent < RTL_AGENTS_MAX && !r->gpu[a->agent].known)
                number_gpu(r, a->agent, a, pass == 0);
        }
}

static uint32_t agent_of(const struct rtl_event_record *event)
{
    return event->agent < RTL_AGENTS_MAX ? event->agent : RTL_AGENTS_MAX;
}

static const struct gpu *gpu_of(struct rtl_rocpd *r, uint32_t agent)
{
    if (!r->gpu[agent].known) {
        if (!agent_facts(r, agent))
            refresh(r);
        number_gpu(r, agent, agent_facts(r, agent), false);
    }
    return &r->gpu[agent];
}

static const struct rtl_queue_snapshot *slot_facts(const struct rtl_rocpd *r, uint32_t slot)
{
    for (uint32_t i = 0; i < r->facts.queue_count; i++)
        if (r->facts.queues[i].slot == slot)
            return &r->facts.queues[i];
    return NULL;
}

/*
 * What the queue of an event is. A slot's generation only grows, and the facts are newer than the event: so one that is
 * larger than the slot's was never there.
 */
static enum rtl_queue_kind kind_of(struct rtl_rocpd *r, const struct rtl_event_record *event, uint64_t *queue_id)
{
    if (!event->generation)
        return RTL_QUEUE_KIND_OTHERS;
    const struct rtl_queue_snapshot *q = slot_facts(r, event->queue);
    if (!q || q->generation < event->generation) {
        refresh(r);
        q = slot_facts(r, event->queue);
    }
    if (!q || event->generation & 1 || q->generation < event->generation || event->agent >= RTL_AGENTS_MAX)
        return RTL_QUEUE_KIND_UNKNOWN;
    /* the generation goes on by 2 when the queue is destroyed, and by another 2 when the slot is used again */
    if (q->generation != event->generation && (q->live || q->generation != event->generation + 2))
        return RTL_QUEUE_KIND_GONE;
    *queue_id = q->queue_id;
    return q->agent == event->agent ? RTL_QUEUE_KIND_SEEN : RTL_QUEUE_KIND_UNKNOWN;
}

/* A queue of those that a GPU of the process has one of. */
static int64_t single_queue(struct rtl_rocpd *r, uint32_t agent, enum rtl_queue_kind kind)
{
    int64_t *id = &r->single[agent][kind];
    const struct gpu *gpu = gpu_of(r, agent);
    if (*id < 0)
        *id = rtl_numbers_queue(
            r->numbers, &(struct rtl_numbers_queue){
                            .kind = kind, .process = r->process, .gpu = gpu->id, .own = gpu->own, .bdf = gpu->bdf});
    return *id;
}

static int64_t queue_of(struct rtl_rocpd *r, const struct rtl_event_record *event)
{
    struct queue *slot = &r->queue[event->queue % RTL_QUEUES_MAX];
    uint64_t queue_id = 0;
    if (event->queue < RTL_QUEUES_MAX && slot->known && slot->generation == event->generation &&
        slot->agent == event->agent)
        return slot->id;
    enum rtl_queue_kind kind = event->queue < RTL_QUEUES_MAX ? kind_of(r, event, &queue_id) : RTL_QUEUE_KIND_UNKNOWN;
    if (kind == RTL_QUEUE_KIND_OTHERS || kind == RTL_QUEUE_KIND_UNKNOWN) {
        r->strange += kind == RTL_QUEUE_KIND_UNKNOWN;
        return single_queue(r, agent_of(event), kind);
    }
    const struct gpu *gpu = gpu_of(r, agent_of(event));
    int64_t id = rtl_numbers_queue(r->numbers, &(struct rtl_numbers_queue){.kind = kind,
                                                                           .process = r->process,
                                                                           .gpu = gpu->id,
                                                                           .own = gpu->own,
                                                                           .bdf = gpu->bdf,
                                                                           .slot = event->queue,
                                                                           .generation = event->generation,
                                                                           .queue_id = queue_id});
    if (id < 0) { /* too many */
        r->strange++;
        return single_queue(r, agent_of(event), RTL_QUEUE_KIND_UNKNOWN);
    }
    *slot = (struct queue){.known = true, .generation = event->generation, .agent = event->agent, .id = id};
    return id;
}

/* What the directions are called as an opType: as other tools call them, but that they have no word for the last. */
static int64_t copy_type(struct rtl_rocpd *r, uint32_t direction)
{
    static const char *const types[DIRECTIONS] = {[RTL_COPY_H2D] = "CopyHostToDevice",
                                                  [RTL_COPY_D2H] = "CopyDeviceToHost",
                                                  [RTL_COPY_D2D] = "CopyDeviceToDevice",
                                                  [RTL_COPY_P2P] = "CopyPeerToPeer",
                                                  [RTL_DIRECTION_COUNT] = "Copy"}; /* none of them */
    direction = direction < RTL_DIRECTION_COUNT ? direction : RTL_DIRECTION_COUNT;
    if (!r->copy_type[direction])
        r->copy_type[direction] = string_id(r->db, types[direction]);
    return r->copy_type[direction];
}

/* --- beginning --- */

static int64_t bounded(uint64_t value)
{
    return value < 1ull << 62 ? (int64_t)value : (int64_t)((1ull << 62) - 1);
}

static void find_process(struct rtl_rocpd *r, const char *title)
{
    char command[200], rocr[32], number[32];
    const struct rtl_snapshot *s = &r->facts;
    bool made;
    r->escape(command, sizeof command, title, strlen(title));
    snprintf(rocr, sizeof rocr, "%u.%u", s->runtime_major, s->runtime_minor);
    r->process = rtl_numbers_process(r->numbers,
                                     &(struct rtl_numbers_process){.host = r->host,
                                                                   .pid = r->pid,
                                                                   .start_real_ns = bounded(s->start_real_ns),
                                                                   .start_mono_ns = bounded(s->start_mono_ns),
                                                                   .comm = s->comm,
                                                                   .command = command,
                                                                   .rocr = rocr,
                                                                   .librtl = s->library_version},
                                     &made);
    if (!made)
        return; /* recorded before */
    snprintf(number, sizeof number, "%" PRId64, r->pid);
    add_metadata(r->db, "pid", number); /* what other tools look for */
    static const char *const modes[] = {
#define MODE(sym, num, name, text) [num] = name,
        RTL_MODES(MODE)
#undef MODE
    };
    add_metadata(r->db, "rtl_mode", s->mode < sizeof modes / sizeof *modes ? modes[s->mode] : "unknown");
}

/* A marker over the whole recording: readers take a file without API rows for empty, and it names the process. */
static void add_marker(struct rtl_rocpd *r, const char *title)
{
    char safe[200], text[300];
    r->escape(safe, sizeof safe, title, strlen(title));
    snprintf(text, sizeof text, "rtl-top --trace: process %" PRId64 " %s", r->pid, safe);
    int64_t marker = string_id(r->db, "UserMarker"), name = string_id(r->db, text);
    struct rtl_db_statement *add =
        rtl_db_prepare(r->db, "INSERT INTO rocpd_api(pid,tid,start,end,apiName_id,args_id) VALUES(?1,?1,?2,?2,?3,?4)");
    rtl_db_bind_int(add, 1, r->pid);
    rtl_db_bind_int(add, 2, r->start);
    rtl_db_bind_int(add, 3, marker);
    rtl_db_bind_int(add, 4, name);
    if (rtl_db_run(add))
        r->api_row = rtl_db_last_id(r->db);
}

static void move_marker(struct rtl_rocpd *r)
{
    struct rtl_db_statement *set = rtl_db_prepare(r->db, "UPDATE rocpd_api SET start = ?2, end = ?3 WHERE id = ?1");
    rtl_db_bind_int(set, 1, r->api_row);
    rtl_db_bind_int(set, 2, r->start);
    rtl_db_bind_int(set, 3, r->end);
    rtl_db_run(set);
}

static void make_views(struct rtl_db *db)
{
    for (int i = 0; i < RTL_ROCPD_VIEWS; i++) {
        const struct rtl_rocpd_view *view = &rtl_rocpd_views[i];
        char drop[64];
        struct rtl_db_statement *get = rtl_db_prepare(db, "SELECT sql = ?2 FROM sqlite_master WHERE name = ?1");
        rtl_db_bind_text(get, 1, view->name, strlen(view->name));
        rtl_db_bind_text(get, 2, view->sql, strlen(view->sql));
        bool there = rtl_db_step(get), same = there && rtl_db_int(get, 0);
        rtl_db_reset(get);
        if (same)
            continue;
        snprintf(drop, sizeof drop, "DROP VIEW IF EXISTS %s", view->name);
        rtl_db_exec(db, drop);
        rtl_db_exec(db, view->sql);
    }
}

struct rtl_rocpd *rtl_rocpd_begin(struct rtl_db *db, struct rtl_reader *reader, int64_t pid, const char *title,
                                  rtl_rocpd_escape *escape)
{
    char host[64] = "", name[48], number[32];
    static const char generated[] = "SELECT count(*) FROM pragma_table_xinfo('rocpd_op') WHERE hidden > 0";
    struct rtl_rocpd *r = calloc(1, sizeof *r);
    if (!r) {
        rtl_db_fail(db, RTL_DB_FAILED, "out of memory");
        return NULL;
    }
    r->db = db;
    r->reader = reader;
    r->escape = escape;
    r->pid = pid;
    r->signals = -1;
    memset(r->single, -1, sizeof r->single);
    for (int i = 0; i < RTL_QUEUES_MAX; i++)
        r->depth[i] = -1;
    gethostname(host, sizeof host - 1);
    r->escape(r->host, sizeof r->host, host, strlen(host));
    r->rows = (struct rtl_db_rows){.columns = COLUMNS, .values = r->values};
    refresh(r);

    rtl_db_need(db, &rtl_rocpd_set);
    if (!rtl_db_status(db) && rtl_db_one(db, generated) > 0)
        rtl_db_fail(db, RTL_DB_SCHEMA,
                    "%s holds a trace of an earlier rtl-top, which can be read and exported, but not added to: choose "
                    "another name",
                    rtl_db_path(db));
    r->numbers = rtl_numbers_open(db);
    if (!r->numbers) {
        rtl_rocpd_free(r);
        return NULL;
    }
    rtl_db_feed(db, &r->rows);
    rtl_db_exec(db, "PRAGMA cache_size=-16384");
    rtl_db_begin(db);
    make_views(db);
    rtl_db_exec(db, "INSERT OR IGNORE INTO rocpd_string(id,string) VALUES(1,'')");
    if (!rtl_db_one(db, "SELECT count(*) FROM rocpd_metadata WHERE tag = 'schema_version'")) {
        snprintf(number, sizeof number, "%d", RTL_ROCPD_SCHEMA);
        add_metadata(db, "schema_version", number);
        add_metadata(db, "clock", "CLOCK_MONOTONIC, ns");
    }
    r->type = string_id(db, "KernelExecution");
    r->unknown = string_id(db, "(unknown kernel)");
    find_process(r, title);
    number_gpus(r);
    snprintf(name, sizeof name, "recording %" PRId64,
             rtl_db_one(db, "SELECT count(*) FROM rocpd_metadata WHERE tag GLOB 'recording *'"));
    r->recording_row = add_metadata(db, name, "{}");
    r->batch_row = add_metadata(db, "drop_batch_skip", "0"); /* RTL's tag for dispatches of graphs that weren't timed */
    r->start = r->end = (int64_t)(r->facts.taken_mono_ns & INT64_MAX);
    add_marker(r, title);
    if (rtl_db_commit(db)) {
        rtl_rocpd_free(r);
        return NULL;
    }
    return r;
}

void rtl_rocpd_free(struct rtl_rocpd *r)
{
    if (!r)
        return;
    rtl_snapshot_free(&r->facts);
    rtl_numbers_free(r->numbers);
    free(r);
}

/* --- rows --- */

/* What has no room in `dims`: shapes that are rare, and what a copy has. */
static void add_text_row(struct rtl_rocpd *r, const int64_t *values, const struct rtl_event_record *e)
{
    char text[140];
    if (e->flags & RTL_EVENT_COPY)
        snprintf(text, sizeof text, "hwq=0x%" PRIx64 " size=%" PRIu64, values[2],
                 (uint64_t)e->grid[1] << 32 | e->grid[0]);
    else
        snprintf(text, sizeof text, "hwq=0x%" PRIx64 " wg=%u,%u,%u grid=%u,%u,%u", values[2], e->workgroup[0],
                 e->workgroup[1], e->workgroup[2], e->grid[0], e->grid[1], e->grid[2]);
    struct rtl_db_statement *add = rtl_db_prepare(r->db, insert_row);
    for (int i = 0; i < COLUMNS - 1; i++)
        rtl_db_bind_int(add, i + 1, values[i]);
    rtl_db_bind_text(add, COLUMNS, text, strlen(text));
    rtl_db_run(add);
}

static void add_rows(struct rtl_rocpd *r, const struct rtl_event_record *records, uint32_t count)
{
    struct rtl_db_statement *add = rtl_db_prepare(r->db, insert_rows);
    r->rows.count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct rtl_event_record *e = &records[i];
        int64_t *v = &r->values[r->rows.count * COLUMNS];
        int64_t start = bounded(e->start_ns), end = start + bounded(e->duration_ns);
        bool copy = e->flags & RTL_EVENT_COPY, first = !r->written++;
        r->copies += copy;
        const struct gpu *gpu = gpu_of(r, agent_of(e));
        uint64_t strange = r->strange;
        v[1] = gpu->id;
        v[2] = copy ? single_queue(r, agent_of(e), RTL_QUEUE_KIND_COPIES) : queue_of(r, e);
        v[3] = (int64_t)(e->sequence & ((1ull << RTL_ROCPD_SEQUENCE_BITS) - 1));
        v[0] = r->process << RTL_ROCPD_SEQUENCE_BITS | v[3];
        v[4] = start;
        v[5] = end;
        v[6] = copy ? STRING_EMPTY : kernel_id(r, e->kernel);
        v[7] = copy ? copy_type(r, e->kernel) : r->type;
        r->strange = strange + (r->strange > strange || !gpu->described);
        if (first || start < r->start)
            r->start = start;
        if (first || end > r->end)
            r->end = end;
        if (!copy && rtl_rocpd_pack(e->grid, e->workgroup, &v[8]))
            r->rows.count++;
        else
            add_text_row(r, v, e);
    }
    if (r->rows.count)
        rtl_db_run(add);
}

static void add_looks(struct rtl_rocpd *r)
{
    struct rtl_db_statement *add = rtl_db_prepare(
        r->db, "INSERT INTO rocpd_monitor(deviceType,deviceId,monitorType,start,end,value) VALUES(?,?,?,?,?,?)");
    for (uint32_t i = 0; i < r->look_count; i++) {
        const struct look *l = &r->looks[i];
        char type[40] = "signals in use", value[24];
        if (l->queue >= 0)
            snprintf(type, sizeof type, "queue %" PRId64 " depth", l->queue);
        snprintf(value, sizeof value, "%" PRId64, l->value);
        rtl_db_bind_text(add, 1, l->type, strlen(l->type));
        rtl_db_bind_int(add, 2, l->device);
        rtl_db_bind_text(add, 3, type, strlen(type));
        rtl_db_bind_int(add, 4, l->start);
        rtl_db_bind_int(add, 5, l->end);
        rtl_db_bind_text(add, 6, value, strlen(value));
        rtl_db_run(add);
    }
    r->look_count = 0;
}

static void write_state(struct rtl_rocpd *r, const struct rtl_rocpd_state *state)
{
    char json[640], number[32];
    const struct rtl_events *e = &state->events;
    snprintf(json, sizeof json,
             "{\"process\":%" PRId64 ",\"rows\":%" PRIu64 ",\"copies\":%" PRIu64 ",\"lost\":%" PRIu64
             ",\"before\":%" PRIu64 ",\"left_out\":%" PRIu64 ",\"unknown\":%" PRIu64 ",\"untimed\":%" PRIu64
             ",\"start_ns\":%" PRId64 ",\"end_ns\":%" PRId64 ",\"end\":\"%s\"}",
             r->process, r->written, r->copies, e->lost, e->first, state->left_out, r->strange, r->untimed, r->start,
             r->end, state->end ? state->end : "none: it was cut off");
    set_metadata(r->db, r->recording_row, json);
    snprintf(number, sizeof number, "%" PRIu64, r->batch);
    set_metadata(r->db, r->batch_row, number);
    move_marker(r);
}

enum rtl_db_status rtl_rocpd_write(struct rtl_rocpd *r, const struct rtl_event_record *records, uint32_t count,
                                   struct rtl_rocpd_state *state, const _Atomic bool *leave)
{
    uint32_t done = 0;
    r->fresh = false;
    rtl_db_begin(r->db);
    rtl_numbers_begin(r->numbers);
    for (uint32_t n; done < count && !rtl_db_status(r->db) && !(leave && atomic_load(leave)); done += n) {
        n = count - done < ROWS ? count - done : ROWS;
        add_rows(r, records + done, n);
    }
    state->left_out += count - done;
    add_looks(r);
    write_state(r, state);
    enum rtl_db_status status = rtl_db_commit(r->db);
    if (!status) {
        state->rows = r->written;
        state->copies = r->copies;
        state->unknown = r->strange;
    }
    return status;
}

uint64_t rtl_rocpd_steps(const struct rtl_rocpd *r)
{
    return rtl_numbers_steps(r->numbers);
}

/* --- monitors --- */

/* A row says what was seen at its start, and holds until the next look. */
static void look_at(struct rtl_rocpd *r, const char *type, int64_t device, int64_t queue, int64_t *value, int64_t now)
{
    int64_t was = *value;
    if (was >= 0 && r->look_count < LOOKS_MAX)
        r->looks[r->look_count++] =
            (struct look){.type = type, .device = device, .start = r->looked, .end = now, .value = was, .queue = queue};
}

void rtl_rocpd_look(struct rtl_rocpd *r)
{
    r->fresh = false;
    refresh(r);
    const struct rtl_snapshot *s = &r->facts;
    int64_t now = bounded(s->taken_mono_ns);
    r->untimed = s->untimed_total;
    r->batch = s->untimed[RTL_UNTIMED_BATCH];
    look_at(r, "process", r->pid, -1, &r->signals, now);
    r->signals = bounded(s->signals_in_use);
    for (uint32_t i = 0; i < s->queue_count; i++) {
        const struct rtl_queue_snapshot *q = &s->queues[i];
        const struct queue *known = &r->queue[q->slot % RTL_QUEUES_MAX];
        int64_t *depth = &r->depth[q->slot % RTL_QUEUES_MAX];
        if (known->known && known->generation == q->generation && known->agent == q->agent && q->agent < RTL_AGENTS_MAX)
            look_at(r, "gpu", r->gpu[known->agent].id, known->id, depth, now);
        *depth = bounded(q->depth);
    }
    r->looked = now;
}
