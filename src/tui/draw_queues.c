/*
 * The queues: depth, rate, waits of packets, gaps between kernels, and how their packets reach the library. Below them
 * the reasons for that, and the GPUs: idle time by length of gap, and the error of their clocks.
 */
#include "tui/draw_views.h"
#include "model/coverage.h"
#include "model/labels.h"
#include "model/queue_error.h"
#include "shm/gpu_names.h"
#include "tui/screen_tables.h"

#include <stdio.h>
#include <string.h>

enum { UUID_COLS = 20, IDLE_COLS = 6 };
#define GPU_COLUMNS(X, IDLE) RTL_GPU_COLUMNS_BEFORE(X) RTL_IDLE_CLASSES(IDLE) RTL_GPU_COLUMNS_BEHIND(X)

#define HEADER(header, width, from, meaning) {header},
#define WIDTH(header, width, from, meaning)  width,
#define FROM(header, width, from, meaning)   from,
#define IDLE_HEADER(number, below, header)   {header},
#define IDLE_WIDTH(number, below, header)    IDLE_COLS,
#define IDLE_FROM(number, below, header)     18 + (IDLE_COLS + 1) * (number),
static const struct rtl_number queue_headers[] = {RTL_QUEUE_COLUMNS(HEADER)},
                               gpu_headers[] = {GPU_COLUMNS(HEADER, IDLE_HEADER)};
static const int queue_widths[] = {RTL_QUEUE_COLUMNS(WIDTH)}, gpu_widths[] = {GPU_COLUMNS(WIDTH, IDLE_WIDTH)};
static const int queue_froms[] = {RTL_QUEUE_COLUMNS(FROM)}, gpu_froms[] = {GPU_COLUMNS(FROM, IDLE_FROM)};
enum { QUEUE_CELLS = sizeof queue_widths / sizeof(int), GPU_CELLS = sizeof gpu_widths / sizeof(int) };

struct queue_cells {
    struct rtl_number text[QUEUE_CELLS];
};
struct gpu_cells {
    struct rtl_number text[GPU_CELLS];
};

static struct queue_cells make_cells(const struct rtl_ui *ui, const struct rtl_queue_row *row)
{
    const struct rtl_queue_snapshot *q = row->queue;
    struct queue_cells c;
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
    c.text[i++] = rtl_draw_time(ui, row->has_wait, row->wait_p50);
    c.text[i++] = rtl_draw_time(ui, row->has_wait, row->wait_p99);
    c.text[i++] = rtl_draw_time(ui, row->has_gap, row->gap_p50);
    c.text[i++] = rtl_draw_time(ui, row->has_gap, row->gap_p99);
    c.text[i++] =
        q->dispatches ? rtl_format_share((double)untimed / (double)q->dispatches) : (struct rtl_number){RTL_NONE};
    c.text[i++] = rtl_format_exact(q->size_packets, 10);
    c.text[i++] = rtl_format_exact(q->packets, 8);
    c.text[i++] = !q->live   ? (struct rtl_number){"destroyed"}
                  : q->error ? (struct rtl_number){"failed"}
                             : (struct rtl_number){"live"};
    snprintf(c.text[i++].text, sizeof c.text[0].text, "%s", rtl_path_reason_label(q->path_reason));
    return c;
}

