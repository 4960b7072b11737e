/* What the API segment of a process says, for people and for programs. */
#ifndef RTL_COMMAND_HIP_API_OUTPUT_H
#define RTL_COMMAND_HIP_API_OUTPUT_H

#include <sys/types.h>

#include "shm/hip_api_reader.h"

enum rtl_hip_api_form {
    RTL_HIP_API_TABLE,
    RTL_HIP_API_JSON,
    RTL_HIP_API_CSV,
    RTL_HIP_API_CSV_MORE /* without its head */
};

/* On standard output; sorts the rows. `kernels` says which of them were launched in which range (its calls are those of
 * the process); NULL: nothing is known of kernels. */
void rtl_hip_api_print(struct rtl_hip_api_copy *copy, pid_t pid, const struct rtl_snapshot *kernels,
                       enum rtl_hip_api_form form);

#endif
