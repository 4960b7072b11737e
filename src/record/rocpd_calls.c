/* HIP calls, ranges and links of a trace. See rocpd_calls.h. */
/* clang-format off */
#include "record/rocpd_calls.h"
#include "record/rocpd_refs.h"
#include "shm/hip_api_snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUFFER = 32768,      /* events read at a time */
    WAITING_MAX = 32768, /* ops whose call has not arrived: beyond that the oldest gets none */
    /* above all other ids: no process submits 2^38 ops, and other rows are numbered 1, 2 ... */
    CALL_BIT = 38,
    MARKER_BIT = 39, /* in rocpd_op */
    COPY_KINDS = 5,      /* hipMemcpyKind */
};

struct waiting_op {
    int64_t op, kernel;
    struct rtl_linked_event event;
};

struct rtl_rocpd_calls {
    struct rtl_db *db;
    int api;
    int64_t base, pid;
    size_t (*escape)(char *out, size_t size, const char *bytes, size_t length);
    struct rtl_hip_api_events events;
    struct rtl_hip_api_event *buffer;
    uint32_t count;
    struct {
        int64_t name; /* string, 0 = not yet used */
        unsigned kind;
        bool async;
        int copy; /* hipMemcpyKind by the name, or 4: default */
    } row[RTL_HIP_API_ROWS];
    int64_t marker, domain_hip, domain_roctx, category[RTL_HIP_API_KIND_COUNT];
    int64_t *come;           /* ids of the calls of the current write */
    struct waiting_op *waiting; /* a ring */
    uint32_t waiting_first, waiting_count;
    struct rtl_rocpd_calls_sums sums;
};

struct rtl_rocpd_calls *rtl_rocpd_calls_begin(struct rtl_db *db, int api, int64_t base, int64_t pid, int64_t ahead_ns,
                                              size_t (*escape)(char *, size_t, const char *, size_t))
{
    struct rtl_rocpd_calls *c = calloc(1, sizeof *c);
    if (c) {
        c->buffer = malloc(BUFFER * sizeof *c->buffer);
        c->waiting = malloc(WAITING_MAX * sizeof *c->waiting);
        c->come = malloc(BUFFER * sizeof *c->come);
    }
    if (!c || !c->buffer || !c->waiting || !c->come) {
        rtl_rocpd_calls_free(c);
        return NULL;
    }
    c->db = db;
    c->api = api;
    c->base = base;
    c->pid = pid;
    c->escape = escape;
    rtl_hip_api_events_begin(api, &c->events);
    c->events.ahead_ns = ahead_ns;
    return c;
}

void rtl_rocpd_calls_free(struct rtl_rocpd_calls *c)
{
    if (!c)
        return;
    free(c->buffer);
    free(c->waiting);
    free(c->come);
    free(c);
}

bool rtl_rocpd_calls_read(struct rtl_rocpd_calls *c)
{
    c->count += rtl_hip_api_events(c->api, &c->events, c->buffer + c->count, BUFFER - c->count);
    c->sums.lost = c->events.lost;
    return c->count < BUFFER;
}

/* --- rows --- */

static int64_t id_of(const struct rtl_rocpd_calls *c, uint64_t id)
{
    return c->base | (int64_t)1 << CALL_BIT | (int64_t)(id & ((1ull << CALL_BIT) - 1));
}

/* The kind by the name: hipMemcpyHtoD, hipMemcpyDtoHAsync; "default" for functions with the kind as an argument. */
static int copy_kind(const char *name)
{
    static const char *const words[COPY_KINDS] = {"HtoH", "HtoD", "DtoH", "DtoD", ""};
    int kind = 0;
    while (*words[kind] && !strstr(name, words[kind]))
        kind++;
    return kind;
}

static void read_api_row(struct rtl_rocpd_calls *c, uint32_t row)
{
    char text[RTL_HIP_API_TEXT], safe[10 * RTL_HIP_API_TEXT + 1]; /* each byte may become an escape */
    unsigned kind = 0;
    uint32_t length = rtl_hip_api_read_text(c->api, row, text, &kind);
    c->escape(safe, sizeof safe, text, length);
    c->row[row].name = rtl_rocpd_string(c->db, length ? safe : "(unknown)");
    c->row[row].kind = kind;
    c->row[row].async = strstr(safe, "Async") != NULL;
    c->row[row].copy = copy_kind(safe);
}

static int64_t category_of(struct rtl_rocpd_calls *c, unsigned kind)
{
    const char *key = rtl_hip_api_kind_key(kind);
    if (kind >= RTL_HIP_API_KIND_COUNT || !key)
        return RTL_ROCPD_EMPTY;
    if (!c->category[kind])
        c->category[kind] = rtl_rocpd_string(c->db, key);
    return c->category[kind];
}

