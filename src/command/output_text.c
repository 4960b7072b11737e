/* Writes a frame as plain text: sums, GPUs, queues, copies, and kernels in the screen's order with its columns. */
#include "command/output.h"
#include "model/coverage.h"
#include "model/cells.h"
#include "model/labels.h"
#include "model/model_gpus.h"
#include "model/model_rows.h"
#include "model/probe_figures.h"
#include "model/queue_error.h"
#include "shm/gpu_names.h"
#include "text/text.h"
#include "text/units.h"

#include <string.h>
#include <time.h>

static struct rtl_number time_text(const struct rtl_output_frame *f, bool measured, uint64_t ns)
{
    struct rtl_number n = measured ? rtl_format_time(ns, f->options->units) : (struct rtl_number){RTL_NONE};
    if (f->options->ascii)
        rtl_units_ascii(n.text);
    return n;
}

/* Writes the share of the window that the GPU was idle, by length of gap, and the accuracy of its clock. */
static void write_idle(const struct rtl_output_frame *f, const struct rtl_gpu_row *gpu, FILE *out)
{
    const struct rtl_agent_snapshot *a = gpu->agent;
    bool measured = gpu->idle_rate >= 0;
    fprintf(out, "%s idle", rtl_gpu_label(&f->model->latest->snapshot, a->gpu).text);
#define CLASS(number, below, header) header,
    static const char *const headers[] = {RTL_IDLE_CLASSES(CLASS)};
#undef CLASS
    for (int i = 0; i < RTL_IDLE_COUNT; i++) {
        char text[16];
        snprintf(text, sizeof text, "%s", headers[i]);
        if (f->options->ascii)
            rtl_units_ascii(text);
        fprintf(out, "  %s %s%s", text, measured ? rtl_format_share(gpu->idle[i]).text : RTL_NONE, measured ? "%" : "");
    }
    fprintf(out, "  gaps %s/s  clock off %s drift %s ppm\n", measured ? rtl_format_rate(gpu->idle_rate).text : RTL_NONE,
            time_text(f, a->clock_residuals, a->clock_residual_ns).text,
            a->clock_drift_over_ns ? rtl_format_ppb(a->clock_drift_ppb).text : RTL_NONE);
}

/* GPUs without an address can't be merged: two rows may be the same GPU. */
static void write_nameless_gpus(const struct rtl_model *m, FILE *out)
{
    uint32_t nameless = 0;
    for (uint32_t i = 0; i < m->gpu_count; i++)
        nameless += m->gpus[i].agent->bdf == RTL_NO_BDF;
    if (nameless && m->queue_count && m->queues[0].queue->pid)
        fprintf(
            out,
            "%u of these GPUs %s no known address: a row of each process, which may be the same GPU as another row\n",
            nameless, nameless == 1 ? "has" : "have");
}

static void write_sums(const struct rtl_output_frame *f, FILE *out)
{
    const struct rtl_model *m = f->model;
    const struct rtl_snapshot *s = &m->latest->snapshot;
    time_t seconds = (time_t)(m->latest->real_ns / RTL_SEC);
    struct tm local;
    char when[40] = "", coverage[1024];
    if (localtime_r(&seconds, &local))
        strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &local);
    fprintf(out, "rtl-top  %s  pid %d  %s  %s\n", *f->title ? f->title : s->comm, (int)f->pid,
            rtl_target_json(m->state), when);
    fprintf(out, "window %s%s  totals since %s %s\n", m->base ? "" : "since start ",
            rtl_format_interval(m->span_ns).text, m->zero ? "zero" : "start", rtl_format_age(rtl_model_since(m)).text);
    rtl_coverage_text(m, coverage, sizeof coverage);
    fprintf(out, "%s\n", coverage);
    if (f->restart && rtl_is_observed(s))
        fprintf(out, "exact times: %s\n", f->restart);
    fprintf(out,
            "dispatches %s/s  kernels %u  drop %s  signals in use %llu free %llu created %llu peak %llu limit %llu\n",
            rtl_format_rate(m->rate).text, m->row_count, rtl_format_count(m->lost).text,
            (unsigned long long)s->signals_in_use, (unsigned long long)s->signals_free,
            (unsigned long long)s->signals_created, (unsigned long long)s->signals_peak,
            (unsigned long long)s->signals_limit);
    for (uint32_t i = 0; i < m->gpu_count; i++) {
        const struct rtl_gpu_row *gpu = &m->gpus[i];
        char verdict[160];
        rtl_verdict_text(gpu->verdict, &gpu->facts, (int)sizeof verdict, verdict, sizeof verdict);
        if (f->options->ascii)
            rtl_units_ascii(verdict);
        fprintf(out, "%s %s  busy %s%s%s  queues %u  depth %s  wait p99 %s  %s\n",
                rtl_gpu_label(s, gpu->agent->gpu).text, gpu->agent->name,
                gpu->busy > 0 && gpu->agent->users > 1 ? "<=" : "",
                gpu->busy >= 0 ? rtl_format_share(gpu->busy).text : RTL_NONE, gpu->busy >= 0 ? "%" : "", gpu->queues,
                gpu->depth_known ? rtl_format_exact(gpu->depth, 20).text : RTL_NONE,
                time_text(f, gpu->facts.waits, gpu->wait_p99).text, verdict);
        write_idle(f, gpu, out);
    }
    write_nameless_gpus(m, out);
}

