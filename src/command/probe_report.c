/* Writes the results of a probe as text and JSON. See probe_report.h. */
#include "command/probe_report.h"

#include <inttypes.h>
#include <stdio.h>

#include "command/output.h"
#include "probing/stall_costs.h"

enum { VERSION = 1 /* of the JSON's keys */, BAR = 40, WITH_BEFORE = 10 /* hottest waits shown with instructions */ };

/* --- text --- */

static struct rtl_number format_time(const struct rtl_probe_report *r, uint64_t ns)
{
    struct rtl_number n = rtl_format_time(ns, r->units);
    if (r->ascii)
        rtl_units_ascii(n.text);
    return n;
}

static struct rtl_probe_between_text format_times(const struct rtl_probe_report *r, struct rtl_probe_between between)
{
    struct rtl_probe_between_text t = rtl_probe_times_text(between, r->units);
    if (r->ascii)
        rtl_units_ascii(t.text);
    return t;
}

static void print_bar(const struct rtl_probe_report *r, double share)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int full = (int)(share * BAR), rest = (int)((share * BAR - full) * 8);
    for (int i = 0; i < full; i++)
        fputs(r->ascii ? "#" : "█", stdout);
    if (!r->ascii)
        fputs(!full && !rest && share > 0 ? eighths[1] : eighths[rest], stdout);
    else if (!full && share > 0)
        putchar('#');
}

static void print_histogram(const struct rtl_probe_report *r, const uint64_t buckets[RTL_PROBE_DURATIONS], int first,
                            int last, uint64_t most)
{
    for (int i = first; i <= last; i++) {
        printf("  %7s %7s  ", rtl_format_count(i ? 1ull << i : 0).text, rtl_format_count(buckets[i]).text);
        print_bar(r, most ? (double)buckets[i] / (double)most : 0);
        putchar('\n');
    }
}

static void print_code(const struct rtl_probe_report *r)
{
    const struct rtl_probe_session *s = r->session;
    const struct rtl_probe_fetch_copy *original = rtl_probe_session_original(s);
    const struct rtl_session_gpu *gpu = rtl_probe_session_gpu(s);
    printf("kernel    %s\n", r->name);
    if (gpu)
        printf("on        GPU %u, %s\n", gpu->gpu, gpu->name);
    if (original)
        printf("code      %s of original%s\n", rtl_format_size(original->size).text,
               original->compared ? ", as it is loaded" : "");
    if (s->patch.code)
        printf("copy      %s, hash %016" PRIx64 ", registers %" PRIu32 " -> %" PRIu32 "; %" PRIu32
               " instruction%s, %" PRIu32 " end%s\n",
               rtl_format_size(s->patch.bytes).text, s->probing.code_hash, s->patch.sgprs_before, s->patch.sgprs_after,
               s->patch.instructions, s->patch.instructions == 1 ? "" : "s", s->patch.ends,
               s->patch.ends == 1 ? "" : "s");
}

static void print_counts(const struct rtl_probe_report *r)
{
    const struct rtl_probe_plan *p = &r->session->probing;
    const struct rtl_probe_state *s = &p->state;
    printf("probed    %" PRIu64 " of %" PRIu64 " dispatches, wanted %" PRIu64 "; one in %" PRIu32, s->recorded,
           s->dispatches, p->plan.wanted, p->plan.every);
    if (r->every_chosen && r->per_second < 1)
        printf(": a tenth of less than one a second");
    else if (r->every_chosen)
        printf(": %s of its %s a second", p->plan.every > rtl_probe_plan_every(0) ? "100" : "a tenth",
               rtl_format_rate(r->per_second).text);
    putchar('\n');
}

/* A tail is unknown if the dispatch was too slow. */
static void print_tail(const struct rtl_probe_report *r, const struct rtl_probe_figures *f)
{
    const struct rtl_probe_state *s = &r->session->probing.state;
    if (s->tails)
        printf("tail      p50 %s, max %s, from half of the waves' ends to the last (%" PRIu64 " of %" PRIu64
               " dispatches, steps of %s",
               format_times(r, f->tail_p50).text, format_times(r, f->tail_max).text, s->tails, s->recorded,
               format_time(r, s->tail_step_ns).text);
    else
        printf("tail      not known (0 of %" PRIu64 " dispatches", s->recorded);
    if (s->tails < s->recorded && f->tail_longest_ns)
        printf("; the others lasted longer than %s", format_time(r, f->tail_longest_ns).text);
    puts(")");
}

