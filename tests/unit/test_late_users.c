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

static void a_user_who_withholds_does_not_stop_another(void **state)
{
    pid_t pids[WITHHOLDING];
    (void)state;
    if (geteuid() != 0)
        skip();
    pid_t bob = start_process(as_bob);
    for (int i = 0; i < WITHHOLDING; i++) {
        pids[i] = start_process(withholding_as_alice);
        assert_int_equal(read_late(pids[i]), -ETIMEDOUT);
    }
    assert_true(read_arguments(bob) > 0);
    assert_true(read_arguments(0) > 0);
    await_threads(1 + RTL_LATE_EACH);
    for (int i = 0; i < WITHHOLDING; i++)
        end_process(pids[i]);
    await_threads(1);
    end_process(bob);
}

/* Each of these reads ends, so none of them hangs when the next one begins. */
static void a_user_whose_reads_are_always_late_is_not_read_for_a_while(void **state)
{
    bool refused = false;
    (void)state;
    if (geteuid() != 0)
        skip();
    pid_t honest = start_process(as_alice), bob = start_process(as_bob);
    for (int i = 0; i < ROUNDS_MAX && !refused; i++) {
        pid_t pid = start_process(withholding_as_alice);
        assert_int_equal(read_late(pid), -ETIMEDOUT);
        end_process(pid);
        await_threads(1);
        refused = read_arguments(honest) == -ETIMEDOUT;
    }
    assert_true(refused);
    assert_true(read_arguments(bob) > 0);
    end_process(honest);
    end_process(bob);
}

static void the_readers_own_user_is_not_limited_in_time(void **state)
{
    pid_t pids[RTL_LATE_OWN + 1];
    (void)state;
    if (geteuid() != 0)
        skip();
    for (int i = 0; i <= RTL_LATE_OWN; i++) {
        pids[i] = start_process(withholding_as_root);
        assert_int_equal(read_late(pids[i]), -ETIMEDOUT);
        await_threads(1 + (i < RTL_LATE_OWN ? i + 1 : RTL_LATE_OWN));
    }
    for (int i = 0; i <= RTL_LATE_OWN; i++)
        end_process(pids[i]);
    await_threads(1);
    assert_true(read_arguments(0) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_user_who_withholds_does_not_stop_another),
        cmocka_unit_test(a_user_whose_reads_are_always_late_is_not_read_for_a_while),
        cmocka_unit_test(the_readers_own_user_is_not_limited_in_time),
    };
    return cmocka_run_group_tests_name("files that are never delivered", tests, NULL, NULL);
}
