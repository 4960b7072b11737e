/* The text of cells, in the kernel table and in the list of processes, for the screen and for text output. Pure. */
#ifndef RTL_MODEL_CELLS_H
#define RTL_MODEL_CELLS_H

#include "model/model.h"
#include "model/ranks.h"
#include "text/units.h"

/* Write one cell; false if its value was not measured (the text is "-"). */
bool rtl_cell_text(const struct rtl_model *model, const struct rtl_row *row, enum rtl_column column,
                   enum rtl_unit units, char *out, size_t size);

/* Compute the width of each column: at least that of columns.h, more for times in a unit that the user chose. Widths
 * grow in steps, so that a digit more or less does not move the table. 0: the column has nothing to show. */
void rtl_cell_widths(const struct rtl_model *model, enum rtl_unit units, int width[RTL_COLUMN_COUNT]);

/* Round up `width` by such steps until a text of `columns` fits. */
int rtl_cell_width(int width, int columns);

/* The text of a process in the list of processes. */
struct rtl_process_cells {
    char pid[12], label[RTL_MEMBER_LABEL], gpu[24], container[20], busy[24], rate[24], worst[24], mode[12], age[24];
};

/* Write all cells; "-" for unknown values. `real_ns` is the current time. */
void rtl_process_cells(const struct rtl_model *model, const struct rtl_process_row *row, enum rtl_unit units,
                       uint64_t real_ns, struct rtl_process_cells *out);

#endif
