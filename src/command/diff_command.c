/* rtl-top diff A.db B.db: compares two recordings, as text or JSON, with an exit status for performance tests. */
#include "command/json_writer.h"
#include "record/diff.h"
#include "record/replay.h"
#include "options/arguments.h"
#include "options/complain.h"
#include "shm/hip_api.h"
#include "text/names.h"
#include "text/text.h"
#include "text/units.h"

#include <langinfo.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct diff_input {
    const char *path;
    int64_t recording;
    struct rtl_replay *replay;
    struct rtl_snapshot earlier, later;
    struct rtl_diff_span span;
    uint64_t ns;       /* length of the span */
    const char *since; /* letter of the other side if this one counts from there */
};

struct diff_request {
    struct diff_input a, b;
    bool has_limit, json, cumulative, failed; /* failed: out of memory for a line */
    double limit;
    uint64_t rows; /* 0 = all */
    struct rtl_names *names;
};

/* The compared tables, in this order; a limit applies to kernels only. */
enum diff_table { TABLE_KERNELS, TABLE_CALLS, TABLE_RANGES, TABLE_COUNT };
static const struct {
    const char *key, *header; /* kind in JSON, header of the names */
} tables[] = {{"kernel", "KERNEL"}, {"function", "FUNCTION"}, {"range", "RANGE"}};

static bool parse_recordings(const char *text, int64_t *a, int64_t *b)
{
    char first[24];
    uint64_t numbers[2];
    size_t length = strcspn(text, ",");
    snprintf(first, sizeof first, "%.*s", (int)length, text);
    if (length >= sizeof first || !text[length] || !rtl_parse_number(first, 1, INT64_MAX, &numbers[0]) ||
        !rtl_parse_number(text + length + 1, 1, INT64_MAX, &numbers[1]))
        return false;
    *a = (int64_t)numbers[0];
    *b = (int64_t)numbers[1];
    return true;
}

static int parse_diff(struct diff_request *c, int argc, char **argv)
{
    const char *limit = NULL, *recordings = NULL;
    const struct rtl_own_value own[RTL_DIFF_OWN_COUNT] = {
        [RTL_DIFF_FAIL_OVER] = {.text = &limit},
        [RTL_DIFF_ROWS] = {.number = &c->rows, .least = 1, .most = UINT64_MAX, .needs = "a number of kernels from 1"},
        [RTL_DIFF_JSON] = {.flag = &c->json},
        [RTL_DIFF_RECORDINGS] = {.text = &recordings},
        [RTL_DIFF_CUMULATIVE] = {.flag = &c->cumulative},
    };
    struct rtl_arguments a;
    int status = rtl_arguments_read(&a, RTL_COMMAND_DIFF, false, own, NULL, argc, argv);
    if (status != RTL_GO_ON)
        return status;
    if (limit && !rtl_parse_percent(limit, 0, 1e6, &c->limit))
        return RTL_WRONG("--fail-over needs a percentage such as 10%%, not '%s'", limit);
    c->has_limit = limit;
    if (recordings && !parse_recordings(recordings, &c->a.recording, &c->b.recording))
        return RTL_WRONG("--recordings needs two numbers such as 1,2, not '%s'", recordings);
    if (argc - a.first != 2 || !*argv[a.first] || !*argv[a.first + 1])
        return RTL_WRONG("%s needs two recordings: rtl-top diff A.db B.db", argv[0]);
    c->a.path = argv[a.first];
    c->b.path = argv[a.first + 1];
    return RTL_GO_ON;
}

/* Reads a side. A snapshot counts from the process's start, a series from its first frame. */
static int read_input(struct diff_input *side)
{
    char why[512];
    bool exited;
    rtl_progress_begin("reading", side->path);
    int status = (int)rtl_replay_open(side->path, 0, side->recording, &side->replay, why, sizeof why);
    if (status)
        return rtl_refuse(status, "%s", why);
    uint32_t last = rtl_replay_info(side->replay)->frames - 1;
    if (last)
        status = (int)rtl_replay_read(side->replay, 0, &side->earlier, &exited);
    if (!status)
        status = (int)rtl_replay_read(side->replay, last, &side->later, &exited);
    if (status)
        return rtl_refuse(status, "%s", rtl_replay_why(side->replay));
    side->span = (struct rtl_diff_span){last ? &side->earlier : NULL, &side->later};
    uint64_t from = last ? side->earlier.taken_mono_ns : side->later.start_mono_ns;
    side->ns = side->later.taken_mono_ns > from ? side->later.taken_mono_ns - from : 0;
    return 0;
}

