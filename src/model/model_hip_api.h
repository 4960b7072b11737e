/* Makes the rows of the calls of HIP and the ranges of roctx (hip_api_rows.h) out of the snapshots. */
#ifndef RTL_MODEL_MODEL_HIP_API_H
#define RTL_MODEL_MODEL_HIP_API_H

#include "model/model_data.h"

const char *rtl_hip_api_order_text(enum rtl_hip_api_order order);

/* Brings them up to date. False without memory. */
bool rtl_model_make_hip_api(struct rtl_model *model);

#endif