static struct rtl_number depth_text(const struct rtl_model *m, const struct rtl_queue_snapshot *queue)
{
    const struct rtl_number none = {RTL_NONE};
    return rtl_depth_is_known(&m->latest->snapshot, queue) ? rtl_format_exact(queue->depth, 20) : none;
}

static void write_queues(const struct rtl_output_frame *f, FILE *out)
{
    const struct rtl_model *m = f->model;
    for (uint32_t i = 0; i < m->queue_count; i++) {
        const struct rtl_queue_row *row = &m->queues[i];
        if (row->queue->pid)
            fprintf(out, "pid %llu ", (unsigned long long)row->queue->pid);
        fprintf(out, "%s%s  depth %s  dispatches %s %s/s  wait p50 %s p99 %s  gap p50 %s p99 %s",
                rtl_queue_label(&m->latest->snapshot, row->queue).text,
                row->queue->live || row->queue->shared ? "" : " destroyed", depth_text(m, row->queue).text,
                rtl_format_count(row->queue->dispatches).text, rtl_format_rate(row->rate).text,
                time_text(f, row->has_wait, row->wait_p50).text, time_text(f, row->has_wait, row->wait_p99).text,
                time_text(f, row->has_gap, row->gap_p50).text, time_text(f, row->has_gap, row->gap_p99).text);
        if (row->queue->path)
            fprintf(out, "  way %s (%s)", rtl_queue_path_label(row->queue->path),
                    rtl_path_reason_label(row->queue->path_reason));
        if (row->queue->error) {
            char error[320];
            rtl_queue_error_sentence(m, row->queue, error, sizeof error);
            if (f->options->ascii)
                rtl_units_ascii(error);
            fprintf(out, "  error %s", error);
        }
        fputc('\n', out);
    }
}

static void write_copies(const struct rtl_output_frame *f, FILE *out)
{
    const struct rtl_model *m = f->model;
    for (uint32_t i = 0; i < m->copies_count; i++) {
        const struct rtl_copies_row *row = &m->copies[i];
        bool timed = row->window.count;
        fprintf(out, "%s copies %s  %s %s/s  bytes %s %s/s  p50 %s p99 %s",
                rtl_gpu_label(&m->latest->snapshot, row->copies->gpu).text,
                rtl_direction_names(row->copies->direction).text, rtl_format_count(row->copies->count).text,
                rtl_format_rate(row->rate).text, rtl_format_bytes(row->copies->bytes).text,
                rtl_format_rate(row->bandwidth).text, time_text(f, timed, row->p50).text,
                time_text(f, timed, row->p99).text);
        for (unsigned r = 0, any = 0; r < RTL_COPY_UNTIMED_LIMIT; r++)
            if (row->copies->untimed[r] && rtl_copy_reason_names(r).key)
                fprintf(out, "%s %s %s", any++ ? "," : "  not timed:", rtl_format_count(row->copies->untimed[r]).text,
                        rtl_copy_reason_names(r).key);
        fputc('\n', out);
    }
}

/* Writes functions, then ranges, then memory in use. */
static void write_calls(const struct rtl_output_frame *f, FILE *out)
{
    const struct rtl_model *m = f->model;
    const struct rtl_hip_api_snapshot *calls = m->latest->snapshot.hip_api;
    for (uint32_t i = 0; i < m->hip_api.functions + m->hip_api.ranges; i++) {
        const struct rtl_hip_api_model_row *row = &m->hip_api.rows[i];
        const char *kind = rtl_hip_api_kind_key(row->call->kind);
        bool range = rtl_hip_api_is_range(row->call), timed = row->window.count;
        char name[4 * RTL_HIP_API_TEXT + 1];
        rtl_text_escape(name, sizeof name, row->call->name, row->call->name_bytes);
        fprintf(out, "%s %s  %s %s/s  total %s  p50 %s p99 %s", range && kind ? kind : "call", name,
                rtl_format_count(row->calls).text, rtl_format_rate(row->rate).text,
                time_text(f, row->calls, row->total_ns).text, time_text(f, timed, row->p50).text,
                time_text(f, timed, row->p99).text);
        if (row->errors)
            fprintf(out, "  errors %s", rtl_format_count(row->errors).text);
        if (row->bytes)
            fprintf(out, "  bytes %s %s/s", rtl_format_bytes(row->bytes).text, rtl_format_rate(row->bandwidth).text);
        if (row->call->open)
            fprintf(out, "  open %s", rtl_format_count(row->call->open).text);
        fputc('\n', out);
    }
    for (uint32_t i = 0; calls && i < calls->memory_count; i++) {
        const struct rtl_hip_api_memory_snapshot *memory = &calls->memory[i];
        if (m->latest->snapshot.parts)
            fprintf(out, "pid %llu ", (unsigned long long)memory->pid);
        if (memory->place < RTL_HIP_API_GPUS)
            fprintf(out, "memory of device %u", memory->place);
        else
            fputs("memory of host", out);
        fprintf(out, "  in use %s  at most %s  allocations %s\n", rtl_format_bytes(memory->in_use).text,
                rtl_format_bytes(memory->peak).text, rtl_format_count(memory->allocations).text);
    }
}