/* If both sides are snapshots of one process, the later one counts from the earlier one on. */
static void subtract_earlier(struct diff_request *c)
{
    bool both = rtl_replay_info(c->a.replay)->snapshot && rtl_replay_info(c->b.replay)->snapshot &&
                !c->a.span.earlier && !c->b.span.earlier;
    bool a_first = rtl_diff_contains(&c->a.later, &c->b.later);
    if (c->cumulative || !both || (!a_first && !rtl_diff_contains(&c->b.later, &c->a.later)))
        return;
    struct diff_input *earlier = a_first ? &c->a : &c->b, *later = a_first ? &c->b : &c->a;
    later->span.earlier = &earlier->later;
    later->ns = later->later.taken_mono_ns - earlier->later.taken_mono_ns;
    later->since = a_first ? "A" : "B";
}

static void free_input(struct diff_input *side)
{
    rtl_snapshot_free(&side->earlier);
    rtl_snapshot_free(&side->later);
    rtl_replay_close(side->replay);
}

/* Returns a name as on the screen: short for kernels, complete for others. */
static const char *short_name(struct diff_request *c, enum diff_table table, const struct rtl_diff_row *row, uint32_t n)
{
    static char safe[4 * RTL_HIP_API_TEXT + 1];
    if (table != TABLE_KERNELS) {
        rtl_text_escape(safe, sizeof safe, row->name, row->name_length);
        return safe;
    }
    return rtl_names_cell(c->names, n, row->name, row->name_length, RTL_NAME_SHORT, RTL_NAMES_WHOLE, false);
}

static uint64_t whole_ns(double ns)
{
    return ns < 9e18 ? (uint64_t)ns : 9000000000000000000ull; /* 285 years; JSON parsers can read it */
}

static struct rtl_number change_cell(bool measured, double change)
{
    struct rtl_number cell = {RTL_NONE};
    if (measured && fabs(change) < 100)
        snprintf(cell.text, sizeof cell.text, "%+.1f%%", change * 100);
    else if (measured)
        snprintf(cell.text, sizeof cell.text, "%+.0fx", change);
    return cell;
}

static const char *time_cell(bool measured, uint64_t ns, struct rtl_number *n)
{
    *n = measured ? rtl_format_time(ns, RTL_UNIT_AUTO) : (struct rtl_number){RTL_NONE};
    if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
        rtl_units_ascii(n->text);
    return n->text;
}

static const char *share_cell(const struct rtl_diff_side *side, struct rtl_number *n)
{
    *n = side->timed ? rtl_format_share(side->share) : (struct rtl_number){RTL_NONE};
    return n->text;
}