static void print_numbers(const struct rtl_probe_report *r, const struct rtl_probe_figures *f)
{
    const struct rtl_probe_state *s = &r->session->probing.state;
    const struct rtl_session_gpu *gpu = rtl_probe_session_gpu(r->session);
    double slower = rtl_probe_slower(f, r->others_mean_ns);
    printf("duration  mean %s, min %s, max %s", format_time(r, f->duration_mean_ns).text,
           format_time(r, s->duration_min_ns).text, format_time(r, s->duration_max_ns).text);
    if (slower > 0)
        printf("; the others' mean %s%s: x%.2f", format_time(r, r->others_mean_ns).text,
               r->others_before ? " since start" : "", slower);
    putchar('\n');
    if (!s->waves) { /* cycles are unknown; 0 would look like a measurement */
        printf("waves     0 of %" PRIu64
               " expected: none has recorded its end; --keep DIR keeps the code to examine it\n",
               s->waves_expected);
        return;
    }
    printf("waves     %" PRIu64 " of %" PRIu64 " expected; cycles: mean %s, p50 %s, p99 %s, max %s\n", s->waves,
           s->waves_expected, rtl_format_count(f->wave_mean).text, rtl_probe_cycles_text(f->p50).text,
           rtl_probe_cycles_text(f->p99).text, rtl_format_count(s->max).text);
    print_histogram(r, s->durations, f->first, f->last, f->most);
    printf("busy      %" PRIu32, f->units);
    if (gpu && gpu->compute_units)
        printf(" of %" PRIu32, gpu->compute_units);
    printf(" compute units had waves; cycles: mean %s, max %s, imbalance %.2f\n", rtl_format_count(f->busy_mean).text,
           rtl_format_count(f->busy_max).text, f->imbalance);
    for (uint32_t i = 0; i < f->hottest_count; i++)
        printf("  %-*s %7s\n", f->dies.there ? 17 : 15, rtl_probe_unit_name(f->hottest[i].unit, f->dies.there).text,
               rtl_format_count(f->hottest[i].cycles).text);
    if (f->dies.busy)
        printf("dies      %" PRIu32 " of up to %" PRIu32 " had waves; cycles: mean %s, max %s (xcc%" PRIu32
               "), imbalance %.2f\n",
               f->dies.busy, f->dies.of, rtl_format_count(f->dies.mean).text, rtl_format_count(f->dies.max).text,
               f->dies.hottest, f->dies.imbalance);
    if (f->gaps)
        printf("gaps      %.1f %% of the time of wave slots, from a wave's end to the next one's begin; cycles: mean "
               "%s, p50 "
               "%s, p99 %s (%s gaps)\n",
               f->gap_share * 100, rtl_format_count(f->gap_mean).text, rtl_probe_cycles_text(f->gap_p50).text,
               rtl_probe_cycles_text(f->gap_p99).text, rtl_format_count(f->gaps).text);
    print_tail(r, f);
}

static void print_waits(const struct rtl_probe_report *r)
{
    const struct rtl_stall_costs *s = &r->stalls->sum;
    uint64_t mean_ns = s->recorded ? s->duration_total_ns / s->recorded : 0;
    if (!s->rounds)
        return;
    printf("probed    %" PRIu64 " of %" PRIu64 " dispatches, wanted %" PRIu64 " for each copy; one in %" PRIu32 "\n",
           s->recorded, s->dispatches, r->session->probing.plan.wanted, r->session->probing.plan.every);
    if (s->recorded) {
        printf("duration  mean %s", format_time(r, mean_ns).text);
        if (r->others_mean_ns)
            printf("; the others' mean %s%s: x%.2f", format_time(r, r->others_mean_ns).text,
                   r->others_before ? " since start" : "",
                   (double)s->duration_total_ns / (double)s->recorded / (double)r->others_mean_ns);
        putchar('\n');
    }
    printf("waves     %" PRIu64 " of %" PRIu64 " expected\n", s->waves, s->waves_expected);
    printf("waits     %" PRIu32 " of %" PRIu32 " timed, by %" PRIu32 " of %" PRIu32 " copies; hottest first\n",
           s->timed, s->waits, s->copies, s->rounds);
    if (s->clock_passes)
        printf("clock     reading it takes %.0f cycles: a wait of as many or fewer cycles waited for nothing\n",
               rtl_probe_clock_cycles(s));
    if (!s->timed)
        return;
    if (*r->stalls->no_lines)
        printf("before    no instructions: %s\n", r->stalls->no_lines);
    printf("  %7s %9s %9s  %s\n", "OF WAVES", "CYCLES", "PASSES", "AT");
    for (uint32_t i = 0; i < s->timed; i++) {
        const struct rtl_probe_stall *w = &s->wait[i];
        for (int n = 0; w->before && i < WITH_BEFORE && n < w->before->count; n++)
            printf("  %8s %9s %9s  %11s%s\n", "", "", "", "", w->before->text[n]);
        char share[16] = "-";
        if (w->known)
            snprintf(share, sizeof share, "%.2f%%", w->share * 100);
        printf("  %8s %9s %9s  +0x%-7" PRIx32 " %s\n", share,
               w->passes ? rtl_format_count(w->mean < 1e18 ? (uint64_t)(w->mean + 0.5) : UINT64_MAX).text : "-",
               rtl_format_count(w->passes).text, w->place.at, rtl_probe_wait_text(w->place.word).text);
    }
}

