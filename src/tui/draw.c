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
    if (ui->prompt == RTL_PROMPT_SORT)
        rtl_draw_sort_menu(ui, frame);
    else if (ui->prompt == RTL_PROMPT_MODE)
        rtl_draw_mode_menu(ui, frame);
    else if (ui->prompt == RTL_PROMPT_COLUMNS)
        rtl_draw_columns_menu(ui, frame);
    else if (ui->prompt == RTL_PROMPT_LEAVE)
        rtl_draw_leave_menu(ui, frame);
}
