/* Watching on the screen. All return an exit status, but rtl_pick. */
#ifndef RTL_TUI_WATCH_H
#define RTL_TUI_WATCH_H

#include "session/background.h"
#include "session/options.h"
#include "session/player.h"
#include "session/targets.h"

/* `background`: what else runs meanwhile, or NULL. */
int rtl_watch(const struct rtl_options *options, struct rtl_targets *targets, const struct rtl_background *background);
/* A recording, which the caller has opened and closes. */
int rtl_watch_replay(const struct rtl_options *options, struct rtl_player *player);

/* Lets the user choose a traced process on the terminal: its pid; 0 when he quits; -1 after an error was printed. */
pid_t rtl_pick(const struct rtl_options *options);

#endif
