/*
 * The instructions before a wait in words, out of the code that a probe is about, where there is a library that reads
 * it (text/disassembly.h).
 */
#ifndef RTL_PROBING_STALL_LINES_H
#define RTL_PROBING_STALL_LINES_H

#include "probing/probe_session.h"
#include "probing/stall_costs.h"

struct rtl_stall_lines;

/* Of a session whose code is known. NULL: there is nothing to read it with, or no code, as `why` says; else that is "".
 */
struct rtl_stall_lines *rtl_stall_lines_open(const struct rtl_probe_session *session, char why[RTL_STALL_WHY]);
/* How many. The session has still to be there. */
int rtl_stall_lines(const struct rtl_stall_lines *lines, const struct rtl_probe_wait *wait,
                    char text[RTL_STALL_BEFORE][RTL_STALL_LINE]);
void rtl_stall_lines_close(struct rtl_stall_lines *lines); /* NULL is allowed */

#endif
