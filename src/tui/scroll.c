/* The visible part of lists; the views know how long the lists are. See ui_state.h. */
#include "tui/ui_state.h"
#include "text/text.h"
#include "tui/draw_views.h"
#include "tui/process_list.h"

/* Search the help here, where the width and so its lines are known. */
static void find_in_help(struct rtl_ui *ui, int cols)
{
    int find = ui->help_find, step = find == RTL_FIND_BEFORE ? -1 : 1;
    ui->help_find = RTL_FIND_NOTHING;
    if (find == RTL_FIND_NOTHING || !ui->help_search[0])
        return;
    int from = find == RTL_FIND_HERE ? ui->help_from
                                     : (ui->help_line < 0 ? ui->line_top[RTL_VIEW_HELP] : ui->help_line) + step;
    int at = rtl_draw_help_find(ui, cols, from, step);
    if (at < 0) /* wrap around */
        at = rtl_draw_help_find(ui, cols, step > 0 ? 0 : 1 << 20, step);
    if (at < 0) {
        rtl_ui_say(ui, "the help doesn't contain '%s'", ui->help_search);
        return;
    }
    ui->help_line = at;
    if (at < ui->line_top[RTL_VIEW_HELP] || at >= ui->line_top[RTL_VIEW_HELP] + ui->page)
        ui->line_top[RTL_VIEW_HELP] = at - ui->page / 4;
}

/* Limit the scrolling of names to the longest name in sight. */
static void fit_names(struct rtl_ui *ui, bool ascii)
{
    const struct rtl_model *m = ui->model;
    enum { LEAST = 8 }; /* columns of it that stay */
    int longest = 0;
    for (int i = ui->top; ui->name_left && i < ui->top + ui->page && i < (int)m->shown; i++) {
        const char *name = rtl_model_name(m, &m->rows[m->order[i]], ui->names, RTL_NAMES_WHOLE, ascii);
        int columns = rtl_text_columns(name);
        longest = columns > longest ? columns : longest;
    }
    ui->name_left = rtl_clamp(ui->name_left, 0, longest > LEAST ? longest - LEAST : 0);
}

/* Keep the cursor on an existing line, and in sight. */
static void fit_lines(int *at, int *top, int lines, int page)
{
    *at = rtl_clamp(*at, 0, lines > 0 ? lines - 1 : 0);
    *top = rtl_clamp(*top, *at - page + 1, *at);
    *top = rtl_clamp(*top, 0, rtl_clamp(lines - page, 0, lines));
}

void rtl_ui_scroll_into_view(struct rtl_ui *ui, int rows, int cols)
{
    struct rtl_model *m = ui->model;
    int shown = (int)m->shown;
    struct rtl_layout l = rtl_ui_layout(ui, rows, cols);
    ui->page = l.table.rows > 0 ? l.table.rows : 1;
    ui->columns_shown = 0;
    for (int i = 0; i < RTL_COLUMN_COUNT; i++)
        ui->columns_shown |= l.column_at[i] >= 0 && l.column_width[i] ? 1u << i : 0;
    if (ui->view == RTL_VIEW_HELP) {
        ui->page = (rows > 2 ? rows - 2 : 1) * (ui->manual ? rtl_draw_help_columns(cols) : 1);
        find_in_help(ui, cols);
        int last = (ui->manual ? rtl_draw_help_lines(ui, cols) : rtl_draw_card_lines(ui, cols)) - ui->page;
        ui->line_top[RTL_VIEW_HELP] = rtl_clamp(ui->line_top[RTL_VIEW_HELP], 0, rtl_clamp(last, 0, 1 << 20));
        return;
    }
    rtl_process_follow(ui);
    int lines = rtl_draw_lines(ui), *top = &ui->line_top[ui->view];
    ui->gpu_line = l.gpus.rows ? rtl_clamp(ui->gpu_line, 0, l.gpu_shown) : 0;
    if (rtl_ui_scrolls(ui)) /* one line of the page shows the name, the sum or the verdict */
        *top = rtl_clamp(*top, 0, rtl_clamp(lines - ui->page + 1, 0, lines));
    else
        fit_lines(&ui->line_at[ui->view], top, lines, ui->page);
    int at = ui->following ? 0 : rtl_model_position(m, ui->selected);
    rtl_ui_follow_stall(ui);
    if (ui->view == RTL_VIEW_DETAIL)
        return; /* the detail keeps a kernel that the filter hides */
    if (at < 0) /* the kernel is no longer listed: keep the position */
        at = ui->position;
    fit_lines(&at, &ui->top, shown, ui->page);
    if (shown)
        ui->selected = m->rows[m->order[at]].id;
    ui->position = at;
    fit_names(ui, ui->ascii);
}
