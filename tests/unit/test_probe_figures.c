/* The numbers computed from a probe's state, for any state. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "command/probe_report.h"
#include "model/probe_figures.h"
#include "probing/stall_costs.h"

static void figures_of_a_probe_are_exact(void **state)
{
    (void)state;
    struct rtl_probe_state s = {.recorded = 4,
                                .duration_total_ns = 4000,
                                .waves = 100,
                                .sum = 500000,
                                .min = 3000,
                                .max = 9000,
                                .tails = 4,
                                .tail_total_ns = 800,
                                .tail_max_ns = 300};
    struct rtl_probe_figures f;
    s.durations[11] = 49;
    s.durations[12] = 50;
    s.durations[13] = 1;
    s.tail_ns[7] = 2;
    s.tail_ns[8] = 2;
    for (uint32_t u = 0; u < 8; u++)
        s.busy[u * 33 % 256] = 100 + (u == 5 ? 300 : u);
    rtl_probe_figures(&s, &f);
    assert_true(f.any);
    assert_int_equal(f.duration_mean_ns, 1000);
    assert_int_equal(f.wave_mean, 5000);
    assert_int_equal(f.first, 11);
    assert_int_equal(f.last, 13);
    assert_int_equal(f.most, 50);
    assert_string_equal(rtl_probe_cycles_text(f.p50).text, "4.10k-8.19k");
    s.durations[11]++; /* half of the waves, and not one more */
    rtl_probe_figures(&s, &f);
    assert_int_equal(f.p50.high, 8191);
    s.durations[11]++;
    rtl_probe_figures(&s, &f);
    assert_int_equal(f.p50.low, 3000); /* not below the minimum */
    assert_int_equal(f.p50.high, 4095);
    assert_int_equal(f.p99.low, 4096);
    assert_int_equal(f.units, 8);
    assert_int_equal(f.busy_max, 400);
    assert_int_equal(f.busy_mean, (7 * 100 + 400 + 0 + 1 + 2 + 3 + 4 + 6 + 7) / 8);
    assert_true(f.imbalance > 2.8 && f.imbalance < 2.9);
    assert_int_equal(f.hottest_count, RTL_PROBE_HOTTEST);
    assert_int_equal(f.hottest[0].unit, 5 * 33 % 256);
    assert_int_equal(f.hottest[1].cycles, 107);
    assert_int_equal(f.hottest[4].cycles, 103);
    assert_string_equal(rtl_probe_unit_name(0xbd, false).text, "se5 sh1 cu13");
    assert_false(f.dies.there || f.dies.busy);
    assert_string_equal(rtl_probe_times_text(f.tail_p50, RTL_UNIT_AUTO).text, "128ns-255ns");
    assert_true(f.tail_mean.low == 200 && f.tail_mean.high == 200);
    assert_true(rtl_probe_slower(&f, 500) == 2.0 && rtl_probe_slower(&f, 0) == 0.0);
}

/* Units of all dies are ranked together, and dies by the sum over their units. */
static void dies_are_ranked_by_their_sums(void **state)
{
    (void)state;
    struct rtl_probe_state s = {.recorded = 1, .waves = 8, .sum = 2000, .dies = 8};
    struct rtl_probe_figures f;
    rtl_probe_figures(&s, &f);
    assert_true(f.dies.there && !f.dies.busy && f.dies.imbalance <= 0);
    s.busy[0x21] = 100;
    s.busy[0xff] = 300;
    for (uint32_t die = 1; die < 6; die++)
        s.die[die - 1].busy[0x21] = die == 3 ? 700 : 180;
    s.die[6].busy[0x42] = 180;
    rtl_probe_figures(&s, &f);
    assert_int_equal(f.units, 8);
    assert_int_equal(f.busy_max, 700);
    assert_int_equal(f.busy_mean, 2000 / 8);
    assert_true(f.imbalance == 2.8);
    assert_int_equal(f.hottest[0].unit, 3 * RTL_PROBE_UNITS + 0x21);
    assert_int_equal(f.hottest[1].unit, 0xff);
    assert_string_equal(rtl_probe_unit_name(f.hottest[0].unit, f.dies.there).text, "xcc3 se1 sh0 cu1");
    assert_string_equal(rtl_probe_unit_name(RTL_PROBE_UNITS_ALL - 1, true).text, "xcc7 se7 sh1 cu15");
    assert_int_equal(f.dies.busy, 7);
    assert_int_equal(f.dies.of, 8);
    assert_int_equal(f.dies.cycles[0], 400);
    assert_int_equal(f.dies.cycles[6], 0);
    assert_int_equal(f.dies.cycles[7], 180);
    assert_int_equal(f.dies.hottest, 3);
    assert_int_equal(f.dies.max, 700);
    assert_int_equal(f.dies.mean, 2000 / 7);
    assert_true(f.dies.imbalance == 700 * 7 / 2000.0);
    s.dies = 1; /* the values there no longer count */
    rtl_probe_figures(&s, &f);
    assert_int_equal(f.units, 2);
    assert_int_equal(f.busy_max, 300);
    assert_false(f.dies.there || f.dies.busy);
}

