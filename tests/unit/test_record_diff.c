/* Comparing two spans: matching, shares, changes, cost, order, and which change counts as slower. */
#include "hip_api_fixture.h"

#include <json-c/json.h>
#include <unistd.h>

#include "record/diff.h"
#include "record/recording.h"
#include "options/commands.h"

static struct synth *a, *b;

static int set_up(void **state)
{
    (void)state;
    a = synth_create(1, 1);
    b = synth_create(1, 1);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    synth_free(a);
    synth_free(b);
    return 0;
}

static struct rtl_snapshot snapshots[4];

static void make(struct rtl_diff *diff, bool earlier)
{
    struct rtl_diff_span sa = {.later = &snapshots[0]}, sb = {.later = &snapshots[1]};
    snapshots[0] = synth_snapshot(a, RTL_SEC);
    snapshots[1] = synth_snapshot(b, RTL_SEC);
    if (earlier)
        sb.earlier = &snapshots[2];
    assert_true(rtl_diff_make(&sa, &sb, diff));
}

static void clean(struct rtl_diff *diff)
{
    rtl_diff_free(diff);
    for (int i = 0; i < 4; i++)
        rtl_snapshot_free(&snapshots[i]);
}

static const struct rtl_diff_row *row(const struct rtl_diff *diff, const char *name)
{
    for (uint32_t i = 0; i < diff->count; i++)
        if (!strcmp(diff->rows[i].name, name))
            return &diff->rows[i];
    fail_msg("no row %s", name);
    return NULL;
}

static bool near(double x, double y)
{
    return x > y - 0.01 && x < y + 0.01;
}

static void kernels_are_matched_by_name_and_sorted_by_cost(void **state)
{
    (void)state;
    struct rtl_diff diff;
    double change;
    synth_record(a, synth_kernel(a, "same"), 1000, 1000);
    synth_record(a, synth_kernel(a, "slower"), 1000, 1000);
    synth_record(a, synth_kernel(a, "gone"), 5000, 100);
    synth_record(a, synth_kernel(a, "faster"), 4000, 1000);
    synth_kernel(b, "never called");
    synth_record(b, synth_kernel(b, "faster"), 2000, 1000); /* rows differ from A's */
    synth_record(b, synth_kernel(b, "new"), 7000, 10);
    synth_record(b, synth_kernel(b, "slower"), 1500, 2000);
    synth_record(b, synth_kernel(b, "same"), 1000, 4000);
    synth_untimed(b, synth_kernel(b, "counted"), RTL_UNTIMED_OWN_SIGNAL, 9);
    make(&diff, false);
    static const char *const order[] = {"slower", "new", "counted", "same", "gone", "faster"};
    assert_int_equal(diff.count, 6);
    for (int i = 0; i < 6; i++)
        assert_string_equal(diff.rows[i].name, order[i]);
    const struct rtl_diff_row *r = row(&diff, "slower");
    assert_true(near(r->cost_ns, 500.0 * 2000));
    assert_true(r->a.calls == 1000 && r->b.calls == 2000);
    assert_true(rtl_diff_p50(r, &change) && near(change, 0.5));
    assert_true(rtl_diff_p99(r, &change) && near(change, 0.5));
    assert_true(near(row(&diff, "new")->cost_ns, 70000) && !row(&diff, "new")->a.there);
    assert_true(near(row(&diff, "gone")->cost_ns, -500000) && !row(&diff, "gone")->b.there);
    assert_true(near(row(&diff, "faster")->cost_ns, -2000.0 * 1000));
    assert_true(near(row(&diff, "same")->cost_ns, 0));
    assert_true(row(&diff, "counted")->b.there && !row(&diff, "counted")->b.timed);
    assert_false(rtl_diff_p50(row(&diff, "new"), &change));
    assert_int_equal(diff.total_a, 1000000 + 1000000 + 500000 + 4000000);
    assert_true(near(row(&diff, "faster")->a.share, 4.0 / 6.5));
    clean(&diff);
}

