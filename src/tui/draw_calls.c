/*
 * HIP calls, or roctx ranges: rates, durations, errors. Below the calls: memory in use and calls that were not
 * recorded.
 */
#include "tui/draw_views.h"
#include "text/text.h"
#include "tui/screen_tables.h"
#include "tui/table.h"

#include <stdio.h>
#include <string.h>

enum { ERRORS = 4, NAME_LEAST = 12 }; /* the column of errors; least columns of the name: others go first */

#define COLUMN(header, width, from, order, meaning) {header, width, from},
#define ORDER(header, width, from, order, meaning)  order,
static const struct rtl_table_column call_columns[] = {RTL_CALL_COLUMNS(COLUMN)},
                                     range_columns[] = {RTL_RANGE_COLUMNS(COLUMN)};
/* enum rtl_hip_api_order of each column, or -1 */
static const int call_orders[] = {RTL_CALL_COLUMNS(ORDER)}, range_orders[] = {RTL_RANGE_COLUMNS(ORDER)};
#undef COLUMN
#undef ORDER

static bool shows_ranges(const struct rtl_ui *ui)
{
    return ui->view == RTL_VIEW_RANGES;
}

static struct rtl_table_row make_cells(const struct rtl_ui *ui, const struct rtl_hip_api_model_row *row)
{
    const struct rtl_number none = {RTL_NONE};
    bool span = ui->model->span_ns, timed = row->window.count;
    struct rtl_table_row c;
    int i = 0;
    c.cell[i++] = span && timed ? rtl_format_share(row->share) : none;
    c.cell[i++] = span ? rtl_format_rate(row->rate) : none;
    c.cell[i++] = rtl_draw_time(ui, timed, row->p50);
    c.cell[i++] = rtl_draw_time(ui, timed, row->p99);
    if (shows_ranges(ui)) {
        c.cell[i++] = span && row->node ? rtl_format_share(row->gpu_share) : none;
        c.cell[i++] = row->open ? rtl_format_count(row->open) : none;
        c.cell[i++] = rtl_format_count(row->calls);
        c.cell[i++] = rtl_draw_time(ui, row->calls, row->total_ns);
        c.cell[i++] = rtl_draw_time(ui, row->node && row->gpu_ns, row->gpu_ns);
        c.cell[i++] = rtl_draw_time(ui, timed, row->window.max_ns);
        return c;
    }
    c.cell[i++] = rtl_format_count(row->errors);
    c.cell[i++] = row->call->bytes && span ? rtl_format_rate(row->bandwidth) : none;
    c.cell[i++] = rtl_format_count(row->calls);
    c.cell[i++] = rtl_draw_time(ui, row->calls, row->total_ns);
    c.cell[i++] = row->bytes ? rtl_format_bytes(row->bytes) : none;
    c.cell[i++] = row->call->in_use ? rtl_format_bytes(row->call->in_use) : none;
    c.cell[i++] = rtl_draw_time(ui, timed, row->window.max_ns);
    return c;
}

/* --- lines --- */

struct call_table {
    struct rtl_table numbers;
    const struct rtl_hip_api_model_row *row;
    int rows, name; /* name: screen column of the names */
};

static struct call_table make_table(const struct rtl_ui *ui, int cols)
{
    struct call_table t = {.numbers = shows_ranges(ui)
                                          ? rtl_table_begin(range_columns, sizeof range_columns / sizeof *range_columns)
                                          : rtl_table_begin(call_columns, sizeof call_columns / sizeof *call_columns)};
    t.row = rtl_ui_call_rows(ui, &t.rows);
    for (int r = 0; r < t.rows; r++)
        rtl_table_widen(&t.numbers, make_cells(ui, &t.row[r]).cell);
    rtl_table_place(&t.numbers, cols, cols - 1 - NAME_LEAST);
    t.name = t.numbers.end + 1;
    return t;
}

