/* How the screen begins, where one is on it, what its layout is asked for. See ui_place.h. */
#include "tui/ui_context.h"

#include <stdio.h>
#include <string.h>

void rtl_ui_init(struct rtl_ui *ui, struct rtl_model *model, pid_t pid, const char *title)
{
    memset(ui, 0, sizeof *ui);
    ui->model = model;
    ui->pid = pid;
    ui->interval_ns = RTL_SEC;
    ui->following = true;
    ui->page = 10;
    ui->speed = 1;
    snprintf(ui->title, sizeof ui->title, "%s", title);
}

unsigned rtl_ui_context(const struct rtl_ui *ui)
{
    static const unsigned where[] = {[RTL_VIEW_KERNELS] = RTL_IN_KERNELS,
                                     [RTL_VIEW_QUEUES] = RTL_IN_QUEUES,
                                     [RTL_VIEW_COPIES] = RTL_IN_COPIES,
                                     [RTL_VIEW_DETAIL] = RTL_IN_DETAIL,
                                     [RTL_VIEW_HELP] = RTL_IN_HELP,
                                     [RTL_VIEW_PROCESSES] = RTL_IN_PROCESSES,
                                     [RTL_VIEW_RANKS] = RTL_IN_RANKS,
                                     [RTL_VIEW_CALLS] = RTL_IN_CALLS,
                                     [RTL_VIEW_RANGES] = RTL_IN_CALLS | RTL_IN_RANGES};
    return where[ui->view] | (ui->replay && ui->view != RTL_VIEW_HELP ? RTL_IN_REPLAY : 0);
}

struct rtl_layout_wants rtl_ui_wants(const struct rtl_ui *ui, int cols)
{
    return (struct rtl_layout_wants){.gpus = (int)ui->model->gpu_count,
                                     .gpu_lines = ui->gpu_lines,
                                     .slowest = ui->model->latest && ui->model->latest->snapshot.parts,
                                     .launch = ui->model->hip_api.launches,
                                     .columns = ui->columns,
                                     .places = ui->column_places,
                                     .pane = ui->view == RTL_VIEW_KERNELS && rtl_ui_selected(ui),
                                     .name_rows = ui->view == RTL_VIEW_KERNELS ? rtl_ui_name_rows(ui, cols) : 0};
}
