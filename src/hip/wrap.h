/* The wrappers by name: what dlsym and hipGetProcAddress answer instead of the function that they have found. */
#ifndef RTL_HIP_WRAP_H
#define RTL_HIP_WRAP_H

#include "hip/functions.h"

/* RTL_FN_COUNT when the name isn't one that is seen. */
enum rtl_hip_function rtl_function_of(const char *name);

/*
 * What to hand out for a function that was found: its wrapper; itself when nothing is recorded, when it is a wrapper
 * already, or when another function of that name was handed out before (a second HIP: its calls go unseen, and to it).
 */
void *rtl_hand_out(enum rtl_hip_function function, void *found);

#endif
