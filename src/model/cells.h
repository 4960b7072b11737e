/* What the model's numbers look like in words, for the screen and for text output. Pure. */
#ifndef RTL_MODEL_CELLS_H
#define RTL_MODEL_CELLS_H

#include "model/model.h"
#include "text/units.h"

/* One cell of the kernel table; false when it was not measured (then the text is "-"). */
bool rtl_cell_text(const struct rtl_model *model, const struct rtl_row *row, enum rtl_column column,
                   enum rtl_unit units, char *out, size_t size);

/*
 * The columns that the cells need, each at least as wide as the table says: times in a unit that was asked for can be
 * longer. They grow in steps, so that a digit more or less doesn't move the table. 0: there is nothing to show in it.
 */
void rtl_cell_widths(const struct rtl_model *model, enum rtl_unit units, int width[RTL_COLUMN_COUNT]);

/* `width` in such steps for text of that many columns. */
int rtl_cell_width(int width, int columns);

#endif
