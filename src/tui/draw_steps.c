/* The cost of a step: one line on the main screen; a table of families, kernels, idle time and ranks. */
#include "tui/draw_views.h"
#include "tui/screen_tables.h"
#include "tui/table.h"

#include <stdio.h>
#include <string.h>

static const struct rtl_table_column columns[] = {RTL_STEP_COLUMNS(RTL_TABLE_COLUMN)};

int rtl_draw_steps_lines(const struct rtl_ui *ui)
{
    return (int)ui->model->steps.lines;
}

void rtl_draw_steps_line(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at)
{
    const struct rtl_steps *s = &ui->model->steps;
    char text[512];
    rtl_steps_text(ui->model, ui->units, at.cols, frame->ascii, text, sizeof text);
    if (s->known)
        rtl_frame_put(frame, at.row, 0, at.cols, rtl_change_is_worse(s->whole.change) ? RTL_ROLE_WORSE : RTL_ROLE_VALUE,
                      text);
    else if (s->trouble)
        rtl_frame_printf(frame, at.row, 0, at.cols, RTL_ROLE_WARN, "no step %s: %s", s->marker, s->trouble);
}

static struct rtl_table_row make_step_cells(const struct rtl_ui *ui, const struct rtl_step_line *line)
{
    const struct rtl_step_part *part = &line->part;
    struct rtl_table_row c = {{{RTL_NONE}, {RTL_NONE}, {RTL_NONE}, {RTL_NONE}}};
    bool estimated = ui->model->estimated && line->kind != RTL_STEP_RANK && part->known;
    snprintf(c.cell[0].text, sizeof c.cell[0].text, "%s%.22s", estimated ? "~" : "",
             rtl_draw_time(ui, part->known, (uint64_t)part->ns).text);
    if (part->known && part->share >= 0)
        c.cell[1] = rtl_format_share(part->share);
    if (part->runs > 0)
        c.cell[2] = rtl_format_rate(part->runs);
    rtl_change_text(part->change, c.cell[3].text, sizeof c.cell[3].text);
    return c;
}

static void put_step_name(const struct rtl_ui *ui, struct rtl_frame *frame, int row, int col, int cols,
                          const struct rtl_step_line *line)
{
    enum { INDENT = 2 };
    if (line->kind == RTL_STEP_KERNEL)
        rtl_frame_put(frame, row, col + INDENT, cols - INDENT, RTL_ROLE_NORMAL,
                      rtl_model_name(ui->model, line->row, ui->names, cols - INDENT, frame->ascii));
    else if (line->kind == RTL_STEP_RANK)
        rtl_frame_printf(frame, row, col, cols, RTL_ROLE_TITLE, "%s, process %d: %s steps", line->member->name,
                         (int)line->member->info.pid, rtl_format_count(line->steps).text);
    else
        rtl_frame_put(frame, row, col, cols, RTL_ROLE_TITLE,
                      line->kind == RTL_STEP_IDLE ? "idle" : rtl_name_family_name(line->family));
}

static void draw_step_lines(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *l)
{
    const struct rtl_step_line *lines = ui->model->step_lines;
    int count = (int)ui->model->steps.lines, top = ui->line_top[RTL_VIEW_STEPS];
    struct rtl_table table = rtl_table_begin(columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < count; i++)
        rtl_table_widen(&table, make_step_cells(ui, &lines[i]).cell);
    rtl_table_place(&table, l->head.cols, l->head.cols);
    int col = table.end;
    rtl_table_head(&table, frame, l->head.row, -1);
    rtl_frame_put(frame, l->head.row, col, l->head.cols - col, RTL_ROLE_HEADER, "PART");
    for (int n = 1; n < l->table.rows && top + n - 1 < count; n++) {
        const struct rtl_step_line *line = &lines[top + n - 1];
        bool worse = rtl_change_is_worse(line->part.change);
        rtl_table_draw(&table, frame, l->table.row + n, worse ? RTL_ROLE_WORSE : RTL_ROLE_NORMAL,
                       make_step_cells(ui, line).cell);
        if (worse)
            rtl_frame_put(frame, l->table.row + n, 0, 1, RTL_ROLE_WORSE, "!");
        put_step_name(ui, frame, l->table.row + n, col, l->table.cols - col, line);
    }
}

void rtl_draw_steps(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *l)
{
    const struct rtl_steps *s = &ui->model->steps;
    if (s->known || s->trouble)
        rtl_draw_steps_line(ui, frame, l->table);
    else
        rtl_frame_put(frame, l->table.row, 0, l->table.cols, RTL_ROLE_DIM,
                      ui->model->range ? "steps need all kernels, but only a range is shown: Esc leaves the range"
                                       : "no kernel or range seems to run once per step; X on one marks it");
    if (s->known)
        draw_step_lines(ui, frame, l);
}
