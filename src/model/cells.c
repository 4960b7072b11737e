/* What the model's numbers look like in words. See cells.h. */
#include "model/cells.h"
#include "model/labels.h"
#include "model/model_gpus.h"
#include "model/ranks.h"
#include "model/row_times.h"
#include "shm/gpu_names.h"
#include "text/text.h"

#include <stdio.h>
#include <string.h>

int rtl_way_lines(const struct rtl_model *m, struct rtl_way_line lines[RTL_WAY_LINES])
{
    int count = 0;
    for (uint32_t i = 0; i < m->queue_count && count < RTL_WAY_LINES; i++) {
        const struct rtl_queue_snapshot *q = m->queues[i].queue;
        int at = 0;
        while (at < count && (lines[at].way != q->way || lines[at].why != q->way_why))
            at++;
        if (q->way && at == count)
            lines[count++] = (struct rtl_way_line){q->way, q->way_why};
    }
    return count;
}

/* What is of a newer library has no name here. */
static const char *named(uint32_t number, const char *name)
{
    return name ? name : number ? "unknown" : RTL_NONE;
}

const char *rtl_way_label(uint32_t way)
{
    return named(way, rtl_way_key(way));
}

const char *rtl_way_why_label(uint32_t why)
{
    return named(why, rtl_way_why_key(why));
}

const char *rtl_way_why_words(uint32_t why)
{
    return named(why, rtl_way_why_text(why));
}

void rtl_ways_text(const struct rtl_model *m, char *out, size_t size)
{
    struct rtl_way_line lines[RTL_WAY_LINES];
    int count = rtl_way_lines(m, lines);
    *out = 0;
    for (int i = 0; i < count; i++)
        rtl_text_append(out, size, "%s%s (%s)", i ? ", " : "queues ", rtl_way_label(lines[i].way),
                        rtl_way_why_words(lines[i].why));
}

/* A share of the window's dispatches, at most all: one that was counted before the window may be given up on in it. */
static struct rtl_number share_of(const struct rtl_model *m, uint64_t count)
{
    return rtl_format_share(count < m->window_counted ? (double)count / (double)m->window_counted : 1);
}

enum { SHARES_AT_HAND = 4 }; /* of so many GPUs nobody needs a mean */

/* What of it was seen from outside, and what that means. */
static void observed(const struct rtl_model *m, bool whole, char *out, size_t size)
{
    static const char *const when[] = {
#define CONVENTION(sym, num, json, text) [num] = text,
        RTL_CONVENTIONS(CONVENTION)
#undef CONVENTION
    };
    const struct rtl_snapshot *s = &m->latest->snapshot;
    uint64_t timed = m->window_counted > m->window_untimed ? m->window_counted - m->window_untimed : 0;
    bool known = s->in_force == RTL_ACTIVITY_TIMING;
    rtl_text_append(out, size, "OBSERVED from outside: calls exact");
    rtl_text_append(out, size, known ? ", times with ~ estimated" : ", no shares of time");
    if (timed)
        rtl_text_append(out, size, ", %s%% timed exactly", share_of(m, timed).text);
    if (s->packets_lost)
        rtl_text_append(out, size, ", %s packets lost", rtl_format_count(s->packets_lost).text);
    if (!whole)
        return;
    if (s->convention && s->convention < sizeof when / sizeof *when)
        rtl_text_append(out, size, "; read index moves %s", when[s->convention]);
    rtl_text_append(out, size, "; exact times of all: start it with rtl-top run");
}

