/*
 * The watched processes and their recordings: processes that start later, exit in the middle of a frame, or share a
 * file that another program has locked. The processes are children of the test (process_fixture.h).
 */
#define why fixture_why /* the included files have a `why` of their own */
#include "process_fixture.h"
#undef why

#include <sys/inotify.h>
#include <sys/syscall.h>

#include "watch/frame_recorder.h"
#include "watch/attach_backoff.h"
#include "watch/attach_backoff.h"
#include "watch/process_set.h"
#include "shm/process.h"

static struct rtl_options options;

static void options_of(const pid_t *pids, uint32_t count)
{
    rtl_options_default(&options);
    options.observe = -1;
    for (uint32_t i = 0; i < count; i++)
        options.pids[i] = pids[i];
    options.pid = pids[0];
    options.pid_count = count;
}

static struct rtl_process_set *open_targets(const pid_t *pids, uint32_t count)
{
    struct rtl_process_set *targets;
    options_of(pids, count);
    if (rtl_process_set_open(&options, &targets, fixture_why, sizeof fixture_why) != RTL_READER_OK)
        fail_msg("%s", fixture_why);
    return targets;
}

/* The set searches for new processes at intervals. */
static void look_until(struct rtl_process_set *targets, uint32_t count)
{
    while (rtl_process_set_alive(targets) && rtl_process_set_count(targets) < count)
        usleep(20000);
}

/* --- watched processes --- */

/* An exited process can be found once more with its old segment: it is not a new process. */
static void an_exited_process_is_not_added_again(void **state)
{
    (void)state;
    pid_t pids[2] = {start_process(traced), start_process(traced)};
    struct rtl_attach_backoff refusals = {0};
    options_of(pids, 2);
    for (int i = 0; i < 2; i++) {
        struct rtl_process process;
        struct rtl_attach first, again;
        assert_int_equal(rtl_process_read(pids[i], &process), 0);
        const struct rtl_proc_entry entry = {.pid = pids[i], .start_time = process.start_time};
        assert_true(rtl_attach_backoff_try(&refusals, &options, &entry, true, &first));
        assert_true(rtl_attach_backoff_try(&refusals, &options, &entry, true, &again));
        rtl_attach_close(&again);
        rtl_attach_backoff_note_end(&refusals, &entry, &first);
        assert_false(rtl_attach_backoff_try(&refusals, &options, &entry, true, &again));
        rtl_attach_close(&first);
    }
    rtl_attach_backoff_free(&refusals);
    end_process(pids[0]);
    end_process(pids[1]);
}

/* Its segment gets its mark after the reader has closed it three times: the first attempt, made in two ways, then the
 * open.
 */
static void marked_late(int ready)
{
    char path[40], events[4096];
    traced(ready);
    struct rtl_header *h = (struct rtl_header *)(uintptr_t)segment.header;
    __atomic_store_n(&h->magic, 0, __ATOMIC_RELEASE);
    snprintf(path, sizeof path, "/proc/self/fd/%d", segment.fd);
    int notify = inotify_init1(IN_CLOEXEC);
    if (notify < 0 || inotify_add_watch(notify, path, IN_CLOSE) < 0)
        _exit(1);
    say_ready(ready);
    for (int looks = 0; looks < 3;) {
        ssize_t n = read(notify, events, sizeof events);
        looks += n > 0 ? (int)(n / (ssize_t)sizeof(struct inotify_event)) : 0;
    }
    __atomic_store_n(&h->magic, RTL_SEGMENT_MAGIC, __ATOMIC_RELEASE);
    for (;;)
        pause();
}

/* A process without a segment at the first scan, and with one later: it is in the set once. */
static void a_process_traced_later_is_added_once(void **state)
{
    (void)state;
    struct rtl_snapshot snapshot;
    pid_t pids[2] = {start_process(marked_late), getpid()}, other;
    struct rtl_process_set *targets = open_targets(pids, 2);
    assert_int_equal(rtl_process_set_count(targets), 1);
    other = start_process(traced);
    look_until(targets, 2);
    assert_int_equal(rtl_process_set_count(targets), 2);
    assert_int_equal(rtl_process_set_snapshot(targets, &snapshot), RTL_READER_OK);
    assert_int_equal(snapshot.timed, 20);
    rtl_snapshot_free(&snapshot);
    rtl_process_set_close(targets);
    end_process(pids[0]);
    end_process(other);
}

/* --- other users' processes --- */

