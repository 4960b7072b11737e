/* The cost of a step: parts, idle time, the window before, marks of the user, several processes, and the line of text.
 */
#include "steps_fixture.h"

#include "model/merge.h"
#include "serve/fleet.h"
#include "text/text.h"

#define MS(part) ((part).ns / 1e6)

static void near_to(double value, double wanted, double by)
{
    if (value < wanted * (1 - by) || value > wanted * (1 + by))
        fail_msg("%g is not within %g%% of %g", value, by * 100, wanted);
}

static void decode_for(uint64_t seconds)
{
    uint64_t until = now_ns + seconds * RTL_SEC;
    while (now_ns < until)
        decode(256, "argmax_kernel");
}

/* 16 layers: gemms 16 * (152 + 152 + 208) + 540, attention 16 * (171 + 6), norm 16 * 16 + 42; the host takes 900. */
static void parts_are_times_and_dispatches_of_a_step(void **state)
{
    (void)state;
    decode_for(24);
    const struct rtl_steps *s = &m->steps;
    assert_true(s->known && s->whole.known && s->idle.known);
    near_to(MS(s->whole), 13.06, 0.01);
    near_to(MS(s->families[RTL_FAMILY_GEMM]), 8.73, 0.01);
    near_to(s->families[RTL_FAMILY_GEMM].runs, 3 * LAYERS + 1, 0.01);
    near_to(MS(part_of("paged_attention_Li256")), 2.736, 0.01);
    near_to(part_of("argmax_kernel").runs, 1, 0.001);
    near_to(MS(s->idle), 0.9, 0.05);
    near_to(s->whole.runs, 8 * LAYERS + 4, 0.01);
    double share = s->idle.share;
    for (int f = 0; f < RTL_FAMILY_COUNT; f++)
        share += s->families[f].share;
    near_to(share, 1, 0.01);
    near_to(s->gpus, 1, 0);
    assert_int_equal(s->ranks, 1);
    assert_false(m->estimated);
    assert_true(s->untimed == 0);
}

static void a_step_that_stays_as_it_was_does_not_change(void **state)
{
    (void)state;
    decode_for(30);
    assert_int_equal(m->steps.whole.change.kind, RTL_CHANGE_SAME);
    assert_int_equal(m->steps.idle.change.kind, RTL_CHANGE_SAME);
    for (uint32_t i = 0; i < m->steps.lines; i++)
        assert_true(m->step_lines[i].part.change.kind <= RTL_CHANGE_SAME);
    assert_int_equal(part_of("argmax_kernel").change.kind, RTL_CHANGE_SAME);
}

static void a_kernel_that_runs_more_often_in_a_step_is_a_change(void **state)
{
    (void)state;
    decode_for(20);
    for (uint64_t until = now_ns + 10 * RTL_SEC; now_ns < until;) {
        for (int i = 0; i < LAYERS; i++)
            run("vllm_rms_norm_kernel", 70000);
        decode(256, "argmax_kernel");
    }
    assert_int_equal(part_of("vllm_rms_norm_kernel").change.kind, RTL_CHANGE_LONGER);
    assert_int_equal(m->steps.families[RTL_FAMILY_NORM].change.kind, RTL_CHANGE_LONGER);
    assert_int_equal(m->steps.families[RTL_FAMILY_GEMM].change.kind, RTL_CHANGE_SAME);
    assert_int_equal(m->steps.whole.change.kind, RTL_CHANGE_LONGER);
    near_to(m->steps.whole.change.ratio, (13.06 + 1.12) / 13.06, 0.02);
}

static void bursts_of_prompts_are_no_change(void **state)
{
    (void)state;
    serve(40, "argmax_kernel");
    assert_true(m->steps.known);
    assert_true(part_of("triton_red_fused_add_mean_mul_pow_rsqrt_3").change.kind <= RTL_CHANGE_SAME);
    assert_true(part_of("attn_fwd_0d1d2d3d4d5c6c7c8c").change.kind <= RTL_CHANGE_SAME);
}

static void few_steps_are_not_compared(void **state)
{
    (void)state;
    assert_true(rtl_model_mark_step(m, "argmax_kernel"));
    for (int i = 0; i < 25; i++) {
        decode(256, "argmax_kernel");
        pass(RTL_SEC);
    }
    assert_true(m->steps.known && m->steps.runs < 30);
    assert_int_equal(m->steps.whole.change.kind, RTL_CHANGE_UNKNOWN);
}

