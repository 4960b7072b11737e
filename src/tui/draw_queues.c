/*
 * The queues: how deep, how busy, how long a packet waits and how long the queue stands empty between two, and in which
 * way its packets come to the library. Below them why they do, and the GPUs: in gaps of which size they stand idle, and
 * how well their clocks are known.
 */
#include "tui/draw.h"
#include "model/coverage.h"
#include "model/cells.h"
#include "shm/gpu_names.h"
#include "text/text.h"
#include "tui/screen_tables.h"

#include <stdio.h>

enum { UUID_COLS = 20, IDLE_COLS = 6 };
#define GPU_COLUMNS(X, IDLE) RTL_GPU_COLUMNS_BEFORE(X) RTL_IDLE_CLASSES(IDLE) RTL_GPU_COLUMNS_BEHIND(X)

enum {
#define ONE(...) +1
    QUEUE_CELLS = 0 RTL_QUEUE_COLUMNS(ONE),
    GPU_CELLS = 0 GPU_COLUMNS(ONE, ONE),
#undef ONE
    CELLS = (int)QUEUE_CELLS > (int)GPU_CELLS ? (int)QUEUE_CELLS : (int)GPU_CELLS,
};

struct cells {
    struct rtl_number text[CELLS];
    const char *uuid; /* longer than a number; GPUs only */
};

static struct rtl_number time_or_none(bool measured, uint64_t ns, enum rtl_unit units)
{
    return measured ? rtl_format_time(ns, units) : (struct rtl_number){RTL_NONE};
}

static struct cells make_cells(const struct rtl_ui *ui, const struct rtl_queue_row *row)
{
    const struct rtl_queue_snapshot *q = row->queue;
    struct cells c = {.uuid = ""};
    uint64_t untimed = 0;
    int i = 0;
    for (int r = 0; r < RTL_UNTIMED_LIMIT; r++)
        untimed += q->untimed[r];
    snprintf(c.text[i++].text, sizeof c.text[0].text, "%llu", (unsigned long long)q->pid);
    if (q->shared)
        c.text[i++] = (struct rtl_number){"others"};
    else
        snprintf(c.text[i++].text, sizeof c.text[0].text, "%llu", (unsigned long long)q->queue_id % 100000000);
    snprintf(c.text[i++].text, sizeof c.text[0].text, "G%u", q->gpu);
    snprintf(c.text[i++].text, sizeof c.text[0].text, "%s", rtl_queue_path_label(q->path));
    c.text[i++] = rtl_format_exact(q->depth, 6);
    c.text[i++] = rtl_format_rate(row->rate);
    c.text[i++] = rtl_format_count(q->dispatches);
    c.text[i++] = time_or_none(row->has_wait, row->wait_p50, ui->units);
    c.text[i++] = time_or_none(row->has_wait, row->wait_p99, ui->units);
    c.text[i++] = time_or_none(row->has_gap, row->gap_p50, ui->units);
    c.text[i++] = time_or_none(row->has_gap, row->gap_p99, ui->units);
    c.text[i++] =
        q->dispatches ? rtl_format_share((double)untimed / (double)q->dispatches) : (struct rtl_number){RTL_NONE};
    c.text[i++] = rtl_format_exact(q->size_packets, 10);
    c.text[i++] = rtl_format_exact(q->packets, 8);
    c.text[i++] = q->live ? (struct rtl_number){"live"} : (struct rtl_number){"destroyed"};
    snprintf(c.text[i++].text, sizeof c.text[0].text, "%s", rtl_path_reason_label(q->path_reason));
    return c;
}

static struct cells make_gpu_cells(const struct rtl_ui *ui, const struct rtl_gpu_row *row)
{
    const struct rtl_agent_snapshot *a = row->agent;
    const struct rtl_number none = {RTL_NONE};
    struct cells c = {.uuid = *a->uuid ? a->uuid : RTL_NONE};
    int i = 0;
    snprintf(c.text[i++].text, sizeof c.text[0].text, "G%u", a->gpu);
    snprintf(c.text[i++].text, sizeof c.text[0].text, "%.23s", rtl_pci_address(a->bdf).text);
    c.text[i] = row->busy >= 0 ? rtl_format_share(row->busy) : none;
    if (row->busy > 0 && a->users > 1) /* the sum of several processes: at most */
        snprintf(c.text[i].text, sizeof c.text[0].text, "<%.8s", rtl_format_share(row->busy).text);
    i++;
    for (int size = 0; size < RTL_IDLE_COUNT; size++)
        c.text[i++] = row->idle[size] >= 0 ? rtl_format_share(row->idle[size]) : none;
    c.text[i++] = time_or_none(a->clock_residuals, a->clock_residual_ns, ui->units);
    c.text[i++] = a->clock_drift_over_ns ? rtl_format_ppb(a->clock_drift_ppb) : none;
    c.text[i++] = row->idle_rate >= 0 ? rtl_format_rate(row->idle_rate) : none;
    return c;
}

/* How wide the columns are with these rows: wider than the tables say where a unit makes long numbers. */
struct widths {
    int queue[QUEUE_CELLS], gpu[GPU_CELLS];
};

static void widen(int *widths, int count, const struct cells *cells)
{
    for (int i = 0; i < count; i++)
        widths[i] = rtl_cell_width(widths[i], rtl_text_columns(cells->text[i].text));
}

