/*
 * The probe of a screen: started and stopped by a key, advanced between frames. It has a reader of its own, so that the
 * processes of the screen may come and go. See loop_state.h.
 */
#include "base/clock.h"
#include "probing/probe_rounds.h"
#include "stats/quantile.h"
#include "tui/cursor.h"
#include "tui/loop_state.h"

#include <stdio.h>

static bool probe_runs(const struct rtl_loop *w)
{
    return w->probe || (w->stalls && w->ui.probe.runs);
}

/* Results of waits stay in w->stalls, which the screen shows. */
static void close_probe(struct rtl_loop *w)
{
    rtl_probe_session_close(w->probe);
    if (w->stalls)
        rtl_probe_rounds_end(w->stalls);
    if (w->probe_reader)
        rtl_reader_close(w->probe_reader);
    w->probe = NULL;
    w->probe_reader = NULL;
    w->ui.probe.runs = false;
}

static void forget_stalls(struct rtl_loop *w)
{
    if (w->ui.stalls)
        w->ui.probe = (struct rtl_probe_told){0};
    w->ui.stalls = NULL;
    rtl_probe_rounds_free(w->stalls);
    w->stalls = NULL;
}

/* Pass the state of the probe to the recorders of this screen and of hidden ones: a parent may record all processes.
 * Recordings store no waits. */
static void pass_to_recorders(struct rtl_loop *from, const struct rtl_loop *of)
{
    for (struct rtl_loop *one = from; one && of->ui.probe.there && !of->ui.stalls; one = rtl_loop_next(one))
        rtl_frame_recorder_probe(&one->recorder, of->ui.pid, &of->ui.probe);
}

static void drop_probe(struct rtl_loop *w)
{
    bool ran = probe_runs(w);
    close_probe(w);
    if (!ran)
        return;
    snprintf(w->ui.probe.stage, sizeof w->ui.probe.stage, "over");
    snprintf(w->ui.probe.ended, sizeof w->ui.probe.ended, "stopped");
    snprintf(w->ui.probe.over, sizeof w->ui.probe.over, "the probe ended: its screen was left");
    pass_to_recorders(w->parent, w);
}

/* Measure the kernel's other dispatches only while the probe is armed: earlier and later ones may do other work. */
static void measure_others(struct rtl_loop *w, bool over)
{
    struct rtl_snapshot now = {0};
    const struct rtl_model *m = w->held ? w->held : w->ui.model;
    const struct rtl_snapshot *s = m && m->latest ? &m->latest->snapshot : &now; /* `now` is still empty */
    if (!w->ui.probe.counted)
        return;
    if ((!w->others_begun || over) && rtl_reader_snapshot(w->probe_reader, &now) == RTL_READER_OK)
        s = &now;
    for (uint32_t i = 0; i < s->kernel_count; i++) {
        const struct rtl_histogram_copy *h = &s->kernels[i].histogram;
        if (s->kernels[i].id != w->ui.probe.kernel)
            continue;
        if (!w->others_begun)
            w->others_count = h->count, w->others_total_ns = h->total_ns;
        if (h->count > w->others_count && h->total_ns >= w->others_total_ns)
            w->ui.others_ns = (h->total_ns - w->others_total_ns) / (h->count - w->others_count);
    }
    w->others_begun = true;
    rtl_snapshot_free(&now);
}

static void step_probe(struct rtl_loop *w)
{
    if (!probe_runs(w))
        return;
    bool alive = rtl_reader_alive(w->probe_reader), goes_on;
    if (w->stalls) {
        goes_on = rtl_probe_rounds_step(w->stalls, alive, rtl_mono_ns());
        rtl_probe_rounds_report(w->stalls, &w->ui.probe);
    } else {
        goes_on = rtl_probe_session_step(w->probe, alive, rtl_mono_ns());
        rtl_probe_session_report(w->probe, &w->ui.probe);
    }
    measure_others(w, !goes_on);
    if (goes_on)
        return;
    rtl_ui_say(&w->ui, "%s", w->ui.probe.over);
    close_probe(w);
}

/* Parents first, kept screens last: of two probes on one process, the recorders keep the newer one, which comes last.
 */
static void pass_all_to_recorders(struct rtl_loop *from, const struct rtl_loop *of)
{
    if (of->parent)
        pass_all_to_recorders(from, of->parent);
    pass_to_recorders(from, of);
    if (of->kept)
        pass_to_recorders(from, of->kept);
}

void rtl_loop_step_probes(struct rtl_loop *w)
{
    for (struct rtl_loop *at = w; at; at = rtl_loop_next(at))
        step_probe(at);
    pass_all_to_recorders(w, w);
}

void rtl_loop_drop_probes(struct rtl_loop *w)
{
    for (; w; w = rtl_loop_next(w))
        drop_probe(w);
}

bool rtl_loop_has_probe(const struct rtl_loop *w)
{
    while (w && !probe_runs(w))
        w = rtl_loop_next(w);
    return w;
}

