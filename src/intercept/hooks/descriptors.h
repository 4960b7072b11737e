/*
 * Queues that the application describes: the hook on hsa_amd_queue_create, which the newest releases have and by which
 * their HIP makes all of its queues. And those that it borrows, by hsa_amd_counted_queue_acquire, which are only
 * counted as refused.
 */
#ifndef RTL_INTERCEPT_DESCRIPTORS_H
#define RTL_INTERCEPT_DESCRIPTORS_H

#include <stdbool.h>

/*
 * Load: hooks it, where this runtime has it. False when it may have it and that can't be done: such queues aren't seen
 * then, and what else the library believes about the application's signals isn't certain.
 */
bool rtl_descriptors_hook(void *table);

#endif
