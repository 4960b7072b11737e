/*
 * Golden frames: the screen without a terminal. The pictures are in tests/unit/golden.
 *
 * After an intended change, write the pictures with RTL_GOLDEN=write, then review their diff before the commit.
 */
#include "golden_fixture.h"

#include <time.h>

#include "model/cells.h"
#include "model/coverage.h"
#include "watch/restart.h"
#include "text/text.h"

static const char *const names[] = {
    "Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT256x256x64_MI16x16x1_SN_LDSB0_AFC1_WG32_8_1_WGM8",
    "_ZN4vllm23rotary_embedding_kernelIN3c108BFloat16ELb1EEEvPKlPT_S5_PKS4_illiii",
    ("_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIN3c108BFloat16EEESt5arrayIPcLm3EEEEviT0_"
     "T1_"), /* in parentheses: clang warns of a missing comma between two string literals */
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIN3c104HalfEEESt5arrayIPcLm3EEEEviT0_T1_",
    "triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_5",
    "_Z31ncclDevKernel_AllReduce_RING_LL24ncclDevKernelArgsStorageILm4096EE",
    "__amd_rocclr_fillBufferAligned",
    "evil\033[2Jname",
};
enum { NAMES = sizeof names / sizeof *names };

static struct synth *p;
static struct rtl_model *m;

/* Twelve seconds of a serving process: one kernel's tail grows, one kernel is never timed, one has become idle. */
static void run_process(int gpus)
{
    p = synth_create(gpus, gpus ? gpus : 1);
    m = rtl_model_create();
    assert_non_null(m);
    for (int i = 0; i < NAMES; i++)
        synth_kernel(p, names[i]);
    p->queues[0].path = RTL_PATH_NATIVE;
    p->queues[0].why = RTL_REASON_DEFAULT;
    p->queues[1].path = RTL_PATH_DEMOTED;
    p->queues[1].why = RTL_REASON_INDEX_MOVED;
    for (int t = 1; t <= 12; t++) {
        for (int i = 0; i < 5; i++)
            for (int n = 0; n < 40; n++)
                synth_record(p, i, (uint64_t)(100000 >> i) + (uint64_t)(n * (i == 1 && n > 37 ? t * 5000 : 400)), 25);
        synth_untimed(p, 5, RTL_UNTIMED_OWN_SIGNAL, 200);
        if (t < 2)
            synth_record(p, 6, 5000, 10);
        synth_record(p, 7, 700, 2);
        for (int q = 0; q < p->queue_count; q++) {
            synth_add(&p->queues[q].wait, 4000 + (uint64_t)t * 10, 90);
            synth_add(&p->queues[q].wait, 52000, 2);
            synth_add(&p->queues[q].gap, 900, 50);
            p->queues[q].injected = p->queues[q].completed + (uint64_t)q + 3;
        }
        for (int g = 0; g < gpus; g++) {
            p->busy_ns[g] += RTL_SEC / 100 * (uint64_t)(94 - g * 7);
            p->idle[g][0].count += 4000;
            p->idle[g][0].total_ns += 15 * RTL_SEC / 1000;
            p->idle[g][2].count += (uint64_t)g * 90;
            p->idle[g][2].total_ns += (uint64_t)g * 42 * RTL_SEC / 1000;
            p->cause_ns[g][RTL_CAUSE_SHORT] += 15 * RTL_SEC / 1000;
            p->cause_ns[g][RTL_CAUSE_NO_WORK] += (uint64_t)g * 42 * RTL_SEC / 1000;
        }
        synth_tick(p, m, (uint64_t)t * RTL_SEC);
    }
    rtl_ui_init(&ui, m, 4711, "python3 serve.py --model llama-70b --tp 1");
    ui.now_mono_ns = SYNTH_START + 12 * RTL_SEC;
    ui.now_real_s = 14 * 3600 + 2 * 60 + 31; /* 14:02:31 UTC */
}

static int teardown(void **state)
{
    (void)state;
    rtl_model_free(m);
    synth_free(p);
    m = NULL;
    p = NULL;
    return 0;
}

