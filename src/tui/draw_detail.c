/*
 * One kernel: histogram, quantiles, sums, shape of the last dispatch, p99 over time. See draw.h.
 *
 * The histogram counts since the start (or zero), so that rare slow dispatches stay in sight; the right-hand side sets
 * the window beside it.
 */
#include "tui/draw.h"
#include "model/cells.h"
#include "text/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BINS_MAX = 64 };

static const double quantiles[] = {0.5, 0.9, 0.99, 0.999};
enum { QUANTILES = 4 };

struct span {
    uint64_t calls, timed, total_ns, min_ns, max_ns, q[QUANTILES];
    bool any, approximate;
};

static struct span span_between(const struct rtl_kernel_snapshot *from, const struct rtl_kernel_snapshot *to)
{
    struct span s = {.calls = to->calls - (from && from->calls <= to->calls ? from->calls : 0)};
    const struct rtl_histogram_copy *base = from ? &from->histogram : NULL;
    struct rtl_window w = rtl_window_between(base, &to->histogram);
    s.any = w.count && rtl_quantiles(base, &to->histogram, quantiles, QUANTILES, s.q);
    s.timed = w.count;
    s.total_ns = w.total_ns;
    s.min_ns = base ? w.min_ns : to->histogram.min_ns;
    s.max_ns = base ? w.max_ns : to->histogram.max_ns;
    s.approximate = w.approximate;
    return s;
}

static const char *time_text(const struct rtl_ui *ui, bool any, uint64_t ns, struct rtl_number *n)
{
    *n = any ? rtl_format_time(ns, ui->units) : (struct rtl_number){RTL_NONE};
    return n->text;
}

static void draw_counts(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const struct rtl_row *row,
                        const struct span *all)
{
    struct rtl_number total, mean, most;
    char since[56], share[32] = RTL_NONE;
    if (!at.rows)
        return;
    if (row->window.count)
        snprintf(share, sizeof share, "%s%%", rtl_format_share(row->share).text);
    char rate[32];
    int col = 0;
    snprintf(rate, sizeof rate, "%s/s", rtl_format_rate(row->rate).text);
    rtl_draw_piece(frame, at, &col, RTL_ROLE_VALUE, "calls", rtl_format_count(all->calls).text);
    rtl_draw_piece(frame, at, &col, RTL_ROLE_VALUE, "", rate);
    rtl_draw_piece(frame, at, &col, RTL_ROLE_VALUE, "total", time_text(ui, all->any, all->total_ns, &total));
    rtl_draw_piece(frame, at, &col, RTL_ROLE_VALUE, "", share);
    rtl_draw_piece(frame, at, &col, RTL_ROLE_VALUE, "mean",
                   time_text(ui, all->any, all->any ? all->total_ns / all->timed : 0, &mean));
    rtl_draw_piece(frame, at, &col, RTL_ROLE_VALUE, "max", time_text(ui, all->any, all->max_ns, &most));
    snprintf(since, sizeof since, "  since %s %s", ui->model->zero ? "zero" : "start",
             rtl_format_age(rtl_model_since(ui->model)).text);
    if (at.cols >= col + (int)strlen(since))
        rtl_frame_right(frame, at.row, at.cols - (int)strlen(since), (int)strlen(since), RTL_ROLE_LABEL, since);
}

static void draw_quantiles(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const struct span *all)
{
    static const char *const labels[QUANTILES] = {"p50", "p90", "p99", "p99.9"};
    int col = 0;
    for (int i = 0; i < QUANTILES; i++) {
        struct rtl_number n;
        int label = (int)strlen(labels[i]), columns = rtl_text_columns(time_text(ui, all->any, all->q[i], &n));
        int wants = label + 1 + (columns > 7 ? columns : 7); /* the same place whatever the number, if it is short */
        if (col + label + 1 + columns > at.cols)
            break;
        rtl_frame_put(frame, at.row, col, label, RTL_ROLE_LABEL, labels[i]);
        rtl_frame_put(frame, at.row, col + label + 1, columns, RTL_ROLE_VALUE, n.text);
        col += wants + 2;
    }
    const char *error = all->approximate ? "some buckets are coarse: up to 41 % off" : "bucket error <= 0.8 %";
    if (col + 2 + (int)strlen(error) <= at.cols)
        rtl_frame_right(frame, at.row, col, at.cols - col, all->approximate ? RTL_ROLE_WARN : RTL_ROLE_DIM, error);
}

