/* What rtl-top does without a screen. All return an exit status. */
#ifndef RTL_COMMAND_RUN_H
#define RTL_COMMAND_RUN_H

#include "watch/trace_status.h"
#include "options/options.h"
#include "watch/player.h"
#include "watch/process_set.h"

/* Frame by frame into a stream: text, CSV or JSON; of processes, or of a recording that the caller has opened. */
int rtl_batch(const struct rtl_options *options, struct rtl_process_set *set);
int rtl_batch_replay(const struct rtl_options *options, struct rtl_player *player);

/* --snapshot */
int rtl_write_snapshot(const struct rtl_options *options, struct rtl_process_set *set);
/* --mode: has the processes go on in options->mode. */
int rtl_change_mode(const struct rtl_options *options, struct rtl_process_set *set);
/* --trace; 0 also when the recording ended because the process did. `watch` is the screen, shown meanwhile. */
typedef int rtl_watcher(const struct rtl_options *options, struct rtl_process_set *set,
                        const struct rtl_trace_status *background);
int rtl_trace(const struct rtl_options *options, struct rtl_process_set *set, rtl_watcher *watch);

/* What `rtl-top run` shows a screen with; set once by main, which knows both. */
void rtl_run_set_screen(rtl_watcher *watch);

#endif
