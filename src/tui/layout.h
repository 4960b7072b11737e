/*
 * Where everything goes: (rows, columns, GPUs) -> rectangles. Pure, defined for every size.
 *
 * 80x24 is the reference. A rectangle of 0 rows is not there. Under 3 rows or 24 columns there are sums and, below
 * them, as many kernels as there are rows; under 5 columns nothing.
 */
#ifndef RTL_TUI_LAYOUT_H
#define RTL_TUI_LAYOUT_H

#include <stdbool.h>

#include "model/columns.h"
#include "tui/frame.h"

enum rtl_layout_kind { RTL_LAYOUT_NOTHING, RTL_LAYOUT_LINE, RTL_LAYOUT_FULL };

struct rtl_layout {
    enum rtl_layout_kind kind;
    struct rtl_rect line;     /* RTL_LAYOUT_LINE only */
    struct rtl_rect header;   /* who, how often, state */
    struct rtl_rect gpus;     /* a line each, or cells */
    struct rtl_rect coverage; /* sums, and what was not measured */
    struct rtl_rect head;     /* of the table */
    struct rtl_rect table;
    struct rtl_rect pane; /* below the table on tall terminals, if asked for */
    struct rtl_rect name; /* the whole name of the selected kernel, if asked for */
    struct rtl_rect status;
    struct rtl_rect keys;
    int gpu_columns, gpu_width;      /* cells of GPUs, column by column; one column when each has a line */
    int gpu_cells;                   /* cells that there are room for */
    int gpu_shown;                   /* GPUs shown; when fewer than there are the last cell says how many more */
    int bar_at, bar_width;           /* beside %TIME; width 0 = not there */
    int column_at[RTL_COLUMN_COUNT]; /* screen column, -1 = not shown */
    int column_width[RTL_COLUMN_COUNT];
};

/* What is to be shown, as far as the geometry depends on it. */
struct rtl_layout_wants {
    int gpus;
    bool gpu_lines;        /* one line a GPU where there would be cells, and the other way round */
    int name_rows;         /* for a wrapped name */
    bool pane;             /* something below the table, on terminals of RTL_PANE_FROM_ROWS rows and more */
    bool slowest;          /* the column SLOWEST has something to say */
    bool launch;           /* the column LAUNCH */
    unsigned columns;      /* those of the table to show, bits by enum rtl_column; 0 = as the terminal's width says */
    const uint8_t *places; /* of them, columns.h; or NULL */
    const int *widths;     /* of the table's columns, where they are not those of model/columns.h; NULL = they are */
};
enum { RTL_PANE_FROM_ROWS = 40 };

/* Wider columns go before the name gets too short, the least important first. */
struct rtl_layout rtl_layout_main(int rows, int cols, const struct rtl_layout_wants *wants);

struct rtl_layout_detail {
    enum rtl_layout_kind kind;
    struct rtl_rect line;
    struct rtl_rect header, counts, quantiles, name;
    struct rtl_rect head; /* over histogram and figures */
    struct rtl_rect histogram;
    struct rtl_rect figures;         /* to the right of it, or not there */
    struct rtl_rect plot_head, plot; /* p99 over time, */
    struct rtl_rect trend;           /* or in one line, where a plot has no room */
    struct rtl_rect probe;           /* in place of these, if asked for; its first line is its head */
    struct rtl_rect status, keys;
};
/* With figures beside the histogram the line of quantiles, which says the same, is not there. `number`: columns of the
 * figures' numbers, 12 at least. */
struct rtl_layout_detail rtl_layout_detail(int rows, int cols, int name_rows, int number, bool probe);

/*
 * Place the columns of a table from screen column `begin` on, a blank between two: set at[], and width[] of columns
 * that are not shown to 0. A column needs a terminal of at least from[] columns; the last `reserve` columns stay free.
 * If the columns don't fit, those with the highest from[] go first, of equal ones the last first; `kept` goes at the
 * very end. Returns where the next column would begin.
 */
int rtl_columns_fit(int *width, const int *from, int count, int kept, int begin, int cols, int reserve, int *at);

static inline int rtl_clamp(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

#endif
