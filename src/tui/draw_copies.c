/*
 * The copies, by GPU and direction: how many, how much, how fast; below them what was counted and not timed, and why.
 */
#include "tui/draw.h"
#include "model/cells.h"
#include "model/labels.h"
#include "text/text.h"
#include "tui/screen_tables.h"

#include <stdio.h>

enum {
#define ONE(...) +1
    CELLS = 0 RTL_COPIES_COLUMNS(ONE),
#undef ONE
};

struct cells {
    struct rtl_number text[CELLS];
};

static struct rtl_number time_or_none(bool measured, uint64_t ns, enum rtl_unit units)
{
    return measured ? rtl_format_time(ns, units) : (struct rtl_number){RTL_NONE};
}

static struct cells make_cells(const struct rtl_ui *ui, const struct rtl_copies_row *row)
{
    const struct rtl_copies_snapshot *copies = row->copies;
    const struct rtl_number none = {RTL_NONE};
    bool span = ui->model->span_ns, timed = row->window.count;
    struct cells c;
    int i = 0;
    snprintf(c.text[i++].text, sizeof c.text[0].text, "G%u", copies->gpu);
    snprintf(c.text[i++].text, sizeof c.text[0].text, "%s", rtl_direction_text(copies->direction));
    c.text[i++] = span ? rtl_format_rate(row->rate) : none;
    c.text[i++] = span ? rtl_format_rate(row->bandwidth) : none;
    c.text[i++] = span && timed ? rtl_format_share(row->share) : none;
    c.text[i++] = time_or_none(timed, row->p50, ui->units);
    c.text[i++] = time_or_none(timed, row->p99, ui->units);
    c.text[i++] = row->window_count ? rtl_format_bytes(row->window_bytes / row->window_count) : none;
    c.text[i++] = timed && row->window.total_ns
                      ? rtl_format_rate((double)row->window_timed_bytes / (double)row->window.total_ns * 1e9)
                      : none;
    c.text[i++] = rtl_format_count(copies->count);
    c.text[i++] = rtl_format_bytes(copies->bytes);
    c.text[i++] = rtl_format_share((double)row->untimed / (double)copies->count);
    c.text[i++] = time_or_none(timed, row->window.min_ns, ui->units);
    c.text[i++] = time_or_none(timed, row->window.max_ns, ui->units);
    return c;
}

/* How wide the columns are with these rows: wider than the table says where a unit makes long numbers. */
struct widths {
    int of[CELLS];
};

static struct widths make_widths(const struct rtl_ui *ui)
{
#define WIDTH(header, width, from, meaning) width,
    struct widths w = {{RTL_COPIES_COLUMNS(WIDTH)}};
#undef WIDTH
    for (uint32_t r = 0; r < ui->model->copies_count; r++) {
        struct cells cells = make_cells(ui, &ui->model->copies[r]);
        for (int i = 0; i < CELLS; i++)
            w.of[i] = rtl_cell_width(w.of[i], rtl_text_columns(cells.text[i].text));
    }
    return w;
}

/* Without cells: the headers. What has no room is left out whole. */
static void draw_cells(struct rtl_frame *frame, int line, int cols, enum rtl_role role, const struct widths *w,
                       const struct cells *cells)
{
    int at = 1, i = 0;
#define CELL(header, width, from, meaning)                                                      \
    if (cols >= (from) && at + w->of[i] <= cols) {                                              \
        rtl_frame_right(frame, line, at, w->of[i], role, cells ? cells->text[i].text : header); \
        at += w->of[i] + 1;                                                                     \
    }                                                                                           \
    i++;
    RTL_COPIES_COLUMNS(CELL)
#undef CELL
}

/* The reasons that hold, one after another: the number of the n-th and how many copies, or -1. */
static int nth_reason(const struct rtl_model *model, int n, uint64_t *count)
{
    for (int reason = 0; reason < RTL_COPY_UNTIMED_LIMIT; reason++) {
        *count = 0;
        for (uint32_t i = 0; i < model->copies_count; i++)
            *count += model->copies[i].copies->untimed[reason];
        if (*count && n-- == 0)
            return reason;
    }
    return -1;
}