static void the_main_screen_is_drawn(void **state)
{
    (void)state;
    run_process(1);
    golden("main-80x24", 24, 80);
    golden("main-200x60", 60, 200);
    golden("main-40x12", 12, 40);
    golden("line-20x5", 5, 20);
    char *nothing = draw(1, 1);
    assert_string_equal(nothing, "\n");
    free(nothing);
}

static void many_gpus_fit_or_are_counted(void **state)
{
    (void)state;
    run_process(8);
    golden("eight-gpus-80x24", 24, 80);
    ui.gpu_lines = true;
    golden("eight-gpus-lines-80x24", 24, 80);
    drawn(24, 80, "G7 73:00 ");
    not_drawn(24, 80, "more GPU");
    ui.gpu_lines = false;
    drawn(12, 40, "+3 more GPUs"); /* hidden GPUs are always counted: six cells, the last one for the hidden ones */
    drawn(12, 40, "G4 ");
    not_drawn(12, 40, "G5 ");
}

static void the_screen_is_drawn_in_ascii(void **state)
{
    (void)state;
    run_process(1);
    ui.ascii = true;
    golden("main-ascii-80x24", 24, 80);
    ui.view = RTL_VIEW_DETAIL;
    ui.selected = RTL_KERNEL_FIRST + 1;
    golden("detail-ascii-80x24", 24, 80);
    for (int view = 0; view <= RTL_VIEW_HELP; view++) {
        ui.view = (enum rtl_view)view;
        char *text = draw(30, 120);
        for (const char *c = text; *c; c++)
            assert_true(*c == '\n' || (*c >= ' ' && *c < 127));
        free(text);
    }
}

static void the_detail_is_drawn(void **state)
{
    (void)state;
    run_process(2);
    ui.view = RTL_VIEW_DETAIL;
    ui.following = false;
    ui.selected = RTL_KERNEL_FIRST + 1;
    golden("detail-80x24", 24, 80);
    golden("detail-40x12", 12, 40);
    golden("detail-120x40", 40, 120);
    golden("detail-160x45", 45, 160);
    golden("detail-200x60", 60, 200);
    ui.wrap = true;
    drawn(24, 80, "vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*");
    ui.selected = RTL_KERNEL_FIRST + 5;
    drawn(24, 80, "counted, never timed");
    not_drawn(24, 80, "100%"); /* unmeasured values are not invented */
    ui.selected = 9999;
    drawn(24, 80, "the kernel is gone");
}

/* In a narrow terminal the text gets shorter; marks never cover it. */
static void marks_of_trends_never_cover_text(void **state)
{
    (void)state;
    run_process(1);
    for (int t = 13; t <= 320; t++) {
        synth_record(p, 1, 2375000, 25);
        synth_tick(p, m, (uint64_t)t * RTL_SEC);
    }
    ui.view = RTL_VIEW_DETAIL;
    ui.following = false;
    ui.selected = RTL_KERNEL_FIRST + 1;
    drawn(16, 60, "\nP99 60s ────────────────────────────────────────────────────\n");
    drawn(16, 40, "\nP99 60s ────────────────────────────────\n");
    drawn(16, 28, "\n────────────────────────────\n");
    not_drawn(16, 28, "P9");
}

static void queues_help_and_menus_are_drawn(void **state)
{
    (void)state;
    run_process(2);
    ui.view = RTL_VIEW_QUEUES;
    golden("queues-80x24", 24, 80);
    golden("queues-130x24", 24, 130);
    golden("queues-160x24", 24, 160);
    golden("queues-60x16", 16, 60);
    ui.before = RTL_VIEW_KERNELS;
    ui.view = RTL_VIEW_HELP;
    golden("card-80x24", 24, 80);
    golden("card-40x12", 12, 40);
    golden("card-120x40", 40, 120);
    ui.manual = true;
    golden("help-80x24", 24, 80);
    golden("help-160x24", 24, 160);
    drawn(400, 100, "  no_room            0  too many dispatches"); /* one number a line */
    drawn(400, 100, "  unsafe_signal      0  writes to its signal may go unseen");
    ui.view = RTL_VIEW_KERNELS;
    rtl_ui_key(&ui, 's');
    rtl_ui_key(&ui, RTL_KEY_ESC);
    rtl_ui_key(&ui, 'f');
    rtl_ui_key(&ui, 'r');
    drawn(24, 80, "filter: r");
    drawn(1, 30, "filter: r"); /* the prompt shows the input at any size */
    rtl_ui_key(&ui, RTL_KEY_ESC);
    ui.view = RTL_VIEW_QUEUES;
    p->no_clock = true;
    synth_tick(p, m, 13 * RTL_SEC);
    not_drawn(24, 80, "70.0n");
    not_drawn(8, 80, "0000:13:00.0");
    rtl_ui_key(&ui, RTL_KEY_END); /* scrolling reaches the last lines */
    drawn(8, 80, "0000:13:00.0");
}

