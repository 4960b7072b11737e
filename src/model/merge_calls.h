/* The calls of several processes as those of one: each function and range by its name, memory one after another. Pure.
 */
#ifndef RTL_MODEL_MERGE_CALLS_H
#define RTL_MODEL_MERGE_CALLS_H

#include "shm/calls.h"

/* Puts the sum into `out`; nothing where none of them has any. False without memory. */
bool rtl_merge_calls(const struct rtl_calls *const *from, uint32_t count, struct rtl_snapshot *out);

#endif
