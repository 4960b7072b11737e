/* Copies by GPU and direction: rates, durations, bytes; below them the reasons for untimed copies. */
#include "tui/draw_views.h"
#include "model/labels.h"
#include "tui/screen_tables.h"

#include <stdio.h>
#include <string.h>

#define HEADER(header, width, from, meaning) {header},
#define WIDTH(header, width, from, meaning)  width,
#define FROM(header, width, from, meaning)   from,
static const struct rtl_number headers[] = {RTL_COPIES_COLUMNS(HEADER)};
static const int usual_widths[] = {RTL_COPIES_COLUMNS(WIDTH)}, froms[] = {RTL_COPIES_COLUMNS(FROM)};
#undef HEADER
#undef WIDTH
#undef FROM
enum { CELLS = sizeof headers / sizeof *headers };

struct copies_cells {
    struct rtl_number text[CELLS];
};

static struct copies_cells make_cells(const struct rtl_ui *ui, const struct rtl_copies_row *row)
{
    const struct rtl_copies_snapshot *copies = row->copies;
    const struct rtl_number none = {RTL_NONE};
    bool span = ui->model->span_ns, timed = row->window.count;
    struct copies_cells c;
    int i = 0;
    snprintf(c.text[i++].text, sizeof c.text[0].text, "G%u", copies->gpu);
    snprintf(c.text[i++].text, sizeof c.text[0].text, "%s", rtl_direction_text(copies->direction));
    c.text[i++] = span ? rtl_format_rate(row->rate) : none;
    c.text[i++] = span ? rtl_format_rate(row->bandwidth) : none;
    c.text[i++] = span && timed ? rtl_format_share(row->share) : none;
    c.text[i++] = rtl_draw_time(ui, timed, row->p50);
    c.text[i++] = rtl_draw_time(ui, timed, row->p99);
    c.text[i++] = row->window_count ? rtl_format_bytes(row->window_bytes / row->window_count) : none;
    c.text[i++] = timed && row->window.total_ns
                      ? rtl_format_rate((double)row->window_timed_bytes / (double)row->window.total_ns * 1e9)
                      : none;
    c.text[i++] = rtl_format_count(copies->count);
    c.text[i++] = rtl_format_bytes(copies->bytes);
    c.text[i++] = rtl_format_share((double)row->untimed / (double)copies->count);
    c.text[i++] = rtl_draw_time(ui, timed, row->window.min_ns);
    c.text[i++] = rtl_draw_time(ui, timed, row->window.max_ns);
    return c;
}

/* Columns are wider than usual where a unit makes long numbers. Width 0: the terminal is too narrow for the column. */
static void make_widths(const struct rtl_ui *ui, int cols, int widths[CELLS])
{
    memcpy(widths, usual_widths, sizeof usual_widths);
    for (uint32_t r = 0; r < ui->model->copies_count; r++)
        rtl_draw_widen(widths, CELLS, make_cells(ui, &ui->model->copies[r]).text);
    for (int i = 0; i < CELLS; i++)
        widths[i] = cols >= froms[i] ? widths[i] : 0;
}

/* Lines below the copies: the directions that occur, then the reasons that kept copies from being timed. */
struct copies_notes {
    int directions, reasons;
    int direction[RTL_DIRECTION_COUNT], reason[RTL_COPY_UNTIMED_LIMIT];
    uint64_t count[RTL_COPY_UNTIMED_LIMIT]; /* copies, by reason */
};

static struct copies_notes find_notes(const struct rtl_model *model)
{
    struct copies_notes notes = {0};
    for (int direction = 0; direction < RTL_DIRECTION_COUNT; direction++) {
        bool any = false; /* directions of a newer library are not explained */
        for (uint32_t i = 0; i < model->copies_count; i++)
            any |= model->copies[i].copies->direction == (uint32_t)direction;
        if (any)
            notes.direction[notes.directions++] = direction;
    }
    for (int reason = 0; reason < RTL_COPY_UNTIMED_LIMIT; reason++) {
        for (uint32_t i = 0; i < model->copies_count; i++)
            notes.count[reason] += model->copies[i].copies->untimed[reason];
        if (notes.count[reason])
            notes.reason[notes.reasons++] = reason;
    }
    return notes;
}

int rtl_draw_copies_lines(const struct rtl_model *model)
{
    struct copies_notes notes = find_notes(model);
    int below = notes.directions + notes.reasons;
    return (int)model->copies_count + (below ? 1 + below : 0);
}

/* Draw line i: the copies, an empty line, the notes. */
static void draw_line(const struct rtl_ui *ui, struct rtl_frame *frame, int line, int cols, const int *widths, int i)
{
    static const char *const meanings[] = {
#define DIRECTION(sym, num, key, text, means) [num] = means,
        RTL_DIRECTIONS(DIRECTION)
#undef DIRECTION
    };
    const struct rtl_model *m = ui->model;
    struct copies_notes notes = find_notes(m);
    int below = i - (int)m->copies_count - 1, reason = below - notes.directions;
    if (i < (int)m->copies_count) {
        rtl_draw_cells(frame, line, cols, RTL_ROLE_NORMAL, CELLS, widths, make_cells(ui, &m->copies[i]).text);
    } else if (below >= 0 && reason < 0) {
        unsigned direction = (unsigned)notes.direction[below];
        rtl_frame_printf(frame, line, 2, cols - 2, RTL_ROLE_LABEL, "%s: %s", rtl_direction_text(direction),
                         meanings[direction]);
    } else if (reason >= 0 && reason < notes.reasons) {
        const char *text = rtl_copy_reason_text((unsigned)notes.reason[reason]);
        rtl_frame_printf(frame, line, 2, cols - 2, RTL_ROLE_WARN, "%s not timed: %s",
                         rtl_format_count(notes.count[notes.reason[reason]]).text,
                         text ? text : "for a reason of a newer library");
    }
}

void rtl_draw_copies(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *l)
{
    const struct rtl_model *m = ui->model;
    int lines = rtl_draw_copies_lines(m);
    int widths[CELLS];
    make_widths(ui, l->table.cols, widths);
    rtl_frame_fill(frame, l->head.row, 0, l->head.cols, RTL_ROLE_HEADER, ' ');
    rtl_draw_cells(frame, l->head.row, l->head.cols, RTL_ROLE_HEADER, CELLS, widths, headers);
    if (!lines)
        rtl_frame_put(frame, l->table.row, 2, l->table.cols - 2, RTL_ROLE_DIM,
                      m->latest && rtl_is_observed(&m->latest->snapshot) ? "copies can't be observed from outside"
                      : ui->replay                                       ? "no copies recorded so far"
                                                                         : "no copy so far");
    for (int i = 0; i < l->table.rows && ui->line_top[RTL_VIEW_COPIES] + i < lines; i++) {
        draw_line(ui, frame, l->table.row + i, l->table.cols, widths, ui->line_top[RTL_VIEW_COPIES] + i);
        if (ui->line_top[RTL_VIEW_COPIES] + i == ui->line_at[RTL_VIEW_COPIES])
            rtl_draw_cursor(frame, l->table.row + i, l->table.cols);
    }
}
