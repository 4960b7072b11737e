/* The main view: GPUs, coverage, and the kernels or another table. */
#include "tui/draw_views.h"
#include "model/cells.h"
#include "model/heat.h"
#include "model/model_range.h"
#include "model/ranks.h"
#include "model/row_times.h"
#include "model/trend.h"
#include "text/text.h"

#include <stdio.h>
#include <string.h>

/* Colour of a share of time. */
static enum rtl_role load_role(double share)
{
    return share >= 0.25 ? RTL_ROLE_LOAD_HIGH : share >= 0.1 ? RTL_ROLE_LOAD_MID : RTL_ROLE_LOAD;
}

/* Write the header of a column. The trend adds its span, the heat strip its axis. */
static void head_text(const struct rtl_model *m, int column, int width, struct rtl_heat_axis axis, bool ascii,
                      char *out, size_t size)
{
    snprintf(out, size, "%s", rtl_columns[column].header);
    if (column == RTL_COLUMN_NAME && m->range) {
        char range[512];
        int before = snprintf(out, size, "%s in ", rtl_columns[column].header);
        rtl_range_text(m->range, range, sizeof range);
        rtl_text_cut(out + before, size - (size_t)before, range, width - before - 10, 0, ascii);
    }
    if (column == RTL_COLUMN_TREND && rtl_model_history_length(m)) {
        char span[32];
        snprintf(span, sizeof span, "P99 %s", rtl_format_interval(rtl_trend_span(m, width)).text);
        snprintf(out, size, "%s", (int)strlen(span) <= width ? span : "P99"); /* never cut a number */
        if (width >= (int)strlen(span) + 12)
            snprintf(out, size, "%s \u25841x \u25882x", span);
    }
    if (column == RTL_COLUMN_HEAT && axis.high_ns) {
        struct rtl_number low = rtl_format_time(axis.low_ns, RTL_UNIT_AUTO);
        struct rtl_number high = rtl_format_time(axis.high_ns, RTL_UNIT_AUTO);
        int gap = width - rtl_text_columns(low.text) - rtl_text_columns(high.text);
        snprintf(out, size, "%s%*s%s", low.text, gap > 1 ? gap : 1, "", high.text);
    }
}

/* All rows share one axis, so that they can be compared. */
static struct rtl_heat_axis axis_of(const struct rtl_model *m)
{
    uint64_t low = UINT64_MAX, high = 0;
    for (uint32_t i = 0; i < m->shown; i++) {
        const struct rtl_row *row = &m->rows[m->order[i]];
        if (!row->window.count || row->kernels)
            continue;
        low = row->window.min_ns < low ? row->window.min_ns : low;
        high = row->window.max_ns > high ? row->window.max_ns : high;
    }
    return high ? rtl_heat_axis(low, high) : (struct rtl_heat_axis){0, 0};
}

static void draw_head(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *l,
                      struct rtl_heat_axis axis)
{
    const struct rtl_model *m = ui->model;
    rtl_frame_fill(frame, l->head.row, 0, l->head.cols, RTL_ROLE_HEADER, ' ');
    for (int i = 0; i < RTL_COLUMN_COUNT; i++) {
        if (l->column_at[i] < 0)
            continue;
        enum rtl_role role = i == (int)m->sort ? RTL_ROLE_HEADER_SORT : RTL_ROLE_HEADER;
        char text[256];
        head_text(m, i, l->column_width[i], axis, frame->ascii, text, sizeof text);
        if (i == RTL_COLUMN_TREND || i == RTL_COLUMN_HEAT || i == RTL_COLUMN_SLOWEST || i == RTL_COLUMN_NAME)
            rtl_frame_put(frame, l->head.row, l->column_at[i], l->column_width[i], role, text);
        else
            rtl_frame_right(frame, l->head.row, l->column_at[i], l->column_width[i], role, text);
    }
    char shown[32];
    snprintf(shown, sizeof shown, "%u/%u", m->kernels_shown, m->row_count);
    if (l->column_width[RTL_COLUMN_NAME] > (int)strlen(shown) + 8)
        rtl_frame_right(frame, l->head.row, l->column_at[RTL_COLUMN_NAME], l->column_width[RTL_COLUMN_NAME],
                        RTL_ROLE_HEADER, shown);
}

