/* What is allocated now: by GPU, and by the function that has allocated it. No lock; a fixed table, once. */
#ifndef RTL_HIP_MEMORY_H
#define RTL_HIP_MEMORY_H

#include "hip/counters.h"

/* A successful allocation; place is the GPU's number, RTL_HIP_API_GPUS for the host's memory. */
void rtl_memory_in(struct rtl_hip_api *api, uint32_t row, const void *address, uint64_t bytes, uint32_t place);

/*
 * Before memory is given back: afterwards somebody else may have been given the same address. Returns what was noted,
 * 0 if nothing was; rtl_memory_again puts it back where freeing has failed.
 */
uint64_t rtl_memory_out(struct rtl_hip_api *api, const void *address);
void rtl_memory_again(struct rtl_hip_api *api, const void *address, uint64_t noted);

/* All that lay on a GPU has gone with it. */
void rtl_memory_reset(struct rtl_hip_api *api, uint32_t place);

#endif