static void add_api(struct rtl_rocpd_calls *c, const struct rtl_hip_api_event *e, int64_t name, int64_t args, bool marker)
{
    struct rtl_db_statement *add = rtl_db_prepare(
        c->db, "INSERT OR IGNORE INTO rocpd_api(id,pid,tid,start,end,apiName_id,args_id,category_id,domain_id,"
               "correlation_id) VALUES(?,?,?,?,?,?,?,?,?,?)");
    int64_t id = id_of(c, e->id), start = rtl_rocpd_bounded(e->start_ns), end = rtl_rocpd_bounded(e->end_ns);
    rtl_db_bind_ints(add, 1, id, c->pid, e->tid, start, end < start ? start : end, name, args,
                     category_of(c, c->row[e->row].kind), marker ? c->domain_roctx : c->domain_hip, id);
    rtl_db_run(add);
}

static void add_range(struct rtl_rocpd_calls *c, const struct rtl_hip_api_event *e)
{
    struct rtl_db_statement *add = rtl_db_prepare(
        c->db, "INSERT OR IGNORE INTO rocpd_op(id,gpuId,queueId,sequenceId,completionSignal,start,end,description_id,"
               "opType_id,roctxId,correlation_id) VALUES(?,-1,0,0,'',?,?,?,?,?,?)");
    int64_t id = id_of(c, e->id), start = rtl_rocpd_bounded(e->start_ns), end = rtl_rocpd_bounded(e->end_ns);
    rtl_db_bind_ints(add, 1, id | (int64_t)1 << MARKER_BIT, start, end < start ? start : end, c->row[e->row].name,
                     c->marker, id, id);
    rtl_db_run(add);
    add_api(c, e, c->marker, c->row[e->row].name, true);
    c->sums.markers++;
}

static void add_copy(struct rtl_rocpd_calls *c, const struct rtl_hip_api_event *e)
{
    rtl_db_run(rtl_db_prepare_ints(
        c->db, "INSERT OR IGNORE INTO rocpd_copyapi(api_ptr_id,api_id,stream,size,dst,src,kind,sync) "
               "VALUES(?1,?1,'',?2,'','',?3,?4)",
        id_of(c, e->id), rtl_rocpd_bounded(e->bytes), c->row[e->row].copy, !c->row[e->row].async));
}

static void add_call(struct rtl_rocpd_calls *c, const struct rtl_hip_api_event *e)
{
    char text[40];
    int64_t args = RTL_ROCPD_EMPTY;
    if (e->code) {
        snprintf(text, sizeof text, "returned %" PRId32, e->code);
        args = rtl_rocpd_string(c->db, text);
    }
    add_api(c, e, c->row[e->row].name, args, false);
    if (c->row[e->row].kind == RTL_HIP_API_COPY)
        add_copy(c, e);
    c->sums.calls++;
}

/* --- links --- */

static bool has_arrived(struct rtl_rocpd_calls *c, int64_t call)
{
    return rtl_db_value(rtl_db_prepare_ints(c->db, "SELECT 1 FROM rocpd_api WHERE id = ?", call));
}

static void describe_kernel(struct rtl_rocpd_calls *c, int64_t call, int64_t kernel, const struct rtl_event_record *e)
{
    rtl_db_run(rtl_db_prepare_ints(
        c->db, "INSERT OR IGNORE INTO rocpd_kernelapi(api_ptr_id,api_id,stream,gridX,gridY,gridZ,workgroupX,workgroupY,"
               "workgroupZ,groupSegmentSize,privateSegmentSize,kernelName_id) VALUES(?1,?1,'',?2,?3,?4,?5,?6,?7,0,0,?8)",
        call, e->grid[0], e->grid[1], e->grid[2], e->workgroup[0], e->workgroup[1], e->workgroup[2], kernel));
}

/* Replace the kind "default" of the function by the direction of the copy itself. */
static void describe_copy(struct rtl_rocpd_calls *c, int64_t call, uint32_t direction)
{
    static const int64_t kinds[RTL_DIRECTION_COUNT] = {
        [RTL_COPY_H2D] = 1, [RTL_COPY_D2H] = 2, [RTL_COPY_D2D] = 3, [RTL_COPY_P2P] = 3};
    if (direction < RTL_DIRECTION_COUNT)
        rtl_db_run(rtl_db_prepare_ints(c->db, "UPDATE rocpd_copyapi SET kind = ?2 WHERE api_ptr_id = ?1 AND kind = 4",
                                       call, kinds[direction]));
}

