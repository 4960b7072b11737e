/* The screen's loop while it reads many processes: the test controls what the loop waits for, and when. */
#define why fixture_why /* the loop has its own `why` */
#include "process_fixture.h"
#undef why

#include "watch/process_set.h"
#include "tui/keys.h"
#include "tui/screen.h"

static bool counted_read_some(struct rtl_process_set *targets, uint64_t ns);
static void fake_size(int *rows, int *cols);
static void fake_show(const struct rtl_frame *frame, bool repaint);
static struct rtl_event fake_wait(uint64_t deadline_ns);

/* includes the loop itself; its names must differ from the program's */
#define rtl_process_set_read_slice counted_read_some
#define rtl_screen_size            fake_size
#define rtl_screen_show            fake_show
#define rtl_screen_wait            fake_wait
#define rtl_loop_live              sliced_watch
#define rtl_loop_replay            sliced_watch_replay
#define rtl_loop_run               sliced_watch_run
#define rtl_loop_show_frame        sliced_watch_show_frame
#include "tui/loop.c"
#include "tui/screens.c"
#undef rtl_process_set_read_slice

enum { PROCESSES = 4 };

static struct rtl_loop watched;
static uint64_t slices, shown, shown_then, samples_then, slices_then;
static bool pressed, drawn_between;

/* Time for one process only. */
static bool counted_read_some(struct rtl_process_set *targets, uint64_t ns)
{
    (void)ns;
    if (pressed && slices == slices_then) /* the first slice since the key */
        drawn_between = shown > shown_then && watched.samples == samples_then;
    slices++;
    return rtl_process_set_read_slice(targets, 0);
}

static void fake_size(int *rows, int *cols)
{
    *rows = 24;
    *cols = 80;
}

static void fake_show(const struct rtl_frame *frame, bool repaint)
{
    (void)frame;
    (void)repaint;
    shown++;
}

static struct rtl_event fake_wait(uint64_t deadline_ns)
{
    if (slices == 2 && !pressed) {
        pressed = true;
        shown_then = shown;
        samples_then = watched.samples;
        slices_then = slices;
        return (struct rtl_event){.kind = RTL_EVENT_KEY, .key = 'i'};
    }
    if (watched.samples >= 2)
        return (struct rtl_event){.kind = RTL_EVENT_KEY, .key = 'q'};
    while (rtl_mono_ns() < deadline_ns)
        usleep(1000);
    return (struct rtl_event){.kind = RTL_EVENT_TIMEOUT};
}

static void a_key_is_answered_between_slices(void **state)
{
    (void)state;
    struct rtl_options options;
    pid_t pids[PROCESSES];
    rtl_options_default(&options);
    options.delay_ns = RTL_SEC / 20;
    options.no_children = true;
    options.observe = -1;
    for (int i = 0; i < PROCESSES; i++)
        options.pids[i] = pids[i] = start_process(traced);
    options.pid = pids[0];
    options.pid_count = PROCESSES;
    watched.options = &options;
    assert_int_equal(rtl_process_set_open(&options, &watched.targets, fixture_why, sizeof fixture_why), RTL_READER_OK);
    assert_true(prepare_screen(&watched, pids[0], "four"));
    assert_int_equal(rtl_loop_run(&watched), 0);
    assert_true(pressed);
    assert_true(drawn_between);
    assert_int_equal(watched.samples, 2);
    assert_true(slices >= PROCESSES); /* one slice each, and the merge */
    /* no process is missing, and none counts twice */
    const struct rtl_snapshot *latest = &watched.ui.model->latest->snapshot;
    assert_non_null(latest->parts);
    assert_int_equal(latest->parts->member_count, PROCESSES);
    assert_int_equal(latest->timed, 10 * PROCESSES);
    release_screen(&watched);
    rtl_process_set_close(watched.targets);
    for (int i = 0; i < PROCESSES; i++)
        end_process(pids[i]);
}

/* A frame read in slices includes processes that joined since the last frame, and skips processes that exited
 * meanwhile.
 */
static void a_frame_read_in_slices_is_complete(void **state)
{
    (void)state;
    struct rtl_options options;
    struct rtl_snapshot snapshot;
    pid_t pids[PROCESSES];
    rtl_options_default(&options);
    options.no_children = true;
    options.observe = -1;
    for (int i = 0; i < PROCESSES; i++)
        options.pids[i] = pids[i] = start_process(traced);
    options.pid = pids[0];
    options.pid_count = PROCESSES;
    struct rtl_process_set *targets;
    assert_int_equal(rtl_process_set_open(&options, &targets, fixture_why, sizeof fixture_why), RTL_READER_OK);
    assert_true(rtl_process_set_read_slice(targets, 0));
    assert_true(rtl_process_set_read_slice(targets, 0));
    uint64_t real_ns = rtl_process_set_real_ns(targets);
    end_process(pids[3]);
    end_process(pids[0]);
    assert_int_equal(rtl_process_set_snapshot(targets, &snapshot), RTL_READER_OK);
    assert_int_equal(rtl_process_set_real_ns(targets), real_ns); /* the time at the frame's start */
    assert_int_equal(snapshot.timed, 10 * PROCESSES);
    assert_int_equal(rtl_process_set_count(targets), PROCESSES - 2);
    rtl_snapshot_free(&snapshot);
    assert_int_equal(rtl_process_set_snapshot(targets, &snapshot), RTL_READER_OK); /* another frame, read again */
    assert_true(rtl_process_set_real_ns(targets) > real_ns);
    rtl_snapshot_free(&snapshot);
    rtl_process_set_close(targets);
    end_process(pids[1]);
    end_process(pids[2]);
}

static volatile int *told; /* in shared memory: 1 requests damage, 2 confirms it */

static void damaged_when_told(int ready)
{
    traced(ready);
    say_ready(ready);
    while (!*told)
        usleep(1000);
    const struct rtl_section *rows = &segment.header->section[RTL_SECTION_KERNELS];
    for (uint32_t i = 0; i < rows->capacity; i++)
        ((struct rtl_kernel *)(void *)((char *)segment.header + rows->offset))[i].name_length = UINT32_MAX;
    *told = 2;
    for (;;)
        pause();
}

/* A process that can't be displayed alone is left at once with a message; the screen's later exit doesn't report it. */
static void a_failed_visit_returns_to_the_list(void **state)
{
    (void)state;
    static struct rtl_loop all;
    struct rtl_options options;
    int status;
    told = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(told != MAP_FAILED);
    pid_t pids[2] = {start_process(traced), start_process(damaged_when_told)};
    rtl_options_default(&options);
    options.no_children = true;
    options.observe = -1;
    options.pid = options.pids[0] = pids[0];
    options.pids[1] = pids[1];
    options.pid_count = 2;
    all.options = &options;
    assert_int_equal(rtl_process_set_open(&options, &all.targets, fixture_why, sizeof fixture_why), RTL_READER_OK);
    assert_true(prepare_screen(&all, pids[0], "two"));
    sample_all(&all);
    assert_int_equal(all.ui.model->latest->snapshot.parts->member_count, 2);
    *told = 1;
    while (*told != 2)
        usleep(1000);
    assert_true(visit_screen(&all, pids[1], &status));
    assert_non_null(strstr(all.ui.message, "damaged"));
    release_screen(&all);
    rtl_process_set_close(all.targets);
    end_process(pids[0]);
    end_process(pids[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_is_answered_between_slices),
        cmocka_unit_test(a_frame_read_in_slices_is_complete),
        cmocka_unit_test(a_failed_visit_returns_to_the_list),
    };
    return cmocka_run_group_tests_name("watch_slices", tests, NULL, NULL);
}
