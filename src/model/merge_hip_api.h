/* The calls of several processes as those of one: each function and range by its name, memory one after another. Pure.
 */
#ifndef RTL_MODEL_MERGE_HIP_API_H
#define RTL_MODEL_MERGE_HIP_API_H

#include "shm/hip_api_snapshot.h"

/* Puts the sum into `out`; nothing where none of them has any. False without memory. */
bool rtl_merge_hip_api(const struct rtl_hip_api_snapshot *const *from, uint32_t count, struct rtl_snapshot *out);

#endif
