/* The probe on the screen: its key, its pane at all sizes, and where the screen prints "probed". */
#include "golden_fixture.h"

#include "text/text.h"
#include "frame_text.h"
#include "tui/loop_state.h"

enum { KERNEL = RTL_KERNEL_FIRST + 1 };
static struct synth *p;
static struct rtl_model *m;

static int setup(void **state)
{
    (void)state;
    p = synth_create(1, 1);
    m = rtl_model_create();
    assert_non_null(m);
    synth_kernel(p, "rms_norm_f32");
    synth_kernel(p, "mul_mat_q4_0");
    for (int t = 1; t <= 12; t++) {
        synth_record(p, 0, 9000, 300);
        for (uint64_t n = 0; n < 30; n++)
            synth_record(p, 1, 100000 + n * 700, 25);
        synth_tick(p, m, (uint64_t)t * RTL_SEC);
    }
    rtl_ui_init(&ui, m, 4711, "llama-server");
    ui.now_mono_ns = SYNTH_START + 12 * RTL_SEC;
    ui.now_real_s = 14 * 3600 + 2 * 60 + 31;
    ui.following = false;
    ui.selected = KERNEL;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rtl_model_free(m);
    synth_free(p);
    return 0;
}

static void probed(bool runs)
{
    ui.others_ns = 110000;
    ui.probe = (struct rtl_probe_told){.there = true,
                                       .runs = runs,
                                       .kernel = KERNEL,
                                       .stage = "armed",
                                       .counted = true,
                                       .every = 10,
                                       .on_gpu = true,
                                       .gpu = 3,
                                       .compute_units = 104};
    struct rtl_probe_state *s = &ui.probe.state;
    s->dispatches = 6012;
    s->probed = s->recorded = s->tails = 601;
    s->duration_total_ns = 601 * 118000;
    s->waves = s->waves_expected = 601 * 512;
    s->sum = s->waves * 9000;
    s->min = 2100;
    s->max = 40000;
    s->durations[11] = 3000;
    s->durations[12] = 40000;
    s->durations[13] = 200000;
    s->durations[14] = 64712;
    for (uint32_t u = 0; u < 104; u++)
        s->busy[u + u / 13 * 3] = 20000000 + u * 1000 + (u == 77 ? 9000000 : 0);
    s->tail_ns[11] = 400;
    s->tail_ns[13] = 201;
    s->tail_max_ns = 15200;
    s->tail_total_ns = 601 * 3000;
    s->tail_step_ns = 640;
    if (!runs)
        snprintf(ui.probe.over, sizeof ui.probe.over, "the probe ended: the program has unloaded the kernel");
}

/* Press B or Y, and say yes if a question follows. */
static unsigned press_probe(uint32_t key)
{
    unsigned asked = rtl_ui_key(&ui, key);
    return ui.prompt == RTL_PROMPT_ASK ? rtl_ui_key(&ui, 'y') : asked;
}

static void the_probe_pane_is_drawn(void **state)
{
    (void)state;
    ui.view = RTL_VIEW_DETAIL;
    probed(true);
    golden("probe-80x24", 24, 80);
    golden("probe-40x12", 12, 40);
    golden("probe-120x40", 40, 120);
    ui.ascii = true;
    golden("probe-ascii-80x24", 24, 80);
    ui.ascii = false;
    ui.probe.runs = false;
    snprintf(ui.probe.over, sizeof ui.probe.over, "the probe ended: the program has unloaded the kernel");
    golden("probe-over-80x24", 24, 80);
}

/* A slot had more than one wave. */
static void the_pane_shows_gaps_between_waves(void **state)
{
    (void)state;
    ui.view = RTL_VIEW_DETAIL;
    probed(true);
    ui.probe.state.gap_sum = ui.probe.state.sum / 9;
    ui.probe.state.gaps[9] = 300000;
    drawn(40, 120, "slot gaps  10.0%, p50 512-1.02k");
    drawn(24, 80, "slot gaps  10.0%, p50 512-1.02k");
}

