/*
 * Records traces of several processes (record/tracer.h) into one file: one recorder for each process, also for those
 * that join later. Failures and losses are reported.
 *
 * Threads: one; rtl_tracers_trouble: any.
 */
#ifndef RTL_COMMAND_TRACERS_H
#define RTL_COMMAND_TRACERS_H

#include "options/options.h"
#include "watch/process_set.h"

struct rtl_tracers;

/* Starts a recorder for each process, and by rtl_process_set_on_join for later ones. Returns 0, or an exit status after
 * a complaint if no process can be recorded or the file can't be written. */
int rtl_tracers_start(const struct rtl_options *options, struct rtl_process_set *set, struct rtl_tracers **tracers);

/* False once all recorders have ended by themselves. */
bool rtl_tracers_are_running(struct rtl_tracers *tracers);
/* Returns one line, valid until rtl_tracers_stop, if a recorder failed or couldn't start; otherwise NULL. */
const char *rtl_tracers_trouble(struct rtl_tracers *tracers);
/* Calls rtl_tracer_end for all; processes that join later are not recorded. */
void rtl_tracers_ask_to_end(struct rtl_tracers *tracers, bool at_once);
/* Ends all recorders, reports their results and frees them. Returns the exit status. */
int rtl_tracers_stop(struct rtl_tracers *tracers);

#endif
