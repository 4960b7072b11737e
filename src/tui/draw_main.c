/* The main screen: gauges, sums and the ranked kernels; queues or copies in the kernels' place. See draw.h. */
#include "tui/draw_bars.h"
#include "model/cells.h"
#include "shm/gpu_names.h"
#include "text/text.h"

#include <stdio.h>
#include <string.h>

/* "212/4096": signals of ours in use, and how many there may be. */
static struct rtl_number signals_text(const struct rtl_snapshot *s)
{
    struct rtl_number n;
    if (s->signals_in_use < 100000 && s->signals_limit < 100000)
        snprintf(n.text, sizeof n.text, "%u/%u", (unsigned)s->signals_in_use, (unsigned)s->signals_limit);
    else
        snprintf(n.text, sizeof n.text, "%.7s/%.7s", rtl_format_count(s->signals_in_use).text,
                 rtl_format_count(s->signals_limit).text);
    return n;
}

static void draw_summary(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at)
{
    const struct rtl_model *m = ui->model;
    const struct rtl_snapshot *s = &m->latest->snapshot;
    char busy[32] = RTL_NONE;
    if (!at.rows)
        return;
    if (m->busy >= 0)
        snprintf(busy, sizeof busy, "%s%%", rtl_format_share(m->busy).text);
    int col = 0;
    char rate[32];
    snprintf(rate, sizeof rate, "%s/s", rtl_format_rate(m->rate).text);
    rtl_draw_piece(frame, at, &col, RTL_ROLE_VALUE, "busy", busy);
    rtl_draw_piece(frame, at, &col, RTL_ROLE_VALUE, "disp", rate);
    rtl_draw_piece(frame, at, &col, m->window_lost ? RTL_ROLE_WARN : RTL_ROLE_VALUE, "drop",
                   rtl_format_count(m->lost).text);
    rtl_draw_piece(frame, at, &col, RTL_ROLE_VALUE, "sig", signals_text(s).text);
    if (!m->worst ||
        !rtl_draw_piece(frame, at, &col, RTL_ROLE_VALUE, "worst p99", rtl_format_time(m->worst->p99, ui->units).text) ||
        at.cols - ++col < 8)
        return;
    char name[512];
    rtl_text_cut(name, sizeof name, rtl_model_name(m, m->worst, RTL_NAME_SHORT, RTL_NAMES_WHOLE, frame->ascii),
                 at.cols - col, 0, frame->ascii);
    rtl_frame_put(frame, at.row, col, at.cols - col, RTL_ROLE_NORMAL, name);
}

static void draw_gpu(const struct rtl_ui *ui, struct rtl_frame *frame, int row, int col, int width,
                     const struct rtl_gpu_row *gpu, int label)
{
    char name[16], share[16] = "   -", tail[200];
    if (gpu->busy >= 0)
        snprintf(share, sizeof share, "%3.0f%%", gpu->busy * 100);
    snprintf(name, sizeof name, "G%u", gpu->agent->gpu);
    if (ui->gpu_lines && width >= 60) {
        snprintf(tail, sizeof tail, " q%-5s %2u queues %6s/s  %s %s", rtl_format_exact(gpu->depth, 5).text, gpu->queues,
                 rtl_format_rate(gpu->rate).text, gpu->agent->name, rtl_pci_address(gpu->agent->bdf).text);
    } else if (width >= 36) {
        snprintf(tail, sizeof tail, " q%-4s %.8s", rtl_format_exact(gpu->depth, 5).text, gpu->agent->name);
    } else {
        snprintf(tail, sizeof tail, " q%-3s", rtl_format_exact(gpu->depth, 5).text);
    }
    int room = width - 2 - label - 5 - (int)strlen(tail); /* mark, gauge, share, tail, gap */
    rtl_frame_put(frame, row, col + 1, label, RTL_ROLE_LABEL, name);
    if (room >= 4)
        rtl_frame_gauge(frame, row, col + 1 + label, room, gpu->busy);
    else
        room = 0;
    int at = col + 1 + label + room;
    rtl_frame_printf(frame, row, at, col + width - at, RTL_ROLE_VALUE, " %s", share);
    rtl_frame_put(frame, row, at + 5, col + width - at - 5, RTL_ROLE_LABEL, tail);
}