static const struct rtl_kernel_snapshot *find_kernel(const struct rtl_sample *sample, uint32_t id)
{
    for (uint32_t i = 0; sample && i < sample->snapshot.kernel_count; i++)
        if (sample->snapshot.kernels[i].id == id)
            return &sample->snapshot.kernels[i];
    return NULL;
}

struct rtl_probe_pace rtl_loop_probe_pace(const struct rtl_model *m, uint32_t id)
{
    static const double half[] = {0.5};
    struct rtl_probe_pace pace = {0};
    const struct rtl_kernel_snapshot *now = find_kernel(m->latest, id), *before = find_kernel(m->previous, id);
    uint64_t calls = before ? before->calls : 0;
    if (!now)
        return pace;
    if (m->previous && now->calls > calls && m->latest->snapshot.taken_mono_ns > m->previous->snapshot.taken_mono_ns)
        pace.per_second = (double)(now->calls - calls) * 1e9 /
                          (double)(m->latest->snapshot.taken_mono_ns - m->previous->snapshot.taken_mono_ns);
    if (!rtl_quantiles(before ? &before->histogram : NULL, &now->histogram, half, 1, &pace.p50_ns))
        rtl_quantiles(NULL, &now->histogram, half, 1, &pace.p50_ns); /* no dispatch was timed between the snapshots */
    return pace;
}

static void start_probe(struct rtl_loop *w, const struct rtl_row *row, bool stalls)
{
    char why[512];
    struct rtl_snapshot snapshot = {0};
    const struct rtl_probe_pace pace = rtl_loop_probe_pace(w->held ? w->held : w->ui.model, row->id);
    const struct rtl_probe_wish wish = {.kernel = row->kernel->name,
                                        .row = row->id,
                                        .duration_ns = pace.p50_ns,
                                        .per_second = pace.per_second,
                                        .gpu = -1};
    forget_stalls(w);
    enum rtl_reader_status status = rtl_reader_open(w->ui.pid, &w->probe_reader, why, sizeof why);
    if (status == RTL_READER_OK) {
        status = rtl_reader_snapshot(w->probe_reader, &snapshot);
        snprintf(why, sizeof why, "the segment can't be read");
    }
    if (status == RTL_READER_OK && stalls)
        status = rtl_probe_rounds_open(w->probe_reader, w->ui.pid, &snapshot, &wish, &w->stalls, why, sizeof why);
    else if (status == RTL_READER_OK)
        status = rtl_probe_session_open(w->probe_reader, w->ui.pid, &snapshot, &wish, &w->probe, why, sizeof why);
    rtl_snapshot_free(&snapshot);
    if (status != RTL_READER_OK) {
        rtl_ui_say(&w->ui, "%s",
                   w->probe_reader && !rtl_reader_alive(w->probe_reader) ? "not probed: the process has exited" : why);
        close_probe(w);
        return;
    }
    w->ui.probe = (struct rtl_probe_told){.there = true, .runs = true, .kernel = row->id};
    w->ui.stalls = stalls ? rtl_probe_rounds_stalls(w->stalls) : NULL;
    w->ui.stall_at = 0;
    w->ui.others_ns = 0;
    w->others_begun = false;
    const char *key = rtl_key_name(rtl_keys[stalls ? RTL_ACTION_STALLS : RTL_ACTION_PROBE].keys[0]).text;
    if (stalls && *w->ui.record)
        rtl_ui_say(&w->ui, "probed copies will run; %s stops the probe; recordings store no waits", key);
    else
        rtl_ui_say(&w->ui, "some dispatches will run a probed copy; %s stops the probe", key);
    step_probe(w);
}

void rtl_loop_toggle_probe(struct rtl_loop *w, bool stalls)
{
    const struct rtl_row *row = rtl_ui_selected(&w->ui);
    if (probe_runs(w)) {
        if (w->stalls)
            rtl_probe_rounds_stop(w->stalls, rtl_mono_ns());
        else
            rtl_probe_session_stop(w->probe, rtl_mono_ns());
        step_probe(w);
    } else if (row && w->targets) {
        start_probe(w, row, stalls);
    }
}

void rtl_loop_check_probes(struct rtl_loop *w)
{
    struct rtl_reader *reader = NULL;
    char why[512];
    if (!w->targets || !rtl_process_set_is_single(w->targets) ||
        rtl_reader_open(w->ui.pid, &reader, why, sizeof why) != RTL_READER_OK)
        return;
    w->ui.no_probe = rtl_probe_is_allowed(reader)      ? NULL
                     : rtl_probe_wants_setting(reader) ? "not started with RTL_PROBE=1 (rtl-top run --probe): no probe"
                                                       : "its librtl.so accepts no probes: older, or RTL_MODE=off";
    rtl_reader_close(reader);
}

void rtl_loop_free_probe(struct rtl_loop *w)
{
    drop_probe(w);
    forget_stalls(w);
}
