/* Reasons why a GPU is not busy: each verdict, and what must not be claimed. */
#include "model_fixture.h"

#include "model/model_gpus.h"
#include "model/verdict.h"
#include "text/text.h"

/* 31 % idle, for that cause. */
static struct rtl_gpu_facts facts(enum rtl_cause cause)
{
    return (struct rtl_gpu_facts){.busy = 0.69,
                                  .held = {.any = true, .cause = cause},
                                  .causes_known = true,
                                  .waits = 1000,
                                  .dispatches = 1000,
                                  .depth = 3,
                                  .copies = -1};
}

static void says(struct rtl_gpu_facts f, enum rtl_verdict wanted, const char *text)
{
    char got[160];
    enum rtl_verdict verdict = rtl_verdict_of(&f);
    rtl_verdict_text(verdict, &f, 80, got, sizeof got);
    assert_string_equal(got, text);
    assert_int_equal(verdict, wanted);
    for (int columns = 1; columns < 80; columns++) {
        rtl_verdict_text(verdict, &f, columns, got, sizeof got);
        assert_true(rtl_text_columns(got) <= columns || !strcmp(got, rtl_verdict_words(verdict).words));
    }
}

/* Check the forms of a verdict as the room shrinks: each is the first one that has the room of its own columns. */
static void shrinks(const struct rtl_gpu_facts *f, const char *const *texts)
{
    char got[160];
    int columns = 159;
    for (; *texts; texts++) {
        rtl_verdict_text(rtl_verdict_of(f), f, columns, got, sizeof got);
        assert_string_equal(got, *texts);
        columns = rtl_text_columns(got) - 1;
    }
}

static void each_verdict_is_a_sentence(void **state)
{
    (void)state;
    struct rtl_gpu_facts f = facts(RTL_CAUSE_NO_WORK);
    says(f, RTL_VERDICT_HOST_LATE, "idle 31%: no work arrives: the host is late (v)");
    f.call_share = 0.634; /* its calls show where the host was */
    snprintf(f.call, sizeof f.call, "hipStreamSynchronize");
    shrinks(&f, (const char *[]){"idle 31%: no work arrives, host in hipStreamSynchronize (a)",
                                 "idle 31%: no work, host in hipStreamSynchronize (a)",
                                 "idle 31%: host in hipStreamSynchronize", "idle 31%: no work arrives (v)",
                                 "idle 31%: host late", "host late", NULL});
    f = facts(RTL_CAUSE_BARRIER);
    says(f, RTL_VERDICT_WAITING, "idle 31%: kernels wait behind a barrier (v)");
    snprintf(f.queue, sizeof f.queue, "queue 3");
    shrinks(&f, (const char *[]){"idle 31%: kernels wait behind a barrier on queue 3 (Tab)",
                                 "idle 31%: wait behind a barrier, queue 3 (Tab)", "idle 31%: barrier on queue 3",
                                 "idle 31%: barrier (v)", "idle 31%: barrier", "barrier", NULL});
    f.queue[0] = 0;
    shrinks(&f, (const char *[]){"idle 31%: kernels wait behind a barrier (v)", "idle 31%: wait behind a barrier (v)",
                                 "idle 31%: barrier (v)", NULL});
    f = facts(RTL_CAUSE_QUEUED);
    says(f, RTL_VERDICT_STARTING, "idle 31%: queued kernels start late (v)");
    f = facts(RTL_CAUSE_COPIES);
    says(f, RTL_VERDICT_COPIES, "idle 31%: copies run between the kernels (m)");
    f = facts(RTL_CAUSE_SHORT);
    says(f, RTL_VERDICT_BETWEEN, "idle 31%: gaps below 10µs between kernels (v)");
    f = facts(RTL_CAUSE_UNKNOWN);
    says(f, RTL_VERDICT_IDLE, "idle 31%: cause not known so far (v)");
    f.causes_known = false; /* an older library */
    shrinks(&f, (const char *[]){"idle 31%: causes are not recorded", "idle 31%: idle", "idle 31%", "idle", NULL});
    f.held.busy = true;
    says(f, RTL_VERDICT_BUSY, "busy");
}

