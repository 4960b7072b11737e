/* Makes the rows of the calls of HIP and the ranges of roctx (call_rows.h) out of the snapshots. */
#ifndef RTL_MODEL_MODEL_CALLS_H
#define RTL_MODEL_MODEL_CALLS_H

#include "model/model_data.h"

const char *rtl_call_order_text(enum rtl_call_order order);

/* Brings them up to date. False without memory. */
bool rtl_model_make_calls(struct rtl_model *model);

#endif
