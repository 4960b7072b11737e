/* What the model's numbers look like in words, for the screen and for text output. Pure. */
#ifndef RTL_MODEL_CELLS_H
#define RTL_MODEL_CELLS_H

#include "model/model.h"
#include "text/units.h"

enum { RTL_WAY_LINES = 6 };
/* A way in which packets of some queues come, and why so. */
struct rtl_way_line {
    uint32_t way, why;
};
/* The ways of the process's queues, each pair once, in the order of the queues; returns how many. */
int rtl_way_lines(const struct rtl_model *model, struct rtl_way_line lines[RTL_WAY_LINES]);
const char *rtl_way_label(uint32_t way);     /* "native"; "-" when it isn't told, "unknown" */
const char *rtl_way_why_label(uint32_t why); /* "stops_when_full", likewise */
const char *rtl_way_why_words(uint32_t why); /* the same in words: for people */
/* "queues native (intercept queues ...)", for the whole process; "" when nothing is told. */
void rtl_ways_text(const struct rtl_model *model, char *out, size_t size);

/* One cell of the kernel table; false when it was not measured (then the text is "-"). */
bool rtl_cell_text(const struct rtl_model *model, const struct rtl_row *row, enum rtl_column column,
                   enum rtl_unit units, char *out, size_t size);

/*
 * The mode, what of the window's dispatches was not timed and why, and what else has to be known, most important first.
 * Of the window, because what happened hours ago is no reason to doubt what stands there now; the sums since the start
 * are in the help, the queues and the outputs.
 */
void rtl_coverage_text(const struct rtl_model *model, char *out, size_t size);

/*
 * The columns that the cells need, each at least as wide as the table says: times in a unit that was asked for can be
 * longer. They grow in steps, so that a digit more or less doesn't move the table. 0: there is nothing to show in it.
 */
void rtl_cell_widths(const struct rtl_model *model, enum rtl_unit units, int width[RTL_COLUMN_COUNT]);

/* `width` in such steps for text of that many columns. */
int rtl_cell_width(int width, int columns);

#endif
