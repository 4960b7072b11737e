/* The two ways to watch a process: on the screen, and frame by frame into a stream. Both return an exit status. */
#ifndef RTL_TUI_WATCH_H
#define RTL_TUI_WATCH_H

#include "shm/segment_reader.h"
#include "tui/options.h"

int rtl_watch(const struct rtl_options *options, struct rtl_reader *reader, pid_t pid);
int rtl_batch(const struct rtl_options *options, struct rtl_reader *reader, pid_t pid);
int rtl_snapshot_once(const struct rtl_options *options, struct rtl_reader *reader, pid_t pid);
/* Has the process go on in options->mode. */
int rtl_change_mode(const struct rtl_options *options, struct rtl_reader *reader, pid_t pid);
/* A recording (options->replay), on the screen or into a stream. */
int rtl_replay(const struct rtl_options *options);

struct rtl_player;
int rtl_batch_replay(const struct rtl_options *options, struct rtl_player *player);

/* Lets the user choose a traced process on the terminal: its pid; 0 when he quits; -1 after an error was printed. */
pid_t rtl_pick(const struct rtl_options *options);

/* Prints "rtl-top: ..." to stderr. */
void rtl_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