static void what_is_unknown_has_a_reason(void **state)
{
    (void)state;
    struct rtl_gpu_facts f = facts(RTL_CAUSE_NO_WORK);
    f.untimed = 0.38, f.unknown = RTL_UNKNOWN_UNTIMED, f.busy = -1;
    shrinks(&f, (const char *[]){"not known: 38% of dispatches not timed (?)", "38% of dispatches not timed (?)",
                                 "not timed", NULL});
    f.unknown = RTL_UNKNOWN_OFF;
    shrinks(&f, (const char *[]){"not known: mode off counts nothing (M)", "mode off counts nothing (M)", "mode off",
                                 NULL});
    f = facts(RTL_CAUSE_NO_WORK);
    f.users = 3;
    shrinks(&f, (const char *[]){"not known: shared by 3 processes (p)", "shared by 3 processes (p)", "shared", NULL});
    f = (struct rtl_gpu_facts){.copies = -1};
    says(f, RTL_VERDICT_NO_WORK, "this process submitted no work");
    f.users = 1; /* of several watched processes */
    says(f, RTL_VERDICT_NO_WORK, "no work was submitted");
    f.users = 0;
    f.depth = 5;
    says(f, RTL_VERDICT_NO_END, "nothing ends: 5 in flight");
    f.dispatches = 5;
    says(f, RTL_VERDICT_NO_END, "nothing ends: 5 in flight");
}

/* The largest cause holds until another is clearly larger for some frames; so does "busy". */
static void a_verdict_does_not_flicker(void **state)
{
    (void)state;
    struct rtl_held_verdict held = {0};
    double late[RTL_CAUSE_COUNT] = {[RTL_CAUSE_NO_WORK] = 0.3, [RTL_CAUSE_BARRIER] = 0.2},
           near[RTL_CAUSE_COUNT] = {[RTL_CAUSE_NO_WORK] = 0.2, [RTL_CAUSE_BARRIER] = 0.29},
           other[RTL_CAUSE_COUNT] = {[RTL_CAUSE_NO_WORK] = 0.1, [RTL_CAUSE_BARRIER] = 0.4},
           nothing[RTL_CAUSE_COUNT] = {0};
    rtl_verdict_hold(&held, 0.5, nothing);
    assert_false(held.any);
    rtl_verdict_hold(&held, 0.5, late);
    assert_int_equal(held.cause, RTL_CAUSE_NO_WORK);
    for (int i = 0; i < 100; i++) { /* the larger one changes from frame to frame */
        rtl_verdict_hold(&held, 0.5, i % 2 ? late : near);
        rtl_verdict_hold(&held, 0.5, i % 3 ? other : late);
        assert_int_equal(held.cause, RTL_CAUSE_NO_WORK);
    }
    rtl_verdict_hold(&held, 0.5, late);
    for (int i = 1; i <= 3; i++) {
        rtl_verdict_hold(&held, 0.5, other);
        assert_int_equal(held.cause, i < 3 ? RTL_CAUSE_NO_WORK : RTL_CAUSE_BARRIER);
    }
    rtl_verdict_hold(&held, 0.5, nothing);
    assert_int_equal(held.cause, RTL_CAUSE_BARRIER);
    for (int i = 0; i < 100; i++) {
        rtl_verdict_hold(&held, 0.94 + (i % 2) * 0.01, late);
        assert_false(held.busy);
    }
    rtl_verdict_hold(&held, 0.96, late);
    for (int i = 0; i < 100; i++) {
        assert_true(held.busy);
        rtl_verdict_hold(&held, 0.93 + (i % 2) * 0.03, late);
    }
    rtl_verdict_hold(&held, 0.91, late);
    assert_false(held.busy);
}

