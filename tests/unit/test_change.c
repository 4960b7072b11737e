/* Comparing windows: which changes are claimed, and which are not. */
#include "model_fixture.h"

#include "model/change.h"

/* Compare two windows of a kernel: `count` durations around `ns`, then around `then_ns`; every hundredth is a tail. */
static struct rtl_changes changes(uint64_t ns, uint64_t tail, uint64_t then_ns, uint64_t then_tail, int count)
{
    struct synth *s = synth_create(1, 1);
    struct rtl_histogram_copy h[3];
    synth_kernel(s, "k");
    for (int w = 0; w < 3; w++) {
        for (int i = 0; w && i < count; i++)
            synth_record(s, 0, i % 50 ? (w == 1 ? ns : then_ns) + (uint64_t)(i % 7) : w == 1 ? tail : then_tail, 1);
        h[w] = synth_copy(s, &s->kernels[0].h);
    }
    struct rtl_changes c = rtl_changes_between(&h[0], &h[1], &h[2]),
                       since_start = rtl_changes_between(NULL, &h[1], &h[2]);
    assert_int_equal(c.p99.kind, since_start.p99.kind);
    assert_int_equal(rtl_changes_between(&h[0], NULL, &h[2]).p99.kind, RTL_CHANGE_UNKNOWN);
    assert_int_equal(rtl_changes_between(&h[0], &h[2], &h[1]).p50.kind, RTL_CHANGE_UNKNOWN); /* the count shrank */
    synth_free(s);
    return c;
}

static void is(struct rtl_change change, enum rtl_change_kind kind, const char *text)
{
    char got[24];
    rtl_change_text(change, got, sizeof got);
    assert_string_equal(got, text);
    assert_int_equal(change.kind, kind);
}

static void significant_changes_are_claimed(void **state)
{
    (void)state;
    struct rtl_changes c = changes(100000, 200000, 100000, 200000, 2000);
    is(c.p50, RTL_CHANGE_SAME, "=");
    is(c.p99, RTL_CHANGE_SAME, "=");
    c = changes(100000, 200000, 150000, 640000, 2000);
    is(c.p50, RTL_CHANGE_LONGER, "+51%"); /* between the buckets' middles */
    is(c.p99, RTL_CHANGE_LONGER, "3.2x");
    c = changes(150000, 640000, 100000, 200000, 2000);
    is(c.p50, RTL_CHANGE_SHORTER, "-34%");
    is(c.p99, RTL_CHANGE_SHORTER, "-69%");
    is(changes(100000, 200000, 101000, 202000, 2000).p99, RTL_CHANGE_SAME, "="); /* the width of a bucket */
    is(changes(100000, 200000, 100000, 208500, 2000).p99, RTL_CHANGE_LONGER, "+4%");
}

static void too_few_durations_claim_nothing(void **state)
{
    (void)state;
    is(changes(100000, 200000, 300000, 900000, 299).p99, RTL_CHANGE_UNKNOWN, "-");
    is(changes(100000, 200000, 300000, 900000, 300).p99, RTL_CHANGE_LONGER, "4.5x");
    is(changes(100000, 200000, 300000, 900000, 29).p50, RTL_CHANGE_UNKNOWN, "-");
    is(changes(100000, 200000, 300000, 900000, 30).p50, RTL_CHANGE_LONGER, "3.0x");
    is(changes(0, 0, 0, 0, 400).p50, RTL_CHANGE_SAME, "=");
}

/* The durations spread far more than their p99s differ: the p99 depends on chance, and no change is claimed. */
static void a_change_within_the_spread_is_not_claimed(void **state)
{
    (void)state;
    struct synth *s = synth_create(1, 1);
    struct rtl_histogram_copy h[3];
    uint64_t random = 1;
    int claimed = 0, rounds = 200;
    synth_kernel(s, "k");
    h[0] = synth_copy(s, &s->kernels[0].h);
    h[1] = h[0];
    for (int w = 0; w < rounds; w++) {
        for (int i = 0; i < 600; i++) { /* the same spread each time: 1 in 50 is up to ten times as long */
            random = random * 6364136223846793005ull + 1442695040888963407ull;
            uint64_t part = (random >> 33) % 1000;
            synth_record(s, 0, 100000 + (part < 20 ? (random >> 43) % 1000000 : part * 10), 1);
        }
        h[2] = synth_copy(s, &s->kernels[0].h);
        if (w > 1) {
            struct rtl_changes c = rtl_changes_between(&h[0], &h[1], &h[2]);
            claimed += c.p99.kind > RTL_CHANGE_SAME;
            assert_int_not_equal(c.p99.kind, RTL_CHANGE_UNKNOWN);
        }
        h[0] = h[1];
        h[1] = h[2];
    }
    assert_true(claimed <= rounds / 50);
    synth_free(s);
}

