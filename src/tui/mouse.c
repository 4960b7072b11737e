/* Events of the mouse, located in the layout that was drawn. See ui_state.h. */
#include "tui/ui_state.h"
#include "tui/cursor.h"
#include "tui/draw_views.h"
#include "tui/process_list.h"

enum { WHEEL_LINES = 3, DETAIL_BAR_FROM = 10 /* rows from which on the detail has a key bar (layout.c) */ };

static unsigned turn_wheel(struct rtl_ui *ui, uint32_t key)
{
    unsigned asked = 0;
    for (int i = 0; i < WHEEL_LINES; i++)
        asked |= rtl_ui_key(ui, key);
    return asked;
}

/* Return the column under the mouse; a header extends to the next one. */
static int column_at(const struct rtl_layout *l, int col)
{
    int best = -1;
    for (int i = 0; i < RTL_COLUMN_COUNT; i++)
        if (l->column_at[i] >= 0 && l->column_at[i] <= col && (best < 0 || l->column_at[i] > l->column_at[best]))
            best = i;
    return best;
}

static unsigned click_head(struct rtl_ui *ui, const struct rtl_layout *l, int col)
{
    const struct rtl_model *m = ui->model;
    int column = column_at(l, col);
    if (column < 0)
        return 0;
    if (rtl_columns[column].order == RTL_ORDER_NO)
        return rtl_ui_say(ui, "can't sort by %s", rtl_columns[column].header);
    return rtl_ui_sort(ui, (enum rtl_column)column, m->sort == (enum rtl_column)column && !m->reverse);
}

static unsigned click_row(struct rtl_ui *ui, int at)
{
    const struct rtl_row *selected = rtl_ui_selected(ui);
    if (at >= (int)ui->model->shown)
        return 0;
    if (selected && selected == &ui->model->rows[ui->model->order[at]])
        return rtl_ui_key(ui, RTL_KEY_ENTER);
    return rtl_ui_select(ui, at);
}

static unsigned click_process_head(struct rtl_ui *ui, int cols, int col)
{
    struct rtl_process_row rows[RTL_MEMBERS_MAX];
    struct rtl_table t = rtl_process_table(ui, rows, rtl_process_list(ui, rows), cols);
    for (int i = 0; i < RTL_PROCESS_ALL_COLUMNS; i++)
        if (t.width[i] && col < t.at[i] + t.width[i] + 1)
            return rtl_process_sort(ui, i);
    return 0;
}

/* Move the cursor; a second click on a process or range enters it. */
static unsigned click_line(struct rtl_ui *ui, int at)
{
    if (at >= rtl_draw_lines(ui))
        return 0;
    if ((ui->view == RTL_VIEW_RANGES || ui->view == RTL_VIEW_PROCESSES) && at == ui->line_at[ui->view])
        return rtl_ui_key(ui, RTL_KEY_ENTER);
    if (ui->view == RTL_VIEW_PROCESSES)
        rtl_process_move(ui, at);
    else
        ui->line_at[ui->view] = at;
    return RTL_UI_DRAW;
}

/* A second click on a GPU's line opens its evidence. */
static unsigned click_gpu(struct rtl_ui *ui, const struct rtl_layout *l, int row, int col)
{
    int at = row - l->gpus.row + (l->gpu_width ? col / l->gpu_width : 0) * l->gpus.rows;
    if (at < 0 || at >= l->gpu_shown)
        return 0;
    if (ui->gpu_line == at + 1 || ui->view != RTL_VIEW_KERNELS)
        return rtl_ui_show_gpu(ui, at);
    ui->gpu_line = at + 1;
    return RTL_UI_DRAW;
}

static bool is_inside(const struct rtl_rect *r, int row, int col)
{
    return row >= r->row && row < r->row + r->rows && col >= r->col && col < r->col + r->cols;
}

/* Press the key of the key bar under the mouse. */
static unsigned click_key(struct rtl_ui *ui, int cols, int col)
{
    struct rtl_key_button buttons[RTL_KEY_BUTTONS_MAX];
    int count = rtl_key_bar(ui, cols, buttons);
    for (int i = 0; i < count; i++)
        if (col >= buttons[i].col && col < buttons[i].col + buttons[i].cols)
            return rtl_ui_key(ui, buttons[i].key);
    return 0;
}

unsigned rtl_ui_mouse(struct rtl_ui *ui, uint32_t event, int rows, int cols)
{
    int row = RTL_MOUSE_ROW(event), col = RTL_MOUSE_COL(event);
    if (RTL_MOUSE_KIND(event) != RTL_MOUSE_CLICK)
        return turn_wheel(ui, RTL_MOUSE_KIND(event) == RTL_MOUSE_UP ? RTL_KEY_UP : RTL_KEY_DOWN);
    if (ui->prompt != RTL_PROMPT_NONE || ui->view == RTL_VIEW_HELP)
        return 0;
    struct rtl_layout l = rtl_ui_layout(ui, rows, cols);
    bool bar = ui->view == RTL_VIEW_DETAIL ? rows >= DETAIL_BAR_FROM : is_inside(&l.keys, row, col);
    if (bar && l.kind == RTL_LAYOUT_FULL && row == rows - 1)
        return click_key(ui, cols, col);
    if (l.kind != RTL_LAYOUT_FULL || ui->view == RTL_VIEW_DETAIL)
        return 0;
    int at = row - l.table.row;
    bool head = is_inside(&l.head, row, col);
    if (is_inside(&l.gpus, row, col))
        return click_gpu(ui, &l, row, col);
    if (!head && !is_inside(&l.table, row, col))
        return 0;
    if (ui->view == RTL_VIEW_KERNELS)
        return head ? click_head(ui, &l, col) : click_row(ui, ui->top + at);
    if (head && ui->view == RTL_VIEW_PROCESSES)
        return click_process_head(ui, cols, col);
    return head || rtl_ui_scrolls(ui) ? 0 : click_line(ui, at + ui->line_top[ui->view]);
}