static void an_error_goes_before_everything_else(void **state)
{
    (void)state;
    struct rtl_gpu_facts f = facts(RTL_CAUSE_NO_WORK);
    f.error_queues = 1;
    snprintf(f.error, sizeof f.error, "memory access fault");
    snprintf(f.error_kernel, sizeof f.error_kernel, "f_bad");
    snprintf(f.error_queue, sizeof f.error_queue, "queue 2");
    says(f, RTL_VERDICT_FAILED, "memory access fault in f_bad on queue 2; the queue accepts no more work");
    f.busy = -1;
    char text[160];
    static const struct {
        int columns;
        const char *text;
    } cases[] = {{70, "memory access fault in f_bad on queue 2"},
                 {38, "memory access fault in f_bad"},
                 {27, "memory access fault"},
                 {18, "queue error"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rtl_verdict_text(rtl_verdict_of(&f), &f, cases[i].columns, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
    f.error_queues = 3; /* the kernel that caused the error is not known */
    rtl_verdict_text(RTL_VERDICT_FAILED, &f, 160, text, sizeof text);
    assert_string_equal(text, "memory access fault, perhaps in f_bad, on queue 2 or 2 more; they accept no more work");
    f.error_kernel[0] = '\0';
    f.error_queues = 1;
    says(f, RTL_VERDICT_FAILED, "memory access fault on queue 2; the queue accepts no more work");
    f.error_queues = 0;
    assert_int_equal(rtl_verdict_of(&f), RTL_VERDICT_UNKNOWN);
}

/* A GPU that is 70 % busy; other GPUs' queues don't count. */
static void the_model_computes_verdicts(void **state)
{
    (void)state;
    int a = synth_kernel(p, "a");
    for (int t = 1; t <= 30; t++) {
        synth_record(p, a, 7000000, 100);
        p->busy_ns[0] += SECONDS(0.7);
        p->idle[0][3].count += 100;
        p->idle[0][3].total_ns += SECONDS(0.3);
        p->cause_ns[0][RTL_CAUSE_NO_WORK] += SECONDS(0.2);
        p->cause_ns[0][RTL_CAUSE_BARRIER] += SECONDS(0.1);
        synth_add(&p->queues[0].wait, 20000, 99);
        synth_add(&p->queues[0].wait, 18000000, 1);
        synth_add(&p->queues[1].wait, 18000000, 1000); /* of the other GPU */
        p->queues[2].injected = 4;                     /* on the first GPU, too */
        synth_copies(p, 0, RTL_COPY_H2D, 1 << 20, 1000000, 20);
        synth_tick(p, m, SECONDS(t));
    }
    const struct rtl_gpu_row *gpu = &m->gpus[0];
    assert_int_equal(gpu->verdict, RTL_VERDICT_HOST_LATE);
    assert_float_equal(gpu->facts.copies, 0.02, 1e-9);
    assert_int_equal(gpu->facts.waits, m->span_ns / RTL_SEC * 100);
    assert_int_equal(gpu->facts.depth, 4);
    assert_float_equal(gpu->cause[RTL_CAUSE_NO_WORK], 0.2, 1e-6);
    assert_float_equal(gpu->cause[RTL_CAUSE_BARRIER], 0.1, 1e-6);
    assert_float_equal(gpu->minute_busy, 0.7, 1e-6);
    assert_float_equal(gpu->minute_cause[RTL_CAUSE_NO_WORK], 0.2, 1e-6);
    assert_int_equal(gpu->minute_ns, SECONDS(29));
    assert_true(gpu->wait_p50 > 19800 && gpu->wait_p50 < 20200 && gpu->wait_p99 < 20200);
    assert_int_equal(m->gpus[1].verdict, RTL_VERDICT_NO_WORK);
    assert_true(m->gpus[1].wait_p50 > 17800000 && m->gpus[1].wait_p50 < 18200000);
    assert_int_equal(rtl_model_busy(m, 0, 0), 70);
    assert_int_equal(rtl_model_busy(m, 0, 28), 70);
    assert_int_equal(rtl_model_busy(m, 0, 29), -1);
    assert_int_equal(rtl_model_busy(m, 1, 0), 0);
    assert_int_equal(rtl_model_busy(m, RTL_AGENTS_MAX, 0), -1);
    synth_untimed(p, a, RTL_UNTIMED_OWN_SIGNAL, 1000);
    synth_tick(p, m, SECONDS(31));
    assert_int_equal(rtl_model_busy(m, 0, 0), -1); /* only untimed dispatches */
    assert_int_equal(m->gpus[0].verdict, RTL_VERDICT_UNKNOWN);
}

/* The library counts a gap when it ends: until then the time since the last kernel is the host's. */
static void an_idle_gpu_has_no_work_since_its_last_kernel(void **state)
{
    (void)state;
    int a = synth_kernel(p, "a");
    for (int t = 1; t <= 20; t++) {
        if (t <= 16) {
            synth_record(p, a, 7000000, 100);
            p->busy_ns[0] += SECONDS(0.9);
            p->cause_ns[0][RTL_CAUSE_BARRIER] += SECONDS(0.1);
            p->last_end[0] = SECONDS(t);
        }
        synth_tick(p, m, SECONDS(t));
    }
    assert_float_equal(m->gpus[0].cause[RTL_CAUSE_NO_WORK], 0.4, 0.05);
    assert_int_equal(m->gpus[0].verdict, RTL_VERDICT_HOST_LATE);
    p->no_gaps = true;
    synth_tick(p, m, SECONDS(21));
    assert_true(m->gpus[0].cause[RTL_CAUSE_NO_WORK] < 0);
    assert_int_equal(m->gpus[0].verdict, RTL_VERDICT_IDLE);
}

/* Two causes of nearly equal size whose order changes at random, as with a server under load. */
static void a_steady_program_keeps_its_verdict(void **state)
{
    (void)state;
    int a = synth_kernel(p, "a"), changes = 0;
    enum rtl_verdict last = RTL_VERDICT_COUNT;
    srand(7);
    for (int t = 1; t <= 600; t++) {
        double late = 0.1 + (rand() % 100) / 400.0, barrier = 0.1 + (rand() % 100) / 400.0;
        synth_record(p, a, 7000000, 100);
        p->busy_ns[0] += SECONDS(1 - late - barrier);
        p->cause_ns[0][RTL_CAUSE_NO_WORK] += SECONDS(late);
        p->cause_ns[0][RTL_CAUSE_BARRIER] += SECONDS(barrier);
        synth_tick(p, m, SECONDS(t));
        changes += t > 2 && m->gpus[0].verdict != last;
        last = m->gpus[0].verdict;
    }
    assert_int_equal(changes, 0);
}

/* Recorded series of a server under several loads: one verdict each, after the first seconds. */
static void recorded_series_keep_their_verdict(void **state)
{
    (void)state;
    FILE *in = fopen("tests/fixtures/idle-series.tsv", "r");
    char line[256], name[32], last_name[32] = "";
    enum rtl_verdict last = RTL_VERDICT_COUNT;
    int second = 0, series = 0, changes = 0, kernel = -1;
    assert_non_null(in); /* unit tests run in the top folder of the sources */
    while (fgets(line, sizeof line, in)) {
        int busy, cause[RTL_CAUSE_COUNT];
        if (*line == '#')
            continue;
        assert_int_equal(sscanf(line, "%31s %d %d %d %d %d %d %d", name, &busy, &cause[0], &cause[1], &cause[2],
                                &cause[3], &cause[4], &cause[5]),
                         8);
        if (strcmp(name, last_name)) {
            teardown(state);
            setup(state);
            kernel = synth_kernel(p, "a");
            second = 0;
            series++;
            snprintf(last_name, sizeof last_name, "%s", name);
        }
        second++;
        synth_record(p, kernel, 1000000, 10);
        p->busy_ns[0] += (uint64_t)busy * 1000000;
        for (int c = 0; c < RTL_CAUSE_COUNT; c++)
            p->cause_ns[0][c] += (uint64_t)cause[c] * 1000000;
        synth_tick(p, m, SECONDS(second));
        changes += second > 6 && m->gpus[0].verdict != last;
        last = m->gpus[0].verdict;
    }
    fclose(in);
    assert_int_equal(series, 5);
    assert_in_range(changes, 0, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_verdict_is_a_sentence),
        cmocka_unit_test(what_is_unknown_has_a_reason),
        cmocka_unit_test(a_verdict_does_not_flicker),
        cmocka_unit_test(an_error_goes_before_everything_else),
        cmocka_unit_test_setup_teardown(an_idle_gpu_has_no_work_since_its_last_kernel, setup, teardown),
        cmocka_unit_test_setup_teardown(a_steady_program_keeps_its_verdict, setup, teardown),
        cmocka_unit_test_setup_teardown(recorded_series_keep_their_verdict, setup, teardown),
        cmocka_unit_test_setup_teardown(the_model_computes_verdicts, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