static struct rtl_probe_between_text times_text(const struct rtl_output_frame *f, struct rtl_probe_between between)
{
    struct rtl_probe_between_text t = rtl_probe_times_text(between, f->options->units);
    if (f->options->ascii)
        rtl_units_ascii(t.text);
    return t;
}

/* Writes a recorded probe in a line. */
static void write_probe(const struct rtl_output_frame *f, FILE *out)
{
    const struct rtl_probe_told *p = f->probe;
    const struct rtl_probe_state *s = &p->state;
    struct rtl_probe_figures figures;
    const struct rtl_row *row = rtl_model_row(f->model, p->kernel);
    fprintf(out, "probe %s",
            row ? rtl_model_name(f->model, row, f->options->names, RTL_NAMES_WHOLE, f->options->ascii)
                : "(unnamed kernel)");
    if (p->on_gpu)
        fprintf(out, "  GPU %u", p->gpu);
    fprintf(out, "  %s", p->runs ? p->stage : p->over);
    rtl_probe_figures(s, &figures);
    if (p->counted && figures.any)
        fprintf(out, "  dispatches %s of %s  mean %s  waves %s of %s", rtl_format_count(s->recorded).text,
                rtl_format_count(s->dispatches).text, time_text(f, true, figures.duration_mean_ns).text,
                rtl_format_count(s->waves).text, rtl_format_count(s->waves_expected).text);
    if (p->counted && s->waves)
        fprintf(out, "  cycles p50 %s p99 %s  units %u imbalance %.2f", rtl_probe_cycles_text(figures.p50).text,
                rtl_probe_cycles_text(figures.p99).text, (unsigned)figures.units, figures.imbalance);
    if (p->counted && s->tails)
        fprintf(out, "  tail mean %s max %s steps %s", times_text(f, figures.tail_mean).text,
                times_text(f, figures.tail_max).text, time_text(f, true, s->tail_step_ns).text);
    if (p->counted && s->waves && s->tails < s->recorded)
        fprintf(out, "  tail known of %s of %s", rtl_format_count(s->tails).text, rtl_format_count(s->recorded).text);
    if (p->counted && s->waves && s->tails < s->recorded && figures.tail_longest_ns)
        fprintf(out, ", not beyond %s", time_text(f, true, figures.tail_longest_ns).text);
    fputc('\n', out);
}

/* Selects columns: no marks, the name last. Columns that compare windows follow the older ones, so that scripts find
 * these in place. */
static bool in_text(int column, bool comparing)
{
    bool compares = column == RTL_COLUMN_CHANGE || column == RTL_COLUMN_CHANGE50;
    return column != RTL_COLUMN_NAME && column != RTL_COLUMN_TREND && column != RTL_COLUMN_HEAT &&
           compares == comparing;
}

bool rtl_output_text(const struct rtl_output_frame *f, FILE *out)
{
    const struct rtl_model *m = f->model;
    char steps[1024];
    if (f->number)
        fputc('\n', out);
    write_sums(f, out);
    write_queues(f, out);
    write_copies(f, out);
    write_calls(f, out);
    rtl_steps_text(m, f->options->units, (int)sizeof steps, f->options->ascii, steps, sizeof steps);
    if (*steps)
        fprintf(out, "step %s\n", steps);
    else if (m->steps.trouble)
        fprintf(out, "step %s: %s\n", m->steps.marker, m->steps.trouble);
    if (f->probe && f->probe->there)
        write_probe(f, out);
    int width[RTL_COLUMN_COUNT];
    rtl_cell_widths(m, f->options->units, width);
    int order[RTL_COLUMN_COUNT], columns = 0;
    for (int comparing = 0; comparing < 2; comparing++)
        for (int i = 0; i < RTL_COLUMN_COUNT; i++)
            if (in_text(i, comparing) && width[i])
                order[columns++] = i;
    for (int i = 0; i < columns; i++)
        fprintf(out, "%*s ", width[order[i]], rtl_columns[order[i]].header);
    fprintf(out, "%s\n", rtl_columns[RTL_COLUMN_NAME].header);
    for (uint32_t r = 0; r < m->shown; r++) {
        const struct rtl_row *row = &m->rows[m->order[r]];
        for (int i = 0; i < columns; i++) {
            char text[48];
            rtl_cell_text(m, row, (enum rtl_column)order[i], f->options->units, text, sizeof text);
            if (f->options->ascii)
                rtl_units_ascii(text);
            fprintf(out, "%*s ", rtl_text_pad(text, width[order[i]]), text);
        }
        fprintf(out, "%s%s\n", rtl_model_name(m, row, f->options->names, RTL_NAMES_WHOLE, f->options->ascii),
                row->calls && !row->timed && row->untimed ? "  (not timed)" : "");
    }
    return true;
}
