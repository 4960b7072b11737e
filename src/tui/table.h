/* Tables of numbers: the places of their columns, their header and their cells. Pure. */
#ifndef RTL_TUI_TABLE_H
#define RTL_TUI_TABLE_H

#include "text/units.h"
#include "tui/frame.h"

struct rtl_table_column {
    const char *header;
    int width; /* usual width */
    int from;  /* least width of the terminal */
};

enum { RTL_TABLE_COLUMNS_MAX = 16 };

struct rtl_table_row {
    struct rtl_number cell[RTL_TABLE_COLUMNS_MAX];
};

/* Places of the columns on the screen; width 0: hidden. */
struct rtl_table {
    const struct rtl_table_column *columns;
    int count;
    int at[RTL_TABLE_COLUMNS_MAX], width[RTL_TABLE_COLUMNS_MAX];
    int end; /* where the next column would begin */
};

/* Return the table with its usual widths. */
struct rtl_table rtl_table_begin(const struct rtl_table_column *columns, int count);
/* Widen the columns to the cells of a row: a chosen unit makes long numbers. */
void rtl_table_widen(struct rtl_table *table, const struct rtl_number *cells);

/* Place the columns from screen column 1 on, a blank between two. Hide those that need a terminal wider than `cols`, or
 * would end behind `room`. */
void rtl_table_place(struct rtl_table *table, int cols, int room);
/* Likewise from screen column 2 on; the last `reserve` columns stay free. If the columns don't fit, those that need the
 * widest terminal go first, of equal ones the last first; `kept` goes at the very end. */
void rtl_table_fit(struct rtl_table *table, int kept, int cols, int reserve);

/* Draw one cell, right-aligned, unless its column is hidden. */
void rtl_table_cell(const struct rtl_table *table, struct rtl_frame *frame, int line, enum rtl_role role, int column,
                    const char *text);
void rtl_table_draw(const struct rtl_table *table, struct rtl_frame *frame, int line, enum rtl_role role,
                    const struct rtl_number *cells);
/* Draw the headers; `sorted`: the column that the table is sorted by, -1: none. */
void rtl_table_head(const struct rtl_table *table, struct rtl_frame *frame, int line, int sorted);

#endif