static void changes_are_printed(void **state)
{
    (void)state;
    static const struct {
        double ratio;
        const char *text;
    } cases[] = {{1.994, "+99%"}, {1.996, "2.0x"}, {9.94, "9.9x"},    {9.96, "10x"},
                 {99.4, "99x"},   {120, "120x"},   {54321, "54.3kx"}, {0.004, "-100%"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        is((struct rtl_change){cases[i].ratio > 1 ? RTL_CHANGE_LONGER : RTL_CHANGE_SHORTER, cases[i].ratio},
           cases[i].ratio > 1 ? RTL_CHANGE_LONGER : RTL_CHANGE_SHORTER, cases[i].text);
    assert_true(rtl_change_is_worse((struct rtl_change){RTL_CHANGE_LONGER, 1.1}));
    assert_false(rtl_change_is_worse((struct rtl_change){RTL_CHANGE_LONGER, 1.05}));
    assert_false(rtl_change_is_worse((struct rtl_change){RTL_CHANGE_SAME, 1.5}));
    assert_false(rtl_change_is_worse((struct rtl_change){RTL_CHANGE_UNKNOWN, 2}));
}

/* The model's windows: the previous window is as long, and exists once half of it has passed. */
static void the_model_compares_its_windows(void **state)
{
    (void)state;
    int a = synth_kernel(p, "a");
    for (int t = 1; t <= 60; t++) {
        synth_record(p, a, t <= 40 ? 100000 : 150000, 100);
        synth_tick(p, m, SECONDS(t));
        const struct rtl_row *row = rtl_model_row(m, p->kernels[a].id);
        assert_true(m->ring_count <= RTL_MODEL_RING);
        if (t < 16)
            assert_int_equal(row->change.p99.kind, RTL_CHANGE_UNKNOWN);
        if (t >= 17 && t <= 40)
            is(row->change.p99, RTL_CHANGE_SAME, "=");
        if (t >= 23) {
            uint64_t span = m->base->snapshot.taken_mono_ns - m->before->snapshot.taken_mono_ns;
            assert_true(span >= SECONDS(9.7) && span <= SECONDS(13));
        }
        if (t == 45 || t == 50) /* within ten seconds of the change it shows */
            is(row->change.p99, RTL_CHANGE_LONGER, "+50%");
    }
    is(rtl_model_row(m, p->kernels[a].id)->change.p50, RTL_CHANGE_SAME, "="); /* both windows have it now */
    rtl_model_zero(m);
    assert_null(m->before);
    synth_record(p, a, 100000, 1000);
    synth_tick(p, m, SECONDS(61));
    assert_int_equal(rtl_model_row(m, p->kernels[a].id)->change.p50.kind, RTL_CHANGE_UNKNOWN);
    for (int t = 62; t <= 85; t++) { /* the model keeps older snapshots, but compares with none of them */
        synth_record(p, a, 100000, 100);
        synth_tick(p, m, SECONDS(t));
        assert_true(!m->before || m->before->snapshot.taken_mono_ns >= m->zero->snapshot.taken_mono_ns);
    }
    assert_non_null(m->before);
    rtl_model_set_window(m, RTL_WINDOW_ALL);
    assert_null(m->before);
    rtl_model_set_window(m, RTL_WINDOW_INTERVAL);
    for (int t = 86; t <= 90; t++) {
        synth_record(p, a, t < 90 ? 100000 : 300000, 1000);
        synth_tick(p, m, SECONDS(t));
    }
    is(rtl_model_row(m, p->kernels[a].id)->change.p50, RTL_CHANGE_LONGER, "3.0x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(significant_changes_are_claimed),
        cmocka_unit_test(too_few_durations_claim_nothing),
        cmocka_unit_test(a_change_within_the_spread_is_not_claimed),
        cmocka_unit_test(changes_are_printed),
        cmocka_unit_test_setup_teardown(the_model_compares_its_windows, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
