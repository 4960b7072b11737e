/* What the API segment of a process says, for people and for programs. */
#ifndef RTL_COMMAND_API_OUTPUT_H
#define RTL_COMMAND_API_OUTPUT_H

#include <sys/types.h>

#include "shm/api_reader.h"

enum rtl_api_form { RTL_API_TABLE, RTL_API_JSON, RTL_API_CSV };

/* On standard output; sorts the rows. */
void rtl_api_print(struct rtl_api_copy *copy, pid_t pid, enum rtl_api_form form);

#endif