static void empty_and_overflowing_figures_are_bounded(void **state)
{
    (void)state;
    struct rtl_probe_state s = {0};
    struct rtl_probe_figures f;
    rtl_probe_figures(&s, &f);
    assert_false(f.any || f.units || f.hottest_count || f.imbalance > 0);
    assert_true(f.last < f.first);
    memset(&s, 0xff, sizeof s);
    rtl_probe_figures(&s, &f);
    assert_int_equal(f.units, RTL_PROBE_UNITS_ALL);
    assert_int_equal(f.busy_mean, UINT64_MAX / RTL_PROBE_UNITS_ALL);
    assert_true(f.imbalance >= 1 && f.imbalance <= RTL_PROBE_UNITS_ALL);
    assert_int_equal(f.dies.busy, RTL_PROBE_DIES);
    assert_true(f.dies.mean == UINT64_MAX / RTL_PROBE_DIES && f.dies.imbalance >= 1);
    s.dies = 0;
    assert_true(strlen(rtl_probe_cycles_text(f.p99).text) > 0);
    memset(s.busy, 0, sizeof s.busy);
    s.busy[3] = s.busy[200] = 1ull << 63; /* their sum exceeds 64 bits */
    rtl_probe_figures(&s, &f);
    assert_true(f.imbalance >= 1 && f.imbalance <= 2 && f.busy_mean > 1ull << 62);
    s.durations[0] = s.durations[63] = UINT64_MAX;
    s.min = 1000000; /* a contradiction */
    s.max = 1;
    rtl_probe_figures(&s, &f);
    assert_true(f.p50.low <= f.p50.high && f.p99.low <= f.p99.high);
}

static void figures_show_gaps_between_waves(void **state)
{
    (void)state;
    struct rtl_probe_state s = {.recorded = 1, .waves = 100, .sum = 3000};
    struct rtl_probe_figures f;
    rtl_probe_figures(&s, &f);
    assert_true(!f.gaps && !f.gap_mean && f.gap_share <= 0); /* no gap was recorded */
    s.gap_sum = 1000;
    s.gaps[3] = 49;
    s.gaps[4] = 50;
    s.gaps[6] = 1;
    rtl_probe_figures(&s, &f);
    assert_int_equal(f.gaps, 100);
    assert_int_equal(f.gap_mean, 10);
    assert_int_equal(f.gap_p50.low, 16);
    assert_int_equal(f.gap_p50.high, 31);
    assert_int_equal(f.gap_p99.high, 31);
    assert_true(f.gap_share == 0.25);
    memset(&s, 0xff, sizeof s); /* any values of a process */
    rtl_probe_figures(&s, &f);
    assert_int_equal(f.gaps, UINT64_MAX);
    assert_true(f.gap_share == 0.5 && f.gap_p99.low <= f.gap_p99.high);
}

/* Half of the waves had ended within a known step; the time within the step is unknown. */
static void tails_are_known_to_a_step(void **state)
{
    (void)state;
    struct rtl_probe_state s = {
        .recorded = 5, .tails = 4, .tail_total_ns = 6000, .tail_max_ns = 3000, .tail_step_ns = 1000};
    struct rtl_probe_figures f;
    s.tail_ns[9] = 1;
    s.tail_ns[11] = 3;
    rtl_probe_figures(&s, &f);
    assert_string_equal(rtl_probe_times_text(f.tail_p50, RTL_UNIT_AUTO).text, "1.05µs-3.00µs");
    assert_string_equal(rtl_probe_times_text(f.tail_mean, RTL_UNIT_AUTO).text, "500ns-1.50µs");
    assert_string_equal(rtl_probe_times_text(f.tail_max, RTL_UNIT_AUTO).text, "2.00µs-3.00µs");
    assert_int_equal(f.tail_longest_ns, 255000);
    s.tail_step_ns = 3000; /* the result may be zero */
    rtl_probe_figures(&s, &f);
    assert_string_equal(rtl_probe_times_text(f.tail_p50, RTL_UNIT_AUTO).text, "up to 3.00µs");
    assert_string_equal(rtl_probe_times_text(f.tail_max, RTL_UNIT_NS).text, "up to 3000ns");
    s.tail_step_ns = UINT64_MAX / 2; /* of a hostile process */
    rtl_probe_figures(&s, &f);
    assert_true(f.tail_longest_ns == UINT64_MAX && !f.tail_mean.low && f.tail_mean.high == 1500);
    s = (struct rtl_probe_state){.recorded = 5};
    rtl_probe_figures(&s, &f);
    assert_true(!f.tail_p50.high && !f.tail_max.high && !f.tail_longest_ns);
}