static void only_significant_changes_fail(void **state)
{
    (void)state;
    struct rtl_diff diff;
    int ka = synth_kernel(a, "big"), kb = synth_kernel(b, "big");
    synth_record(a, ka, 100000, 1000);
    synth_record(b, kb, 100000, 985);
    synth_record(b, kb, 150000, 15); /* the tail only */
    synth_record(a, synth_kernel(a, "tiny share"), 10, 1000);
    synth_record(b, synth_kernel(b, "tiny share"), 50, 1000);
    synth_record(a, synth_kernel(a, "few"), 1000000, 9);
    synth_record(b, synth_kernel(b, "few"), 9000000, 9);
    synth_record(a, synth_kernel(a, "hundred"), 1000000, 100);
    synth_record(b, synth_kernel(b, "hundred"), 1000000, 90);
    synth_record(b, 3, 2000000, 10); /* too few durations for a p99 */
    synth_record(a, synth_kernel(a, "small before"), 1000, 100);
    synth_record(b, synth_kernel(b, "small before"), 3000, 10000);
    synth_record(a, synth_kernel(a, "small now"), 1000, 10000);
    synth_record(b, synth_kernel(b, "small now"), 3000, 100);
    make(&diff, false);
    assert_true(row(&diff, "small before")->a.share < 0.01 && row(&diff, "small before")->b.share > 0.01);
    assert_true(row(&diff, "small now")->a.share > 0.01 && row(&diff, "small now")->b.share < 0.01);
    assert_true(rtl_diff_is_slower(row(&diff, "small before"), 0.1)); /* enough in one of them */
    assert_true(rtl_diff_is_slower(row(&diff, "small now"), 0.1));
    assert_true(rtl_diff_is_slower(row(&diff, "big"), 0.1));
    assert_true(rtl_diff_is_slower(row(&diff, "big"), 0.48));
    assert_false(rtl_diff_is_slower(row(&diff, "big"), 0.55));
    assert_false(rtl_diff_is_slower(row(&diff, "tiny share"), 0.1));
    assert_false(rtl_diff_is_slower(row(&diff, "few"), 0.1));
    assert_false(rtl_diff_is_slower(row(&diff, "hundred"), 0.1));
    clean(&diff);
}

/* A kernel that grew from almost nothing counts, and one that shrank to it. */
static void a_kernel_grown_from_a_small_share_fails(void **state)
{
    (void)state;
    struct rtl_diff diff;
    synth_record(a, synth_kernel(a, "big"), 100000, 1000);
    synth_record(b, synth_kernel(b, "big"), 100000, 1000);
    synth_record(a, synth_kernel(a, "grown"), 100, 1000);
    synth_record(b, synth_kernel(b, "grown"), 50000, 1000);
    synth_record(a, synth_kernel(a, "rarer"), 100000, 1000);
    synth_record(b, synth_kernel(b, "rarer"), 20000, 10);
    make(&diff, false);
    assert_true(rtl_diff_is_slower(row(&diff, "grown"), 0.1));
    assert_false(rtl_diff_is_slower(row(&diff, "rarer"), 0.1));
    clean(&diff);
}

static void a_recording_counts_from_its_first_frame(void **state)
{
    (void)state;
    struct rtl_diff diff;
    int kb = synth_kernel(b, "k"), idle = synth_kernel(b, "idle since");
    synth_record(a, synth_kernel(a, "k"), 1000, 100);
    synth_record(b, kb, 9000, 5000);
    synth_record(b, idle, 9000, 5000);
    snapshots[2] = synth_snapshot(b, RTL_SEC / 2);
    synth_record(b, kb, 1000, 200);
    make(&diff, true);
    assert_int_equal(diff.count, 1);
    assert_true(diff.rows[0].b.calls == 200 && diff.rows[0].b.timed == 200 && diff.rows[0].b.total_ns == 200000);
    assert_true(diff.rows[0].b.p50 > 990 && diff.rows[0].b.p50 < 1010);
    assert_false(rtl_diff_is_slower(&diff.rows[0], 0.01));
    clean(&diff);
}

