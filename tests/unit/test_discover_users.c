/*
 * Reading processes of other users, groups and namespaces: who may, and which message the others get.
 *
 * Needs root, because it acts as several users; otherwise the tests are skipped.
 */
#include "process_fixture.h"

#include <grp.h>
#include <linux/capability.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "shm/gpu_use.h"
#include "shm/reader_private.h"
#include "shm/segment_reader.h"

/* Uids that need no entry in /etc/passwd. */
enum { ALICE = 54321, BOB = 54322, STAFF = 54323 };

static void with_the_descriptor_closed(int ready)
{
    traced(ready);
    close(segment.fd);
}

static void become(uid_t uid, gid_t gid)
{
    if (setgroups(0, NULL) != 0 || setresgid(gid, gid, gid) != 0 || setresuid(uid, uid, uid) != 0)
        _exit(1);
    prctl(PR_SET_DUMPABLE, 1); /* lost by the change of user */
}

static void traced_as_alice(int ready)
{
    become(ALICE, ALICE);
    traced(ready);
}

static void traced_as_alice_of_staff(int ready)
{
    become(ALICE, STAFF);
    traced(ready);
}

static void traced_as_alice_not_dumpable(int ready)
{
    become(ALICE, ALICE);
    traced(ready);
    prctl(PR_SET_DUMPABLE, 0);
}

static void closed_as_alice(int ready)
{
    become(ALICE, ALICE);
    with_the_descriptor_closed(ready);
}

static void drop_ptrace(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    if (syscall(SYS_capget, &header, data) != 0)
        _exit(1);
    for (int i = 0; i < 2; i++)
        data[i].inheritable = 0;
    const int drop[] = {CAP_SYS_PTRACE, CAP_SYS_ADMIN};
    for (size_t i = 0; i < sizeof drop / sizeof *drop; i++) {
        data[CAP_TO_INDEX((unsigned)drop[i])].effective &= ~CAP_TO_MASK((unsigned)drop[i]);
        data[CAP_TO_INDEX((unsigned)drop[i])].permitted &= ~CAP_TO_MASK((unsigned)drop[i]);
    }
    if (syscall(SYS_capset, &header, data) != 0)
        _exit(1);
}

/* Call rtl_reader_open in a child as another user. The message is in `why`. */
static int open_as(void (*who)(void), pid_t pid)
{
    int out[2];
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct rtl_reader *reader;
        who();
        why[0] = '\0';
        enum rtl_reader_status status = rtl_reader_open(pid, &reader, why, sizeof why);
        if (write(out[1], why, sizeof why) < 0)
            _exit(100);
        _exit((int)status);
    }
    int status;
    close(out[1]);
    ssize_t n = read(out[0], why, sizeof why);
    close(out[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(n == sizeof why && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void as_alice(void)
{
    become(ALICE, ALICE);
}

static void as_bob(void)
{
    become(BOB, BOB);
}

static void as_root(void)
{
}

static void another_users_process_is_refused(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    pid_t pid = start_process(traced_as_alice);
    assert_int_equal(open_as(as_alice, pid), RTL_READER_OK);
    assert_int_equal(open_as(as_root, pid), RTL_READER_OK);
    assert_int_equal(open_as(as_bob, pid), RTL_READER_PERMISSION);
    assert_names(pid);
    assert_says("uid 54321");
    assert_says("gid 54321");
    assert_says("uid 54322");
    assert_says("gid 54322");
    assert_says("sudo -u '#54321' -g '#54321'");
    assert_int_equal(open_as(drop_ptrace, pid), RTL_READER_PERMISSION);
    assert_says("CAP_SYS_PTRACE");
    end_process(pid);

    pid = start_process(plain); /* root's process: its name shows that it is untraced only to a permitted user */
    assert_int_equal(open_as(as_bob, pid), RTL_READER_PERMISSION);
    assert_says("root (uid 0)");
    end_process(pid);
}

static void another_groups_process_is_refused(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    pid_t pid = start_process(traced_as_alice_of_staff);
    assert_int_equal(open_as(as_alice, pid), RTL_READER_PERMISSION);
    assert_says("group");
    assert_says("gid 54323");
    assert_says("gid 54321");
    assert_says("-g '#54323'");
    end_process(pid);
}

static void a_process_that_is_not_dumpable_is_refused(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    pid_t pid = start_process(traced_as_alice_not_dumpable);
    assert_int_equal(open_as(as_alice, pid), RTL_READER_PERMISSION);
    assert_says("not dumpable");
    assert_int_equal(open_as(as_root, pid), RTL_READER_OK);
    end_process(pid);
}

/* The program closed all descriptors: root still gets the segment through the mapping. */
static void a_segment_without_descriptor_is_opened_by_its_mapping(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    pid_t pid = start_process(closed_as_alice);
    assert_int_equal(open_as(as_alice, pid), RTL_READER_NOT_TRACED);
    assert_says("closed the descriptor");
    assert_says("sudo");
    int status = open_as(as_root, pid);
    if (status != RTL_READER_OK) { /* root in a container may not follow map_files */
        assert_int_equal(status, RTL_READER_NOT_TRACED);
        assert_says("closed the descriptor");
    }
    end_process(pid);
}

static void as_bob_behind_hidepid(void)
{
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("proc", "/proc", "proc", 0, "hidepid=2") != 0)
        _exit(77);
    as_bob();
}

static void a_process_hidden_by_proc_is_refused(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    pid_t child, pid = start_process(traced_as_alice);
    int status;
    fflush(NULL);
    if ((child = fork()) == 0) {
        as_bob_behind_hidepid();
        _exit(0);
    }
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        end_process(pid);
        skip(); /* mount is not permitted here */
    }
    assert_int_equal(open_as(as_bob_behind_hidepid, pid), RTL_READER_PERMISSION);
    assert_names(pid);
    assert_says("hidepid");
    end_process(pid);
}

static void traced_in_a_container(int ready)
{
    if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0)
        _exit(77);
    if (fork_noted() == 0) { /* is pid 1 in its namespace */
        traced(ready);
        say_ready(ready);
        for (;;)
            pause();
    }
    for (;;)
        pause();
}