/* One dispatch in ten takes ten times as long. The median doesn't show it, and a probe without cost would look
 * expensive.
 */
static void other_dispatches_are_compared_by_their_mean(void **state)
{
    (void)state;
    struct rtl_octave old = {.octave = 1, .bucket = {50}}, new = {.octave = 1, .bucket = {150}};
    const struct rtl_histogram_copy before = {.count = 50, .total_ns = 50 * 400, .octave_count = 1, .octaves = &old};
    const struct rtl_histogram_copy after = {
        .count = 150, .total_ns = 50 * 400 + 90 * 100 + 10 * 1000, .octave_count = 1, .octaves = &new};
    struct rtl_probe_figures f = {.any = true, .duration_mean_ns = 190};
    assert_int_equal(rtl_probe_others_ns(&before, &after), 190);
    assert_int_equal(rtl_probe_others_ns(NULL, &before), 400);
    assert_int_equal(rtl_probe_others_ns(&after, &after), 0);
    assert_int_equal(rtl_probe_others_ns(&after, &before), 0); /* of another process */
    assert_true(rtl_probe_slower(&f, rtl_probe_others_ns(&before, &after)) == 1.0);
    assert_true(rtl_probe_slower(&f, 0) == 0.0);
}

/* --- as text --- */

static const char *report(const struct rtl_probe_session *session)
{
    static char text[8000];
    const struct rtl_probe_report r = {.title = "a program", .name = "gemm", .mangled = "gemm", .session = session};
    fflush(stdout);
    int to = memfd_create("report", 0), before = dup(STDOUT_FILENO);
    assert_true(to >= 0 && before >= 0 && dup2(to, STDOUT_FILENO) >= 0);
    bool printed = rtl_probe_report_text(&r);
    fflush(stdout);
    dup2(before, STDOUT_FILENO);
    ssize_t length = pread(to, text, sizeof text - 1, 0);
    close(before);
    close(to);
    assert_true(printed && length > 0);
    text[length] = 0;
    return text;
}

static void without_recorded_waves_figures_are_empty(void **state)
{
    (void)state;
    struct rtl_probe_session session = {.finding = true, .probing = {.counted = true}};
    struct rtl_probe_state *s = &session.probing.state;
    s->dispatches = s->probed = s->recorded = 3;
    s->duration_total_ns = 3000;
    s->waves_expected = 512;
    const char *text = report(&session);
    assert_non_null(strstr(text, "duration  mean 1.00µs"));
    assert_non_null(strstr(text, "waves     0 of 512 expected: none has recorded its end; "));
    assert_null(strstr(text, "cycles"));
    s->waves = 512;
    s->sum = s->durations[10] = 512;
    assert_non_null(strstr(report(&session), "waves     512 of 512 expected; cycles: mean 1,"));
    assert_non_null(strstr(report(&session), "\ntail      not known (0 of 3 dispatches)\n"));
    s->tail_step_ns = 80;
    assert_non_null(strstr(report(&session), "(0 of 3 dispatches; the others lasted longer than 20.4µs)\n"));
    s->tails = s->tail_ns[4] = 2;
    s->tail_max_ns = 70;
    assert_non_null(
        strstr(report(&session),
               "\ntail      p50 up to 31ns, max up to 70ns, from half of the waves' ends to the last (2 of 3 "
               "dispatches, steps of 80ns; the others lasted longer than 20.4µs)\n"));
    s->tails = 3;
    assert_non_null(strstr(report(&session), "(3 of 3 dispatches, steps of 80ns)\n"));
    assert_null(strstr(report(&session), "gaps"));
    s->gap_sum = 1024;
    s->gaps[2] = 200;
    assert_non_null(strstr(report(&session),
                           "gaps      66.7 % of the time of wave slots, from a wave's end to the next "
                           "one's begin; cycles: mean 5, p50 4-7, p99 4-7 (200 gaps)\n"));
    s->busy[0xbd] = 100;
    assert_non_null(strstr(report(&session), "\n  se5 sh1 cu13        100\n"));
    assert_null(strstr(report(&session), "dies "));
    s->dies = RTL_PROBE_DIES;
    s->die[1].busy[0x21] = 300;
    assert_non_null(strstr(report(&session),
                           "\n  xcc2 se1 sh0 cu1      300\n  xcc0 se5 sh1 cu13     100\n"
                           "dies      2 of up to 8 had waves; cycles: mean 200, max 300 (xcc2), imbalance 1.50\n"));
}

