/* Computes the cost of a step. See model_data.h. */
#include "model/model_gpus.h"
#include "model/ranks.h"
#include "text/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_LEAST = 30 }; /* in both windows, for a comparison */

/* --- the marker --- */

static const struct rtl_parts *parts_of(const struct rtl_model *m)
{
    return m->latest->snapshot.parts;
}

static uint64_t previous_span(const struct rtl_model *m)
{
    return m->base && m->before ? rtl_grown(m->base->snapshot.taken_mono_ns, m->before->snapshot.taken_mono_ns) : 0;
}

/* Set the shown name: the marker's, or the user's text if several kernels or ranges match it. */
static void set_marker(const struct rtl_model *m, struct rtl_steps *s, const char *name)
{
    const char *shown = *s->marker && m->step ? m->step : name;
    rtl_text_escape(s->marker, sizeof s->marker, shown, strlen(shown));
}

static void add_kernel_runs(struct rtl_model *m, struct rtl_steps *s, const struct rtl_row *row)
{
    struct rtl_rank ranks[RTL_MEMBERS_MAX];
    uint32_t count = parts_of(m) ? rtl_ranks(m, row, false, ranks, RTL_MEMBERS_MAX) : 0;
    set_marker(m, s,
               rtl_names_cell(m->names, row->id, row->kernel->name, row->kernel->name_length, RTL_NAME_SHORT,
                              RTL_NAMES_WHOLE, false));
    s->marker_key = rtl_step_kernel_key(row->id);
    s->runs += row->window_calls;
    s->total += row->kernel->calls;
    s->before_runs += row->base ? rtl_grown(row->base->calls, row->before ? row->before->calls : 0) : 0;
    for (uint32_t i = 0; i < count; i++)
        s->member_runs[ranks[i].member - parts_of(m)->members] += ranks[i].window_calls;
}

/* Add the kernels of that name, or whose name contains the text, or the kernel that was chosen automatically. */
static void mark_kernels(struct rtl_model *m, struct rtl_steps *s, bool exact)
{
    for (uint32_t i = 0; i < m->row_count; i++) {
        const struct rtl_row *row = &m->rows[i];
        const struct rtl_kernel_snapshot *k = row->kernel;
        if (!m->step ? m->step_log.choice == rtl_step_kernel_key(row->id)
            : exact  ? rtl_names_is(m->names, row->id, k->name, k->name_length, m->step)
                     : rtl_names_match(m->names, row->id, k->name, k->name_length, m->step))
            add_kernel_runs(m, s, row);
    }
}

static uint64_t range_runs(const struct rtl_sample *sample, const struct rtl_hip_api_row_snapshot *range)
{
    const struct rtl_hip_api_snapshot *calls = sample ? sample->snapshot.hip_api : NULL;
    for (uint32_t i = 0; calls && i < calls->count; i++)
        if (!rtl_hip_api_compare_rows(&calls->rows[i], range))
            return calls->rows[i].histogram.count;
    return 0;
}

static void mark_ranges(struct rtl_model *m, struct rtl_steps *s, bool exact)
{
    for (uint32_t i = 0; i < m->hip_api.ranges; i++) {
        const struct rtl_hip_api_model_row *row = &m->hip_api.rows[m->hip_api.functions + i];
        uint64_t key = rtl_step_range_key(row->call->name, row->call->name_bytes);
        char name[4 * RTL_HIP_API_TEXT + 1];
        rtl_text_escape(name, sizeof name, row->call->name, row->call->name_bytes);
        if (row->call->kind != RTL_HIP_API_RANGE || (!m->step ? m->step_log.choice != key
                                                     : exact  ? strcmp(name, m->step) != 0
                                                              : !rtl_text_contains(name, m->step)))
            continue;
        set_marker(m, s, name);
        s->marker_key = key;
        if (parts_of(m)) {
            s->trouble = "the runs of a range are known for one process only: p chooses it";
            continue;
        }
        s->runs += row->window.count;
        s->total += row->call->histogram.count;
        s->before_runs += rtl_grown(range_runs(m->base, row->call), range_runs(m->before, row->call));
    }
}

