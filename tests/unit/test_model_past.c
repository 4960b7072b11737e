/* A pause, and a view of one process among several: afterwards the model equals one without the pause or the change of
 * view.
 */
#include "tui_synth.h"

#include "model/model.h"
#include "model/merge.h"
#include "model/model_gpus.h"

enum { PROCESSES = 3, KERNELS = 4 };
static struct synth *processes[PROCESSES];
static struct rtl_merge *merge;
/* of all processes; of one, viewed later; of that one, watched all the time */
static struct rtl_model *all, *alone, *wanted;
static bool shared; /* the processes share one GPU */

static int setup(void **state)
{
    static const char *const names[KERNELS] = {"gemm", "attention", "norm", "softmax"};
    (void)state;
    merge = rtl_merge_create();
    all = rtl_model_create();
    alone = rtl_model_create();
    wanted = rtl_model_create();
    shared = false;
    for (int i = 0; i < PROCESSES; i++) {
        struct rtl_member_info info = {.pid = 4711 + i, .rank = i};
        processes[i] = synth_create(1, 2);
        for (int k = 0; k < KERNELS; k++) /* equal row numbers are different kernels in each process */
            synth_kernel(processes[i], names[(k + i) % KERNELS]);
        rtl_merge_join(merge, &info);
    }
    return merge && all && alone && wanted ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    rtl_model_free(all);
    rtl_model_free(alone);
    rtl_model_free(wanted);
    rtl_merge_free(merge);
    for (int i = 0; i < PROCESSES; i++)
        synth_free(processes[i]);
    return 0;
}

static struct rtl_snapshot snapshot(int process, uint64_t second)
{
    struct rtl_snapshot s = synth_snapshot(processes[process], second * RTL_SEC);
    if (!shared)
        s.agents[0].bdf = 0x0300u + ((uint32_t)process << 8);
    return s;
}

/* Each process's work in a second: sometimes more, and one process gets slower. */
static void work(uint64_t second)
{
    for (int i = 0; i < PROCESSES; i++) {
        struct synth *p = processes[i];
        for (int k = 0; k < KERNELS; k++)
            synth_record(p, k, (uint64_t)(1000 << k) * (uint64_t)(i + 1) * (second > 30 ? 3 : 2), 20 + second % 7);
        synth_untimed(p, 0, RTL_UNTIMED_OWN_SIGNAL, second % 3);
        p->busy_ns[0] += RTL_SEC / 100 * (20 + second % 50 + (uint64_t)i);
        p->idle[0][2].count += 10;
        p->idle[0][2].total_ns += RTL_SEC / 10;
        synth_add(&p->queues[0].wait, 3000 * second, 5);
        synth_copies(p, 0, RTL_COPY_H2D, 4096, 2000 + second, 3);
    }
}

static void add(struct rtl_model *model, int process, uint64_t second)
{
    struct rtl_snapshot s = snapshot(process, second);
    assert_true(rtl_model_add(model, &s, 1000 * RTL_SEC + second * RTL_SEC));
}

static void is_same_row(const struct rtl_row *a, const struct rtl_row *b)
{
    assert_string_equal(a->kernel->name, b->kernel->name);
    assert_int_equal(a->window_calls, b->window_calls);
    assert_int_equal(a->window.count, b->window.count);
    assert_int_equal(a->window.total_ns, b->window.total_ns);
    assert_int_equal(a->p50, b->p50);
    assert_int_equal(a->p99, b->p99);
    assert_int_equal(a->change.p99.kind, b->change.p99.kind);
    assert_true(a->share == b->share && a->rate == b->rate);
}

static void is_same(const struct rtl_model *a, const struct rtl_model *b, uint32_t history)
{
    assert_int_equal(a->span_ns, b->span_ns);
    assert_int_equal(a->row_count, b->row_count);
    assert_int_equal(a->window_counted, b->window_counted);
    assert_int_equal(a->window_untimed, b->window_untimed);
    assert_true(a->rate == b->rate && a->busy == b->busy && a->busy > 0);
    for (uint32_t i = 0; i < a->row_count; i++) {
        is_same_row(&a->rows[i], &b->rows[i]);
        for (uint32_t back = 0; back < history; back++)
            assert_int_equal(rtl_model_history(a, &a->rows[i], back, false),
                             rtl_model_history(b, &b->rows[i], back, false));
    }
    for (uint32_t back = 0; back < history; back++)
        assert_int_equal(rtl_model_busy(a, 0, back), rtl_model_busy(b, 0, back));
    assert_int_equal(a->queue_count, b->queue_count);
    for (uint32_t i = 0; i < a->queue_count; i++) {
        assert_true(a->queues[i].rate == b->queues[i].rate);
        assert_int_equal(a->queues[i].wait_p99, b->queues[i].wait_p99);
    }
    assert_int_equal(a->gpu_count, b->gpu_count);
    assert_true(a->gpus[0].busy == b->gpus[0].busy && a->gpus[0].idle[2] == b->gpus[0].idle[2]);
    assert_int_equal(a->gpus[0].verdict, b->gpus[0].verdict);
    assert_int_equal(a->copies_count, b->copies_count);
    assert_int_equal(a->copies[0].window_bytes, b->copies[0].window_bytes);
}