static void sums_do_not_wrap(void **state)
{
    (void)state;
    struct rtl_diff diff;
    static const char *const names[] = {"k0", "k1", "k2"};
    for (int i = 0; i < 3; i++)
        synth_record(a, synth_kernel(a, names[i]), 1ull << 34, 1ull << 29); /* 2^63 ns each */
    synth_record(b, synth_kernel(b, "k0"), 1, 1);
    make(&diff, false);
    assert_true(diff.total_a == UINT64_MAX);
    for (uint32_t i = 0; i < diff.count; i++)
        assert_true(diff.rows[i].a.share >= 0 && diff.rows[i].a.share <= 1);
    clean(&diff);
}

static void kernels_are_matched_by_name_not_by_row(void **state)
{
    (void)state;
    struct rtl_diff diff;
    synth_record(a, synth_kernel(a, "k"), 1000, 10);
    synth_record(b, synth_kernel(b, "earlier"), 1000, 10);
    snapshots[2] = synth_snapshot(b, RTL_SEC / 2);
    b->kernels[0].name = "another"; /* a damaged file */
    make(&diff, true);
    assert_true(row(&diff, "another")->b.calls == 10);
    clean(&diff);
}

static void a_process_is_known_by_number_and_both_clocks(void **state)
{
    (void)state;
    const struct rtl_snapshot first = {.pid = 7, .start_mono_ns = 5, .start_real_ns = 6, .taken_mono_ns = 10};
    struct rtl_snapshot later = first;
    assert_false(rtl_diff_contains(&first, &later)); /* the same moment */
    later.taken_mono_ns++;
    assert_true(rtl_diff_contains(&first, &later));
    assert_false(rtl_diff_contains(&later, &first));
    for (int i = 0; i < 3; i++) {
        struct rtl_snapshot other = later;
        other.pid += i == 0;
        other.start_mono_ns += i == 1;
        other.start_real_ns += i == 2;
        assert_false(rtl_diff_contains(&first, &other));
    }
    struct rtl_snapshot unknown = first, unknown_later = later; /* a file without clocks */
    unknown.start_mono_ns = unknown_later.start_mono_ns = 0;
    assert_false(rtl_diff_contains(&unknown, &unknown_later));
}

/* --- two snapshots of one process, through their files --- */

static void name_kernel(void *context, const struct rtl_kernel_snapshot *k, struct rtl_recorded_names *names)
{
    (void)context;
    (void)k;
    *names = (struct rtl_recorded_names){.full = "", .short_name = ""};
}

static void write_snapshot(const char *path, struct synth *p, uint64_t at, uint64_t start)
{
    char why[300];
    struct rtl_recording *recording;
    const struct rtl_recording_info info = {.kind = RTL_RECORDING_SNAPSHOT,
                                            .pid = getpid(),
                                            .title = "serve",
                                            .recorder = "test",
                                            .name_kernel = name_kernel};
    struct rtl_snapshot s = synth_snapshot(p, at);
    s.start_mono_ns = start;
    s.start_real_ns = 1000 * RTL_SEC + start;
    assert_int_equal(rtl_recording_open(path, false, 50, &info, &recording, why, sizeof why), 0);
    assert_int_equal(rtl_recording_add(recording, &s, 1000 * RTL_SEC + at, false), 0);
    rtl_recording_close(recording);
    rtl_snapshot_free(&s);
}

static char before[] = "/tmp/rtl-diff.XXXXXX", after[] = "/tmp/rtl-diff.XXXXXX", other[] = "/tmp/rtl-diff.XXXXXX";
static char *printed;

/* Run `rtl-top diff X Y OPTION...`; the output goes into `printed`. */
static int run_diff(const char *x, const char *y, const char *option, const char *value)
{
    size_t size;
    FILE *real = stdout;
    char *words[] = {strdup("diff"), strdup(x), strdup(y), strdup(option ? option : "-n"), strdup(value ? value : "9")};
    int count = option && !value ? 4 : 5;
    free(printed);
    stdout = open_memstream(&printed, &size);
    int status = rtl_diff_command(count, words);
    fclose(stdout);
    stdout = real;
    for (int i = 0; i < 5; i++)
        free(words[i]);
    return status;
}

