/*
 * A trace as a page's data: its ops in spans of equal length, by kernel and GPU. See html.h. The page's script
 * makes sums and quantiles from them.
 *
 * An op belongs to the span in which it starts. `busy_to` is the end of a GPU's busy time, which can lie behind the
 * span: the script moves the excess to the next spans.
 */
#include "command/export.h"
#include "command/html.h"
#include "options/complain.h"
#include "record/rocpd.h"
#include "text/text.h"

#include <string.h>

enum { KERNELS = 100, GPUS = 64 };

struct trace_gpu {
    int64_t number, busy_to;          /* end of its last op so far */
    uint64_t busy_ns;                 /* in this span */
    uint64_t gaps_ns[RTL_IDLE_COUNT]; /* by length */
};

struct html_trace {
    struct rtl_html *h;
    struct rtl_export e;
    int64_t begin, end;
    int64_t kernel[KERNELS]; /* their strings in the file, most time first */
    uint32_t kernels, gpus, spans, room;
    struct rtl_histogram_copy span[KERNELS + 1]; /* durations in this span; the last one is of all other kernels */
    struct trace_gpu gpu[GPUS];
    uint64_t left_out; /* ops of further GPUs */
};

/* Counts an op's time and the gap before it. Overlapping ops make their GPU busy once. */
static bool add_busy(struct html_trace *t, const struct rtl_export_op *op)
{
    uint32_t i = 0;
    while (i < t->gpus && t->gpu[i].number != op->gpu)
        i++;
    if (i == GPUS)
        return false;
    struct trace_gpu *gpu = &t->gpu[i];
    if (i == t->gpus) {
        *gpu = (struct trace_gpu){.number = op->gpu, .busy_to = t->begin};
        t->gpus++;
    }
    int64_t from = op->start > gpu->busy_to ? op->start : gpu->busy_to;
    uint64_t gap = rtl_span_ns(gpu->busy_to, from);
#define CLASS(number, below_ns, header) +(gap >= below_ns)
    int class = 0 RTL_IDLE_CLASSES(CLASS);
#undef CLASS
    if (class < RTL_IDLE_COUNT)
        gpu->gaps_ns[class] += gap;
    if (op->end > from) {
        gpu->busy_ns += rtl_span_ns(from, op->end);
        gpu->busy_to = op->end;
    }
    return true;
}

/* An op without a name, such as a copy, is known by its type. */
static int64_t string_of(const struct rtl_export_op *op)
{
    const struct rtl_export_name *name = op->name && *op->name->raw ? op->name : op->type;
    return name ? name->id : -1;
}

static void add_op(struct html_trace *t, const struct rtl_export_op *op)
{
    uint32_t i = 0;
    int64_t string = string_of(op);
    while (i < t->kernels && t->kernel[i] != string)
        i++;
    bool kept = add_busy(t, op);
    if (kept && (i < t->kernels || !*t->h->options.filter))
        kept = rtl_histogram_count(&t->span[i < t->kernels ? i : KERNELS], rtl_span_ns(op->start, op->end), &t->room);
    t->left_out += !kept;
}

/* Adds the span that ends and clears it. */
static void end_span(struct html_trace *t, struct json_object *spans)
{
    struct json_writer *w = &t->h->w;
    struct json_object *o = object_at_end(w, spans), *kernels = array_in(w, o, "kernels"),
                       *gpus = array_in(w, o, "gpus");
    for (uint32_t i = 0; i <= KERNELS; i++) {
        struct rtl_histogram_copy *span = &t->span[i];
        if (span->count) {
            struct json_object *one = object_at_end(w, kernels);
            put_number(w, one, "kernel", i);
            put_number(w, one, "ns", span->total_ns);
            put_number(w, one, "min_ns", span->min_ns);
            put_number(w, one, "max_ns", span->max_ns);
            rtl_html_put_buckets(t->h, one, "buckets", NULL, span);
        }
        t->room += span->octave_count;
        rtl_histogram_free(span);
    }
    for (uint32_t i = 0; i < t->gpus; i++) {
        struct json_object *one = object_at_end(w, gpus);
        if (t->gpu[i].busy_ns) {
            put_number(w, one, "busy_ns", t->gpu[i].busy_ns);
            put_number(w, one, "busy_to", rtl_span_ns(t->begin, t->gpu[i].busy_to));
        }
        t->gpu[i].busy_ns = 0;
    }
    t->spans++;
}