static void copies_are_drawn(void **state)
{
    (void)state;
    run_process(2);
    rtl_ui_key(&ui, 'm');
    assert_int_equal(ui.view, RTL_VIEW_COPIES);
    drawn(24, 80, "no copy so far");
    for (int t = 13; t <= 30; t++) {
        synth_copies(p, 0, RTL_COPY_H2D, 1 << 20, 43000, 150);
        synth_copies(p, 0, RTL_COPY_H2D, 64 << 20, 2690000, 3);
        synth_copies(p, 0, RTL_COPY_D2H, 4096, 1170, 900);
        synth_copies(p, 1, RTL_COPY_P2P, 32 << 20, 700000, 500);
        if (t < 15)
            synth_copies(p, 1, RTL_COPY_D2D, 100, 1000, 1); /* outside the window */
        p->copies[RTL_COPIES_OF(0, RTL_COPY_D2H)].untimed[RTL_COPY_UNTIMED_SHARED_SIGNAL] += 7;
        p->copies[RTL_COPIES_OF(0, RTL_COPY_D2H)].count += 7;
        synth_tick(p, m, (uint64_t)t * RTL_SEC);
    }
    golden("copies-80x24", 24, 80);
    golden("copies-130x24", 24, 130);
    drawn(24, 80, "126 not timed: its signal was used again before the copy completed");
    for (int cols = 1; cols < 140; cols++)
        free(draw(24, cols));
    rtl_ui_key(&ui, RTL_KEY_END); /* scrolling reaches the last lines */
    drawn(12, 80, "126 not timed");
    rtl_ui_key(&ui, RTL_KEY_TAB);
    assert_int_equal(ui.view, RTL_VIEW_QUEUES);
    rtl_ui_key(&ui, 'm');
    rtl_ui_key(&ui, 'm');
    assert_int_equal(ui.view, RTL_VIEW_KERNELS);
    rtl_ui_key(&ui, 'm');
    rtl_ui_key(&ui, RTL_KEY_ESC);
    assert_int_equal(ui.view, RTL_VIEW_KERNELS);
    rtl_ui_key(&ui, 'm');
    ui.replay = true;
    synth_tick(p, m, 31 * RTL_SEC);
    m->copies_count = 0;
    drawn(24, 80, "no copies recorded so far");
}

static void the_first_line_shows_the_state_of_the_process(void **state)
{
    (void)state;
    run_process(1);
    drawn(24, 80, "[LIVE]");
    ui.pid = 99; /* the process's pid in its container is 4711 */
    drawn(24, 80, "pid 99 (inside 4711)");
    ui.pid = 4711;
    ui.title[0] = 0; /* its command line is unreadable */
    drawn(24, 80, "rtl-top  serve  ");
    ui.paused = true;
    ui.paused_ns = ui.now_mono_ns - 7 * RTL_SEC;
    drawn(24, 80, "[PAUSED 0:07]");
    ui.paused = false;
    m->state = RTL_TARGET_STALE;
    m->stale_ns = 12 * RTL_SEC;
    drawn(24, 80, "[STALE 12s]");
    drawn(5, 20, "[STALE 12s]");
    rtl_model_exited(m);
    drawn(24, 80, "[EXITED]");
    drawn(24, 80, "process 4711 has exited: this is its last state");
    rtl_ui_key(&ui, 'z');
    drawn(24, 80, "since zero");
    drawn(24, 80, "no dispatch since zero");
}

