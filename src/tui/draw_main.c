/* The main view: GPUs, coverage, and the kernels or another table. rtl_draw chooses this view, the detail or help. */
#include "tui/draw_views.h"
#include "model/cells.h"
#include "model/model_range.h"
#include "model/ranks.h"
#include "model/trend.h"
#include "text/text.h"

#include <stdio.h>
#include <string.h>

/* Write an end of an axis, a power of ten, without decimals. */
static struct rtl_number power_text(uint64_t ns)
{
    struct rtl_number n = rtl_format_time(ns, RTL_UNIT_AUTO);
    char *point = strchr(n.text, '.');
    size_t zeros = point ? strspn(point + 1, "0") + 1 : 0;
    if (point)
        memmove(point, point + zeros, strlen(point + zeros) + 1);
    return n;
}

/* Write the header of a column. The trend adds its span, the heat strip its axis, if they fit: no number is cut. */
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
        snprintf(span, sizeof span, " %s", rtl_format_interval(rtl_trend_span(m, width)).text);
        if ((int)(strlen(out) + strlen(span)) <= width)
            rtl_text_append(out, size, "%s", span);
        if (rtl_text_columns(out) + 22 <= width)
            rtl_text_append(out, size, ", \u2500 p99 at its median");
    }
    if (column == RTL_COLUMN_HEAT && axis.high_ns) {
        char ends[64];
        snprintf(ends, sizeof ends, " %s..%s", power_text(axis.low_ns).text, power_text(axis.high_ns).text);
        if ((int)strlen(out) + rtl_text_columns(ends) <= width)
            rtl_text_append(out, size, "%s", ends);
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

static void draw_heat(struct rtl_frame *frame, int row, int col, int width, const struct rtl_row *kernel,
                      struct rtl_heat_axis axis)
{
    int8_t level[RTL_HEAT_WIDTH_MAX];
    if (!axis.high_ns || !kernel->window.count || kernel->kernels)
        return;
    rtl_heat(kernel->base ? &kernel->base->histogram : NULL, &kernel->kernel->histogram, axis, width, level);
    for (int i = 0; i < width && i < RTL_HEAT_WIDTH_MAX; i++)
        rtl_frame_spark(frame, row, col + i, RTL_ROLE_SPARK, level[i]);
}

/* Colour large shares, and changes for the worse or better. */
static enum rtl_role cell_role(const struct rtl_model *model, const struct rtl_row *row, int column, enum rtl_role role)
{
    const struct rtl_change *change = column == RTL_COLUMN_CHANGE || column == RTL_COLUMN_P99     ? &row->change.p99
                                      : column == RTL_COLUMN_CHANGE50 || column == RTL_COLUMN_P50 ? &row->change.p50
                                                                                                  : NULL;
    if (column == RTL_COLUMN_TIME && row->share >= 0.25)
        return RTL_ROLE_VALUE;
    if (column == RTL_COLUMN_SLOWEST && rtl_slowest_value(model, row) >= RTL_RANK_STANDS_OUT)
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
    bool idle = !row->window_calls, selected = row == rtl_ui_selected(ui) && !ui->gpu_line;
    bool never = row->calls && !row->timed && row->untimed;
    enum rtl_role role = idle ? RTL_ROLE_DIM : RTL_ROLE_NORMAL;
    for (int i = 0; i < RTL_COLUMN_COUNT; i++) {
        char text[48];
        int at = l->column_at[i], width = l->column_width[i];
        if (at < 0 || i == RTL_COLUMN_NAME)
            continue;
        if (never && i == RTL_COLUMN_TREND) { /* the coverage line has the reasons */
            rtl_frame_right(frame, line, at, width, RTL_ROLE_DIM, RTL_NONE);
        } else if (i == RTL_COLUMN_TREND) {
            rtl_draw_trend(m, frame, line, at, width, row);
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
        rtl_frame_bar(frame, line, l->bar_at, l->bar_width, RTL_ROLE_BAR, row->share / most);
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

/* The table of each view below the GPUs, and the number of its lines; detail and help are drawn apart. */
static const struct {
    void (*draw)(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *layout);
    int (*lines)(const struct rtl_ui *ui);
} tables[RTL_VIEW_COUNT] = {
    [RTL_VIEW_KERNELS] = {draw_kernels, NULL},
    [RTL_VIEW_QUEUES] = {rtl_draw_queues, rtl_draw_queue_lines},
    [RTL_VIEW_COPIES] = {rtl_draw_copies, rtl_draw_copies_lines},
    [RTL_VIEW_PROCESSES] = {rtl_draw_processes, rtl_draw_process_lines},
    [RTL_VIEW_RANKS] = {rtl_draw_ranks, rtl_draw_rank_lines},
    [RTL_VIEW_CALLS] = {rtl_draw_calls, rtl_draw_calls_lines},
    [RTL_VIEW_RANGES] = {rtl_draw_calls, rtl_draw_calls_lines},
    [RTL_VIEW_STEPS] = {rtl_draw_steps, rtl_draw_steps_lines},
    [RTL_VIEW_GPU] = {rtl_draw_evidence, rtl_draw_evidence_lines},
};

int rtl_draw_lines(const struct rtl_ui *ui)
{
    return tables[ui->view].lines ? tables[ui->view].lines(ui) : 0;
}

static void draw_main(const struct rtl_ui *ui, struct rtl_frame *frame)
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
    if (l.steps.rows)
        rtl_draw_steps_line(ui, frame, l.steps);
    rtl_frame_fill(frame, l.head.row, 0, l.head.cols, RTL_ROLE_HEADER, ' ');
    tables[ui->view].draw(ui, frame, &l);
    rtl_draw_side(ui, frame, &l);
    if (l.pane.rows)
        rtl_draw_pane(ui, frame, l.pane, rtl_ui_selected(ui));
    rtl_draw_name(ui, frame, l.name, kernels ? rtl_ui_selected(ui) : NULL);
    rtl_draw_status(ui, frame, l.status);
    rtl_draw_keys(ui, frame, l.keys);
}

void rtl_draw(const struct rtl_ui *ui, struct rtl_frame *frame)
{
    if (!ui->model->latest)
        return;
    if (ui->view == RTL_VIEW_DETAIL)
        rtl_draw_detail(ui, frame);
    else if (ui->view == RTL_VIEW_HELP)
        rtl_draw_help(ui, frame);
    else
        draw_main(ui, frame);
    rtl_draw_menu(ui, frame);
}
