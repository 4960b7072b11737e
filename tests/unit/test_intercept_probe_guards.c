/*
 * Guards of a probe in an unknown program: which copy is armed, which packets run it, what it waits for, and which
 * messages it prints.
 */
#include "probe_fixture.h"

#include <fcntl.h>

/* --- the copy --- */

static void refuse_copy(void)
{
    prepare(KERNEL);
    assert_int_equal(state_now.phase, RTL_PROBE_PHASE_PREPARED);
    arm_with(request_for(1, 0));
    refused_with(RTL_PROBE_WHY_BAD_CODE);
}

/* Between the viewer's read of the code and its request, the address has become another kernel's. */
static void a_copy_of_another_kernel_is_refused(void **state)
{
    (void)state;
    atomic_store(&copy_is_other, true);
    refuse_copy();
    atomic_store(&copy_is_other, false);
    atomic_store(&copy_name_longer, 1);
    refuse_copy();
    atomic_store(&copy_name_longer, -1);
    refuse_copy();
    atomic_store(&copy_name_longer, 0);
    arm_probe(1, 0);
    disarm_probe();
    refused_with(RTL_PROBE_WHY_DISARMED);
}

/* A packet with less memory than the copy needs runs the original kernel. */
static void a_packet_with_too_little_memory_runs_the_kernel(void **state)
{
    (void)state;
    packet_t p = kernel_packet(KERNEL, 0);
    atomic_store(&copy_private, 64);
    atomic_store(&copy_group, 256);
    arm_probe(1, 0);
    p.private_segment_size = 63;
    p.group_segment_size = 256;
    assert_int_equal(dispatched(&p), KERNEL);
    finish_last();
    p.private_segment_size = 64;
    p.group_segment_size = 255;
    assert_int_equal(dispatched(&p), KERNEL);
    finish_last();
    assert_true(gate_is(RTL_GATE_FREE));
    p.group_segment_size = 256;
    assert_int_equal(dispatched(&p), PROBED_KERNEL);
    run_waves(10);
    finish_last();
    AWAIT(state_now.recorded == 1);
    assert_int_equal(state_now.dispatches, 3);
    assert_int_equal(state_now.probed, 1);
    disarm_probe();
    AWAIT(state_now.phase == RTL_PROBE_PHASE_OVER);
    refused_with(RTL_PROBE_WHY_DISARMED);
    atomic_store(&copy_private, 0);
    atomic_store(&copy_group, 0);
}

/* --- the packets --- */

/* Two kernels on one application signal: the end of neither is visible. */
static void kernels_that_share_a_signal_are_not_probed(void **state)
{
    (void)state;
    hsa_signal_t own = app_signal(2);
    packet_t other = kernel_packet(0x4444, own.handle), p = kernel_packet(KERNEL, own.handle);
    uint64_t completed = AT(counters_of()->completed);
    arm_probe(1, 0);
    assert_int_equal(dispatched(&other), 0x4444);
    assert_int_equal(dispatched(&p), KERNEL);
    assert_true(gate_is(RTL_GATE_FREE));
    wait_completed(counters_of(), completed + 2);
    p.completion_signal.handle = 0;
    assert_int_equal(dispatched(&p), PROBED_KERNEL);
    run_waves(10);
    finish_last();
    AWAIT(state_now.recorded == 1);
    assert_int_equal(state_now.dispatches, 2);
    assert_int_equal(state_now.probed, 1);
    disarm_probe();
    AWAIT(state_now.phase == RTL_PROBE_PHASE_OVER);
    refused_with(RTL_PROBE_WHY_DISARMED);
    app_signal_destroy(own);
}

