/* The functions of roctx (roctx.c) for dlsym. */
#ifndef RTL_HIP_ROCTX_H
#define RTL_HIP_ROCTX_H

#include "hip/functions.h"

void *rtl_roctx_wrapper(enum rtl_hip_function function);

#endif
