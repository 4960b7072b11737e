/* The processes that are watched, and a kernel in each of them. See draw.h. */
#include "model/process_cells.h"
#include "session/processes.h"
#include "text/text.h"
#include "tui/draw.h"
#include "tui/tables.h"

#include <stdio.h>
#include <string.h>

enum { TOP_LEAST = 16, TOP_MOST = 44, NAMED_FROM = 100 };

static uint32_t members(const struct rtl_ui *ui)
{
    const struct rtl_sample *latest = ui->model->latest;
    return latest && latest->snapshot.parts ? latest->snapshot.parts->member_count : 0;
}

int rtl_draw_process_lines(const struct rtl_ui *ui)
{
    return (int)members(ui) + (ui->untraced ? (int)ui->untraced->count : 0);
}

/* --- processes --- */

/* Puts the columns that have room; returns where the text behind them begins. */
static int put_process(struct rtl_frame *frame, int line, int cols, enum rtl_role role,
                       const struct rtl_process_cells *c)
{
    const char *texts[] = {c->pid, c->label, c->gpu, c->busy, c->rate, c->worst, c->mode, c->age, c->container};
    int at = 2, i = 0;
#define CELL(header, width, from, meaning)                       \
    if (cols >= (from)) {                                        \
        rtl_frame_right(frame, line, at, width, role, texts[i]); \
        at += (width) + 1;                                       \
    }                                                            \
    i++;
    RTL_PROCESS_COLUMNS(CELL)
#undef CELL
    return at;
}

static int top_width(int at, int cols)
{
    int width = (cols - at) / 2;
    return width < TOP_LEAST || cols < NAMED_FROM ? 0 : width < TOP_MOST ? width : TOP_MOST;
}

static void draw_process(const struct rtl_ui *ui, struct rtl_frame *frame, int line, int cols,
                         const struct rtl_process_row *p)
{
    struct rtl_process_cells c;
    enum rtl_role role = p->member->ended || p->rate <= 0 ? RTL_ROLE_DIM : RTL_ROLE_NORMAL;
    rtl_process_cells(ui->model, p, ui->units, ui->model->latest->real_ns, &c);
    if (ui->ascii)
        rtl_units_ascii(c.worst);
    int at = put_process(frame, line, cols, role, &c), top = top_width(at, cols);
    if (top && p->top) {
        const char *name = rtl_model_name(ui->model, p->top, RTL_NAME_SHORT, RTL_NAMES_WHOLE, ui->ascii);
        rtl_frame_put(frame, line, at, top, role, name);
    }
    at += top ? top + 1 : 0;
    if (at < cols)
        rtl_frame_put(frame, line, at, cols - at, role, p->member->info.title);
}

static void draw_untraced(struct rtl_frame *frame, int line, int cols, const struct rtl_member_info *info)
{
    struct rtl_process_cells c = {"", "", "", "", "", "", "", "", ""};
    snprintf(c.pid, sizeof c.pid, "%d", (int)info->pid);
    snprintf(c.label, sizeof c.label, "%s", info->label);
    put_process(frame, line, cols, RTL_ROLE_WARN, &c);
    rtl_frame_printf(frame, line, 16, cols - 16, RTL_ROLE_WARN, "not traced: %s", info->title);
}

void rtl_draw_processes(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *l)
{
#define HEADER(header, width, from, meaning) header,
    static const char *const headers[] = {RTL_PROCESS_COLUMNS(HEADER)};
#undef HEADER
    struct rtl_process_row rows[RTL_MEMBERS_MAX];
    int count = (int)rtl_process_rows(ui->model, rows, RTL_MEMBERS_MAX), lines = rtl_draw_process_lines(ui);
    int cols = l->table.cols;
    struct rtl_process_cells head = {"", "", "", "", "", "", "", "", ""};
    char *cells[] = {head.pid,   head.label, head.gpu, head.busy,     head.rate,
                     head.worst, head.mode,  head.age, head.container};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        snprintf(cells[i], 10, "%s", headers[i]);
    rtl_frame_fill(frame, l->head.row, 0, l->head.cols, RTL_ROLE_HEADER, ' ');
    int at = put_process(frame, l->head.row, cols, RTL_ROLE_HEADER, &head), top = top_width(at, cols);
    if (top)
        rtl_frame_put(frame, l->head.row, at, top, RTL_ROLE_HEADER, RTL_PROCESS_TOP);
    at += top ? top + 1 : 0;
    if (at < cols)
        rtl_frame_put(frame, l->head.row, at, cols - at, RTL_ROLE_HEADER, RTL_PROCESS_COMMAND);
    for (int i = 0; i < l->table.rows && ui->process_top + i < lines; i++) {
        int n = ui->process_top + i, line = l->table.row + i;
        if (n < count)
            draw_process(ui, frame, line, cols, &rows[n]);
        else if (ui->untraced && n - count < (int)ui->untraced->count)
            draw_untraced(frame, line, cols, &ui->untraced->list[n - count]);
        if (n == ui->process_at) {
            rtl_frame_put(frame, line, 0, 1, RTL_ROLE_SELECTED, ">");
            rtl_frame_paint(frame, line, 0, cols, RTL_ROLE_SELECTED);
            frame->cursor_row = line;
            frame->cursor_col = 0;
        }
    }
}

