/* The coverage line, made of parts that are dropped one by one if there is no room. See coverage.h. */
#include "model/coverage.h"
#include "model/labels.h"
#include "model/model_gpus.h"
#include "shm/hip_api_snapshot.h"
#include "text/text.h"
#include "text/units.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int rtl_queue_path_lines(const struct rtl_model *m, struct rtl_queue_path_line lines[RTL_QUEUE_PATH_LINES])
{
    int count = 0;
    for (uint32_t i = 0; i < m->queue_count && count < RTL_QUEUE_PATH_LINES; i++) {
        const struct rtl_queue_snapshot *q = m->queues[i].queue;
        int at = 0;
        while (at < count && (lines[at].path != q->path || lines[at].why != q->path_reason))
            at++;
        if (q->path && at == count)
            lines[count++] = (struct rtl_queue_path_line){q->path, q->path_reason};
    }
    return count;
}

/* A number of a newer library has no name here. */
static const char *label_or_unknown(uint32_t number, const char *name)
{
    return name ? name : number ? "unknown" : RTL_NONE;
}

const char *rtl_queue_path_label(uint32_t way)
{
    return label_or_unknown(way, rtl_queue_path_key(way));
}

const char *rtl_path_reason_label(uint32_t why)
{
    return label_or_unknown(why, rtl_path_reason_key(why));
}

const char *rtl_path_reason_words(uint32_t why)
{
    return label_or_unknown(why, rtl_path_reason_text(why));
}

void rtl_queue_paths_text(const struct rtl_model *m, char *out, size_t size)
{
    struct rtl_queue_path_line lines[RTL_QUEUE_PATH_LINES];
    int count = rtl_queue_path_lines(m, lines);
    *out = 0;
    for (int i = 0; i < count; i++) {
        if (lines[i].why != RTL_REASON_DEFAULT)
            rtl_text_append(out, size, "%s%s (%s)", *out ? ", " : "queues ", rtl_queue_path_label(lines[i].path),
                            rtl_path_reason_words(lines[i].why));
    }
}

/* --- parts --- */

/* The first ranks are dropped last. */
enum rank { WHAT, WRONG, SUMS, WHICH, REASON, MORE, WHERE, WORDS, LAST };
enum { PARTS = 64 };

struct coverage_part {
    enum rank rank;
    const char *before; /* separator from the part before it; "  " becomes one blank behind : , or ; */
    char text[160];
    bool dropped;
};

struct coverage_line {
    struct coverage_part part[PARTS];
    int count;
};

