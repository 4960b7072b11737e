/* Keeps the cursor in sight. See scroll.h. */
#include "tui/scroll.h"
#include "tui/draw.h"

void rtl_ui_fit(struct rtl_ui *ui, int rows, int cols)
{
    struct rtl_model *m = ui->model;
    int shown = (int)m->shown;
    struct rtl_layout_wants wants = rtl_ui_wants(ui, cols);
    struct rtl_layout l = rtl_layout_main(rows, cols, &wants);
    ui->page = l.table.rows > 0 ? l.table.rows : 1;
    if (ui->view == RTL_VIEW_HELP) {
        ui->page = rows > 2 ? rows - 2 : 1;
        ui->help_top = rtl_clamp(ui->help_top, 0, rtl_clamp(rtl_draw_help_lines(ui, cols) - ui->page, 0, 1 << 20));
        return;
    }
    int lines = rtl_draw_queue_lines(m);
    ui->queue_top = rtl_clamp(ui->queue_top, 0, rtl_clamp(lines - ui->page, 0, lines));
    lines = rtl_draw_copies_lines(m);
    ui->copies_top = rtl_clamp(ui->copies_top, 0, rtl_clamp(lines - ui->page, 0, lines));
    int at = ui->following ? 0 : rtl_model_position(m, ui->selected);
    if (ui->view == RTL_VIEW_DETAIL)
        return; /* a kernel that the filter hides now is still looked at */
    if (at < 0) /* it is no longer shown: stay where it was */
        at = rtl_clamp(ui->position, 0, shown ? shown - 1 : 0);
    if (shown) {
        at = rtl_clamp(at, 0, shown - 1);
        ui->selected = m->rows[m->order[at]].id;
    }
    ui->position = at;
    if (at < ui->top)
        ui->top = at;
    if (at >= ui->top + ui->page)
        ui->top = at - ui->page + 1;
    ui->top = rtl_clamp(ui->top, 0, rtl_clamp(shown - ui->page, 0, shown));
}
