/* Copies by GPU and direction: rates, durations, bytes; below them the reasons for untimed copies. */
#include "tui/draw_views.h"
#include "model/labels.h"
#include "tui/screen_tables.h"
#include "tui/table.h"

#include <stdio.h>

static const struct rtl_table_column columns[] = {RTL_COPIES_COLUMNS(RTL_TABLE_COLUMN)};

static struct rtl_table_row make_cells(const struct rtl_ui *ui, const struct rtl_copies_row *row)
{
    const struct rtl_copies_snapshot *copies = row->copies;
    const struct rtl_number none = {RTL_NONE};
    bool span = ui->model->counted_ns, timed = row->window.count;
    struct rtl_table_row c;
    int i = 0;
    snprintf(c.cell[i++].text, sizeof c.cell[0].text, "G%u", copies->gpu);
    snprintf(c.cell[i++].text, sizeof c.cell[0].text, "%s", rtl_direction_names(copies->direction).text);
    c.cell[i++] = span ? rtl_format_rate(row->rate) : none;
    c.cell[i++] = span ? rtl_format_rate(row->bandwidth) : none;
    c.cell[i++] = span && timed ? rtl_format_share(row->share) : none;
    c.cell[i++] = rtl_draw_time(ui, timed, row->p50);
    c.cell[i++] = rtl_draw_time(ui, timed, row->p99);
    c.cell[i++] = row->window_count ? rtl_format_bytes(row->window_bytes / row->window_count) : none;
    c.cell[i++] = timed && row->window.total_ns
                      ? rtl_format_rate((double)row->window_timed_bytes / (double)row->window.total_ns * 1e9)
                      : none;
    c.cell[i++] = rtl_format_count(copies->count);
    c.cell[i++] = rtl_format_bytes(copies->bytes);
    c.cell[i++] = rtl_format_share((double)row->untimed / (double)copies->count);
    c.cell[i++] = rtl_draw_time(ui, timed, row->window.min_ns);
    c.cell[i++] = rtl_draw_time(ui, timed, row->window.max_ns);
    return c;
}

static struct rtl_table make_table(const struct rtl_ui *ui, int cols)
{
    struct rtl_table table = rtl_table_begin(columns, sizeof columns / sizeof *columns);
    for (uint32_t r = 0; r < ui->model->copies_count; r++)
        rtl_table_widen(&table, make_cells(ui, &ui->model->copies[r]).cell);
    rtl_table_place(&table, cols, cols);
    return table;
}

/* Write the n-th note below the copies: the directions that occur, then the reasons that kept copies from being
 * timed. Returns the number of notes. */
static int copies_note(const struct rtl_model *m, int n, char *out, size_t size)
{
    static const char *const meanings[] = {
#define DIRECTION(sym, num, key, text, means) [num] = means,
        RTL_DIRECTIONS(DIRECTION)
#undef DIRECTION
    };
    int notes = 0;
    for (unsigned direction = 0; direction < RTL_DIRECTION_COUNT; direction++) {
        bool any = false; /* directions of a newer library are not explained */
        for (uint32_t i = 0; i < m->copies_count; i++)
            any |= m->copies[i].copies->direction == direction;
        if (any && notes++ == n)
            snprintf(out, size, "%s: %s", rtl_direction_names(direction).text, meanings[direction]);
    }
    for (unsigned reason = 0; reason < RTL_COPY_UNTIMED_LIMIT; reason++) {
        const char *text = rtl_copy_reason_names(reason).text;
        uint64_t count = 0;
        for (uint32_t i = 0; i < m->copies_count; i++)
            count += m->copies[i].copies->untimed[reason];
        if (count && notes++ == n)
            snprintf(out, size, "%s not timed: %s", rtl_format_count(count).text,
                     text ? text : "for a reason of a newer library");
    }
    return notes;
}

int rtl_draw_copies_lines(const struct rtl_ui *ui)
{
    int notes = copies_note(ui->model, -1, NULL, 0);
    return (int)ui->model->copies_count + (notes ? 1 + notes : 0);
}

/* Draw line i: the copies, an empty line, the notes. */
static void draw_line(const struct rtl_ui *ui, struct rtl_frame *frame, int line, int cols,
                      const struct rtl_table *table, int i)
{
    const struct rtl_model *m = ui->model;
    int n = i - (int)m->copies_count - 1;
    char text[200];
    if (n < -1)
        rtl_table_draw(table, frame, line, RTL_ROLE_NORMAL, make_cells(ui, &m->copies[i]).cell);
    else if (n >= 0 && n < copies_note(m, n, text, sizeof text))
        rtl_frame_put(frame, line, 2, cols - 2, RTL_ROLE_LABEL, text);
}

void rtl_draw_copies(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *l)
{
    const struct rtl_model *m = ui->model;
    int lines = rtl_draw_copies_lines(ui);
    const struct rtl_table table = make_table(ui, l->table.cols);
    rtl_table_head(&table, frame, l->head.row, -1);
    if (!lines)
        rtl_frame_put(frame, l->table.row, 2, l->table.cols - 2, RTL_ROLE_DIM,
                      m->latest && rtl_is_observed(&m->latest->snapshot) ? "copies can't be observed from outside"
                      : ui->replay                                       ? "no copies recorded so far"
                                                                         : "no copy so far");
    for (int i = 0; i < l->table.rows && ui->line_top[RTL_VIEW_COPIES] + i < lines; i++) {
        draw_line(ui, frame, l->table.row + i, l->table.cols, &table, ui->line_top[RTL_VIEW_COPIES] + i);
        if (ui->line_top[RTL_VIEW_COPIES] + i == ui->line_at[RTL_VIEW_COPIES])
            rtl_draw_cursor(frame, l->table.row + i, l->table.cols);
    }
}
