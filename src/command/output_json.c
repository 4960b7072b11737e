/* Writes a frame as a JSON object on one line. Totals count since the start; "window" is the last interval; values that
 * weren't measured are null. Each number has its unit in the key. rtl-top(1) describes the keys. */
#include "command/output.h"
#include "model/labels.h"
#include "model/model_gpus.h"
#include "model/model_rows.h"
#include "model/queue_error.h"

#include <stdlib.h>

enum { JSON_VERSION = 1 }; /* grows when a key changes its meaning or disappears */

static void put_p50_p99(struct json_writer *w, struct json_object *o, bool measured, uint64_t p50, uint64_t p99)
{
    put_measured(w, o, "p50_ns", measured, p50);
    put_measured(w, o, "p99_ns", measured, p99);
}

/* Adds the ratio of window to previous window: 1 without a significant difference, null with too few durations. */
static void put_change(struct json_writer *w, struct json_object *object, const char *key, struct rtl_change change)
{
    put_share(w, object, key, change.kind != RTL_CHANGE_UNKNOWN, change.kind == RTL_CHANGE_SAME ? 1 : change.ratio);
}

static void put_quantiles(struct json_writer *w, struct json_object *parent, const char *key,
                          const struct rtl_histogram_copy *h)
{
    uint64_t v[2];
    bool any = rtl_p50_p99(h, v);
    put_p50_p99(w, object_in(w, parent, key), any, v[0], v[1]);
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
                        struct rtl_key_text (*names)(unsigned reason), bool all)
{
    struct json_object *o = object_in(w, parent, "untimed");
    for (unsigned i = 0; i < limit; i++) {
        const char *key = names(i).key;
        char unnamed[24];
        snprintf(unnamed, sizeof unnamed, "reason_%u", i);
        if (counts[i] || (all && key))
            put_number(w, o, key ? key : unnamed, counts[i]);
    }
}

/* For processes observed from outside: adds lost packets, whether estimates exist, and the command that restarts the
 * process traced. */
static void put_observed(struct json_writer *w, struct json_object *root, const struct rtl_snapshot *s,
                         const char *restart)
{
    static const char *const conventions[] = {
#define CONVENTION(sym, num, json, text) [num] = json,
        RTL_CONVENTIONS(CONVENTION)
#undef CONVENTION
    };
    struct json_object *o = object_in(w, root, "observed");
    put_json(w, o, "estimated", json_object_new_boolean(s->in_force == RTL_ACTIVITY_TIMING));
    put_text(w, o, "read_index", s->convention < 3 ? conventions[s->convention] : "unknown");
    put_number(w, o, "packets_lost", s->packets_lost);
    put_name(w, o, "restart", restart);
}