static struct gpu_cells make_gpu_cells(const struct rtl_ui *ui, const struct rtl_gpu_row *row)
{
    const struct rtl_agent_snapshot *a = row->agent;
    const struct rtl_number none = {RTL_NONE};
    struct gpu_cells c;
    int i = 0;
    snprintf(c.text[i++].text, sizeof c.text[0].text, "G%u", a->gpu);
    snprintf(c.text[i++].text, sizeof c.text[0].text, "%.23s", rtl_pci_address(a->bdf).text);
    c.text[i] = row->busy >= 0 ? rtl_format_share(row->busy) : none;
    if (row->busy > 0 && a->users > 1) /* a sum over processes is an upper bound */
        snprintf(c.text[i].text, sizeof c.text[0].text, "<%.8s", rtl_format_share(row->busy).text);
    i++;
    for (int size = 0; size < RTL_IDLE_COUNT; size++)
        c.text[i++] = row->idle[size] >= 0 ? rtl_format_share(row->idle[size]) : none;
    c.text[i++] = rtl_draw_time(ui, a->clock_residuals, a->clock_residual_ns);
    c.text[i++] = a->clock_drift_over_ns ? rtl_format_ppb(a->clock_drift_ppb) : none;
    c.text[i++] = row->idle_rate >= 0 ? rtl_format_rate(row->idle_rate) : none;
    return c;
}

/* Columns are wider than usual where a unit makes long numbers. Width 0: the terminal is too narrow for the column. */
struct queue_table_widths {
    int queue[QUEUE_CELLS], gpu[GPU_CELLS];
};

static struct queue_table_widths make_widths(const struct rtl_ui *ui, int cols)
{
    struct queue_table_widths w;
    memcpy(w.queue, queue_widths, sizeof w.queue);
    memcpy(w.gpu, gpu_widths, sizeof w.gpu);
    for (uint32_t i = 0; i < ui->model->queue_count; i++)
        rtl_draw_widen(w.queue, QUEUE_CELLS, make_cells(ui, &ui->model->queues[i]).text);
    for (uint32_t i = 0; i < ui->model->gpu_count; i++)
        rtl_draw_widen(w.gpu, GPU_CELLS, make_gpu_cells(ui, &ui->model->gpus[i]).text);
    bool several = ui->model->latest->snapshot.parts; /* one process needs no PID, which the tables don't count with */
    w.queue[0] = several ? w.queue[0] : 0;
    for (int i = 0; i < QUEUE_CELLS; i++)
        w.queue[i] = cols - (several ? w.queue[0] + 1 : 0) >= queue_froms[i] ? w.queue[i] : 0;
    for (int i = 0; i < GPU_CELLS; i++)
        w.gpu[i] = cols >= gpu_froms[i] ? w.gpu[i] : 0;
    return w;
}

static void draw_gpu_cells(struct rtl_frame *frame, int line, int cols, enum rtl_role role, const int *widths,
                           const struct rtl_number *cells, const char *uuid)
{
    int at = rtl_draw_cells(frame, line, cols, role, GPU_CELLS, widths, cells);
    if (cols >= RTL_UUID_FROM && at + 1 + UUID_COLS <= cols)
        rtl_frame_put(frame, line, at + 1, UUID_COLS, role, uuid);
}

/* Queues with an error; each has a line below the queues. */
static int count_failed(const struct rtl_model *model)
{
    int failed = 0;
    for (uint32_t i = 0; i < model->queue_count; i++)
        failed += model->queues[i].queue->error != 0;
    return failed;
}

int rtl_draw_queue_lines(const struct rtl_model *model)
{
    struct rtl_queue_path_line paths[RTL_QUEUE_PATH_LINES];
    return (int)model->queue_count + count_failed(model) + rtl_queue_path_lines(model, paths) +
           (model->gpu_count ? 2 + (int)model->gpu_count : 0);
}

static void draw_path_reason(struct rtl_frame *frame, int line, int cols, const struct rtl_queue_path_line *path)
{
    char text[256];
    bool keys = cols >= RTL_REASON_FROM; /* wide terminals show the column WHY with the same keys */
    snprintf(text, sizeof text, "%s%s%s: %s", rtl_queue_path_label(path->path), keys ? ", " : "",
             keys ? rtl_path_reason_label(path->why) : "", rtl_path_reason_words(path->why));
    rtl_frame_put(frame, line, 1, cols - 1, path->path == RTL_PATH_DEMOTED ? RTL_ROLE_WARN : RTL_ROLE_LABEL, text);
}

