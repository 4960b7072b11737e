/*
 * HIP calls, or roctx ranges: rates, durations, errors. Below the calls: memory in use and calls that were not
 * recorded.
 */
#include "tui/draw_views.h"
#include "text/text.h"
#include "tui/screen_tables.h"

#include <stdio.h>
#include <string.h>

enum {
#define ONE(...) +1
    CALL_CELLS = 0 RTL_CALL_COLUMNS(ONE),
    RANGE_CELLS = 0 RTL_RANGE_COLUMNS(ONE),
#undef ONE
    CELLS = (int)CALL_CELLS > (int)RANGE_CELLS ? (int)CALL_CELLS : (int)RANGE_CELLS,
    NAME_LEAST = 12, /* least columns of the name: others go first */
};

struct call_cells {
    struct rtl_number text[CELLS];
};

static const struct call_column {
    const char *header;
    int width, from;
    int order; /* enum rtl_hip_api_order of the column, or -1 */
} call_columns[] =
    {
#define COLUMN(header, width, from, order, meaning) {header, width, from, order},
        RTL_CALL_COLUMNS(COLUMN)},
  range_columns[] = {RTL_RANGE_COLUMNS(COLUMN)};
#undef COLUMN

static bool shows_ranges(const struct rtl_ui *ui)
{
    return ui->view == RTL_VIEW_RANGES;
}

static const struct call_column *columns_of(const struct rtl_ui *ui, int *count)
{
    *count = shows_ranges(ui) ? (int)RANGE_CELLS : (int)CALL_CELLS;
    return shows_ranges(ui) ? range_columns : call_columns;
}

static struct call_cells make_cells(const struct rtl_ui *ui, const struct rtl_hip_api_model_row *row)
{
    const struct rtl_number none = {RTL_NONE};
    bool span = ui->model->span_ns, timed = row->window.count;
    struct call_cells c;
    int i = 0;
    c.text[i++] = span && timed ? rtl_format_share(row->share) : none;
    c.text[i++] = span ? rtl_format_rate(row->rate) : none;
    c.text[i++] = rtl_draw_time(ui, timed, row->p50);
    c.text[i++] = rtl_draw_time(ui, timed, row->p99);
    if (shows_ranges(ui)) {
        c.text[i++] = span && row->node ? rtl_format_share(row->gpu_share) : none;
        c.text[i++] = row->open ? rtl_format_count(row->open) : none;
        c.text[i++] = rtl_format_count(row->calls);
        c.text[i++] = rtl_draw_time(ui, row->calls, row->total_ns);
        c.text[i++] = rtl_draw_time(ui, row->node && row->gpu_ns, row->gpu_ns);
        c.text[i++] = rtl_draw_time(ui, timed, row->window.max_ns);
        return c;
    }
    c.text[i++] = rtl_format_count(row->errors);
    c.text[i++] = row->call->bytes && span ? rtl_format_rate(row->bandwidth) : none;
    c.text[i++] = rtl_format_count(row->calls);
    c.text[i++] = rtl_draw_time(ui, row->calls, row->total_ns);
    c.text[i++] = row->bytes ? rtl_format_bytes(row->bytes) : none;
    c.text[i++] = row->call->in_use ? rtl_format_bytes(row->call->in_use) : none;
    c.text[i++] = rtl_draw_time(ui, timed, row->window.max_ns);
    return c;
}

/* --- lines --- */

/* Screen columns; -1: no room. */
struct call_places {
    int at[CELLS], width[CELLS], name;
};

static struct call_places make_places(const struct rtl_ui *ui, int cols)
{
    struct call_places p;
    int columns, rows, at = 1;
    const struct call_column *column = columns_of(ui, &columns);
    const struct rtl_hip_api_model_row *row = rtl_ui_call_rows(ui, &rows);
    for (int i = 0; i < columns; i++)
        p.width[i] = column[i].width;
    for (int r = 0; r < rows; r++)
        rtl_draw_widen(p.width, columns, make_cells(ui, &row[r]).text);
    for (int i = 0; i < columns; i++) {
        bool shown = cols >= column[i].from && at + p.width[i] + 1 + NAME_LEAST <= cols;
        p.at[i] = shown ? at : -1;
        at += shown ? p.width[i] + 1 : 0;
    }
    p.name = at + 1;
    return p;
}

static void draw_head(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *l,
                      const struct call_places *p)
{
    int columns, rows, row = l->head.row;
    const struct call_column *column = columns_of(ui, &columns);
    rtl_ui_call_rows(ui, &rows);
    int order = (int)ui->model->hip_api.order;
    rtl_frame_fill(frame, row, 0, l->head.cols, RTL_ROLE_HEADER, ' ');
    for (int i = 0; i < columns; i++)
        if (p->at[i] >= 0)
            rtl_frame_right(frame, row, p->at[i], p->width[i],
                            column[i].order == order ? RTL_ROLE_HEADER_SORT : RTL_ROLE_HEADER, column[i].header);
    rtl_frame_put(frame, row, p->name, l->head.cols - p->name,
                  order == RTL_HIP_API_BY_NAME ? RTL_ROLE_HEADER_SORT : RTL_ROLE_HEADER,
                  shows_ranges(ui) ? RTL_RANGE_NAME : RTL_CALL_NAME);
    char count[16];
    snprintf(count, sizeof count, "%d", rows);
    if (l->head.cols - p->name > 24)
        rtl_frame_right(frame, row, p->name, l->head.cols - p->name, RTL_ROLE_HEADER, count);
}

