/* Choose the view and the menu over it. See draw.h. */
#include "tui/draw.h"

void rtl_draw(const struct rtl_ui *ui, struct rtl_frame *frame)
{
    if (!ui->model->latest)
        return;
    if (ui->view == RTL_VIEW_DETAIL)
        rtl_draw_detail(ui, frame);
    else if (ui->view == RTL_VIEW_HELP)
        rtl_draw_help(ui, frame);
    else
        rtl_draw_main(ui, frame);
    rtl_draw_menu(ui, frame);
}