static uint64_t read_ns, reads_took_ns; /* CPU time of each reading; 0: the real time */

int clock_gettime(clockid_t clock, struct timespec *t)
{
    if (clock != CLOCK_THREAD_CPUTIME_ID || !read_ns)
        return (int)syscall(SYS_clock_gettime, clock, t);
    reads_took_ns += read_ns / 2; /* between the clock's readings before and after */
    *t = (struct timespec){.tv_sec = (time_t)(reads_took_ns / 1000000000),
                           .tv_nsec = (long)(reads_took_ns % 1000000000)};
    return 0;
}

enum { MALLORY = 54321 };
static char crowds_name[16]; /* of this test alone */

static void in_the_crowd(int ready)
{
    prctl(PR_SET_NAME, crowds_name);
    traced(ready);
}

static void mallory_in_the_crowd(int ready)
{
    if (setresuid(MALLORY, MALLORY, MALLORY) || prctl(PR_SET_PDEATHSIG, SIGKILL)) /* the change cleared it */
        _exit(1);
    in_the_crowd(ready);
}

/* Return bits: which of the processes have numbers in the snapshot. */
static unsigned read_now(struct rtl_process_set *set, const pid_t *pids, int count)
{
    struct rtl_snapshot snapshot;
    unsigned bits = 0;
    assert_int_equal(rtl_process_set_snapshot(set, &snapshot), RTL_READER_OK);
    assert_int_equal(snapshot.parts->member_count, count);
    for (int i = 0; i < count; i++)
        for (uint32_t m = 0; m < snapshot.parts->member_count; m++)
            if (snapshot.parts->members[m].info.pid == pids[i] && snapshot.parts->members[m].start_mono_ns)
                bits |= 1u << i;
    rtl_snapshot_free(&snapshot);
    return bits;
}

static void another_users_processes_take_a_share_of_the_time(void **state)
{
    (void)state;
    if (geteuid())
        skip();
    const uint64_t second = 1000000000;
    struct rtl_process_set *set;
    char text[200];
    snprintf(crowds_name, sizeof crowds_name, "crowd-%d", (int)getpid());
    pid_t pids[4] = {start_process(in_the_crowd), start_process(mallory_in_the_crowd),
                     start_process(mallory_in_the_crowd), start_process(in_the_crowd)};
    rtl_options_default(&options);
    options.observe = -1;
    options.process = crowds_name;
    assert_int_equal(rtl_process_set_open(&options, &set, fixture_why, sizeof fixture_why), RTL_READER_OK);
    assert_int_equal(rtl_process_set_count(set), 4);
    assert_int_equal(rtl_process_set_left_out(set), 0);
    read_ns = 4 * second; /* one reading uses up the user's share for seconds */
    unsigned bits = read_now(set, pids, 4);
    assert_true(bits == 0xb || bits == 0xd);
    assert_int_equal(read_now(set, pids, 4), bits);
    assert_int_equal(rtl_process_set_left_out(set), 1);
    rtl_process_set_title(set, text, sizeof text);
    assert_non_null(strstr(text, "4 processes (1 left out): "));
    rtl_process_set_explain_left_out(set, text, sizeof text);
    assert_int_equal(strncmp(text, "1 process is left out: ", 23), 0);
    /* the set doesn't detect the end of a process, either, until its user's share permits */
    end_process(pids[2]);
    rtl_process_set_alive(set);
    assert_int_equal(rtl_process_set_count(set), 4);
    read_ns = 0;
    rtl_process_set_close(set);

    /* processes that are given by their ids have no limit */
    pids[2] = start_process(mallory_in_the_crowd);
    set = open_targets(pids, 4);
    read_ns = 4 * second;
    assert_int_equal(read_now(set, pids, 4), 0xf);
    read_ns = 0;
    rtl_process_set_close(set);
    for (int i = 0; i < 4; i++)
        end_process(pids[i]);
}

/* --- their recordings --- */

/* With another kernel than `traced`. */
static void traced_otherwise(int ready)
{
    char reason[200];
    (void)ready;
    if (rtl_segment_create(&segment, &fixture_config, reason, sizeof reason) != 0)
        _exit(1);
    rtl_recorder_record(rtl_recorder_create(&segment), fixture_kernel(&segment, "another kernel"), 1000);
    rtl_segment_set_state(&segment, RTL_STATE_LIVE);
}

