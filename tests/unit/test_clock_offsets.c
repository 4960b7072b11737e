/*
 * Times of processes in time namespaces: the offsets in /proc, and the conversion of each time in a segment to the
 * reader's time line.
 */
#include "shm/event_ring.h" /* first: a variable of the fixture has the name of one of its parameters */

#include "process_fixture.h"

#include <linux/sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "shm/hip_api.h"
#include "shm/hip_api_reader.h"
#include "shm/hip_api_snapshot.h"
#include "shm/clock_offsets.h"
#include "shm/reader_private.h"

#define DAY 86400000000000ll

static void the_offsets_file_is_parsed_or_refused(void **state)
{
    static const char *const wrong[] = {"",
                                        "monotonic 1 0\n",
                                        "boottime 1 0\n",
                                        "monotonic x 0\nboottime 1 0\n",
                                        "monotonic 1 -1\nboottime 1 0\n",
                                        "monotonic 1 1000000000\nboottime 1 0\n",
                                        "monotonic 4294967296 0\nboottime 1 0\n",
                                        "monotonic 1 0\nboottime -4294967297 0\n"};
    struct rtl_clock_offsets o;
    (void)state;
    assert_true(rtl_clock_offsets_parse("monotonic      864000         5\nboottime      -1728000 999999999\n", &o));
    assert_int_equal(o.mono_ns, 10 * DAY + 5);
    assert_int_equal(o.boot_ns, -20 * DAY + 999999999);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(rtl_clock_offsets_parse(wrong[i], &o));
}

static void this_process_has_offsets_of_zero(void **state)
{
    struct rtl_reader *reader;
    struct rtl_snapshot s = {0};
    (void)state;
    pid_t pid = start_process(traced);
    uint64_t before = fixture_now_ns();
    assert_int_equal(rtl_reader_open(pid, &reader, why, sizeof why), RTL_READER_OK);
    assert_int_equal(rtl_reader_clocks(reader, false)->ahead_ns, 0);
    assert_int_equal(rtl_reader_snapshot(reader, &s), RTL_READER_OK);
    assert_true(s.start_mono_ns <= before && s.taken_mono_ns >= before && s.taken_mono_ns <= fixture_now_ns());
    rtl_snapshot_free(&s);
    rtl_reader_close(reader);
    end_process(pid);
}

/* The caller's children get clocks that are ahead by these days. */
static bool unshare_clocks(int mono_days, int boot_days)
{
    char text[100];
    int n = snprintf(text, sizeof text, "monotonic %lld 0\nboottime %lld 0\n", mono_days * DAY / 1000000000,
                     boot_days * DAY / 1000000000);
    if (unshare(CLONE_NEWTIME) != 0)
        return false;
    int fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write(fd, text, (size_t)n) == n;
    if (fd >= 0)
        close(fd);
    return ok;
}

static void become_child_of_other_clocks(int ready)
{
    if (!unshare_clocks(10, 20))
        _exit(1);
    if (fork_noted()) { /* the test watches the grandchild */
        for (;;)
            pause();
    }
    traced(ready);
}

static void traced_with_children_of_other_clocks(int ready)
{
    traced(ready);
    if (!unshare_clocks(7, 7))
        _exit(1);
}

static void in_a_namespace_with_children_of_another(int ready)
{
    become_child_of_other_clocks(ready);
    if (!unshare_clocks(3, 3))
        _exit(1);
}

static void end_family(pid_t pid)
{
    kill(*forked, SIGKILL);
    end_process(pid);
}

static bool may_unshare(void)
{
    return geteuid() == 0 && access("/proc/self/timens_offsets", W_OK) == 0;
}

