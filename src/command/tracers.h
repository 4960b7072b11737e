/*
 * Recorders of traces (record/tracer.h), one a process, into one file: for those that are watched when it begins and
 * for those that come later. Whatever isn't recorded is told.
 *
 * Threads: one has it; rtl_tracers_trouble may be asked by others.
 */
#ifndef RTL_COMMAND_TRACERS_H
#define RTL_COMMAND_TRACERS_H

#include "options/options.h"
#include "watch/process_set.h"

struct rtl_tracers;

/* Starts one for each process; later ones are the targets' to tell (rtl_process_set_on_join). 0, or an exit status
 * after it was said what is wrong: when there is none that can be recorded, or the file can't be written. */
int rtl_tracers_start(const struct rtl_options *options, struct rtl_process_set *set, struct rtl_tracers **tracers);

/* False once all have ended by themselves. */
bool rtl_tracers_are_running(struct rtl_tracers *tracers);
/* Why one of them ended before it was told to, or none was started, one line; NULL while all is well. It stays valid.
 */
const char *rtl_tracers_trouble(struct rtl_tracers *tracers);
/* As rtl_tracer_end, all of them; nobody is recorded who comes from now on. */
void rtl_tracers_ask_to_end(struct rtl_tracers *tracers, bool at_once);
/* Ends them, says how each went, and frees it; the exit status. */
int rtl_tracers_stop(struct rtl_tracers *tracers);

#endif