/* For dispatches over the time limit the number is unknown, and these are the slow ones. */
static void the_pane_shows_how_many_tails_are_unknown(void **state)
{
    (void)state;
    ui.view = RTL_VIEW_DETAIL;
    probed(true);
    not_drawn(40, 120, "tail known");
    ui.probe.state.tails = 401;
    drawn(40, 120, "tail p50   1.41µs-4.09µs");
    drawn(24, 80, "tail known 401 of 601; rest >163µs");
    ui.probe.state.tails = 0;
    not_drawn(40, 120, "tail p50");
    drawn(24, 80, "tail known 0 of 601; rest >163µs");
    ui.probe.state.tail_step_ns = 0;
    drawn(24, 80, "tail known 0 of 601");
    not_drawn(24, 80, "rest >");
}

/* On a GPU of several dies: how even they are, and which die has the hottest unit. */
static void the_pane_compares_dies(void **state)
{
    (void)state;
    ui.view = RTL_VIEW_DETAIL;
    probed(true);
    not_drawn(40, 120, "dies");
    struct rtl_probe_state *s = &ui.probe.state;
    s->dies = RTL_PROBE_DIES;
    for (uint32_t die = 1; die < RTL_PROBE_DIES; die++)
        memcpy(s->die[die - 1].busy, s->busy, sizeof s->busy);
    s->die[4].busy[3] += 100000000;
    drawn(24, 80, "dies       8 of up to 8, max/mean 1.04");
    drawn(24, 80, "hottest    xcc5 se0 sh0 cu3 120M");
    drawn(40, 120, "dies       8 of up to 8, max/mean 1.04");
}

/* The dies again, with the mark of a recording; a replay probes nothing. */
static void the_pane_of_a_recording_is_marked(void **state)
{
    (void)state;
    ui.view = RTL_VIEW_DETAIL;
    ui.replay = true;
    ui.frames = 12;
    probed(true);
    golden("probe-recorded-80x24", 24, 80);
    not_drawn(24, 80, "PProbe");
    not_drawn(24, 80, "sStalls");
    assert_false(press_probe('B') & RTL_UI_PROBE);
    drawn(24, 80, "a recording can't be probed");
    probed(false);
    drawn(24, 80, "PROBE recorded: over, 601 probed of 6.01k seen, 1 in 10, GPU 3");
    drawn(24, 80, "the probe ended: the program has unloaded the kernel");
    ui.replay = false;
}

/* The code is still being searched, the probe was refused, or nothing is counted yet. */
static void the_pane_without_numbers_shows_the_stage(void **state)
{
    (void)state;
    ui.view = RTL_VIEW_DETAIL;
    ui.probe = (struct rtl_probe_told){.there = true, .runs = true, .kernel = KERNEL, .stage = "searching its code"};
    drawn(24, 80, "PROBE searching its code");
    drawn(24, 80, "no numbers so far");
    drawn(24, 80, "probed | ");
    ui.probe.runs = false;
    snprintf(ui.probe.over, sizeof ui.probe.over, "it can't be probed: its waves have 32 lanes");
    drawn(24, 80, "PROBE over");
    drawn(24, 80, "it can't be probed: its waves have 32 lanes");
    not_drawn(24, 80, "probed | ");
    not_drawn(24, 80, "P99 over time");
    ui.selected = KERNEL - 1; /* the other kernel has no probe */
    not_drawn(24, 80, "PROBE");
    drawn(24, 80, "P99 over time");
}

static void probed_is_displayed_only_while_armed(void **state)
{
    (void)state;
    not_drawn(24, 80, "probed");
    probed(true);
    drawn(24, 80, "probed: 1 in 10 | ");
    drawn(24, 80, "probed mul_mat_q4_0");
    not_drawn(24, 80, "probed rms_norm");
    drawn(8, 40, "probed mul_mat");
    ui.names = RTL_NAME_MANGLED;
    drawn(24, 80, "probed mul_mat_q4_0");
    ui.probe.runs = false;
    not_drawn(24, 80, "probed");
}

