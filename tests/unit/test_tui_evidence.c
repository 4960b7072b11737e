/* The evidence of a verdict: shares of causes, longest gaps, and how a user reaches it. */
#include "model_fixture.h"

#include "golden_fixture.h"
#include "model/model_gpus.h"

/* A gap that ended at that ms, behind kernel a and in front of kernel b. */
static void add_gap(int gpu, uint64_t end_ms, uint64_t length_us, uint64_t no_work_us, uint64_t copies_us,
                    enum rtl_cause cause)
{
    p->gaps[gpu][p->gap_count[gpu]++] =
        (struct rtl_gap){.start_mono_ns = SYNTH_START + end_ms * 1000000 - length_us * 1000,
                         .length_ns = length_us * 1000,
                         .no_work_ns = no_work_us * 1000,
                         .copies_ns = copies_us * 1000,
                         .kernel_before = p->kernels[0].id + 1,
                         .kernel_after = p->kernels[1].id + 1,
                         .queue_after = 2,
                         .cause = cause};
}

static void run(int seconds)
{
    synth_kernel(p, "Cijk_Alik_Bljk_BBS_BH_MT128x128x64_MI16x16x1_SN");
    synth_kernel(p, "_ZN4vllm15rms_norm_kernelIfEEvPT_");
    for (int t = 1; t <= seconds; t++) {
        synth_record(p, 0, 7000000, 60);
        synth_record(p, 1, 1000000, 60);
        p->busy_ns[0] += SECONDS(0.48);
        p->cause_ns[0][RTL_CAUSE_SHORT] += SECONDS(0.02);
        p->cause_ns[0][RTL_CAUSE_NO_WORK] += SECONDS(0.1);
        p->cause_ns[0][RTL_CAUSE_COPIES] += SECONDS(0.05);
        p->cause_ns[0][RTL_CAUSE_BARRIER] += SECONDS(0.3);
        p->last_end[0] = SECONDS(t);
        if (t == seconds) {
            add_gap(0, (uint64_t)t * 1000 - 1200, 9500, 1000, 0, RTL_CAUSE_BARRIER);
            add_gap(0, (uint64_t)t * 1000 - 3400, 12000, 11900, 0, RTL_CAUSE_NO_WORK);
            add_gap(0, (uint64_t)t * 1000 - 5600, 4000, 500, 2500, RTL_CAUSE_COPIES);
            add_gap(0, (uint64_t)t * 1000 - 15000, 90000, 0, 0, RTL_CAUSE_QUEUED); /* before the window */
        }
        synth_tick(p, m, SECONDS(t));
    }
    rtl_ui_init(&ui, m, 4711, "serve");
    ui.now_mono_ns = SYNTH_START + SECONDS(seconds);
    ui.now_real_s = 14 * 3600;
    rtl_ui_scroll_into_view(&ui, 24, 80);
}

static void press(uint32_t key)
{
    rtl_ui_key(&ui, key);
    rtl_ui_scroll_into_view(&ui, 24, 80);
}

static void the_evidence_is_drawn(void **state)
{
    (void)state;
    run(70);
    press('v');
    assert_int_equal(ui.view, RTL_VIEW_GPU);
    golden("evidence-80x24", 24, 80);
    golden("evidence-160x45", 45, 160);
    golden("evidence-40x12", 12, 40);
    drawn(24, 80, "idle 52%: barrier on queue 3");
    press(']'); /* the GPU without work */
    drawn(24, 80, "WHY IS G1 13:00.0 IDLE?");
    drawn(24, 80, "no gap of 10");
    press('[');
    press('v');
    assert_int_equal(ui.view, RTL_VIEW_KERNELS);
}

static void unknown_causes_are_no_zeros(void **state)
{
    (void)state;
    p->no_gaps = true;
    run(20);
    press('v');
    drawn(24, 80, "causes and gaps are not recorded");
    drawn(24, 80, "no kernel queued: the host is late      -");
    p->no_gaps = false;
    p->mode = RTL_MODE_OFF;
    synth_tick(p, m, SECONDS(21));
    drawn(24, 80, "not known: mode off counts nothing (M)");
    drawn(24, 80, "no kernel queued: the host is late      -");
}

static void the_longest_gaps_of_the_window_come_first(void **state)
{
    (void)state;
    run(70);
    const struct rtl_gap *gaps[RTL_GAPS_MAX];
    assert_int_equal(rtl_gaps_in_window(m, &m->gpus[0], gaps), 3);
    assert_int_equal(gaps[0]->length_ns, 12000000);
    assert_int_equal(gaps[2]->length_ns, 4000000);
    assert_string_equal(rtl_gap_kernel(m, gaps[0], true)->kernel->name, p->kernels[1].name);
    char text[160];
    rtl_gap_text(m, gaps[1], text, sizeof text);
    assert_string_equal(text, "no kernel 11%, barrier 89% on queue 3");
    m->window_ns = RTL_WINDOW_ALL;
    rtl_model_refresh(m);
    assert_int_equal(rtl_gaps_in_window(m, &m->gpus[0], gaps), 4);
    assert_int_equal(gaps[0]->length_ns, 90000000);
}

/* Up from the first kernel, a second click, and Enter on a GPU's row of the queues. */
static void a_gpu_line_is_reached_with_keys_and_mouse(void **state)
{
    (void)state;
    run(3);
    press(RTL_KEY_UP);
    assert_int_equal(ui.gpu_line, 2);
    press(RTL_KEY_UP);
    press(RTL_KEY_UP);
    assert_int_equal(ui.gpu_line, 1);
    press(RTL_KEY_DOWN);
    assert_int_equal(ui.gpu_line, 2);
    press(RTL_KEY_ENTER);
    assert_int_equal(ui.view, RTL_VIEW_GPU);
    assert_int_equal(ui.gpu, 1);
    press(RTL_KEY_ESC);
    assert_int_equal(ui.view, RTL_VIEW_KERNELS);
    press(RTL_KEY_DOWN); /* back to the first kernel */
    assert_int_equal(ui.gpu_line, 0);
    assert_int_equal(ui.position, 0);
    press(RTL_KEY_DOWN);
    assert_int_equal(ui.position, 1);
    press(RTL_KEY_HOME);
    assert_int_equal(ui.gpu_line, 0);
    rtl_ui_mouse(&ui, RTL_MOUSE_EVENT(RTL_MOUSE_CLICK, 1, 10), 24, 80);
    assert_int_equal(ui.gpu_line, 1);
    rtl_ui_mouse(&ui, RTL_MOUSE_EVENT(RTL_MOUSE_CLICK, 1, 10), 24, 80);
    assert_int_equal(ui.view, RTL_VIEW_GPU);
    assert_int_equal(ui.gpu, 0);
    press(RTL_KEY_ESC);
    press(RTL_KEY_TAB);
    press(RTL_KEY_END);
    press(RTL_KEY_ENTER);
    assert_int_equal(ui.view, RTL_VIEW_GPU);
    assert_int_equal(ui.gpu, 1);
    press(RTL_KEY_ESC);
    press(RTL_KEY_HOME); /* a queue is no GPU */
    press(RTL_KEY_ENTER);
    assert_int_equal(ui.view, RTL_VIEW_QUEUES);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_evidence_is_drawn),
        TEST(unknown_causes_are_no_zeros),
        TEST(the_longest_gaps_of_the_window_come_first),
        TEST(a_gpu_line_is_reached_with_keys_and_mouse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
