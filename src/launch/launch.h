/*
 * A command that rtl-top starts, traced: its environment, its output, its signals, its end.
 *
 * With a screen it gets a session of its own (keys and the end of the terminal don't reach it) and a log file for what
 * it writes; without one it stays in our process group, and its standard descriptors are ours. One at a time: the
 * signal handlers need a place to find it.
 */
#ifndef RTL_LAUNCH_LAUNCH_H
#define RTL_LAUNCH_LAUNCH_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "launch/traced_env.h"
#include "shm/segment_reader.h"

/* As shells have it. */
enum { RTL_LAUNCH_NOT_EXECUTABLE = 126, RTL_LAUNCH_NOT_FOUND = 127, RTL_LAUNCH_SIGNALLED = 128 };

struct rtl_launch {
    pid_t pid;
    bool detached;      /* in a session of its own, its output in `log` */
    char log[PATH_MAX]; /* "" = none */
    char **command;

    bool ended;
    int wait_status;  /* as waitpid has it */
    int end_requests; /* calls of rtl_launch_terminate so far */
};

/*
 * Starts it. 0, or an exit status and one line in `why`: 127 and 126 as shells have them, RTL_READER_USAGE for
 * trouble of our own.
 */
int rtl_launch_start(struct rtl_launch *launch, char **command, const struct rtl_traced_env *env, bool detached,
                     char *why, size_t why_bytes);

/* Whether it has ended; doesn't wait. */
bool rtl_launch_ended(struct rtl_launch *launch);
/* Waits for its end, passing on signals. */
void rtl_launch_wait(struct rtl_launch *launch);
/* Of a command that has ended: its own, or 128 and the signal that ended it. */
int rtl_launch_exit_status(const struct rtl_launch *launch);

/* Tells the user, when the screen is gone, that it goes on, or how it ended; and where its output is. */
void rtl_launch_report(struct rtl_launch *launch);

/* Asks all its processes to end: SIGTERM the first time, SIGKILL the second. Detached ones only. */
void rtl_launch_terminate(struct rtl_launch *launch);

/* Whether an interrupt (SIGINT) came since this was asked last, where it is not passed on: of a detached command. */
bool rtl_launch_interrupted(void);

#endif