/* The directions that there are copies in, one after another, as nth_reason; what a newer library has is not explained.
 */
static int nth_direction(const struct rtl_model *model, int n)
{
    for (int direction = 0; direction < RTL_DIRECTION_COUNT; direction++) {
        bool any = false;
        for (uint32_t i = 0; i < model->copies_count; i++)
            any |= model->copies[i].copies->direction == (uint32_t)direction;
        if (any && n-- == 0)
            return direction;
    }
    return -1;
}

struct parts {
    int directions, reasons;
};

static struct parts count_parts(const struct rtl_model *model)
{
    struct parts parts = {0, 0};
    uint64_t count;
    while (nth_direction(model, parts.directions) >= 0)
        parts.directions++;
    while (nth_reason(model, parts.reasons, &count) >= 0)
        parts.reasons++;
    return parts;
}

int rtl_draw_copies_lines(const struct rtl_model *model)
{
    struct parts parts = count_parts(model);
    int below = parts.directions + parts.reasons;
    return (int)model->copies_count + (below ? 1 + below : 0);
}

/* Line i of those there are to scroll through: the copies, an empty one, what the directions are, the reasons. */
static void draw_line(const struct rtl_ui *ui, struct rtl_frame *frame, int line, int cols, const struct widths *w,
                      int i)
{
    static const char *const meanings[] = {
#define DIRECTION(sym, num, key, text, means) [num] = means,
        RTL_DIRECTIONS(DIRECTION)
#undef DIRECTION
    };
    const struct rtl_model *m = ui->model;
    struct parts parts = count_parts(m);
    int below = i - (int)m->copies_count - 1;
    uint64_t count;
    if (i < (int)m->copies_count) {
        struct cells cells = make_cells(ui, &m->copies[i]);
        draw_cells(frame, line, cols, RTL_ROLE_NORMAL, w, &cells);
    } else if (below >= 0 && below < parts.directions) {
        int direction = nth_direction(m, below);
        rtl_frame_printf(frame, line, 2, cols - 2, RTL_ROLE_LABEL, "%s: %s", rtl_direction_text((unsigned)direction),
                         meanings[direction]);
    } else if (below >= 0) {
        int reason = nth_reason(m, below - parts.directions, &count);
        const char *text = reason < 0 ? NULL : rtl_copy_reason_text((unsigned)reason);
        if (reason >= 0)
            rtl_frame_printf(frame, line, 2, cols - 2, RTL_ROLE_WARN, "%s not timed: %s", rtl_format_count(count).text,
                             text ? text : "for a reason of a newer library");
    }
}

void rtl_draw_copies(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *l)
{
    const struct rtl_model *m = ui->model;
    int lines = rtl_draw_copies_lines(m);
    struct widths w = make_widths(ui);
    rtl_frame_fill(frame, l->head.row, 0, l->head.cols, RTL_ROLE_HEADER, ' ');
    draw_cells(frame, l->head.row, l->head.cols, RTL_ROLE_HEADER, &w, NULL);
    if (!lines)
        rtl_frame_put(frame, l->table.row, 2, l->table.cols - 2, RTL_ROLE_DIM,
                      m->latest && rtl_is_observed(&m->latest->snapshot) ? "copies can't be seen from outside"
                      : ui->replay                                       ? "no copy was recorded up to here"
                                                                         : "no copy was asked of the runtime yet");
    for (int i = 0; i < l->table.rows && ui->copies_top + i < lines; i++) {
        draw_line(ui, frame, l->table.row + i, l->table.cols, &w, ui->copies_top + i);
        if (ui->copies_top + i == ui->copies_at)
            rtl_draw_cursor(frame, l->table.row + i, l->table.cols);
    }
}
