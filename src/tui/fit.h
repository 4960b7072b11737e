/* Columns of a table that have room. Pure. */
#ifndef RTL_TUI_FIT_H
#define RTL_TUI_FIT_H

/*
 * Columns of the widths `width`, a blank between two, from screen column `begin` on, on a terminal of `cols` columns of
 * which `reserve` at the end are for something else: at[] is where each one is. Shown are those that the terminal is
 * wide enough for (`from`, the least width); when they don't fit, those go whole that the widest terminals are for, the
 * last first, and `kept` at the very end. Width 0 = not shown. Returns where the next one would be.
 */
int rtl_columns_fit(int *width, const int *from, int count, int kept, int begin, int cols, int reserve, int *at);

#endif