/* Each queue's path and its reason: an unpublished path is "-", a newer library's value is "unknown". */
static void queues_show_path_and_reason(void **state)
{
    (void)state;
    /* the first line shows a path other than the default if there is room */
    run_process(2);
    drawn(24, 200, "; queues demoted (another writer moves the queue's index)\n");
    not_drawn(24, 200, "native (");
    not_drawn(24, 100, "; queues");
    ui.view = RTL_VIEW_QUEUES;
    drawn(12, 40, " demoted: another writer moves the queu…\n");
    teardown(state);
    run_process(1);
    not_drawn(24, 200, "; queues");
    ui.view = RTL_VIEW_QUEUES;
    drawn(24, 80, " native: queues are native by default\n");
    ui.view = RTL_VIEW_HELP;
    ui.manual = true;
    ui.before = RTL_VIEW_KERNELS;
    drawn(400, 100, "  native         the library virtualises the queue's write index and doorbell\n");
    drawn(400, 100, "* native here: queues are native by default\n");
    ui.view = RTL_VIEW_QUEUES;
    p->queues[0].path = 200;
    p->queues[0].why = 1u << 23;
    synth_tick(p, m, 13 * RTL_SEC);
    drawn(24, 160, "\n unknown: unknown\n");
    p->queues[0].path = p->queues[0].why = 0;
    synth_tick(p, m, 14 * RTL_SEC);
    not_drawn(24, 200, "unknown");
    not_drawn(24, 200, "queues ");
    /* each pair of path and reason has one line; the number of lines is bounded */
    teardown(state);
    run_process(SYNTH_QUEUES);
    ui.view = RTL_VIEW_QUEUES;
    int lines = SYNTH_QUEUES + 2 + SYNTH_QUEUES;
    for (int q = 0; q < SYNTH_QUEUES; q++)
        p->queues[q].path = RTL_PATH_INTERCEPT, p->queues[q].why = RTL_REASON_OTHER_TOOL;
    synth_tick(p, m, 13 * RTL_SEC);
    assert_int_equal(rtl_draw_queue_lines(&ui), lines + 1);
    for (uint32_t q = 0; q < SYNTH_QUEUES; q++)
        p->queues[q].why = 100 + q;
    synth_tick(p, m, 14 * RTL_SEC);
    assert_int_equal(rtl_draw_queue_lines(&ui), lines + RTL_QUEUE_PATH_LINES);
}

/* A queue given up because of another tool is displayed, and is not a dropped dispatch. */
static void a_queue_given_up_is_no_drop(void **state)
{
    (void)state;
    run_process(1);
    p->queues[0].untimed[RTL_UNTIMED_DEMOTED] += 900;
    p->queues[0].untimed[RTL_UNTIMED_LET_GO] += 500;
    p->notes = RTL_NOTE_QUEUE_DEMOTED | RTL_NOTE_PACKETS_UNSEEN;
    synth_tick(p, m, 13 * RTL_SEC);
    drawn(24, 240, ", demoted 1.9, let_go 1.1); a queue with another writer");
    drawn(24, 260, "; a queue with another writer is only counted; packets were overwritten in their queues");
    not_drawn(24, 80, "drop");
}

