/* The hook on hsa_amd_queue_create, by which HIP of the newest releases makes all its queues, and those on
 * hsa_amd_counted_queue_acquire and _release, for counted queues. */
#ifndef RTL_INTERCEPT_DESCRIPTORS_H
#define RTL_INTERCEPT_DESCRIPTORS_H

#include <stdbool.h>

/* Load: install the hooks, if this runtime has the functions. False if it may have them and hooking is impossible:
 * such queues aren't seen, and the state of the application's signals becomes uncertain. */
bool rtl_descriptors_hook(void *table);

#endif
