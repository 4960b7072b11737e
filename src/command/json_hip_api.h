/* The calls of HIP and the ranges of roctx in JSON, as a part of a frame. */
#ifndef RTL_COMMAND_JSON_HIP_API_H
#define RTL_COMMAND_JSON_HIP_API_H

#include "command/json_writer.h"
#include "model/model.h"

/* The key "api": null where none are recorded. */
void rtl_json_hip_api(struct json_writer *w, struct json_object *root, const struct rtl_model *m);

#endif