/* Draw the error of the n-th queue that has one. */
static void draw_error(const struct rtl_model *m, struct rtl_frame *frame, int line, int cols, int n)
{
    char text[320];
    uint32_t i = 0;
    while (i + 1 < m->queue_count && (!m->queues[i].queue->error || n-- > 0))
        i++;
    const struct rtl_queue_snapshot *q = m->queues[i].queue;
    snprintf(text, sizeof text, "%s: ", rtl_queue_label(&m->latest->snapshot, q).text);
    rtl_queue_error_sentence(m, q, text + strlen(text), sizeof text - strlen(text));
    rtl_frame_put(frame, line, 1, cols - 1, q->live ? RTL_ROLE_ALERT : RTL_ROLE_LABEL, text);
}

/* Draw line i: the queues, their errors, the reasons for their paths, two header lines, the GPUs. */
static void draw_line(const struct rtl_ui *ui, struct rtl_frame *frame, int line, int cols,
                      const struct queue_table_widths *w, int i)
{
    const struct rtl_model *m = ui->model;
    struct rtl_queue_path_line paths[RTL_QUEUE_PATH_LINES];
    int error = i - (int)m->queue_count, failed = count_failed(m), path = error - failed;
    int path_count = rtl_queue_path_lines(m, paths), gpu = path - path_count - 2;
    if (i < (int)m->queue_count) {
        const struct rtl_queue_snapshot *q = m->queues[i].queue;
        enum rtl_role role = !q->live ? RTL_ROLE_DIM : q->error ? RTL_ROLE_ALERT : RTL_ROLE_NORMAL;
        rtl_draw_cells(frame, line, cols, role, QUEUE_CELLS, w->queue, make_cells(ui, &m->queues[i]).text);
    } else if (error < failed) {
        draw_error(m, frame, line, cols, error);
    } else if (path < path_count) {
        draw_path_reason(frame, line, cols, &paths[path]);
    } else if (gpu == -2) {
        int at = cols >= RTL_PCI_FROM ? 26 : 13; /* above the columns of gaps */
        rtl_frame_put(frame, line, at, cols - at, RTL_ROLE_LABEL, "% idle, by length of gap");
    } else if (gpu == -1) {
        rtl_frame_fill(frame, line, 0, cols, RTL_ROLE_HEADER, ' ');
        draw_gpu_cells(frame, line, cols, RTL_ROLE_HEADER, w->gpu, gpu_headers, RTL_GPU_UUID);
    } else if (gpu >= 0) {
        const char *uuid = m->gpus[gpu].agent->uuid;
        draw_gpu_cells(frame, line, cols, RTL_ROLE_NORMAL, w->gpu, make_gpu_cells(ui, &m->gpus[gpu]).text,
                       *uuid ? uuid : RTL_NONE);
    }
}

void rtl_draw_queues(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *l)
{
    const struct rtl_model *m = ui->model;
    int lines = rtl_draw_queue_lines(m);
    struct queue_table_widths w = make_widths(ui, l->table.cols);
    rtl_frame_fill(frame, l->head.row, 0, l->head.cols, RTL_ROLE_HEADER, ' ');
    rtl_draw_cells(frame, l->head.row, l->head.cols, RTL_ROLE_HEADER, QUEUE_CELLS, w.queue, queue_headers);
    if (!m->queue_count)
        rtl_frame_put(frame, l->table.row, 2, l->table.cols - 2, RTL_ROLE_DIM, "no queue was created yet");
    for (int i = 0; i < l->table.rows && ui->line_top[RTL_VIEW_QUEUES] + i < lines; i++) {
        draw_line(ui, frame, l->table.row + i, l->table.cols, &w, ui->line_top[RTL_VIEW_QUEUES] + i);
        if (ui->line_top[RTL_VIEW_QUEUES] + i == ui->line_at[RTL_VIEW_QUEUES])
            rtl_draw_cursor(frame, l->table.row + i, l->table.cols);
    }
}
