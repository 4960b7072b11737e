/* Learns kernels' names when executables are frozen and destroyed (track/kernel_rows.h). */
#ifndef RTL_INTERCEPT_EXECUTABLES_H
#define RTL_INTERCEPT_EXECUTABLES_H

#include <hsa/hsa.h>

hsa_status_t rtl_executable_freeze(hsa_executable_t executable, const char *options);
hsa_status_t rtl_executable_destroy(hsa_executable_t executable);

#endif
