/* From screen to screen, and back. See views.h. */
#include "tui/views.h"

void rtl_ui_open_view(struct rtl_ui *ui, enum rtl_view view)
{
    int at = 0;
    while (at < ui->under_count && ui->under[at] != view)
        at++;
    if (at == ui->under_count && ui->view != view)
        ui->under[ui->under_count++] = ui->view;
    else
        ui->under_count = at;
    ui->view = view;
}

void rtl_ui_close_view(struct rtl_ui *ui)
{
    ui->view = ui->under_count ? ui->under[--ui->under_count] : RTL_VIEW_KERNELS;
}

void rtl_ui_toggle_view(struct rtl_ui *ui, enum rtl_view view)
{
    if (ui->view != view) {
        rtl_ui_open_view(ui, view);
        return;
    }
    ui->under_count = 0;
    ui->view = RTL_VIEW_KERNELS;
}
