/*
 * From a pid to its segment: how it is found, and the refusals with their exit status and message.
 * (test_discover_users.c has the tests that need several users or namespaces.)
 */
#include "process_fixture.h"

#include <dirent.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "shm/gpu_use.h"
#include "shm/process.h"
#include "shm/reader_private.h"

static void a_traced_process_is_opened(void **state)
{
    (void)state;
    struct rtl_reader *reader;
    pid_t pid = start_process(traced);
    assert_int_equal(rtl_reader_open(pid, &reader, why, sizeof why), RTL_READER_OK);
    assert_ten_records(reader);
    assert_true(rtl_reader_alive(reader));
    end_process(pid);
    assert_false(rtl_reader_alive(reader));
    assert_ten_records(reader); /* the last state stays readable */
    rtl_reader_close(reader);
    assert_int_equal(try_open(pid), RTL_READER_NO_PROCESS);
}

static void a_missing_process_is_refused(void **state)
{
    (void)state;
    pid_t pid = start_process(plain);
    end_process(pid);
    assert_int_equal(try_open(pid), RTL_READER_NO_PROCESS);
    assert_names(pid);
    assert_int_equal(try_open(0), RTL_READER_NO_PROCESS);
    assert_int_equal(try_open(-5), RTL_READER_NO_PROCESS);
    assert_int_equal(try_open(INT32_MAX), RTL_READER_NO_PROCESS);
}

static void an_untraced_process_is_refused(void **state)
{
    (void)state;
    pid_t pid = start_process(plain);
    assert_int_equal(try_open(pid), RTL_READER_NOT_TRACED);
    assert_names(pid);
    assert_says("rtl-top run -- test_discover");
    assert_says("test_discover");
    end_process(pid);
}

/* Start a program with this environment and wait until it runs. */
static pid_t start_program(const char *variable)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        char *environment[] = {(char *)(uintptr_t)variable, NULL};
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execle("/bin/sleep", "sleep", "1000", (char *)NULL, environment);
        _exit(1);
    }
    struct rtl_process p;
    uint64_t deadline = fixture_now_ns() + 30000000000ull;
    do
        assert_int_equal(rtl_process_read(pid, &p), 0);
    while ((strcmp(p.name, "sleep") != 0 || p.state != 'S') && fixture_now_ns() < deadline);
    assert_string_equal(p.name, "sleep");
    return pid;
}

static void a_process_without_its_library_gets_a_reason(void **state)
{
    (void)state;
    pid_t pid = start_program("HSA_TOOLS_LIB=/some/where/librtl.so");
    assert_int_equal(try_open(pid), RTL_READER_NOT_TRACED);
    assert_says("/some/where/librtl.so");
    assert_says("has not used the GPU");
    end_process(pid);
}