static void times_of_a_process_ten_days_ahead_are_converted(void **state)
{
    struct rtl_reader *reader;
    struct rtl_snapshot s = {0};
    (void)state;
    if (!may_unshare())
        skip();
    uint64_t before = fixture_now_ns();
    pid_t pid = start_process(become_child_of_other_clocks);
    assert_int_equal(rtl_reader_open(*forked, &reader, why, sizeof why), RTL_READER_OK);
    const struct rtl_clocks *c = rtl_reader_clocks(reader, false);
    assert_int_equal(c->ahead_ns, 10 * DAY);
    assert_int_equal(c->its.mono_ns - c->own.mono_ns, 10 * DAY);
    assert_int_equal(c->its.boot_ns - c->own.boot_ns, 20 * DAY);
    assert_int_equal(rtl_reader_snapshot(reader, &s), RTL_READER_OK);
    assert_true(s.start_mono_ns >= before && s.start_mono_ns <= s.taken_mono_ns);
    assert_int_equal(s.heartbeat_mono_ns, 0); /* none so far */
    rtl_snapshot_free(&s);
    rtl_reader_close(reader);
    end_family(pid);
}

static void clocks_set_for_children_are_not_the_parents(void **state)
{
    struct rtl_reader *reader;
    (void)state;
    if (!may_unshare())
        skip();
    pid_t pid = start_process(traced_with_children_of_other_clocks);
    assert_int_equal(rtl_reader_open(pid, &reader, why, sizeof why), RTL_READER_OK);
    assert_int_equal(rtl_reader_clocks(reader, false)->ahead_ns, 0);
    rtl_reader_close(reader);
    end_process(pid);
}

static void unreadable_offsets_are_refused(void **state)
{
    (void)state;
    if (!may_unshare())
        skip();
    pid_t pid = start_process(in_a_namespace_with_children_of_another);
    assert_int_equal(try_open(*forked), RTL_READER_PERMISSION);
    assert_names(*forked);
    assert_says("timens_offsets");
    end_family(pid);
}

static void every_time_of_a_segment_is_converted(void **state)
{
    struct rtl_segment made;
    struct rtl_segment_config config = fixture_config;
    struct rtl_events events;
    struct rtl_linked_event out[4];
    struct rtl_snapshot s = {0};
    (void)state;
    config.events = RTL_EVENTS_MIN;
    config.links = true;
    assert_int_equal(rtl_segment_create(&made, &config, why, sizeof why), 0);
    made.header->start_mono_ns = 10 * DAY + 1000;
    made.header->heartbeat_mono_ns = 10 * DAY + 3000;
    const struct rtl_event_link link = {.entry_ns = 10 * DAY + 5}, none = {0};
    rtl_event_put_linked(&made, &(struct rtl_event_record){.start_ns = 10 * DAY + 7}, &link);
    rtl_event_put_linked(&made, &(struct rtl_event_record){.start_ns = 99, .flags = RTL_EVENT_AGENT_CLOCK}, &none);
    struct rtl_reader *reader = fixture_reader(&made);
    reader->clocks =
        (struct rtl_clocks){.its = {.mono_ns = 10 * DAY}, .own = {.mono_ns = 2 * DAY}, .ahead_ns = 10 * DAY};
    assert_true(rtl_reader_events_begin(reader, &events));
    assert_int_equal(rtl_reader_linked_events(reader, &events, out, 4), 2);
    assert_int_equal(out[0].record.start_ns, 7);
    assert_int_equal(out[0].link.entry_ns, 5);
    assert_int_equal(out[1].record.start_ns, 99); /* the GPU's own clock */
    assert_int_equal(out[1].link.entry_ns, 0);
    uint64_t before = fixture_now_ns();
    assert_int_equal(rtl_reader_snapshot(reader, &s), RTL_READER_OK);
    assert_int_equal(s.start_mono_ns, 1000);
    assert_int_equal(s.heartbeat_mono_ns, 3000);
    assert_true(s.taken_mono_ns >= before);
    rtl_snapshot_free(&s);
    rtl_reader_clocks(reader, true);
    assert_int_equal(rtl_reader_clocks(reader, false)->ahead_ns, 10 * DAY);
    assert_int_equal(rtl_reader_snapshot(reader, &s), RTL_READER_OK);
    assert_true(s.taken_mono_ns >= before - 2 * DAY && s.taken_mono_ns <= fixture_now_ns() - 2 * DAY);
    rtl_snapshot_free(&s);
    rtl_reader_close(reader);
    fixture_drop(&made);
}