static char folder[] = "/tmp/test_process_set.XXXXXX", path[64];
static struct rtl_frame_recorder recorder;
static int slept_ms;

int sqlite3_sleep(int ms); /* replaces SQLite's: no wait, but the requested time is added up */
int sqlite3_sleep(int ms)
{
    slept_ms += ms;
    return ms;
}

static void start_recorder(struct rtl_process_set *targets, pid_t pid, bool recording)
{
    unlink(path);
    options.write = path;
    struct rtl_model *model = rtl_model_create();
    assert_non_null(model);
    rtl_frame_recorder_init(&recorder, model, &options, pid, "test");
    recorder.set = targets;
    if (recording)
        assert_int_equal(rtl_frame_recorder_start(&recorder, 300), RTL_DB_OK);
}

static void stop_recorder(void)
{
    rtl_frame_recorder_stop(&recorder);
    rtl_model_free(recorder.model);
    rtl_process_set_close(recorder.set);
}

static enum rtl_db_status frame(void)
{
    struct rtl_snapshot snapshot;
    bool alive = rtl_process_set_alive(recorder.set);
    slept_ms = 0;
    assert_int_equal(rtl_process_set_snapshot(recorder.set, &snapshot), RTL_READER_OK);
    enum rtl_db_status status =
        rtl_frame_recorder_add(&recorder, &snapshot, rtl_process_set_real_ns(recorder.set), !alive);
    rtl_snapshot_free(&snapshot);
    return status;
}

static enum rtl_db_status save(void)
{
    struct rtl_snapshot snapshot;
    assert_int_equal(rtl_process_set_snapshot(recorder.set, &snapshot), RTL_READER_OK);
    enum rtl_db_status status =
        rtl_frame_recorder_snapshot(&recorder, path, &snapshot, rtl_process_set_real_ns(recorder.set), 300);
    rtl_snapshot_free(&snapshot);
    return status;
}

/* Count such rows in the file, of one process or of all (0). */
static int64_t rows(const char *from, pid_t pid)
{
    struct rtl_db *db;
    char sql[200], reason[512];
    if (rtl_db_open(path, &(struct rtl_db_options){0}, &db, reason, sizeof reason) != RTL_DB_OK)
        return 0;
    snprintf(sql, sizeof sql, "SELECT count(*) FROM rtl_recording r %s AND (r.pid = %d OR %d = 0)", from, (int)pid,
             (int)pid);
    int64_t count = rtl_db_one(db, sql);
    rtl_db_close(db);
    return count;
}
#define FRAMES "JOIN rtl_frame f ON f.recording = r.id WHERE r.kind = 'series'"
#define ENDS   FRAMES " AND f.exited"
#define PROBES "JOIN rtl_probe_sample p ON p.recording = r.id WHERE 1"
#define SAVED  "WHERE r.kind = 'snapshot'"

static struct rtl_db *lock(void)
{
    struct rtl_db *db;
    char reason[512];
    assert_int_equal(rtl_db_open(path, &(struct rtl_db_options){.write = true}, &db, reason, sizeof reason), RTL_DB_OK);
    rtl_db_exec(db, "BEGIN EXCLUSIVE");
    assert_int_equal(rtl_db_status(db), RTL_DB_OK);
    return db;
}

/* The file is locked while one of two processes exits: the exit is a failure until its last state is stored. */
static void the_last_state_of_a_process_is_recorded(void **state)
{
    (void)state;
    pid_t pids[2] = {start_process(traced), start_process(traced_otherwise)};
    start_recorder(open_targets(pids, 2), pids[0], true);
    assert_int_equal(frame(), RTL_DB_OK);
    struct rtl_db *db = lock();
    end_process(pids[1]);
    assert_int_equal(frame(), RTL_DB_BUSY);
    assert_int_equal(frame(), RTL_DB_BUSY);
    rtl_db_close(db);
    assert_int_equal(rows(ENDS, pids[1]), 0);
    assert_int_equal(frame(), RTL_DB_OK);
    assert_int_equal(rows(ENDS, pids[1]), 1);
    assert_int_equal(frame(), RTL_DB_OK);
    assert_int_equal(rows(ENDS, pids[1]), 1);
    assert_int_equal(rows(ENDS, pids[0]), 0);
    stop_recorder();
    assert_int_equal(recorder.missing, RTL_DB_OK);
    end_process(pids[0]);
}