static void a_zombie_is_refused(void **state)
{
    (void)state;
    siginfo_t info;
    pid_t pid = start_process(traced);
    kill(pid, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(try_open(pid), RTL_READER_NOT_TRACED);
    assert_says("zombie");
    end_process(pid);
}

static void a_process_that_exits_during_the_explanation_is_gone(void **state)
{
    (void)state;
    struct rtl_process p;
    siginfo_t info;
    pid_t pid = start_process(plain);
    assert_int_equal(rtl_process_read(pid, &p), 0);
    assert_int_equal(rtl_explain_untraced(&p, why, sizeof why), RTL_READER_NOT_TRACED);
    kill(pid, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(rtl_explain_untraced(&p, why, sizeof why), RTL_READER_NO_PROCESS);
    assert_says("has ended");
    end_process(pid);
    assert_int_equal(rtl_explain_untraced(&p, why, sizeof why), RTL_READER_NO_PROCESS);
    p = (struct rtl_process){.flags = 4, .threads = 1, .state = 'R'}; /* PF_EXITING */
    assert_true(rtl_process_is_ending(&p));
    p.threads = 2; /* other threads still run */
    assert_false(rtl_process_is_ending(&p));
}

static void a_kernel_thread_is_refused(void **state)
{
    (void)state;
    struct rtl_process p;
    DIR *proc = opendir("/proc");
    pid_t found = 0;
    for (struct dirent *e; !found && (e = readdir(proc));)
        if (atoi(e->d_name) > 0 && rtl_process_read(atoi(e->d_name), &p) == 0 && rtl_process_is_kernel_thread(&p))
            found = p.pid;
    closedir(proc);
    if (!found)
        skip(); /* a container shows none */
    assert_int_equal(try_open(found), RTL_READER_NOT_TRACED);
    assert_says("kernel thread");
}

static void traced_and_forked(int ready)
{
    traced(ready);
    if (fork_noted() == 0)
        for (;;)
            pause();
}

static void traced_forked_and_traced(int ready)
{
    traced(ready);
    if (fork_noted() == 0) {
        traced(ready);
        say_ready(ready);
        for (;;)
            pause();
    }
    for (;;) /* the child reports it */
        pause();
}

static void a_fork_of_a_traced_process_is_refused(void **state)
{
    (void)state;
    pid_t pid = start_process(traced_and_forked), child = *forked;
    assert_int_equal(try_open(pid), RTL_READER_OK);
    assert_int_equal(try_open(child), RTL_READER_NOT_TRACED);
    assert_says("fork of traced process");
    assert_names(pid);
    kill(child, SIGKILL);
    end_process(pid);
}

/* The child has both segments: the reader must open its own. */
static void a_traced_fork_has_its_own_segment(void **state)
{
    (void)state;
    struct rtl_reader *reader;
    pid_t pid = start_process(traced_forked_and_traced), child = *forked;
    assert_int_equal(rtl_reader_open(child, &reader, why, sizeof why), RTL_READER_OK);
    assert_int_equal(reader->header.pid, child);
    rtl_reader_close(reader);
    assert_int_equal(rtl_reader_open(pid, &reader, why, sizeof why), RTL_READER_OK);
    assert_int_equal(reader->header.pid, pid);
    rtl_reader_close(reader);
    kill(child, SIGKILL);
    end_process(pid);
}

static void replaced_itself(int ready)
{
    sigset_t set;
    int number;
    traced(ready);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    say_ready(ready);
    sigwait(&set, &number);
    execl("/bin/sleep", "sleep", "1000", (char *)NULL);
    _exit(1);
}

/* exec keeps the pid and even the pidfd, but the segment is gone. */
static void a_process_that_execs_has_no_segment(void **state)
{
    (void)state;
    struct rtl_reader *reader;
    pid_t pid = start_process(replaced_itself);
    assert_int_equal(rtl_reader_open(pid, &reader, why, sizeof why), RTL_READER_OK);
    assert_true(rtl_reader_alive(reader));
    kill(pid, SIGUSR1);
    uint64_t deadline = fixture_now_ns() + 30000000000ull;
    while (rtl_reader_alive(reader) && fixture_now_ns() < deadline)
        sched_yield();
    assert_false(rtl_reader_alive(reader));
    assert_ten_records(reader);
    rtl_reader_close(reader);
    end_process(pid);
}

/* A pid reused during the discovery. The test replaces open (below), and changes what the reader finds in /proc. */
static pid_t replaced; /* from the second read on, another process has this pid */
static int looks;

static int stat_of_another(int fd)
{
    char text[1024], *at, *start;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    assert_true(n > 0);
    text[n] = '\0';
    at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++) /* the start time */
        at = strchr(at + 1, ' ');
    assert_non_null(at);
    unsigned long long when = strtoull(at, &start, 10);
    int other = memfd_create("stat", MFD_CLOEXEC);
    dprintf(other, "%.*s %llu%s", (int)(at - text), text, when + 1, start);
    lseek(other, 0, SEEK_SET);
    return other;
}

/* Replaces libc's. */
int open(const char *path, int flags, ...)
{
    char stat[40];
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    snprintf(stat, sizeof stat, "/proc/%d/stat", (int)replaced);
    return fd >= 0 && replaced && !strcmp(path, stat) && ++looks > 1 ? stat_of_another(fd) : fd;
}

static void a_pid_reused_during_discovery_is_refused(void **state)
{
    (void)state;
    pid_t pid = start_process(traced);
    assert_int_equal(try_open(pid), RTL_READER_OK);
    replaced = pid;
    looks = 0;
    assert_int_equal(try_open(pid), RTL_READER_NO_PROCESS);
    replaced = 0;
    assert_true(looks >= 2);
    assert_says("ended while it was being opened");
    end_process(pid);
}

static void traced_twice(int ready)
{
    traced(ready);
    traced(ready);
    fixture_kernel(&segment, "of the younger");
}

/* As above, but the younger segment's descriptor has the lower number. */
static void traced_twice_in_turn(int ready)
{
    traced(ready);
    int older = segment.fd, spare = fcntl(older, F_DUPFD_CLOEXEC, older + 2);
    traced(ready);
    fixture_kernel(&segment, "of the younger");
    if (spare < 0 || segment.fd != older + 1 || close(older) != 0)
        _exit(1);
}

/* The library was loaded again: the segment in use now counts. */
static void the_younger_of_two_segments_is_opened(void **state)
{
    (void)state;
    void (*const bodies[])(int) = {traced_twice, traced_twice_in_turn};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct rtl_reader *reader;
        pid_t pid = start_process(bodies[i]);
        assert_int_equal(rtl_reader_open(pid, &reader, why, sizeof why), RTL_READER_OK);
        const char *name = rtl_reader_kernel_name(reader, RTL_KERNEL_FIRST + 1);
        assert_non_null(name);
        assert_string_equal(name, "of the younger");
        rtl_reader_close(reader);
        end_process(pid);
    }
}

