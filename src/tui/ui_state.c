/* State of the screen. See ui_state.h. */
#include "tui/ui_state.h"

#include <stdarg.h>
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

unsigned rtl_ui_say(struct rtl_ui *ui, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(ui->message, sizeof ui->message, format, args);
    ui->message_ns = ui->now_mono_ns;
    va_end(args);
    return RTL_UI_DRAW;
}

unsigned rtl_ui_context(const struct rtl_ui *ui)
{
    return 1u << ui->view | (ui->view == RTL_VIEW_RANGES ? RTL_IN_CALLS : 0) |
           (ui->replay && ui->view != RTL_VIEW_HELP ? RTL_IN_REPLAY : 0);
}

bool rtl_ui_scrolls(const struct rtl_ui *ui)
{
    return ui->view == RTL_VIEW_RANKS || ui->view == RTL_VIEW_STEPS || ui->view == RTL_VIEW_GPU;
}

unsigned rtl_ui_open_view(struct rtl_ui *ui, enum rtl_view view)
{
    int at = 0;
    while (at < ui->under_count && ui->under[at] != view)
        at++;
    if (at == ui->under_count && ui->view != view)
        ui->under[ui->under_count++] = ui->view;
    else
        ui->under_count = at;
    ui->view = view;
    return RTL_UI_DRAW;
}

void rtl_ui_close_view(struct rtl_ui *ui)
{
    ui->view = ui->under_count ? ui->under[--ui->under_count] : RTL_VIEW_KERNELS;
}

unsigned rtl_ui_toggle_view(struct rtl_ui *ui, int view)
{
    if ((int)ui->view != view)
        return rtl_ui_open_view(ui, (enum rtl_view)view);
    ui->under_count = 0;
    ui->view = RTL_VIEW_KERNELS;
    return RTL_UI_DRAW;
}

bool rtl_ui_takes_text(const struct rtl_ui *ui)
{
    enum rtl_prompt p = ui->prompt;
    return p == RTL_PROMPT_FIND || p == RTL_PROMPT_FILTER || p == RTL_PROMPT_INTERVAL || p == RTL_PROMPT_TIME ||
           p == RTL_PROMPT_RECORD || p == RTL_PROMPT_SNAPSHOT;
}

bool rtl_ui_shows_calls(const struct rtl_ui *ui)
{
    return ui->view == RTL_VIEW_CALLS || ui->view == RTL_VIEW_RANGES;
}

const struct rtl_hip_api_model_row *rtl_ui_call_rows(const struct rtl_ui *ui, int *count)
{
    const struct rtl_hip_api_rows *calls = &ui->model->hip_api;
    bool ranges = ui->view == RTL_VIEW_RANGES;
    *count = (int)(ranges ? calls->ranges : calls->functions);
    if (ranges && calls->tree_count) {
        *count = (int)calls->tree_count;
        return calls->tree;
    }
    return ranges && calls->rows ? calls->rows + calls->functions : calls->rows;
}

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
