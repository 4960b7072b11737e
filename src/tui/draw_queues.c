/* The queues: how deep, how busy, how long a packet waits and how long the queue stands empty between two. */
#include "tui/draw.h"

#include <stdio.h>

/* X(header, width, least terminal width) in the order of the screen; `cells` below fills them in this order */
#define QUEUE_COLUMNS(X) \
    X("QUEUE", 8, 0)     \
    X("GPU", 4, 0)       \
    X("DEPTH", 6, 0)     \
    X("DISP/s", 7, 34)   \
    X("DISP", 7, 60)     \
    X("WAIT P50", 9, 72) \
    X("WAIT P99", 9, 44) \
    X("GAP P50", 8, 72)  \
    X("GAP P99", 8, 54)  \
    X("%UNTMD", 7, 86)   \
    X("SIZE", 7, 94)     \
    X("PACKETS", 8, 102) \
    X("STATE", 10, 114)

enum {
#define ONE(...) +1
    CELLS = 0 QUEUE_COLUMNS(ONE)
#undef ONE
};

struct cells {
    struct rtl_number text[CELLS];
};

static struct rtl_number time_or_none(bool measured, uint64_t ns, enum rtl_unit units)
{
    return measured ? rtl_format_time(ns, units) : (struct rtl_number){RTL_NONE};
}

static struct cells make_cells(const struct rtl_ui *ui, const struct rtl_queue_row *row)
{
    const struct rtl_queue_snapshot *q = row->queue;
    struct cells c;
    uint64_t untimed = 0;
    int i = 0;
    for (int r = 0; r < RTL_UNTIMED_LIMIT; r++)
        untimed += q->untimed[r];
    if (q->shared)
        c.text[i++] = (struct rtl_number){"others"};
    else
        snprintf(c.text[i++].text, sizeof c.text[0].text, "%llu", (unsigned long long)q->queue_id % 100000000);
    snprintf(c.text[i++].text, sizeof c.text[0].text, "G%u", q->gpu);
    c.text[i++] = rtl_format_count(q->depth);
    c.text[i++] = rtl_format_rate(row->rate);
    c.text[i++] = rtl_format_count(q->dispatches);
    c.text[i++] = time_or_none(row->has_wait, row->wait_p50, ui->units);
    c.text[i++] = time_or_none(row->has_wait, row->wait_p99, ui->units);
    c.text[i++] = time_or_none(row->has_gap, row->gap_p50, ui->units);
    c.text[i++] = time_or_none(row->has_gap, row->gap_p99, ui->units);
    c.text[i++] =
        q->dispatches ? rtl_format_share((double)untimed / (double)q->dispatches) : (struct rtl_number){RTL_NONE};
    c.text[i++] = rtl_format_count(q->size_packets);
    c.text[i++] = rtl_format_count(q->packets);
    c.text[i++] = q->live ? (struct rtl_number){"live"} : (struct rtl_number){"destroyed"};
    return c;
}

static void draw_cells(struct rtl_frame *frame, int line, int cols, enum rtl_role role, const struct cells *cells)
{
    int at = 1, i = 0;
#define CELL(header, width, from)                                                            \
    if (cols >= from) {                                                                      \
        rtl_frame_right(frame, line, at, width, role, cells ? cells->text[i].text : header); \
        at += width + 1;                                                                     \
    }                                                                                        \
    i++;
    QUEUE_COLUMNS(CELL)
#undef CELL
}

void rtl_draw_queues(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *l)
{
    const struct rtl_model *m = ui->model;
    rtl_frame_fill(frame, l->head.row, 0, l->head.cols, RTL_ROLE_HEADER, ' ');
    draw_cells(frame, l->head.row, l->head.cols, RTL_ROLE_HEADER, NULL);
    if (!m->queue_count)
        rtl_frame_put(frame, l->table.row, 2, l->table.cols - 2, RTL_ROLE_DIM, "no queue was created yet");
    for (int i = 0; i < l->table.rows && ui->queue_top + i < (int)m->queue_count; i++) {
        const struct rtl_queue_row *row = &m->queues[ui->queue_top + i];
        struct cells cells = make_cells(ui, row);
        draw_cells(frame, l->table.row + i, l->table.cols, row->queue->live ? RTL_ROLE_NORMAL : RTL_ROLE_DIM, &cells);
    }
}
