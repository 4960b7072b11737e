/* Order of the processes, and places of their columns. See process_list.h. */
#include "tui/process_list.h"
#include "model/cells.h"
#include "text/text.h"
#include "tui/layout.h"

#include <string.h>

enum { TOP_LEAST = 16, TOP_MOST = 44, NAMED_FROM = 100, COMMAND_LEAST = 7 };

/* Columns of load sort the highest first, other columns the lowest. */
enum { PID, RANK, GPU, BUSY, RATE, WORST, MODE, AGE, CONTAINER };

const char *rtl_process_header(int column)
{
#define HEADER(header, width, from, meaning) header,
    static const char *const headers[] = {RTL_PROCESS_COLUMNS(HEADER) RTL_PROCESS_TOP, RTL_PROCESS_COMMAND};
#undef HEADER
    return headers[column];
}

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
    ui->line_at[RTL_VIEW_PROCESSES] = to < 0         ? 0
                                      : to < 1 << 20 ? to
                                                     : 1 << 20; /* rtl_ui_scroll_into_view knows the end */
    ui->process_held = false;
    ui->process_from = 0;
}

void rtl_process_sort(struct rtl_ui *ui, int column)
{
    ui->process_reverse = ui->process_sorted && ui->process_sort == column && !ui->process_reverse;
    ui->process_sorted = true;
    ui->process_sort = column;
}

void rtl_process_sort_step(struct rtl_ui *ui, int step)
{
    int at = ui->process_sorted ? ui->process_sort + step : step > 0 ? 0 : RTL_PROCESS_ALL_COLUMNS - 1;
    ui->process_sort = at < 0 ? 0 : at < RTL_PROCESS_ALL_COLUMNS ? at : RTL_PROCESS_ALL_COLUMNS - 1;
    ui->process_sorted = true;
    ui->process_reverse = false;
}

struct rtl_process_places rtl_process_places(const struct rtl_ui *ui, const struct rtl_process_row *rows,
                                             uint32_t count, int cols)
{
#define WIDTH(header, width, from, meaning) width,
#define FROM(header, width, from, meaning)  from,
    static const int widths[] = {RTL_PROCESS_COLUMNS(WIDTH)}, from[] = {RTL_PROCESS_COLUMNS(FROM)};
#undef WIDTH
#undef FROM
    struct rtl_process_places p;
    memcpy(p.width, widths, sizeof widths);
    for (uint32_t i = 0; i < count; i++) { /* a chosen unit or many GPUs need wider columns */
        struct rtl_process_cells cells;
        const char *texts[RTL_PROCESS_COLUMN_COUNT];
        rtl_process_cells(ui->model, &rows[i], ui->units, ui->model->latest->real_ns, &cells);
        rtl_process_texts(&cells, texts);
        for (int c = 0; c < RTL_PROCESS_COLUMN_COUNT; c++)
            p.width[c] = rtl_cell_width(p.width[c], rtl_text_columns(texts[c]));
    }
    int end = rtl_columns_fit(p.width, from, RTL_PROCESS_COLUMN_COUNT, PID, 2, cols, COMMAND_LEAST + 1, p.at);
    int top = (cols - end) / 2;
    top = top < TOP_LEAST || cols < NAMED_FROM ? 0 : top < TOP_MOST ? top : TOP_MOST;
    p.at[RTL_PROCESS_TOP_COLUMN] = end;
    p.width[RTL_PROCESS_TOP_COLUMN] = top;
    p.at[RTL_PROCESS_COMMAND_COLUMN] = end += top ? top + 1 : 0;
    p.width[RTL_PROCESS_COMMAND_COLUMN] = cols > end ? cols - end : 0;
    return p;
}

void rtl_process_texts(const struct rtl_process_cells *c, const char *texts[RTL_PROCESS_COLUMN_COUNT])
{
    const char *const all[RTL_PROCESS_COLUMN_COUNT] = {c->pid,   c->label, c->gpu, c->busy,     c->rate,
                                                       c->worst, c->mode,  c->age, c->container};
    memcpy(texts, all, sizeof all);
}