static void print_row(struct diff_request *c, enum diff_table table, const struct rtl_diff_row *row, uint32_t at)
{
    struct rtl_number n[7], calls_a = rtl_format_count(row->a.calls), calls_b = rtl_format_count(row->b.calls);
    double p50 = 0, p99 = 0;
    bool has50 = rtl_diff_p50(row, &p50), has99 = rtl_diff_p99(row, &p99);
    struct rtl_number c50 = change_cell(has50, p50), c99 = change_cell(has99, p99);
    const char *mark = table == TABLE_KERNELS && c->has_limit && rtl_diff_is_slower(row, c->limit) ? "!" : " ";
    const char *fate = row->b.there ? "" : "  (gone)";
    char cost[40];
    if (!row->a.there)
        fate = "  (new)";
    snprintf(cost, sizeof cost, "%s%s",
             row->cost_ns < 0   ? "-"
             : row->cost_ns > 0 ? "+"
                                : "",
             time_cell(true, whole_ns(fabs(row->cost_ns)), &n[6]));
    const char *p50_a = time_cell(row->a.timed, row->a.p50, &n[2]), *p50_b = time_cell(row->b.timed, row->b.p50, &n[3]);
    const char *p99_a = time_cell(row->a.timed, row->a.p99, &n[4]), *p99_b = time_cell(row->b.timed, row->b.p99, &n[5]);
    printf("%s%*s %5s %5s %6s %6s %*s %*s %7s %*s %*s %7s  %s%s\n", mark, rtl_text_pad(cost, 7), cost,
           share_cell(&row->a, &n[0]), share_cell(&row->b, &n[1]), row->a.there ? calls_a.text : RTL_NONE,
           row->b.there ? calls_b.text : RTL_NONE, rtl_text_pad(p50_a, 6), p50_a, rtl_text_pad(p50_b, 6), p50_b,
           c50.text, rtl_text_pad(p99_a, 6), p99_a, rtl_text_pad(p99_b, 6), p99_b, c99.text,
           short_name(c, table, row, at), fate);
}

static void put_change(struct json_writer *w, struct json_object *o, const char *key, bool measured, double change)
{
    if (measured)
        put_json(w, o, key, json_object_new_double(change));
    else
        put_measured(w, o, key, false, 0);
}

static void put_side(struct json_writer *w, struct json_object *o, const char *key, const struct rtl_diff_side *side,
                     const char *since)
{
    struct json_object *s = object_in(w, o, key);
    put_name(w, s, "since", since);
    put_number(w, s, "calls", side->calls);
    put_number(w, s, "timed", side->timed);
    put_measured(w, s, "total_ns", side->timed, side->total_ns);
    put_change(w, s, "share", side->timed, side->share);
    put_measured(w, s, "p50_ns", side->timed, side->p50);
    put_measured(w, s, "p99_ns", side->timed, side->p99);
}

static void put_cost(struct json_writer *w, struct json_object *o, double cost_ns)
{
    struct json_object *cost = json_object_new_int64((cost_ns < 0 ? -1 : 1) * (int64_t)whole_ns(fabs(cost_ns)));
    put_json(w, o, "cost_ns", cost);
    if (!w->failed && whole_ns(fabs(cost_ns)) >= RTL_JSON_EXACT)
        put_twin(w, o, "cost_ns", json_object_new_string(json_object_to_json_string(cost)));
}

static void print_json(struct diff_request *c, enum diff_table table, const struct rtl_diff_row *row, uint32_t at)
{
    struct json_writer w = {0};
    struct json_object *o = json_object_new_object();
    double change = 0;
    bool measured;
    const char *name = table == TABLE_KERNELS
                           ? rtl_names_form(c->names, at, row->name, row->name_length, RTL_NAME_MANGLED)
                           : short_name(c, table, row, at);
    put_text(&w, o, "kind", tables[table].key);
    put_text(&w, o, "name", name);
    put_text(&w, o, "short", short_name(c, table, row, at));
    put_cost(&w, o, row->cost_ns);
    measured = rtl_diff_p50(row, &change);
    put_change(&w, o, "p50_change", measured, change);
    measured = rtl_diff_p99(row, &change);
    put_change(&w, o, "p99_change", measured, change);
    if (table == TABLE_KERNELS && c->has_limit)
        put_json(&w, o, "slower", json_object_new_boolean(rtl_diff_is_slower(row, c->limit)));
    else
        put_measured(&w, o, "slower", false, 0);
    put_side(&w, o, "a", &row->a, c->a.since);
    put_side(&w, o, "b", &row->b, c->b.since);
    c->failed |= !json_print_line(&w, o, stdout);
}

