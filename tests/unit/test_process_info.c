/* Facts of /proc and the system about a process and its user; the test replaces the system's answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs these first */
#include <cmocka.h>

#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record/process_info.h"

static uint64_t now_ns = 1000;
static int asked;
static bool nobody_answers;

/* Replaces libc's. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
    if (clock != CLOCK_MONOTONIC)
        return (int)syscall(SYS_clock_gettime, clock, t);
    *t = (struct timespec){.tv_sec = (time_t)(now_ns / 1000000000), .tv_nsec = (long)(now_ns % 1000000000)};
    return 0;
}

struct passwd *getpwuid(uid_t uid)
{
    static char name[200];
    static struct passwd user = {.pw_name = name};
    snprintf(name, sizeof name, "u%u-%0100d", (unsigned)uid, 0);
    asked++;
    return nobody_answers ? NULL : &user;
}

static void a_users_name_is_looked_up_once(void **state)
{
    (void)state;
    const uint64_t minute = 60000000000ull;
    char name[80];
    for (int i = 0; i < 3; i++) {
        rtl_user_name(70, name, sizeof name);
        assert_int_equal(strlen(name), 63);
        assert_memory_equal(name, "u70-0", 5);
        now_ns += 100 * minute;
    }
    assert_int_equal(asked, 1);
    /* nor is a user without a name, for a while */
    nobody_answers = true;
    for (int i = 0; i < 3; i++) {
        rtl_user_name(71, name, sizeof name);
        assert_string_equal(name, "71");
        now_ns += 3 * minute;
    }
    assert_int_equal(asked, 2);
    nobody_answers = false;
    now_ns += minute;
    rtl_user_name(71, name, sizeof name);
    assert_memory_equal(name, "u71-0", 5);
    assert_int_equal(asked, 3);
    rtl_user_name(70, name, 4);
    assert_string_equal(name, "u70");
}

static void users_beyond_the_cache_are_looked_up_again(void **state)
{
    (void)state;
    char name[80], start[16];
    for (int round = 0; round < 2; round++)
        for (uid_t uid = 1000; uid < 3000; uid++) {
            rtl_user_name(uid, name, sizeof name);
            assert_memory_equal(name, start, (size_t)snprintf(start, sizeof start, "u%u-", (unsigned)uid));
        }
    int before = asked;
    rtl_user_name(2999, name, sizeof name);
    assert_int_equal(asked, before);
}

static void a_process_has_its_users_name(void **state)
{
    (void)state;
    char name[80], start[16];
    rtl_process_user(getpid(), name, sizeof name);
    assert_memory_equal(name, start, (size_t)snprintf(start, sizeof start, "u%u-", (unsigned)geteuid()));
    rtl_process_user(INT32_MAX, name, sizeof name);
    assert_string_equal(name, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_users_name_is_looked_up_once),
        cmocka_unit_test(users_beyond_the_cache_are_looked_up_again),
        cmocka_unit_test(a_process_has_its_users_name),
    };
    return cmocka_run_group_tests_name("what a process is", tests, NULL, NULL);
}