static void the_probe_key_needs_a_live_process(void **state)
{
    (void)state;
    assert_false(press_probe('B') & RTL_UI_PROBE); /* not in the table */
    ui.view = RTL_VIEW_DETAIL;
    assert_true(press_probe('B') & RTL_UI_PROBE);
    ui.replay = true;
    assert_false(press_probe('B') & RTL_UI_PROBE);
    assert_string_equal(ui.message, "a recording can't be probed");
    ui.replay = false;
    rtl_model_exited(m);
    assert_false(press_probe('B') & RTL_UI_PROBE);
    assert_string_equal(ui.message, "the process has exited");
    probed(true); /* a running probe can always be stopped */
    assert_true(press_probe('B') & RTL_UI_PROBE);
    assert_string_equal(ui.message, "");
}

static void without_recorded_waves_only_the_time_is_displayed(void **state)
{
    (void)state;
    ui.view = RTL_VIEW_DETAIL;
    for (int cols = 60; cols <= 120; cols += 20) {
        probed(true);
        drawn(30, cols, "p50 cyc");
        drawn(30, cols, "on CUs");
        struct rtl_probe_state *s = &ui.probe.state;
        s->waves = s->sum = s->min = s->max = s->tails = 0;
        memset(s->durations, 0, sizeof s->durations);
        memset(s->busy, 0, sizeof s->busy);
        drawn(30, cols, "0 of 308k: none recorded");
        drawn(30, cols, "118"); /* the duration is known all the same */
        not_drawn(30, cols, "cyc");
        not_drawn(30, cols, "on CUs");
    }
}

/* The probe's rate is the last second's, whether the window is "all" or an old range. */
static void the_probes_pace_is_the_last_seconds(void **state)
{
    (void)state;
    assert_true(rtl_loop_probe_pace(m, KERNEL).per_second == 750);
    synth_record(p, 1, 200000, 40000);
    synth_tick(p, m, 13 * RTL_SEC);
    rtl_model_set_window(m, RTL_WINDOW_ALL);
    struct rtl_probe_pace pace = rtl_loop_probe_pace(m, KERNEL);
    assert_true(pace.per_second == 40000);
    assert_in_range(pace.p50_ns, 197000, 203000);
    synth_tick(p, m, 14 * RTL_SEC);
    pace = rtl_loop_probe_pace(m, KERNEL); /* idle: the last known duration stays */
    assert_true(pace.per_second == 0);
    assert_in_range(pace.p50_ns, 197000, 203000);
    pace = rtl_loop_probe_pace(m, 4000);
    assert_true(pace.per_second == 0 && pace.p50_ns == 0);
}

static void the_probe_key_is_refused_without_librtl(void **state)
{
    (void)state;
    struct rtl_sample *latest = m->latest;
    ui.view = RTL_VIEW_DETAIL;
    latest->snapshot.mode = RTL_MODE_OBSERVED;
    assert_false(press_probe('B') & RTL_UI_PROBE);
    assert_string_equal(ui.message, "only observed: probes need librtl.so in the process");
    latest->snapshot.mode = RTL_MODE_DEFAULT;
    ui.selected = RTL_KERNEL_UNKNOWN;
    assert_false(press_probe('B') & RTL_UI_PROBE);
    assert_string_equal(ui.message, "this is not a single kernel");
}

