/* Ends of a probe followed by another runtime, or after which no probe is possible; and a thousand probes that leak
 * nothing.
 */
#include "probe_fixture.h"

static void a_thousand_probes_leak_nothing(void **state)
{
    (void)state;
    packet_t p = kernel_packet(KERNEL, 0);
    for (int i = 0; i < 1000; i++) {
        arm_probe(1, 0);
        if (i % 4 == 0) {
            assert_int_equal(dispatched(&p), PROBED_KERNEL);
            finish_last();
        }
        disarm_probe();
        AWAIT(state_now.phase == RTL_PROBE_PHASE_OVER);
        assert_true(nothing_is_held());
    }
}

static void failed_copies_end_the_probe(void **state)
{
    (void)state;
    packet_t p = kernel_packet(KERNEL, 0);
    arm_probe(1, 0);
    assert_int_equal(dispatched(&p), PROBED_KERNEL);
    atomic_store(&copies_hang, true);
    finish_last();
    AWAIT(gate_is(RTL_GATE_HELD));
    for (int i = 0; i < 10 && state_now.phase == RTL_PROBE_PHASE_ARMED; i++) {
        uint64_t passes = AT(rtl_tool.segment.header->passes);
        atomic_fetch_add(&put_forward, 1000000000);
        beat();
        AWAIT(AT(rtl_tool.segment.header->passes) > passes + 1);
    }
    assert_int_equal(state_now.phase, RTL_PROBE_PHASE_OVER);
    assert_int_equal(state_now.why, RTL_PROBE_WHY_NO_NUMBERS);
    assert_int_equal(atomic_load(&hosts), 1); /* the GPU may still write to it */
    atomic_store(&copies_hang, false);
    prepare(KERNEL); /* no new probe while it hangs */
    assert_int_equal(state_now.phase, RTL_PROBE_PHASE_OVER);
    assert_int_equal(state_now.why, RTL_PROBE_WHY_NO_NUMBERS);
    assert_int_equal(atomic_load(&hosts), 1);
    assert_int_equal(dispatched(&p), KERNEL);
    finish_last();
    AWAIT(AT(rtl_tool.segment.header->parked) == 1); /* the worker does not stay awake for it */
    end_hung_copy();
    AWAIT(nothing_is_held());
    arm_probe(1, 0);
    disarm_probe();
    refused_with(RTL_PROBE_WHY_DISARMED);

    /* a copy that can't even be started */
    atomic_store(&copies_refused, true);
    prepare(KERNEL);
    assert_int_equal(state_now.status, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    refused_with(RTL_PROBE_WHY_NO_NUMBERS);
    atomic_store(&copies_refused, false);
    arm_probe(1, 0);
    assert_int_equal(dispatched(&p), PROBED_KERNEL);
    atomic_store(&copies_refused, true);
    finish_last();
    AWAIT(state_now.phase == RTL_PROBE_PHASE_OVER);
    refused_with(RTL_PROBE_WHY_NO_NUMBERS);
    atomic_store(&copies_refused, false);

    /* a copy whose result is unknown */
    arm_probe(1, 0);
    assert_int_equal(dispatched(&p), PROBED_KERNEL);
    atomic_store(&copies_fail, true);
    finish_last();
    AWAIT(state_now.phase == RTL_PROBE_PHASE_OVER);
    assert_int_equal(state_now.why, RTL_PROBE_WHY_NO_NUMBERS);
    atomic_store(&copies_fail, false);
    assert_int_equal(atomic_load(&hosts), 1);
    prepare(KERNEL); /* not again */
    assert_int_equal(state_now.phase, RTL_PROBE_PHASE_OVER);
    assert_int_equal(state_now.why, RTL_PROBE_WHY_NO_NUMBERS);
    assert_int_equal(dispatched(&p), KERNEL);
    finish_last();
    forget_what_is_held();
}

static void an_unload_with_a_probe_in_flight_frees_nothing_in_use(void **state)
{
    (void)state;
    packet_t p = kernel_packet(KERNEL, 0);
    OnUnload(); /* and nothing is armed */
    load_library();
    arm_probe(1, 0);
    assert_int_equal(dispatched(&p), PROBED_KERNEL);
    OnUnload();
    assert_true(rtl_reader_probe(reader, &state_now));
    assert_int_equal(state_now.phase, RTL_PROBE_PHASE_OVER);
    assert_int_equal(state_now.why, RTL_PROBE_WHY_SHUTDOWN);
    assert_int_equal(atomic_load(&executables), 1); /* nothing that may still run is freed */
    assert_int_equal(atomic_load(&blocks), 1);
    assert_int_equal(dispatched(&p), KERNEL);
    forget_what_is_held();
    load_library();
    arm_probe(1, 0);
    OnUnload();
    assert_true(rtl_reader_probe(reader, &state_now));
    assert_int_equal(state_now.phase, RTL_PROBE_PHASE_OVER);
    assert_true(nothing_is_held());
}

static rtl_queue_error error_of;
static void *error_data;
static hsa_status_t queue_with_errors(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type, rtl_queue_error error,
                                      void *data, uint32_t private_segment, uint32_t group_segment, hsa_queue_t **queue)
{
    error_of = error;
    error_data = data;
    return intercept_queue(agent, size, type, error, data, private_segment, group_segment, queue);
}

static int told;
static void app_is_told(hsa_status_t status, hsa_queue_t *queue, void *data)
{
    told += status == HSA_STATUS_ERROR_EXCEPTION && queue == &the_queue && data == &told;
}

static void a_failed_queue_ends_all_probing(void **state)
{
    (void)state;
    hsa_queue_t *queue;
    packet_t p = kernel_packet(KERNEL, 0);
    load_library();
    app_queue_destroy(&the_queue);
    rtl_tool.hsa.amd_queue_intercept_create = queue_with_errors;
    hsa_status_t (*create)(hsa_agent_t, uint32_t, hsa_queue_type32_t, rtl_queue_error, void *, uint32_t, uint32_t,
                           hsa_queue_t **) = core.slot[7];
    assert_int_equal(create((hsa_agent_t){77}, RING, 0, app_is_told, &told, 0, 0, &queue), HSA_STATUS_SUCCESS);
    assert_ptr_not_equal(error_of, app_is_told);
    arm_probe(1, 0);
    error_of(HSA_STATUS_ERROR_EXCEPTION, &the_queue, error_data);
    assert_int_equal(told, 1);
    assert_int_equal(atomic_load(&rtl_probe_gate.kernel_object), KERNEL); /* no probed dispatch was in flight */
    assert_int_equal(dispatched(&p), PROBED_KERNEL);
    error_of(HSA_STATUS_ERROR_EXCEPTION, &the_queue, error_data);
    assert_int_equal(told, 2);
    assert_int_equal(atomic_load(&rtl_probe_gate.kernel_object), 0); /* at once */
    AWAIT(state_now.phase == RTL_PROBE_PHASE_ENDING);
    assert_int_equal(state_now.why, RTL_PROBE_WHY_QUEUE_ERROR);
    app_queue_destroy(&the_queue);
    AWAIT(state_now.phase == RTL_PROBE_PHASE_OVER);
    refused_with(RTL_PROBE_WHY_QUEUE_ERROR);
    prepare(KERNEL); /* not again in this process */
    refused_with(RTL_PROBE_WHY_QUEUE_ERROR);
    OnUnload();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_probes_leak_nothing),
        cmocka_unit_test(failed_copies_end_the_probe),
        cmocka_unit_test(an_unload_with_a_probe_in_flight_frees_nothing_in_use),
        cmocka_unit_test(a_failed_queue_ends_all_probing),
    };
    return cmocka_run_group_tests(tests, load_it, free_signals);
}
