/*
 * Geometry. See layout.h.
 *
 * Rows go by importance: the table's first rows, the coverage line (numbers without it may mislead), status, one row of
 * GPUs, keys, the other GPUs; the table gets the other rows.
 */
#include "tui/layout.h"

enum {
    LEAST_COLS = 5,
    LEAST_COLS_FULL = 24,
    LEAST_ROWS_FULL = 3,
    LEAST_TABLE = 3,
    LEAST_PANE = 8,
    SIDE_LEAST_COLS = 47, /* beside the table, which keeps 112 columns at RTL_SIDE_FROM_COLS */
    SIDE_MOST_COLS = 72,
    SIDE_LIST = 4,       /* rows of a list beside the table, with its head, before the plot gets any */
    SIDE_LIST_MOST = 17, /* and at most */
    GPU_CELL = 40,
    GPU_CELL_SMALL = 20,
    NAME_LEAST = 12,
    NAME_WANTED = 30, /* trend, heat and bar grow only beyond this */
    BAR_FROM = 76,    /* width of the terminal for the bar; with SLOWEST: */
    BAR_BESIDE = 96,  /* here the name is worth more than bar and trend */
    BAR_LEAST = 4,
    BAR_MOST = 12,
    HEAT_MOST = 24,
    TREND_MOST = 60,
    FIGURE_NUMBER = 12,  /* two numbers side by side, with a label */
    FIGURES_LABELS = 10, /* 10 + 2 * 13 = 36 columns */
    HISTOGRAM_LEAST = 40,
    HISTOGRAM_MOST = 96, /* or half of the terminal: longer bars show no more */
    HISTOGRAM_ROWS = 10, /* as many as there are figures */
    FIGURES_FROM_ROWS = 18,
    PLOT_FROM_ROWS = 20,
    PLOT_LEAST_COLS = 40,
};

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int most(int a, int b)
{
    return a > b ? a : b;
}

static enum rtl_layout_kind kind_of(int rows, int cols)
{
    if (cols < LEAST_COLS || rows < 1)
        return RTL_LAYOUT_NOTHING;
    return rows < LEAST_ROWS_FULL || cols < LEAST_COLS_FULL ? RTL_LAYOUT_LINE : RTL_LAYOUT_FULL;
}

static struct rtl_rect take_rows(int *row, int rows, int cols)
{
    struct rtl_rect rect = {.row = *row, .col = 0, .rows = rows, .cols = cols};
    *row += rows;
    return rect;
}

static int claim_rows(int *left, int wanted)
{
    int got = least(most(*left, 0), wanted);
    *left -= got;
    return got;
}

/* Give each GPU a line (`lines`), or cells, wide ones if they fit; returns the rows. */
static int place_gpus(struct rtl_layout *l, int cols, int gpus, bool lines, int rows_most)
{
    if (gpus < 1 || rows_most < 1)
        return 0;
    l->gpu_columns = lines ? 1 : most(1, cols / GPU_CELL);
    if (!lines && (gpus + l->gpu_columns - 1) / l->gpu_columns > rows_most)
        l->gpu_columns = most(1, cols / GPU_CELL_SMALL);
    if (!lines)
        l->gpu_columns = least(l->gpu_columns, gpus); /* no empty cells */
    int rows = least(rows_most, (gpus + l->gpu_columns - 1) / l->gpu_columns);
    l->gpu_cells = rows * l->gpu_columns;
    l->gpu_width = cols / l->gpu_columns;
    l->gpu_shown = gpus <= l->gpu_cells ? gpus : l->gpu_cells - 1;
    return rows;
}

static void place_at(struct rtl_layout *l, const uint8_t *places)
{
    struct rtl_column_order order = rtl_column_order(places);
    int at = 2; /* columns for the marks > and ! */
    l->bar_at = 0;
    for (int n = 0; n < RTL_COLUMN_COUNT; n++) {
        int i = order.column[n];
        l->column_at[i] = l->column_width[i] || i == RTL_COLUMN_NAME ? at : -1;
        if (l->column_width[i])
            at += l->column_width[i] + 1;
        if (i == RTL_COLUMN_TIME && l->bar_width) {
            l->bar_at = at;
            at += l->bar_width + 1;
        }
    }
}

/* Return the least width that shows a column; chosen columns are shown in any width. */
static int shown_from(int column, unsigned asked, int cols)
{
    int from = rtl_columns[column].from_cols;
    if (!asked)
        return from;
    return asked & 1u << column ? least(from, cols) : cols + 1;
}

