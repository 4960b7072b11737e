/* What is shown of a probe, and where the cursor is in it. See probe_shown.h. */
#include "tui/probe_shown.h"
#include "tui/layout.h"

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

bool rtl_ui_has_stalls(const struct rtl_ui *ui, const struct rtl_row *row)
{
    return ui->stalls && rtl_ui_has_probe(ui, row);
}

void rtl_ui_move_in_stalls(struct rtl_ui *ui, int by)
{
    const struct rtl_stall_costs *s = &ui->stalls->sum;
    int last = s->timed > INT_MAX ? INT_MAX : (int)s->timed - 1;
    ui->stall_at = last < 0 ? 0 : rtl_clamp(ui->stall_at + rtl_clamp(by, -last, last), 0, last);
    if (s->timed)
        ui->stall_place = s->wait[ui->stall_at].place.at;
}

void rtl_ui_follow_stall(struct rtl_ui *ui)
{
    const struct rtl_stall_costs *s = ui->stalls ? &ui->stalls->sum : NULL;
    if (!s || !s->timed)
        ui->stall_at = 0;
    for (uint32_t i = 0; ui->stall_at && i < s->timed && i <= INT_MAX; i++)
        if (s->wait[i].place.at == ui->stall_place) {
            ui->stall_at = (int)i;
            return;
        }
    ui->stall_at = 0; /* it is another list */
}