/* Numbers of any kind at any size: nothing is cut, nothing lies outside. */
static void any_numbers_of_a_probe_fit(void **state)
{
    (void)state;
    ui.view = RTL_VIEW_DETAIL;
    for (int kind = 0; kind < 4; kind++) {
        probed(true);
        if (kind)
            memset(&ui.probe.state, kind == 1 ? 0xff : kind == 2 ? 0x7f : 1, sizeof ui.probe.state);
        for (int rows = 1; rows < 50; rows += rows < 14 ? 1 : 7)
            for (int cols = 1; cols < 170; cols += cols < 90 ? 1 : 13) {
                struct rtl_frame frame = {0};
                ui.ascii = cols % 2;
                rtl_ui_scroll_into_view(&ui, rows, cols);
                assert_true(rtl_frame_reset(&frame, rows, cols, ui.ascii));
                rtl_draw(&ui, &frame);
                if (frame.numbers_cut)
                    fail_msg("a number has no room in %dx%d, kind %d", cols, rows, kind);
                rtl_frame_free(&frame);
            }
    }
}

/* --- waits --- */

enum { WAITS = 40 };
static struct rtl_probe_stall waits[WAITS];
static struct rtl_stall_before before = {3,
                                         {"v_add_co_u32_e32 v4, vcc, s0, v4", "v_addc_co_u32_e32 v5, vcc, v6, v5, vcc",
                                          "global_load_dword v1, v[4:5], off"}};
static struct rtl_stalls_report stalls;

static void stalled(bool lines)
{
    probed(true);
    stalls = (struct rtl_stalls_report){.copy = 2, .wanted = 20, .recorded = 13};
    snprintf(stalls.no_lines, sizeof stalls.no_lines, "%s", lines ? "" : "libamd_comgr doesn't know gfx942");
    stalls.sum = (struct rtl_stall_costs){.wait = waits,
                                          .waits = 84,
                                          .timed = WAITS,
                                          .rounds = 6,
                                          .copies = 2,
                                          .clock_cycles = 33 * 512 * 104,
                                          .clock_passes = 33 * 512,
                                          .dispatches = 330,
                                          .recorded = 33,
                                          .duration_total_ns = 33 * 118000,
                                          .waves = 33 * 512,
                                          .waves_expected = 33 * 512};
    for (uint32_t i = 0; i < WAITS; i++)
        waits[i] = (struct rtl_probe_stall){.place = {.at = 0x1a4 + i * 60, .word = i % 3 ? 0x0f70 : 0x0070},
                                            .cycles = 1000000 / (i + 1),
                                            .passes = i == WAITS - 1 ? 0 : 1000 + i,
                                            .share = 0.3 / (i + 1),
                                            .mean = 1000.0 / (i + 1),
                                            .before = lines ? &before : NULL};
    ui.stalls = &stalls;
    ui.view = RTL_VIEW_DETAIL;
}

/* The time of the other dispatches is counted while the probe is armed; where that is unknown (in recordings), since
 * the start.
 */
static void the_pane_shows_the_time_of_other_dispatches(void **state)
{
    (void)state;
    ui.view = RTL_VIEW_DETAIL;
    probed(false);
    ui.others_ns = 59000;
    drawn(24, 80, "others     59.0µs: x2.00");
    for (uint64_t n = 13; n < 30; n++) { /* many slow dispatches */
        synth_record(p, 1, 900000, 500);
        synth_tick(p, m, n * RTL_SEC);
    }
    drawn(24, 80, "others     59.0µs: x2.00");
    stalled(true);
    ui.others_ns = 59000;
    drawn(24, 80, "others 59.0µs: x2.00");
    ui.stalls = NULL;
    ui.others_ns = 0;
    drawn(40, 120, " since start: x0.");
    ui.others_ns = 59000;
    ui.replay = true;
    ui.frames = 12;
    drawn(40, 120, " since start: x0.");
    ui.replay = false;
}

