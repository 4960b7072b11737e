/* The keys P and s. See probe_key.h. */
#include "tui/probe_key.h"
#include "stats/quantile.h"
#include "tui/layout.h"
#include "tui/ui_place.h"

#include <limits.h>

bool rtl_ui_has_probe(const struct rtl_ui *ui, const struct rtl_row *row)
{
    return ui->probe.there && !row->kernels && row->id == ui->probe.kernel && ui->model->latest &&
           !ui->model->latest->snapshot.parts;
}

bool rtl_ui_is_probed(const struct rtl_ui *ui, const struct rtl_row *row)
{
    return ui->probe.runs && rtl_ui_has_probe(ui, row);
}

unsigned rtl_ui_ask_for_probe(struct rtl_ui *ui, unsigned what)
{
    const struct rtl_model *m = ui->model;
    const struct rtl_row *row = rtl_ui_selected(ui);
    const char *why = ui->replay                                    ? "this is a recording: nothing runs in it"
                      : !m->latest || m->state == RTL_TARGET_EXITED ? "there is no process any more"
                      : m->latest->snapshot.parts ? "of several processes none is probed: p chooses one of them"
                      : m->latest->snapshot.mode == RTL_MODE_OBSERVED
                          ? "only observed: without librtl.so no kernel is probed"
                      : !row || row->kernels || row->id < RTL_KERNEL_FIRST ? "this is no single kernel"
                                                                           : "";
    bool ours = ui->probe.runs && !ui->replay;
    if (*why && !ours)
        rtl_ui_say(ui, "%s", why);
    return RTL_UI_DRAW | (*why && !ours ? 0 : what);
}

bool rtl_ui_has_stalls(const struct rtl_ui *ui, const struct rtl_row *row)
{
    return ui->stalls && rtl_ui_has_probe(ui, row);
}

void rtl_ui_move_in_stalls(struct rtl_ui *ui, int by)
{
    const struct rtl_probe_stalls *s = &ui->stalls->sum;
    int last = s->timed > INT_MAX ? INT_MAX : (int)s->timed - 1;
    ui->stall_at = last < 0 ? 0 : rtl_clamp(ui->stall_at + rtl_clamp(by, -last, last), 0, last);
    if (s->timed)
        ui->stall_place = s->wait[ui->stall_at].place.at;
}

void rtl_ui_follow_stall(struct rtl_ui *ui)
{
    const struct rtl_probe_stalls *s = ui->stalls ? &ui->stalls->sum : NULL;
    if (!s || !s->timed)
        ui->stall_at = 0;
    for (uint32_t i = 0; ui->stall_at && i < s->timed && i <= INT_MAX; i++)
        if (s->wait[i].place.at == ui->stall_place) {
            ui->stall_at = (int)i;
            return;
        }
    ui->stall_at = 0; /* it is another list */
}

static const struct rtl_kernel_snapshot *find(const struct rtl_sample *sample, uint32_t id)
{
    for (uint32_t i = 0; sample && i < sample->snapshot.kernel_count; i++)
        if (sample->snapshot.kernels[i].id == id)
            return &sample->snapshot.kernels[i];
    return NULL;
}

struct rtl_probe_pace rtl_ui_probe_pace(const struct rtl_model *m, uint32_t id)
{
    static const double half[] = {0.5};
    struct rtl_probe_pace pace = {0};
    const struct rtl_kernel_snapshot *now = find(m->latest, id), *before = find(m->previous, id);
    uint64_t calls = before ? before->calls : 0;
    if (!now)
        return pace;
    if (m->previous && now->calls > calls && m->latest->snapshot.taken_mono_ns > m->previous->snapshot.taken_mono_ns)
        pace.per_second = (double)(now->calls - calls) * 1e9 /
                          (double)(m->latest->snapshot.taken_mono_ns - m->previous->snapshot.taken_mono_ns);
    if (!rtl_quantiles(before ? &before->histogram : NULL, &now->histogram, half, 1, &pace.p50_ns))
        rtl_quantiles(NULL, &now->histogram, half, 1, &pace.p50_ns); /* none was timed meanwhile */
    return pace;
}