static uint16_t header_with(uint32_t acquire, uint32_t release)
{
    return (uint16_t)(HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE | 1u << HSA_PACKET_HEADER_BARRIER |
                      acquire << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                      release << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
}

/* The block is cleared and read by another GPU than the one at which the packet's fences may stop. */
static void a_probed_packet_has_system_fences(void **state)
{
    (void)state;
    packet_t batch[2] = {other_packet(HSA_PACKET_TYPE_BARRIER_AND, 0), kernel_packet(KERNEL, 0)};
    batch[0].completion_signal.handle = 0;
    uint16_t system = header_with(HSA_FENCE_SCOPE_SYSTEM, HSA_FENCE_SCOPE_SYSTEM);
    arm_probe(1, 0);
    for (uint32_t scope = HSA_FENCE_SCOPE_NONE; scope <= HSA_FENCE_SCOPE_SYSTEM; scope++) {
        batch[1].header = header_with(scope, HSA_FENCE_SCOPE_SYSTEM - scope);
        for (int alone = 0; alone < 2; alone++) {
            uint64_t before = AT(counters_of()->completed);
            hand_over(&batch[alone], alone ? 1 : 2);
            packet_t probed = written[alone ? 0 : 1];
            assert_int_equal(probed.kernel_object, PROBED_KERNEL);
            assert_int_equal(probed.header, system);
            assert_int_equal(dispatched(&batch[1]), KERNEL); /* the gate is closed */
            assert_int_equal(written[0].header, batch[1].header);
            complete(&written[0], ticks += 100000, 400);
            complete(&probed, ticks += 100000, 400);
            wait_completed(counters_of(), before + 2);
            AWAIT(gate_is(RTL_GATE_FREE));
        }
    }
    disarm_probe();
    AWAIT(state_now.phase == RTL_PROBE_PHASE_OVER);
    refused_with(RTL_PROBE_WHY_DISARMED);
}

/* --- answers --- */

/* A request that arrives before the previous one is answered is executed, too. */
static void a_request_during_another_is_executed(void **state)
{
    (void)state;
    atomic_store(&copies_hang, true);
    int copies = atomic_load(&copies_begun);
    uint16_t first = rtl_probe_prepare(reader, &link_to, KERNEL, 0);
    AWAIT(atomic_load(&copies_begun) == copies + 1);
    atomic_store(&copies_hang, false);
    uint16_t second = rtl_probe_disarm(reader, &link_to);
    assert_int_not_equal(first, second);
    uint64_t passes = AT(rtl_tool.segment.header->passes);
    AWAIT(AT(rtl_tool.segment.header->passes) > passes + 1); /* the worker has read it */
    end_hung_copy();
    AWAIT(state_now.number == second);
    assert_int_equal(state_now.phase, RTL_PROBE_PHASE_OVER);
    refused_with(RTL_PROBE_WHY_DISARMED);

    /* and its answer is not the previous request's */
    atomic_store(&copies_hang, true);
    first = rtl_probe_prepare(reader, &link_to, KERNEL, 0);
    AWAIT(atomic_load(&copies_begun) == copies + 2);
    atomic_store(&copies_hang, false);
    second = rtl_probe_prepare(reader, &link_to, 0x4444, 0);
    passes = AT(rtl_tool.segment.header->passes);
    AWAIT(AT(rtl_tool.segment.header->passes) > passes + 1);
    end_hung_copy();
    AWAIT(state_now.number == second);
    refused_with(RTL_PROBE_WHY_NO_KERNEL);
}

/* --- a full pipe as standard error --- */

static void a_full_pipe_on_stderr_blocks_nothing(void **state)
{
    (void)state;
    packet_t p = kernel_packet(KERNEL, 0);
    static char read_back[65536];
    int ends[2], before = dup(STDERR_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    while (write(ends[1], read_back, 4096) == 4096)
        ;
    assert_int_equal(fcntl(ends[1], F_SETFL, 0), 0);
    assert_int_equal(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    prepare(KERNEL);
    struct rtl_probe_request request = request_for(1, 0);
    rtl_probe_arm(reader, &link_to, state_now.number, &request, code, make_code());
    for (int i = 0; i < 5 * patience() && state_now.phase != RTL_PROBE_PHASE_ARMED; i++)
        moment();
    bool armed = state_now.phase == RTL_PROBE_PHASE_ARMED;
    while (read(ends[0], read_back, sizeof read_back) > 0)
        ;
    dup2(before, STDERR_FILENO);
    assert_true(armed);
    assert_int_equal(dispatched(&p), PROBED_KERNEL);
    finish_last();
    disarm_probe();
    AWAIT(state_now.phase == RTL_PROBE_PHASE_OVER);
    refused_with(RTL_PROBE_WHY_DISARMED);

    /* with a reader the message is printed */
    dup2(ends[1], STDERR_FILENO);
    arm_probe(1, 0);
    dup2(before, STDERR_FILENO);
    ssize_t length = read(ends[0], read_back, sizeof read_back - 1);
    assert_true(length > 0);
    read_back[length] = '\0';
    assert_non_null(strstr(read_back, "librtl: a probe was loaded: 4992 bytes"));
    disarm_probe();
    refused_with(RTL_PROBE_WHY_DISARMED);
    close(ends[0]);
    close(ends[1]);
    close(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_of_another_kernel_is_refused),
        cmocka_unit_test(a_packet_with_too_little_memory_runs_the_kernel),
        cmocka_unit_test(kernels_that_share_a_signal_are_not_probed),
        cmocka_unit_test(a_probed_packet_has_system_fences),
        cmocka_unit_test(a_request_during_another_is_executed),
        cmocka_unit_test(a_full_pipe_on_stderr_blocks_nothing),
    };
    return cmocka_run_group_tests(tests, load_it, unload_it);
}