static void coverage_has_its_reasons(void **state)
{
    (void)state;
    run_process(1);
    drawn(24, 80, "mode default: 3.8% NOT timed of 52.0k in window (own_signal 3.8)");
    drawn(24, 80, "     -       - nccl AllReduce");
    p->notes = RTL_NOTE_QUEUE_NOT_INTERCEPTED;
    p->queues[0].untimed[RTL_UNTIMED_NO_SIGNAL] += 500;
    synth_tick(p, m, 13 * RTL_SEC);
    drawn(24, 80, "[?]");                     /* without room for the parts there is a mark */
    for (int cols = 24; cols < 220; cols++) { /* no part is cut, and the first one always shows */
        char line[RTL_COVERAGE_BYTES];
        bool whole = rtl_coverage_line(m, cols, line, sizeof line);
        assert_true(rtl_text_columns(line) <= cols);
        assert_non_null(strstr(line, "% NOT timed"));
        assert_int_equal(whole, strstr(line, "[?]") == NULL);
        const char *bracket = strchr(line, '(');
        assert_true(!bracket || strchr(bracket, ')'));
        const char *some = strstr(line, "a queue could");
        assert_true(!some || strstr(line, "a queue could not be intercepted: not counted"));
    }
    drawn(24, 160, "a queue could not be intercepted: not counted");
    drawn(24, 80, "drop 500");
    p->mode = RTL_MODE_OFF;
    synth_tick(p, m, 14 * RTL_SEC);
    drawn(24, 80, "mode off: nothing is counted now, 62.4k dispatches were since start");
    not_drawn(24, 160, "(own_signal"); /* the shares are the window's */
    p->mode = RTL_MODE_AUTO;
    synth_tick(p, m, 14 * RTL_SEC + 1);
    drawn(24, 110, "mode auto: timing (watched), a window begins");
    p->counting = true;
    synth_tick(p, m, 14 * RTL_SEC + 2);
    drawn(24, 80, "mode auto: counting, a window begins");
    synth_untimed(p, 0, RTL_UNTIMED_UNWATCHED, 300);
    synth_tick(p, m, 14 * RTL_SEC + 3);
    drawn(24, 80, "mode auto: counting, ");
    drawn(24, 160, "(unwatched 100)");
    drawn(24, 80, "drop 500"); /* dispatches without a viewer are not drops */
    m->wanted = RTL_MODE_LITE;
    drawn(24, 120, "mode auto: lite wanted, from the next dispatch on; counting, ");
    m->wanted = RTL_MODE_NONE;
    snprintf(m->no_heartbeat, sizeof m->no_heartbeat, "another user's process");
    drawn(24, 140, "mode auto: counting, not to be woken by you: another user's process, ");
    m->no_heartbeat[0] = '\0';
    p->mode = 77; /* a mode of a newer library */
    p->notes = 1u << 30;
    synth_tick(p, m, 15 * RTL_SEC);
    drawn(24, 80, "mode unknown");
    drawn(24, 160, "notes 0x40000000 of a newer library");
}

/* Return the role of the first cell of the line that contains `part`. */
static enum rtl_role role_of(int rows, int cols, const char *part)
{
    struct rtl_frame frame = {0};
    enum rtl_role role = RTL_ROLE_COUNT;
    char text[400];
    rtl_ui_scroll_into_view(&ui, rows, cols);
    assert_true(rtl_frame_reset(&frame, rows, cols, ui.ascii));
    rtl_draw(&ui, &frame);
    for (int row = 0; row < rows && role == RTL_ROLE_COUNT; row++) {
        frame_row_text(&frame, row, text, sizeof text);
        if (strstr(text, part))
            role = (enum rtl_role)frame.cells[row * cols].role;
    }
    rtl_frame_free(&frame);
    return role;
}

/* One calm line: exact, estimated, unknown; and the command that starts it traced, which is cut before its name is. */
static void an_observed_process_says_what_is_exact(void **state)
{
    (void)state;
    static struct rtl_restart restart = {.pid = 4242, .whole = "cd /srv && rtl-top run -- /opt/bin/python3 serve.py"};
    run_process(1);
    snprintf(restart.brief, sizeof restart.brief,
             "rtl-top run -- python3 -m vllm.entrypoints.openai.api_server --port");
    m->latest->snapshot.mode = RTL_MODE_OBSERVED;
    m->latest->snapshot.in_force = RTL_ACTIVITY_TIMING;
    ui.restart = &restart;
    drawn(24, 80, "k disp/s  OBSERVED: calls exact, ~ estimated, - unknown, ");
    assert_int_equal(role_of(24, 80, "OBSERVED"), RTL_ROLE_LABEL);
    drawn(24, 80, "for exact times: rtl-top run -- python3 -m vllm.entrypo\u2026 (rtl-top check -p 4242)\n");
    drawn(
        24, 160,
        "for exact times: rtl-top run -- python3 -m vllm.entrypoints.openai.api_server --port (rtl-top check -p 4242) "
        "| sort");
    assert_int_equal(role_of(24, 80, "for exact times"), RTL_ROLE_STATUS);
    drawn(10, 40, "OBSERVED: calls exact, ~ estimated [?]\n");
    drawn(10, 40, "for exact times: rtl-top check -p 4242\n");
    snprintf(m->filter, sizeof m->filter, "gemm");
    drawn(24, 80, "filter gemm | for exact times: rtl-top run");
    m->filter[0] = 0;
    ui.ascii = true;
    drawn(24, 80, "-m vllm.entryp.. (rtl-top check -p 4242)\n");
    ui.ascii = false;
    m->latest->snapshot.in_force = RTL_ACTIVITY_COUNTING;
    drawn(24, 80, "OBSERVED: calls exact, times unknown");
    not_drawn(24, 80, "estimated");
    snprintf(ui.caption, sizeof ui.caption, "%s", "Rank 2 is slow");
    drawn(24, 80, "Rank 2 is slow | sort %TIME");
    not_drawn(24, 80, "exact times");
    ui.caption[0] = 0;
    m->latest->snapshot.mode = RTL_MODE_DEFAULT;
    not_drawn(24, 80, "exact times");
    ui.restart = NULL;
}