static void put_notes(struct json_writer *w, struct json_object *root, uint32_t notes)
{
    struct json_object *array = array_in(w, root, "notes");
#define NOTE(sym, bit, key, text) \
    if (notes & RTL_NOTE_##sym)   \
        put_at_end(w, array, json_object_new_string(key));
    RTL_NOTES(NOTE)
#undef NOTE
}

static void put_member(struct json_writer *w, struct json_object *o, const struct rtl_member *member)
{
    put_number(w, o, "pid", (uint64_t)member->info.pid);
    put_measured(w, o, "rank", member->info.rank >= 0, (uint64_t)member->info.rank);
    put_text(w, o, "label", member->name);
}

static void put_member_gpus(struct json_writer *w, struct json_object *o, const struct rtl_snapshot *s, uint64_t gpus)
{
    struct json_object *array = array_in(w, o, "gpus");
    for (uint32_t i = 0; i < s->agent_count; i++) {
        if (!(gpus >> (s->agents[i].gpu % RTL_AGENTS_MAX) & 1))
            continue;
        struct json_object *gpu = object_at_end(w, array);
        put_number(w, gpu, "id", s->agents[i].gpu);
        put_name(w, gpu, "pci", s->agents[i].bdf == RTL_NO_BDF ? NULL : rtl_pci_address(s->agents[i].bdf).text);
    }
}

void rtl_json_process(struct json_writer *w, struct json_object *o, const struct rtl_model *m,
                      const struct rtl_process_row *p)
{
    const struct rtl_member *member = p->member;
    bool known = member->start_mono_ns, window = rtl_model_has_window(m) && known; /* known: its segment was read */
    const struct rtl_row *top = window ? p->top : NULL, *worst = window ? p->worst : NULL;
    put_member(w, o, member);
    put_text(w, o, "command", member->info.title);
    put_text(w, o, "user", member->info.user);
    put_name(w, o, "container", *member->info.container ? member->info.container : NULL);
    put_text(w, o, "state",
             rtl_target_json(member->ended      ? RTL_TARGET_EXITED
                             : member->stale_ns ? RTL_TARGET_STALE
                                                : RTL_TARGET_LIVE));
    put_name(w, o, "mode", known ? rtl_mode_label(member->mode) : NULL);
    put_name(w, o, "in_force", known ? rtl_activity_key(member->in_force) : NULL);
    put_measured(w, o, "start_ns", known, member->start_real_ns);
    put_member_gpus(w, o, &m->latest->snapshot, member->gpus);
    put_measured(w, o, "counted", known, member->counted);
    put_measured(w, o, "timed", known, member->timed);
    put_measured(w, o, "depth", known && member->in_force == RTL_ACTIVITY_TIMING, member->depth);
    put_share(w, o, "busy", window && p->busy >= 0, p->busy);
    put_share(w, o, "dispatches_per_s", window && p->rate >= 0, p->rate);
    put_name(w, o, "top_kernel", top ? rtl_model_name(m, top, RTL_NAME_SHORT, RTL_NAMES_WHOLE, false) : NULL);
    put_share(w, o, "top_share", top, p->top_share);
    put_name(w, o, "worst_kernel", worst ? rtl_model_name(m, worst, RTL_NAME_SHORT, RTL_NAMES_WHOLE, false) : NULL);
    put_measured(w, o, "worst_p99_ns", worst, p->worst_p99);
}

static void put_processes(struct json_writer *w, struct json_object *root, const struct rtl_model *m)
{
    struct rtl_process_row *rows = calloc(RTL_MEMBERS_MAX, sizeof *rows);
    struct json_object *array = array_in(w, root, "processes");
    w->failed |= !rows;
    uint32_t count = rows ? rtl_process_rows(m, rows, RTL_MEMBERS_MAX) : 0;
    for (uint32_t i = 0; i < count; i++)
        rtl_json_process(w, object_at_end(w, array), m, &rows[i]);
    free(rows);
}

static void put_head(struct json_writer *w, struct json_object *root, const struct rtl_output_frame *f)
{
    const struct rtl_model *m = f->model;
    const struct rtl_snapshot *s = &m->latest->snapshot;
    put_json(w, root, "version", json_object_new_int(JSON_VERSION));
    put_json(w, root, "pid", json_object_new_int64(f->pid));
    put_text(w, root, "comm", s->comm);
    put_number(w, root, "time_ns", m->latest->real_ns);
    put_measured(w, root, "window_ns", m->previous && m->span_ns, m->span_ns);
    put_text(w, root, "mode", rtl_mode_label(s->mode));
    put_text(w, root, "in_force", rtl_activity_key(s->in_force));
    put_text(w, root, "state", rtl_target_json(m->state));
    put_notes(w, root, s->notes);
    if (rtl_is_observed(s))
        put_observed(w, root, s, f->restart);
    struct json_object *o = object_in(w, root, "dispatches");
    put_number(w, o, "counted", s->counted);
    put_number(w, o, "timed", s->timed);
    put_untimed(w, o, s->untimed, RTL_UNTIMED_LIMIT, rtl_reason_names, true);
    o = object_in(w, root, "signals");
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
    for (uint32_t i = 0; i < m->queue_count; i++) {
        const struct rtl_queue_row *row = &m->queues[i];
        const struct rtl_queue_snapshot *q = row->queue;
        struct json_object *o = object_at_end(w, array);
        put_number(w, o, "id", q->queue_id);
        put_number(w, o, "gpu", q->gpu);
        if (q->pid)
            put_number(w, o, "pid", q->pid);
        put_text(w, o, "name", rtl_queue_label(&m->latest->snapshot, q).text);
        put_name(w, o, "way", rtl_queue_path_key(q->path));
        put_name(w, o, "way_why", rtl_path_reason_key(q->path_reason));
        put_measured(w, o, "depth", rtl_depth_is_known(&m->latest->snapshot, q), q->depth);
        put_number(w, o, "dispatches", q->dispatches);
        put_quantiles(w, o, "wait", &q->wait);
        put_quantiles(w, o, "gap", &q->gap);
        struct json_object *recently = object_in(w, o, "window");
        put_share(w, recently, "dispatches_per_s", m->previous, row->rate);
        put_measured(w, recently, "wait_p50_ns", m->previous && row->has_wait, row->wait_p50);
        put_measured(w, recently, "wait_p99_ns", m->previous && row->has_wait, row->wait_p99);
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
    for (int c = 0; c < RTL_IDLE_COUNT; c++) {
        struct json_object *o = object_at_end(w, array);
        put_measured(w, o, "below_ns", below[c] != UINT64_MAX, below[c]);
        put_number(w, o, "count", agent->idle[c].count);
        put_number(w, o, "total_ns", agent->idle[c].total_ns);
    }
}

/* "causes" is null where the library or the recorder doesn't know them; a share is null without a window. */
static void put_causes(struct json_writer *w, struct json_object *gpu, const struct rtl_model *m,
                       const struct rtl_gpu_row *row)
{
    if (!row->agent->gaps_known || row->agent->users > 1) {
        put_measured(w, gpu, "causes", false, 0);
        return;
    }
    struct json_object *array = array_in(w, gpu, "causes");
    for (int c = 0; c < RTL_CAUSE_COUNT; c++) {
        struct json_object *o = object_at_end(w, array);
        put_text(w, o, "cause", rtl_cause_words((enum rtl_cause)c).key);
        put_number(w, o, "total_ns", row->agent->cause_ns[c]);
        put_share(w, o, "share", rtl_model_has_window(m) && row->cause[c] >= 0, row->cause[c]);
        put_share(w, o, "minute_share", row->minute_cause[c] >= 0, row->minute_cause[c]);
    }
}

static void put_gap_end(struct json_writer *w, struct json_object *gap, const struct rtl_model *m,
                        const struct rtl_gap *g, bool after)
{
    const struct rtl_row *kernel = rtl_gap_kernel(m, g, after);
    const struct rtl_queue_snapshot *queue =
        rtl_queue_of(&m->latest->snapshot, after ? g->queue_after : g->queue_before, 0);
    put_name(w, gap, after ? "kernel_after" : "kernel_before",
             kernel ? rtl_model_form(m, kernel, RTL_NAME_MANGLED) : NULL);
    put_name(w, gap, after ? "queue_after" : "queue_before",
             queue ? rtl_queue_label(&m->latest->snapshot, queue).text : NULL);
}

/* Puts the longest recorded gaps of the last 10 to 20 s, the longest first. */
static void put_gaps(struct json_writer *w, struct json_object *gpu, const struct rtl_model *m,
                     const struct rtl_gpu_row *row)
{
    const struct rtl_sample *latest = m->latest;
    if (!row->agent->gaps_known || row->agent->users > 1) {
        put_measured(w, gpu, "gaps", false, 0);
        return;
    }
    const struct rtl_gap *gaps[RTL_GAPS_MAX];
    uint32_t count = rtl_gaps_all(row, gaps);
    struct json_object *array = array_in(w, gpu, "gaps");
    for (uint32_t i = 0; i < count; i++) {
        const struct rtl_gap *g = gaps[i];
        struct json_object *o = object_at_end(w, array);
        uint64_t ago = rtl_grown(latest->snapshot.taken_mono_ns, g->start_mono_ns);
        put_measured(w, o, "start_ns", g->start_mono_ns && ago <= latest->real_ns, latest->real_ns - ago);
        put_number(w, o, "length_ns", g->length_ns);
        put_text(w, o, "cause", rtl_cause_words((enum rtl_cause)g->cause).key);
        put_number(w, o, "no_work_ns", g->no_work_ns);
        put_number(w, o, "copies_ns", g->copies_ns);
        put_gap_end(w, o, m, g, false);
        put_gap_end(w, o, m, g, true);
    }
}

static void put_verdict(struct json_writer *w, struct json_object *gpu, const struct rtl_model *m,
                        const struct rtl_gpu_row *row)
{
    char text[200];
    enum rtl_unknown unknown = m->previous ? row->unknown : RTL_UNKNOWN_FIRST;
    bool judged = !unknown || row->verdict == RTL_VERDICT_FAILED;
    rtl_verdict_text(row->verdict, &row->facts, (int)sizeof text, text, sizeof text);
    put_name(w, gpu, "verdict", judged ? rtl_verdict_words(row->verdict).key : NULL);
    put_name(w, gpu, "verdict_sentence", judged ? text : NULL);
    put_name(w, gpu, "unknown", unknown ? rtl_unknown_words(unknown).key : NULL);
}

static void put_clock(struct json_writer *w, struct json_object *gpu, const struct rtl_agent_snapshot *agent)
{
    struct json_object *o = object_in(w, gpu, "clock");
    char text[40];
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
    bool seen = rtl_is_observed(s), window = rtl_model_has_window(m);
    for (uint32_t i = 0; i < m->gpu_count; i++) {
        struct json_object *o = object_at_end(w, array);
        const struct rtl_agent_snapshot *agent = m->gpus[i].agent;
        put_number(w, o, "id", agent->gpu);
        put_text(w, o, "name", agent->name);
        const struct rtl_gpu_name address = rtl_pci_address(agent->bdf);
        put_name(w, o, "pci", *address.text ? address.text : NULL);
        put_name(w, o, "uuid", *agent->uuid ? agent->uuid : NULL);
        put_share(w, o, "busy", window && m->gpus[i].busy >= 0, m->gpus[i].busy);
        if (agent->users > 1) /* busy is the sum of several processes */
            put_json(w, o, "busy_is_bound", json_object_new_boolean(true));
        put_measured(w, o, "busy_ns", !seen || s->in_force == RTL_ACTIVITY_TIMING, agent->busy_ns);
        put_verdict(w, o, m, &m->gpus[i]);
        bool in_call = window && *m->gpus[i].facts.call;
        put_name(w, o, "host_call", in_call ? m->gpus[i].facts.call : NULL);
        put_share(w, o, "host_call_share", in_call, m->gpus[i].facts.call_share);
        put_measured(w, o, "wait_p99_ns", window && m->gpus[i].facts.waits, m->gpus[i].wait_p99);
        put_idle(w, o, agent, seen);
        put_causes(w, o, m, &m->gpus[i]);
        put_gaps(w, o, m, &m->gpus[i]);
        put_clock(w, o, agent);
    }
}

static void put_copies(struct json_writer *w, struct json_object *root, const struct rtl_model *m)
{
    struct json_object *array = array_in(w, root, "copies");
    bool window = rtl_model_has_window(m);
    for (uint32_t i = 0; i < m->copies_count; i++) {
        const struct rtl_copies_row *row = &m->copies[i];
        const struct rtl_copies_snapshot *c = row->copies;
        bool recent = window && row->window.count, rated = window && row->bandwidth >= 0;
        struct json_object *o = object_at_end(w, array);
        put_number(w, o, "gpu", c->gpu);
        put_text(w, o, "direction", rtl_direction_names(c->direction).key);
        put_number(w, o, "count", c->count);
        put_number(w, o, "timed", c->histogram.count);
        put_untimed(w, o, c->untimed, RTL_COPY_UNTIMED_LIMIT, rtl_copy_reason_names, false);
        put_number(w, o, "bytes", c->bytes);
        put_number(w, o, "timed_bytes", c->timed_bytes);
        put_durations(w, o, &c->histogram, false);
        struct json_object *recently = object_in(w, o, "window");
        put_measured(w, recently, "count", window, row->window_count);
        put_measured(w, recently, "bytes", window, row->window_bytes);
        put_measured(w, recently, "bytes_per_s", rated, rated ? (uint64_t)row->bandwidth : 0);
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
    bool window = rtl_model_has_window(m);
    if (window && rtl_slowest(m, row, &slowest)) {
        struct json_object *o = object_in(w, kernel, "slowest");
        put_member(w, o, slowest.rank.member);
        put_share(w, o, "ratio", true, slowest.rank.against);
        put_json(w, o, "arrives_last", json_object_new_boolean(slowest.collective));
    } else {
        put_measured(w, kernel, "slowest", false, 0);
    }
    uint32_t count = rtl_ranks(m, row, true, ranks, RTL_MEMBERS_MAX);
    struct json_object *array = array_in(w, kernel, "processes");
    for (uint32_t i = 0; i < count; i++) {
        const struct rtl_rank *r = &ranks[i];
        struct json_object *o = object_at_end(w, array);
        put_number(w, o, "pid", (uint64_t)r->member->info.pid);
        put_number(w, o, "calls", r->calls);
        put_number(w, o, "timed", r->timed);
        put_number(w, o, "total_ns", r->total_ns);
        struct json_object *recently = object_in(w, o, "window");
        put_measured(w, recently, "calls", window, r->window_calls);
        put_measured(w, recently, "timed", window, r->window_timed);
        put_measured(w, recently, "total_ns", window && r->window_timed, r->window_total_ns);
        put_p50_p99(w, recently, window && r->has_quantiles, r->p50, r->p99);
    }
}

static void put_kernel(struct json_writer *w, struct json_object *o, const struct rtl_output_frame *f,
                       const struct rtl_row *row)
{
    const struct rtl_model *m = f->model;
    const struct rtl_kernel_snapshot *k = row->kernel;
    bool window = rtl_model_has_window(m), recent = window && row->window.count;
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
    bool launched = launch && rtl_p50_p99(&launch->histogram, from_call);
    put_measured(w, o, "launch_p50_ns", launched, from_call[0]);
    put_measured(w, o, "launch_p99_ns", launched, from_call[1]);
    struct json_object *recently = object_in(w, o, "window");
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

static void put_step_part(struct json_writer *w, struct json_object *o, const struct rtl_step_part *part)
{
    put_measured(w, o, "ns", part->known, (uint64_t)part->ns);
    put_share(w, o, "dispatches", true, part->runs);
    put_share(w, o, "share", part->known, part->share);
    put_change(w, o, "change", part->change);
}

static void put_step_rank(struct json_writer *w, struct json_object *o, const struct rtl_step_line *line)
{
    put_member(w, o, line->member);
    put_number(w, o, "steps", line->steps);
    put_measured(w, o, "step_ns", line->part.known, (uint64_t)line->part.ns);
    put_share(w, o, "dispatches", line->part.known, line->part.runs);
    put_share(w, o, "busy", line->part.share >= 0, line->part.share);
}

static void put_step_lines(struct json_writer *w, struct json_object *step, const struct rtl_model *m)
{
    struct json_object *families = array_in(w, step, "families"), *kernels = NULL,
                       *ranks = families ? array_in(w, step, "ranks") : NULL;
    for (uint32_t i = 0; i < m->steps.lines && !w->failed; i++) {
        const struct rtl_step_line *line = &m->step_lines[i];
        bool rank = line->kind == RTL_STEP_RANK, kernel = line->kind == RTL_STEP_KERNEL;
        if (line->kind == RTL_STEP_IDLE)
            continue;
        struct json_object *o = object_at_end(w, rank ? ranks : kernel ? kernels : families);
        if (!o)
            return;
        if (rank) {
            put_step_rank(w, o, line);
            continue;
        }
        put_text(w, o, "name",
                 kernel ? rtl_model_form(m, line->row, RTL_NAME_MANGLED) : rtl_name_family_name(line->family));
        put_step_part(w, o, &line->part);
        if (!kernel)
            kernels = array_in(w, o, "kernels");
    }
}

static void put_step(struct json_writer *w, struct json_object *root, const struct rtl_model *m)
{
    const struct rtl_steps *s = &m->steps;
    bool known = s->known && m->previous;
    if (!s->marker_key && !s->marked) {
        put_name(w, root, "step", NULL);
        return;
    }
    struct json_object *o = object_in(w, root, "step");
    if (!o)
        return;
    put_text(w, o, "marker", s->marker);
    put_name(w, o, "kind", !s->marker_key ? NULL : s->marker_key & RTL_STEP_RANGE ? "range" : "kernel");
    put_json(w, o, "automatic", json_object_new_boolean(!s->marked));
    put_name(w, o, "trouble", s->trouble);
    put_measured(w, o, "total", s->marker_key && !(s->trouble && s->marker_key & RTL_STEP_RANGE), s->total);
    put_measured(w, o, "steps", known, s->runs);
    put_measured(w, o, "processes", known, s->ranks);
    put_measured(w, o, "step_ns", known, (uint64_t)s->whole.ns);
    put_share(w, o, "steps_per_s", known, s->whole.ns > 0 ? 1e9 / s->whole.ns : 0);
    put_change(w, o, "change", s->whole.change);
    put_share(w, o, "gpus", known && s->gpus > 0, s->gpus);
    put_share(w, o, "untimed", known && !m->estimated, s->untimed);
    put_json(w, o, "estimated", json_object_new_boolean(s->known && m->estimated));
    put_measured(w, o, "idle_ns", known && s->idle.known, (uint64_t)s->idle.ns);
    put_step_lines(w, o, m);
}

void rtl_json_frame(struct json_writer *w, struct json_object *root, const struct rtl_output_frame *f)
{
    put_head(w, root, f);
    if (f->model->latest->snapshot.parts)
        put_processes(w, root, f->model);
    put_queues(w, root, f->model);
    put_gpus(w, root, f->model);
    put_copies(w, root, f->model);
    rtl_json_hip_api(w, root, f->model);
    put_step(w, root, f->model);
    if (f->probe && f->probe->there)
        rtl_json_probe(w, root, f->model, f->probe);
    struct json_object *kernels = array_in(w, root, "kernels");
    for (uint32_t i = 0; !w->failed && i < f->model->shown; i++)
        put_kernel(w, object_at_end(w, kernels), f, &f->model->rows[f->model->order[i]]);
}

bool rtl_output_json(const struct rtl_output_frame *f, FILE *out)
{
    struct json_writer w = {false};
    struct json_object *root = json_object_new_object();
    rtl_json_frame(&w, root, f);
    return json_print_line(&w, root, out);
}
