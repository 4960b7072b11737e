/*
 * Beside the kernels on wide terminals: the families and processes, and the selected kernel's durations.
 *
 * The layout chooses the parts by the data and the height. A list that doesn't fit counts the hidden rows in its last
 * line.
 */
#include "model/cells.h"
#include "tui/draw_views.h"

#include <math.h>
#include <stdio.h>

/* Columns of the lists; with a blank between them they fit into the narrowest side. */
enum { NAME = 13, SHARE = 6, CHANGE = 6, RATE = 6, MEAN = 7, AGAINST = 9 };

static void draw_side_head(struct rtl_frame *frame, struct rtl_rect at, const char *title, const int *widths,
                           const char *const *headers, int count)
{
    rtl_frame_fill(frame, at.row, at.col, at.cols, RTL_ROLE_HEADER, ' ');
    rtl_frame_put(frame, at.row, at.col + 1, NAME, RTL_ROLE_HEADER, title);
    for (int i = 0, col = at.col + 1 + NAME; i < count; col += widths[i++] + 1)
        rtl_frame_right(frame, at.row, col, widths[i], RTL_ROLE_HEADER, headers[i]);
}

/* Return the lines of a list that are shown; the last row counts the hidden ones, if any. */
static int list_rows(struct rtl_frame *frame, struct rtl_rect at, int count)
{
    int room = at.rows - 1;
    if (count <= room)
        return count;
    rtl_frame_printf(frame, at.row + room, at.col + 1, at.cols - 1, RTL_ROLE_DIM, "%d more", count - room + 1);
    return room - 1;
}

static void draw_families(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at)
{
    static const char *const headers[] = {"%TIME", "BEFORE"};
    static const int widths[] = {SHARE, CHANGE};
    struct rtl_family_share families[RTL_FAMILY_COUNT];
    int count = rtl_family_shares(ui->model, families), bar = at.col + NAME + SHARE + CHANGE + 4;
    if (at.rows < 2)
        return;
    draw_side_head(frame, at, "FAMILY", widths, headers, 2);
    count = list_rows(frame, at, count);
    for (int i = 0; i < count; i++) {
        const struct rtl_family_share *f = &families[i];
        int line = at.row + 1 + i, col = at.col + 1;
        rtl_frame_put(frame, line, col, NAME - 1, RTL_ROLE_NORMAL, rtl_name_family_name(f->family));
        rtl_frame_right(frame, line, col += NAME, SHARE, RTL_ROLE_VALUE, rtl_format_share(f->share).text);
        rtl_frame_right(frame, line, col + SHARE + 1, CHANGE, RTL_ROLE_LABEL,
                        f->before >= 0 ? rtl_format_share(f->before).text : RTL_NONE);
        rtl_frame_bar(frame, line, bar, at.col + at.cols - bar, RTL_ROLE_BAR, f->share / families[0].share);
    }
}

static void draw_side_process(const struct rtl_ui *ui, struct rtl_frame *frame, int line, int col,
                              const struct rtl_process_row *process, const struct rtl_rank *rank, bool stands_out)
{
    enum rtl_role role = process->rate > 0 ? RTL_ROLE_NORMAL : RTL_ROLE_DIM;
    struct rtl_process_cells cells;
    struct rtl_number mean = {RTL_NONE};
    char against[16] = RTL_NONE;
    rtl_process_cells(ui->model, process, ui->units, 0, &cells);
    if (rank && rank->window_timed)
        mean = rtl_format_time(rank->window_total_ns / rank->window_timed, RTL_UNIT_AUTO);
    if (rank && rank->against > 0)
        snprintf(against, sizeof against, "%.2fx", fmin(rank->against, 9999));
    rtl_frame_put(frame, line, col, NAME - 1, role, *process->member->info.label ? cells.label : cells.pid);
    rtl_frame_right(frame, line, col += NAME, SHARE, role, cells.busy);
    rtl_frame_right(frame, line, col += SHARE + 1, RATE, role, cells.rate);
    rtl_frame_right(frame, line, col += RATE + 1, MEAN, role, mean.text);
    rtl_frame_right(frame, line, col + MEAN + 1, AGAINST, stands_out ? RTL_ROLE_WORSE : role, against);
}

/* Each process, and how long the selected kernel takes in it. A process that stands out is always shown. */
static void draw_side_processes(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at)
{
    static const char *const headers[] = {"%BUSY", "DISP/s", "MEAN", "VS MEDIAN"};
    static const int widths[] = {SHARE, RATE, MEAN, AGAINST};
    struct rtl_process_row processes[RTL_MEMBERS_MAX];
    struct rtl_rank ranks[RTL_MEMBERS_MAX];
    struct rtl_slowest slowest = {.compared = 0};
    const struct rtl_row *row = rtl_ui_selected(ui);
    if (at.rows < 2 || !row)
        return;
    int count = (int)rtl_process_rows(ui->model, processes, RTL_MEMBERS_MAX), shown = list_rows(frame, at, count);
    int known = row->kernels ? 0 : (int)rtl_ranks(ui->model, row, false, ranks, RTL_MEMBERS_MAX);
    bool found = known && rtl_slowest(ui->model, row, &slowest);
    draw_side_head(frame, at, "PROCESS", widths, headers, 4);
    for (int i = 0; i < shown; i++) {
        int n = i;
        for (int late = shown; found && i == shown - 1 && late < count; late++)
            n = processes[late].member == slowest.rank.member ? late : n;
        const struct rtl_rank *rank = NULL;
        for (int r = 0; r < known && !rank; r++)
            rank = ranks[r].member == processes[n].member ? &ranks[r] : NULL;
        draw_side_process(ui, frame, at.row + 1 + i, at.col + 1, &processes[n], rank,
                          found && rank && rtl_rank_stands_out(&slowest, rank));
    }
}

void rtl_draw_side(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *l)
{
    const struct rtl_row *row = rtl_ui_selected(ui);
    if (!row)
        return;
    draw_families(ui, frame, l->side_families);
    draw_side_processes(ui, frame, l->side_processes);
    rtl_draw_plot_part(ui, frame, l->side_plot, row);
    rtl_draw_bars_part(ui, frame, l->side_bars, row);
}