static void times_of_calls_are_converted(void **state)
{
    enum { RECORDS = 1024 };
    struct rtl_hip_api_header h = {.magic = RTL_HIP_API_MAGIC,
                                   .major = RTL_HIP_API_MAJOR,
                                   .minor = RTL_HIP_API_MINOR,
                                   .header_bytes = sizeof h,
                                   .rows_at = RTL_HIP_API_ROWS_AT,
                                   .memory_at = RTL_HIP_API_MEMORY_AT,
                                   .counters_at = RTL_HIP_API_COUNTERS_AT,
                                   .buckets_at = RTL_HIP_API_BUCKETS_AT,
                                   .pid = 1,
                                   .events = RECORDS,
                                   .blocks_used = 2};
    struct rtl_hip_api_row row = {
        .state = 1, .kind = RTL_HIP_API_LAUNCH, .text_bytes = 9, .text = "hipLaunch", .open = 1};
    struct rtl_hip_api_thread thread = {
        .tid = 42, .now = RTL_HIP_API_NOW(0, 10 * DAY + 30), .last = RTL_HIP_API_NOW(0, 10 * DAY + 20), .events = 1};
    struct rtl_hip_api_event event = {.sequence = 1, .start_ns = 10 * DAY + 11, .end_ns = 10 * DAY + 12, .id = 1}, got;
    struct rtl_hip_api_events events;
    struct rtl_hip_api_source source;
    struct rtl_snapshot s = {.taken_mono_ns = 1};
    struct rtl_reader reader = {.clocks.ahead_ns = 10 * DAY};
    (void)state;
    int fd = memfd_create("api", MFD_CLOEXEC);
    assert_int_equal(ftruncate(fd, (off_t)RTL_HIP_API_EVENTS_OF(RTL_HIP_API_BLOCKS, RECORDS)), 0);
    assert_int_equal(pwrite(fd, &h, sizeof h, 0), sizeof h);
    assert_int_equal(pwrite(fd, &row, sizeof row, RTL_HIP_API_ROWS_AT), sizeof row);
    assert_int_equal(pwrite(fd, &thread, sizeof thread, (off_t)(RTL_HIP_API_THREADS_AT + sizeof thread)),
                     sizeof thread);
    assert_int_equal(pwrite(fd, &event, sizeof event, (off_t)RTL_HIP_API_EVENTS_OF(1, RECORDS)), sizeof event);
    assert_true(rtl_hip_api_events_begin(fd, &events));
    events.ahead_ns = 10 * DAY;
    assert_int_equal(rtl_hip_api_events(fd, &events, &got, 1), 1);
    assert_int_equal(got.start_ns, 11);
    assert_int_equal(got.end_ns, 12);
    rtl_hip_api_source_open(&source);
    source.fd = fd;
    rtl_hip_api_source_read(&source, getpid(), &reader, &s);
    assert_non_null(s.hip_api);
    assert_int_equal(s.hip_api->thread_count, 1);
    assert_int_equal(s.hip_api->threads[0].since_ns, 30);
    assert_int_equal(s.hip_api->threads[0].last_ns, 20);
    rtl_snapshot_free(&s);
    rtl_hip_api_source_close(&source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_offsets_file_is_parsed_or_refused),
        cmocka_unit_test(this_process_has_offsets_of_zero),
        cmocka_unit_test(times_of_a_process_ten_days_ahead_are_converted),
        cmocka_unit_test(clocks_set_for_children_are_not_the_parents),
        cmocka_unit_test(unreadable_offsets_are_refused),
        cmocka_unit_test(every_time_of_a_segment_is_converted),
        cmocka_unit_test(times_of_calls_are_converted),
    };
    forked = mmap(NULL, sizeof *forked, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return forked == MAP_FAILED ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