static void untimed_kernels_have_no_time(void **state)
{
    (void)state;
    int k = kernel_of("never_timed");
    for (uint64_t until = now_ns + 12 * RTL_SEC; now_ns < until;) {
        synth_untimed(p, k, RTL_UNTIMED_OWN_SIGNAL, 11);
        decode(256, "argmax_kernel");
    }
    struct rtl_step_part part = part_of("never_timed");
    assert_false(part.known);
    near_to(part.runs, 11, 0.01);
    near_to(m->steps.untimed, 11.0 / 143, 0.01);
    assert_true(m->steps.idle.known);
    assert_false(m->steps.families[rtl_family_of(m, &m->rows[0])].known);
}

static void idle_time_is_unknown_if_many_kernels_are_not_timed(void **state)
{
    (void)state;
    int k = kernel_of("never_timed");
    for (uint64_t until = now_ns + 12 * RTL_SEC; now_ns < until;) {
        synth_untimed(p, k, RTL_UNTIMED_OWN_SIGNAL, 40);
        decode(256, "argmax_kernel");
    }
    assert_true(m->steps.known);
    assert_false(m->steps.idle.known);
}

/* --- marks of the user --- */

static void an_exact_name_goes_before_a_part_of_a_name(void **state)
{
    (void)state;
    for (uint64_t until = now_ns + 12 * RTL_SEC; now_ns < until;) {
        run("argmax_kernel_of_a_part", 5000);
        run("argmax_kernel_of_a_part", 5000);
        decode(256, "argmax_kernel");
    }
    assert_true(rtl_model_mark_step(m, "argmax_kernel"));
    near_to(MS(m->steps.whole), 13.06, 0.01);
    assert_true(rtl_model_mark_step(m, "argmax"));
    near_to(MS(m->steps.whole), 13.06 / 3, 0.01);
    assert_true(rtl_model_mark_step(m, "Cijk_Alik_Bljk_BBS_BH_MT64x32x256_MI32x32x1"));
    assert_true(m->steps.known && m->steps.marked);
    near_to(MS(m->steps.whole), 13.06, 0.01);
    assert_true(rtl_model_mark_step(m, "PAGED_ATTENTION"));
    assert_true(m->steps.known);
    near_to(MS(m->steps.whole), 13.06 / LAYERS, 0.01);
    assert_true(rtl_model_mark_step(m, "_MT")); /* several kernels: each begins a step */
    assert_string_equal(m->steps.marker, "_MT");
    near_to((double)m->steps.runs, 10e9 / 13.06e6 * (3 * LAYERS + 1), 0.01);
    assert_true(rtl_model_mark_step(m, NULL));
    assert_string_equal(m->steps.marker, "argmax_kernel");
    assert_false(m->steps.marked);
}

static void a_mark_that_nothing_matches_says_so(void **state)
{
    (void)state;
    decode_for(2);
    assert_true(rtl_model_mark_step(m, "no such\033 kernel"));
    assert_false(m->steps.known);
    assert_string_equal(m->steps.marker, "no such\\x1b kernel");
    assert_string_equal(m->steps.trouble, "no range or kernel of this name has run so far");
    assert_true(rtl_model_mark_step(m, "argmax_kernel"));
    pass(60 * RTL_SEC);
    assert_false(m->steps.known);
    assert_string_equal(m->steps.trouble, "the marker did not run in the window");
}

static void a_range_of_the_name_goes_before_a_kernel(void **state)
{
    (void)state;
    ranged = true;
    int range = synth_call(&calls, RTL_HIP_API_RANGE, "sample");
    assert_true(rtl_model_mark_step(m, "sample"));
    while (now_ns < 12 * RTL_SEC) {
        decode(256, "sample");
        decode(256, "sample");
        synth_add(&calls.rows[range].h, 26000000, 1);
    }
    assert_true(m->steps.known && m->steps.marker_key & RTL_STEP_RANGE);
    near_to(MS(m->steps.whole), 2 * 13.06, 0.02);
    near_to(part_of("sample").runs, 2, 0.02);
}

/* --- several processes --- */

static struct rtl_merge *merge;

