/* The keys P and s. See probe_key.h. */
#include "tui/probe_key.h"
#include "stats/quantile.h"
#include "tui/ui_context.h"

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