static void draw_trend(const struct rtl_model *m, struct rtl_frame *frame, int row, int col, int width,
                       const struct rtl_row *kernel)
{
    int8_t level[RTL_MODEL_HISTORY];
    rtl_trend_p99(m, kernel, width, level);
    for (int i = 0; i < width && i < RTL_MODEL_HISTORY; i++)
        rtl_frame_spark(frame, row, col + i, level[i] >= 5 ? RTL_ROLE_WORSE : RTL_ROLE_SPARK, level[i]);
}

static void draw_heat(struct rtl_frame *frame, int row, int col, int width, const struct rtl_row *kernel,
                      struct rtl_heat_axis axis)
{
    int8_t level[RTL_HEAT_WIDTH_MAX];
    if (!axis.high_ns || !kernel->window.count || kernel->kernels)
        return;
    rtl_heat(kernel->base ? &kernel->base->histogram : NULL, &kernel->kernel->histogram, axis, width, level);
    for (int i = 0; i < width && i < RTL_HEAT_WIDTH_MAX; i++)
        rtl_frame_spark(frame, row, col + i,
                        level[i] >= 6   ? RTL_ROLE_LOAD_HIGH
                        : level[i] >= 3 ? RTL_ROLE_LOAD_MID
                                        : RTL_ROLE_LOAD,
                        level[i]);
}

static const double STANDS_OUT = 1.2; /* times the median of the others */

/* Colour large shares, and changes for the worse or better. */
static enum rtl_role cell_role(const struct rtl_model *model, const struct rtl_row *row, int column, enum rtl_role role)
{
    const struct rtl_change *change = column == RTL_COLUMN_CHANGE || column == RTL_COLUMN_P99     ? &row->change.p99
                                      : column == RTL_COLUMN_CHANGE50 || column == RTL_COLUMN_P50 ? &row->change.p50
                                                                                                  : NULL;
    if (column == RTL_COLUMN_TIME && row->share >= 0.25)
        return RTL_ROLE_VALUE;
    if (column == RTL_COLUMN_SLOWEST && rtl_slowest_value(model, row) >= STANDS_OUT)
        return RTL_ROLE_WORSE;
    if (change && rtl_change_is_worse(*change))
        return RTL_ROLE_WORSE;
    if ((column == RTL_COLUMN_CHANGE || column == RTL_COLUMN_CHANGE50) && change->kind == RTL_CHANGE_SHORTER)
        return RTL_ROLE_BETTER;
    if ((column == RTL_COLUMN_CHANGE || column == RTL_COLUMN_CHANGE50) && change->kind == RTL_CHANGE_SAME)
        return RTL_ROLE_DIM;
    return role;
}

static void draw_row(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *l, int line,
                     const struct rtl_row *row, struct rtl_heat_axis axis, double most)
{
    const struct rtl_model *m = ui->model;
    bool idle = !row->window_calls, selected = row == rtl_ui_selected(ui);
    bool never = row->calls && !row->timed && row->untimed && l->column_at[RTL_COLUMN_TREND] >= 0;
    enum rtl_role role = idle ? RTL_ROLE_DIM : RTL_ROLE_NORMAL;
    for (int i = 0; i < RTL_COLUMN_COUNT; i++) {
        char text[48];
        int at = l->column_at[i], width = l->column_width[i];
        if (at < 0 || i == RTL_COLUMN_NAME)
            continue;
        if (never && i == RTL_COLUMN_CHANGE) {
            continue;
        } else if (never && i == RTL_COLUMN_TREND) { /* this kernel can have no trend */
            int wide = width < 9 ? 9 : width;
            rtl_frame_put(frame, line, at + width - wide, wide, RTL_ROLE_WARN, "not timed");
        } else if (i == RTL_COLUMN_TREND) {
            draw_trend(m, frame, line, at, width, row);
        } else if (i == RTL_COLUMN_HEAT) {
            draw_heat(frame, line, at, width, row, axis);
        } else {
            bool measured = rtl_cell_text(m, row, (enum rtl_column)i, ui->units, text, sizeof text);
            if (i == RTL_COLUMN_SLOWEST && measured)
                rtl_frame_put(frame, line, at, width, cell_role(ui->model, row, i, role), text);
            else
                rtl_frame_right(frame, line, at, width, measured ? cell_role(ui->model, row, i, role) : RTL_ROLE_DIM,
                                text);
        }
    }
    if (rtl_row_window_ns(row) && !m->no_shares && most > 0)
        rtl_frame_bar(frame, line, l->bar_at, l->bar_width, load_role(row->share), row->share / most);
    int col = l->column_at[RTL_COLUMN_NAME], width = l->column_width[RTL_COLUMN_NAME];
    rtl_draw_name_cell(ui, frame, line, col, width, role, row);
    if (selected)
        rtl_draw_cursor(frame, line, l->table.cols);
    if (rtl_change_is_worse(row->change.p99) || rtl_change_is_worse(row->change.p50))
        rtl_frame_put(frame, line, 1, 1, selected ? RTL_ROLE_SELECTED : RTL_ROLE_WORSE, "!");
}