/* Merge three ranks on their own GPUs: the second is half as fast, the third has no sampler. */
static void merge_ranks(uint64_t seconds)
{
    static const char *const labels[] = {"TP0", "TP1", "other"};
    struct synth *ranks[3];
    merge = rtl_merge_create();
    assert_non_null(merge);
    for (int i = 0; i < 3; i++) {
        struct rtl_member_info info = {.pid = 100 + i, .rank = i};
        snprintf(info.label, sizeof info.label, "%s", labels[i]);
        ranks[i] = synth_create(1, 1);
        synth_kernel(ranks[i], "Cijk_MT128x128x64");
        synth_kernel(ranks[i], "argmax_kernel");
        rtl_merge_join(merge, &info);
    }
    for (uint64_t t = 1; t <= 2 * seconds; t++) {
        struct rtl_snapshot s;
        for (int i = 0; i < 3; i++) {
            uint64_t tokens = i == 1 ? 25 : 50;
            synth_record(ranks[i], 0, 100000, tokens * 50);
            synth_record(ranks[i], 1, 20000, i < 2 ? tokens : 0);
            ranks[i]->busy_ns[0] += tokens * 5000000 + tokens * 20000;
            struct rtl_snapshot one = synth_snapshot(ranks[i], t * RTL_SEC / 2);
            one.agents[0].bdf = 0x0300u + ((uint32_t)i << 8);
            assert_true(rtl_merge_update(merge, (uint32_t)i, &one));
            rtl_snapshot_free(&one);
        }
        assert_true(rtl_merge_make(merge, SYNTH_START + t * RTL_SEC / 2, &s));
        assert_true(rtl_model_add(m, &s, 1000 * RTL_SEC + t));
    }
    for (int i = 0; i < 3; i++)
        synth_free(ranks[i]);
}

static int end_merge(void **state)
{
    (void)state;
    rtl_model_free(m);
    rtl_merge_free(merge);
    synth_free(p);
    return 0;
}

static void numbers_are_means_of_the_ranks_that_ran_the_marker(void **state)
{
    (void)state;
    assert_true(rtl_model_mark_step(m, "argmax_kernel"));
    merge_ranks(12);
    const struct rtl_steps *s = &m->steps;
    assert_true(s->known && s->others);
    assert_int_equal(s->ranks, 2);
    near_to(MS(s->whole), 1000.0 / 75, 0.01); /* 100 and 50 a second */
    near_to(MS(s->families[RTL_FAMILY_GEMM]), 5, 0.01);
    near_to(s->families[RTL_FAMILY_GEMM].runs, 50, 0.01);
    near_to(s->gpus, 1, 0);
    near_to(MS(s->idle), (2000 - 150 * 5.02) / 150, 0.02);
}

static void each_rank_has_its_own_step(void **state)
{
    (void)state;
    assert_true(rtl_model_mark_step(m, "argmax_kernel"));
    merge_ranks(12);
    const struct rtl_step_line *lines = m->step_lines;
    uint32_t count = m->steps.lines, first = 0;
    while (first < count && lines[first].kind != RTL_STEP_RANK)
        first++;
    assert_int_equal(count - first, 3);
    assert_string_equal(lines[first].member->name, "TP1");
    near_to(MS(lines[first].part), 20, 0.01);
    assert_string_equal(lines[first + 1].member->name, "TP0");
    near_to(MS(lines[first + 1].part), 10, 0.01);
    near_to(lines[first + 1].part.runs, 51, 0.01);
    near_to(lines[first + 1].part.share, 0.502, 0.01);
    assert_false(lines[first + 2].part.known); /* without the marker */
}

/* --- rtl-top serve --- */

static void a_server_counts_steps_between_its_pages(void **state)
{
    struct rtl_served_steps automatic = {.kernel = 0}, named = {.kernel = 0};
    (void)state;
    serve(12, "argmax_kernel");
    for (int page = 0; page < 12; page++) { /* the model's snapshots lie between the pages */
        struct rtl_snapshot s = synth_snapshot(p, now_ns);
        rtl_served_steps_add(&automatic, &s, NULL);
        rtl_served_steps_add(&named, &s, "MT64x32");
        assert_int_equal(named.mean_ns != 0, page > 0);
        rtl_snapshot_free(&s);
        serve(1, "argmax_kernel");
    }
    assert_true(automatic.kernel && named.kernel && named.runs > 800);
    near_to((double)automatic.runs, (double)named.runs, 0.01);
    near_to((double)automatic.mean_ns, 14.2e6, 0.15);
    uint64_t mean = automatic.mean_ns, at = automatic.at_ns;
    struct rtl_snapshot s = synth_snapshot(p, now_ns);
    rtl_served_steps_add(&automatic, &s, NULL);
    assert_true(automatic.at_ns > at);
    mean = automatic.mean_ns;
    rtl_served_steps_add(&automatic, &s, NULL); /* no step since: the last mean stays */
    assert_int_equal(automatic.mean_ns, mean);
    s.kernel_count = 0; /* another process with this place */
    rtl_served_steps_add(&automatic, &s, NULL);
    assert_false(automatic.kernel);
    rtl_snapshot_free(&s);
    rtl_step_log_forget(&automatic.log);
    rtl_step_log_forget(&named.log);
}

