/*
 * One kernel: histogram, quantiles, sums, shape of the last dispatch, p99 over time or a probe.
 *
 * The histogram counts since the start (or zero), so that rare slow dispatches stay visible; the figures beside it also
 * show the window.
 */
#include "tui/draw_views.h"
#include "model/cells.h"
#include "model/trend.h"
#include "text/text.h"

#include <stdio.h>
#include <string.h>

/* Time from the call to the kernel's start, in the window. */
static void draw_launch(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, int *col,
                        const struct rtl_row *row)
{
    char text[2 * sizeof(struct rtl_number) + 8];
    if (!row->launches)
        return;
    snprintf(text, sizeof text, "%s p99 %s", rtl_format_time(row->launch_p50, ui->units).text,
             rtl_format_time(row->launch_p99, ui->units).text);
    rtl_draw_piece(frame, at, col, RTL_ROLE_VALUE, "launch", text);
}

static void draw_since(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, int col)
{
    char since[56];
    int columns = snprintf(since, sizeof since, "  since %s %s", ui->model->zero ? "zero" : "start",
                           rtl_format_age(rtl_model_since(ui->model)).text);
    if (at.cols >= col + columns)
        rtl_frame_right(frame, at.row, at.cols - columns, columns, RTL_ROLE_LABEL, since);
}

static void draw_counts(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const struct rtl_row *row,
                        const struct rtl_bar_span *all)
{
    char share[32], rate[32];
    if (!at.rows)
        return;
    if (rtl_cell_text(ui->model, row, RTL_COLUMN_TIME, ui->units, share, sizeof share))
        rtl_text_append(share, sizeof share, "%%");
    int col = 0;
    snprintf(rate, sizeof rate, "%s/s", rtl_format_rate(row->rate).text);
    rtl_draw_piece(frame, at, &col, RTL_ROLE_VALUE, "calls", rtl_format_count(all->calls).text);
    rtl_draw_piece(frame, at, &col, RTL_ROLE_VALUE, "", rate);
    rtl_draw_piece(frame, at, &col, RTL_ROLE_VALUE, "total", rtl_draw_time(ui, all->any, all->total_ns).text);
    rtl_draw_piece(frame, at, &col, RTL_ROLE_VALUE, "", share);
    rtl_draw_piece(frame, at, &col, RTL_ROLE_VALUE, "mean",
                   rtl_draw_time(ui, all->any, all->any ? all->total_ns / all->timed : 0).text);
    rtl_draw_piece(frame, at, &col, RTL_ROLE_VALUE, "max", rtl_draw_time(ui, all->any, all->max_ns).text);
    draw_launch(ui, frame, at, &col, row);
    draw_since(ui, frame, at, col);
}

static void draw_quantiles(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at,
                           const struct rtl_bar_span *all)
{
    static const char *const labels[RTL_SPAN_QUANTILES] = {"p50", "p90", "p99", "p99.9"};
    int col = 0;
    for (int i = 0; i < RTL_SPAN_QUANTILES; i++) {
        struct rtl_number n = rtl_draw_time(ui, all->any, all->q[i]);
        int label = (int)strlen(labels[i]), columns = rtl_text_columns(n.text);
        int wants =
            label + 1 + (columns > 7 ? columns : 7); /* keep the positions steady: short numbers have equal widths */
        if (col + label + 1 + columns > at.cols)
            break;
        rtl_frame_put(frame, at.row, col, label, RTL_ROLE_LABEL, labels[i]);
        rtl_frame_put(frame, at.row, col + label + 1, columns, RTL_ROLE_VALUE, n.text);
        col += wants + 2;
    }
    const char *error = all->approximate ? "some buckets are coarse: up to 41 % off" : "bucket error <= 0.8 %";
    if (col + 2 + (int)strlen(error) <= at.cols)
        rtl_frame_right(frame, at.row, col, at.cols - col, all->approximate ? RTL_ROLE_VALUE : RTL_ROLE_DIM, error);
}

/* Return the width of the figures. Sums are the longest numbers; minima have most decimals in a long unit. */
static int fact_columns(const struct rtl_ui *ui, const struct rtl_bar_span *all, const struct rtl_bar_span *window)
{
    const uint64_t times[] = {all->total_ns, all->min_ns, window->total_ns, window->min_ns};
    int width = 12;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        width = rtl_cell_width(width, rtl_text_columns(rtl_format_time(times[i], ui->units).text));
    return width;
}

/* Draw the figures: the window, and since the start. */
static void draw_figures(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at,
                         const struct rtl_bar_span *all, const struct rtl_bar_span *window)
{
    const int width = (at.cols - 12) / 2;
    static const char *const labels[] = {"calls", "timed", "total", "mean", "min", "p50", "p90", "p99", "p99.9", "max"};
    for (int i = 0; i < 10 && i < at.rows; i++) {
        rtl_frame_fill(frame, at.row + i, at.col, 1, RTL_ROLE_DIM, 0x2502);
        rtl_frame_put(frame, at.row + i, at.col + 2, 8, RTL_ROLE_LABEL, labels[i]);
        for (int side = 0; side < 2; side++) {
            const struct rtl_bar_span *s = side ? all : window;
            struct rtl_number n;
            uint64_t ns[] = {0,         0,        s->total_ns, s->any ? s->total_ns / s->timed : 0,
                             s->min_ns, s->q[0],  s->q[1],     s->q[2],
                             s->q[3],   s->max_ns};
            if (i < 2)
                n = rtl_format_count(i ? s->timed : s->calls);
            else
                n = rtl_draw_time(ui, s->any, ns[i]);
            rtl_frame_right(frame, at.row + i, at.col + 9 + side * (width + 1), width, RTL_ROLE_NORMAL, n.text);
        }
    }
}

