/*
 * A GPU whose clock is wrong: one impossible time stamp, a clock that goes back or leaps, a runtime that hasn't noticed
 * or is wrong itself. Kernels before and after must be timed, and the GPU's state must stay valid.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sched.h>

#include "runtime_fixture.h"

#include "intercept/base/hsa_clock.h"

#define SECOND 1000000000ull

/* The GPU's clock: 100 MHz, 0 at `zero` of the host's clock. The runtime believes in `told_zero`. */
static uint64_t zero, told_zero;
static bool no_answer;
static uint64_t offset; /* of system time */

static hsa_status_t system_info(hsa_system_info_t what, void *answer)
{
    if (what == HSA_SYSTEM_INFO_TIMESTAMP)
        *(uint64_t *)answer = rtl_clock_now() + offset;
    else
        *(uint16_t *)answer = 1;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t told(hsa_agent_t agent, uint64_t tick, uint64_t *time)
{
    (void)agent;
    /* as runtimes compute it: from a signed distance in floating point; out of range becomes 2^63 */
    double at = (double)(int64_t)tick * 10 + (double)(int64_t)told_zero + (double)offset;
    *time = at > -9e18 && at < 9e18 ? (uint64_t)(int64_t)tick * 10 + told_zero + offset : 1ull << 63;
    return no_answer ? HSA_STATUS_ERROR : HSA_STATUS_SUCCESS;
}

static uint64_t tick_now(void)
{
    return (rtl_clock_now() - zero) / 10;
}

static struct rtl_histogram *kernel(void)
{
    return &rtl_tool.segment.histograms[RTL_KERNEL_FIRST];
}

static struct rtl_histogram *waits(void)
{
    return &rtl_tool.segment.histograms[RTL_HISTOGRAM_WAIT(((struct rtl_tracker *)handler_data)->slot)];
}

static struct rtl_histogram *gaps(void)
{
    return &rtl_tool.segment.histograms[RTL_HISTOGRAM_GAP(((struct rtl_tracker *)handler_data)->slot)];
}

static const struct rtl_agent *gpu(void)
{
    return &rtl_tool.segment.agents[0];
}

static hsa_queue_t *queue;

static void load(void)
{
    fill_tables();
    core.slot[2] = (void *)system_info;
    ext.slot[6] = (void *)told;
    offset = 5 * SECOND;
    zero = told_zero = rtl_clock_now() - 1000 * SECOND;
    no_answer = false;
    assert_true(OnLoad(&root, 1, 0, NULL));
    hsa_status_t (*freeze)(hsa_executable_t, const char *) = core.slot[86];
    assert_int_equal(freeze((hsa_executable_t){9}, NULL), HSA_STATUS_SUCCESS);
    queue = app_queue();
    assert_ptr_equal(queue, &the_queue);
}

static void unload(void)
{
    app_queue_destroy(queue);
    OnUnload();
}

/* Submit a kernel and complete it with these ticks. Return true if it was timed. */
static bool leave(uint64_t start, uint64_t end)
{
    uint64_t over = AT(counters_of()->completed), timed = AT(kernel()->count);
    packet_t p = kernel_packet(KERNEL, 0);
    hand_over(&p, 1);
    complete(&written[0], start, end - start);
    wait_completed(counters_of(), over + 1);
    return AT(kernel()->count) == timed + 1;
}

/*
 * Submit a kernel of 1 us that begins right after its submission. It must be timed, with a wait less than the time
 * until here, or at most a second on a busy machine.
 */
static void right_one(void)
{
    uint64_t total = AT(kernel()->total_ns), waited = AT(waits()->total_ns), before = rtl_clock_now();
    packet_t p = kernel_packet(KERNEL, 0);
    uint64_t over = AT(counters_of()->completed);
    hand_over(&p, 1);
    uint64_t start = tick_now();
    complete(&written[0], start, 100);
    wait_completed(counters_of(), over + 1);
    assert_int_equal(AT(kernel()->total_ns) - total, 1000);
    assert_in_range(AT(waits()->total_ns) - waited, 0, rtl_clock_now() - before + SECOND);
}

static uint64_t idle_ns(void)
{
    uint64_t sum = 0;
    for (int i = 0; i < RTL_IDLE_COUNT; i++)
        sum += AT(gpu()->idle[i].total_ns);
    return sum;
}

/* Check that all times of the GPU and the queue, over all loads, lie within the elapsed time. */
static uint64_t began;
static void in_order(void)
{
    uint64_t passed = rtl_clock_now() - began + SECOND;
    assert_in_range(AT(gpu()->busy_ns), 0, passed);
    assert_in_range(idle_ns(), 0, passed);
    assert_in_range(AT(gaps()->total_ns), 0, passed);
    assert_in_range(AT(counters_of()->last_end_mono_ns), began - SECOND, rtl_clock_now() + SECOND);
    assert_in_range(AT(kernel()->max_ns), 0, passed);
}

/* Check that a gap on the queue is recorded to the tick. */
static void gap_is_exact(void)
{
    right_one();
    uint64_t total = AT(gaps()->total_ns), last = ((struct rtl_tracker *)handler_data)->last_end;
    uint64_t start = tick_now();
    assert_true(leave(start, start + 100));
    assert_int_equal(AT(gaps()->total_ns) - total, (start - last) * 10);
}

static void an_impossible_end_is_not_timed(void **state)
{
    (void)state;
    load();
    struct rtl_queue *line = counters_of();
    right_one();
    /* kernels of the future, short and long, and one that began before everything */
    const uint64_t far = 1ull << 62;
    const struct {
        uint64_t start, end;
    } wrong[] = {{far - 100, far},
                 {tick_now(), far},
                 {tick_now() + 1000 * SECOND, tick_now() + 1000 * SECOND + 7},
                 {tick_now() + 3 * SECOND / 10, tick_now() + 3 * SECOND / 10 + 7},
                 {1, tick_now()},
                 {7, ~0ull},
                 {far + far / 2, far + far / 2},
                 {tick_now() - SECOND, tick_now()}};
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        uint64_t bad = AT(line->untimed[RTL_UNTIMED_BAD_TIME]);
        assert_false(leave(wrong[i].start, wrong[i].end));
        assert_int_equal(AT(line->untimed[RTL_UNTIMED_BAD_TIME]), bad + 1);
        right_one();
        in_order();
        gap_is_exact();
    }
    assert_int_equal(AT(gpu()->clock_residual_most_ns) < SECOND, true);
    unload();
}

