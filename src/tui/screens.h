/* Watching on the terminal: live processes or a recording. */
#ifndef RTL_TUI_SCREENS_H
#define RTL_TUI_SCREENS_H

#include "watch/trace_status.h"
#include "options/options.h"
#include "watch/player.h"
#include "watch/process_set.h"

/* Watch live processes; `background` is a recording of a trace that runs meanwhile, or NULL. Returns an exit status. */
int rtl_loop_live(const struct rtl_options *options, struct rtl_process_set *targets,
                  const struct rtl_trace_status *background);
/* Show a recording that the caller opens and closes. Returns an exit status. */
int rtl_loop_replay(const struct rtl_options *options, struct rtl_player *player);

/* Let the user choose a traced process: its pid; 0 when the user quits; -1 after an error was printed. */
pid_t rtl_pick(const struct rtl_options *options);

#endif