static void draw_signals(const struct rtl_ui *ui, struct rtl_frame *frame, int row, int col, int width)
{
    const struct rtl_snapshot *s = &ui->model->latest->snapshot;
    char tail[64];
    if (width >= 36)
        snprintf(tail, sizeof tail, " %s peak %s", signals_text(s).text, rtl_format_exact(s->signals_peak, 5).text);
    else
        snprintf(tail, sizeof tail, " %s", rtl_format_exact(s->signals_in_use, 5).text);
    int room = width - 6 - (int)strlen(tail);
    rtl_frame_put(frame, row, col + 1, 4, RTL_ROLE_LABEL, "sig");
    if (room >= 4)
        rtl_frame_gauge(frame, row, col + 4, room,
                        s->signals_limit ? (double)s->signals_in_use / (double)s->signals_limit : 0);
    else
        room = 0;
    rtl_frame_put(frame, row, col + 4 + room, width - 4 - room, RTL_ROLE_LABEL, tail);
}

static void draw_gpus(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *l)
{
    const struct rtl_model *m = ui->model;
    int label = m->gpu_count > 10 ? 3 : 2;
    for (int i = 0; i < l->gpu_cells; i++) {
        int row = l->gpus.row + i % l->gpus.rows, col = i / l->gpus.rows * l->gpu_width;
        if (i < l->gpu_shown)
            draw_gpu(ui, frame, row, col, l->gpu_width, &m->gpus[i], label);
        else if (i == l->gpu_shown && (uint32_t)l->gpu_shown < m->gpu_count)
            rtl_frame_printf(frame, row, col + 1, l->gpu_width - 1, RTL_ROLE_WARN, "+%d more GPUs",
                             (int)m->gpu_count - l->gpu_shown);
        else if (i == l->gpu_cells - 1 && l->signal_cell)
            draw_signals(ui, frame, row, col, l->gpu_width);
    }
}

static void draw_head(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *l)
{
    const struct rtl_model *m = ui->model;
    rtl_frame_fill(frame, l->head.row, 0, l->head.cols, RTL_ROLE_HEADER, ' ');
    for (int i = 0; i < RTL_COLUMN_COUNT; i++) {
        if (l->column_at[i] < 0)
            continue;
        enum rtl_role role = i == (int)m->sort ? RTL_ROLE_HEADER_SORT : RTL_ROLE_HEADER;
        if (i == RTL_COLUMN_NAME || i == RTL_COLUMN_TREND)
            rtl_frame_put(frame, l->head.row, l->column_at[i], l->column_width[i], role, rtl_columns[i].header);
        else
            rtl_frame_right(frame, l->head.row, l->column_at[i], l->column_width[i], role, rtl_columns[i].header);
    }
    char shown[32];
    snprintf(shown, sizeof shown, "%u/%u", m->kernels_shown, m->row_count);
    if (l->column_width[RTL_COLUMN_NAME] > (int)strlen(shown) + 8)
        rtl_frame_right(frame, l->head.row, l->column_at[RTL_COLUMN_NAME], l->column_width[RTL_COLUMN_NAME],
                        RTL_ROLE_HEADER, shown);
}

/* The last intervals' p99, scaled to the row's own range; what hardly moves stays in the middle. */
static void draw_trend(const struct rtl_model *m, struct rtl_frame *frame, int row, int col, int width,
                       const struct rtl_row *kernel)
{
    uint64_t low = UINT64_MAX, high = 0;
    for (int i = 0; i < width; i++) {
        uint64_t v = rtl_model_history(m, kernel, (uint32_t)i);
        if (v && v < low)
            low = v;
        if (v > high)
            high = v;
    }
    for (int i = 0; i < width && high; i++) {
        uint64_t v = rtl_model_history(m, kernel, (uint32_t)i);
        if (!v)
            continue;
        int level = high - low < high / 10 ? 3 : (int)(7.0 * (double)(v - low) / (double)(high - low) + 0.5);
        rtl_frame_spark(frame, row, col + width - 1 - i, RTL_ROLE_SPARK, level);
    }
}

