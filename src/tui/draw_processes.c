/* The processes, and one kernel in each process. */
#include "watch/proc_scan.h"
#include "tui/draw_views.h"
#include "tui/process_list.h"

#include <stdio.h>

enum {
#define ONE(...) +1
    RANK_COLUMNS = 0 RTL_RANK_COLUMNS(ONE),
#undef ONE
    AGAINST = RANK_COLUMNS - 1 /* the last column to go */
};

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

static void put_process(struct rtl_frame *frame, int line, const struct rtl_process_places *p, enum rtl_role role,
                        const struct rtl_process_cells *c)
{
    const char *texts[RTL_PROCESS_COLUMN_COUNT];
    rtl_process_texts(c, texts);
    for (int i = 0; i < RTL_PROCESS_COLUMN_COUNT; i++)
        if (p->width[i])
            rtl_frame_right(frame, line, p->at[i], p->width[i], role, texts[i]);
}

static void draw_process(const struct rtl_ui *ui, struct rtl_frame *frame, int line, const struct rtl_process_places *p,
                         const struct rtl_process_row *row)
{
    struct rtl_process_cells c;
    enum rtl_role role = row->member->ended || row->rate <= 0 ? RTL_ROLE_DIM : RTL_ROLE_NORMAL;
    rtl_process_cells(ui->model, row, ui->units, ui->model->latest->real_ns, &c);
    put_process(frame, line, p, role, &c);
    int top = p->width[RTL_PROCESS_TOP_COLUMN], command = p->width[RTL_PROCESS_COMMAND_COLUMN];
    if (top && row->top)
        rtl_frame_put(frame, line, p->at[RTL_PROCESS_TOP_COLUMN], top, role,
                      rtl_model_name(ui->model, row->top, RTL_NAME_SHORT, top, ui->ascii));
    rtl_frame_put(frame, line, p->at[RTL_PROCESS_COMMAND_COLUMN], command, role, row->member->info.title);
}

static void draw_untraced(struct rtl_frame *frame, int line, int cols, const struct rtl_process_places *p,
                          const struct rtl_member_info *info)
{
    struct rtl_process_cells c = {"", "", "", "", "", "", "", "", ""};
    snprintf(c.pid, sizeof c.pid, "%d", (int)info->pid);
    snprintf(c.label, sizeof c.label, "%s", info->label);
    put_process(frame, line, p, RTL_ROLE_WARN, &c);
    rtl_frame_printf(frame, line, 16, cols - 16, RTL_ROLE_WARN, "not traced: %s", info->title);
}

static void draw_head(const struct rtl_ui *ui, struct rtl_frame *frame, int line, int cols,
                      const struct rtl_process_places *p)
{
    rtl_frame_fill(frame, line, 0, cols, RTL_ROLE_HEADER, ' ');
    for (int i = 0; i < RTL_PROCESS_ALL_COLUMNS; i++) {
        enum rtl_role role = ui->process_sorted && ui->process_sort == i ? RTL_ROLE_HEADER_SORT : RTL_ROLE_HEADER;
        if (!p->width[i])
            continue;
        if (i < RTL_PROCESS_COLUMN_COUNT)
            rtl_frame_right(frame, line, p->at[i], p->width[i], role, rtl_process_header(i));
        else
            rtl_frame_put(frame, line, p->at[i], p->width[i], role, rtl_process_header(i));
    }
}

void rtl_draw_processes(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *l)
{
    struct rtl_process_row rows[RTL_MEMBERS_MAX];
    int count = (int)rtl_process_list(ui, rows), lines = rtl_draw_process_lines(ui);
    int cols = l->table.cols;
    struct rtl_process_places p = rtl_process_places(ui, rows, (uint32_t)count, cols);
    draw_head(ui, frame, l->head.row, cols, &p);
    for (int i = 0; i < l->table.rows && ui->line_top[RTL_VIEW_PROCESSES] + i < lines; i++) {
        int n = ui->line_top[RTL_VIEW_PROCESSES] + i, line = l->table.row + i;
        if (n < count)
            draw_process(ui, frame, line, &p, &rows[n]);
        else if (ui->untraced && n - count < (int)ui->untraced->count)
            draw_untraced(frame, line, cols, &p, &ui->untraced->list[n - count]);
        if (n == ui->line_at[RTL_VIEW_PROCESSES])
            rtl_draw_cursor(frame, line, cols);
    }
}