/* The caption stays on every view and is cut, not wrapped. */
static void the_caption_is_above_the_keys(void **state)
{
    (void)state;
    static const enum rtl_view views[] = {RTL_VIEW_KERNELS, RTL_VIEW_QUEUES, RTL_VIEW_DETAIL, RTL_VIEW_PROCESSES};
    run_process(1);
    snprintf(ui.caption, sizeof ui.caption, "Press Enter: %0200d", 7);
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        ui.view = views[i];
        drawn(24, 80, "\nPress Enter: 000000000000000000000000000000000000000000000000000000000000000000\u2026\n");
        assert_int_equal(role_of(24, 80, "Press Enter"), RTL_ROLE_TITLE);
    }
    ui.view = RTL_VIEW_KERNELS;
    ui.caption[0] = 0;
    not_drawn(24, 80, "Press Enter");
}

/* Half a minute of lite must not affect the numbers an hour later: coverage is the window's. */
static void coverage_is_the_windows(void **state)
{
    (void)state;
    run_process(1);
    p->queues[0].untimed[RTL_UNTIMED_NO_SIGNAL] += 500;
    synth_tick(p, m, 13 * RTL_SEC);
    drawn(24, 80, "drop 500  3.8% NOT timed (own_signal ");
    assert_int_equal(role_of(24, 80, "drop 500  3.8% NOT timed (own_signal "), RTL_ROLE_WARN);
    for (int t = 14; t <= 40; t++) {
        synth_record(p, 0, 100000, 1000);
        synth_tick(p, m, (uint64_t)t * RTL_SEC);
    }
    drawn(24, 80, "1.00k disp/s, drop 500 before the window, all timed in it\n");
    not_drawn(24, 80, "NOT");
    assert_int_equal(role_of(24, 80, "1.00k disp/s"), RTL_ROLE_LABEL);
    drawn(24, 80, "drop 500"); /* the sum since the start */
    ui.before = RTL_VIEW_KERNELS;
    ui.view = RTL_VIEW_HELP;
    ui.manual = true;
    drawn(400, 100, "own_signal     2.40k"); /* the sums by reason */
    ui.view = RTL_VIEW_KERNELS;
    for (int t = 41; t <= 60; t++)
        synth_tick(p, m, (uint64_t)t * RTL_SEC);
    drawn(24, 80, "mode default: no dispatch in window");
    rtl_model_set_window(m, RTL_WINDOW_ALL);
    drawn(24, 80, "% NOT timed");
    drawn(24, 100, " since start (own_signal ");
    assert_int_equal(role_of(24, 80, "% NOT timed"), RTL_ROLE_WARN);
    rtl_model_zero(m);
    synth_record(p, 0, 100000, 1000);
    synth_tick(p, m, 61 * RTL_SEC);
    drawn(24, 80, "1.00k disp/s, all timed\n");
}