static void stalls_of_several_copies_are_added(void **unused)
{
    (void)unused;
    struct rtl_stall_costs s = {0};
    struct rtl_probe_patch patch = {.waits = 5, .rounds = 2, .timed = 3};
    struct rtl_probe_state state = {.recorded = 2, .duration_total_ns = 2000, .waves = 10, .sum = 1000};
    static const uint64_t first[] = {80, 10, 100, 10, 0, 0, 900, 50}, second[] = {40, 5, 100, 1, 300, 10};
    for (uint32_t i = 0; i < 3; i++)
        patch.wait[i] = (struct rtl_probe_wait){.at = 40 - 8 * i};
    memcpy(state.busy, first, sizeof first);
    assert_true(rtl_stall_costs_add(&s, &patch, &state));
    patch.waits = 6; /* another kernel's */
    assert_false(rtl_stall_costs_add(&s, &patch, &state));
    patch.waits = 5;
    assert_false(rtl_stall_costs_add(&s, &patch, &state)); /* more than there are */
    patch.timed = 2;
    for (uint32_t i = 0; i < 2; i++)
        patch.wait[i] = (struct rtl_probe_wait){.at = 4 + 4 * i};
    memset(state.busy, 0, sizeof state.busy);
    memcpy(state.busy, second, sizeof second);
    assert_true(rtl_stall_costs_add(&s, &patch, &state));
    rtl_stall_costs_rank(&s);
    assert_int_equal(s.timed, 5);
    assert_int_equal(s.copies, 2);
    assert_int_equal(s.recorded, 4);
    assert_int_equal(s.waves, 20);
    static const uint32_t order[] = {24, 8, 4, 40, 32};
    static const double shares[] = {0.9, 0.3, 0.1, 0.1, 0}, means[] = {18, 30, 100, 10, 0};
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(s.wait[i].place.at, order[i]);
        assert_float_equal(s.wait[i].share, shares[i], 1e-9);
        assert_float_equal(s.wait[i].mean, means[i], 1e-9);
    }
    assert_float_equal(rtl_probe_clock_cycles(&s), 8, 1e-9);
    rtl_stall_costs_free(&s);
}

/* Each die has the sums of its own waves. */
static void stalls_of_dies_are_added(void **unused)
{
    (void)unused;
    struct rtl_stall_costs s = {0};
    const struct rtl_probe_patch patch = {.waits = 1, .rounds = 1, .timed = 1};
    struct rtl_probe_state state = {.recorded = 1, .waves = 36, .sum = 14400, .dies = RTL_PROBE_DIES};
    for (uint64_t die = 0; die < RTL_PROBE_DIES; die++) {
        uint64_t *pair = die ? state.die[die - 1].busy : state.busy;
        pair[0] = 8 * (die + 1);
        pair[1] = die + 1;
        pair[2] = 100 * (die + 1);
        pair[3] = 2 * (die + 1);
    }
    assert_true(rtl_stall_costs_add(&s, &patch, &state));
    assert_int_equal(s.wait[0].passes, 72);
    assert_int_equal(s.wait[0].cycles, 3600);
    assert_true(s.wait[0].mean == 50 && s.wait[0].share == 0.25);
    assert_true(rtl_probe_clock_cycles(&s) == 8);
    rtl_stall_costs_free(&s);
}

