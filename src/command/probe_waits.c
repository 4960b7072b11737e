/* What a kernel's waits cost, for people and programs. See probe_report.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command/json_writer.h"
#include "command/probe_report.h"
#include "probing/stall_costs.h"
#include "text/text.h"

enum { WITH_BEFORE = 10 /* of the hottest, as text */ };

void rtl_probe_waits_text(const struct rtl_probe_report *r)
{
    const struct rtl_stall_costs *s = &r->stalls->sum;
    struct rtl_number mean = rtl_format_time(s->recorded ? s->duration_total_ns / s->recorded : 0, r->units),
                      others = rtl_format_time(r->others_mean_ns, r->units);
    if (r->ascii) {
        rtl_units_ascii(mean.text);
        rtl_units_ascii(others.text);
    }
    if (!s->rounds)
        return;
    printf("probed    %" PRIu64 " of %" PRIu64 " dispatches, wanted %" PRIu64 " for each copy; one in %" PRIu32 "\n",
           s->recorded, s->dispatches, r->session->probing.plan.wanted, r->session->probing.plan.every);
    if (s->recorded) {
        printf("duration  mean %s", mean.text);
        if (r->others_mean_ns)
            printf("; the others' mean %s%s: x%.2f", others.text, r->others_before ? " since start" : "",
                   (double)s->duration_total_ns / (double)s->recorded / (double)r->others_mean_ns);
        putchar('\n');
    }
    printf("waves     %" PRIu64 " of %" PRIu64 " expected\n", s->waves, s->waves_expected);
    printf("waits     %" PRIu32 " of %" PRIu32 " timed, by %" PRIu32 " of %" PRIu32 " copies; hottest first\n",
           s->timed, s->waits, s->copies, s->rounds);
    if (s->clock_passes)
        printf("clock     reading it takes %.0f cycles: a wait of about so many, or fewer, waited for nothing\n",
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

void rtl_probe_waits_json(struct json_writer *w, struct json_object *root, const struct rtl_probe_report *r)
{
    const struct rtl_stall_costs *s = &r->stalls->sum;
    if (!s->rounds) { /* there was no copy: nothing was counted */
        put_measured(w, root, "stalls", false, 0);
        return;
    }
    struct json_object *o = object_in(w, root, "stalls"), *list = o ? array_in(w, o, "list") : NULL;
    if (!list)
        return;
    put_number(w, o, "dispatches", s->dispatches);
    put_number(w, o, "recorded", s->recorded);
    put_measured(w, o, "mean_ns", s->recorded, s->recorded ? s->duration_total_ns / s->recorded : 0);
    put_measured(w, o, "others_mean_ns", r->others_mean_ns, r->others_mean_ns);
    put(w, o, "others_since_start", json_object_new_boolean(r->others_before));
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
        struct json_object *entry = object_at_end(w, list), *before = entry ? array_in(w, entry, "before") : NULL;
        if (!before)
            break;
        put_number(w, entry, "offset", one->place.at);
        put_text(w, entry, "instruction", rtl_probe_wait_text(one->place.word).text);
        put_share(w, entry, "share", one->known, one->share);
        put_share(w, entry, "mean_cycles", one->passes, one->mean);
        put_number(w, entry, "cycles", one->cycles);
        put_number(w, entry, "passes", one->passes);
        for (int n = 0; one->before && n < one->before->count; n++)
            w->failed |= json_object_array_add(before, json_object_new_string(one->before->text[n])) != 0;
    }
}
