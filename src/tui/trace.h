/* --trace. Returns an exit status; 0 also when the recording ended because the process did. */
#ifndef RTL_TUI_TRACE_H
#define RTL_TUI_TRACE_H

#include "tui/watch.h"

int rtl_trace(const struct rtl_options *options, struct rtl_reader *reader, pid_t pid);

#endif
