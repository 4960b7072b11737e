/*
 * Geometry: (rows, columns, GPUs) to rectangles. Pure, defined for every size; 80x24 is the reference.
 *
 * A rectangle of 0 rows is hidden. Below 3 rows or 24 columns there are only sums and as many kernels as fit below
 * them; below 5 columns nothing.
 */
#ifndef RTL_TUI_LAYOUT_H
#define RTL_TUI_LAYOUT_H

#include "model/columns.h"
#include "tui/frame.h"

enum rtl_layout_kind { RTL_LAYOUT_NOTHING, RTL_LAYOUT_LINE, RTL_LAYOUT_FULL };

struct rtl_layout {
    enum rtl_layout_kind kind;
    struct rtl_rect line;   /* RTL_LAYOUT_LINE only */
    struct rtl_rect header; /* title, interval, state */
    struct rtl_rect gpus;
    struct rtl_rect coverage; /* sums and losses */
    struct rtl_rect steps;    /* cost of a step */
    struct rtl_rect head;     /* of the table */
    struct rtl_rect table;
    struct rtl_rect pane; /* below the table on tall terminals */
    /* beside the table on wide terminals, instead of the pane; each with its head, from above */
    struct rtl_rect side_families, side_processes, side_plot, side_bars;
    struct rtl_rect name; /* complete name of the selected kernel */
    struct rtl_rect status;
    struct rtl_rect keys;
    int gpu_columns, gpu_width;      /* cells of GPUs, column by column; one column: lines */
    int gpu_cells;                   /* cells that fit */
    int gpu_shown;                   /* GPUs shown; if not all, the last cell has the number of the others */
    int bar_at, bar_width;           /* beside %TIME; width 0 = hidden */
    int column_at[RTL_COLUMN_COUNT]; /* screen column, -1 = hidden */
    int column_width[RTL_COLUMN_COUNT];
};

/* Input of the geometry. */
struct rtl_layout_wants {
    int gpus;
    bool gpu_lines;        /* swap lines and cells of GPUs */
    int name_rows;         /* for a wrapped name */
    bool pane;             /* a kernel is selected: show the pane, or the parts beside the table */
    int families;          /* rows of families beside the table; 0: none */
    int processes;         /* likewise of processes */
    bool steps;            /* show the line of steps, from RTL_STEPS_FROM_ROWS rows on */
    bool slowest;          /* several processes: show the column SLOWEST */
    bool launch;           /* show the column LAUNCH */
    unsigned columns;      /* chosen columns, bits by enum rtl_column; 0 = as many as fit */
    const uint8_t *places; /* order of the columns (columns.h), or NULL */
    const int *widths;     /* widths of the columns; NULL = those of model/columns.h */
};
enum { RTL_PANE_FROM_ROWS = 40, RTL_SIDE_FROM_COLS = 160, RTL_SIDE_LEAST_ROWS = 8, RTL_STEPS_FROM_ROWS = 12 };

/* Columns go, the least important first, before the name gets too short. */
struct rtl_layout rtl_layout_main(int rows, int cols, const struct rtl_layout_wants *wants);

struct rtl_layout_detail {
    enum rtl_layout_kind kind;
    struct rtl_rect header, counts, quantiles, name;
    struct rtl_rect head;
    struct rtl_rect histogram;
    struct rtl_rect figures; /* to the right of the histogram, or hidden */
    struct rtl_rect plot;    /* p99 over time, with its header */
    struct rtl_rect trend;   /* p99 in one line, where a plot doesn't fit */
    struct rtl_rect probe;   /* instead of plot and trend; with its header */
    struct rtl_rect status, keys;
};
/* Figures beside the histogram replace the line of quantiles. `number`: width of the figures' numbers, at least 12.
 * `bars`: rows that the histogram can fill; the plot gets the others. */
struct rtl_layout_detail rtl_layout_detail(int rows, int cols, int name_rows, int number, int bars, bool probe);

static inline int rtl_clamp(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

#endif