static void link_op(struct rtl_rocpd_calls *c, const struct waiting_op *w, int64_t call)
{
    const struct rtl_event_record *e = &w->event.record;
    rtl_db_run(rtl_db_prepare_ints(c->db, "INSERT OR IGNORE INTO rocpd_api_ops(id,api_id,op_id) VALUES(?1,?2,?1)", w->op,
                                   call));
    if (e->flags & RTL_EVENT_COPY)
        describe_copy(c, call, e->kernel);
    else /* for a graph the first kernel: the row exists when the others come */
        describe_kernel(c, call, w->kernel, e);
    c->sums.linked++;
}

struct rtl_rocpd_link rtl_rocpd_calls_link(const struct rtl_rocpd_calls *c, const struct rtl_linked_event *event)
{
    return (struct rtl_rocpd_link){event->record.correlation ? id_of(c, event->record.correlation) : 0,
                                   event->link.range ? id_of(c, event->link.range) : 0};
}

static void unlink_op(struct rtl_rocpd_calls *c, int64_t op)
{
    rtl_db_run(rtl_db_prepare_ints(c->db, "UPDATE rocpd_op SET correlation_id = 0 WHERE id = ?", op));
}

void rtl_rocpd_calls_op(struct rtl_rocpd_calls *c, int64_t op, int64_t kernel, const struct rtl_linked_event *event)
{
    struct waiting_op w = {op, kernel, *event};
    int64_t call = rtl_rocpd_calls_link(c, event).call;
    if (!call)
        return;
    if (has_arrived(c, call)) {
        link_op(c, &w, call);
        return;
    }
    if (c->waiting_count == WAITING_MAX) {
        unlink_op(c, c->waiting[c->waiting_first].op);
        c->waiting_first = (c->waiting_first + 1) % WAITING_MAX;
        c->waiting_count--;
    }
    c->waiting[(c->waiting_first + c->waiting_count++) % WAITING_MAX] = w;
}

static int compare_ids(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Link the waiting ops whose call was just written; the others keep their order. This searches `come` and not the
 * database, because many ops may wait for as long as a call takes. */
static void link_waiting(struct rtl_rocpd_calls *c, uint32_t come)
{
    uint32_t kept = 0;
    c->sums.waiting = c->waiting_count;
    if (!come || !c->waiting_count)
        return;
    qsort(c->come, come, sizeof *c->come, compare_ids);
    for (uint32_t i = 0; i < c->waiting_count && !rtl_db_status(c->db); i++) {
        struct waiting_op w = c->waiting[(c->waiting_first + i) % WAITING_MAX];
        int64_t call = rtl_rocpd_calls_link(c, &w.event).call;
        if (bsearch(&call, c->come, come, sizeof *c->come, compare_ids))
            link_op(c, &w, call);
        else
            c->waiting[(c->waiting_first + kept++) % WAITING_MAX] = w;
    }
    c->waiting_count = kept;
    c->sums.waiting = kept;
}

void rtl_rocpd_calls_write(struct rtl_rocpd_calls *c)
{
    if (!c->marker) {
        c->marker = rtl_rocpd_string(c->db, "UserMarker");
        c->domain_hip = rtl_rocpd_string(c->db, "hip");
        c->domain_roctx = rtl_rocpd_string(c->db, "roctx");
    }
    uint32_t come = 0;
    for (uint32_t i = 0; i < c->count && !rtl_db_status(c->db); i++) {
        const struct rtl_hip_api_event *e = &c->buffer[i];
        if (e->row >= RTL_HIP_API_ROWS || !e->id)
            continue;
        c->come[come++] = id_of(c, e->id);
        if (!c->row[e->row].name)
            read_api_row(c, e->row);
        if (c->row[e->row].kind == RTL_HIP_API_RANGE || c->row[e->row].kind == RTL_HIP_API_MARK)
            add_range(c, e);
        else
            add_call(c, e);
    }
    c->count = 0;
    link_waiting(c, come);
}

void rtl_rocpd_calls_end(struct rtl_rocpd_calls *c)
{
    for (uint32_t i = 0; i < c->waiting_count && !rtl_db_status(c->db); i++)
        unlink_op(c, c->waiting[(c->waiting_first + i) % WAITING_MAX].op);
    c->sums.waiting = c->waiting_count;
    c->waiting_count = 0;
}

struct rtl_rocpd_calls_sums rtl_rocpd_calls_sums(const struct rtl_rocpd_calls *c)
{
    return c->sums;
}