static void draw_kernels(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *l)
{
    const struct rtl_model *m = ui->model;
    struct rtl_heat_axis axis = {0, 0};
    if (l->column_at[RTL_COLUMN_HEAT] >= 0)
        axis = axis_of(m);
    draw_head(ui, frame, l, axis);
    if (!m->shown) {
        const char *why = !m->row_count && m->range ? "no kernel of this range was timed so far; Esc leaves it"
                          : !m->row_count           ? "no kernel was dispatched yet"
                          : m->filter[0]            ? "no kernel matches the filter; = clears it"
                                                    : "no kernel was called in the window; i shows idle kernels";
        rtl_frame_put(frame, l->table.row, 2, l->table.cols - 2, RTL_ROLE_DIM, why);
        return;
    }
    double most = 0; /* the share of a full bar */
    for (uint32_t i = 0; i < m->row_count; i++)
        most = m->rows[i].share > most ? m->rows[i].share : most;
    for (uint32_t i = 0; i < m->shown; i++)
        most = m->rows[m->order[i]].share > most ? m->rows[m->order[i]].share : most;
    for (int i = 0; i < l->table.rows && ui->top + i < (int)m->shown; i++)
        draw_row(ui, frame, l, l->table.row + i, &m->rows[m->order[ui->top + i]], axis, most);
}

int rtl_draw_lines(const struct rtl_ui *ui)
{
    switch (ui->view) {
    case RTL_VIEW_QUEUES:
        return rtl_draw_queue_lines(ui->model);
    case RTL_VIEW_COPIES:
        return rtl_draw_copies_lines(ui->model);
    case RTL_VIEW_PROCESSES:
        return rtl_draw_process_lines(ui);
    case RTL_VIEW_RANKS:
        return rtl_draw_rank_lines(ui);
    case RTL_VIEW_CALLS:
    case RTL_VIEW_RANGES:
        return rtl_draw_calls_lines(ui);
    default:
        return 0;
    }
}

void rtl_draw_main(const struct rtl_ui *ui, struct rtl_frame *frame)
{
    bool kernels = ui->view == RTL_VIEW_KERNELS;
    struct rtl_layout l = rtl_ui_layout(ui, frame->rows, frame->cols);
    if (l.kind == RTL_LAYOUT_LINE) {
        rtl_draw_line(ui, frame, l.line);
        if (ui->prompt != RTL_PROMPT_NONE)
            rtl_draw_status(ui, frame, (struct rtl_rect){0});
    }
    if (l.kind != RTL_LAYOUT_FULL)
        return;
    rtl_draw_header(ui, frame, l.header, *ui->title ? ui->title : ui->model->latest->snapshot.comm);
    if (l.gpus.rows)
        rtl_draw_gpus(ui, frame, &l);
    if (l.coverage.rows)
        rtl_draw_coverage(ui, frame, l.coverage);
    if (kernels)
        draw_kernels(ui, frame, &l);
    else if (ui->view == RTL_VIEW_PROCESSES)
        rtl_draw_processes(ui, frame, &l);
    else if (ui->view == RTL_VIEW_RANKS)
        rtl_draw_ranks(ui, frame, &l);
    else if (rtl_ui_shows_calls(ui))
        rtl_draw_calls(ui, frame, &l);
    else if (ui->view == RTL_VIEW_COPIES)
        rtl_draw_copies(ui, frame, &l);
    else
        rtl_draw_queues(ui, frame, &l);
    if (l.pane.rows)
        rtl_draw_pane(ui, frame, l.pane, rtl_ui_selected(ui));
    rtl_draw_name(ui, frame, l.name, kernels ? rtl_ui_selected(ui) : NULL);
    rtl_draw_status(ui, frame, l.status);
    rtl_draw_keys(ui, frame, l.keys);
}