static int64_t number(const char *name, const char *side, const char *key)
{
    int64_t value = -1;
    for (char *line = printed, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        struct json_object *o = json_tokener_parse(line), *at = NULL;
        if (json_object_object_get_ex(o, "name", &at) && !strcmp(json_object_get_string(at), name) &&
            json_object_object_get_ex(o, side, &at) && json_object_object_get_ex(at, key, &at))
            value = json_object_get_int64(at);
        json_object_put(o);
        *end = '\n';
    }
    return value;
}

static void make_files(void)
{
    char *names[] = {before, after, other};
    int k = synth_kernel(a, "gets slow"), idle = synth_kernel(a, "only before"), fine = synth_kernel(a, "as ever");
    for (int i = 0; i < 3; i++) {
        memcpy(names[i] + strlen(names[i]) - 6, "XXXXXX", 6);
        int fd = mkstemp(names[i]);
        assert_true(fd >= 0);
        close(fd);
    }
    synth_record(a, k, 10000, 100000);
    synth_record(a, idle, 500, 7);
    synth_record(a, fine, 20000, 50000);
    write_snapshot(before, a, 60 * RTL_SEC, SYNTH_START);
    synth_record(a, k, 20000, 600); /* twice as long, but briefly */
    synth_record(a, fine, 20000, 300);
    write_snapshot(after, a, 61 * RTL_SEC, SYNTH_START);
    write_snapshot(other, a, 61 * RTL_SEC, SYNTH_START + 1); /* another process with the same pid */
}

static void remove_files(void)
{
    unlink(before);
    unlink(after);
    unlink(other);
    free(printed);
    printed = NULL;
}

/* Comparing nothing is not a pass. */
static void nothing_to_compare_fails(void **state)
{
    (void)state;
    make_files();
    write_snapshot(other, a, 62 * RTL_SEC, SYNTH_START); /* nothing ran since the previous snapshot */
    assert_int_equal(run_diff(after, other, "--fail-over", "10%"), RTL_DB_MISSING);
    assert_null(strstr(printed, "slower by"));
    assert_int_equal(run_diff(after, other, NULL, NULL), 0);
    remove_files();
}

static void the_later_snapshot_counts_from_the_earlier_one(void **state)
{
    (void)state;
    make_files();
    assert_int_equal(run_diff(before, after, "--fail-over", "10%"), RTL_DB_SLOWER);
    assert_non_null(strstr(printed, "snapshot, 0:01 since A  "));
    assert_non_null(strstr(printed, "snapshot of 1:00  "));
    assert_non_null(strstr(printed, "1 of 3 kernels slower"));
    assert_int_equal(run_diff(before, after, "--json", NULL), 0);
    assert_int_equal(number("gets slow", "b", "calls"), 600);
    assert_int_equal(number("gets slow", "b", "timed"), 600);
    assert_int_equal(number("gets slow", "b", "total_ns"), 600 * 20000);
    assert_int_equal(number("gets slow", "a", "calls"), 100000);
    int64_t p50 = number("gets slow", "b", "p50_ns"), p99 = number("gets slow", "b", "p99_ns");
    assert_true(p50 > 19800 && p50 < 20200 && p99 > 19800 && p99 < 20200);
    assert_int_equal(number("only before", "b", "calls"), 0);
    assert_int_equal(number("as ever", "b", "calls"), 300);
    /* in reverse order the first file counts from the second one */
    assert_int_equal(run_diff(after, before, "--json", NULL), 0);
    assert_int_equal(number("gets slow", "a", "calls"), 600);
    assert_int_equal(number("gets slow", "b", "calls"), 100000);
    remove_files();
}

static void option_cumulative_counts_from_the_start(void **state)
{
    (void)state;
    make_files();
    assert_int_equal(run_diff(before, after, "--cumulative", NULL), 0);
    assert_null(strstr(printed, "since"));
    assert_int_equal(run_diff(before, other, "--fail-over", "10%"), 0); /* another process: no subtraction */
    assert_null(strstr(printed, "since"));
    assert_non_null(strstr(printed, "snapshot of 1:0")); /* the header names both snapshots */
    assert_int_equal(run_diff(before, before, "--json", NULL), 0);
    assert_int_equal(number("gets slow", "a", "calls"), 100000);
    assert_int_equal(number("gets slow", "b", "calls"), 100000);
    remove_files();
}

