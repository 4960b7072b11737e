/* Shared by the tests of discovery: child processes that behave like a traced process, or like an untraced one. */
#ifndef RTL_TESTS_PROCESS_FIXTURE_H
#define RTL_TESTS_PROCESS_FIXTURE_H

#include "segment_fixture.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

static struct rtl_segment segment; /* used in the child */

static inline void say_ready(int fd)
{
    if (write(fd, "r", 1) != 1)
        _exit(1);
}

/* Start a process that runs `body`, reports that it is ready, and sleeps until it is killed. */
static inline pid_t start_process(void (*body)(int ready))
{
    int ready[2];
    char byte;
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ready[0]);
        body(ready[1]);
        say_ready(ready[1]);
        for (;;)
            pause();
    }
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 1)
        fail_msg("the process did not start");
    close(ready[0]);
    return pid;
}

static inline void end_process(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static inline void plain(int ready)
{
    (void)ready;
}

static inline void traced(int ready)
{
    char why[200];
    (void)ready;
    if (rtl_segment_create(&segment, &fixture_config, why, sizeof why) != 0)
        _exit(1);
    struct rtl_recorder *recorder = rtl_recorder_create(&segment);
    uint32_t kernel = fixture_kernel(&segment, "a kernel");
    for (int i = 0; i < 10; i++)
        rtl_recorder_record(recorder, kernel, 1000);
    rtl_segment_set_state(&segment, RTL_STATE_LIVE);
}

static char why[500];

static inline enum rtl_reader_status try_open(pid_t pid)
{
    struct rtl_reader *reader = NULL;
    why[0] = '\0';
    enum rtl_reader_status status = rtl_reader_open(pid, &reader, why, sizeof why);
    assert_true((status == RTL_READER_OK) == (reader != NULL));
    if (status != RTL_READER_OK) {
        assert_true(why[0] && why[strlen(why) - 1] != '\n');
        assert_null(strchr(why, '\n'));
    }
    rtl_reader_close(reader);
    return status;
}

static inline void assert_says(const char *text)
{
    if (!strstr(why, text))
        fail_msg("\"%s\" is not in: %s", text, why);
}

static inline void assert_names(pid_t pid)
{
    char number[16];
    snprintf(number, sizeof number, "%d", (int)pid);
    assert_says(number);
}

static inline void assert_ten_records(struct rtl_reader *reader)
{
    struct rtl_snapshot s = {0};
    assert_int_equal(rtl_reader_snapshot(reader, &s), RTL_READER_OK);
    assert_int_equal(s.timed, 10);
    assert_string_equal(s.kernels[0].name, "a kernel");
    rtl_snapshot_free(&s);
}

static volatile pid_t *forked; /* in shared memory: the pid of a grandchild */

/* Fork a grandchild that runs on only after its parent has stored its pid. Return 0 in the grandchild. */
static inline pid_t fork_noted(void)
{
    *forked = 0;
    pid_t pid = fork();
    if (pid > 0)
        *forked = pid;
    if (pid == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (!*forked)
        sched_yield();
    return pid;
}

/* The threads of this program, without the one that TSan adds. */
static inline int count_threads(void)
{
    char line[128];
    int threads = 0;
    FILE *status = fopen("/proc/self/status", "re");
    assert_non_null(status);
    while (fgets(line, sizeof line, status))
        if (sscanf(line, "Threads: %d", &threads) == 1)
            break;
    fclose(status);
    return threads - FIXTURE_TSAN;
}

/* Wait until there are so many: a thread whose work is done needs a moment to end. */
static inline void await_threads(int wanted)
{
    for (int i = 0; i < 6000 && count_threads() != wanted; i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    assert_int_equal(count_threads(), wanted);
}

#endif