static void draw_row(const struct rtl_ui *ui, struct rtl_frame *frame, int line, int cols, const struct call_places *p,
                     const struct rtl_hip_api_model_row *row)
{
    int columns;
    const struct call_column *column = columns_of(ui, &columns);
    struct call_cells cells = make_cells(ui, row);
    int at = p->name + (row->depth < 20 ? 2 * (int)row->depth : 40);
    enum rtl_role role = row->window.count || row->open ? RTL_ROLE_NORMAL : RTL_ROLE_DIM;
    char name[4 * RTL_HIP_API_TEXT + 8];
    for (int i = 0; i < columns; i++) {
        enum rtl_role cell = role;
        if (column[i].order == RTL_HIP_API_BY_SHARE && row->share >= 0.25)
            cell = RTL_ROLE_VALUE;
        if (!shows_ranges(ui) && !strcmp(column[i].header, RTL_CALL_ERRORS) && row->window_errors)
            cell = RTL_ROLE_WARN;
        if (p->at[i] >= 0)
            rtl_frame_right(frame, line, p->at[i], p->width[i], cell, cells.text[i].text);
    }
    rtl_text_escape(name, sizeof name, row->call->name, row->call->name_bytes);
    int used = rtl_frame_put(frame, line, at, cols - at, role, name);
    if (row->call->kind == RTL_HIP_API_MARK && at + used + 7 <= cols)
        rtl_frame_put(frame, line, at + used, cols - at - used, RTL_ROLE_LABEL, " (mark)");
}

/* --- notes below the rows --- */

struct call_trouble {
    uint64_t count;
    const char *text;
};

static int troubles_of(const struct rtl_hip_api_snapshot *calls, struct call_trouble *out)
{
    int count = 0;
    if (!calls)
        return 0;
#define TROUBLE(member, key, text) \
    if (calls->member)             \
        out[count++] = (struct call_trouble){calls->member, text};
    RTL_HIP_API_TROUBLES(TROUBLE)
#undef TROUBLE
    return count;
}

enum {
#define ONE(...) +1
    TROUBLES_MAX = 0 RTL_HIP_API_TROUBLES(ONE)
#undef ONE
};

static const struct rtl_hip_api_snapshot *calls_of(const struct rtl_ui *ui)
{
    return ui->model->latest ? ui->model->latest->snapshot.hip_api : NULL;
}

static int memory_lines(const struct rtl_ui *ui)
{
    const struct rtl_hip_api_snapshot *calls = calls_of(ui);
    return calls && !shows_ranges(ui) ? (int)calls->memory_count : 0;
}

int rtl_draw_calls_lines(const struct rtl_ui *ui)
{
    struct call_trouble troubles[TROUBLES_MAX];
    int rows, below = memory_lines(ui) + troubles_of(calls_of(ui), troubles);
    rtl_ui_call_rows(ui, &rows);
    return rows + (below ? 1 + below : 0);
}

static void draw_memory(const struct rtl_ui *ui, struct rtl_frame *frame, int line, int cols, int i)
{
    const struct rtl_hip_api_memory_snapshot *m = &calls_of(ui)->memory[i];
    char place[48];
    int used = 0;
    if (ui->model->latest->snapshot.parts)
        used = snprintf(place, sizeof place, "pid %llu ", (unsigned long long)m->pid);
    if (m->place < RTL_HIP_API_GPUS)
        snprintf(place + used, sizeof place - (size_t)used, "GPU %u", m->place);
    else
        snprintf(place + used, sizeof place - (size_t)used, "host");
    rtl_frame_printf(frame, line, 2, cols - 2, RTL_ROLE_LABEL, "memory of %s: %s in use, %s at most, %s allocation%s",
                     place, rtl_format_size(m->in_use).text, rtl_format_size(m->peak).text,
                     rtl_format_count(m->allocations).text, m->allocations == 1 ? "" : "s");
}

/* Draw line i: the rows, an empty line, memory in use, losses. */
static void draw_line(const struct rtl_ui *ui, struct rtl_frame *frame, int line, int cols, const struct call_places *p,
                      int i)
{
    struct call_trouble troubles[TROUBLES_MAX];
    int rows, memory = memory_lines(ui), count = troubles_of(calls_of(ui), troubles);
    const struct rtl_hip_api_model_row *row = rtl_ui_call_rows(ui, &rows);
    int below = i - rows - 1;
    if (i < rows)
        draw_row(ui, frame, line, cols, p, &row[i]);
    else if (below >= 0 && below < memory)
        draw_memory(ui, frame, line, cols, below);
    else if (below >= memory && below < memory + count)
        rtl_frame_printf(frame, line, 2, cols - 2, RTL_ROLE_WARN, "%s %s",
                         rtl_format_count(troubles[below - memory].count).text, troubles[below - memory].text);
}

void rtl_draw_calls(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *l)
{
    struct call_places p = make_places(ui, l->table.cols);
    int lines = rtl_draw_calls_lines(ui), rows, at = ui->line_at[ui->view], top = ui->line_top[ui->view];
    rtl_ui_call_rows(ui, &rows);
    draw_head(ui, frame, l, &p);
    if (!ui->model->hip_api.any)
        rtl_frame_put(frame, l->table.row, 2, l->table.cols - 2, RTL_ROLE_DIM,
                      ui->replay ? "no calls recorded so far"
                                 : "calls are not recorded: start the program with rtl-top run --mode hip");
    else if (!rows && !top)
        rtl_frame_put(frame, l->table.row, 2, l->table.cols - 2, RTL_ROLE_DIM,
                      shows_ranges(ui) ? "no roctx range or mark so far" : "no HIP call so far");
    for (int i = 0; i < l->table.rows && top + i < lines; i++) {
        draw_line(ui, frame, l->table.row + i, l->table.cols, &p, top + i);
        if (top + i == at && rows)
            rtl_draw_cursor(frame, l->table.row + i, l->table.cols);
    }
}
