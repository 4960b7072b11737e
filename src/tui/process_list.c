/* Order of the processes, and places of their columns. See process_list.h. */
#include "tui/process_list.h"
#include "tui/layout.h"

#include <stdio.h>
#include <string.h>

enum { TOP_LEAST = 16, TOP_MOST = 44, NAMED_FROM = 100, COMMAND_LEAST = 7 };

/* Columns of load sort the highest first, other columns the lowest. */
enum { PID, RANK, GPU, BUSY, RATE, WORST, MODE, AGE, CONTAINER };

const struct rtl_table_column rtl_process_columns[RTL_PROCESS_ALL_COLUMNS] = {
    RTL_PROCESS_COLUMNS(RTL_TABLE_COLUMN){RTL_PROCESS_TOP, 0, 0}, {RTL_PROCESS_COMMAND, 0, 0}};

static int order_of(double a, double b)
{
    return (a > b) - (a < b);
}

static int compare(const struct rtl_process_row *a, const struct rtl_process_row *b, int column)
{
    switch (column) {
    case PID:
        return order_of(a->member->info.pid, b->member->info.pid);
    case RANK:
        return a->member->info.rank != b->member->info.rank ? order_of(a->member->info.rank, b->member->info.rank)
                                                            : strverscmp(a->member->info.label, b->member->info.label);
    case GPU: /* by the first GPU; processes without one come last */
        return order_of(a->member->gpus ? __builtin_ctzll(a->member->gpus) : 64,
                        b->member->gpus ? __builtin_ctzll(b->member->gpus) : 64);
    case BUSY:
        return order_of(b->busy, a->busy);
    case RATE:
        return order_of(b->rate, a->rate);
    case WORST:
        return order_of((double)b->worst_p99, (double)a->worst_p99);
    case MODE:
        return order_of(a->member->mode, b->member->mode);
    case AGE:
        return order_of((double)a->member->start_real_ns, (double)b->member->start_real_ns);
    case CONTAINER:
        return strcmp(a->member->info.container, b->member->info.container);
    case RTL_PROCESS_TOP_COLUMN:
        return order_of(a->top ? a->top->id : RTL_MODEL_IDS, b->top ? b->top->id : RTL_MODEL_IDS);
    default:
        return strcmp(a->member->info.title, b->member->info.title);
    }
}

uint32_t rtl_process_list(const struct rtl_ui *ui, struct rtl_process_row *rows)
{
    uint32_t count = rtl_process_rows(ui->model, rows, RTL_MEMBERS_MAX);
    if (!ui->process_sorted)
        return count;
    for (uint32_t i = 1; i < count; i++) { /* stable */
        struct rtl_process_row row = rows[i];
        uint32_t at = i;
        int sign = ui->process_reverse ? -1 : 1;
        for (; at && sign * compare(&rows[at - 1], &row, ui->process_sort) > 0; at--)
            rows[at] = rows[at - 1];
        rows[at] = row;
    }
    return count;
}

const struct rtl_member *rtl_process_at(const struct rtl_ui *ui, int line)
{
    struct rtl_process_row rows[RTL_MEMBERS_MAX];
    uint32_t count = rtl_process_list(ui, rows);
    return line >= 0 && (uint32_t)line < count ? rows[line].member : NULL;
}

pid_t rtl_ui_process(const struct rtl_ui *ui)
{
    const struct rtl_member *member = rtl_process_at(ui, ui->line_at[RTL_VIEW_PROCESSES]);
    return member && (ui->replay || !member->ended) ? member->info.pid : 0;
}

void rtl_process_follow(struct rtl_ui *ui)
{
    if (ui->view != RTL_VIEW_PROCESSES)
        return;
    struct rtl_process_row rows[RTL_MEMBERS_MAX];
    uint32_t count = rtl_process_list(ui, rows);
    for (uint32_t i = 0; ui->process_from && i < count; i++)
        if (rows[i].member->info.pid == ui->process_from) {
            ui->process_from = 0;
            ui->line_at[RTL_VIEW_PROCESSES] = (int)i;
            ui->process_held = false;
        }
    for (uint32_t i = 0; ui->process_held && i < count; i++)
        if (rows[i].member->number == ui->process_selected)
            ui->line_at[RTL_VIEW_PROCESSES] = (int)i;
    ui->process_held = ui->line_at[RTL_VIEW_PROCESSES] >= 0 && (uint32_t)ui->line_at[RTL_VIEW_PROCESSES] < count;
    if (ui->process_held)
        ui->process_selected = rows[ui->line_at[RTL_VIEW_PROCESSES]].member->number;
}

void rtl_process_move(struct rtl_ui *ui, int to)
{
    ui->line_at[RTL_VIEW_PROCESSES] = rtl_clamp(to, 0, 1 << 20); /* rtl_ui_scroll_into_view knows the end */
    ui->process_held = false;
    ui->process_from = 0;
}

unsigned rtl_process_sort(struct rtl_ui *ui, int column)
{
    ui->process_reverse = ui->process_sorted && ui->process_sort == column && !ui->process_reverse;
    ui->process_sorted = true;
    ui->process_sort = column;
    return RTL_UI_DRAW;
}

unsigned rtl_process_sort_step(struct rtl_ui *ui, int step)
{
    int at = ui->process_sorted ? ui->process_sort + step : step > 0 ? 0 : RTL_PROCESS_ALL_COLUMNS - 1;
    ui->process_sort = rtl_clamp(at, 0, RTL_PROCESS_ALL_COLUMNS - 1);
    ui->process_sorted = true;
    ui->process_reverse = false;
    return RTL_UI_DRAW;
}

struct rtl_table_row rtl_process_cells_of(const struct rtl_ui *ui, const struct rtl_process_row *row)
{
    struct rtl_process_cells c;
    struct rtl_table_row out;
    const char *const texts[RTL_PROCESS_COLUMN_COUNT] = {c.pid,   c.label, c.gpu, c.busy,     c.rate,
                                                         c.worst, c.mode,  c.age, c.container};
    rtl_process_cells(ui->model, row, ui->units, ui->model->latest->real_ns, &c);
    for (int i = 0; i < RTL_PROCESS_COLUMN_COUNT; i++)
        snprintf(out.cell[i].text, sizeof out.cell[i].text, "%s", texts[i]);
    return out;
}

struct rtl_table rtl_process_table(const struct rtl_ui *ui, const struct rtl_process_row *rows, uint32_t count,
                                   int cols)
{
    struct rtl_table t = rtl_table_begin(rtl_process_columns, RTL_PROCESS_COLUMN_COUNT);
    for (uint32_t i = 0; i < count; i++)
        rtl_table_widen(&t, rtl_process_cells_of(ui, &rows[i]).cell);
    rtl_table_fit(&t, PID, cols, COMMAND_LEAST + 1);
    int top = (cols - t.end) / 2, command = t.end;
    top = top < TOP_LEAST || cols < NAMED_FROM ? 0 : top < TOP_MOST ? top : TOP_MOST;
    command += top ? top + 1 : 0;
    t.at[RTL_PROCESS_TOP_COLUMN] = t.end;
    t.width[RTL_PROCESS_TOP_COLUMN] = top;
    t.at[RTL_PROCESS_COMMAND_COLUMN] = command;
    t.width[RTL_PROCESS_COMMAND_COLUMN] = cols > command ? cols - command : 0;
    return t;
}
