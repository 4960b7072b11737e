/* The key P. See probe_key.h. */
#include "tui/probe_key.h"
#include "tui/ui_place.h"

bool rtl_ui_has_probe(const struct rtl_ui *ui, const struct rtl_row *row)
{
    return ui->probe.there && !row->kernels && row->id == ui->probe.kernel && ui->model->latest &&
           !ui->model->latest->snapshot.parts;
}

bool rtl_ui_is_probed(const struct rtl_ui *ui, const struct rtl_row *row)
{
    return ui->probe.runs && rtl_ui_has_probe(ui, row);
}

unsigned rtl_ui_ask_for_probe(struct rtl_ui *ui)
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
    if (*why && !ui->probe.runs)
        rtl_ui_say(ui, "%s", why);
    return RTL_UI_DRAW | (*why && !ui->probe.runs ? 0 : RTL_UI_PROBE);
}
