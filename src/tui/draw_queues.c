/*
 * The queues: depth, rate, waits of packets and gaps between kernels. Below them how their packets reach the library,
 * and the GPUs: idle time by length of gap.
 */
#include "tui/draw_views.h"
#include "model/coverage.h"
#include "model/labels.h"
#include "model/model_gpus.h"
#include "model/queue_error.h"
#include "shm/gpu_names.h"
#include "tui/screen_tables.h"
#include "tui/table.h"

#include <stdio.h>
#include <string.h>

enum { UUID_COLS = 20, IDLE_COLS = 6 };
#define IDLE_COLUMN(number, below, header) {header, IDLE_COLS, 18 + (IDLE_COLS + 1) * (number)},
static const struct rtl_table_column queue_columns[] = {RTL_QUEUE_COLUMNS(RTL_TABLE_COLUMN)},
                                     gpu_columns[] = {RTL_GPU_COLUMNS_BEFORE(RTL_TABLE_COLUMN) RTL_IDLE_CLASSES(
                                         IDLE_COLUMN) RTL_GPU_COLUMNS_BEHIND(RTL_TABLE_COLUMN)};

static struct rtl_table_row make_cells(const struct rtl_ui *ui, const struct rtl_queue_row *row)
{
    const struct rtl_queue_snapshot *q = row->queue;
    const struct rtl_number none = {RTL_NONE};
    struct rtl_table_row c;
    uint64_t untimed = 0;
    int i = 0;
    for (int r = 0; r < RTL_UNTIMED_LIMIT; r++)
        untimed += q->untimed[r];
    snprintf(c.cell[i++].text, sizeof c.cell[0].text, "%llu", (unsigned long long)q->pid);
    if (q->shared)
        c.cell[i++] = (struct rtl_number){"others"};
    else
        snprintf(c.cell[i++].text, sizeof c.cell[0].text, "%llu", (unsigned long long)q->queue_id % 100000000);
    snprintf(c.cell[i++].text, sizeof c.cell[0].text, "G%u", q->gpu);
    c.cell[i++] = rtl_depth_is_known(&ui->model->latest->snapshot, q) ? rtl_format_exact(q->depth, 6) : none;
    c.cell[i++] = rtl_format_rate(row->rate);
    c.cell[i++] = rtl_format_count(q->dispatches);
    c.cell[i++] = rtl_draw_time(ui, row->has_wait, row->wait_p50);
    c.cell[i++] = rtl_draw_time(ui, row->has_wait, row->wait_p99);
    c.cell[i++] = rtl_draw_time(ui, row->has_gap, row->gap_p50);
    c.cell[i++] = rtl_draw_time(ui, row->has_gap, row->gap_p99);
    c.cell[i++] = q->dispatches ? rtl_format_share((double)untimed / (double)q->dispatches) : none;
    c.cell[i++] = rtl_format_exact(q->size_packets, 10);
    c.cell[i++] = rtl_format_exact(q->packets, 8);
    snprintf(c.cell[i++].text, sizeof c.cell[0].text, "%s", !q->live ? "destroyed" : q->error ? "failed" : "live");
    return c;
}

static struct rtl_table_row make_gpu_cells(const struct rtl_gpu_row *row)
{
    const struct rtl_agent_snapshot *a = row->agent;
    const struct rtl_number none = {RTL_NONE};
    struct rtl_table_row c;
    int i = 0;
    snprintf(c.cell[i++].text, sizeof c.cell[0].text, "G%u", a->gpu);
    snprintf(c.cell[i++].text, sizeof c.cell[0].text, "%.23s", rtl_pci_address(a->bdf).text);
    c.cell[i] = row->busy >= 0 ? rtl_format_share(row->busy) : none;
    if (row->busy > 0 && a->users > 1) /* a sum over processes is an upper bound */
        snprintf(c.cell[i].text, sizeof c.cell[0].text, "<%.8s", rtl_format_share(row->busy).text);
    i++;
    for (int size = 0; size < RTL_IDLE_COUNT; size++)
        c.cell[i++] = row->idle[size] >= 0 ? rtl_format_share(row->idle[size]) : none;
    c.cell[i++] = rtl_format_rate(row->idle_rate);
    return c;
}

struct queue_tables {
    struct rtl_table queues, gpus;
};

static struct queue_tables make_tables(const struct rtl_ui *ui, int cols)
{
    struct queue_tables t = {rtl_table_begin(queue_columns, sizeof queue_columns / sizeof *queue_columns),
                             rtl_table_begin(gpu_columns, sizeof gpu_columns / sizeof *gpu_columns)};
    for (uint32_t i = 0; i < ui->model->queue_count; i++)
        rtl_table_widen(&t.queues, make_cells(ui, &ui->model->queues[i]).cell);
    for (uint32_t i = 0; i < ui->model->gpu_count; i++)
        rtl_table_widen(&t.gpus, make_gpu_cells(&ui->model->gpus[i]).cell);
    int *pid = &t.queues.width[0]; /* one process needs no PID, which the tables don't count with */
    *pid = ui->model->latest->snapshot.parts ? *pid : 0;
    rtl_table_place(&t.queues, cols - (*pid ? *pid + 1 : 0), cols);
    rtl_table_place(&t.gpus, cols, cols);
    return t;
}

