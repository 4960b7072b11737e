/* The processes, and one kernel in each process. */
#include "watch/proc_scan.h"
#include "tui/draw_views.h"
#include "tui/process_list.h"

#include <stdio.h>

static const struct rtl_table_column rank_columns[] = {RTL_RANK_COLUMNS(RTL_TABLE_COLUMN)};
enum { RANK_COLUMNS = sizeof rank_columns / sizeof *rank_columns, AGAINST = RANK_COLUMNS - 1 /* the last to go */ };

int rtl_draw_rank_lines(const struct rtl_ui *ui)
{
    const struct rtl_sample *latest = ui->model->latest;
    return latest && latest->snapshot.parts ? (int)latest->snapshot.parts->member_count : 0;
}

int rtl_draw_process_lines(const struct rtl_ui *ui)
{
    return rtl_draw_rank_lines(ui) + (ui->untraced ? (int)ui->untraced->count : 0);
}

/* --- processes --- */

static void draw_process(const struct rtl_ui *ui, struct rtl_frame *frame, int line, const struct rtl_table *t,
                         const struct rtl_process_row *row)
{
    enum rtl_role role = row->member->ended || row->rate <= 0 ? RTL_ROLE_DIM : RTL_ROLE_NORMAL;
    int top = t->width[RTL_PROCESS_TOP_COLUMN], command = t->width[RTL_PROCESS_COMMAND_COLUMN];
    rtl_table_draw(t, frame, line, role, rtl_process_cells_of(ui, row).cell);
    if (top && row->top)
        rtl_frame_put(frame, line, t->at[RTL_PROCESS_TOP_COLUMN], top, role,
                      rtl_model_name(ui->model, row->top, RTL_NAME_SHORT, top, ui->ascii));
    rtl_frame_put(frame, line, t->at[RTL_PROCESS_COMMAND_COLUMN], command, role, row->member->info.title);
}

static void draw_untraced(struct rtl_frame *frame, int line, int cols, const struct rtl_table *t,
                          const struct rtl_member_info *info)
{
    char pid[12];
    snprintf(pid, sizeof pid, "%d", (int)info->pid);
    rtl_table_cell(t, frame, line, RTL_ROLE_LABEL, 0, pid);
    rtl_table_cell(t, frame, line, RTL_ROLE_LABEL, 1, info->label);
    rtl_frame_printf(frame, line, 16, cols - 16, RTL_ROLE_LABEL, "not traced: %s", info->title);
}

static void draw_head(const struct rtl_ui *ui, struct rtl_frame *frame, int line, const struct rtl_table *t)
{
    int sorted = ui->process_sorted ? ui->process_sort : -1;
    rtl_table_head(t, frame, line, sorted);
    for (int i = RTL_PROCESS_COLUMN_COUNT; i < RTL_PROCESS_ALL_COLUMNS; i++)
        rtl_frame_put(frame, line, t->at[i], t->width[i], i == sorted ? RTL_ROLE_HEADER_SORT : RTL_ROLE_HEADER,
                      rtl_process_columns[i].header);
}

void rtl_draw_processes(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *l)
{
    struct rtl_process_row rows[RTL_MEMBERS_MAX];
    int count = (int)rtl_process_list(ui, rows), lines = rtl_draw_process_lines(ui);
    int cols = l->table.cols;
    struct rtl_table t = rtl_process_table(ui, rows, (uint32_t)count, cols);
    draw_head(ui, frame, l->head.row, &t);
    for (int i = 0; i < l->table.rows && ui->line_top[RTL_VIEW_PROCESSES] + i < lines; i++) {
        int n = ui->line_top[RTL_VIEW_PROCESSES] + i, line = l->table.row + i;
        if (n < count)
            draw_process(ui, frame, line, &t, &rows[n]);
        else if (ui->untraced && n - count < (int)ui->untraced->count)
            draw_untraced(frame, line, cols, &t, &ui->untraced->list[n - count]);
        if (n == ui->line_at[RTL_VIEW_PROCESSES])
            rtl_draw_cursor(frame, line, cols);
    }
}

/* --- one kernel in each process --- */

struct rank_line {
    struct rtl_table_row cells;
    enum rtl_role role;
    bool off; /* this process is slow enough to act on (themes.h) */
};

static struct rank_line make_rank_line(const struct rtl_ui *ui, const struct rtl_rank *r,
                                       const struct rtl_slowest *slowest)
{
    const struct rtl_process_row process = {.member = r->member, .busy = -1};
    struct rank_line line = {.cells = rtl_process_cells_of(ui, &process)}; /* PID, RANK and GPU come first in both */
    struct rtl_number *cell = &line.cells.cell[3];
    bool stands_out = slowest->rank.member == r->member, arrives_last = slowest->collective && r->against < 1 / 1.05;
    *cell++ = rtl_format_count(r->window_calls);
    *cell++ = rtl_draw_time(ui, r->window_timed, r->window_timed ? r->window_total_ns / r->window_timed : 0);
    *cell++ = rtl_draw_time(ui, r->has_quantiles, r->p50);
    *cell++ = rtl_draw_time(ui, r->has_quantiles, r->p99);
    *cell = (struct rtl_number){RTL_NONE};
    if (r->against > 0)
        snprintf(cell->text, sizeof cell->text, "%.2fx%s", r->against < 9999 ? r->against : 9999,
                 stands_out && arrives_last ? " last" : "");
    line.off = rtl_rank_stands_out(slowest, r);
    line.role = line.off ? RTL_ROLE_WARN : r->window_calls ? RTL_ROLE_NORMAL : RTL_ROLE_DIM;
    return line;
}

void rtl_draw_ranks(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *l)
{
    struct rtl_table table = rtl_table_begin(rank_columns, RANK_COLUMNS);
    struct rtl_rank ranks[RTL_MEMBERS_MAX];
    struct rtl_slowest slowest = {.compared = 0};
    const struct rtl_row *row = rtl_model_row(ui->model, ui->selected);
    int count = row ? (int)rtl_ranks(ui->model, row, true, ranks, RTL_MEMBERS_MAX) : 0;
    if (row)
        rtl_slowest(ui->model, row, &slowest);
    for (int n = 0; n < count; n++)
        rtl_table_widen(&table, make_rank_line(ui, &ranks[n], &slowest).cells.cell);
    rtl_table_fit(&table, AGAINST, l->table.cols, 0);
    rtl_table_head(&table, frame, l->head.row, -1);
    if (!row || !l->table.rows)
        return;
    rtl_draw_name_cell(ui, frame, l->table.row, 1, l->table.cols - 1, RTL_ROLE_NORMAL, row);
    for (int n = 1; n < l->table.rows && ui->line_top[RTL_VIEW_RANKS] + n - 1 < count; n++) {
        struct rank_line line = make_rank_line(ui, &ranks[ui->line_top[RTL_VIEW_RANKS] + n - 1], &slowest);
        rtl_table_draw(&table, frame, l->table.row + n, line.role, line.cells.cell);
        if (line.off)
            rtl_frame_put(frame, l->table.row + n, 0, 1, RTL_ROLE_WARN, "!");
    }
}