/* Count the runs of the marker. An exact name goes before a part of a name, and a range before a kernel. */
static void count_marker_runs(struct rtl_model *m, struct rtl_steps *s)
{
    for (int exact = 1; exact >= 0 && !s->marker_key; exact--) {
        mark_ranges(m, s, exact);
        if (!s->marker_key)
            mark_kernels(m, s, exact);
    }
    if (!s->marker_key && m->step) {
        set_marker(m, s, m->step);
        s->trouble = "no range or kernel of this name has run so far";
    }
    s->ranks = s->runs && !parts_of(m);
    for (uint32_t i = 0; parts_of(m) && i < parts_of(m)->member_count; i++) {
        const struct rtl_member *member = &parts_of(m)->members[i],
                                *base = rtl_member_of(rtl_snapshot_of(m->base), member->number);
        s->ranks += s->member_runs[i] > 0;
        s->others |= !s->member_runs[i] && member->counted > (base ? base->counted : 0);
    }
    if (!s->ranks && s->marker_key && !s->trouble)
        s->trouble = "the marker did not run in the window";
}

/* --- parts --- */

/* Compare with the previous window. See model_data.h. */
static struct rtl_change compare_steps(const struct rtl_steps *s, const struct rtl_step_part *part)
{
    struct rtl_change change = {RTL_CHANGE_UNKNOWN, 0};
    double now = part->ns, before = part->before_ns;
    if (!part->known || before <= 0 || s->others || s->runs < STEPS_LEAST || s->before_runs < STEPS_LEAST)
        return change;
    double windows = 1 / (double)s->runs + 1 / (double)s->before_runs, cut = 1.0 / 64 + s->ranks * windows;
    change = (struct rtl_change){RTL_CHANGE_SAME, now / before};
    if (fabs(now - before) > 2 * sqrt(part->variance * windows) + before * cut)
        change.kind = now > before ? RTL_CHANGE_LONGER : RTL_CHANGE_SHORTER;
    return change;
}

static void finish_part(const struct rtl_steps *s, struct rtl_step_part *part)
{
    part->share = part->known && s->whole.ns > 0 ? part->ns / (s->whole.ns * (s->gpus > 0 ? s->gpus : 1)) : 0;
    part->change = compare_steps(s, part);
}

static struct rtl_step_part make_part(const struct rtl_model *m, const struct rtl_steps *s, const struct rtl_row *row)
{
    struct rtl_rank ranks[RTL_MEMBERS_MAX];
    double ns = (double)rtl_row_window_ns(row), calls = (double)row->window_calls, steps = (double)s->runs;
    bool known = rtl_row_window_ns(row) && !m->no_shares;
    uint32_t count = s->others ? rtl_ranks(m, row, false, ranks, RTL_MEMBERS_MAX) : 0;
    if (s->others)
        ns = calls = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!s->member_runs[ranks[i].member - parts_of(m)->members])
            continue;
        ns += (double)ranks[i].window_total_ns;
        calls += (double)ranks[i].window_calls;
    }
    struct rtl_step_part part = {.known = known && ns > 0, .ns = ns / steps, .runs = calls / steps};
    if (part.known && row->window.count && s->before_runs) {
        double mean = ns / calls,
               scatter = rtl_step_log_scatter(&m->step_log, rtl_step_kernel_key(row->id), s->marker_key);
        /* of a normal distribution: p90 and p99 are 1.28 and 2.33 deviations above p50 */
        double deviation = fmax((double)(row->p90 - row->p50) / 1.28, (double)(row->p99 - row->p50) / 2.33);
        const struct rtl_histogram_copy *base = row->base ? &row->base->histogram : NULL;
        uint64_t was = base ? rtl_grown(base->total_ns, row->before ? row->before->histogram.total_ns : 0) : 0;
        part.before_ns = (double)was / (double)s->before_runs;
        part.variance = deviation * deviation * part.runs + mean * mean * (scatter < 0 ? part.runs : scatter);
    }
    return part;
}

static void add_step_part(struct rtl_step_part *sum, const struct rtl_step_part *part)
{
    sum->known |= part->known;
    sum->ns += part->known ? part->ns : 0;
    sum->runs += part->runs;
    sum->before_ns += part->before_ns;
    sum->variance += part->variance;
}

static void add_step_kernels(struct rtl_model *m, struct rtl_steps *s)
{
    uint64_t calls = 0, untimed = 0;
    for (uint32_t i = 0; i < m->row_count; i++) {
        const struct rtl_row *row = &m->rows[i];
        if (!row->window_calls)
            continue;
        struct rtl_step_line line = {RTL_STEP_KERNEL, rtl_family_of(m, row), .row = row, .part = make_part(m, s, row)};
        s->whole.runs += line.part.runs;
        calls += row->window_calls;
        untimed += rtl_grown(row->kernel->untimed, row->base ? row->base->untimed : 0);
        if (line.part.runs <= 0)
            continue;
        add_step_part(&s->families[line.family], &line.part);
        m->step_lines[s->lines++] = line;
    }
    s->untimed = calls && !m->estimated ? fmin((double)untimed / (double)calls, 1) : 0;
}

