/* Watching on the screen. All return an exit status, but rtl_pick. */
#ifndef RTL_TUI_LOOP_H
#define RTL_TUI_LOOP_H

#include "watch/trace_status.h"
#include "options/options.h"
#include "watch/player.h"
#include "watch/process_set.h"

/* `background`: what else runs meanwhile, or NULL. */
int rtl_loop_live(const struct rtl_options *options, struct rtl_process_set *targets,
                  const struct rtl_trace_status *background);
/* A recording, which the caller has opened and closes. */
int rtl_loop_replay(const struct rtl_options *options, struct rtl_player *player);

/* Lets the user choose a traced process on the terminal: its pid; 0 when he quits; -1 after an error was printed. */
pid_t rtl_pick(const struct rtl_options *options);

#endif