static void coverage(const struct rtl_model *m, bool name_mode, char *out, size_t size)
{
    const struct rtl_snapshot *s = &m->latest->snapshot;
    const uint64_t *by = m->window_untimed_by;
    const char *where = !m->base ? "since start" : m->base == m->zero ? "since zero" : "in window";
    if (name_mode)
        rtl_text_append(out, size, "mode %s: ", rtl_mode_label(s->mode));
    if (m->wanted != RTL_MODE_NONE && m->wanted != s->mode)
        rtl_text_append(out, size, "%s wanted, from the next dispatch on; ", rtl_mode_label(m->wanted));
    if (s->mode == RTL_MODE_AUTO)
        rtl_text_append(out, size, "%s, ",
                        s->in_force == RTL_ACTIVITY_TIMING ? "timing (watched)" : rtl_activity_key(s->in_force));
    if (s->mode == RTL_MODE_AUTO && m->no_heartbeat[0])
        rtl_text_append(out, size, "not to be woken by you: %s, ", m->no_heartbeat);
    if (s->mode == RTL_MODE_OFF && m->counted)
        rtl_text_append(out, size, "nothing is counted now, %s dispatches were since %s",
                        rtl_format_count(m->counted).text, m->zero ? "zero" : "start");
    else if (s->mode == RTL_MODE_OFF)
        rtl_text_append(out, size, "nothing is counted");
    else if (!m->counted)
        rtl_text_append(out, size, m->zero ? "no dispatch since zero" : "no dispatch yet");
    else if (!m->window_counted && !m->window_untimed)
        rtl_text_append(out, size, "no dispatch %s", where);
    else if (!m->window_untimed)
        rtl_text_append(out, size, "all of %s dispatches timed %s", rtl_format_count(m->window_counted).text, where);
    else
        rtl_text_append(out, size, "%s%% NOT timed of %s %s", share_of(m, m->window_untimed).text,
                        rtl_format_count(m->window_counted).text, where);
    /* the reasons, largest first, as shares of the window; in mode off there are none */
    bool done[RTL_UNTIMED_LIMIT] = {false};
    const char *closing = "";
    for (int n = 0; n < RTL_UNTIMED_LIMIT && m->counted && s->mode != RTL_MODE_OFF; n++) {
        int worst = -1;
        for (int i = 0; i < RTL_UNTIMED_LIMIT; i++)
            if (!done[i] && by[i] && (worst < 0 || by[i] > by[worst]))
                worst = i;
        if (worst < 0)
            break;
        done[worst] = true;
        const char *key = rtl_reason_key((unsigned)worst);
        rtl_text_append(out, size, "%s%s %s", n ? ", " : " (", key ? key : "other reasons",
                        share_of(m, by[worst]).text);
        closing = ")";
    }
    rtl_text_append(out, size, "%s", closing);
}

