/*
 * A probe on a GPU of several dies: the block's size, that the block is clear before each probed dispatch, and the sums
 * over the page that each die writes.
 */
#include "probe_fixture.h"

enum { STEP = 1 << 4 }; /* ticks, of `ends` */

static uint64_t *table(void)
{
    return (uint64_t *)(void *)((char *)atomic_load(&gpu_block) + RTL_PROBE_DIES_SLOTS_AT);
}

/* Write the results of waves on that many dies: the n-th die has n + 1 waves. Neither the first nor the last die has
 * the latest or the slowest wave.
 */
static void run_on_dies(uint32_t dies)
{
    static const struct rtl_probe_block clear = {.min = UINT64_MAX, .first_start = UINT64_MAX};
    pthread_mutex_lock(&gpu_lock);
    struct rtl_probe_block *pages = atomic_load(&gpu_block);
    for (uint32_t n = 0; n < RTL_PROBE_DIES; n++)
        assert_memory_equal(&pages[n], &clear, sizeof clear);
    for (size_t i = 0; i < (size_t)RTL_PROBE_DIES * RTL_PROBE_SLOTS; i++)
        assert_int_equal(table()[i], 0);
    table()[0] = table()[RTL_PROBE_DIES * RTL_PROBE_SLOTS - 1] = 4711;
    for (uint32_t n = 0; n < dies; n++) {
        uint64_t waves = n + 1, late = n ^ 3, start = 4096 + STEP * late + 8;
        pages[n].waves = waves;
        pages[n].sum = waves * (100 + n);
        pages[n].min = 100 - late;
        pages[n].max = 100 + late;
        pages[n].first_start = start;
        pages[n].last_end = start + STEP;
        pages[n].durations[6] = (uint32_t)waves;
        pages[n].busy[n + 17] = waves * (100 + n);
        pages[n].gap_sum = 7;
        pages[n].gaps[2] = 1;
        pages[n].ends[(start + STEP) / STEP % RTL_PROBE_ENDS] = (uint32_t)waves;
    }
    pthread_mutex_unlock(&gpu_lock);
}

static void the_state_sums_over_dies(void **state)
{
    (void)state;
    packet_t p = kernel_packet(KERNEL, 0);
    gpu_name = "gfx942";
    arm_probe(1, 0);
    assert_int_equal(state_now.block_bytes, RTL_PROBE_BLOCK_DIES);
    assert_int_equal(state_now.dies, RTL_PROBE_DIES);
    for (uint64_t round = 1; round <= 2; round++) {
        assert_int_equal(dispatched(&p), PROBED_KERNEL);
        run_on_dies(RTL_PROBE_DIES);
        finish_last();
        AWAIT(state_now.recorded == round);
        AWAIT(gate_is(RTL_GATE_FREE));
    }
    uint64_t waves = 0, sum = 0;
    for (uint32_t n = 0; n < RTL_PROBE_DIES; n++) {
        waves += 2 * (n + 1);
        sum += 2 * (n + 1) * (100 + n);
        for (uint32_t unit = 0; unit < RTL_PROBE_UNITS; unit++)
            assert_int_equal(rtl_probe_busy(&state_now, n * RTL_PROBE_UNITS + unit),
                             unit == n + 17 ? 2 * (n + 1) * (100 + n) : 0);
    }
    assert_int_equal(state_now.waves, waves);
    assert_int_equal(state_now.sum, sum);
    assert_int_equal(state_now.min, 100 - 7);
    assert_int_equal(state_now.max, 100 + 7);
    assert_int_equal(state_now.durations[6], waves);
    assert_int_equal(state_now.gap_sum, 2 * 8 * 7);
    assert_int_equal(state_now.gaps[2], 2 * 8);
    /* 18 of 36 waves had ended with the fifth of them, in the step from 4096 + 5 * 16 on; the last ones at 4096 + 8 *
     * 16 + 8, of 10 ns each
     */
    assert_int_equal(state_now.tails, 2);
    assert_int_equal(state_now.tail_max_ns, 560);
    disarm_probe();
    AWAIT(state_now.phase == RTL_PROBE_PHASE_OVER);
    assert_true(nothing_is_held());
}

/* The waves of all dies show whether a dispatch without a signal has ended. */
static void the_waves_of_all_dies_show_the_end(void **state)
{
    (void)state;
    hsa_signal_t own = app_signal(1);
    packet_t p = kernel_packet(KERNEL, own.handle);
    hsa_status_t (*destroy)(hsa_signal_t) = core.slot[38];
    gpu_name = "gfx942";
    arm_probe(1, 0);
    assert_int_equal(dispatched(&p), PROBED_KERNEL);
    uint64_t before = AT(counters_of()->completed);
    destroy(own);
    wait_completed(counters_of(), before + 1);
    AWAIT(gate_is(RTL_GATE_HELD));
    run_on_dies(3); /* 6 of 10 */
    int copies = atomic_load(&copies_begun);
    AWAIT(atomic_load(&copies_begun) > copies + 2);
    assert_true(gate_is(RTL_GATE_HELD));
    pthread_mutex_lock(&gpu_lock);
    ((struct rtl_probe_block *)atomic_load(&gpu_block))[RTL_PROBE_DIES - 1].waves = 4;
    pthread_mutex_unlock(&gpu_lock);
    AWAIT(gate_is(RTL_GATE_FREE));
    assert_int_equal(state_now.recorded, 0);
    assert_int_equal(state_now.waves, 0);
    disarm_probe();
    AWAIT(state_now.phase == RTL_PROBE_PHASE_OVER);
    forget_what_is_held();
}

/* The next probe may be on a GPU of one die: its block has room for one. */
static void a_probe_of_one_die_after_several_has_a_small_block(void **state)
{
    (void)state;
    packet_t p = kernel_packet(KERNEL, 0);
    gpu_name = "gfx90a";
    arm_probe(1, 0);
    assert_int_equal(state_now.block_bytes, RTL_PROBE_BLOCK_ALL);
    assert_int_equal(state_now.dies, 1);
    assert_int_equal(dispatched(&p), PROBED_KERNEL);
    run_waves(10);
    finish_last();
    AWAIT(state_now.recorded == 1);
    for (uint32_t unit = 0; unit < RTL_PROBE_UNITS_ALL; unit++)
        assert_int_equal(rtl_probe_busy(&state_now, unit), unit == 17 ? 1000 : 0);
    disarm_probe();
    AWAIT(state_now.phase == RTL_PROBE_PHASE_OVER);
    assert_true(nothing_is_held());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_state_sums_over_dies),
        cmocka_unit_test(the_waves_of_all_dies_show_the_end),
        cmocka_unit_test(a_probe_of_one_die_after_several_has_a_small_block),
    };
    return cmocka_run_group_tests(tests, load_it, unload_it);
}