static void the_pane_of_stalls_is_drawn(void **state)
{
    (void)state;
    stalled(true);
    golden("stalls-80x24", 24, 80);
    golden("stalls-60x20", 20, 60);
    golden("stalls-40x12", 12, 40);
    golden("stalls-130x50", 50, 130);
    ui.ascii = true;
    golden("stalls-ascii-80x24", 24, 80);
    ui.ascii = false;
    stalled(false);
    drawn(24, 80, "no instructions: libamd_comgr doesn't know gfx942");
    not_drawn(24, 80, "global_load_dword");
    ui.probe.runs = false;
    snprintf(ui.probe.over, sizeof ui.probe.over, "the probe ended: each wait was timed");
    drawn(24, 80, "STALLS over, copy 2 of 6: 13 probed of 20 wanted, 1 in 10, GPU 3");
    drawn(24, 80, "the probe ended: each wait was timed");
    stalls.recorded = 0; /* of the running copy */
    drawn(24, 80, "STALLS over, copy 2 of 6: 0 probed of 20 wanted");
    stalls.sum.timed = 0; /* the ordinary pane's numbers are absent: they would belong to another probe */
    drawn(24, 80, "STALLS over, 1 in 10, GPU 3");
    drawn(24, 80, "no numbers");
    not_drawn(24, 80, "imbalance");
    ui.selected = KERNEL - 1;
    not_drawn(24, 80, "STALLS");
}

/* The cursor visits all stalls and stays with its stall; at the top it stays on the hottest one. */
static void the_cursor_stays_with_its_stall(void **state)
{
    (void)state;
    stalled(true);
    drawn(24, 80, "> 30.00%   1.00k   1.00k  +0x1a4    s_waitcnt vmcnt(0) lgkmcnt(0)");
    drawn(24, 80, "1-5 of 40");
    for (int i = 0; i < 10; i++)
        rtl_ui_key(&ui, RTL_KEY_DOWN);
    assert_int_equal(ui.stall_at, 10);
    drawn(24, 80, "+0x3fc    s_waitcnt vmcnt(0)");
    struct rtl_probe_stall hot = waits[10];
    memmove(waits + 4, waits + 3, 7 * sizeof *waits);
    waits[3] = hot;
    drawn(24, 80, ">  2.73%      91   1.01k  +0x3fc    s_waitcnt vmcnt(0)");
    assert_int_equal(ui.stall_at, 3);
    rtl_ui_key(&ui, 'G');
    assert_int_equal(ui.stall_at, WAITS - 1);
    drawn(24, 80, ">      -       -       0  +0xac8");
    drawn(24, 80, " of 40");
    rtl_ui_key(&ui, RTL_KEY_HOME);
    assert_int_equal(ui.stall_at, 0);
    assert_int_equal(ui.selected, KERNEL); /* the kernel stays selected */
    stalls.sum.timed = 0;
    rtl_ui_key(&ui, 'j');
    assert_int_equal(ui.stall_at, 0);
    rtl_ui_key(&ui, ']');
    assert_int_not_equal(ui.selected, KERNEL);
}

static void few_stalls_have_all_lines(void **state)
{
    (void)state;
    stalled(true);
    stalls.sum.timed = 2;
    struct rtl_frame frame = {0};
    ui.ascii = true;
    rtl_ui_scroll_into_view(&ui, 24, 80);
    assert_true(rtl_frame_reset(&frame, 24, 80, true));
    rtl_draw(&ui, &frame);
    int loads = 0;
    for (int i = 0; i < 24; i++) {
        char text[512];
        frame_row_text(&frame, i, text, sizeof text);
        loads += strstr(text, "global_load_dword") != NULL;
    }
    rtl_frame_free(&frame);
    ui.ascii = false;
    assert_int_equal(loads, 2);
}

static void the_stalls_key_works_only_in_a_live_detail(void **state)
{
    (void)state;
    ui.view = RTL_VIEW_DETAIL;
    assert_true(press_probe('Y') & RTL_UI_STALLS);
    ui.replay = true;
    assert_false(press_probe('Y') & RTL_UI_STALLS);
    assert_string_equal(ui.message, "a recording can't be probed");
    ui.replay = false;
    ui.view = RTL_VIEW_KERNELS;
    assert_false(press_probe('Y') & RTL_UI_STALLS); /* not in the table */
    rtl_ui_key(&ui, RTL_KEY_ESC);
}

