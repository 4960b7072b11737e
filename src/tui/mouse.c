/* Where the mouse was pressed, and what that means. See mouse.h. */
#include "tui/mouse.h"
#include "model/cells.h"
#include "tui/cursor.h"

enum { WHEEL_LINES = 3 };

static unsigned wheel(struct rtl_ui *ui, uint32_t key)
{
    unsigned asked = 0;
    for (int i = 0; i < WHEEL_LINES; i++)
        asked |= rtl_ui_key(ui, key);
    return asked;
}

/* The column whose head is there: each reaches to the next one. */
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
    struct rtl_model *m = ui->model;
    int column = column_at(l, col);
    if (column < 0)
        return 0;
    if (rtl_columns[column].order == RTL_ORDER_NO) {
        rtl_ui_say(ui, "%s is nothing to sort by", rtl_columns[column].header);
        return RTL_UI_DRAW;
    }
    rtl_model_sort(m, (enum rtl_column)column, m->sort == (enum rtl_column)column && !m->reverse);
    ui->top = 0;
    return RTL_UI_DRAW;
}

static unsigned click_row(struct rtl_ui *ui, int at)
{
    const struct rtl_row *selected = rtl_ui_selected(ui);
    if (at >= (int)ui->model->shown)
        return 0;
    if (selected && selected == &ui->model->rows[ui->model->order[at]])
        return rtl_ui_key(ui, RTL_KEY_ENTER);
    rtl_ui_select(ui, at);
    return RTL_UI_DRAW;
}

static bool inside(const struct rtl_rect *r, int row, int col)
{
    return row >= r->row && row < r->row + r->rows && col >= r->col && col < r->col + r->cols;
}

unsigned rtl_ui_mouse(struct rtl_ui *ui, uint32_t event, int rows, int cols)
{
    int widths[RTL_COLUMN_COUNT];
    int row = RTL_MOUSE_ROW(event), col = RTL_MOUSE_COL(event);
    switch (RTL_MOUSE_KIND(event)) {
    case RTL_MOUSE_UP:
        return wheel(ui, RTL_KEY_UP);
    case RTL_MOUSE_DOWN:
        return wheel(ui, RTL_KEY_DOWN);
    default:
        break;
    }
    if (ui->prompt != RTL_PROMPT_NONE || ui->view != RTL_VIEW_KERNELS)
        return 0;
    struct rtl_layout_wants wants = rtl_ui_wants(ui, cols);
    rtl_cell_widths(ui->model, ui->units, widths);
    wants.widths = widths;
    struct rtl_layout l = rtl_layout_main(rows, cols, &wants);
    if (l.kind != RTL_LAYOUT_FULL)
        return 0;
    if (inside(&l.head, row, col))
        return click_head(ui, &l, col);
    if (inside(&l.table, row, col))
        return click_row(ui, ui->top + row - l.table.row);
    return 0;
}
