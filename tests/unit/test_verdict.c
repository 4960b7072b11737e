/* Reasons why a GPU is not busy: each verdict, and what must not be claimed. */
#include "model_fixture.h"

#include "model/model_gpus.h"
#include "model/verdict.h"
#include "text/text.h"

/* 31 % idle in 50 gaps of 1 to 10 ms, 1000 kernels. */
static struct rtl_gpu_facts facts(void)
{
    return (struct rtl_gpu_facts){.busy = 0.69,
                                  .idle = {0.01, 0, 0, 0.3, 0, 0},
                                  .gaps = {400, 0, 0, 50, 0, 0},
                                  .waits = 1000,
                                  .long_waits = {1000, 900, 700, 400, 0, 0},
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
        assert_true(rtl_text_columns(got) <= columns || !strcmp(got, rtl_verdict_words(verdict)));
    }
}

static void each_verdict_has_its_text(void **state)
{
    (void)state;
    struct rtl_gpu_facts f = facts();
    /* 400 waited that long, 600 did not: both causes are possible */
    says(f, RTL_VERDICT_IDLE, "idle 31%: gaps 1-10ms");
    f.long_waits[3] = 25;
    says(f, RTL_VERDICT_HOST_LATE, "idle 31%: gaps 1-10ms, queue empty: host late");
    f.call_share = 0.634; /* its calls show where the host was */
    snprintf(f.call, sizeof f.call, "hipMalloc");
    says(f, RTL_VERDICT_HOST_LATE, "idle 31%: gaps 1-10ms, host in hipMalloc 63%: host late");
    char narrow[80];
    rtl_verdict_text(RTL_VERDICT_HOST_LATE, &f, 45, narrow, sizeof narrow);
    assert_string_equal(narrow, "idle 31%: host in hipMalloc 63%: host late"); /* the call before the gaps */
    f.call[0] = 0;
    f.long_waits[3] = 26;
    says(f, RTL_VERDICT_IDLE, "idle 31%: gaps 1-10ms");
    f.long_waits[3] = 975;
    says(f, RTL_VERDICT_WAITING, "idle 31%: gaps 1-10ms, packets there: waiting");
    f.copies = 0.16;
    says(f, RTL_VERDICT_COPIES, "idle 31%: gaps 1-10ms, copies took 16% of the time");
    f.copies = 0.15;
    says(f, RTL_VERDICT_WAITING, "idle 31%: gaps 1-10ms, packets there: waiting");
    f.busy = 0.96;
    says(f, RTL_VERDICT_BUSY, "busy");
    f.busy = 0.9, f.idle[0] = 0.09, f.idle[3] = 0.01;
    says(f, RTL_VERDICT_BETWEEN, "idle 10%: gaps <10µs between kernels");
    f.untimed = 0.38;
    says(f, RTL_VERDICT_UNKNOWN, "not known: 38% of dispatches not timed");
    f = (struct rtl_gpu_facts){.busy = -1, .idle = {-1, -1, -1, -1, -1, -1}, .copies = -1};
    says(f, RTL_VERDICT_UNKNOWN, "not known: nothing was timed");
    f = (struct rtl_gpu_facts){.copies = -1};
    says(f, RTL_VERDICT_NO_WORK, "no work");
    f.depth = 5;
    says(f, RTL_VERDICT_NO_END, "nothing ends: 5 in flight");
    f.dispatches = 5;
    says(f, RTL_VERDICT_NO_END, "nothing ends: 5 in flight");
}

static void an_error_goes_before_everything_else(void **state)
{
    (void)state;
    struct rtl_gpu_facts f = facts();
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

/* Bursts: most kernels wait behind others of their burst, so the histograms alone leave both causes open. */
static void queue_samples_decide_what_histograms_leave_open(void **state)
{
    (void)state;
    struct rtl_gpu_facts f = facts();
    f.looks = 60, f.looks_idle = 0.3;
    f.empty_looks = 9; /* 18 expected if the queue was always empty then */
    says(f, RTL_VERDICT_HOST_LATE, "idle 31%: gaps 1-10ms, queue empty: host late");
    f.empty_looks = 8;
    says(f, RTL_VERDICT_IDLE, "idle 31%: gaps 1-10ms");
    f.empty_looks = 4;
    says(f, RTL_VERDICT_WAITING, "idle 31%: gaps 1-10ms, packets there: waiting");
    f.looks = 12, f.empty_looks = 0; /* 3.6 expected: too few to prove that there is none */
    says(f, RTL_VERDICT_IDLE, "idle 31%: gaps 1-10ms");
    f.looks = 9, f.empty_looks = 9;
    says(f, RTL_VERDICT_IDLE, "idle 31%: gaps 1-10ms");
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
    assert_int_equal(gpu->facts.gaps[3], gpu->facts.waits);
    assert_int_equal(gpu->facts.long_waits[3], gpu->facts.waits / 100);
    assert_int_equal(gpu->facts.depth, 4);
    assert_int_equal(gpu->facts.looks, 29);
    assert_int_equal(gpu->facts.empty_looks, 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_verdict_has_its_text),
        cmocka_unit_test(an_error_goes_before_everything_else),
        cmocka_unit_test(queue_samples_decide_what_histograms_leave_open),
        cmocka_unit_test_setup_teardown(the_model_computes_verdicts, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