/* What else has to be known about the process. */
static void remarks(const struct rtl_model *m, char *out, size_t size)
{
    const struct rtl_snapshot *s = &m->latest->snapshot;
    if (s->queues_refused)
        rtl_text_append(out, size, "; %s queues not counted", rtl_format_count(s->queues_refused).text);
    if (s->kernels_over)
        rtl_text_append(out, size, "; %s kernels without a row", rtl_format_count(s->kernels_over).text);
#define NOTE(sym, bit, key, text)  \
    if (s->notes & RTL_NOTE_##sym) \
        rtl_text_append(out, size, "; %s", text);
    RTL_NOTES(NOTE)
#undef NOTE
#define BIT(sym, bit, key, text) | RTL_NOTE_##sym
    uint32_t unknown = s->notes & ~(uint32_t)(0 RTL_NOTES(BIT));
#undef BIT
    if (unknown)
        rtl_text_append(out, size, "; notes 0x%x of a newer library", unknown);
}

void rtl_coverage_text(const struct rtl_model *m, char *out, size_t size)
{
    *out = 0;
    if (m->latest->snapshot.mode == RTL_MODE_OBSERVED)
        observed(m, true, out, size);
    else
        coverage(m, true, out, size);
    remarks(m, out, size);
}

void rtl_coverage_line(const struct rtl_model *m, int columns, char *out, size_t size)
{
    const struct rtl_snapshot *s = &m->latest->snapshot;
    bool quiet = s->mode == RTL_MODE_DEFAULT && (m->wanted == RTL_MODE_NONE || m->wanted == s->mode) &&
                 m->window_counted && !m->window_untimed;
    *out = 0;
    if (m->gpu_count > SHARES_AT_HAND && m->busy >= 0 && columns >= 100)
        rtl_text_append(out, size, "busy %s%s%%  ", rtl_model_busy_is_bound(m) ? "<" : "",
                        rtl_format_share(m->busy).text);
    if (s->mode != RTL_MODE_OFF)
        rtl_text_append(out, size, "%s disp/s", rtl_format_rate(m->rate).text);
    if (m->window_lost && *out)
        rtl_text_append(out, size, ", drop %s", rtl_format_count(m->window_lost).text);
    else if (m->lost && *out)
        rtl_text_append(out, size, ", drop %s earlier", rtl_format_count(m->lost).text);
    if (*out && s->signals_limit && s->signals_in_use >= s->signals_limit - s->signals_limit / 10)
        rtl_text_append(out, size, ", signals %s of %s", rtl_format_count(s->signals_in_use).text,
                        rtl_format_count(s->signals_limit).text);
    rtl_text_append(out, size, quiet ? ", all timed" : *out ? "  " : "");
    if (s->mode == RTL_MODE_OBSERVED)
        observed(m, false, out, size);
    else if (!quiet)
        coverage(m, columns >= 60 || s->mode != RTL_MODE_DEFAULT, out, size);
    remarks(m, out, size);
}

static void dimensions(char *out, size_t size, uint64_t x, uint64_t y, uint64_t z)
{
    if (z > 1)
        snprintf(out, size, "%llux%llux%llu", (unsigned long long)x, (unsigned long long)y, (unsigned long long)z);
    else if (y > 1)
        snprintf(out, size, "%llux%llu", (unsigned long long)x, (unsigned long long)y);
    else
        snprintf(out, size, "%llu", (unsigned long long)x);
}

/* What a column of times shows of a row; 0 when it has none. */
static uint64_t time_of(const struct rtl_row *row, int column)
{
    bool timed = row->window.count > 0;
    switch (column) {
    case RTL_COLUMN_TOTAL:
        return rtl_row_total_ns(row);
    case RTL_COLUMN_MEAN:
        return rtl_row_mean_ns(row);
    case RTL_COLUMN_MIN:
        return timed ? row->window.min_ns : 0;
    case RTL_COLUMN_P50: /* a family's kernels have none in common */
        return timed && !row->kernels ? row->p50 : 0;
    case RTL_COLUMN_P90:
        return timed && !row->kernels ? row->p90 : 0;
    case RTL_COLUMN_P99:
        return timed ? row->p99 : 0;
    case RTL_COLUMN_MAX:
        return timed ? row->window.max_ns : 0;
    case RTL_COLUMN_LAUNCH:
        return row->launches ? row->launch_p50 : 0;
    default:
        return 0;
    }
}

/* What was not measured carries a mark. */
static struct rtl_number estimate(bool estimated, struct rtl_number number)
{
    if (estimated) {
        memmove(number.text + 1, number.text, sizeof number.text - 1);
        number.text[0] = '~';
        number.text[sizeof number.text - 1] = 0;
    }
    return number;
}

bool rtl_cell_text(const struct rtl_model *model, const struct rtl_row *row, enum rtl_column column,
                   enum rtl_unit units, char *out, size_t size)
{
    const struct rtl_kernel_snapshot *k = row->kernel;
    bool timed = row->window.count > 0, measured = true;
    struct rtl_number n = {RTL_NONE};
    switch (column) {
    case RTL_COLUMN_TIME:
        if ((measured = (timed || row->window_estimated_ns) && !model->no_shares))
            n = estimate(model->estimated, rtl_format_share(row->share));
        break;
    case RTL_COLUMN_RATE:
        if ((measured = model->span_ns > 0))
            n = rtl_format_rate(row->rate);
        break;
    case RTL_COLUMN_CALLS:
        n = rtl_format_count(row->calls);
        break;
    case RTL_COLUMN_TOTAL:
        if ((measured = row->timed > 0 || row->estimated_ns))
            n = estimate(rtl_row_total_estimated(row), rtl_format_time(rtl_row_total_ns(row), units));
        break;
    case RTL_COLUMN_MEAN:
        if ((measured = rtl_row_mean_ns(row) > 0))
            n = estimate(rtl_row_window_estimated(row), rtl_format_time(rtl_row_mean_ns(row), units));
        break;
    case RTL_COLUMN_MIN:
    case RTL_COLUMN_P50:
    case RTL_COLUMN_P90:
    case RTL_COLUMN_P99:
    case RTL_COLUMN_MAX:
        if ((measured = timed && time_of(row, column)))
            n = rtl_format_time(time_of(row, column), units);
        break;
    case RTL_COLUMN_LAUNCH:
        if ((measured = row->launches > 0))
            n = rtl_format_time(row->launch_p50, units);
        break;
    case RTL_COLUMN_UNTIMED:
        if ((measured = row->calls > 0))
            n = rtl_format_share((double)row->untimed / (double)row->calls);
        break;
    case RTL_COLUMN_CHANGE:
    case RTL_COLUMN_CHANGE50: {
        struct rtl_change change = column == RTL_COLUMN_CHANGE ? row->change.p99 : row->change.p50;
        rtl_change_text(change, out, size);
        return change.kind != RTL_CHANGE_UNKNOWN;
    }
    case RTL_COLUMN_GRID:
    case RTL_COLUMN_WORKGROUP:
        if (!(measured = k->calls && k->grid[0]))
            break;
        if (column == RTL_COLUMN_GRID)
            dimensions(out, size, k->grid[0], k->grid[1], k->grid[2]);
        else
            dimensions(out, size, k->workgroup[0], k->workgroup[1], k->workgroup[2]);
        return true;
    case RTL_COLUMN_SLOWEST:
        rtl_slowest_text(model, row, out, size);
        return strcmp(out, RTL_NONE) != 0;
    case RTL_COLUMN_LDS:
        if ((measured = k->calls && k->grid[0]))
            n = rtl_format_bytes(k->lds_bytes);
        break;
    case RTL_COLUMN_FAMILY:
        snprintf(out, size, "%s", rtl_name_family_name(rtl_family_of(model, row)));
        return true;
    default:
        measured = false;
    }
    snprintf(out, size, "%s", n.text);
    return measured;
}

int rtl_cell_width(int width, int columns)
{
    enum { STEP = 3 };
    return columns <= width ? width : width + (columns - width + STEP - 1) / STEP * STEP;
}

void rtl_cell_widths(const struct rtl_model *model, enum rtl_unit units, int width[RTL_COLUMN_COUNT])
{
    for (int i = 0; i < RTL_COLUMN_COUNT; i++) {
        uint64_t least = UINT64_MAX, most = 0; /* the longest texts: many digits before the point, or behind it */
        width[i] = rtl_columns[i].width + (model->estimated && (i == RTL_COLUMN_MEAN || i == RTL_COLUMN_TOTAL));
        for (uint32_t r = 0; units != RTL_UNIT_AUTO && r < model->shown; r++) {
            uint64_t ns = time_of(&model->rows[model->order[r]], i);
            least = ns && ns < least ? ns : least;
            most = ns > most ? ns : most;
        }
        for (int end = 0; most && end < 2; end++)
            width[i] = rtl_cell_width(width[i], rtl_text_columns(rtl_format_time(end ? most : least, units).text));
    }
    if (!model->latest || !model->latest->snapshot.parts) /* nobody to compare it with */
        width[RTL_COLUMN_SLOWEST] = 0;
}