/* A reused pid: not the process that was opened. */
static void a_reused_pid_is_another_process(void **state)
{
    (void)state;
    struct rtl_reader *with, *without;
    pid_t pid = start_process(traced), again = pid;
    assert_int_equal(rtl_reader_open(pid, &with, why, sizeof why), RTL_READER_OK);
    assert_int_equal(rtl_reader_open(pid, &without, why, sizeof why), RTL_READER_OK);
    close(without->pidfd);
    without->pidfd = -1; /* a kernel before 5.3 */
    assert_true(rtl_reader_alive(without));
    end_process(pid);

    struct clone_args arguments = {.exit_signal = SIGCHLD, .set_tid = (uint64_t)(uintptr_t)&again, .set_tid_size = 1};
    pid_t other = (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
    if (other == 0)
        for (;;)
            pause();
    if (other > 0) {
        assert_int_equal(other, pid);
        /* start times count in hundredths of a second */
        without->start_time -= without->start_time != 0;
    }
    assert_false(rtl_reader_alive(with));
    assert_false(rtl_reader_alive(without));
    rtl_reader_close(with);
    rtl_reader_close(without);
    if (other > 0)
        end_process(other);
}

static void of_version_9(int ready)
{
    traced(ready);
    segment.header->major = 9;
}

static void another_version_is_refused(void **state)
{
    (void)state;
    pid_t pid = start_process(of_version_9);
    assert_int_equal(try_open(pid), RTL_READER_VERSION);
    assert_names(pid);
    char said[24];
    snprintf(said, sizeof said, "9.%u", RTL_SEGMENT_MINOR);
    assert_says(said);
    snprintf(said, sizeof said, "%u.%u", RTL_SEGMENT_MAJOR, RTL_SEGMENT_MINOR);
    assert_says(said);
    end_process(pid);
}

static void half_made(int ready)
{
    memfd_create(RTL_SEGMENT_NAME, MFD_CLOEXEC);
    say_ready(ready);
    pause();
}

static void half_made_first(int ready)
{
    memfd_create(RTL_SEGMENT_NAME, MFD_CLOEXEC); /* this one stays; a complete one comes beside it */
    say_ready(ready);
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL); /* so that the reader meets the incomplete one alone */
    traced(-1);
    pause();
}

/* A viewer that attaches at the start waits for the segment. A process that stopped during its creation gets another
 * message.
 */
static void a_segment_in_creation_is_waited_for(void **state)
{
    (void)state;
    struct rtl_reader *reader;
    pid_t pid = start_process(half_made);
    assert_int_equal(try_open(pid), RTL_READER_VERSION);
    assert_names(pid);
    assert_says("still being made: try again");
    end_process(pid);

    pid = start_process(half_made_first);
    assert_int_equal(rtl_reader_open(pid, &reader, why, sizeof why), RTL_READER_OK);
    rtl_reader_close(reader);
    end_process(pid);
}

static void *sleep_for_ever(void *argument)
{
    say_ready(*(int *)argument);
    pause();
    return NULL;
}

static void without_main_thread(int ready)
{
    static int fd;
    pthread_t thread;
    traced(ready);
    fd = ready;
    pthread_create(&thread, NULL, sleep_for_ever, &fd);
    syscall(SYS_exit, 0); /* the main thread alone */
}

/* The main thread has exited, others run: /proc shows a zombie, but the process lives. */
static void a_process_without_its_main_thread_is_opened(void **state)
{
    (void)state;
    if (FIXTURE_TSAN)
        skip(); /* the sanitizer's runtime has threads and does not expect this */
    struct rtl_reader *reader;
    pid_t pid = start_process(without_main_thread);
    struct rtl_process p;
    uint64_t deadline = fixture_now_ns() + 30000000000ull;
    do
        assert_int_equal(rtl_process_read(pid, &p), 0);
    while (p.state != 'Z' && fixture_now_ns() < deadline);
    assert_int_equal(rtl_reader_open(pid, &reader, why, sizeof why), RTL_READER_OK);
    assert_true(rtl_reader_alive(reader));
    assert_ten_records(reader);
    end_process(pid);
    assert_false(rtl_reader_alive(reader));
    rtl_reader_close(reader);
}