static void add_idle(const struct rtl_model *m, struct rtl_steps *s)
{
    const struct rtl_snapshot *now = &m->latest->snapshot;
    double idle = 0, before = 0, gpus = 0;
    uint64_t used = parts_of(m) ? 0 : UINT64_MAX;
    s->idle.known = s->untimed <= 0.1 && (!rtl_is_observed(now) || now->in_force == RTL_ACTIVITY_TIMING);
    for (uint32_t i = 0; parts_of(m) && i < parts_of(m)->member_count; i++)
        used |= s->member_runs[i] ? parts_of(m)->members[i].gpus : 0;
    for (uint32_t i = 0; i < m->gpu_count; i++) {
        const struct rtl_gpu_row *gpu = &m->gpus[i];
        if (gpu->rate <= 0 || !(used >> gpu->agent->gpu % RTL_AGENTS_MAX & 1))
            continue;
        const struct rtl_agent_snapshot *base = rtl_agent_of(rtl_snapshot_of(m->base), gpu->agent->gpu),
                                        *first = rtl_agent_of(rtl_snapshot_of(m->before), gpu->agent->gpu);
        gpus++;
        s->idle.known &= gpu->busy >= 0 && gpu->agent->users <= 1;
        idle += (1 - gpu->busy) * (double)m->span_ns;
        if (base && first)
            before += (double)rtl_grown(previous_span(m), rtl_grown(base->busy_ns, first->busy_ns));
    }
    s->idle.known &= gpus > 0;
    s->idle.ns = s->idle.known ? idle / (double)s->runs : 0;
    s->idle.before_ns = s->before_runs ? before / (double)s->before_runs : 0;
    s->idle.variance = s->whole.variance * gpus;
    s->gpus = gpus / s->ranks;
}

/* --- lists and text --- */

/* A family's line has the sum of its kernels' lines and precedes them. */
static int compare_lines(const void *left, const void *right)
{
    const struct rtl_step_line *a = left, *b = right;
    if (a->sum != b->sum)
        return a->sum > b->sum ? -1 : 1;
    if (a->family != b->family)
        return a->family < b->family ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return a->part.ns != b->part.ns ? (a->part.ns > b->part.ns ? -1 : 1) : (a->row > b->row) - (a->row < b->row);
}

/* Add families and idle time to the kernels. */
static void finish_lines(struct rtl_model *m, struct rtl_steps *s)
{
    for (int f = 0; f < RTL_FAMILY_COUNT; f++) {
        finish_part(s, &s->families[f]);
        if (s->families[f].runs > 0)
            m->step_lines[s->lines++] =
                (struct rtl_step_line){.family = (enum rtl_name_family)f, .part = s->families[f]};
    }
    m->step_lines[s->lines++] = (struct rtl_step_line){RTL_STEP_IDLE, RTL_FAMILY_COUNT, .part = s->idle};
    for (uint32_t i = 0; i < s->lines; i++) {
        struct rtl_step_line *line = &m->step_lines[i];
        line->sum = line->kind == RTL_STEP_IDLE ? s->idle.ns : s->families[line->family].ns;
        finish_part(s, &line->part);
    }
    qsort(m->step_lines, s->lines, sizeof *m->step_lines, compare_lines);
}

static void add_ranks(struct rtl_model *m, struct rtl_steps *s)
{
    struct rtl_process_row rows[RTL_MEMBERS_MAX];
    struct rtl_step_line *lines = m->step_lines + s->lines;
    uint32_t count = parts_of(m) ? rtl_process_rows(m, rows, RTL_MEMBERS_MAX) : 0, used = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t steps = s->member_runs[rows[i].member - parts_of(m)->members];
        double ns = steps ? (double)m->span_ns / (double)steps : 0;
        struct rtl_step_part part = {
            .known = steps > 0, .ns = ns, .runs = rows[i].rate * ns / 1e9, .share = steps ? rows[i].busy : -1};
        if (rows[i].rate > 0)
            lines[used++] = (struct rtl_step_line){RTL_STEP_RANK, .member = rows[i].member, .steps = steps, .sum = ns,
                                                   .part = part};
    }
    qsort(lines, used, sizeof *lines, compare_lines);
    s->lines += used;
}

