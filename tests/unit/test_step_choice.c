/* The automatic choice of what marks a step: series of real programs' kernels, and programs that have no marker.
 */
#include "steps_fixture.h"

static void marked_by(const char *name)
{
    if (!name && m->steps.known)
        fail_msg("steps are marked by '%s', and should not be", m->steps.marker);
    if (name && (!m->steps.known || strcmp(m->steps.marker, name)))
        fail_msg("steps are marked by '%s', not by '%s'", m->steps.known ? m->steps.marker : "nothing", name);
}

static void a_server_is_marked_by_the_kernel_that_samples(void **state)
{
    (void)state;
    serve(20, "top_k_top_p_sampling_kernel");
    marked_by("top_k_top_p_sampling_kernel");
    assert_false(m->steps.marked);
    assert_in_range(m->steps.total, seen_steps, seen_steps + 1);
}

static void the_choice_is_made_within_five_seconds(void **state)
{
    (void)state;
    prefill();
    while (now_ns < 5 * RTL_SEC)
        decode(256, "argmax_kernel");
    marked_by("argmax_kernel");
}

static void argmax_goes_before_a_sampler_that_runs_as_often(void **state)
{
    (void)state;
    while (now_ns < 8 * RTL_SEC) {
        run("argmax_kernel", 10000);
        decode(256, "topk_sampling_kernel");
    }
    marked_by("argmax_kernel");
}

static void llama_which_gathers_three_times_a_token_is_not_marked(void **state)
{
    (void)state;
    llama(30);
    marked_by(NULL);
}

/* Experts are chosen in each layer by a kernel with the name of a sampler. */
static void a_choice_of_experts_is_no_step(void **state)
{
    (void)state;
    while (now_ns < 60 * RTL_SEC) {
        run("embedding", 9000);
        for (int layer = 0; layer < LAYERS; layer++) {
            run("topk_softmax", 9000);
            run("Cijk_MT16x16x512", 2200000);
            run("add_rms_norm", 9000);
        }
        steps++;
    }
    marked_by(NULL);
}

static void a_misleading_name_is_no_sampler(void **state)
{
    (void)state;
    while (now_ns < 10 * RTL_SEC) {
        run("upsample_nearest2d", 900000);
        run("convolution", 9000000);
        run("convolution", 9000000);
    }
    marked_by(NULL);
}

static void a_kernel_of_every_tenth_step_postpones_nothing_wrong(void **state)
{
    (void)state;
    while (now_ns < 30 * RTL_SEC) {
        decode(256, NULL);
        if (steps % 10 == 0)
            run("log_statistics", 9000);
    }
    /* either the kernel of every tenth step or those of each step mark steps: nothing tells them apart */
    marked_by(NULL);
}

static void a_program_of_one_kernel_has_no_steps(void **state)
{
    (void)state;
    while (now_ns < 10 * RTL_SEC)
        run("vector_add", 1000000);
    marked_by(NULL);
}

static void kernels_at_random_have_no_steps(void **state)
{
    static const char *const names[] = {"random_sampler", "a", "b", "c", "d", "e"};
    (void)state;
    while (now_ns < 30 * RTL_SEC)
        run(names[draw_number(6)], 400000);
    marked_by(NULL);
}

static void a_pause_keeps_the_choice(void **state)
{
    (void)state;
    serve(10, "argmax_kernel");
    uint64_t choice = m->step_log.choice;
    pass(60 * RTL_SEC);
    marked_by(NULL); /* no step in the window */
    assert_true(m->step_log.choice == choice);
    serve(3, "argmax_kernel");
    marked_by("argmax_kernel");
}

static void going_back_forgets_the_choice(void **state)
{
    (void)state;
    serve(10, "argmax_kernel");
    rtl_model_forget(m, SYNTH_START);
    marked_by(NULL);
    assert_true(!m->step_log.choice);
}

/* --- ranges --- */

static int step_range, layer_range;

static void train(uint64_t seconds, bool outer, bool inner)
{
    ranged = true;
    step_range = outer ? synth_call(&calls, RTL_HIP_API_RANGE, "iteration") : -1;
    layer_range = inner ? synth_call(&calls, RTL_HIP_API_RANGE, "layer") : -1;
    uint32_t iteration = outer ? synth_node(&calls, 0, "iteration") : 0;
    int forward = outer ? synth_call(&calls, RTL_HIP_API_RANGE, "forward") : 0;
    if (outer)
        synth_node(&calls, iteration, "forward");
    if (inner)
        synth_node(&calls, iteration, "layer");
    while (now_ns < seconds * RTL_SEC) {
        uint64_t begun = now_ns;
        run("embedding", 20000);
        for (int layer = 0; layer < LAYERS; layer++) {
            run("gemm_forward", 800000);
            run("gemm_backward", 1600000);
            if (inner)
                synth_add(&calls.rows[layer_range].h, 2400000, 1);
        }
        run("multi_tensor_apply", 90000);
        run("multi_tensor_apply", 90000);
        if (outer) {
            synth_add(&calls.rows[forward].h, 12800000, 1);
            synth_add(&calls.rows[step_range].h, now_ns - begun, 1);
        }
        steps++;
    }
}

static void the_outermost_range_marks_steps(void **state)
{
    (void)state;
    train(12, true, true);
    marked_by("iteration");
    assert_true(m->steps.marker_key & RTL_STEP_RANGE);
    assert_int_equal(m->steps.total, seen_steps);
}

static void a_range_around_each_layer_does_not(void **state)
{
    (void)state;
    train(30, false, true);
    marked_by(NULL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end_program)
    const struct CMUnitTest tests[] = {
        TEST(a_server_is_marked_by_the_kernel_that_samples),
        TEST(the_choice_is_made_within_five_seconds),
        TEST(argmax_goes_before_a_sampler_that_runs_as_often),
        TEST(llama_which_gathers_three_times_a_token_is_not_marked),
        TEST(a_choice_of_experts_is_no_step),
        TEST(a_misleading_name_is_no_sampler),
        TEST(a_kernel_of_every_tenth_step_postpones_nothing_wrong),
        TEST(a_program_of_one_kernel_has_no_steps),
        TEST(kernels_at_random_have_no_steps),
        TEST(a_pause_keeps_the_choice),
        TEST(going_back_forgets_the_choice),
        TEST(the_outermost_range_marks_steps),
        TEST(a_range_around_each_layer_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