/* A copy without results has no stalls; a copy whose waves recorded nothing has no shares. */
static void unknown_stalls_have_no_shares(void **unused)
{
    (void)unused;
    struct rtl_stall_costs s = {0};
    struct rtl_probe_patch patch = {.waits = 3, .rounds = 3, .timed = 1};
    struct rtl_probe_state state = {.dispatches = 7};
    assert_string_equal(rtl_stall_costs_missing(&s).text, "");
    assert_true(rtl_stall_costs_add(&s, &patch, &state));
    assert_true(s.rounds == 3 && !s.copies && !s.timed && s.dispatches == 7);
    assert_string_equal(rtl_stall_costs_missing(&s).text, "");
    state.recorded = 2;
    assert_true(rtl_stall_costs_add(&s, &patch, &state));
    assert_true(s.copies == 1 && s.timed == 1 && !s.wait[0].known);
    assert_string_equal(rtl_stall_costs_missing(&s).text, "copies 2 to 3 of 3 are missing: ");
    state.waves = state.sum = 100;
    assert_true(rtl_stall_costs_add(&s, &patch, &state));
    assert_true(s.timed == 2 && s.wait[1].known && !s.wait[1].share);
    assert_string_equal(rtl_stall_costs_missing(&s).text, "copy 3 of 3 is missing: ");
    rtl_stall_costs_rank(&s);
    assert_true(s.wait[0].known && !s.wait[1].known);
    assert_true(rtl_stall_costs_add(&s, &patch, &state));
    assert_string_equal(rtl_stall_costs_missing(&s).text, "");
    rtl_stall_costs_free(&s);
}

/* The progress never goes back, and never exceeds the end. */
static void the_progress_of_stalls_never_goes_back(void **unused)
{
    (void)unused;
    struct rtl_stall_costs s = {0};
    uint64_t before = 0;
    for (uint32_t round = 0; round < 3; round++) {
        for (uint64_t recorded = 0; recorded <= 21; recorded += 7) {
            struct rtl_stall_costs_progress far = rtl_stall_costs_progress(&s, recorded ? 3 : 0, recorded, 20);
            assert_true(far.done >= before && far.done <= far.total);
            assert_true(far.total == 60 || (!round && !recorded));
            assert_int_equal(far.done, round * 20 + (recorded < 20 ? recorded : 20));
            before = far.done;
        }
        s.rounds = 3;
        s.copies++;
        s.recorded += 20;
    }
    assert_int_equal(rtl_stall_costs_progress(&s, 3, 20, 20).done, 60);
}

/* With any values of a process, shares are valid and no sum overflows. */
static void impossible_stalls_are_bounded(void **unused)
{
    (void)unused;
    struct rtl_stall_costs s = {0};
    struct rtl_probe_patch patch = {.waits = 4, .rounds = 2, .timed = 2};
    struct rtl_probe_state state = {.recorded = UINT64_MAX, .waves = UINT64_MAX, .sum = 1};
    memset(state.busy, 0xff, sizeof state.busy);
    assert_true(rtl_stall_costs_add(&s, &patch, &state));
    state.sum = 0;
    assert_true(rtl_stall_costs_add(&s, &patch, &state));
    rtl_stall_costs_rank(&s);
    assert_true(s.clock_cycles == UINT64_MAX && s.recorded == UINT64_MAX && s.waves == UINT64_MAX);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(s.wait[i].share == (i < 2 ? 1 : 0) && s.wait[i].mean == 1);
    rtl_stall_costs_free(&s);
    rtl_stall_costs_rank(&(struct rtl_stall_costs){0});
    assert_true(rtl_probe_clock_cycles(&(struct rtl_stall_costs){0}) == 0);
}

static void stalls_are_printed(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t word;
        const char *text;
    } cases[] = {{0xbf8c0f70, "s_waitcnt vmcnt(0)"},
                 {0xbf8cc07f, "s_waitcnt lgkmcnt(0)"},
                 {0xbf8c0000, "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)"},
                 {0xbf8c4f72, "s_waitcnt vmcnt(18)"},
                 {0xbf8ccf7f, "s_waitcnt"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(rtl_probe_wait_text(cases[i].word).text, cases[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stalls_of_several_copies_are_added),
        cmocka_unit_test(stalls_of_dies_are_added),
        cmocka_unit_test(unknown_stalls_have_no_shares),
        cmocka_unit_test(the_progress_of_stalls_never_goes_back),
        cmocka_unit_test(impossible_stalls_are_bounded),
        cmocka_unit_test(stalls_are_printed),
        cmocka_unit_test(figures_of_a_probe_are_exact),
        cmocka_unit_test(dies_are_ranked_by_their_sums),
        cmocka_unit_test(empty_and_overflowing_figures_are_bounded),
        cmocka_unit_test(figures_show_gaps_between_waves),
        cmocka_unit_test(tails_are_known_to_a_step),
        cmocka_unit_test(other_dispatches_are_compared_by_their_mean),
        cmocka_unit_test(without_recorded_waves_figures_are_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
