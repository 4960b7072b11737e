/* HIP calls and roctx ranges in JSON. */
#ifndef RTL_COMMAND_JSON_HIP_API_H
#define RTL_COMMAND_JSON_HIP_API_H

#include "command/json_writer.h"
#include "model/model.h"
#include "model/model_range.h"

/* Put the frame's key "api": null if the process records no calls. */
void rtl_json_hip_api(struct json_writer *w, struct json_object *root, const struct rtl_model *m);

/* Put a row's numbers since the start into an object; null for times of a row without calls. */
void rtl_json_hip_api_row(struct json_writer *w, struct json_object *o, const struct rtl_hip_api_row_snapshot *row);
/* Append memory in use at one place. */
void rtl_json_hip_api_memory(struct json_writer *w, struct json_object *array,
                             const struct rtl_hip_api_memory_snapshot *m);
/* Append a kernel's numbers in one range. */
void rtl_json_range_kernel(struct json_writer *w, struct json_object *array, const struct rtl_hip_api_snapshot *api,
                           const struct rtl_range_kernel *kernel, const char *kernel_name);

#endif