static void draw_head(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *l,
                      const struct call_table *t)
{
    const int *orders = shows_ranges(ui) ? range_orders : call_orders;
    int row = l->head.row, order = (int)ui->model->hip_api.order, sorted = t->numbers.count - 1;
    while (sorted >= 0 && orders[sorted] != order)
        sorted--;
    rtl_table_head(&t->numbers, frame, row, sorted);
    rtl_frame_put(frame, row, t->name, l->head.cols - t->name,
                  order == RTL_HIP_API_BY_NAME ? RTL_ROLE_HEADER_SORT : RTL_ROLE_HEADER,
                  shows_ranges(ui) ? RTL_RANGE_NAME : RTL_CALL_NAME);
    char count[16];
    snprintf(count, sizeof count, "%d", t->rows);
    if (l->head.cols - t->name > 24)
        rtl_frame_right(frame, row, t->name, l->head.cols - t->name, RTL_ROLE_HEADER, count);
}

static void draw_row(const struct rtl_ui *ui, struct rtl_frame *frame, int line, int cols, const struct call_table *t,
                     const struct rtl_hip_api_model_row *row)
{
    struct rtl_table_row cells = make_cells(ui, row);
    int at = t->name + (row->depth < 20 ? 2 * (int)row->depth : 40);
    enum rtl_role role = row->window.count || row->open ? RTL_ROLE_NORMAL : RTL_ROLE_DIM;
    char name[4 * RTL_HIP_API_TEXT + 8];
    rtl_table_draw(&t->numbers, frame, line, role, cells.cell);
    if (row->share >= 0.25)
        rtl_table_cell(&t->numbers, frame, line, RTL_ROLE_VALUE, 0, cells.cell[0].text);
    if (!shows_ranges(ui) && row->window_errors)
        rtl_table_cell(&t->numbers, frame, line, RTL_ROLE_WARN, ERRORS, cells.cell[ERRORS].text);
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
        snprintf(place + used, sizeof place - (size_t)used, "device %u", m->place);
    else
        snprintf(place + used, sizeof place - (size_t)used, "host");
    rtl_frame_printf(frame, line, 2, cols - 2, RTL_ROLE_LABEL, "memory of %s: %s in use, %s at most, %s allocation%s",
                     place, rtl_format_size(m->in_use).text, rtl_format_size(m->peak).text,
                     rtl_format_count(m->allocations).text, m->allocations == 1 ? "" : "s");
}

/* Draw line i: the rows, an empty line, memory in use, losses. */
static void draw_line(const struct rtl_ui *ui, struct rtl_frame *frame, int line, int cols, const struct call_table *t,
                      int i)
{
    struct call_trouble troubles[TROUBLES_MAX];
    int memory = memory_lines(ui), count = troubles_of(calls_of(ui), troubles), below = i - t->rows - 1;
    if (i < t->rows)
        draw_row(ui, frame, line, cols, t, &t->row[i]);
    else if (below >= 0 && below < memory)
        draw_memory(ui, frame, line, cols, below);
    else if (below >= memory && below < memory + count)
        rtl_frame_printf(frame, line, 2, cols - 2, RTL_ROLE_LABEL, "%s %s",
                         rtl_format_count(troubles[below - memory].count).text, troubles[below - memory].text);
}

void rtl_draw_calls(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *l)
{
    struct call_table t = make_table(ui, l->table.cols);
    int lines = rtl_draw_calls_lines(ui), at = ui->line_at[ui->view], top = ui->line_top[ui->view];
    draw_head(ui, frame, l, &t);
    if (!ui->model->hip_api.any)
        rtl_frame_put(frame, l->table.row, 2, l->table.cols - 2, RTL_ROLE_DIM,
                      ui->replay ? "no calls recorded so far"
                                 : "calls are not recorded: start the program with rtl-top run --mode hip");
    else if (!t.rows && !top)
        rtl_frame_put(frame, l->table.row, 2, l->table.cols - 2, RTL_ROLE_DIM,
                      shows_ranges(ui) ? "no roctx range or mark so far" : "no HIP call so far");
    for (int i = 0; i < l->table.rows && top + i < lines; i++) {
        draw_line(ui, frame, l->table.row + i, l->table.cols, &t, top + i);
        if (top + i == at && t.rows)
            rtl_draw_cursor(frame, l->table.row + i, l->table.cols);
    }
}
