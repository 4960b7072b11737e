/* Two spans side by side: matching, shares, changes, cost, order, and what counts as slower. */
#include "tui_synth.h"

#include "record/diff.h"

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
    struct rtl_span sa = {.later = &snapshots[0]}, sb = {.later = &snapshots[1]};
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
    synth_record(b, synth_kernel(b, "faster"), 2000, 1000); /* other rows than in A */
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

static void only_what_matters_fails(void **state)
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
    synth_record(b, 3, 2000000, 10); /* too few to speak of a p99 */
    make(&diff, false);
    assert_true(rtl_diff_is_slower(row(&diff, "big"), 0.1));
    assert_true(rtl_diff_is_slower(row(&diff, "big"), 0.48));
    assert_false(rtl_diff_is_slower(row(&diff, "big"), 0.55));
    assert_false(rtl_diff_is_slower(row(&diff, "tiny share"), 0.1));
    assert_false(rtl_diff_is_slower(row(&diff, "few"), 0.1));
    assert_false(rtl_diff_is_slower(row(&diff, "hundred"), 0.1));
    clean(&diff);
}

/* One that has grown from next to nothing matters, and one that has shrunk to it. */
static void a_share_in_one_span_is_enough(void **state)
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

static void a_series_counts_from_its_first_frame(void **state)
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

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(kernels_are_matched_by_name_and_sorted_by_cost),
        TEST(only_what_matters_fails),
        TEST(a_share_in_one_span_is_enough),
        TEST(a_series_counts_from_its_first_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
