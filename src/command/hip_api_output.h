/* Prints the HIP API of a process as a table, JSON or CSV. */
#ifndef RTL_COMMAND_HIP_API_OUTPUT_H
#define RTL_COMMAND_HIP_API_OUTPUT_H

#include <sys/types.h>

#include "shm/hip_api_snapshot.h"

enum rtl_hip_api_form { RTL_HIP_API_TABLE, RTL_HIP_API_JSON, RTL_HIP_API_CSV, RTL_HIP_API_CSV_MORE /* no header */ };

/* Print snapshot->hip_api on standard output, with the snapshot's kernels by range. False without memory. */
bool rtl_hip_api_print(const struct rtl_snapshot *snapshot, pid_t pid, enum rtl_hip_api_form form);

#endif