/* From outside, its pid differs from its own view. */
static void a_process_in_another_pid_namespace_is_opened(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    struct rtl_reader *reader;
    pid_t pid = start_process(traced_in_a_container), inside = *forked;
    assert_int_equal(rtl_reader_open(inside, &reader, why, sizeof why), RTL_READER_OK);
    assert_int_equal(reader->header.pid, 1);
    assert_ten_records(reader);
    assert_true(rtl_reader_alive(reader));
    kill(inside, SIGKILL);
    end_process(pid);
    uint64_t deadline = fixture_now_ns() + 30000000000ull;
    while (rtl_reader_alive(reader) && fixture_now_ns() < deadline)
        sched_yield();
    assert_false(rtl_reader_alive(reader));
    rtl_reader_close(reader);
}

static void traced_in_a_container_with_many_groups(int ready)
{
    enum { GROUPS = 400 };
    gid_t groups[GROUPS];
    for (int i = 0; i < GROUPS; i++)
        groups[i] = 1000000000u + (gid_t)i;
    if (setgroups(GROUPS, groups) != 0)
        _exit(77);
    traced_in_a_container(ready);
}

/* Its groups alone exceed the buffer's former size for /proc/PID/status; the line with its own pid comes after them. */
static void many_groups_do_not_hide_the_inner_pid(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    struct rtl_reader *reader = NULL;
    pid_t pid = start_process(traced_in_a_container_with_many_groups), inside = *forked;
    assert_int_equal(rtl_reader_open(inside, &reader, why, sizeof why), RTL_READER_OK);
    assert_ten_records(reader);
    rtl_reader_close(reader);
    kill(inside, SIGKILL);
    end_process(pid);
}

/* Its /dev/kfd is a link that is broken in its own root and valid in ours; its library is, too. */
static void files_are_looked_up_in_the_root_of_the_process(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    char root[] = "/tmp/rtl-root-XXXXXX", path[100];
    struct rtl_process p;
    struct rtl_gpu_use use = {0};
    int ready[2];
    char byte;
    assert_non_null(mkdtemp(root));
    snprintf(path, sizeof path, "%s/dev", root);
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(path, sizeof path, "%s/dev/kfd", root);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (chroot(root) != 0 || write(ready[1], "r", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(rtl_process_read(pid, &p), 0);
    rtl_gpu_use_read(&p, &use);
    assert_false(use.no_device);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/proc/self/exe", path), 0);
    rtl_gpu_use_read(&p, &use);
    assert_true(use.no_device);
    /* a zombie has no root: the message doesn't mention it */
    siginfo_t info;
    kill(pid, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    use = (struct rtl_gpu_use){0};
    rtl_gpu_use_read(&p, &use);
    assert_false(use.no_device);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    close(ready[0]);
    close(ready[1]);
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
    rmdir(root);
}

/*
 * A link to a pipe of that name, which is no memfd: the reader must not open it, because a pipe can block or lie. The
 * folder is a tmpfs that is mounted nowhere, so its root is the complete path in the link. This also works in a chroot,
 * where "/" is no mount point that could become private.
 */
static void with_a_pipe_of_that_name(int ready)
{
    char name[] = "/memfd:" RTL_SEGMENT_NAME;
    (void)ready;
    int tmpfs = fsopen("tmpfs", FSOPEN_CLOEXEC);
    if (tmpfs < 0 || fsconfig(tmpfs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) != 0)
        _exit(1);
    int folder = fsmount(tmpfs, FSMOUNT_CLOEXEC, 0);
    if (folder < 0 || fchdir(folder) != 0 || chroot(".") != 0 || mkfifo(name, 0666) != 0)
        _exit(1);
    if (open(name, O_RDWR) < 0 || unlink(name) != 0)
        _exit(1);
}

static void a_pipe_of_that_name_is_not_opened(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    pid_t pid = start_process(with_a_pipe_of_that_name);
    assert_int_equal(try_open(pid), RTL_READER_NOT_TRACED);
    end_process(pid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_users_process_is_refused),
        cmocka_unit_test(another_groups_process_is_refused),
        cmocka_unit_test(a_process_that_is_not_dumpable_is_refused),
        cmocka_unit_test(a_segment_without_descriptor_is_opened_by_its_mapping),
        cmocka_unit_test(a_process_hidden_by_proc_is_refused),
        cmocka_unit_test(a_process_in_another_pid_namespace_is_opened),
        cmocka_unit_test(many_groups_do_not_hide_the_inner_pid),
        cmocka_unit_test(files_are_looked_up_in_the_root_of_the_process),
        cmocka_unit_test(a_pipe_of_that_name_is_not_opened),
    };
    forked = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return cmocka_run_group_tests_name("discovery, several users", tests, NULL, NULL);
}
