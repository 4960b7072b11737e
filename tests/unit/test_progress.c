/* The progress line: on a terminal after a delay, cleared at the end, and nowhere else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cmocka.h>

#include "options/complain.h"

/* Redirect standard error to `fd` until put_back. */
static int kept;

static void redirect(int fd)
{
    fflush(stderr);
    kept = dup(STDERR_FILENO);
    assert_true(kept >= 0 && dup2(fd, STDERR_FILENO) == STDERR_FILENO);
}

static void put_back(void)
{
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
}

/* Read what has arrived at the other end. */
static void collect(int fd, char *text, size_t size)
{
    size_t used = strlen(text);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    ssize_t n;
    while (poll(&p, 1, 0) == 1 && (p.revents & POLLIN) && used < size - 1 &&
           (n = read(fd, text + used, size - 1 - used)) > 0)
        used += (size_t)n;
    text[used] = '\0';
}

static void a_terminal_shows_progress_and_is_cleared(void **state)
{
    (void)state;
    char text[1 << 14] = "";
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(master >= 0 && !grantpt(master) && !unlockpt(master));
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_true(slave >= 0);
    setenv("TERM", "xterm", 1);
    redirect(slave);
    rtl_progress_begin("reading", "a\033b.db");
    while (!strstr(text, "25 %")) { /* until the delay has passed, on a machine of any speed */
        rtl_progress_at(1, 4);
        collect(master, text, sizeof text);
    }
    rtl_complain("a complaint");
    rtl_progress_end();
    collect(master, text, sizeof text);
    put_back();
    close(slave);
    close(master);
    assert_non_null(strstr(text, "rtl-top: reading a\\x1bb.db: 25 %"));
    const char *complaint = strstr(text, "\r\033[Krtl-top: a complaint");
    assert_non_null(complaint); /* on a line of its own */
    assert_null(strchr(complaint + 1, '%'));
}

static void only_a_terminal_shows_progress(void **state)
{
    (void)state;
    char text[100] = "";
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    setenv("TERM", "xterm", 1);
    redirect(ends[1]);
    rtl_progress_begin("reading", "a.db");
    for (int i = 0; i < 700; i++) { /* longer than the delay on a terminal */
        rtl_progress_at(1, 4);
        assert_false(rtl_progress_tick());
        poll(NULL, 0, 1);
    }
    rtl_progress_end();
    put_back();
    collect(ends[0], text, sizeof text);
    close(ends[0]);
    close(ends[1]);
    assert_string_equal(text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_terminal_shows_progress_and_is_cleared),
        cmocka_unit_test(only_a_terminal_shows_progress),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