/* The very first kernel: there is nothing to compare it with. */
static void an_impossible_first_end_is_not_timed(void **state)
{
    (void)state;
    load();
    assert_false(leave((1ull << 62) - 100, 1ull << 62));
    right_one();
    in_order();
    unload();
}

static void plausible_ends_in_the_past_are_timed(void **state)
{
    (void)state;
    load();
    right_one();
    assert_true(leave(~0ull - 5, ~0ull - 1)); /* can't be distinguished from a clock that was set */
    right_one();
    assert_true(leave(3, 5));
    right_one();
    in_order();
    gap_is_exact();
    unload();
}

static void a_leaping_clock_is_calibrated_again(void **state)
{
    (void)state;
    load();
    right_one();
    right_one();
    uint64_t busy = AT(gpu()->busy_ns);
    zero = told_zero = rtl_clock_now() - SECOND / 2; /* a reset: it began again at 0 */
    right_one();
    right_one();
    assert_int_equal(AT(gpu()->busy_ns) - busy, 2000); /* and continues */
    in_order();
    gap_is_exact();
    zero = told_zero -= 5000 * SECOND; /* the machine was suspended, the GPU's clock ran on */
    right_one();
    right_one();
    in_order();
    gap_is_exact();
    offset += 7000 * SECOND; /* and now the system's clock did, too */
    right_one();
    in_order();
    gap_is_exact();
    unload();
}

static void a_leap_unknown_to_the_runtime_is_survived(void **state)
{
    (void)state;
    load();
    right_one();
    zero = rtl_clock_now() - SECOND / 2;
    for (int i = 0; i < 10; i++) {
        right_one();
        in_order();
        zero -= SECOND / 33; /* each time the line has to be calibrated again */
    }
    gap_is_exact();
    told_zero = zero; /* now the runtime has noticed */
    zero = told_zero -= SECOND / 10;
    right_one();
    gap_is_exact();
    unload();
}

static void a_wrong_runtime_is_not_trusted_forever(void **state)
{
    (void)state;
    load();
    uint64_t bad = AT(counters_of()->untimed[RTL_UNTIMED_BAD_TIME]);
    told_zero += 3600 * SECOND; /* an hour ahead */
    for (int i = 0; i < 7; i++) {
        uint64_t now = tick_now();
        assert_false(leave(now, now));
    }
    for (int i = 0; i < 10; i++) {
        right_one();
        zero -= SECOND / 33;
    }
    assert_int_equal(AT(counters_of()->untimed[RTL_UNTIMED_BAD_TIME]), bad + 7);
    in_order();
    gap_is_exact();
    told_zero = zero -= SECOND / 10; /* right again */
    right_one();
    assert_false(leave(1ull << 62, 1ull << 62)); /* and trusted again */
    for (int i = 0; i < 20; i++) {               /* never in a row */
        assert_false(leave(1ull << 62, 1ull << 62));
        right_one();
    }
    in_order();
    unload();
}

static void a_runtime_without_clock_answers_is_survived(void **state)
{
    (void)state;
    load();
    right_one();
    no_answer = true;
    for (uint64_t until = tick_now() + 2100000; tick_now() < until;)
        sched_yield();
    right_one(); /* the line is 20 ms old, and is still used */
    assert_false(leave(1ull << 40, 1ull << 40));
    right_one();
    in_order();
    gap_is_exact();
    unload();
}

/* Sums from before a reload stay, and the library doesn't read them back from the segment. */
static void busy_time_continues_over_loads(void **state)
{
    (void)state;
    load();
    uint64_t busy = AT(gpu()->busy_ns);
    right_one();
    assert_int_equal(AT(gpu()->busy_ns), busy + 1000);
    __atomic_store_n(&rtl_tool.segment.agents[0].busy_ns, 77, __ATOMIC_RELAXED); /* another writer could change it */
    unload();
    load();
    right_one();
    assert_int_equal(AT(gpu()->busy_ns), busy + 2000);
    unload();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_impossible_end_is_not_timed),
        cmocka_unit_test(an_impossible_first_end_is_not_timed),
        cmocka_unit_test(plausible_ends_in_the_past_are_timed),
        cmocka_unit_test(a_leaping_clock_is_calibrated_again),
        cmocka_unit_test(a_leap_unknown_to_the_runtime_is_survived),
        cmocka_unit_test(a_wrong_runtime_is_not_trusted_forever),
        cmocka_unit_test(a_runtime_without_clock_answers_is_survived),
        cmocka_unit_test(busy_time_continues_over_loads),
    };
    began = rtl_clock_now();
    return cmocka_run_group_tests(tests, NULL, free_signals);
}