/* --- lists and text --- */

static void families_come_by_time_with_their_kernels(void **state)
{
    char text[1024] = "";
    (void)state;
    decode_for(12);
    const struct rtl_step_line *lines = m->step_lines;
    for (uint32_t i = 0; i < m->steps.lines; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s\n",
                 lines[i].kind == RTL_STEP_KERNEL ? "  " : "",
                 lines[i].kind == RTL_STEP_IDLE     ? "idle"
                 : lines[i].kind == RTL_STEP_FAMILY ? rtl_name_family_name(lines[i].family)
                                                    : lines[i].row->kernel->name);
    assert_string_equal(text, "gemm\n  Cijk_Alik_Bljk_BBS_BH_MT128x128x64_MI16x16x1\n"
                              "  Cijk_Alik_Bljk_BBS_BH_MT16x16x512_MI16x16x1\n"
                              "  Cijk_Alik_Bljk_BBS_BH_MT64x32x256_MI32x32x1\n"
                              "attention\n  paged_attention_Li256\n  vllm_rotary_embedding_kernel\n"
                              "idle\n"
                              "norm\n  vllm_fused_add_rms_norm_kernel\n  vllm_rms_norm_kernel\n  softmax_warp_forward\n"
                              "elementwise\n  vllm_act_and_mul_kernel\n  triton_poi_fused_embedding_0\n"
                              "sampling\n  argmax_kernel\n");
}

static void text_is(int columns, const char *wanted)
{
    char text[256];
    rtl_steps_text(m, RTL_UNIT_AUTO, columns, false, text, sizeof text);
    assert_string_equal(text, wanted);
    assert_true(rtl_text_columns(text) <= columns);
}

static void the_line_has_as_many_parts_as_fit(void **state)
{
    (void)state;
    decode_for(12);
    text_is(160, "13.0ms a step: gemm 8.73, attention 2.83, idle 0.900, norm 0.298, elementwise 0.216 (76.7/s, "
                 "automatic: argmax_kernel)");
    text_is(80, "13.0ms a step: gemm 8.73, attention 2.83, idle 0.900 (automatic: argmax_kernel)");
    text_is(60, "13.0ms a step: gemm 8.73 (automatic: argmax_ker…)");
    text_is(40, "13.0ms a step: gemm 8.73, attention 2.83");
}

static void the_line_says_what_is_missing(void **state)
{
    (void)state;
    int k = kernel_of("never_timed");
    for (uint64_t until = now_ns + 12 * RTL_SEC; now_ns < until;) {
        synth_untimed(p, k, RTL_UNTIMED_OWN_SIGNAL, 18);
        decode(256, "argmax_kernel");
    }
    assert_true(rtl_model_mark_step(m, "argmax_kernel"));
    text_is(100, "13.0ms a step, 12% not timed: gemm 8.73, attention 2.83, norm 0.298 (76.7/s, argmax_kernel)");
}

int main(void)
{
#define TEST(name)  cmocka_unit_test_setup_teardown(name, begin, end_program)
#define MERGE(name) cmocka_unit_test_setup_teardown(name, begin, end_merge)
    const struct CMUnitTest tests[] = {
        TEST(parts_are_times_and_dispatches_of_a_step),
        TEST(a_step_that_stays_as_it_was_does_not_change),
        TEST(a_kernel_that_runs_more_often_in_a_step_is_a_change),
        TEST(bursts_of_prompts_are_no_change),
        TEST(few_steps_are_not_compared),
        TEST(untimed_kernels_have_no_time),
        TEST(idle_time_is_unknown_if_many_kernels_are_not_timed),
        TEST(an_exact_name_goes_before_a_part_of_a_name),
        TEST(a_mark_that_nothing_matches_says_so),
        TEST(a_range_of_the_name_goes_before_a_kernel),
        MERGE(numbers_are_means_of_the_ranks_that_ran_the_marker),
        MERGE(each_rank_has_its_own_step),
        TEST(a_server_counts_steps_between_its_pages),
        TEST(families_come_by_time_with_their_kernels),
        TEST(the_line_has_as_many_parts_as_fit),
        TEST(the_line_says_what_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
