/* Merges the HIP APIs of several processes: functions and ranges by name, memory rows one after another. Pure. */
#ifndef RTL_MODEL_MERGE_HIP_API_H
#define RTL_MODEL_MERGE_HIP_API_H

#include "shm/hip_api_snapshot.h"

/* Put the sum into out->hip_api; NULL if no process has one. False without memory. */
bool rtl_merge_hip_api(const struct rtl_hip_api_snapshot *const *from, uint32_t count, struct rtl_snapshot *out);

#endif