/* With any numbers. */
static void any_numbers_of_stalls_fit(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++)
        for (int rows = 1; rows < 50; rows += rows < 14 ? 1 : 7)
            for (int cols = 1; cols < 170; cols += cols < 90 ? 1 : 13) {
                struct rtl_frame frame = {0};
                stalled(true);
                for (uint32_t i = 0; kind && i < WAITS; i++)
                    waits[i] = (struct rtl_probe_stall){.place = {.at = UINT32_MAX - i, .word = UINT32_MAX - i},
                                                        .cycles = UINT64_MAX,
                                                        .passes = UINT64_MAX,
                                                        .share = 1,
                                                        .mean = 1e19,
                                                        .before = kind == 1 ? &before : NULL};
                if (kind)
                    stalls.sum.waits = stalls.sum.rounds = UINT32_MAX, stalls.sum.waves = UINT64_MAX,
                    stalls.sum.clock_cycles = UINT64_MAX, stalls.recorded = UINT64_MAX;
                ui.stall_at = rows % 3 * 12;
                ui.stall_place = waits[ui.stall_at].place.at;
                ui.ascii = cols % 2;
                rtl_ui_scroll_into_view(&ui, rows, cols);
                assert_true(rtl_frame_reset(&frame, rows, cols, ui.ascii));
                rtl_draw(&ui, &frame);
                if (frame.numbers_cut)
                    fail_msg("a number has no room in %dx%d, kind %d", cols, rows, kind);
                rtl_frame_free(&frame);
            }
}

/* A replay doesn't present a recorded probe as running. */
static void no_probe_runs_in_a_recording(void **state)
{
    (void)state;
    probed(true);
    ui.view = RTL_VIEW_DETAIL;
    drawn(24, 80, "probed: 1 in 10 | ");
    ui.replay = true;
    ui.frames = 12;
    not_drawn(24, 80, "probed: 1 in 10 | ");
    ui.probe.every = 0;
    not_drawn(24, 80, "probed | ");
    ui.replay = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_probe_pane_is_drawn, setup, teardown),
        cmocka_unit_test_setup_teardown(the_pane_shows_gaps_between_waves, setup, teardown),
        cmocka_unit_test_setup_teardown(the_pane_shows_how_many_tails_are_unknown, setup, teardown),
        cmocka_unit_test_setup_teardown(the_pane_compares_dies, setup, teardown),
        cmocka_unit_test_setup_teardown(the_pane_of_a_recording_is_marked, setup, teardown),
        cmocka_unit_test_setup_teardown(the_pane_without_numbers_shows_the_stage, setup, teardown),
        cmocka_unit_test_setup_teardown(probed_is_displayed_only_while_armed, setup, teardown),
        cmocka_unit_test_setup_teardown(the_probe_key_needs_a_live_process, setup, teardown),
        cmocka_unit_test_setup_teardown(without_recorded_waves_only_the_time_is_displayed, setup, teardown),
        cmocka_unit_test_setup_teardown(the_probes_pace_is_the_last_seconds, setup, teardown),
        cmocka_unit_test_setup_teardown(the_probe_key_is_refused_without_librtl, setup, teardown),
        cmocka_unit_test_setup_teardown(any_numbers_of_a_probe_fit, setup, teardown),
        cmocka_unit_test_setup_teardown(the_pane_shows_the_time_of_other_dispatches, setup, teardown),
        cmocka_unit_test_setup_teardown(the_pane_of_stalls_is_drawn, setup, teardown),
        cmocka_unit_test_setup_teardown(the_cursor_stays_with_its_stall, setup, teardown),
        cmocka_unit_test_setup_teardown(few_stalls_have_all_lines, setup, teardown),
        cmocka_unit_test_setup_teardown(the_stalls_key_works_only_in_a_live_detail, setup, teardown),
        cmocka_unit_test_setup_teardown(any_numbers_of_stalls_fit, setup, teardown),
        cmocka_unit_test_setup_teardown(no_probe_runs_in_a_recording, setup, teardown),
    };
    setenv("TZ", "UTC", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