/* Place the columns of a terminal `from` columns wide; returns where the name begins. */
static int place_columns_of(struct rtl_layout *l, int cols, int from, const struct rtl_layout_wants *wants)
{
    for (int i = 0; i < RTL_COLUMN_COUNT; i++) {
        bool beside = wants->slowest && from < BAR_BESIDE && !wants->columns;
        bool shown = i != RTL_COLUMN_NAME && from >= shown_from(i, wants->columns, cols) &&
                     (i != RTL_COLUMN_SLOWEST || wants->slowest) && (i != RTL_COLUMN_TREND || !beside) &&
                     (i != RTL_COLUMN_LAUNCH || wants->launch);
        l->column_width[i] = !shown ? 0 : wants->widths ? wants->widths[i] : rtl_columns[i].width;
    }
    l->bar_width = from >= (wants->slowest ? BAR_BESIDE : BAR_FROM) && l->column_width[RTL_COLUMN_TIME] ? BAR_LEAST : 0;
    place_at(l, wants->places);
    return l->column_at[RTL_COLUMN_NAME];
}

/* Share spare columns between name, bar, heat and trend. */
static void grow_columns(struct rtl_layout *l, int spare, const uint8_t *places)
{
    int *trend = &l->column_width[RTL_COLUMN_TREND], *heat = &l->column_width[RTL_COLUMN_HEAT];
    if (spare <= 0)
        return;
    if (l->bar_width)
        l->bar_width = least(BAR_MOST, l->bar_width + spare / 10);
    if (*heat)
        *heat = least(HEAT_MOST, *heat + spare / 5);
    if (*trend)
        *trend = least(TREND_MOST, *trend + spare / 2);
    place_at(l, places);
}

static void place_columns(struct rtl_layout *l, int cols, const struct rtl_layout_wants *wants)
{
    int from = cols, at = place_columns_of(l, cols, from, wants);
    while ((wants->widths || wants->columns || wants->slowest || wants->launch) && at + NAME_LEAST > cols && from > 0)
        at = place_columns_of(l, cols, --from, wants);
    grow_columns(l, cols - at - NAME_WANTED, wants->places);
    l->column_width[RTL_COLUMN_NAME] = most(1, cols - l->column_at[RTL_COLUMN_NAME]);
}

/* Return the columns for the parts beside the table; 0 if they would hide columns that the user chose. */
static int side_cols(int cols, const struct rtl_layout_wants *wants)
{
    int side = rtl_clamp(cols * 3 / 10 - 1, SIDE_LEAST_COLS, SIDE_MOST_COLS);
    struct rtl_layout whole = {0}, beside = {0};
    place_columns(&whole, cols, wants);
    place_columns(&beside, cols - side - 1, wants);
    for (int i = 0; wants->columns && i < RTL_COLUMN_COUNT; i++)
        if (whole.column_at[i] >= 0 && beside.column_at[i] < 0)
            return 0;
    return side;
}

/* Divide the columns beside the table, by importance: the first rows of the lists, the plot, further rows of the lists,
 * and the histogram, which shares the last rows with the plot. */
static void place_side(struct rtl_layout *l, struct rtl_rect side, const struct rtl_layout_wants *wants)
{
    int left = side.rows;
    int wanted[] = {wants->families > 0 ? 1 + wants->families : 0, wants->processes > 0 ? 1 + wants->processes : 0};
    int lists[2];
    for (int i = 0; i < 2; i++)
        lists[i] = claim_rows(&left, least(wanted[i], SIDE_LIST));
    int plot = left >= LEAST_PANE ? claim_rows(&left, LEAST_PANE) : 0;
    for (int i = 0; i < 2; i++)
        lists[i] += claim_rows(&left, least(wanted[i], SIDE_LIST_MOST) - lists[i]);
    int bars = plot && left >= LEAST_PANE ? (left + plot) / 2 : 0;
    plot += plot ? left - bars : 0;
    struct rtl_rect *const rects[] = {&l->side_families, &l->side_processes, &l->side_plot, &l->side_bars};
    const int heights[] = {lists[0], lists[1], plot, bars};
    for (int i = 0; i < 4; side.row += heights[i++])
        *rects[i] = (struct rtl_rect){side.row, side.col, heights[i], side.cols};
}

/* Return two fifths of a tall terminal; the table keeps more rows. */
static int pane_rows(int rows, int left)
{
    int pane = least(rows * 2 / 5, left - rows / 5);
    return rows < RTL_PANE_FROM_ROWS || pane < LEAST_PANE ? 0 : pane;
}

