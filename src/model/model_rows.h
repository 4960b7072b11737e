/* The inner half of the model: rows, sums and order out of the chosen snapshots. Only model.c uses it. */
#ifndef RTL_MODEL_MODEL_ROWS_H
#define RTL_MODEL_MODEL_ROWS_H

#include "model/model.h"

/* Remakes everything under "derived" in struct rtl_model but base and span. False without memory. */
bool rtl_model_make_rows(struct rtl_model *model);

#endif
