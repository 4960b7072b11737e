/* The text of the process list's cells, for the screen and for rtl-top list. Pure. */
#ifndef RTL_MODEL_PROCESS_CELLS_H
#define RTL_MODEL_PROCESS_CELLS_H

#include "model/ranks.h"
#include "text/units.h"

struct rtl_process_cells {
    char pid[12], label[RTL_MEMBER_LABEL], gpu[24], container[20], busy[24], rate[24], worst[24], mode[12], age[24];
};

/* Write all cells; "-" for unknown values. `real_ns` is the current time. */
void rtl_process_cells(const struct rtl_model *model, const struct rtl_process_row *row, enum rtl_unit units,
                       uint64_t real_ns, struct rtl_process_cells *out);

#endif
