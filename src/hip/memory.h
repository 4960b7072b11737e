/* Memory allocated now, by GPU and by allocating function. No lock; a fixed table. */
#ifndef RTL_HIP_MEMORY_H
#define RTL_HIP_MEMORY_H

#include "hip/counters.h"

/* Add a successful allocation; place is the GPU's number, RTL_HIP_API_GPUS for host memory. */
void rtl_memory_add(struct rtl_hip_api *api, uint32_t row, const void *address, uint64_t bytes, uint32_t place);

/* Remove an address before the runtime frees it: afterwards another thread may get the same address. Returns its
 * record, or 0; rtl_memory_restore adds it again if freeing failed. */
uint64_t rtl_memory_remove(struct rtl_hip_api *api, const void *address);
void rtl_memory_restore(struct rtl_hip_api *api, const void *address, uint64_t noted);

/* Remove all memory of a GPU, after a device reset. */
void rtl_memory_reset(struct rtl_hip_api *api, uint32_t place);

#endif
