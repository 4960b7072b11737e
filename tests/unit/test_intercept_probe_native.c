/* A probe's copy in a native queue: the packet's contents in the ring, and a queue whose destruction fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "native_fixture.h"

#include "probe_fixture.h"

static uint64_t submit(uint64_t object)
{
    uint64_t index = app_add(1);
    put(index, object);
    app_ring(index);
    return index;
}

static hsa_status_t not_destroyed(hsa_queue_t *queue)
{
    (void)queue;
    return HSA_STATUS_ERROR_INVALID_QUEUE;
}

static void a_queue_whose_destruction_fails_keeps_its_probe(void **state)
{
    (void)state;
    struct rtl_queue *line = native_line();
    uint64_t before = AT(line->untimed[RTL_UNTIMED_PROBED]);
    arm_probe(1, 0);
    packet_t *probed = slot_of(submit(KERNEL));
    assert_int_equal(probed->kernel_object, PROBED_KERNEL);
    assert_int_equal(probed->header, HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE |
                                         HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                                         HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
    uint64_t its_signal = probed->completion_signal.handle;
    rtl_tool.hsa.queue_destroy = not_destroyed;
    hsa_status_t (*destroy)(hsa_queue_t *) = core.slot[9];
    assert_int_equal(destroy(&native_queue.hsa_queue), HSA_STATUS_ERROR_INVALID_QUEUE);
    rtl_tool.hsa.queue_destroy = queue_gone;
    AWAIT(gate_is(RTL_GATE_HELD));
    assert_int_equal(AT(line->untimed[RTL_UNTIMED_PROBED]), before + 1);
    assert_int_equal(atomic_load(&executables), 1);

    /* its signal may still be written to: it is not reused */
    assert_non_null(app_queue());
    line = native_line();
    uint64_t completed = AT(line->completed);
    for (uint64_t i = 0; i < 3 * RTL_SIGNALS_START; i++) {
        packet_t *other_one = slot_of(submit(0x4444));
        assert_int_not_equal(other_one->completion_signal.handle, 0);
        assert_int_not_equal(other_one->completion_signal.handle, its_signal);
        assert_int_equal(gpu_takes(1), 1);
        wait_completed(line, ++completed);
    }

    /* and its executable is not freed, whatever its block shows */
    run_waves(10);
    AWAIT(gate_is(RTL_GATE_FREE));
    disarm_probe();
    AWAIT(state_now.phase == RTL_PROBE_PHASE_OVER);
    assert_int_equal(state_now.why, RTL_PROBE_WHY_DISARMED);
    assert_int_equal(atomic_load(&executables), 1);
    assert_int_equal(atomic_load(&blocks), 1);
    forget_what_is_held();
}

static int load_native(void **state)
{
    (void)state;
    fill_all_tables = fill_native_tables;
    load_library();
    return native_of() ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queue_whose_destruction_fails_keeps_its_probe),
    };
    return cmocka_run_group_tests(tests, load_native, unload_it);
}
