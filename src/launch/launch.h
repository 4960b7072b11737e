/*
 * A command that rtl-top starts traced: environment, output, signals and end.
 *
 * With a screen, the command gets its own session, which keys and the terminal's end don't reach, and a log file for
 * its output. Without a screen, it stays in the process group and inherits the standard descriptors. Only one command
 * at a time: the signal handlers use a global variable.
 */
#ifndef RTL_LAUNCH_LAUNCH_H
#define RTL_LAUNCH_LAUNCH_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "launch/library.h"
#include "shm/segment_reader.h"

/* Exit statuses of shells. */
enum { RTL_LAUNCH_NOT_EXECUTABLE = 126, RTL_LAUNCH_NOT_FOUND = 127, RTL_LAUNCH_SIGNALLED = 128 };

struct rtl_launch {
    pid_t pid;
    bool detached;      /* own session, output in `log` */
    char log[PATH_MAX]; /* "" = none */
    char **command;

    bool ended;
    int wait_status;  /* of waitpid */
    int end_requests; /* calls of rtl_launch_terminate so far */
};

/* Starts the command. Returns 0, or an exit status with one line in `why`: 127 and 126 like shells, RTL_READER_USAGE
 * for other errors. */
int rtl_launch_start(struct rtl_launch *launch, char **command, const struct rtl_traced_env *env, bool detached,
                     char *why, size_t why_bytes);

/* True if the command has ended; doesn't wait. */
bool rtl_launch_ended(struct rtl_launch *launch);
/* Waits for the command's end and forwards signals meanwhile. */
void rtl_launch_wait(struct rtl_launch *launch);
/* Returns the exit status of an ended command, or 128 + the signal that ended it. */
int rtl_launch_exit_status(const struct rtl_launch *launch);

/* Reports after the screen's end that the command still runs or how it ended, and where its output is. */
void rtl_launch_report(struct rtl_launch *launch);

/* Ends all processes of a detached command: with SIGTERM the first time, then with SIGKILL. */
void rtl_launch_terminate(struct rtl_launch *launch);

/* True if SIGINT has arrived since the last call. Only for a detached command, which doesn't get the signal. */
bool rtl_launch_interrupted(void);

#endif
