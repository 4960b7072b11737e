/* Writes a frame as a JSON object on one line. Totals count since the start; "window" is the last interval; values that
 * weren't measured are null. Each number has its unit in the key. rtl-top(1) describes the keys. */
#include "command/json_hip_api.h"
#include "command/json_probe.h"
#include "command/json_processes.h"
#include "command/output.h"
#include "model/labels.h"
#include "model/queue_error.h"
#include "model/ranks.h"

#include <string.h>

enum { JSON_VERSION = 1 }; /* grows when a key changes its meaning or disappears */

static void put_p50_p99(struct json_writer *w, struct json_object *o, bool measured, uint64_t p50, uint64_t p99)
{
    put_measured(w, o, "p50_ns", measured, p50);
    put_measured(w, o, "p99_ns", measured, p99);
}

static void put_quantiles(struct json_writer *w, struct json_object *parent, const char *key,
                          const struct rtl_histogram_copy *h)
{
    uint64_t v[2] = {0, 0};
    bool any = rtl_quantiles(NULL, h, (const double[]){0.5, 0.99}, 2, v);
    struct json_object *o = object_in(w, parent, key);
    if (o)
        put_p50_p99(w, o, any, v[0], v[1]);
}

/* Adds what a histogram counts since the start. */
static void put_durations(struct json_writer *w, struct json_object *o, const struct rtl_histogram_copy *h, bool p90)
{
    uint64_t v[3] = {0, 0, 0};
    bool any = rtl_quantiles(NULL, h, (const double[]){0.5, 0.9, 0.99}, 3, v);
    put_measured(w, o, "total_ns", any, h->total_ns);
    put_measured(w, o, "min_ns", any, h->min_ns);
    put_measured(w, o, "max_ns", any, h->max_ns);
    put_measured(w, o, "p50_ns", any, v[0]);
    if (p90)
        put_measured(w, o, "p90_ns", any, v[1]);
    put_measured(w, o, "p99_ns", any, v[2]);
}

/* Adds the object "untimed": counts by reason. `all`: also known reasons with count 0. */
static void put_untimed(struct json_writer *w, struct json_object *parent, const uint64_t *counts, unsigned limit,
                        const char *(*key)(unsigned reason), bool all)
{
    struct json_object *o = object_in(w, parent, "untimed");
    for (unsigned i = 0; o && i < limit; i++) {
        char unnamed[24];
        snprintf(unnamed, sizeof unnamed, "reason_%u", i);
        if (counts[i] || (all && key(i)))
            put_number(w, o, key(i) ? key(i) : unnamed, counts[i]);
    }
}

/* Adds lost packets and the existence of estimates, for processes observed from outside. */
static void put_observed(struct json_writer *w, struct json_object *root, const struct rtl_snapshot *s)
{
    static const char *const conventions[] = {
#define CONVENTION(sym, num, json, text) [num] = json,
        RTL_CONVENTIONS(CONVENTION)
#undef CONVENTION
    };
    struct json_object *o = object_in(w, root, "observed");
    if (!o)
        return;
    put_json(w, o, "estimated", json_object_new_boolean(s->in_force == RTL_ACTIVITY_TIMING));
    put_text(w, o, "read_index", s->convention < 3 ? conventions[s->convention] : "unknown");
    put_number(w, o, "packets_lost", s->packets_lost);
}