static void pass(struct rtl_model *held, const struct rtl_model *model, uint64_t second)
{
    struct rtl_snapshot s = snapshot(0, second);
    assert_true(rtl_model_pause_add(held, model, &s, 1000 * RTL_SEC + second * RTL_SEC));
}

static void a_pause_leaves_no_gap(void **state)
{
    (void)state;
    struct rtl_model *held = NULL;
    uint64_t calls = 0;
    for (uint64_t second = 1; second <= 60; second++) {
        work(second);
        add(wanted, 0, second);
        if (second == 25) {
            calls = alone->rows[0].calls;
            held = rtl_model_pause(alone);
            assert_non_null(held);
        }
        if (second >= 25 && second < 50) {
            pass(held, alone, second);
            rtl_model_sort(alone, second % 2 ? RTL_COLUMN_P99 : RTL_COLUMN_TIME, false);
            assert_int_equal(alone->rows[0].calls, calls); /* the display is frozen */
            assert_int_equal(rtl_model_history_length(alone), 23);
            continue;
        }
        if (second == 50) {
            assert_true(rtl_model_resume(alone, held));
            assert_true(alone->rows[0].calls > calls);
        }
        add(alone, 0, second);
        is_same(alone, wanted, rtl_model_history_length(wanted));
    }
    assert_true(rtl_model_resume(alone, NULL)); /* there was no memory for a copy */
}

static void choices_during_a_pause_last(void **state)
{
    (void)state;
    struct rtl_model *held = NULL;
    for (uint64_t second = 1; second <= 40; second++) {
        work(second);
        if (second == 20)
            rtl_model_zero(wanted);
        add(wanted, 0, second);
        if (second == 20) {
            held = rtl_model_pause(alone);
            rtl_model_zero(alone);
            rtl_model_set_window(alone, 5 * RTL_SEC);
        }
        if (second == 22)
            rtl_model_set_window(wanted, 5 * RTL_SEC);
        if (held && second < 30) {
            pass(held, alone, second);
            continue;
        }
        if (held)
            assert_true(rtl_model_resume(alone, held));
        held = NULL;
        add(alone, 0, second);
    }
    is_same(alone, wanted, 30);
    assert_int_equal(alone->counted, wanted->counted); /* since zero, which was pressed during the pause */
    struct rtl_model *never = rtl_model_pause(alone);
    rtl_model_pause_free(never);
    rtl_model_pause_free(NULL);
}

static void watch_all(uint64_t from, uint64_t to)
{
    for (uint64_t second = from; second <= to; second++) {
        struct rtl_snapshot s;
        work(second);
        for (uint32_t i = 0; i < PROCESSES; i++) {
            struct rtl_snapshot one = snapshot((int)i, second);
            assert_true(rtl_merge_update(merge, i, &one));
            rtl_snapshot_free(&one);
        }
        assert_true(rtl_merge_make(merge, SYNTH_START + second * RTL_SEC, &s));
        assert_true(rtl_model_add(all, &s, 1000 * RTL_SEC + second * RTL_SEC));
        add(wanted, 1, second);
    }
}

/* Window, comparison, queues, GPUs and copies equal those of a model that watched the process all the time. */
static void a_process_viewed_later_has_its_history(void **state)
{
    (void)state;
    watch_all(1, 35);
    work(36);
    struct rtl_snapshot own = snapshot(1, 36);
    rtl_model_begin_with_history(alone, all, 1, &own);
    rtl_snapshot_free(&own);
    add(alone, 1, 36);
    add(wanted, 1, 36);
    is_same(alone, wanted, 1);
    for (uint64_t second = 37; second <= 60; second++) {
        work(second);
        add(alone, 1, second);
        add(wanted, 1, second);
        is_same(alone, wanted, 1);
    }
}

/* When the sums contain another process's times, or the process was replaced, the history is left out: no value is
 * better than a wrong one.
 */
static void an_unknown_history_is_left_out(void **state)
{
    (void)state;
    shared = true;
    watch_all(1, 12);
    struct rtl_snapshot own = snapshot(1, 13);
    rtl_model_begin_with_history(alone, all, 1, &own);
    assert_null(alone->latest);
    own.start_mono_ns++;
    all->latest->snapshot.agents[0].users = 1;
    rtl_model_begin_with_history(alone, all, 1, &own);
    assert_null(alone->latest);
    own.start_mono_ns--;
    rtl_model_begin_with_history(alone, all, 1, &own);
    assert_non_null(alone->latest);
    rtl_model_forget(alone, 0);
    rtl_model_begin_with_history(alone, all, 77, &own); /* no such process */
    assert_null(alone->latest);
    rtl_snapshot_free(&own);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_pause_leaves_no_gap),
        TEST(choices_during_a_pause_last),
        TEST(a_process_viewed_later_has_its_history),
        TEST(an_unknown_history_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