struct rtl_layout rtl_layout_main(int rows, int cols, const struct rtl_layout_wants *wants)
{
    int gpus = wants->gpus;
    bool gpu_lines = (gpus <= most(2, rows / 6)) != wants->gpu_lines; /* few GPUs have a line each */
    struct rtl_layout l = {.kind = kind_of(rows, cols)};
    if (l.kind == RTL_LAYOUT_LINE)
        l.line = (struct rtl_rect){0, 0, rows, cols};
    if (l.kind != RTL_LAYOUT_FULL)
        return l;
    int left = rows - 2 - least(LEAST_TABLE, rows - 2); /* header and table head always have a row */
    int coverage = claim_rows(&left, 1), status = claim_rows(&left, 1);
    int gauge_rows = left > 0 ? place_gpus(&l, cols, gpus, gpu_lines, 1) : 0;
    left -= gauge_rows;
    int keys = claim_rows(&left, 1);
    int steps = wants->steps && rows >= RTL_STEPS_FROM_ROWS ? claim_rows(&left, 1) : 0;
    int name = claim_rows(&left, least(wants->name_rows, 4));
    if (gauge_rows) {
        int wanted = place_gpus(&l, cols, gpus, gpu_lines, most(1, least(rows / (wants->gpu_lines ? 2 : 4), 1 + left)));
        left -= wanted - gauge_rows;
        gauge_rows = wanted;
    }
    int table = rows - 2 - gauge_rows - coverage - steps - name - status - keys;
    bool wide = wants->pane && cols >= RTL_SIDE_FROM_COLS && table + 1 >= RTL_SIDE_LEAST_ROWS;
    int side = wide ? side_cols(cols, wants) : 0, table_cols = side ? cols - side - 1 : cols;
    int pane = wants->pane && !side ? pane_rows(rows, left) : 0;
    int row = 0;
    l.header = take_rows(&row, 1, cols);
    l.gpus = take_rows(&row, gauge_rows, cols);
    l.coverage = take_rows(&row, coverage, cols);
    l.steps = take_rows(&row, steps, cols);
    l.head = take_rows(&row, 1, table_cols);
    l.table = take_rows(&row, table - pane, table_cols);
    if (side)
        place_side(&l, (struct rtl_rect){l.head.row, table_cols + 1, table + 1, side}, wants);
    l.pane = take_rows(&row, pane, cols);
    l.name = take_rows(&row, name, cols);
    l.status = take_rows(&row, status, cols);
    l.keys = take_rows(&row, keys, cols);
    place_columns(&l, table_cols, wants);
    return l;
}

struct rtl_layout_detail rtl_layout_detail(int rows, int cols, int name_rows, int number, int bars_most, bool probe)
{
    struct rtl_layout_detail l = {.kind = kind_of(rows, cols)};
    if (l.kind != RTL_LAYOUT_FULL)
        return l;
    int figures = FIGURES_LABELS + 2 * (most(number, FIGURE_NUMBER) + 1);
    bool beside = cols >= figures + HISTOGRAM_LEAST && rows >= FIGURES_FROM_ROWS;
    bool plotted = !probe && rows >= PLOT_FROM_ROWS && cols >= PLOT_LEAST_COLS;
    int left = rows - 2; /* header, and counts or quantiles, always have a row */
    int counts = beside ? 1 : claim_rows(&left, 1);
    int bars = claim_rows(&left, 3);
    int head = bars ? claim_rows(&left, 1) : 0;
    int trend = plotted || probe ? 0 : claim_rows(&left, 1), line = probe ? claim_rows(&left, 1) : 0;
    int status = claim_rows(&left, 1), keys = claim_rows(&left, 1);
    int plot = plotted ? claim_rows(&left, 1 + (rows < 30 ? rows / 4 : rows / 3)) : 0;
    int pane = line ? line + claim_rows(&left, rows < 30 ? rows / 2 - 1 : rows * 2 / 5 - 1) : 0;
    int name = claim_rows(&left, least(name_rows, most(1, rows / 4)));
    int empty = plotted ? most(0, bars + left - most(bars_most, beside ? HISTOGRAM_ROWS : 3)) : 0;
    plot += empty;
    left -= empty;
    int row = 0;
    l.header = take_rows(&row, 1, cols);
    l.counts = take_rows(&row, counts, cols);
    l.quantiles = take_rows(&row, beside ? 0 : 1, cols);
    l.name = take_rows(&row, name, cols);
    l.head = take_rows(&row, head, cols);
    l.histogram = take_rows(&row, bars + most(0, left), cols);
    if (beside) {
        l.figures = l.histogram;
        l.histogram.cols = least(cols - figures - 2, most(HISTOGRAM_MOST, cols / 2));
        l.figures.col = l.histogram.cols + 2;
        l.figures.cols = figures;
    }
    l.plot = take_rows(&row, plot, cols);
    l.trend = take_rows(&row, trend, cols);
    l.probe = take_rows(&row, pane, cols);
    l.status = take_rows(&row, status, cols);
    l.keys = take_rows(&row, keys, cols);
    return l;
}
