/*
 * The probe of a screen: begun and ended by a key, carried on between frames, and what the screen says of it. Its
 * reader is its own, so that processes may come and go. See watch_state.h.
 */
#include "base/clock.h"
#include "session/probe_session.h"
#include "tui/cursor.h"
#include "tui/probe_key.h"
#include "tui/watch_state.h"

#include <stdio.h>
#include <string.h>

void rtl_watch_drop_probe(struct rtl_watch *w)
{
    rtl_probe_session_close(w->probe);
    if (w->probe_reader)
        rtl_reader_close(w->probe_reader);
    w->probe = NULL;
    w->probe_reader = NULL;
    w->ui.probe.runs = false;
}

static const char *stage_of(const struct rtl_probe_session *s)
{
    if (s->finding)
        return "its code is looked for";
    switch (s->probing.stage) {
    case RTL_PROBING_AT_FREE:
        return "waits for another one's end";
    case RTL_PROBING_AT_COUNT:
        return "armed";
    case RTL_PROBING_AT_DISARM:
        return "taken back";
    default:
        return "on its way";
    }
}

/* What there is to be seen of it. */
static void tell(struct rtl_watch *w)
{
    const struct rtl_probe_session *s = w->probe;
    struct rtl_ui_probe *p = &w->ui.probe;
    const struct rtl_session_gpu *gpu = rtl_probe_session_gpu(s);
    snprintf(p->stage, sizeof p->stage, "%s", stage_of(s));
    p->every = s->finding ? 0 : s->probing.plan.every;
    p->compute_units = gpu ? gpu->compute_units : 0;
    p->counted = !s->finding && s->probing.counted;
    if (p->counted)
        p->state = s->probing.state;
    if (!rtl_probe_session_is_over(s))
        return;
    p->runs = false;
    rtl_probing_text(&s->probing, p->over, sizeof p->over);
    rtl_ui_say(&w->ui, "%s", p->over);
}

static void step(struct rtl_watch *w)
{
    if (!w->probe)
        return;
    bool goes_on = rtl_probe_session_step(w->probe, rtl_reader_alive(w->probe_reader), rtl_mono_ns());
    tell(w);
    if (!goes_on)
        rtl_watch_drop_probe(w);
}

/* A screen that was left is kept by the one that it was opened from, which may lie behind another by now. */
static void each(struct rtl_watch *w, void (*visit)(struct rtl_watch *))
{
    for (struct rtl_watch *one = w; one; one = one->parent) {
        visit(one);
        if (one->kept)
            visit(one->kept);
    }
}

void rtl_watch_step_probes(struct rtl_watch *w)
{
    each(w, step);
}

void rtl_watch_drop_probes(struct rtl_watch *w)
{
    each(w, rtl_watch_drop_probe);
}

bool rtl_watch_has_probe(const struct rtl_watch *w)
{
    for (; w; w = w->parent)
        if (w->probe || (w->kept && w->kept->probe))
            return true;
    return false;
}

static void begin(struct rtl_watch *w, const struct rtl_row *row)
{
    char why[512];
    struct rtl_snapshot snapshot = {0};
    const struct rtl_probe_pace pace = rtl_ui_probe_pace(w->held ? w->held : w->ui.model, row->id);
    const struct rtl_probe_wish wish = {.kernel = row->kernel->name,
                                        .row = row->id,
                                        .duration_ns = pace.p50_ns,
                                        .per_second = pace.per_second,
                                        .gpu = -1};
    enum rtl_reader_status status = rtl_reader_open(w->ui.pid, &w->probe_reader, why, sizeof why);
    if (status == RTL_READER_OK) {
        status = rtl_reader_snapshot(w->probe_reader, &snapshot);
        snprintf(why, sizeof why, "the segment can't be read");
    }
    if (status == RTL_READER_OK)
        status = rtl_probe_session_open(w->probe_reader, w->ui.pid, &snapshot, &wish, &w->probe, why, sizeof why);
    rtl_snapshot_free(&snapshot);
    if (status != RTL_READER_OK) {
        rtl_ui_say(&w->ui, "%s",
                   status == RTL_READER_NO_PROBE && rtl_probe_wants_setting(w->probe_reader)
                       ? "not started with RTL_PROBE=1 (rtl-top run --probe): nothing is probed"
                       : why);
        rtl_watch_drop_probe(w);
        return;
    }
    w->ui.probe = (struct rtl_ui_probe){.there = true, .runs = true, .kernel = row->id};
    rtl_ui_say(&w->ui, "some of its dispatches are going to run a probed copy; P takes that back");
    step(w);
}

void rtl_watch_toggle_probe(struct rtl_watch *w)
{
    const struct rtl_row *row = rtl_ui_selected(&w->ui);
    if (w->probe) {
        rtl_probe_session_stop(w->probe, rtl_mono_ns());
        step(w);
    } else if (row && w->targets) {
        begin(w, row);
    }
}