static void put_uuid(const struct rtl_table *gpus, struct rtl_frame *frame, int line, int cols, enum rtl_role role,
                     const char *uuid)
{
    if (cols >= RTL_UUID_FROM && gpus->end + 1 + UUID_COLS <= cols)
        rtl_frame_put(frame, line, gpus->end + 1, UUID_COLS, role, uuid);
}

struct queue_note {
    char text[320];
    enum rtl_role role;
};

/* Write the n-th note below the queues: errors, then the reasons for their paths. Returns the number of notes. */
static int make_queue_note(const struct rtl_model *m, int n, struct queue_note *note)
{
    struct rtl_queue_path_line paths[RTL_QUEUE_PATH_LINES];
    int notes = 0;
    for (uint32_t i = 0; i < m->queue_count; i++) {
        const struct rtl_queue_snapshot *q = m->queues[i].queue;
        if (!q->error || notes++ != n)
            continue;
        note->role = q->live ? RTL_ROLE_ALERT : RTL_ROLE_LABEL;
        snprintf(note->text, sizeof note->text, "%s: ", rtl_queue_label(&m->latest->snapshot, q).text);
        size_t used = strlen(note->text);
        rtl_queue_error_sentence(m, q, note->text + used, sizeof note->text - used);
    }
    int path_count = rtl_queue_path_lines(m, paths);
    for (int i = 0; i < path_count; i++) {
        if (notes++ != n)
            continue;
        note->role = paths[i].path == RTL_PATH_DEMOTED ? RTL_ROLE_VALUE : RTL_ROLE_LABEL;
        snprintf(note->text, sizeof note->text, "%s: %s", rtl_queue_path_label(paths[i].path),
                 rtl_path_reason_words(paths[i].why));
    }
    return notes;
}

int rtl_draw_queue_lines(const struct rtl_ui *ui)
{
    const struct rtl_model *model = ui->model;
    return (int)model->queue_count + make_queue_note(model, -1, NULL) +
           (model->gpu_count ? 2 + (int)model->gpu_count : 0);
}

/* Draw line i: the queues, the notes, two header lines, the GPUs. */
static void draw_line(const struct rtl_ui *ui, struct rtl_frame *frame, int line, int cols,
                      const struct queue_tables *t, int i)
{
    const struct rtl_model *m = ui->model;
    struct queue_note note;
    int n = i - (int)m->queue_count, gpu = n - make_queue_note(m, n, &note) - 2;
    if (n < 0) {
        const struct rtl_queue_snapshot *q = m->queues[i].queue;
        enum rtl_role role = !q->live ? RTL_ROLE_DIM : q->error ? RTL_ROLE_ALERT : RTL_ROLE_NORMAL;
        rtl_table_draw(&t->queues, frame, line, role, make_cells(ui, &m->queues[i]).cell);
    } else if (gpu < -2) {
        rtl_frame_put(frame, line, 1, cols - 1, note.role, note.text);
    } else if (gpu == -2) {
        int at = cols >= RTL_PCI_FROM ? 26 : 13; /* above the columns of gaps */
        rtl_frame_put(frame, line, at, cols - at, RTL_ROLE_LABEL, "% idle, by length of gap");
    } else if (gpu == -1) {
        rtl_frame_fill(frame, line, 0, cols, RTL_ROLE_HEADER, ' ');
        rtl_table_head(&t->gpus, frame, line, -1);
        put_uuid(&t->gpus, frame, line, cols, RTL_ROLE_HEADER, RTL_GPU_UUID);
    } else {
        const char *uuid = m->gpus[gpu].agent->uuid;
        rtl_table_draw(&t->gpus, frame, line, RTL_ROLE_NORMAL, make_gpu_cells(&m->gpus[gpu]).cell);
        put_uuid(&t->gpus, frame, line, cols, RTL_ROLE_NORMAL, *uuid ? uuid : RTL_NONE);
    }
}

void rtl_draw_queues(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *l)
{
    const struct rtl_model *m = ui->model;
    int lines = rtl_draw_queue_lines(ui), top = l->table.row + !m->queue_count, rows = l->table.rows - !m->queue_count;
    struct queue_tables t = make_tables(ui, l->table.cols);
    rtl_table_head(&t.queues, frame, l->head.row, -1);
    if (!m->queue_count)
        rtl_frame_put(frame, l->table.row, 2, l->table.cols - 2, RTL_ROLE_DIM, "no queue was created yet");
    for (int i = 0; i < rows && ui->line_top[RTL_VIEW_QUEUES] + i < lines; i++) {
        draw_line(ui, frame, top + i, l->table.cols, &t, ui->line_top[RTL_VIEW_QUEUES] + i);
        if (ui->line_top[RTL_VIEW_QUEUES] + i == ui->line_at[RTL_VIEW_QUEUES])
            rtl_draw_cursor(frame, top + i, l->table.cols);
    }
}
