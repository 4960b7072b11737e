/*
 * Disassembles the instructions before a wait from the probed code, if a disassembler is installed
 * (text/disassembly.h).
 */
#ifndef RTL_PROBING_STALL_LINES_H
#define RTL_PROBING_STALL_LINES_H

#include "probing/probe_session.h"
#include "probing/stall_costs.h"

struct rtl_stall_lines;

/* Open the code of a session. NULL: no disassembler or no code, explained in `why`; otherwise `why` is "". */
struct rtl_stall_lines *rtl_stall_lines_open(const struct rtl_probe_session *session, char why[RTL_STALL_WHY]);
/* Write the lines before a wait and return their number. The session must still be open. */
int rtl_stall_lines(const struct rtl_stall_lines *lines, const struct rtl_probe_wait *wait,
                    char text[RTL_STALL_BEFORE][RTL_STALL_LINE]);
void rtl_stall_lines_close(struct rtl_stall_lines *lines); /* NULL is allowed */

#endif