static void add_part(struct coverage_line *line, enum rank rank, const char *before, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void add_part(struct coverage_line *line, enum rank rank, const char *before, const char *format, ...)
{
    va_list args;
    if (line->count == PARTS)
        return;
    struct coverage_part *part = &line->part[line->count++];
    *part = (struct coverage_part){.rank = rank, .before = before};
    va_start(args, format);
    vsnprintf(part->text, sizeof part->text, format, args);
    va_end(args);
}

/* Adjacent reasons share one pair of brackets. */
static void join_parts(const struct coverage_line *line, char *out, size_t size)
{
    bool open = false;
    *out = 0;
    for (int i = 0; i < line->count; i++) {
        const struct coverage_part *part = &line->part[i];
        bool reason = part->rank == REASON, first = reason && !open;
        if (part->dropped)
            continue;
        if (open && !reason)
            rtl_text_append(out, size, ")");
        size_t length = strlen(out);
        bool goes_on = length && strchr(":,;", out[length - 1]);
        const char *before = !length ? "" : first || (goes_on && !strcmp(part->before, "  ")) ? " " : part->before;
        rtl_text_append(out, size, "%s%s%s", before, first ? "(" : "", part->text);
        open = reason;
    }
    if (open)
        rtl_text_append(out, size, ")");
}

/* Keep parts by importance while they fit; keep one in any case. */
static void keep_what_fits(struct coverage_line *line, int columns)
{
    char text[RTL_COVERAGE_BYTES];
    int kept = 0;
    for (int i = 0; i < line->count; i++)
        line->part[i].dropped = true;
    for (int rank = WHAT; rank <= LAST; rank++)
        for (int i = 0; i < line->count; i++) {
            if ((int)line->part[i].rank != rank)
                continue;
            line->part[i].dropped = false;
            join_parts(line, text, sizeof text);
            line->part[i].dropped = kept && rtl_text_columns(text) > columns;
            kept += !line->part[i].dropped;
        }
}

/* --- contents --- */

/* A share of the window's dispatches, at most 1: a dispatch counted before the window may become untimed in it. */
static struct rtl_number share_of(const struct rtl_model *m, uint64_t count)
{
    return rtl_format_share(count < m->window_counted ? (double)count / (double)m->window_counted : 1);
}

/* How much was observed from outside, and with which precision. */
static void add_observed(struct coverage_line *line, const struct rtl_model *m, bool whole)
{
    static const char *const when[] = {
#define CONVENTION(sym, num, json, text) [num] = text,
        RTL_CONVENTIONS(CONVENTION)
#undef CONVENTION
    };
    const struct rtl_snapshot *s = &m->latest->snapshot;
    uint64_t timed = m->window_counted > m->window_untimed ? m->window_counted - m->window_untimed : 0;
    bool known = s->in_force == RTL_ACTIVITY_TIMING;
    add_part(line, WHAT, "  ", whole ? "OBSERVED from outside: calls exact" : "OBSERVED: calls exact");
    add_part(line, WHAT, ", ", known ? "~ estimated" : "times unknown");
    if (known)
        add_part(line, MORE, ", ", "- unknown");
    if (timed)
        add_part(line, MORE, ", ", "%s%% timed exactly", share_of(m, timed).text);
    if (s->packets_lost)
        add_part(line, WRONG, ", ", "%s packets lost", rtl_format_count(s->packets_lost).text);
    if (!whole)
        return;
    if (s->convention && s->convention < sizeof when / sizeof *when)
        add_part(line, WORDS, "; ", "read index moves %s", when[s->convention]);
}

/* Reasons by size, as shares of the window; none in mode off. */
static void add_reasons(struct coverage_line *line, const struct rtl_model *m)
{
    const uint64_t *by = m->window_untimed_by;
    bool done[RTL_UNTIMED_LIMIT] = {false};
    for (int n = 0; n < RTL_UNTIMED_LIMIT && m->counted && m->latest->snapshot.mode != RTL_MODE_OFF; n++) {
        int worst = -1;
        for (int i = 0; i < RTL_UNTIMED_LIMIT; i++)
            if (!done[i] && by[i] && (worst < 0 || by[i] > by[worst]))
                worst = i;
        if (worst < 0)
            break;
        done[worst] = true;
        const char *key = rtl_reason_names((unsigned)worst).key;
        add_part(line, REASON, ", ", "%s %s", key ? key : "other reasons", share_of(m, by[worst]).text);
    }
}

static void add_coverage(struct coverage_line *line, const struct rtl_model *m)
{
    const struct rtl_snapshot *s = &m->latest->snapshot;
    const char *where = !m->base ? "since start" : m->base == m->zero ? "since zero" : "in window";
    add_part(line, s->mode == RTL_MODE_DEFAULT ? LAST : WHICH, "  ", "mode %s:", rtl_mode_label(s->mode));
    if (m->wanted != RTL_MODE_NONE && m->wanted != s->mode)
        add_part(line, WRONG, "  ", "%s wanted, from the next dispatch on;", rtl_mode_label(m->wanted));
    if (s->mode == RTL_MODE_AUTO)
        add_part(line, WHICH, "  ", "%s,",
                 s->in_force == RTL_ACTIVITY_TIMING ? "timing (watched)" : rtl_activity_key(s->in_force));
    if (s->mode == RTL_MODE_AUTO && m->no_heartbeat[0])
        add_part(line, SUMS, "  ", "not to be woken by you: %s,", m->no_heartbeat);
    if (s->mode == RTL_MODE_OFF) {
        add_part(line, WHAT, "  ", m->counted ? "nothing is counted now" : "nothing is counted");
        if (m->counted)
            add_part(line, WHERE, ", ", "%s dispatches were since %s", rtl_format_count(m->counted).text,
                     m->zero ? "zero" : "start");
    } else if (!m->counted) {
        add_part(line, WHAT, "  ", m->zero ? "no dispatch since zero" : "no dispatch yet");
    } else if (m->base && !m->span_ns) {
        add_part(line, WHAT, "  ", "a window begins");
    } else if (!m->window_counted && !m->window_untimed) {
        add_part(line, WHAT, "  ", "no dispatch %s", where);
    } else if (!m->window_untimed) {
        add_part(line, WHAT, "  ", "all of %s dispatches timed", rtl_format_count(m->window_counted).text);
        add_part(line, WHERE, " ", "%s", where);
    } else {
        add_part(line, WHAT, "  ", "%s%% NOT timed", share_of(m, m->window_untimed).text);
        add_part(line, WHERE, " ", "of %s", rtl_format_count(m->window_counted).text);
        add_part(line, WORDS, " ", "%s", where);
    }
    add_reasons(line, m);
}

static void add_remarks(struct coverage_line *line, const struct rtl_model *m)
{
    const struct rtl_snapshot *s = &m->latest->snapshot;
    if (s->queues_refused)
        add_part(line, WRONG, "; ", "%s queue%s not counted", rtl_format_count(s->queues_refused).text,
                 s->queues_refused == 1 ? "" : "s");
    if (s->kernels_over)
        add_part(line, WRONG, "; ", "%s kernel%s without a row", rtl_format_count(s->kernels_over).text,
                 s->kernels_over == 1 ? "" : "s");
    uint64_t unlinked = s->hip_api ? rtl_hip_api_unlinked_sum(s->hip_api) : 0;
    if (unlinked)
        add_part(line, WRONG, "; ", "%s%% without a recorded HIP call",
                 rtl_format_share((double)unlinked / ((double)unlinked + (double)s->hip_api->linked)).text);
#define NOTE(sym, bit, key, text)  \
    if (s->notes & RTL_NOTE_##sym) \
        add_part(line, MORE, "; ", "%s", text);
    RTL_NOTES(NOTE)
#undef NOTE
#define BIT(sym, bit, key, text) | RTL_NOTE_##sym
    uint32_t unknown = s->notes & ~(uint32_t)(0 RTL_NOTES(BIT));
#undef BIT
    if (unknown)
        add_part(line, MORE, "; ", "notes 0x%x of a newer library", unknown);
}

void rtl_coverage_text(const struct rtl_model *m, char *out, size_t size)
{
    struct coverage_line line = {.count = 0};
    if (m->latest->snapshot.mode == RTL_MODE_OBSERVED)
        add_observed(&line, m, true);
    else
        add_coverage(&line, m);
    add_remarks(&line, m);
    join_parts(&line, out, size);
}

static void add_sum_parts(struct coverage_line *line, const struct rtl_model *m, int columns)
{
    enum { SHARES_AT_HAND = 4, BUSY_FROM = 100 }; /* up to 4 GPUs: their own shares are visible */
    const struct rtl_snapshot *s = &m->latest->snapshot;
    if (m->gpu_count > SHARES_AT_HAND && m->busy >= 0 && columns >= BUSY_FROM)
        add_part(line, SUMS, "  ", "busy %s%s%%", rtl_model_busy_is_bound(m) ? "<" : "",
                 rtl_format_share(m->busy).text);
    if (s->mode == RTL_MODE_OFF)
        return;
    add_part(line, SUMS, "  ", "%s disp/s", rtl_format_rate(m->rate).text);
    if (m->window_lost)
        add_part(line, WRONG, ", ", "drop %s", rtl_format_count(m->window_lost).text);
    else if (m->lost)
        add_part(line, SUMS, ", ", "drop %s before the window", rtl_format_count(m->lost).text);
    bool scarce = s->signals_in_use >= s->signals_limit - s->signals_limit / 10;
    if (s->signals_limit && s->signals_in_use >= s->signals_limit / 2)
        add_part(line, scarce ? WRONG : SUMS, ", ", "signals %s of %s", rtl_format_count(s->signals_in_use).text,
                 rtl_format_count(s->signals_limit).text);
}

bool rtl_coverage_line(const struct rtl_model *m, int columns, char *out, size_t size)
{
    static const char more[] = " [?]";
    const struct rtl_snapshot *s = &m->latest->snapshot;
    struct coverage_line line = {.count = 0};
    bool quiet = s->mode == RTL_MODE_DEFAULT && (m->wanted == RTL_MODE_NONE || m->wanted == s->mode) &&
                 m->window_counted && !m->window_untimed;
    add_sum_parts(&line, m, columns);
    if (s->mode == RTL_MODE_OBSERVED)
        add_observed(&line, m, false);
    else if (quiet)
        add_part(&line, WHAT, ", ", m->lost ? "all timed in it" : "all timed");
    else
        add_coverage(&line, m);
    add_remarks(&line, m);
    join_parts(&line, out, size);
    if (rtl_text_columns(out) <= columns)
        return true;
    keep_what_fits(&line, columns - (int)strlen(more));
    join_parts(&line, out, size);
    rtl_text_append(out, size, "%s", more);
    return false;
}