void rtl_steps_make(struct rtl_model *m)
{
    struct rtl_steps *s = &m->steps;
    s->marked = m->step != NULL;
    if (m->range || !m->latest) /* the rows are kernels of one range, so they lack others */
        return;
    count_marker_runs(m, s);
    s->known = s->ranks && m->span_ns;
    if (!s->known)
        return;
    double runs = (double)s->runs / s->ranks, before = (double)s->before_runs / s->ranks;
    double scatter = rtl_step_log_scatter(&m->step_log, s->marker_key, s->marker_key);
    s->whole.known = true;
    s->whole.ns = (double)m->span_ns / runs;
    s->whole.before_ns = before > 0 ? (double)previous_span(m) / before : 0;
    s->whole.variance = s->whole.ns * s->whole.ns * (scatter < 0 ? 1 : scatter);
    add_step_kernels(m, s);
    add_idle(m, s);
    finish_part(s, &s->whole);
    finish_part(s, &s->idle);
    finish_lines(m, s);
    add_ranks(m, s);
}

/* Write " (24.3/s, automatic: argmax, mean of 4 processes)": the more, the wider the line. */
static void format_facts(const struct rtl_steps *s, int columns, bool ascii, char *out, size_t size)
{
    char name[sizeof s->marker];
    int room = columns / 5;
    *out = '\0';
    if (columns < 60)
        return;
    snprintf(name, sizeof name, "%s", s->marker);
    if (rtl_text_columns(name) > room) /* the beginning of a name distinguishes it best */
        snprintf(name + rtl_text_offset(name, room - 2), 4, "%s", ascii ? ".." : "…");
    if (columns >= 100)
        rtl_text_append(out, size, " (%s/s, ", rtl_format_rate(1e9 / s->whole.ns).text);
    rtl_text_append(out, size, "%s%s%s", *out ? "" : " (", s->marked ? "" : "automatic: ", name);
    if (columns >= 100 && s->ranks > 1)
        rtl_text_append(out, size, ", mean of %u processes", s->ranks);
    if (columns >= 100 && s->gpus > 1)
        rtl_text_append(out, size, ", kernels of %g GPUs", s->gpus);
    rtl_text_append(out, size, ")");
}

void rtl_steps_text(const struct rtl_model *model, enum rtl_unit unit, int columns, bool ascii, char *out, size_t size)
{
    const struct rtl_steps *s = &model->steps;
    char change[16] = "", part[64], facts[sizeof s->marker + 96];
    *out = '\0';
    if (!s->known)
        return;
    double ns = s->whole.ns; /* parts have the unit of the whole step */
    if (unit == RTL_UNIT_AUTO)
        unit = ns >= 1e9 ? RTL_UNIT_S : ns >= 1e6 ? RTL_UNIT_MS : ns >= 1e3 ? RTL_UNIT_US : RTL_UNIT_NS;
    if (s->whole.change.kind == RTL_CHANGE_LONGER || s->whole.change.kind == RTL_CHANGE_SHORTER)
        rtl_change_text(s->whole.change, change, sizeof change);
    rtl_text_append(out, size, "%s a step", rtl_format_time((uint64_t)s->whole.ns, unit).text);
    rtl_text_append(out, size, "%s%s", *change ? ", " : "", change);
    if (s->untimed >= 0.005)
        rtl_text_append(out, size, ", %.0f%% not timed", s->untimed * 100);
    format_facts(s, columns, ascii, facts, sizeof facts);
    for (uint32_t i = 0, parts = 0; i < s->lines; i++) {
        const struct rtl_step_line *line = &model->step_lines[i];
        if (line->kind != RTL_STEP_FAMILY && line->kind != RTL_STEP_IDLE)
            continue;
        struct rtl_number n = rtl_format_time((uint64_t)line->part.ns, unit);
        n.text[strspn(n.text, "0123456789.")] = '\0';
        snprintf(part, sizeof part, "%s%s %s%s", parts++ ? ", " : ": ",
                 line->kind == RTL_STEP_IDLE ? "idle" : rtl_name_family_name(line->family), model->estimated ? "~" : "",
                 n.text);
        if (line->part.ns < ns / 100 ||
            rtl_text_columns(out) + rtl_text_columns(part) + rtl_text_columns(facts) > columns)
            break;
        rtl_text_append(out, size, "%s", part);
    }
    rtl_text_append(out, size, "%s", facts);
    if (ascii)
        rtl_units_ascii(out);
}
