/* Writes a trace: rows in bulk, and the strings, queues and GPUs that they refer to on first sight. See rocpd.h. */
#include "record/rocpd.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    ROWS = 8192,        /* at a time: their integers stay in the cache */
    COLUMNS = 8,        /* of the statement below */
    QUEUES_MAX = 65536, /* identities of queues in one recording; a damaged segment could make any number */
    LOOKS_MAX = 4096,   /* monitor rows between two writes */
    JSON_BYTES = 640,
    STRING_EMPTY = 1,
};

static const char insert_rows[] = "INSERT OR IGNORE INTO rocpd_op"
                                  "(id,gpuId,queueId,start,duration,description_id,opType_id,dims)"
                                  " SELECT * FROM rtl_rows";
static const char insert_row[] = "INSERT OR IGNORE INTO rocpd_op"
                                 "(id,gpuId,queueId,start,duration,description_id,opType_id,dims)"
                                 " VALUES(?,?,?,?,?,?,?,?)";

struct look {
    const char *type; /* of device */
    int64_t device, start, end, value;
    int64_t queue; /* -1: it is about signals */
};

struct queue {
    uint32_t generation;
    bool known;
    int64_t id;
};

struct rtl_rocpd {
    struct rtl_db *db;
    struct rtl_reader *reader;
    rtl_rocpd_escape *escape;
    int64_t pid, process, recording_row, batch_row, api_row;
    int64_t type;                                                       /* string: KernelExecution */
    int64_t copy_type[RTL_DIRECTION_COUNT], copy_queue[RTL_AGENTS_MAX]; /* 0 and -1 = not met yet */
    int64_t unknown; /* string: what a kernel without a name is called */
    char host[80];
    int64_t start, end;              /* of the first and the last op */
    uint64_t untimed, batch;         /* when last looked at */
    int64_t looked;                  /* when */
    int64_t kernel[RTL_KERNELS_MAX]; /* strings, 0 = not met yet */
    struct queue queue[RTL_QUEUES_MAX];
    uint32_t queues;
    int64_t gpu[RTL_AGENTS_MAX]; /* -1 = not met yet */
    struct rtl_snapshot facts;   /* the last one taken; names of queues and GPUs */
    bool fresh;                  /* it was taken in this write */
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

/* The row of a kind whose JSON starts like that (its identity comes first), or a new one with what is added behind. */
static int64_t entity(struct rtl_db *db, const char *kind, const char *identity, const char *more)
{
    struct rtl_db_statement *find = rtl_db_prepare(db, "SELECT substr(tag, length(?1) + 2) FROM rocpd_metadata WHERE"
                                                       " tag GLOB ?1 || ' *' AND substr(value, 1, length(?2)) = ?2");
    rtl_db_bind_text(find, 1, kind, strlen(kind));
    rtl_db_bind_text(find, 2, identity, strlen(identity));
    int64_t number = -1;
    if (rtl_db_step(find))
        number = rtl_db_int(find, 0);
    rtl_db_reset(find);
    if (number >= 0)
        return number;
    struct rtl_db_statement *count =
        rtl_db_prepare(db, "SELECT count(*) FROM rocpd_metadata WHERE tag GLOB ?1 || ' *'");
    rtl_db_bind_text(count, 1, kind, strlen(kind));
    number = rtl_db_step(count) ? rtl_db_int(count, 0) : 0;
    rtl_db_reset(count);
    char tag[40], json[2 * JSON_BYTES];
    snprintf(tag, sizeof tag, "%s %" PRId64, kind, number);
    snprintf(json, sizeof json, "%s%s}", identity, more);
    add_metadata(db, tag, json);
    return number;
}

/* Safe text within a JSON string. */
static void quote(char *out, size_t size, const char *text)
{
    size_t n = 0;
    for (; *text && n + 3 < size; text++) {
        if (*text == '"' || *text == '\\')
            out[n++] = '\\';
        out[n++] = *text;
    }
    out[n] = '\0';
}

/* --- what rows refer to --- */

static int64_t kernel_id(struct rtl_rocpd *r, uint32_t kernel)
{
    if (kernel >= RTL_KERNELS_MAX)
        return r->unknown;
    if (r->kernel[kernel])
        return r->kernel[kernel];
    const char *name = rtl_reader_kernel_name(r->reader, kernel);
    if (!name)
        return r->unknown;
    size_t room = 10 * strlen(name) + 1; /* every byte an escape of a code point */
    char *safe = malloc(room);
    if (!safe) {
        rtl_db_fail(r->db, RTL_DB_FAILED, "out of memory");
        return 0;
    }
    r->escape(safe, room, name, strlen(name));
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
        if (r->facts.agents[i].gpu == agent)
            return &r->facts.agents[i];
    return NULL;
}

static int64_t gpu_id(struct rtl_rocpd *r, uint32_t agent)
{
    if (agent >= RTL_AGENTS_MAX)
        agent = RTL_AGENTS_MAX - 1;
    if (r->gpu[agent] >= 0)
        return r->gpu[agent];
    const struct rtl_agent_snapshot *a = agent_facts(r, agent);
    if (!a) {
        refresh(r);
        a = agent_facts(r, agent);
    }
    char identity[JSON_BYTES], more[JSON_BYTES], name[2 * RTL_AGENT_NAME_MAX + 2];
    uint32_t bdf = a ? a->bdf : 0;
    if (a)
        snprintf(identity, sizeof identity, "{\"host\":\"%s\",\"pci\":\"%04x:%02x:%02x.%x\",", r->host, bdf >> 16,
                 bdf >> 8 & 0xff, bdf >> 3 & 0x1f, bdf & 7);
    else
        snprintf(identity, sizeof identity, "{\"process\":%" PRId64 ",\"agent\":%u,", r->process, agent);
    quote(name, sizeof name, a ? a->name : "");
    snprintf(more, sizeof more, "\"name\":\"%s\",\"compute_units\":%u", name, a ? a->compute_units : 0);
    return r->gpu[agent] = entity(r->db, "gpu", identity, more);
}

static const struct rtl_queue_snapshot *queue_facts(const struct rtl_rocpd *r, uint32_t slot, uint32_t generation)
{
    for (uint32_t i = 0; i < r->facts.queue_count; i++) {
        const struct rtl_queue_snapshot *q = &r->facts.queues[i];
        /* the generation goes on by 2 when the queue is destroyed, and by another 2 when the slot is used again */
        if (q->slot == slot && (q->generation == generation || (!q->live && q->generation == generation + 2)))
            return q;
    }
    return NULL;
}

static int64_t queue_id(struct rtl_rocpd *r, const struct rtl_event_record *event)
{
    struct queue *queue = &r->queue[event->queue % RTL_QUEUES_MAX];
    if (queue->known && (queue->generation == event->generation || r->queues >= QUEUES_MAX))
        return queue->id;
    const struct rtl_queue_snapshot *q = queue_facts(r, event->queue, event->generation);
    if (!q) {
        refresh(r);
        q = queue_facts(r, event->queue, event->generation);
    }
    char identity[JSON_BYTES], more[JSON_BYTES] = "\"shared\":true";
    snprintf(identity, sizeof identity, "{\"process\":%" PRId64 ",\"slot\":%u,\"generation\":%u,\"gpu\":%" PRId64 ",",
             r->process, event->queue, event->generation, gpu_id(r, event->agent));
    if (event->generation)
        q ? snprintf(more, sizeof more, "\"queue\":%" PRIu64, q->queue_id)
          : snprintf(more, sizeof more, "\"queue\":null"); /* gone before it was looked at */
    *queue =
        (struct queue){.generation = event->generation, .known = true, .id = entity(r->db, "queue", identity, more)};
    r->queues++;
    return queue->id;
}

/* What the directions are called as an opType: as other tools call them, but that they have no word for the last. */
static int64_t copy_type(struct rtl_rocpd *r, uint32_t direction)
{
    static const char *const types[RTL_DIRECTION_COUNT] = {[RTL_COPY_H2D] = "CopyHostToDevice",
                                                           [RTL_COPY_D2H] = "CopyDeviceToHost",
                                                           [RTL_COPY_D2D] = "CopyDeviceToDevice",
                                                           [RTL_COPY_P2P] = "CopyPeerToPeer"};
    direction %= RTL_DIRECTION_COUNT;
    if (!r->copy_type[direction])
        r->copy_type[direction] = string_id(r->db, types[direction]);
    return r->copy_type[direction];
}

/* No queue of the application's: what its copies are on. */
static int64_t copy_queue(struct rtl_rocpd *r, uint32_t agent)
{
    char identity[JSON_BYTES];
    agent = agent < RTL_AGENTS_MAX ? agent : RTL_AGENTS_MAX - 1;
    if (r->copy_queue[agent] < 0) {
        snprintf(identity, sizeof identity, "{\"process\":%" PRId64 ",\"copies\":true,\"gpu\":%" PRId64 ",", r->process,
                 gpu_id(r, agent));
        r->copy_queue[agent] = entity(r->db, "queue", identity, "\"queue\":null");
    }
    return r->copy_queue[agent];
}

/* --- beginning --- */

static void find_process(struct rtl_rocpd *r, const char *title)
{
    char safe[200], quoted[420], comm[2 * RTL_COMM_MAX + 4], identity[JSON_BYTES], more[2 * JSON_BYTES - 20],
        number[32];
    const struct rtl_snapshot *s = &r->facts;
    r->escape(safe, sizeof safe, title, strlen(title));
    quote(quoted, sizeof quoted, safe);
    quote(comm, sizeof comm, s->comm);
    snprintf(identity, sizeof identity, "{\"host\":\"%s\",\"pid\":%" PRId64 ",\"start_real_ns\":%" PRIu64 ",", r->host,
             r->pid, s->start_real_ns);
    snprintf(more, sizeof more,
             "\"start_mono_ns\":%" PRIu64 ",\"comm\":\"%s\",\"command\":\"%s\",\"rocr\":\"%u.%u\",\"librtl\":\"%s\"",
             s->start_mono_ns, comm, quoted, s->runtime_major, s->runtime_minor, s->library_version);
    int64_t before = rtl_db_one(r->db, "SELECT count(*) FROM rocpd_metadata WHERE tag = 'pid'");
    r->process = entity(r->db, "process", identity, more);
    if (before > r->process)
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
    for (int i = 0; i < RTL_AGENTS_MAX; i++)
        r->gpu[i] = r->copy_queue[i] = -1;
    for (int i = 0; i < RTL_QUEUES_MAX; i++)
        r->depth[i] = -1;
    gethostname(host, sizeof host - 1);
    r->escape(name, sizeof name, host, strlen(host));
    quote(r->host, sizeof r->host, name);
    r->rows = (struct rtl_db_rows){.columns = COLUMNS, .values = r->values};
    refresh(r);

    rtl_db_need(db, &rtl_rocpd_set);
    rtl_db_feed(db, &r->rows);
    rtl_db_mute(db, "printf");
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
    if (r)
        rtl_snapshot_free(&r->facts);
    free(r);
}

/* --- rows --- */

static void add_text_row(struct rtl_rocpd *r, const int64_t *values, const struct rtl_event_record *e)
{
    char text[120];
    if (e->flags & RTL_EVENT_COPY)
        snprintf(text, sizeof text, "size=%" PRIu64, (uint64_t)e->grid[1] << 32 | e->grid[0]);
    else
        snprintf(text, sizeof text, "wg=%u,%u,%u grid=%u,%u,%u", e->workgroup[0], e->workgroup[1], e->workgroup[2],
                 e->grid[0], e->grid[1], e->grid[2]);
    struct rtl_db_statement *add = rtl_db_prepare(r->db, insert_row);
    for (int i = 0; i < COLUMNS - 1; i++)
        rtl_db_bind_int(add, i + 1, values[i]);
    rtl_db_bind_text(add, COLUMNS, text, strlen(text));
    rtl_db_run(add);
}

static int64_t bounded(uint64_t value)
{
    return value < 1ull << 62 ? (int64_t)value : (int64_t)((1ull << 62) - 1);
}

static void add_rows(struct rtl_rocpd *r, const struct rtl_event_record *records, uint32_t count, bool *first)
{
    struct rtl_db_statement *add = rtl_db_prepare(r->db, insert_rows);
    r->rows.count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct rtl_event_record *e = &records[i];
        int64_t *v = &r->values[r->rows.count * COLUMNS];
        int64_t start = bounded(e->start_ns), duration = bounded(e->duration_ns);
        v[0] = r->process << RTL_ROCPD_SEQUENCE_BITS | (int64_t)(e->sequence & ((1ull << RTL_ROCPD_SEQUENCE_BITS) - 1));
        v[1] = gpu_id(r, e->agent);
        bool copy = e->flags & RTL_EVENT_COPY;
        v[2] = copy ? copy_queue(r, e->agent) : queue_id(r, e);
        v[3] = start;
        v[4] = duration;
        v[5] = copy ? STRING_EMPTY : kernel_id(r, e->kernel);
        v[6] = copy ? copy_type(r, e->kernel) : r->type;
        if (*first || start < r->start)
            r->start = start;
        if (*first || start + duration > r->end)
            r->end = start + duration;
        *first = false;
        if (!copy && rtl_rocpd_pack(e->grid, e->workgroup, &v[7]))
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
    char json[JSON_BYTES], number[32];
    const struct rtl_events *e = &state->events;
    snprintf(json, sizeof json,
             "{\"process\":%" PRId64 ",\"rows\":%" PRIu64 ",\"copies\":%" PRIu64 ",\"lost\":%" PRIu64
             ",\"before\":%" PRIu64 ",\"untimed\":%" PRIu64 ",\"start_ns\":%" PRId64 ",\"end_ns\":%" PRId64
             ",\"end\":\"%s\"}",
             r->process, e->next - e->first - e->lost, state->copies, e->lost, e->first, r->untimed, r->start, r->end,
             state->end ? state->end : "none: it was cut off");
    set_metadata(r->db, r->recording_row, json);
    snprintf(number, sizeof number, "%" PRIu64, r->batch);
    set_metadata(r->db, r->batch_row, number);
    move_marker(r);
}

enum rtl_db_status rtl_rocpd_write(struct rtl_rocpd *r, const struct rtl_event_record *records, uint32_t count,
                                   const struct rtl_rocpd_state *state)
{
    bool first = state->events.next - state->events.lost - state->events.first == count; /* none were written before */
    r->fresh = false;
    rtl_db_begin(r->db);
    for (uint32_t done = 0, n; done < count && !rtl_db_status(r->db); done += n) {
        n = count - done < ROWS ? count - done : ROWS;
        add_rows(r, records + done, n, &first);
    }
    add_looks(r);
    write_state(r, state);
    return rtl_db_commit(r->db);
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
        if (known->known && q->agent < RTL_AGENTS_MAX && r->gpu[q->agent] >= 0)
            look_at(r, "gpu", r->gpu[q->agent], known->id, depth, now);
        *depth = bounded(q->depth);
    }
    r->looked = now;
}