/* All threads together show more files than the limit; none is a segment. */
enum { THIEVES = 200, HAUL = 600 };

static void *only_sleep(void *argument)
{
    (void)argument;
    pause();
    return NULL;
}

static void with_many_files_and_threads(int ready)
{
    static int fd;
    pthread_t thread;
    for (int i = 0; i < HAUL; i++)
        if (dup(ready) < 0)
            _exit(1);
    for (int i = 1; i < THIEVES; i++)
        if (pthread_create(&thread, NULL, only_sleep, NULL) != 0)
            _exit(1);
    fd = ready;
    pthread_create(&thread, NULL, sleep_for_ever, &fd);
    syscall(SYS_exit, 0); /* the main thread alone */
}

static int links_read;

/* Replaces libc's: counts the reads. */
ssize_t readlink(const char *path, char *to, size_t bytes)
{
    links_read++;
    return (ssize_t)syscall(SYS_readlinkat, AT_FDCWD, path, to, bytes);
}

/* A process with a thousand threads and thousands of files each must not keep a viewer from other processes. */
static void the_search_is_bounded_over_all_threads(void **state)
{
    (void)state;
    if (FIXTURE_TSAN)
        skip();
    struct rtl_reader *reader;
    struct rtl_process p;
    pid_t pid = start_process(with_many_files_and_threads);
    uint64_t deadline = fixture_now_ns() + 30000000000ull;
    do
        assert_int_equal(rtl_process_read(pid, &p), 0);
    while (p.state != 'Z' && fixture_now_ns() < deadline);
    assert_int_equal(p.state, 'Z');
    assert_true(THIEVES * HAUL > RTL_FILES_MAX + 1000);
    links_read = 0;
    assert_int_equal(rtl_reader_try(pid, &reader), RTL_READER_NOT_TRACED);
    assert_true(links_read > RTL_FILES_MAX / 2); /* the search did reach it */
    assert_true(links_read <= RTL_FILES_MAX + 16);
    end_process(pid);
}

static void discovery_lists_traced_processes(void **state)
{
    (void)state;
    pid_t with_fork = start_process(traced_and_forked), fork_of_it = *forked;
    pid_t a = start_process(traced), b = start_process(plain), c = start_process(of_version_9), *pids;
    int count = rtl_discover(&pids);
    int seen[5] = {0};
    assert_true(count >= 3);
    for (int i = 0; i < count; i++) {
        const pid_t known[5] = {with_fork, fork_of_it, a, b, c};
        for (int k = 0; k < 5; k++)
            seen[k] += pids[i] == known[k];
        assert_true(i == 0 || pids[i] > pids[i - 1]);
    }
    free(pids);
    assert_int_equal(seen[0], 1);
    assert_int_equal(seen[1], 0);
    assert_int_equal(seen[2], 1);
    assert_int_equal(seen[3], 0);
    assert_int_equal(seen[4], 1);
    kill(fork_of_it, SIGKILL);
    end_process(with_fork);
    end_process(a);
    end_process(b);
    end_process(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_traced_process_is_opened),
        cmocka_unit_test(a_missing_process_is_refused),
        cmocka_unit_test(an_untraced_process_is_refused),
        cmocka_unit_test(a_process_without_its_library_gets_a_reason),
        cmocka_unit_test(a_zombie_is_refused),
        cmocka_unit_test(a_process_that_exits_during_the_explanation_is_gone),
        cmocka_unit_test(a_kernel_thread_is_refused),
        cmocka_unit_test(a_fork_of_a_traced_process_is_refused),
        cmocka_unit_test(a_traced_fork_has_its_own_segment),
        cmocka_unit_test(a_process_that_execs_has_no_segment),
        cmocka_unit_test(a_reused_pid_is_another_process),
        cmocka_unit_test(a_pid_reused_during_discovery_is_refused),
        cmocka_unit_test(the_younger_of_two_segments_is_opened),
        cmocka_unit_test(another_version_is_refused),
        cmocka_unit_test(a_segment_in_creation_is_waited_for),
        cmocka_unit_test(a_process_without_its_main_thread_is_opened),
        cmocka_unit_test(the_search_is_bounded_over_all_threads),
        cmocka_unit_test(discovery_lists_traced_processes),
    };
    forked = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return cmocka_run_group_tests_name("discovery", tests, NULL, NULL);
}
