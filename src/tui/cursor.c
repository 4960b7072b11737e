/* The cursor and how it moves. See cursor.h. */
#include "tui/cursor.h"
#include "model/cells.h"
#include "text/text.h"
#include "tui/process_list.h"

#include <limits.h>
#include <stdio.h>

enum { LINES_MAX = 1 << 20 }; /* rtl_ui_scroll_into_view knows the real end */

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

struct rtl_layout rtl_ui_layout(const struct rtl_ui *ui, int rows, int cols)
{
    int widths[RTL_COLUMN_COUNT];
    bool kernels = ui->view == RTL_VIEW_KERNELS;
    struct rtl_family_share families[RTL_FAMILY_COUNT];
    const struct rtl_parts *parts = ui->model->latest ? ui->model->latest->snapshot.parts : NULL;
    rtl_cell_widths(ui->model, ui->units, widths);
    struct rtl_layout_wants wants = {.gpus = (int)ui->model->gpu_count,
                                     .gpu_lines = ui->gpu_lines,
                                     .slowest = parts,
                                     .launch = ui->model->hip_api.launches,
                                     .columns = ui->columns,
                                     .places = ui->column_places,
                                     .widths = widths,
                                     .families = ui->model->families ? 0 : rtl_family_shares(ui->model, families),
                                     .processes = parts ? (int)parts->member_count : 0,
                                     .steps = kernels && (ui->model->steps.known || ui->model->steps.trouble),
                                     .pane = kernels && rtl_ui_selected(ui),
                                     .name_rows = kernels ? rtl_ui_name_rows(ui, cols) : 0};
    return rtl_layout_main(rows, cols, &wants);
}

unsigned rtl_ui_select(struct rtl_ui *ui, int at)
{
    struct rtl_model *m = ui->model;
    if (!m->shown)
        return RTL_UI_DRAW;
    at = rtl_clamp(at, 0, (int)m->shown - 1);
    ui->selected = m->rows[m->order[at]].id;
    ui->position = at;
    ui->following = false;
    ui->gpu_line = 0;
    rtl_model_freeze_order(m);
    return RTL_UI_DRAW;
}

static void move_in_stalls(struct rtl_ui *ui, int by)
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
    ui->stall_at = 0; /* another kernel's list */
}

/* Move over the lines of the GPUs, which lie above the kernels. False: the cursor is on the kernels then. */
static bool move_on_gpus(struct rtl_ui *ui, int by)
{
    int gpus = (int)ui->model->gpu_count, at = rtl_model_position(ui->model, ui->selected);
    if (!ui->gpu_line && (by != -1 || (at > 0 && !ui->following)))
        return false;
    at = ui->gpu_line ? ui->gpu_line + rtl_clamp(by, -gpus, gpus) : gpus;
    bool first = ui->gpu_line && at > gpus; /* down to the first kernel */
    ui->gpu_line = by < -1 || at > gpus ? 0 : at < 1 && gpus ? 1 : at;
    return ui->gpu_line || first;
}

unsigned rtl_ui_move(struct rtl_ui *ui, int by)
{
    const struct rtl_row *row = rtl_ui_selected(ui);
    if (ui->view == RTL_VIEW_KERNELS && move_on_gpus(ui, by))
        return RTL_UI_DRAW;
    if (ui->view == RTL_VIEW_PROCESSES) {
        rtl_process_move(ui, ui->line_at[ui->view] + by);
    } else if (ui->view == RTL_VIEW_DETAIL && row && rtl_ui_has_stalls(ui, row)) {
        move_in_stalls(ui, by);
    } else if (ui->view == RTL_VIEW_KERNELS || ui->view == RTL_VIEW_DETAIL) {
        int at = rtl_model_position(ui->model, ui->selected);
        rtl_ui_select(ui, (at < 0 ? ui->position : at) + rtl_clamp(by, -LINES_MAX, LINES_MAX));
    } else { /* the help, the ranks, the steps and the evidence have no cursor: they scroll */
        bool scrolls = ui->view == RTL_VIEW_HELP || rtl_ui_scrolls(ui);
        int *line = scrolls ? &ui->line_top[ui->view] : &ui->line_at[ui->view];
        *line = rtl_clamp(*line + by, 0, LINES_MAX);
    }
    return RTL_UI_DRAW;
}

