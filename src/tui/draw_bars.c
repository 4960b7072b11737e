/* Durations of a kernel: their distribution, and p99 and p50 over time. See draw_views.h. */
#include "tui/draw_views.h"
#include "model/trend.h"
#include "text/text.h"
#include "tui/plot.h"

#include <math.h>
#include <stdio.h>

enum { BINS_MAX = 64 };

static const double quantiles[] = {0.5, 0.9, 0.99, 0.999};

struct rtl_bar_span rtl_span_between(const struct rtl_kernel_snapshot *from, const struct rtl_kernel_snapshot *to)
{
    struct rtl_bar_span s = {.calls = to->calls - (from && from->calls <= to->calls ? from->calls : 0)};
    const struct rtl_histogram_copy *base = from ? &from->histogram : NULL;
    struct rtl_window w = rtl_window_between(base, &to->histogram);
    s.any = w.count && rtl_quantiles(base, &to->histogram, quantiles, RTL_SPAN_QUANTILES, s.q);
    s.timed = w.count;
    s.total_ns = w.total_ns;
    s.min_ns = base ? w.min_ns : to->histogram.min_ns;
    s.max_ns = base ? w.max_ns : to->histogram.max_ns;
    s.approximate = w.approximate;
    return s;
}

/* Set the edges of rows that are equally high in the logarithm; returns their number. A row covers at least two
 * buckets: times come in steps of the GPU's clock, and narrower rows would show gaps between the steps. */
static int make_edges(uint64_t low, uint64_t high, int wanted, double *edges)
{
    double from = (double)(low ? low : 1), ratio = ((double)high + 1) / from;
    int resolved = (int)(log(ratio) / log(1.0 + 1.0 / 32)) + 1, rows = wanted < resolved ? wanted : resolved;
    if ((double)rows > (double)high - (double)low + 1) /* nor narrower than one nanosecond on average */
        rows = (int)((double)high - (double)low) + 1;
    rows = rows > 1 ? rows : 1; /* a damaged segment has contradicting extremes */
    for (int i = 0; i <= rows; i++)
        edges[i] = from * pow(ratio, (double)i / rows);
    edges[0] = (double)low;
    edges[rows] = (double)high + 1;
    return rows;
}

int rtl_bar_rows(const struct rtl_bar_span *span)
{
    double edges[BINS_MAX + 1];
    return span->any ? make_edges(span->min_ns, span->max_ns, BINS_MAX, edges) : 1;
}

void rtl_draw_bars(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const struct rtl_row *row,
                   const struct rtl_kernel_snapshot *from, const struct rtl_bar_span *all)
{
    uint64_t counts[BINS_MAX] = {0}, most = 0;
    double edges[BINS_MAX + 1];
    if (at.rows < 1)
        return;
    if (!all->any) {
        rtl_frame_put(frame, at.row, at.col + 2, at.cols - 2, RTL_ROLE_DIM,
                      row->untimed ? "counted, never timed: see the main screen" : "nothing timed yet");
        return;
    }
    int bins = make_edges(all->min_ns, all->max_ns, at.rows < BINS_MAX ? at.rows : BINS_MAX, edges);
    rtl_bin(from ? &from->histogram : NULL, &row->kernel->histogram, edges, bins + 1, counts);
    for (int i = 0; i < bins; i++)
        most = counts[i] > most ? counts[i] : most;
    int label = 7, tail = 14;
    for (int i = 0; i < bins; i++) {
        int columns = rtl_text_columns(rtl_format_time((uint64_t)(edges[i] + 0.5), ui->units).text);
        label = columns >= label ? columns + 1 : label;
    }
    int width = at.cols - label - tail;
    for (int i = 0; i < bins; i++) {
        rtl_frame_right(frame, at.row + i, at.col, label - 1, RTL_ROLE_LABEL,
                        rtl_format_time((uint64_t)(edges[i] + 0.5), ui->units).text);
        double value = !most          ? 0
                       : ui->log_bars ? log1p((double)counts[i]) / log1p((double)most)
                                      : (double)counts[i] / (double)most;
        if (width > 0)
            rtl_frame_bar(frame, at.row + i, at.col + label, width, RTL_ROLE_BAR, value);
        /* the first quantile in this row; "+" stands for more of them */
        char mark[8] = "";
        static const char *const marks[RTL_SPAN_QUANTILES] = {"p50", "p90", "p99", "p99.9"};
        for (int q = 0; q < RTL_SPAN_QUANTILES; q++)
            if ((double)all->q[q] >= edges[i] && ((double)all->q[q] < edges[i + 1] || i == bins - 1)) {
                if (*mark)
                    mark[3] = '+', mark[4] = 0;
                else
                    snprintf(mark, sizeof mark, "%s", marks[q]);
            }
        if (width > -6) {
            rtl_frame_put(frame, at.row + i, at.col + at.cols - tail + 1, 5, RTL_ROLE_VALUE, mark);
            rtl_frame_right(frame, at.row + i, at.col + at.cols - 7, 6, counts[i] ? RTL_ROLE_NORMAL : RTL_ROLE_DIM,
                            rtl_format_count(counts[i]).text);
        }
    }
}

