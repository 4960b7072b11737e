/*
 * Files that are never delivered: the reads of one user's processes don't stop those of others.
 *
 * Needs root, because it acts as several users; otherwise the tests are skipped.
 */
#include "process_fixture.h"

#include <errno.h>
#include <grp.h>

#include "shm/late_file.h"

/* Uids that need no entry in /etc/passwd. */
enum { ALICE = 54321, BOB = 54322, WITHHOLDING = 12, ROUNDS_MAX = 8, EMPTY = 60 };

static void become(uid_t uid)
{
    /* the kernel forgets the signal when the user changes */
    if (setgroups(0, NULL) != 0 || setresgid(uid, uid, uid) != 0 || setresuid(uid, uid, uid) != 0 ||
        prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        _exit(1);
}

/* A pipe without data stands for a page that never comes. */
static void open_empty_pipe(void)
{
    int ends[2];
    if (pipe(ends) != 0 || dup2(ends[0], EMPTY) != EMPTY)
        _exit(1);
}

static void withholding_as_alice(int ready)
{
    (void)ready;
    open_empty_pipe();
    become(ALICE);
}

static void withholding_as_root(int ready)
{
    (void)ready;
    open_empty_pipe();
}

static void as_alice(int ready)
{
    (void)ready;
    become(ALICE);
}

static void as_bob(int ready)
{
    (void)ready;
    become(BOB);
}

static ssize_t read_late(pid_t pid)
{
    char text[64];
    return rtl_late_file(pid, "fd/60", text, sizeof text);
}

static ssize_t read_arguments(pid_t pid)
{
    char text[256];
    return rtl_late_file(pid, "cmdline", text, sizeof text);
}

/* A stalled machine delivers a read late once. A user whose reads are refused is refused each time. */
static bool is_readable(pid_t pid)
{
    for (int i = 0; i < 3; i++)
        if (read_arguments(pid) > 0)
            return true;
    return false;
}

static pid_t started[64]; /* of the current test; 0: ended */

static pid_t start(void (*body)(int ready))
{
    for (size_t i = 0; i < sizeof started / sizeof *started; i++)
        if (!started[i])
            return started[i] = start_process(body);
    fail_msg("too many processes");
    return 0;
}

static void end(pid_t pid)
{
    for (size_t i = 0; i < sizeof started / sizeof *started; i++)
        if (started[i] == pid)
            started[i] = 0;
    end_process(pid);
}

/* A test that fails early leaves its processes, whose hanging reads would fail the next test, too. */
static int end_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof started / sizeof *started; i++)
        if (started[i])
            end(started[i]);
    await_threads(1);
    return 0;
}

static void a_user_who_withholds_does_not_stop_another(void **state)
{
    pid_t pids[WITHHOLDING];
    (void)state;
    if (geteuid() != 0)
        skip();
    pid_t bob = start(as_bob);
    for (int i = 0; i < WITHHOLDING; i++) {
        pids[i] = start(withholding_as_alice);
        assert_int_equal(read_late(pids[i]), -ETIMEDOUT);
    }
    assert_true(is_readable(bob));
    assert_true(is_readable(0));
    await_threads(1 + RTL_LATE_EACH);
    for (int i = 0; i < WITHHOLDING; i++)
        end(pids[i]);
    await_threads(1);
    end(bob);
}

/* Each of these reads ends, so none of them hangs when the next one begins. */
static void a_user_whose_reads_are_always_late_is_not_read_for_a_while(void **state)
{
    bool refused = false;
    (void)state;
    if (geteuid() != 0)
        skip();
    pid_t honest = start(as_alice), bob = start(as_bob);
    for (int i = 0; i < ROUNDS_MAX && !refused; i++) {
        pid_t pid = start(withholding_as_alice);
        assert_int_equal(read_late(pid), -ETIMEDOUT);
        end(pid);
        await_threads(1);
        refused = read_arguments(honest) == -ETIMEDOUT;
    }
    assert_true(refused);
    assert_true(is_readable(bob));
    end(honest);
    end(bob);
}

static void the_readers_own_user_is_not_limited_in_time(void **state)
{
    pid_t pids[RTL_LATE_OWN + 1];
    (void)state;
    if (geteuid() != 0)
        skip();
    for (int i = 0; i <= RTL_LATE_OWN; i++) {
        pids[i] = start(withholding_as_root);
        assert_int_equal(read_late(pids[i]), -ETIMEDOUT);
        await_threads(1 + (i < RTL_LATE_OWN ? i + 1 : RTL_LATE_OWN));
    }
    for (int i = 0; i <= RTL_LATE_OWN; i++)
        end(pids[i]);
    await_threads(1);
    assert_true(is_readable(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_user_who_withholds_does_not_stop_another, end_all),
        cmocka_unit_test_teardown(a_user_whose_reads_are_always_late_is_not_read_for_a_while, end_all),
        cmocka_unit_test_teardown(the_readers_own_user_is_not_limited_in_time, end_all),
    };
    return cmocka_run_group_tests_name("files that are never delivered", tests, NULL, NULL);
}