/* A process without an earlier frame, whose kernels must be named, and a recorder that stops first. */
static void a_missing_last_state_is_remembered(void **state)
{
    (void)state;
    pid_t pids[3] = {start_process(traced), getpid(), 0};
    start_recorder(open_targets(pids, 2), pids[0], true);
    assert_int_equal(frame(), RTL_DB_OK);
    pids[2] = start_process(traced_otherwise);
    look_until(recorder.set, 2);
    struct rtl_db *db = lock();
    end_process(pids[2]);
    assert_int_equal(frame(), RTL_DB_BUSY);
    rtl_db_close(db);
    assert_int_equal(frame(), RTL_DB_OK);
    assert_int_equal(rows(ENDS, pids[2]), 1);
    assert_int_equal(rows("JOIN rtl_kernel k ON k.recording = r.id WHERE k.name = 'another kernel'", pids[2]), 1);
    db = lock();
    end_process(pids[0]);
    assert_int_equal(frame(), RTL_DB_BUSY);
    stop_recorder();
    assert_int_equal(recorder.missing, RTL_DB_BUSY);
    assert_non_null(strstr(recorder.missing_why, "locked"));
    rtl_db_close(db);
}

static volatile int *told; /* in shared memory: 1 requests tracing, 2 confirms it */

static void parent_of_one(int ready)
{
    pid_t self = getpid(), tests = getppid();
    traced(ready);
    if (fork())
        return;
    forked[0] = getpid();
    while (!*told && (getppid() == self || getppid() == tests))
        usleep(1000);
    traced(ready);
    *told = 2;
    while (getppid() == self || getppid() == tests)
        usleep(1000);
    _exit(0);
}

