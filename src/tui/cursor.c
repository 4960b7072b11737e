/* Where the cursor is and how it moves. See cursor.h. */
#include "tui/cursor.h"
#include "model/merge.h"
#include "text/text.h"
#include "tui/layout.h"
#include "tui/probe_shown.h"
#include "tui/process_list.h"

const struct rtl_row *rtl_ui_selected(const struct rtl_ui *ui)
{
    const struct rtl_model *m = ui->model;
    enum rtl_view view = ui->view == RTL_VIEW_HELP ? ui->before : ui->view;
    if (view == RTL_VIEW_DETAIL || view == RTL_VIEW_RANKS)
        return rtl_model_row(m, ui->selected);
    int at = ui->following ? 0 : rtl_model_position(m, ui->selected);
    return at >= 0 && (uint32_t)at < m->shown ? &m->rows[m->order[at]] : NULL;
}

int rtl_ui_name_rows(const struct rtl_ui *ui, int cols)
{
    const struct rtl_row *row = rtl_ui_selected(ui);
    if (!(ui->wrap || ui->view == RTL_VIEW_DETAIL) || !row || cols < 2)
        return 0;
    const char *name = rtl_model_form(ui->model, row, ui->names == RTL_NAME_MANGLED ? RTL_NAME_MANGLED : RTL_NAME_FULL);
    return (rtl_text_columns(name) + cols - 2) / (cols - 1);
}

void rtl_ui_select(struct rtl_ui *ui, int at)
{
    struct rtl_model *m = ui->model;
    if (!m->shown)
        return;
    at = rtl_clamp(at, 0, (int)m->shown - 1);
    ui->selected = m->rows[m->order[at]].id;
    ui->position = at;
    ui->following = false;
    rtl_model_freeze_order(m);
}

unsigned rtl_ui_move(struct rtl_ui *ui, int by)
{
    const struct rtl_row *row = rtl_ui_selected(ui);
    if (ui->view == RTL_VIEW_HELP) {
        ui->help_top = rtl_clamp(ui->help_top + by, 0, 1 << 20);
    } else if (ui->view == RTL_VIEW_QUEUES) {
        ui->queue_at = rtl_clamp(ui->queue_at + by, 0, 1 << 20);
    } else if (ui->view == RTL_VIEW_PROCESSES) {
        rtl_process_move(ui, ui->process_at + by);
    } else if (ui->view == RTL_VIEW_RANKS) {
        ui->rank_top = rtl_clamp(ui->rank_top + by, 0, 1 << 20);
    } else if (ui->view == RTL_VIEW_CALLS || ui->view == RTL_VIEW_RANGES) {
        int *at = &ui->calls_at[ui->view == RTL_VIEW_RANGES];
        *at = rtl_clamp(*at + by, 0, 1 << 20);
    } else if (ui->view == RTL_VIEW_COPIES) {
        ui->copies_at = rtl_clamp(ui->copies_at + by, 0, 1 << 20);
    } else if (ui->view == RTL_VIEW_DETAIL && row && rtl_ui_has_stalls(ui, row)) {
        rtl_ui_move_in_stalls(ui, by);
    } else {
        int at = rtl_model_position(ui->model, ui->selected);
        rtl_ui_select(ui, (at < 0 ? ui->position : at) + rtl_clamp(by, -(1 << 20), 1 << 20));
    }
    return RTL_UI_DRAW;
}

unsigned rtl_ui_group(struct rtl_ui *ui)
{
    const struct rtl_row *row = rtl_ui_selected(ui);
    struct rtl_model *m = ui->model;
    /* the cursor goes on to the family of its kernel, and from a family to where it was in the list */
    uint32_t family = row ? RTL_KERNELS_MAX + rtl_family_of(m, row) : 0;
    rtl_model_group(m, !m->families);
    if (m->families && row && !ui->following && rtl_model_position(m, ui->selected) < 0)
        ui->selected = family;
    ui->top = 0;
    return RTL_UI_DRAW;
}

unsigned rtl_ui_open(struct rtl_ui *ui, const struct rtl_row *row, bool open)
{
    enum rtl_name_family family = rtl_family_of(ui->model, row);
    ui->selected = RTL_KERNELS_MAX + family;
    ui->following = false;
    rtl_model_open(ui->model, family, open);
    ui->position = rtl_model_position(ui->model, ui->selected);
    return RTL_UI_DRAW;
}

unsigned rtl_ui_sideways(struct rtl_ui *ui, int step)
{
    enum { COLUMNS = 8 };
    const struct rtl_row *row = rtl_ui_selected(ui);
    if (ui->model->families && row && (row->kernels || (step < 0 && !ui->name_left)))
        return rtl_ui_open(ui, row, step > 0);
    ui->name_left =
        rtl_clamp(ui->name_left + step * COLUMNS, 0, 1 << 16); /* rtl_ui_scroll_into_view knows where they end */
    return RTL_UI_DRAW;
}

unsigned rtl_ui_search(struct rtl_ui *ui, int step)
{
    if (ui->view == RTL_VIEW_HELP && ui->help_search[0]) {
        ui->help_find = step > 0 ? RTL_FIND_NEXT : RTL_FIND_BEFORE;
        return RTL_UI_DRAW;
    }
    if (ui->view == RTL_VIEW_HELP || !ui->search[0]) {
        rtl_ui_say(ui, "nothing searched for yet: / asks for a text");
        return RTL_UI_DRAW;
    }
    int at = rtl_model_search(ui->model, ui->search, ui->position + step, step);
    if (at < 0)
        rtl_ui_say(ui, "no kernel name has '%s'", ui->search);
    else
        rtl_ui_select(ui, at);
    return RTL_UI_DRAW;
}

pid_t rtl_ui_process(const struct rtl_ui *ui)
{
    const struct rtl_member *member = rtl_process_at(ui, ui->process_at);
    return member && (ui->replay || !member->ended) ? member->info.pid : 0;
}