/* Draw rate and shape of the last dispatch, which the figures lack. */
static void draw_facts(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const struct rtl_row *row)
{
    char text[80];
    int col = 0;
    if (rtl_cell_text(ui->model, row, RTL_COLUMN_TIME, ui->units, text, sizeof text)) {
        rtl_text_append(text, sizeof text, "%%");
        rtl_draw_piece(frame, at, &col, RTL_ROLE_VALUE, "time", text);
    }
    snprintf(text, sizeof text, "%s/s", rtl_format_rate(row->rate).text);
    rtl_draw_piece(frame, at, &col, RTL_ROLE_VALUE, "calls", text);
    draw_launch(ui, frame, at, &col, row);
    if (rtl_cell_text(ui->model, row, RTL_COLUMN_GRID, ui->units, text, sizeof text)) {
        rtl_draw_piece(frame, at, &col, RTL_ROLE_VALUE, "grid", text);
        rtl_cell_text(ui->model, row, RTL_COLUMN_WORKGROUP, ui->units, text, sizeof text);
        rtl_draw_piece(frame, at, &col, RTL_ROLE_VALUE, "wg", text);
        rtl_draw_piece(frame, at, &col, RTL_ROLE_VALUE, "lds", rtl_format_size(row->kernel->lds_bytes).text);
        rtl_draw_piece(frame, at, &col, RTL_ROLE_VALUE, "scratch", rtl_format_size(row->kernel->scratch_bytes).text);
    }
    draw_since(ui, frame, at, col);
}

void rtl_draw_detail(const struct rtl_ui *ui, struct rtl_frame *frame)
{
    const struct rtl_model *m = ui->model;
    const struct rtl_row *row = rtl_ui_selected(ui);
    struct rtl_bar_span all = {0}, window = {0};
    if (row) {
        all = rtl_span_between(row->zero, row->kernel);
        window = rtl_span_between(row->base, row->kernel);
    }
    const char *name = row ? rtl_model_name(m, row, ui->names, RTL_NAMES_WHOLE, frame->ascii) : "";
    int number = fact_columns(ui, &all, &window), name_rows = rtl_ui_name_rows(ui, frame->cols);
    if (row && !ui->wrap && !strcmp(name, rtl_model_form(m, row, RTL_NAME_FULL)))
        name_rows = 0;                             /* the title shows it */
    if (!ui->wrap && name_rows > frame->rows / 12) /* the complete name needs a tall terminal, or key w */
        name_rows = frame->rows / 12;
    struct rtl_layout_detail l = rtl_layout_detail(frame->rows, frame->cols, name_rows, number, rtl_bar_rows(&all),
                                                   row && rtl_ui_has_probe(ui, row));
    if (l.kind == RTL_LAYOUT_NOTHING)
        return;
    if (l.kind == RTL_LAYOUT_LINE || !row) {
        char text[256] = "the kernel is gone";
        if (row)
            snprintf(text, sizeof text, "p99 %s %.200s", rtl_draw_time(ui, row->window.count > 0, row->p99).text, name);
        rtl_frame_put(frame, 0, 0, frame->cols, RTL_ROLE_NORMAL, text);
        if (ui->prompt != RTL_PROMPT_NONE)
            rtl_draw_status(ui, frame, (struct rtl_rect){0});
        return;
    }
    rtl_draw_header(ui, frame, l.header, name);
    if (l.figures.rows) {
        draw_facts(ui, frame, l.counts, row);
    } else {
        draw_counts(ui, frame, l.counts, row, &all);
        draw_quantiles(ui, frame, l.quantiles, &all);
    }
    rtl_draw_name(ui, frame, l.name, row);
    if (l.head.rows) {
        rtl_frame_fill(frame, l.head.row, 0, l.head.cols, RTL_ROLE_HEADER, ' ');
        rtl_frame_printf(frame, l.head.row, 1, l.histogram.cols, RTL_ROLE_HEADER, "DURATION since %s%s",
                         m->zero ? "zero" : "start", ui->log_bars ? ", log bars" : "");
        rtl_frame_right(frame, l.head.row, l.histogram.cols - 8, 7, RTL_ROLE_HEADER, "CALLS");
        if (l.figures.rows) {
            rtl_frame_right(frame, l.head.row, l.figures.col + 9, number, RTL_ROLE_HEADER, "IN WINDOW");
            rtl_frame_right(frame, l.head.row, l.figures.col + 10 + number, number, RTL_ROLE_HEADER,
                            m->zero ? "SINCE ZERO" : "SINCE START");
        }
    }
    rtl_draw_bars(ui, frame, l.histogram, row, row->zero, &all);
    if (l.figures.rows)
        draw_figures(ui, frame, l.figures, &all, &window);
    rtl_draw_plot_part(ui, frame, l.plot, row);
    if (l.trend.rows) { /* a plot doesn't fit */
        char label[48];
        snprintf(label, sizeof label, "P99 %s", rtl_format_interval(rtl_trend_span(m, l.trend.cols)).text);
        int col = l.trend.cols >= 40 ? rtl_frame_put(frame, l.trend.row, 0, 12, RTL_ROLE_LABEL, label) + 1 : 0;
        rtl_draw_trend(m, frame, l.trend.row, col, l.trend.cols - col, row);
    }
    rtl_draw_probe(ui, frame, l.probe, row);
    rtl_draw_status(ui, frame, l.status);
    rtl_draw_keys(ui, frame, l.keys);
}