void rtl_draw_trend(const struct rtl_model *m, struct rtl_frame *frame, int row, int col, int width,
                    const struct rtl_row *kernel)
{
    int8_t level[RTL_MODEL_HISTORY];
    rtl_trend_p99(m, kernel, width, level);
    for (int i = 0; i < width && i < RTL_MODEL_HISTORY; i++)
        if (level[i] >= RTL_TREND_LOW && level[i] <= RTL_TREND_HIGH)
            rtl_frame_fill(frame, row, col + i, 1, RTL_ROLE_DIM, 0x2500);
        else /* above or below the line, and never a full cell: neighbouring rows stay apart */
            rtl_frame_spark(frame, row, col + i, RTL_ROLE_SPARK, level[i] > RTL_TREND_HIGH ? level[i] - 1 : level[i]);
}

static void draw_plot(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const struct rtl_row *row)
{
    const struct rtl_model *m = ui->model;
    struct rtl_plot plot = {.count = (int)rtl_model_history_length(m), .most = RTL_MODEL_HISTORY, .units = ui->units};
    plot.count = plot.count < RTL_PLOT_SAMPLES_MAX ? plot.count : RTL_PLOT_SAMPLES_MAX;
    for (int i = 0; i < plot.count; i++) {
        plot.high[i] = rtl_model_history(m, row, (uint32_t)i, false);
        plot.low[i] = rtl_model_history(m, row, (uint32_t)i, true);
        plot.span_ns += m->history_ns[(m->samples - (uint64_t)i) % RTL_MODEL_HISTORY];
    }
    rtl_plot_draw(frame, at, &plot);
}

static void draw_plot_head(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at)
{
    const struct rtl_model *m = ui->model;
    char each[48];
    rtl_frame_fill(frame, at.row, at.col, at.cols, RTL_ROLE_HEADER, ' ');
    rtl_frame_put(frame, at.row, at.col + 1, at.cols - 1, RTL_ROLE_HEADER,
                  at.cols >= 44 ? "P99 over time, P50 below" : "P99, P50 below");
    snprintf(each, sizeof each, "interval %s", rtl_format_interval(m->history_ns[m->samples % RTL_MODEL_HISTORY]).text);
    if (at.cols >= 44 && rtl_model_history_length(m))
        rtl_frame_right(frame, at.row, at.col, at.cols - 1, RTL_ROLE_HEADER, each);
}

void rtl_draw_plot_part(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const struct rtl_row *row)
{
    if (at.rows < 3)
        return;
    draw_plot_head(ui, frame, at);
    at.row++, at.rows--;
    if (row->kernels)
        rtl_frame_put(frame, at.row, at.col + 1, at.cols - 1, RTL_ROLE_DIM, "a family has no curve; Enter opens it");
    else
        draw_plot(ui, frame, at, row);
}

void rtl_draw_bars_part(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const struct rtl_row *row)
{
    if (at.rows < 3)
        return;
    rtl_frame_fill(frame, at.row, at.col, at.cols, RTL_ROLE_HEADER, ' ');
    if (row->kernels)
        return;
    struct rtl_bar_span window = rtl_span_between(row->base, row->kernel);
    rtl_frame_put(frame, at.row, at.col + 1, at.cols, RTL_ROLE_HEADER, "DURATION in window");
    rtl_frame_right(frame, at.row, at.col + at.cols - 8, 7, RTL_ROLE_HEADER, "CALLS");
    at.row++, at.rows--;
    rtl_draw_bars(ui, frame, at, row, row->base, &window);
}

void rtl_draw_pane(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const struct rtl_row *row)
{
    enum { BARS = 46, SIDE_FROM = 100 };
    struct rtl_rect plot = at, bars = at;
    if (!row)
        return;
    if (at.cols >= SIDE_FROM) {
        bars.cols = at.cols / 3 > BARS ? at.cols / 3 : BARS;
        bars.col = at.col + at.cols - bars.cols;
        plot.cols = at.cols - bars.cols - 2;
        rtl_frame_fill(frame, at.row, at.col, at.cols, RTL_ROLE_HEADER, ' ');
        rtl_draw_bars_part(ui, frame, bars, row);
    }
    rtl_draw_plot_part(ui, frame, plot, row);
}