static void print_head(const struct diff_request *c, const struct rtl_diff *diff)
{
    const struct diff_input *sides[] = {&c->a, &c->b};
    const uint64_t totals[] = {diff->total_a, diff->total_b};
    for (int i = 0; i < 2; i++) {
        const struct rtl_replay_info *f = rtl_replay_info(sides[i]->replay);
        char since[16] = "", title[160], path[4 * PATH_MAX + 1]; /* longer paths can't be opened */
        struct rtl_number total;
        if (sides[i]->since)
            snprintf(since, sizeof since, " since %s", sides[i]->since);
        rtl_text_escape(title, sizeof title, f->title, strlen(f->title));
        rtl_text_line(path, sizeof path, sides[i]->path, strlen(sides[i]->path));
        printf("%s  %s  recording %lld of process %d, %s%s%s%s  kernel time %s  %s\n", i ? "B" : "A", path,
               (long long)f->id, (int)f->pid, f->snapshot ? "snapshot" : "series", sides[i]->since ? ", " : " of ",
               rtl_format_age(sides[i]->ns).text, since, time_cell(true, totals[i], &total), title);
    }
}

static void print_columns(enum diff_table table)
{
    printf("%s %7s %5s %5s %6s %6s %6s %6s %7s %6s %6s %7s  %s\n", table == TABLE_KERNELS ? "" : "\n", "COST", "%A",
           "%B", "CALLSA", "CALLSB", "P50 A", "P50 B", "CHANGE", "P99 A", "P99 B", "CHANGE", tables[table].header);
}

static void print_rows(struct diff_request *c, enum diff_table table, const struct rtl_diff *diff)
{
    if (!c->json && (diff->count || table == TABLE_KERNELS))
        print_columns(table);
    for (uint32_t i = 0; i < diff->count && !(c->rows && i >= c->rows); i++)
        if (c->json)
            print_json(c, table, &diff->rows[i], i);
        else
            print_row(c, table, &diff->rows[i], i);
}

/* False without memory. */
static bool print_calls(struct diff_request *c)
{
    bool ok = true;
    for (int table = TABLE_CALLS; ok && table < TABLE_COUNT; table++) {
        struct rtl_diff diff;
        ok = rtl_diff_make_calls(&c->a.span, &c->b.span, table == TABLE_CALLS ? RTL_DIFF_FUNCTIONS : RTL_DIFF_RANGES,
                                 &diff);
        if (ok)
            print_rows(c, (enum diff_table)table, &diff);
        rtl_diff_free(&diff);
    }
    return ok;
}

static int print_comparison(struct diff_request *c)
{
    struct rtl_diff diff;
    uint32_t slower = 0, comparable = 0;
    c->names = rtl_names_create();
    if (!c->names || !rtl_diff_make(&c->a.span, &c->b.span, &diff))
        return RTL_WRONG("out of memory");
    if (!c->json)
        print_head(c, &diff);
    for (uint32_t i = 0; i < diff.count; i++) {
        double change;
        comparable += rtl_diff_p50(&diff.rows[i], &change);
        slower += c->has_limit && rtl_diff_is_slower(&diff.rows[i], c->limit);
    }
    print_rows(c, TABLE_KERNELS, &diff);
    if (c->has_limit && !c->json && comparable)
        printf("%u of %u kernel%s slower by more than %g%%%s\n", slower, diff.count, diff.count == 1 ? "" : "s",
               c->limit * 100, slower ? ", marked !" : "");
    rtl_diff_free(&diff);
    if (!print_calls(c) || c->failed)
        return RTL_WRONG("out of memory");
    if (c->has_limit && !comparable) { /* a test that compares nothing must not pass */
        return rtl_refuse(RTL_DB_MISSING, "nothing to compare: no kernel was timed at least %d times in both",
                          RTL_DIFF_P50_LEAST);
    }
    return slower ? (int)RTL_DB_SLOWER : 0;
}

int rtl_diff_command(int argc, char **argv)
{
    struct diff_request c = {0};
    int status = parse_diff(&c, argc, argv);
    if (status != RTL_GO_ON)
        return status;
    rtl_db_stop_when(rtl_progress_tick);
    status = read_input(&c.a);
    if (!status)
        status = read_input(&c.b);
    rtl_progress_end();
    if (!status) {
        subtract_earlier(&c);
        status = print_comparison(&c);
    }
    rtl_names_free(c.names);
    free_input(&c.a);
    free_input(&c.b);
    return rtl_exit_status(status);
}