static void draw_row(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *l, int line,
                     const struct rtl_row *row, bool selected)
{
    const struct rtl_model *m = ui->model;
    bool idle = !row->window_calls;
    enum rtl_role role = idle ? RTL_ROLE_DIM : RTL_ROLE_NORMAL;
    for (int i = 0; i < RTL_COLUMN_COUNT; i++) {
        char text[48];
        if (l->column_at[i] < 0 || i == RTL_COLUMN_NAME)
            continue;
        if (i == RTL_COLUMN_TREND) {
            if (row->calls && !row->timed && row->untimed) /* no trend and never one: say why in its place */
                rtl_frame_put(frame, line, l->column_at[i], l->column_width[i], RTL_ROLE_WARN, "not timed");
            else
                draw_trend(m, frame, line, l->column_at[i], l->column_width[i], row);
            continue;
        }
        bool measured = rtl_cell_text(m, row, (enum rtl_column)i, ui->units, text, sizeof text);
        rtl_frame_right(frame, line, l->column_at[i], l->column_width[i], measured ? role : RTL_ROLE_DIM, text);
    }
    int col = l->column_at[RTL_COLUMN_NAME], width = l->column_width[RTL_COLUMN_NAME];
    rtl_draw_name_cell(ui, frame, line, col, width, role, row);
    if (selected)
        rtl_draw_cursor(frame, line, l->table.cols);
}

static void draw_kernels(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *l)
{
    const struct rtl_model *m = ui->model;
    draw_head(ui, frame, l);
    if (!m->shown) {
        const char *why = !m->row_count  ? "no kernel was dispatched yet"
                          : m->filter[0] ? "no kernel matches the filter; = clears it"
                                         : "no kernel was called in the window; i shows the idle ones";
        rtl_frame_put(frame, l->table.row, 2, l->table.cols - 2, RTL_ROLE_DIM, why);
        return;
    }
    const struct rtl_row *selected = rtl_ui_selected(ui);
    for (int i = 0; i < l->table.rows && ui->top + i < (int)m->shown; i++) {
        const struct rtl_row *row = &m->rows[m->order[ui->top + i]];
        draw_row(ui, frame, l, l->table.row + i, row, row == selected);
    }
}

void rtl_draw_main(const struct rtl_ui *ui, struct rtl_frame *frame)
{
    bool kernels = ui->view == RTL_VIEW_KERNELS;
    int widths[RTL_COLUMN_COUNT];
    struct rtl_layout_wants wants = rtl_ui_wants(ui, frame->cols);
    rtl_cell_widths(ui->model, ui->units, widths);
    wants.widths = widths;
    struct rtl_layout l = rtl_layout_main(frame->rows, frame->cols, &wants);
    if (l.kind == RTL_LAYOUT_LINE) {
        rtl_draw_line(ui, frame, l.line);
        if (ui->prompt != RTL_PROMPT_NONE)
            rtl_draw_status(ui, frame, (struct rtl_rect){0});
    }
    if (l.kind != RTL_LAYOUT_FULL)
        return;
    rtl_draw_header(ui, frame, l.header, *ui->title ? ui->title : ui->model->latest->snapshot.comm);
    draw_summary(ui, frame, l.summary);
    if (l.gpus.rows)
        draw_gpus(ui, frame, &l);
    if (l.coverage.rows)
        rtl_draw_coverage(ui, frame, l.coverage);
    if (kernels)
        draw_kernels(ui, frame, &l);
    else if (ui->view == RTL_VIEW_PROCESSES)
        rtl_draw_processes(ui, frame, &l);
    else if (ui->view == RTL_VIEW_RANKS)
        rtl_draw_ranks(ui, frame, &l);
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