bool rtl_probe_report_text(const struct rtl_probe_report *r)
{
    const struct rtl_probe_plan *p = &r->session->probing;
    struct rtl_probe_figures f;
    rtl_probe_figures(&p->state, &f);
    printf("process   %d (%s)\n", (int)r->pid, r->title);
    print_code(r);
    if (r->stalls) {
        print_waits(r);
        return true;
    }
    if (!p->counted)
        return true;
    print_counts(r);
    if (f.any)
        print_numbers(r, &f);
    return true;
}

/* --- JSON --- */

static void put_code(struct json_writer *w, struct json_object *root, const struct rtl_probe_session *s)
{
    const struct rtl_probe_fetch_copy *original = rtl_probe_session_original(s);
    if (!original) {
        put_measured(w, root, "code", false, 0);
        return;
    }
    struct json_object *o = object_in(w, root, "code");
    put_number(w, o, "original_bytes", original->size);
    put_json(w, o, "compared", json_object_new_boolean(original->compared));
    put_number(w, o, "instructions", s->patch.instructions);
    put_number(w, o, "ends", s->patch.ends);
    if (!s->patch.code)
        return;
    put_number(w, o, "bytes", s->patch.bytes);
    rtl_json_probe_hash(w, o, s->probing.code_hash);
    put_number(w, o, "sgprs_before", s->patch.sgprs_before);
    put_number(w, o, "sgprs", s->patch.sgprs_after);
}

static void put_waits(struct json_writer *w, struct json_object *root, const struct rtl_probe_report *r)
{
    const struct rtl_stall_costs *s = &r->stalls->sum;
    if (!s->rounds) { /* no copy ran, so nothing was counted */
        put_measured(w, root, "stalls", false, 0);
        return;
    }
    struct json_object *o = object_in(w, root, "stalls"), *list = array_in(w, o, "list");
    put_number(w, o, "dispatches", s->dispatches);
    put_number(w, o, "recorded", s->recorded);
    put_measured(w, o, "mean_ns", s->recorded, s->recorded ? s->duration_total_ns / s->recorded : 0);
    put_measured(w, o, "others_mean_ns", r->others_mean_ns, r->others_mean_ns);
    put_json(w, o, "others_since_start", json_object_new_boolean(r->others_before));
    put_number(w, o, "waves", s->waves);
    put_number(w, o, "waves_expected", s->waves_expected);
    put_number(w, o, "waits", s->waits);
    put_number(w, o, "timed", s->timed);
    put_number(w, o, "copies", s->copies);
    put_number(w, o, "copies_needed", s->rounds);
    put_share(w, o, "clock_cycles", s->clock_passes, rtl_probe_clock_cycles(s));
    put_name(w, o, "no_instructions", *r->stalls->no_lines ? r->stalls->no_lines : NULL);
    for (uint32_t i = 0; i < s->timed; i++) {
        const struct rtl_probe_stall *one = &s->wait[i];
        struct json_object *entry = object_at_end(w, list), *before = array_in(w, entry, "before");
        put_number(w, entry, "offset", one->place.at);
        put_text(w, entry, "instruction", rtl_probe_wait_text(one->place.word).text);
        put_share(w, entry, "share", one->known, one->share);
        put_share(w, entry, "mean_cycles", one->passes, one->mean);
        put_number(w, entry, "cycles", one->cycles);
        put_number(w, entry, "passes", one->passes);
        for (int n = 0; one->before && n < one->before->count; n++)
            put_at_end(w, before, json_object_new_string(one->before->text[n]));
    }
}

bool rtl_probe_report_json(const struct rtl_probe_report *r)
{
    const struct rtl_probe_plan *p = &r->session->probing;
    const struct rtl_session_gpu *gpu = rtl_probe_session_gpu(r->session);
    struct json_writer w = {false};
    struct json_object *root = json_object_new_object();
    put_json(&w, root, "version", json_object_new_int(VERSION));
    put_number(&w, root, "pid", (uint64_t)r->pid);
    put_text(&w, root, "command", r->title);
    put_text(&w, root, "kernel", r->name);
    put_text(&w, root, "mangled", r->mangled);
    put_measured(&w, root, "gpu", gpu, gpu ? gpu->gpu : 0);
    put_name(&w, root, "gpu_name", gpu ? gpu->name : NULL);
    put_text(&w, root, "ended", r->ended);
    put_text(&w, root, "why", r->why);
    put_number(&w, root, "wanted", p->plan.wanted);
    put_number(&w, root, "every", p->plan.every);
    put_share(&w, root, "per_second", r->every_chosen && r->per_second > 0, r->per_second);
    put_code(&w, root, r->session);
    if (r->stalls)
        put_waits(&w, root, r);
    else if (p->counted)
        rtl_json_probe_numbers(&w, root, &p->state, gpu ? gpu->compute_units : 0, r->others_mean_ns, r->others_before);
    return json_print_line(&w, root, stdout);
}