/* --- one kernel in each --- */

int rtl_draw_rank_lines(const struct rtl_ui *ui)
{
    return (int)members(ui);
}

static void put_rank(struct rtl_frame *frame, int line, int cols, enum rtl_role role, const char *const *texts)
{
    int at = 2, i = 0;
#define CELL(header, width, from, meaning)                       \
    if (cols >= (from)) {                                        \
        rtl_frame_right(frame, line, at, width, role, texts[i]); \
        at += (width) + 1;                                       \
    }                                                            \
    i++;
    RTL_RANK_COLUMNS(CELL)
#undef CELL
}

static void time_text(const struct rtl_ui *ui, bool measured, uint64_t ns, char *out, size_t size)
{
    snprintf(out, size, "%s", measured ? rtl_format_time(ns, ui->units).text : RTL_NONE);
    if (ui->ascii)
        rtl_units_ascii(out);
}

static void draw_rank(const struct rtl_ui *ui, struct rtl_frame *frame, int line, int cols, const struct rtl_rank *r,
                      const struct rtl_slowest *slowest)
{
    const struct rtl_process_row process = {.member = r->member, .busy = -1};
    struct rtl_process_cells c;
    char calls[24], mean[24], p50[24], p99[24], against[24];
    bool stands_out = slowest->rank.member == r->member;
    rtl_process_cells(ui->model, &process, ui->units, 0, &c);
    snprintf(calls, sizeof calls, "%s", rtl_format_count(r->window_calls).text);
    time_text(ui, r->window_timed, r->window_timed ? r->window_total_ns / r->window_timed : 0, mean, sizeof mean);
    time_text(ui, r->has_quantiles, r->p50, p50, sizeof p50);
    time_text(ui, r->has_quantiles, r->p99, p99, sizeof p99);
    if (r->against <= 0)
        snprintf(against, sizeof against, RTL_NONE);
    else if (stands_out && slowest->collective && r->against < 1 / 1.05)
        snprintf(against, sizeof against, "%.2fx last", r->against);
    else
        snprintf(against, sizeof against, "%.2fx", r->against < 9999 ? r->against : 9999);
    bool off = stands_out && (slowest->collective ? r->against < 1 / 1.05 : r->against > 1.05);
    put_rank(frame, line, cols,
             off               ? RTL_ROLE_WARN
             : r->window_calls ? RTL_ROLE_NORMAL
                               : RTL_ROLE_DIM,
             (const char *const[]){c.pid, c.label, c.gpu, calls, mean, p50, p99, against});
    if (off)
        rtl_frame_put(frame, line, 0, 1, RTL_ROLE_WARN, "!");
}

void rtl_draw_ranks(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *l)
{
#define HEADER(header, width, from, meaning) header,
    static const char *const headers[] = {RTL_RANK_COLUMNS(HEADER)};
#undef HEADER
    struct rtl_rank ranks[RTL_MEMBERS_MAX];
    struct rtl_slowest slowest = {.compared = 0};
    const struct rtl_row *row = rtl_model_row(ui->model, ui->selected);
    rtl_frame_fill(frame, l->head.row, 0, l->head.cols, RTL_ROLE_HEADER, ' ');
    put_rank(frame, l->head.row, l->head.cols, RTL_ROLE_HEADER, headers);
    if (!row || !l->table.rows)
        return;
    rtl_draw_name_cell(ui, frame, l->table.row, 1, l->table.cols - 1, RTL_ROLE_NORMAL, row);
    rtl_slowest(ui->model, row, &slowest);
    int count = (int)rtl_ranks(ui->model, row, true, ranks, RTL_MEMBERS_MAX);
    for (int i = 1; i < l->table.rows && ui->rank_top + i - 1 < count; i++)
        draw_rank(ui, frame, l->table.row + i, l->table.cols, &ranks[ui->rank_top + i - 1], &slowest);
}
