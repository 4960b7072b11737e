/* Makes the rows of HIP calls and roctx ranges (hip_api_rows.h) from snapshots. */
#ifndef RTL_MODEL_MODEL_HIP_API_H
#define RTL_MODEL_MODEL_HIP_API_H

#include "model/model_data.h"

const char *rtl_hip_api_order_text(enum rtl_hip_api_order order);

/* Update the rows. False without memory. */
bool rtl_model_make_hip_api(struct rtl_model *model);

#endif