/* Its child appears in the interval in which it exits: the recording has its last state, marked as such. */
static void a_process_exits_as_its_child_appears(void **state)
{
    (void)state;
    struct rtl_snapshot snapshot;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    *told = 0;
    pid_t pid = start_process(parent_of_one);
    while (!*forked)
        usleep(1000);
    start_recorder(open_targets(&pid, 1), pid, true);
    assert_int_equal(frame(), RTL_DB_OK);
    assert_true(rtl_process_set_is_single(recorder.set));
    end_process(pid);
    *told = 1;
    while (*told != 2)
        usleep(1000);
    assert_int_equal(frame(), RTL_DB_OK);
    assert_false(rtl_process_set_is_single(recorder.set));
    assert_int_equal(rows(ENDS, pid), 1);
    assert_int_equal(rows(FRAMES, *forked), 1);
    assert_int_equal(rtl_process_set_snapshot(recorder.set, &snapshot), RTL_READER_OK);
    assert_int_equal(snapshot.timed, 20); /* of both, once */
    rtl_snapshot_free(&snapshot);
    stop_recorder();
    end_process(*forked);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

/* A snapshot is saved as a process exits: the running recording gets the exit, too. */
static void a_snapshot_leaves_the_exit_to_the_recording(void **state)
{
    (void)state;
    pid_t pids[2] = {start_process(traced), start_process(traced_otherwise)};
    start_recorder(open_targets(pids, 2), pids[0], true);
    assert_int_equal(frame(), RTL_DB_OK);
    struct rtl_snapshot snapshot;
    assert_int_equal(rtl_process_set_snapshot(recorder.set, &snapshot), RTL_READER_OK);
    end_process(pids[1]);
    assert_int_equal(rtl_frame_recorder_snapshot(&recorder, path, &snapshot, 1, 300), RTL_DB_OK);
    rtl_snapshot_free(&snapshot);
    assert_int_equal(rows(SAVED, 0), 2);
    assert_int_equal(frame(), RTL_DB_OK);
    assert_int_equal(rows(ENDS, pids[1]), 1);
    stop_recorder();
    end_process(pids[0]);
}

/* A probe's data goes into its own process's recording, for one process and for several. */
static void a_probe_is_recorded_with_its_process(void **state)
{
    (void)state;
    struct rtl_probe_told probe = {.there = true, .kernel = RTL_KERNEL_FIRST, .stage = "armed"};
    pid_t pids[2] = {start_process(traced), start_process(traced_otherwise)};
    start_recorder(open_targets(pids, 1), pids[0], false);
    rtl_frame_recorder_probe(&recorder, pids[1], &probe);
    assert_int_equal(rtl_frame_recorder_start(&recorder, 300), RTL_DB_OK);
    assert_int_equal(frame(), RTL_DB_OK);
    rtl_frame_recorder_stop(&recorder);
    assert_int_equal(rows(PROBES, 0), 0);
    rtl_frame_recorder_probe(&recorder, pids[0], &probe); /* before a recording begins, and a snapshot is saved */
    assert_int_equal(rtl_frame_recorder_start(&recorder, 300), RTL_DB_OK);
    assert_int_equal(frame(), RTL_DB_OK);
    assert_int_equal(save(), RTL_DB_OK);
    assert_int_equal(rows(PROBES, pids[0]), 2);
    probe.every = 7;
    rtl_frame_recorder_probe(&recorder, pids[0], &probe);
    assert_int_equal(frame(), RTL_DB_OK);
    assert_int_equal(rows(PROBES, pids[0]), 3);
    stop_recorder();
    start_recorder(open_targets(pids, 2), pids[0], true);
    assert_int_equal(frame(), RTL_DB_OK);
    rtl_frame_recorder_probe(&recorder, pids[1], &probe);
    assert_int_equal(frame(), RTL_DB_OK);
    assert_int_equal(rows(PROBES, pids[0]), 0);
    assert_int_equal(rows(PROBES, pids[1]), 1);
    stop_recorder();
    end_process(pids[0]);
    end_process(pids[1]);
}

/* The snapshot reports success only for data that it saved. */
static void an_exited_process_is_not_saved(void **state)
{
    (void)state;
    pid_t pids[2] = {start_process(traced), start_process(traced_otherwise)};
    start_recorder(open_targets(pids, 2), pids[0], false);
    assert_int_equal(save(), RTL_DB_OK);
    assert_int_equal(recorder.saved_processes, 2);
    assert_int_equal(recorder.saved_kernels, 2);
    end_process(pids[1]);
    assert_int_equal(save(), RTL_DB_OK); /* it exited before this snapshot */
    assert_int_equal(recorder.saved_processes, 1);
    assert_int_equal(recorder.saved_kernels, 1);
    assert_int_equal(rows(SAVED, 0), 3);
    end_process(pids[0]);
    assert_int_not_equal(save(), RTL_DB_OK);
    assert_non_null(strstr(recorder.why, "ended"));
    assert_int_equal(rows(SAVED, 0), 3);
    assert_int_not_equal(rtl_frame_recorder_start(&recorder, 300), RTL_DB_OK);
    assert_null(recorder.recording);
    stop_recorder();
}

/* A locked file delays a frame by the time limit in total, however many processes are recorded in it. */
static void a_lock_delays_a_frame_once(void **state)
{
    (void)state;
    pid_t pids[4] = {start_process(traced), getpid(), 0, 0};
    start_recorder(open_targets(pids, 2), pids[0], true);
    assert_int_equal(frame(), RTL_DB_OK);
    pids[2] = start_process(traced);
    pids[3] = start_process(traced);
    look_until(recorder.set, 3);
    assert_int_equal(frame(), RTL_DB_OK);
    assert_int_equal(rows(FRAMES, 0), 4);
    struct rtl_db *db = lock();
    for (int i = 0; i < 2; i++) {
        assert_int_equal(frame(), RTL_DB_BUSY);
        assert_in_range(slept_ms, 100, 300 + 2);
    }
    rtl_db_close(db);
    assert_int_equal(frame(), RTL_DB_OK);
    assert_int_equal(rows(FRAMES, 0), 7);
    stop_recorder();
    for (int i = 0; i < 4; i++)
        if (i != 1)
            end_process(pids[i]);
}

static int make_folder(void **state)
{
    (void)state;
    forked = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    told = (volatile int *)forked + 16;
    snprintf(path, sizeof path, "%s/recorded.db", mkdtemp(folder));
    return forked == MAP_FAILED;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_traced_later_is_added_once),
        cmocka_unit_test(another_users_processes_take_a_share_of_the_time),
        cmocka_unit_test(an_exited_process_is_not_added_again),
        cmocka_unit_test(the_last_state_of_a_process_is_recorded),
        cmocka_unit_test(a_missing_last_state_is_remembered),
        cmocka_unit_test(a_process_exits_as_its_child_appears),
        cmocka_unit_test(a_snapshot_leaves_the_exit_to_the_recording),
        cmocka_unit_test(a_probe_is_recorded_with_its_process),
        cmocka_unit_test(an_exited_process_is_not_saved),
        cmocka_unit_test(a_lock_delays_a_frame_once),
    };
    return cmocka_run_group_tests_name("targets", tests, make_folder, remove_folder);
}