unsigned rtl_ui_sort(struct rtl_ui *ui, enum rtl_column column, bool reverse)
{
    rtl_model_sort(ui->model, column, reverse);
    ui->top = 0;
    return RTL_UI_DRAW;
}

unsigned rtl_ui_set_filter(struct rtl_ui *ui, const char *text)
{
    snprintf(ui->model->filter, sizeof ui->model->filter, "%s", text);
    ui->model->frozen_until_ns = 0; /* end the frozen order: new rows go to their ranks, not to the end */
    rtl_model_refresh(ui->model);
    ui->top = 0;
    return RTL_UI_DRAW;
}

unsigned rtl_ui_open_family(struct rtl_ui *ui, const struct rtl_row *row, bool open)
{
    enum rtl_name_family family = rtl_family_of(ui->model, row);
    ui->selected = RTL_KERNELS_MAX + family;
    ui->following = false;
    rtl_model_open(ui->model, family, open);
    ui->position = rtl_model_position(ui->model, ui->selected);
    return RTL_UI_DRAW;
}

unsigned rtl_ui_search_calls(struct rtl_ui *ui, const char *text, int step)
{
    int count, *at = &ui->line_at[ui->view];
    const struct rtl_hip_api_model_row *row = rtl_ui_call_rows(ui, &count);
    if (text != ui->search)
        snprintf(ui->search, sizeof ui->search, "%s", text);
    if (!ui->search[0])
        return rtl_ui_say(ui, "no search yet: / asks for a text");
    int from = *at < count ? *at : 0, by = step < 0 ? -1 : 1;
    for (int i = step != 0; i < count + (step != 0); i++) {
        int n = ((from + by * i) % count + count) % count;
        char name[4 * RTL_HIP_API_TEXT + 8];
        rtl_text_escape(name, sizeof name, row[n].call->name, row[n].call->name_bytes);
        if (rtl_text_contains(name, ui->search)) {
            *at = n;
            return RTL_UI_DRAW;
        }
    }
    return rtl_ui_say(ui, "no %s contains '%s'", ui->view == RTL_VIEW_RANGES ? "range" : "call", ui->search);
}

unsigned rtl_ui_search(struct rtl_ui *ui, int step)
{
    if (rtl_ui_shows_calls(ui))
        return rtl_ui_search_calls(ui, ui->search, step);
    if (ui->view == RTL_VIEW_HELP && ui->help_search[0]) {
        ui->help_find = step > 0 ? RTL_FIND_NEXT : RTL_FIND_BEFORE;
        return RTL_UI_DRAW;
    }
    if (ui->view == RTL_VIEW_HELP || !ui->search[0])
        return rtl_ui_say(ui, "no search yet: / asks for a text");
    int at = rtl_model_search(ui->model, ui->search, ui->position + step, step);
    return at < 0 ? rtl_ui_say(ui, "no kernel name contains '%s'", ui->search) : rtl_ui_select(ui, at);
}

unsigned rtl_ui_order_calls(struct rtl_ui *ui, enum rtl_hip_api_order order, bool reverse)
{
    struct rtl_hip_api_rows *calls = &ui->model->hip_api;
    calls->order = order;
    calls->reverse = reverse;
    rtl_model_refresh(ui->model);
    for (int view = RTL_VIEW_CALLS; view <= RTL_VIEW_RANGES; view++)
        ui->line_at[view] = ui->line_top[view] = 0;
    return rtl_ui_say(ui, "ranked by %s%s", rtl_hip_api_order_text(order), reverse ? ", lowest first" : "");
}
