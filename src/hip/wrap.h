/* The wrappers by name: dlsym and hipGetProcAddress return them instead of the functions that they found. */
#ifndef RTL_HIP_WRAP_H
#define RTL_HIP_WRAP_H

#include "hip/functions.h"

/* RTL_FN_COUNT if the function isn't recorded. */
enum rtl_hip_function rtl_function_of(const char *name);

/* Return the wrapper of a function that was found. Returns the function itself when nothing is recorded, when it is
 * a wrapper already, or when another function of that name was handed out before (a second HIP: its calls go
 * unrecorded). */
void *rtl_hand_out(enum rtl_hip_function function, void *found);

#endif