static void put_gpus(struct html_trace *t)
{
    struct json_writer *w = &t->h->w;
    struct json_object *array = array_in(w, t->h->data, "gpus");
    for (uint32_t i = 0; i < t->gpus; i++) {
        struct json_object *o = object_at_end(w, array), *gaps = array_in(w, o, "gaps");
        const struct rtl_export_gpu *known = rtl_export_gpu(&t->e, t->gpu[i].number);
        put_json(w, o, "id", json_object_new_int64(t->gpu[i].number));
        if (known) {
            put_text(w, o, "pci", known->pci);
            put_text(w, o, "name", known->name);
        }
        for (int c = 0; c < RTL_IDLE_COUNT; c++)
            put_at_end(w, gaps, json_object_new_uint64(t->gpu[i].gaps_ns[c]));
    }
}

static const char kernels_sql[] =
    "SELECT CASE WHEN ifnull(s.string, '') = '' THEN o.opType_id ELSE o.description_id END FROM rocpd_op o"
    " LEFT JOIN rocpd_string s ON s.id = o.description_id WHERE o.gpuId >= 0 AND o.end >= o.start"
    " GROUP BY 1 ORDER BY total(o.end - o.start) DESC";

/* Finds the span of time and the kernels with most time that pass the filter; false if the file has no op of a GPU. */
static bool find_kernels(struct html_trace *t)
{
    const char *filter = t->h->options.filter;
    struct json_writer *w = &t->h->w;
    struct json_object *array = array_in(w, t->h->data, "kernels");
    t->begin = rtl_db_one(t->e.db, "SELECT min(start) FROM rocpd_op WHERE gpuId >= 0 AND end >= start");
    t->end = rtl_db_one(t->e.db, "SELECT max(end) FROM rocpd_op WHERE gpuId >= 0 AND end >= start");
    struct rtl_db_statement *row = rtl_db_prepare(t->e.db, kernels_sql);
    bool any = false;
    while (t->kernels < KERNELS && rtl_db_step(row)) {
        const struct rtl_export_name *name = rtl_export_name(&t->e, rtl_db_int(row, 0));
        any = true;
        if (!name || (!rtl_text_contains(name->full, filter) && !rtl_text_contains(name->shown, filter) &&
                      !rtl_text_contains(name->raw, filter)))
            continue;
        struct json_object *o = object_at_end(w, array);
        t->kernel[t->kernels++] = name->id;
        put_text(w, o, "name", name->full);
        put_text(w, o, "short", name->shown);
    }
    rtl_db_reset(row);
    return any;
}

static void add_trace(struct html_trace *t)
{
    struct rtl_html *h = t->h;
    struct json_object *spans = array_in(&h->w, h->data, "spans");
    const uint64_t length = rtl_span_ns(t->begin, t->end) / RTL_HTML_POINTS + 1;
    size_t processes = 0;
    struct rtl_export_op op;
    while (rtl_export_next(&t->e, &op)) {
        if (op.gpu < 0)
            continue;
        while (t->spans < rtl_span_ns(t->begin, op.start) / length && t->spans < RTL_HTML_POINTS - 1)
            end_span(t, spans);
        add_op(t, &op);
        rtl_progress_at(++t->e.written, 0);
    }
    end_span(t, spans);
    put_gpus(t);
    const struct rtl_export_process *process = rtl_export_processes(&t->e, &processes);
    int64_t ahead = processes ? rtl_db_one(t->e.db, "SELECT json_extract(value, '$.start_real_ns') - json_extract("
                                                    "value, '$.start_mono_ns') FROM rocpd_metadata WHERE tag GLOB"
                                                    " 'process [0-9]*' AND json_valid(value) ORDER BY id LIMIT 1")
                              : 0;
    put_measured(&h->w, h->data, "from_ns", ahead > 0, (uint64_t)ahead + (uint64_t)t->begin);
    put_number(&h->w, h->data, "span_ns", length);
    put_number(&h->w, h->data, "ops", t->e.written);
    put_number(&h->w, h->data, "ops_left_out", t->left_out);
    put_name(&h->w, h->data, "title", processes == 1 ? process->command : NULL);
}

int rtl_html_trace(struct rtl_html *h, struct rtl_db *db)
{
    struct html_trace *t = calloc(1, sizeof *t);
    if (t)
        *t = (struct html_trace){.h = h, .e = {.db = db, .sink = h->sink}, .room = RTL_OCTAVES_MAX * (KERNELS + 1)};
    bool ready = t && rtl_export_begin(&t->e), found = ready && find_kernels(t);
    if (found)
        add_trace(t);
    if (!ready)
        rtl_db_no_memory(db);
    if (!found && !rtl_db_status(db))
        rtl_db_fail(db, RTL_DB_MISSING, "%s contains no dispatch of a GPU", h->file);
    if (rtl_db_status(db))
        rtl_complain("%s", rtl_db_why(db));
    if (t)
        rtl_export_end(&t->e);
    free(t);
    return (int)rtl_db_status(db);
}
