/* The commands without a screen. All functions return an exit status. */
#ifndef RTL_COMMAND_RUN_H
#define RTL_COMMAND_RUN_H

#include <signal.h>

#include "options/options.h"
#include "watch/player.h"
#include "watch/process_set.h"

/* Writes frames as text, CSV or JSON; of processes, or of a recording that the caller has opened. */
int rtl_batch(const struct rtl_options *options, struct rtl_process_set *set);
int rtl_batch_replay(const struct rtl_options *options, struct rtl_player *player);

/* --snapshot */
int rtl_write_snapshot(const struct rtl_options *options, struct rtl_process_set *set);
/* --mode: switches the processes to options->mode. */
int rtl_change_mode(const struct rtl_options *options, struct rtl_process_set *set);
/* --trace: returns 0 also if the recording ended with its process. `watch` is the screen that runs meanwhile. */
typedef int rtl_watcher(const struct rtl_options *options, struct rtl_process_set *set,
                        const struct rtl_trace_status *background);
int rtl_trace(const struct rtl_options *options, struct rtl_process_set *set, rtl_watcher *watch);

/* Returns the signals that end a recording or a probe. SIGHUP stays ignored if it is (nohup). SIGINT doesn't: shells
 * ignore it for background jobs, which then get it from kill. */
sigset_t rtl_stop_signals(void);
void rtl_handle_stop_signals(void (*handler)(int));

/* Sets the screen of `rtl-top run`. main calls it once; this folder doesn't depend on src/tui. */
void rtl_run_set_screen(rtl_watcher *watch);

#endif