/* All times use the requested unit in full at any size; the name gets shorter first, then columns go. */
static void times_use_the_requested_unit(void **state)
{
    (void)state;
    run_process(2);
    ui.units = RTL_UNIT_NS;
    golden("main-ns-80x24", 24, 80);
    golden("main-ns-40x12", 12, 40);
    golden("main-ns-200x60", 60, 200);
    ui.view = RTL_VIEW_QUEUES;
    golden("queues-ns-130x24", 24, 130);
    ui.view = RTL_VIEW_DETAIL;
    ui.following = false;
    ui.selected = RTL_KERNEL_FIRST + 1;
    golden("detail-ns-80x24", 24, 80);
    golden("detail-ns-120x24", 24, 120);
    ui.units = RTL_UNIT_S;
    ui.view = RTL_VIEW_KERNELS;
    golden("main-s-80x24", 24, 80);
    ui.units = RTL_UNIT_NS;
    for (int cols = 34; cols <= 200; cols++) /* no number is cut: a cut number would be a wrong one */
        drawn(24, cols, "2007039ns ");
}

static void a_screen_without_kernels_is_drawn(void **state)
{
    (void)state;
    p = synth_create(0, 0);
    m = rtl_model_create();
    p->state = RTL_STATE_STARTING;
    synth_tick(p, m, RTL_SEC);
    rtl_ui_init(&ui, m, 4711, "serve");
    drawn(24, 80, "no kernel was dispatched yet");
    drawn(24, 80, "[STARTING]");
    drawn(24, 80, "no dispatch yet");
    ui.view = RTL_VIEW_QUEUES;
    drawn(24, 80, "no queue was created yet");
    not_drawn(24, 80, "%BUSY");
    p->gpu_count = 1; /* its line is below the message */
    synth_tick(p, m, RTL_SEC);
    drawn(24, 80, "no queue was created yet");
    not_drawn(24, 80, "yet%");
    drawn(24, 80, "% idle, by length of gap");
    rtl_ui_key(&ui, RTL_KEY_ENTER);
    rtl_ui_key(&ui, RTL_KEY_ESC);
    rtl_ui_key(&ui, RTL_KEY_ENTER); /* no kernel is selected */
    drawn(24, 80, "no kernel was dispatched yet");
}

/* Every view at every size, with and without a prompt: no write outside the frame, no raw bytes from another process.
 */
static void every_size_is_drawn(void **state)
{
    (void)state;
    run_process(3);
    for (int rows = 1; rows < 70; rows += rows < 30 ? 1 : 9)
        for (int cols = 1; cols < 240; cols += cols < 90 ? 1 : 17)
            for (int view = 0; view <= RTL_VIEW_HELP; view++)
                for (int prompt = (rows + cols + view) % SYNTH_ONE_IN; prompt <= RTL_PROMPT_MODE;
                     prompt += SYNTH_ONE_IN) {
                    ui.view = (enum rtl_view)view;
                    ui.prompt = (enum rtl_prompt)prompt;
                    ui.wrap = (rows + cols) & 1;
                    char *text = draw(rows, cols);
                    for (const char *c = text; *c; c++)
                        assert_true((unsigned char)*c >= ' ' || *c == '\n');
                    free(text);
                }
}

int main(void)
{
    setenv("TZ", "UTC", 1);
    tzset();
#define TEST(name) cmocka_unit_test_teardown(name, teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_main_screen_is_drawn),
        TEST(many_gpus_fit_or_are_counted),
        TEST(the_screen_is_drawn_in_ascii),
        TEST(the_detail_is_drawn),
        TEST(marks_of_trends_never_cover_text),
        TEST(queues_help_and_menus_are_drawn),
        TEST(queues_show_path_and_reason),
        TEST(a_queue_given_up_is_no_drop),
        TEST(copies_are_drawn),
        TEST(the_first_line_shows_the_state_of_the_process),
        TEST(coverage_has_its_reasons),
        TEST(an_observed_process_says_what_is_exact),
        TEST(the_caption_is_above_the_keys),
        TEST(coverage_is_the_windows),
        TEST(times_use_the_requested_unit),
        TEST(a_screen_without_kernels_is_drawn),
        TEST(every_size_is_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