/* Functions and ranges are separate rows, matched by name. A span that begins later counts only its own calls. */
static void calls_are_compared_by_name(void **state)
{
    (void)state;
    struct synth_calls ca = {0}, cb = {0};
    struct rtl_diff diff;
    int launch = synth_call(&ca, RTL_HIP_API_LAUNCH, "hipLaunchKernel"),
        gone = synth_call(&ca, RTL_HIP_API_COPY, "hipMemcpy");
    int first = synth_call(&cb, RTL_HIP_API_LAUNCH, "hipAbove"),
        same = synth_call(&cb, RTL_HIP_API_LAUNCH, "hipLaunchKernel");
    int step = synth_call(&cb, RTL_HIP_API_RANGE, "hipLaunchKernel"); /* a range may have a function's name */
    synth_add(&ca.rows[launch].h, 1000, 100);
    synth_add(&ca.rows[gone].h, 500, 10);
    synth_add(&cb.rows[same].h, 5000, 50);
    snapshots[2] = synth_snapshot(b, RTL_SEC);
    cb.count = 2; /* before the range existed */
    synth_put_calls(b, &cb, &snapshots[2]);
    cb.count = 3;
    synth_add(&cb.rows[same].h, 2000, 200);
    synth_add(&cb.rows[first].h, 10, 1);
    synth_add(&cb.rows[step].h, 70000, 3);
    snapshots[0] = synth_snapshot(a, RTL_SEC);
    snapshots[1] = synth_snapshot(b, RTL_SEC);
    synth_put_calls(a, &ca, &snapshots[0]);
    synth_put_calls(b, &cb, &snapshots[1]);
    struct rtl_diff_span sa = {.later = &snapshots[0]}, sb = {.earlier = &snapshots[2], .later = &snapshots[1]};
    assert_true(rtl_diff_make_calls(&sa, &sb, RTL_DIFF_FUNCTIONS, &diff));
    assert_int_equal(diff.count, 3);
    assert_int_equal(row(&diff, "hipLaunchKernel")->a.calls, 100);
    assert_int_equal(row(&diff, "hipLaunchKernel")->b.calls, 200);
    assert_int_equal(row(&diff, "hipLaunchKernel")->b.total_ns, 400000);
    assert_true(row(&diff, "hipLaunchKernel")->cost_ns > 199999 && row(&diff, "hipLaunchKernel")->cost_ns < 200001);
    assert_false(row(&diff, "hipMemcpy")->b.there);
    assert_false(row(&diff, "hipAbove")->a.there);
    assert_string_equal(diff.rows[0].name, "hipLaunchKernel"); /* the most expensive */
    rtl_diff_free(&diff);
    assert_true(rtl_diff_make_calls(&sa, &sb, RTL_DIFF_RANGES, &diff));
    assert_int_equal(diff.count, 1);
    assert_int_equal(diff.rows[0].b.calls, 3);
    rtl_diff_free(&diff);
    snapshots[3] = synth_snapshot(a, RTL_SEC);
    sb = (struct rtl_diff_span){.later = &snapshots[3]};
    assert_true(rtl_diff_make_calls(&sb, &sb, RTL_DIFF_FUNCTIONS, &diff));
    assert_int_equal(diff.count, 0);
    clean(&diff);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(kernels_are_matched_by_name_and_sorted_by_cost),
        TEST(only_significant_changes_fail),
        TEST(a_kernel_grown_from_a_small_share_fails),
        TEST(a_recording_counts_from_its_first_frame),
        TEST(sums_do_not_wrap),
        TEST(kernels_are_matched_by_name_not_by_row),
        TEST(calls_are_compared_by_name),
        cmocka_unit_test(a_process_is_known_by_number_and_both_clocks),
        TEST(nothing_to_compare_fails),
        TEST(the_later_snapshot_counts_from_the_earlier_one),
        TEST(option_cumulative_counts_from_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