/* --- one kernel in each process --- */

struct rank_line {
    struct rtl_number cells[RANK_COLUMNS];
    enum rtl_role role;
    bool off; /* this process stands out */
};

static struct rank_line make_rank_line(const struct rtl_ui *ui, const struct rtl_rank *r,
                                       const struct rtl_slowest *slowest)
{
    const struct rtl_process_row process = {.member = r->member, .busy = -1};
    struct rtl_process_cells c;
    struct rank_line line;
    int i = 0;
    bool stands_out = slowest->rank.member == r->member, arrives_last = slowest->collective && r->against < 1 / 1.05;
    rtl_process_cells(ui->model, &process, ui->units, 0, &c);
    snprintf(line.cells[i++].text, sizeof line.cells[0].text, "%s", c.pid);
    snprintf(line.cells[i++].text, sizeof line.cells[0].text, "%s", c.label);
    snprintf(line.cells[i++].text, sizeof line.cells[0].text, "%s", c.gpu);
    line.cells[i++] = rtl_format_count(r->window_calls);
    line.cells[i++] = rtl_draw_time(ui, r->window_timed, r->window_timed ? r->window_total_ns / r->window_timed : 0);
    line.cells[i++] = rtl_draw_time(ui, r->has_quantiles, r->p50);
    line.cells[i++] = rtl_draw_time(ui, r->has_quantiles, r->p99);
    line.cells[i] = (struct rtl_number){RTL_NONE};
    if (r->against > 0)
        snprintf(line.cells[i].text, sizeof line.cells[0].text, "%.2fx%s", r->against < 9999 ? r->against : 9999,
                 stands_out && arrives_last ? " last" : "");
    line.off = stands_out && (slowest->collective ? arrives_last : r->against > 1.05);
    line.role = line.off ? RTL_ROLE_WARN : r->window_calls ? RTL_ROLE_NORMAL : RTL_ROLE_DIM;
    return line;
}

void rtl_draw_ranks(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *l)
{
#define HEADER(header, width, from, meaning) header,
#define WIDTH(header, width, from, meaning)  width,
#define FROM(header, width, from, meaning)   from,
    static const char *const headers[] = {RTL_RANK_COLUMNS(HEADER)};
    static const int from[] = {RTL_RANK_COLUMNS(FROM)};
    int width[] = {RTL_RANK_COLUMNS(WIDTH)}, at[RANK_COLUMNS];
#undef HEADER
#undef WIDTH
#undef FROM
    struct rtl_rank ranks[RTL_MEMBERS_MAX];
    struct rtl_slowest slowest = {.compared = 0};
    const struct rtl_row *row = rtl_model_row(ui->model, ui->selected);
    int count = row ? (int)rtl_ranks(ui->model, row, true, ranks, RTL_MEMBERS_MAX) : 0;
    if (row)
        rtl_slowest(ui->model, row, &slowest);
    for (int n = 0; n < count; n++)
        rtl_draw_widen(width, RANK_COLUMNS, make_rank_line(ui, &ranks[n], &slowest).cells);
    rtl_columns_fit(width, from, RANK_COLUMNS, AGAINST, 2, l->table.cols, 0, at);
    rtl_frame_fill(frame, l->head.row, 0, l->head.cols, RTL_ROLE_HEADER, ' ');
    for (int i = 0; i < RANK_COLUMNS; i++)
        if (width[i])
            rtl_frame_right(frame, l->head.row, at[i], width[i], RTL_ROLE_HEADER, headers[i]);
    if (!row || !l->table.rows)
        return;
    rtl_draw_name_cell(ui, frame, l->table.row, 1, l->table.cols - 1, RTL_ROLE_NORMAL, row);
    for (int n = 1; n < l->table.rows && ui->line_top[RTL_VIEW_RANKS] + n - 1 < count; n++) {
        struct rank_line line = make_rank_line(ui, &ranks[ui->line_top[RTL_VIEW_RANKS] + n - 1], &slowest);
        for (int i = 0; i < RANK_COLUMNS; i++)
            if (width[i])
                rtl_frame_right(frame, l->table.row + n, at[i], width[i], line.role, line.cells[i].text);
        if (line.off)
            rtl_frame_put(frame, l->table.row + n, 0, 1, RTL_ROLE_WARN, "!");
    }
}