static void put_notes(struct json_writer *w, struct json_object *root, uint32_t notes)
{
    struct json_object *array = array_in(w, root, "notes");
#define NOTE(sym, bit, key, text)          \
    if (array && (notes & RTL_NOTE_##sym)) \
        w->failed |= json_object_array_add(array, json_object_new_string(key)) != 0;
    RTL_NOTES(NOTE)
#undef NOTE
}

static void put_head(struct json_writer *w, struct json_object *root, const struct rtl_output_frame *f)
{
    const struct rtl_model *m = f->model;
    const struct rtl_snapshot *s = &m->latest->snapshot;
    put_json(w, root, "version", json_object_new_int(JSON_VERSION));
    put_json(w, root, "pid", json_object_new_int64(f->pid));
    put_text(w, root, "comm", s->comm);
    put_number(w, root, "time_ns", m->latest->real_ns);
    put_measured(w, root, "window_ns", m->previous, m->span_ns);
    put_text(w, root, "mode", rtl_mode_label(s->mode));
    put_text(w, root, "in_force", rtl_activity_key(s->in_force));
    put_text(w, root, "state", rtl_target_json(m->state));
    put_notes(w, root, s->notes);
    if (rtl_is_observed(s))
        put_observed(w, root, s);
    struct json_object *o = object_in(w, root, "dispatches");
    if (!o)
        return;
    put_number(w, o, "counted", s->counted);
    put_number(w, o, "timed", s->timed);
    put_untimed(w, o, s->untimed, RTL_UNTIMED_LIMIT, rtl_reason_key, true);
    o = object_in(w, root, "signals");
    if (!o)
        return;
    bool ours = !rtl_is_observed(s); /* an observed process has no library with signals */
    put_measured(w, o, "in_use", ours, s->signals_in_use);
    put_measured(w, o, "free", ours, s->signals_free);
    put_measured(w, o, "created", ours, s->signals_created);
    put_measured(w, o, "peak", ours, s->signals_peak);
    put_measured(w, o, "limit", ours, s->signals_limit);
}

/* "failed" is null where errors can't be seen: an observed process, an older library. */
static void put_queue_error(struct json_writer *w, struct json_object *queue, const struct rtl_model *m,
                            const struct rtl_queue_snapshot *q)
{
    char text[64];
    if (q->error_known)
        put_json(w, queue, "failed", json_object_new_boolean(q->error != 0));
    else
        put_name(w, queue, "failed", NULL);
    if (!q->error) {
        put_name(w, queue, "error", NULL);
        return;
    }
    struct json_object *o = object_in(w, queue, "error");
    if (!o)
        return;
    const struct rtl_kernel_snapshot *kernel = rtl_queue_error_kernel(&m->latest->snapshot, q);
    rtl_queue_error_text(q->error, text, sizeof text);
    put_number(w, o, "status", q->error);
    put_name(w, o, "key", rtl_queue_error_key(q->error));
    put_text(w, o, "text", text);
    put_name(w, o, "kernel", kernel ? rtl_queue_error_kernel_name(m, q) : NULL);
    put_number(w, o, "after_ns", q->error_after_ns);
}

static void put_queues(struct json_writer *w, struct json_object *root, const struct rtl_model *m)
{
    struct json_object *array = array_in(w, root, "queues");
    for (uint32_t i = 0; array && i < m->queue_count; i++) {
        const struct rtl_queue_snapshot *q = m->queues[i].queue;
        struct json_object *o = object_at_end(w, array);
        if (!o)
            return;
        put_number(w, o, "id", q->queue_id);
        put_number(w, o, "gpu", q->gpu);
        if (q->pid)
            put_number(w, o, "pid", q->pid);
        put_text(w, o, "name", rtl_queue_label(&m->latest->snapshot, q).text);
        put_name(w, o, "way", rtl_queue_path_key(q->path));
        put_name(w, o, "way_why", rtl_path_reason_key(q->path_reason));
        put_number(w, o, "depth", q->depth);
        put_number(w, o, "dispatches", q->dispatches);
        put_quantiles(w, o, "wait", &q->wait);
        put_quantiles(w, o, "gap", &q->gap);
        put_queue_error(w, o, m, q);
    }
}

static void put_idle(struct json_writer *w, struct json_object *gpu, const struct rtl_agent_snapshot *agent, bool seen)
{
    static const uint64_t below[] = {
#define BELOW(number, below_ns, header) [number] = below_ns,
        RTL_IDLE_CLASSES(BELOW)
#undef BELOW
    };
    /* gaps of one process are not those of a shared GPU; observing doesn't measure them */
    if (agent->users > 1 || seen) {
        put_measured(w, gpu, "idle", false, 0);
        return;
    }
    struct json_object *array = array_in(w, gpu, "idle");
    for (int c = 0; array && c < RTL_IDLE_COUNT; c++) {
        struct json_object *o = object_at_end(w, array);
        if (!o)
            return;
        put_measured(w, o, "below_ns", below[c] != UINT64_MAX, below[c]);
        put_number(w, o, "count", agent->idle[c].count);
        put_number(w, o, "total_ns", agent->idle[c].total_ns);
    }
}

static void put_clock(struct json_writer *w, struct json_object *gpu, const struct rtl_agent_snapshot *agent)
{
    struct json_object *o = object_in(w, gpu, "clock");
    char text[40];
    if (!o)
        return;
    put_measured(w, o, "tick_hz", agent->tick_hz, agent->tick_hz);
    put_measured(w, o, "residual_ns", agent->clock_residuals, agent->clock_residual_ns);
    put_measured(w, o, "residual_max_ns", agent->clock_residuals, agent->clock_residual_most_ns);
    double ppm = (double)agent->clock_drift_ppb / 1000;
    snprintf(text, sizeof text, "%.3f", ppm);
    if (agent->clock_drift_over_ns)
        put_json(w, o, "drift_ppm", json_object_new_double_s(ppm, text));
    else
        put_measured(w, o, "drift_ppm", false, 0);
}

static void put_gpus(struct json_writer *w, struct json_object *root, const struct rtl_model *m)
{
    struct json_object *array = array_in(w, root, "gpus");
    const struct rtl_snapshot *s = &m->latest->snapshot;
    bool seen = rtl_is_observed(s), busy = !seen || s->in_force == RTL_ACTIVITY_TIMING;
    for (uint32_t i = 0; array && i < m->gpu_count; i++) {
        struct json_object *o = object_at_end(w, array);
        if (!o)
            return;
        const struct rtl_agent_snapshot *agent = m->gpus[i].agent;
        put_number(w, o, "id", agent->gpu);
        put_text(w, o, "name", agent->name);
        const struct rtl_gpu_name address = rtl_pci_address(agent->bdf);
        put_name(w, o, "pci", *address.text ? address.text : NULL);
        put_name(w, o, "uuid", *agent->uuid ? agent->uuid : NULL);
        put_share(w, o, "busy", m->previous && m->gpus[i].busy >= 0 && busy, m->gpus[i].busy);
        if (agent->users > 1) /* busy is the sum of several processes */
            put_json(w, o, "busy_is_bound", json_object_new_boolean(true));
        put_measured(w, o, "busy_ns", busy, agent->busy_ns);
        bool judged = (m->previous && busy) || m->gpus[i].verdict == RTL_VERDICT_FAILED;
        put_name(w, o, "verdict", judged ? rtl_verdict_key(m->gpus[i].verdict) : NULL);
        bool in_call = m->previous && *m->gpus[i].facts.call;
        put_name(w, o, "host_call", in_call ? m->gpus[i].facts.call : NULL);
        put_share(w, o, "host_call_share", in_call, m->gpus[i].facts.call_share);
        put_measured(w, o, "wait_p99_ns", m->previous && m->gpus[i].facts.waits, m->gpus[i].wait_p99);
        put_idle(w, o, agent, seen);
        put_clock(w, o, agent);
    }
}

static void put_copies(struct json_writer *w, struct json_object *root, const struct rtl_model *m)
{
    struct json_object *array = array_in(w, root, "copies");
    bool window = m->previous;
    for (uint32_t i = 0; array && i < m->copies_count; i++) {
        const struct rtl_copies_row *row = &m->copies[i];
        const struct rtl_copies_snapshot *c = row->copies;
        bool recent = window && row->window.count;
        struct json_object *o = object_at_end(w, array);
        if (!o)
            return;
        put_number(w, o, "gpu", c->gpu);
        put_text(w, o, "direction", rtl_direction_key(c->direction));
        put_number(w, o, "count", c->count);
        put_number(w, o, "timed", c->histogram.count);
        put_untimed(w, o, c->untimed, RTL_COPY_UNTIMED_LIMIT, rtl_copy_reason_key, false);
        put_number(w, o, "bytes", c->bytes);
        put_number(w, o, "timed_bytes", c->timed_bytes);
        put_durations(w, o, &c->histogram, false);
        struct json_object *recently = object_in(w, o, "window");
        if (!recently)
            return;
        put_measured(w, recently, "count", window, row->window_count);
        put_measured(w, recently, "bytes", window, row->window_bytes);
        put_measured(w, recently, "bytes_per_s", window, (uint64_t)row->bandwidth);
        put_measured(w, recently, "total_ns", recent, row->window.total_ns);
        put_p50_p99(w, recently, recent, row->p50, row->p99);
    }
}

/* Adds the numbers of each process and the slowest process of a kernel. */
static void put_ranks(struct json_writer *w, struct json_object *kernel, const struct rtl_model *m,
                      const struct rtl_row *row)
{
    struct rtl_rank ranks[RTL_MEMBERS_MAX];
    struct rtl_slowest slowest;
    bool window = m->previous;
    if (window && rtl_slowest(m, row, &slowest)) {
        struct json_object *o = object_in(w, kernel, "slowest");
        if (!o)
            return;
        rtl_json_member(w, o, slowest.rank.member);
        put_share(w, o, "ratio", true, slowest.rank.against);
        put_json(w, o, "arrives_last", json_object_new_boolean(slowest.collective));
    } else {
        put_measured(w, kernel, "slowest", false, 0);
    }
    uint32_t count = rtl_ranks(m, row, true, ranks, RTL_MEMBERS_MAX);
    struct json_object *array = array_in(w, kernel, "processes");
    for (uint32_t i = 0; array && i < count; i++) {
        const struct rtl_rank *r = &ranks[i];
        struct json_object *o = object_at_end(w, array);
        if (!o)
            return;
        put_number(w, o, "pid", (uint64_t)r->member->info.pid);
        put_number(w, o, "calls", r->calls);
        put_number(w, o, "timed", r->timed);
        put_number(w, o, "total_ns", r->total_ns);
        struct json_object *recently = object_in(w, o, "window");
        if (!recently)
            return;
        put_measured(w, recently, "calls", window, r->window_calls);
        put_measured(w, recently, "timed", window, r->window_timed);
        put_measured(w, recently, "total_ns", window && r->window_timed, r->window_total_ns);
        put_p50_p99(w, recently, window && r->has_quantiles, r->p50, r->p99);
    }
}

/* Adds the ratio of window to previous window: 1 without a significant difference, null with too few durations. */
static void put_change(struct json_writer *w, struct json_object *object, const char *key, struct rtl_change change)
{
    put_share(w, object, key, change.kind != RTL_CHANGE_UNKNOWN, change.kind == RTL_CHANGE_SAME ? 1 : change.ratio);
}

static void put_kernel(struct json_writer *w, struct json_object *o, const struct rtl_output_frame *f,
                       const struct rtl_row *row)
{
    const struct rtl_model *m = f->model;
    const struct rtl_kernel_snapshot *k = row->kernel;
    bool window = m->previous, recent = window && row->window.count;
    put_text(w, o, "name", rtl_names_form(m->names, row->id, k->name, k->name_length, RTL_NAME_MANGLED));
    put_text(w, o, "short", rtl_model_name(m, row, RTL_NAME_SHORT, RTL_NAMES_WHOLE, f->options->ascii));
    put_text(w, o, "family", rtl_name_family_name(rtl_family_of(m, row)));
    put_number(w, o, "calls", k->calls);
    put_number(w, o, "timed", k->histogram.count);
    put_durations(w, o, &k->histogram, true);
    bool seen = rtl_is_observed(&m->latest->snapshot);
    if (seen)
        put_measured(w, o, "estimated_ns", k->estimated_ns, k->estimated_ns);
    const struct rtl_hip_api_launch_snapshot *launch = rtl_hip_api_find_launch(m->latest->snapshot.hip_api, k);
    uint64_t from_call[2] = {0, 0};
    bool launched = launch && rtl_quantiles(NULL, &launch->histogram, (const double[]){0.5, 0.99}, 2, from_call);
    put_measured(w, o, "launch_p50_ns", launched, from_call[0]);
    put_measured(w, o, "launch_p99_ns", launched, from_call[1]);
    struct json_object *recently = object_in(w, o, "window");
    if (!recently)
        return;
    put_measured(w, recently, "calls", window, row->window_calls);
    put_measured(w, recently, "total_ns", recent, row->window.total_ns);
    if (seen)
        put_measured(w, recently, "estimated_ns", window && row->window_estimated_ns, row->window_estimated_ns);
    put_p50_p99(w, recently, recent, row->p50, row->p99);
    put_measured(w, recently, "launch_p50_ns", window && row->launches, row->launch_p50);
    put_measured(w, recently, "launch_p99_ns", window && row->launches, row->launch_p99);
    put_change(w, recently, "p50_change", row->change.p50);
    put_change(w, recently, "p99_change", row->change.p99);
    if (m->latest->snapshot.parts)
        put_ranks(w, o, m, row);
}

bool rtl_output_json(const struct rtl_output_frame *f, FILE *out)
{
    struct json_writer w = {false};
    struct json_object *root = json_object_new_object();
    if (!root)
        return false;
    put_head(&w, root, f);
    if (f->model->latest->snapshot.parts)
        rtl_json_processes(&w, root, f->model);
    put_queues(&w, root, f->model);
    put_gpus(&w, root, f->model);
    put_copies(&w, root, f->model);
    if (!w.failed)
        rtl_json_hip_api(&w, root, f->model);
    if (!w.failed && f->probe && f->probe->there)
        rtl_json_probe(&w, root, f->model, f->probe);
    struct json_object *kernels = w.failed ? NULL : array_in(&w, root, "kernels");
    for (uint32_t i = 0; kernels && !w.failed && i < f->model->shown; i++) {
        struct json_object *o = object_at_end(&w, kernels);
        if (o)
            put_kernel(&w, o, f, &f->model->rows[f->model->order[i]]);
    }
    return json_print_line(&w, root, out);
}