static struct widths make_widths(const struct rtl_ui *ui)
{
#define WIDTH(header, width, from, meaning) width,
#define IDLE_WIDTH(number, below, header)   IDLE_COLS,
    struct widths w = {{RTL_QUEUE_COLUMNS(WIDTH)}, {GPU_COLUMNS(WIDTH, IDLE_WIDTH)}};
#undef WIDTH
#undef IDLE_WIDTH
    for (uint32_t i = 0; i < ui->model->queue_count; i++) {
        struct cells cells = make_cells(ui, &ui->model->queues[i]);
        widen(w.queue, QUEUE_CELLS, &cells);
    }
    if (!ui->model->latest->snapshot.parts) /* all are the one process's */
        w.queue[0] = 0;
    for (uint32_t i = 0; i < ui->model->gpu_count; i++) {
        struct cells cells = make_gpu_cells(ui, &ui->model->gpus[i]);
        widen(w.gpu, GPU_CELLS, &cells);
    }
    return w;
}

/* Without cells: the headers. What has no room is left out whole. `narrower`: columns that the tables don't count with.
 */
#define CELL(header, width, from, meaning)                                                       \
    if (widths[i] && cols - narrower >= (from) && at + widths[i] <= cols) {                      \
        rtl_frame_right(frame, line, at, widths[i], role, cells ? cells->text[i].text : header); \
        at += widths[i] + 1;                                                                     \
    }                                                                                            \
    i++;
#define IDLE_CELL(number, below, header) CELL(header, IDLE_COLS, 18 + (IDLE_COLS + 1) * (number), "")

static void draw_cells(struct rtl_frame *frame, int line, int cols, enum rtl_role role, const int *widths,
                       const struct cells *cells)
{
    int at = 1, i = 0, narrower = widths[0] ? widths[0] + 1 : 0;
    RTL_QUEUE_COLUMNS(CELL)
}

static void draw_gpu_cells(struct rtl_frame *frame, int line, int cols, enum rtl_role role, const int *widths,
                           const struct cells *cells)
{
    int at = 1, i = 0;
    const int narrower = 0;
    GPU_COLUMNS(CELL, IDLE_CELL)
    if (cols >= RTL_UUID_FROM && at + 1 + UUID_COLS <= cols)
        rtl_frame_put(frame, line, at + 1, UUID_COLS, role, cells ? cells->uuid : RTL_GPU_UUID);
}

int rtl_draw_queue_lines(const struct rtl_model *model)
{
    struct rtl_queue_path_line ways[RTL_QUEUE_PATH_LINES];
    return (int)model->queue_count + rtl_queue_path_lines(model, ways) +
           (model->gpu_count ? 2 + (int)model->gpu_count : 0);
}

static void draw_way(struct rtl_frame *frame, int line, int cols, const struct rtl_queue_path_line *way)
{
    char text[256];
    bool keys = cols >= RTL_REASON_FROM; /* as in the column */
    snprintf(text, sizeof text, "%s%s%s: %s", rtl_queue_path_label(way->path), keys ? ", " : "",
             keys ? rtl_path_reason_label(way->why) : "", rtl_path_reason_words(way->why));
    rtl_frame_put(frame, line, 1, cols - 1, way->path == RTL_PATH_DEMOTED ? RTL_ROLE_WARN : RTL_ROLE_LABEL, text);
}

/* Line i of those there are to scroll through: the queues, why they are watched so, two of headers, the GPUs. */
static void draw_line(const struct rtl_ui *ui, struct rtl_frame *frame, int line, int cols, const struct widths *w,
                      int i)
{
    const struct rtl_model *m = ui->model;
    struct rtl_queue_path_line ways[RTL_QUEUE_PATH_LINES];
    int way = i - (int)m->queue_count, way_count = rtl_queue_path_lines(m, ways), gpu = way - way_count - 2;
    if (i < (int)m->queue_count) {
        struct cells cells = make_cells(ui, &m->queues[i]);
        draw_cells(frame, line, cols, m->queues[i].queue->live ? RTL_ROLE_NORMAL : RTL_ROLE_DIM, w->queue, &cells);
    } else if (way < way_count) {
        draw_way(frame, line, cols, &ways[way]);
    } else if (gpu == -2) {
        int at = cols >= RTL_PCI_FROM ? 26 : 13; /* over the classes */
        rtl_frame_put(frame, line, at, cols - at, RTL_ROLE_LABEL, "% idle, by length of gap");
    } else if (gpu == -1) {
        rtl_frame_fill(frame, line, 0, cols, RTL_ROLE_HEADER, ' ');
        draw_gpu_cells(frame, line, cols, RTL_ROLE_HEADER, w->gpu, NULL);
    } else if (gpu >= 0) {
        struct cells cells = make_gpu_cells(ui, &m->gpus[gpu]);
        draw_gpu_cells(frame, line, cols, RTL_ROLE_NORMAL, w->gpu, &cells);
    }
}

void rtl_draw_queues(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *l)
{
    const struct rtl_model *m = ui->model;
    int lines = rtl_draw_queue_lines(m);
    struct widths w = make_widths(ui);
    rtl_frame_fill(frame, l->head.row, 0, l->head.cols, RTL_ROLE_HEADER, ' ');
    draw_cells(frame, l->head.row, l->head.cols, RTL_ROLE_HEADER, w.queue, NULL);
    if (!m->queue_count)
        rtl_frame_put(frame, l->table.row, 2, l->table.cols - 2, RTL_ROLE_DIM, "no queue was created yet");
    for (int i = 0; i < l->table.rows && ui->queue_top + i < lines; i++) {
        draw_line(ui, frame, l->table.row + i, l->table.cols, &w, ui->queue_top + i);
        if (ui->queue_top + i == ui->queue_at)
            rtl_draw_cursor(frame, l->table.row + i, l->table.cols);
    }
}
