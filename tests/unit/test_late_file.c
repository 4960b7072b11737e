/*
 * Files of a process that are never delivered. A pipe of this process, without data, stands for a page behind FUSE that
 * never comes. Readers give up after a while, other processes stay readable, and the reading threads end when they can.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "segment_fixture.h"
#include "shm/late_file.h"

static int before; /* threads of this program before the first test */

static void files_are_read_as_they_are(void **state)
{
    char text[256], tiny[5];
    (void)state;
    if (FIXTURE_TSAN) /* it delays signals and threads that wait in the kernel */
        skip();
    ssize_t n = rtl_late_file(0, "cmdline", text, sizeof text);
    assert_true(n > 0 && strstr(text, "test_late_file"));
    assert_int_equal(rtl_late_file(0, "cmdline", tiny, sizeof tiny), 4);
    assert_memory_equal(tiny, text, 4);
    assert_int_equal(tiny[4], 0);
    assert_int_equal(rtl_late_file(INT32_MAX, "cmdline", text, sizeof text), -ENOENT);
}

static int count_threads(void)
{
    char line[128];
    int threads = 0;
    FILE *status = fopen("/proc/self/status", "re");
    assert_non_null(status);
    while (fgets(line, sizeof line, status))
        if (sscanf(line, "Threads: %d", &threads) == 1)
            break;
    fclose(status);
    return threads;
}

static void await_threads(int wanted)
{
    for (int i = 0; i < 6000 && count_threads() != wanted; i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    assert_int_equal(count_threads(), wanted);
}

static void an_undelivered_file_is_unknown(void **state)
{
    char text[64], file[16];
    int ends[2];
    (void)state;
    if (FIXTURE_TSAN) /* it delays signals and threads that wait in the kernel */
        skip();
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    snprintf(file, sizeof file, "fd/%d", ends[0]);
    for (int i = 0; i < 20; i++) { /* no further thread waits for this process */
        assert_int_equal(rtl_late_file(0, file, text, sizeof text), -ETIMEDOUT);
        assert_string_equal(text, "");
    }
    await_threads(before + 1);
    pid_t child = fork(); /* another process stays readable */
    assert_true(child >= 0);
    if (!child) {
        pause();
        _exit(0);
    }
    assert_true(rtl_late_file(child, "cmdline", text, sizeof text) > 0);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(ends[1]); /* the read ends, and then its thread */
    await_threads(before);
    assert_true(rtl_late_file(0, "cmdline", text, sizeof text) > 0);
    close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_read_as_they_are),
        cmocka_unit_test(an_undelivered_file_is_unknown),
    };
    before = count_threads();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