/*
 * Edges of rows that are equal in the logarithm; returns how many rows there are. No narrower than two buckets, or
 * times that come in steps (of the GPU's clock) would show gaps between them.
 */
static int make_edges(uint64_t low, uint64_t high, int wanted, double *edges)
{
    double from = (double)(low ? low : 1), ratio = ((double)high + 1) / from;
    int resolved = (int)(log(ratio) / log(1.0 + 1.0 / 32)) + 1, rows = wanted < resolved ? wanted : resolved;
    if ((double)rows > (double)high - (double)low + 1) /* nor narrower than a nanosecond on the average */
        rows = (int)((double)high - (double)low) + 1;
    rows = rows > 1 ? rows : 1; /* extremes that contradict one another: the segment is damaged */
    for (int i = 0; i <= rows; i++)
        edges[i] = from * pow(ratio, (double)i / rows);
    edges[0] = (double)low;
    edges[rows] = (double)high + 1;
    return rows;
}

static void draw_histogram(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at,
                           const struct rtl_row *row, const struct span *all)
{
    uint64_t counts[BINS_MAX] = {0}, most = 0;
    double edges[BINS_MAX + 1];
    if (at.rows < 1)
        return;
    if (!all->any) {
        rtl_frame_put(frame, at.row, 2, at.cols - 2, RTL_ROLE_DIM,
                      row->untimed ? "counted, but never timed: see the coverage line" : "nothing timed yet");
        return;
    }
    int bins = make_edges(all->min_ns, all->max_ns, at.rows < BINS_MAX ? at.rows : BINS_MAX, edges);
    rtl_bin(row->zero ? &row->zero->histogram : NULL, &row->kernel->histogram, edges, bins + 1, counts);
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
        /* the first quantile that falls here; "+" when others do as well */
        char mark[8] = "";
        static const char *const marks[QUANTILES] = {"p50", "p90", "p99", "p99.9"};
        for (int q = 0; q < QUANTILES; q++)
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

/* How wide the numbers beside the histogram have to be; the sum is the longest, but for small parts of a long unit. */
static int fact_columns(const struct rtl_ui *ui, const struct span *all, const struct span *window)
{
    const uint64_t times[] = {all->total_ns, all->min_ns, window->total_ns, window->min_ns};
    int width = 12;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        width = rtl_cell_width(width, rtl_text_columns(rtl_format_time(times[i], ui->units).text));
    return width;
}

/* The window beside the whole, line by line; then the shape of the last dispatch. */
static void draw_figures(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at,
                         const struct rtl_row *row, const struct span *all, const struct span *window)
{
    const int width = (at.cols - 12) / 2;
    static const char *const labels[] = {"calls", "timed", "total", "mean", "min", "p50", "p90", "p99", "p99.9", "max"};
    for (int i = 0; i < 10 && i < at.rows; i++) {
        rtl_frame_fill(frame, at.row + i, at.col, 1, RTL_ROLE_DIM, 0x2502);
        rtl_frame_put(frame, at.row + i, at.col + 2, 8, RTL_ROLE_LABEL, labels[i]);
        for (int side = 0; side < 2; side++) {
            const struct span *s = side ? all : window;
            struct rtl_number n;
            uint64_t ns[] = {0,         0,        s->total_ns, s->any ? s->total_ns / s->timed : 0,
                             s->min_ns, s->q[0],  s->q[1],     s->q[2],
                             s->q[3],   s->max_ns};
            if (i < 2)
                n = rtl_format_count(i ? s->timed : s->calls);
            else
                time_text(ui, s->any, ns[i], &n);
            rtl_frame_right(frame, at.row + i, at.col + 9 + side * (width + 1), width, RTL_ROLE_NORMAL, n.text);
        }
    }
    if (at.rows < 11 || !row->kernel->calls)
        return;
    char grid[48], group[48], text[160];
    bool known = rtl_cell_text(ui->model, row, RTL_COLUMN_GRID, ui->units, grid, sizeof grid) &&
                 rtl_cell_text(ui->model, row, RTL_COLUMN_WORKGROUP, ui->units, group, sizeof group);
    if (!known)
        return;
    rtl_frame_fill(frame, at.row + 10, at.col, 1, RTL_ROLE_DIM, 0x2502);
    snprintf(text, sizeof text, "grid %s wg %s", grid, group);
    rtl_frame_put(frame, at.row + 10, at.col + 2, at.cols - 2, RTL_ROLE_LABEL, text);
    if (at.rows < 12)
        return;
    rtl_frame_fill(frame, at.row + 11, at.col, 1, RTL_ROLE_DIM, 0x2502);
    rtl_frame_printf(frame, at.row + 11, at.col + 2, at.cols - 2, RTL_ROLE_LABEL, "lds %s scratch %s (last dispatch)",
                     rtl_format_bytes(row->kernel->lds_bytes).text, rtl_format_bytes(row->kernel->scratch_bytes).text);
}

static void draw_trend(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const struct rtl_row *row)
{
    const struct rtl_model *m = ui->model;
    uint32_t length = rtl_model_history_length(m);
    uint64_t most = 0, span = 0;
    if (!at.rows)
        return;
    for (uint32_t i = 0; i < length; i++) {
        uint64_t v = rtl_model_history(m, row, i);
        most = v > most ? v : most;
        span += m->history_ns[(m->samples - i) % RTL_MODEL_HISTORY];
    }
    struct rtl_number top = most ? rtl_format_time(most, ui->units) : (struct rtl_number){RTL_NONE};
    char label[80], age[32];
    snprintf(label, sizeof label, "P99 by interval, most %s ", top.text);
    snprintf(age, sizeof age, " %s", rtl_format_age(span).text);
    if (at.cols - rtl_text_columns(label) - (int)strlen(age) < 8)
        snprintf(label, sizeof label, "P99 most %s ", top.text);
    int left = rtl_text_columns(label), width = at.cols - left - (int)strlen(age);
    if (width < 8) { /* no room for words: the marks alone, and not over them */
        left = 0;
        width = at.cols;
    } else {
        rtl_frame_put(frame, at.row, 0, left, RTL_ROLE_LABEL, label);
        rtl_frame_right(frame, at.row, at.cols - (int)strlen(age), (int)strlen(age), RTL_ROLE_LABEL, age);
    }
    if (width < 1 || !length || !most)
        return;
    /* each mark is the highest of its share of the intervals, so a spike is never lost */
    int marks = (int)length < width ? (int)length : width;
    for (int i = 0; i < marks; i++) {
        uint32_t from = (uint32_t)((uint64_t)i * length / (uint32_t)marks);
        uint32_t to = (uint32_t)((uint64_t)(i + 1) * length / (uint32_t)marks);
        uint64_t high = 0;
        for (uint32_t back = from; back < to; back++) {
            uint64_t v = rtl_model_history(m, row, back);
            high = v > high ? v : high;
        }
        if (high)
            rtl_frame_spark(frame, at.row, left + width - 1 - i, RTL_ROLE_SPARK,
                            (int)(7.0 * (double)high / (double)most + 0.5));
    }
}

void rtl_draw_detail(const struct rtl_ui *ui, struct rtl_frame *frame)
{
    const struct rtl_model *m = ui->model;
    const struct rtl_row *row = rtl_ui_selected(ui);
    struct span all = {0}, window = {0};
    if (row) {
        all = span_between(row->zero, row->kernel);
        window = span_between(row->base, row->kernel);
    }
    int number = fact_columns(ui, &all, &window);
    struct rtl_layout_detail l = rtl_layout_detail(frame->rows, frame->cols, rtl_ui_name_rows(ui, frame->cols), number);
    if (l.kind == RTL_LAYOUT_NOTHING)
        return;
    const char *name = row ? rtl_model_name(m, row, ui->names, RTL_NAMES_WHOLE, frame->ascii) : "";
    if (l.kind == RTL_LAYOUT_LINE || !row) {
        char text[256] = "the kernel is gone";
        struct rtl_number p99;
        if (row)
            snprintf(text, sizeof text, "p99 %s %.200s", time_text(ui, row->window.count > 0, row->p99, &p99), name);
        rtl_frame_put(frame, 0, 0, frame->cols, RTL_ROLE_NORMAL, text);
        if (ui->prompt != RTL_PROMPT_NONE)
            rtl_draw_status(ui, frame, (struct rtl_rect){0});
        return;
    }
    rtl_draw_header(ui, frame, l.header, name);
    draw_counts(ui, frame, l.counts, row, &all);
    draw_quantiles(ui, frame, l.quantiles, &all);
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
    draw_histogram(ui, frame, l.histogram, row, &all);
    if (l.figures.rows)
        draw_figures(ui, frame, l.figures, row, &all, &window);
    draw_trend(ui, frame, l.trend, row);
    rtl_draw_status(ui, frame, l.status);
    rtl_draw_keys(ui, frame, l.keys);
}
