/* What a kernel's waits cost, for people and programs. See probe_report.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command/json_writer.h"
#include "command/probe_report.h"
#include "session/probe_stalls.h"
#include "probe/code_object.h"
#include "text/disassembly.h"
#include "text/text.h"

enum { BEFORE_MAX = 3, LINE = 160, WITH_BEFORE = 10 /* of the hottest, as text */ };

/* The kernel's code from its entry on, and who reads it; both looked for once. */
struct listing {
    struct rtl_disassembly *disassembly; /* NULL: nobody */
    const uint8_t *bytes;
    size_t there;
};

/* The instructions before a wait, where there is somebody who reads them; how many. */
static int before_of(const struct listing *l, const struct rtl_probe_stall *stall, char lines[BEFORE_MAX][LINE])
{
    uint32_t at = stall->place.from, end = stall->place.at;
    int n = 0;
    while (l->disassembly && at < end && end <= l->there && n < BEFORE_MAX) {
        uint32_t size = rtl_disassemble(l->disassembly, l->bytes + at, end - at, lines[n], LINE);
        if (!size)
            break;
        at += size;
        n++;
    }
    return n;
}

static struct listing open_listing(const struct rtl_probe_report *r)
{
    const struct rtl_probe_code_copy *original = rtl_probe_session_original(r->session);
    struct listing l = {NULL, NULL, 0};
    struct rtl_code_object code;
    struct rtl_kernel_descriptor descriptor;
    uint64_t address;
    if (!original || rtl_code_open(&code, original->bytes, original->size) ||
        !rtl_code_find_kernel(&code, r->session->wish.kernel, &address) ||
        rtl_code_at(&code, address, false, &l.bytes) < sizeof descriptor)
        return l;
    memcpy(&descriptor, l.bytes, sizeof descriptor);
    l.there = rtl_code_at(&code, address + (uint64_t)descriptor.entry, true, &l.bytes);
    l.disassembly = rtl_disassembly_open(
        (code.flags & RTL_CODE_MACHINE) == RTL_CODE_GFX90A ? "amdgcn-amd-amdhsa--gfx90a" : "amdgcn-amd-amdhsa--gfx906");
    return l;
}

void rtl_probe_waits_text(const struct rtl_probe_report *r)
{
    const struct rtl_probe_stalls *s = r->stalls;
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
    printf("  %7s %9s %9s  %s\n", "OF WAVES", "CYCLES", "PASSES", "AT");
    struct listing listing = open_listing(r);
    for (uint32_t i = 0; i < s->timed; i++) {
        const struct rtl_probe_stall *w = &s->wait[i];
        char lines[BEFORE_MAX][LINE];
        for (int n = 0, count = i < WITH_BEFORE ? before_of(&listing, w, lines) : 0; n < count; n++)
            printf("  %8s %9s %9s  %11s%s\n", "", "", "", "", lines[n]);
        char share[16] = "-";
        if (w->known)
            snprintf(share, sizeof share, "%.2f%%", w->share * 100);
        printf("  %8s %9s %9s  +0x%-7" PRIx32 " %s\n", share,
               w->passes ? rtl_format_count(w->mean < 1e18 ? (uint64_t)(w->mean + 0.5) : UINT64_MAX).text : "-",
               rtl_format_count(w->passes).text, w->place.at, rtl_probe_wait_text(w->place.word).text);
    }
    rtl_disassembly_close(listing.disassembly);
}

void rtl_probe_waits_json(struct json_writer *w, struct json_object *root, const struct rtl_probe_report *r)
{
    const struct rtl_probe_stalls *s = r->stalls;
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
    struct listing listing = open_listing(r);
    for (uint32_t i = 0; i < s->timed; i++) {
        const struct rtl_probe_stall *one = &s->wait[i];
        struct json_object *entry = object_at_end(w, list), *before = entry ? array_in(w, entry, "before") : NULL;
        char lines[BEFORE_MAX][LINE];
        if (!before)
            break;
        put_number(w, entry, "offset", one->place.at);
        put_text(w, entry, "instruction", rtl_probe_wait_text(one->place.word).text);
        put_share(w, entry, "share", one->known, one->share);
        put_share(w, entry, "mean_cycles", one->passes, one->mean);
        put_number(w, entry, "cycles", one->cycles);
        put_number(w, entry, "passes", one->passes);
        for (int n = 0, count = before_of(&listing, one, lines); n < count; n++)
            w->failed |= json_object_array_add(before, json_object_new_string(lines[n])) != 0;
    }
    rtl_disassembly_close(listing.disassembly);
}
