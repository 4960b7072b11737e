/* The gate of a probe, on the application's threads (probe_gate.h). */
#include "intercept/track/probe_gate.h"

#include "intercept/track/kernel_rows.h"

struct rtl_probe_gate rtl_probe_gate;

#define GATE (&rtl_probe_gate)

uint64_t rtl_probe_gate_try(const struct rtl_tracker *tracker, const hsa_kernel_dispatch_packet_t *packet, bool timed)
{
    uint64_t object = packet->kernel_object;
    uint32_t state = RTL_GATE_FREE;
    if (!object || object != atomic_load_explicit(&GATE->kernel_object, memory_order_relaxed))
        return 0;
    uint64_t n = atomic_fetch_add_explicit(&GATE->seen, 1, memory_order_relaxed);
    if (!timed || tracker->cooperative || n < atomic_load_explicit(&GATE->due, memory_order_relaxed))
        return 0;
    if (!atomic_compare_exchange_strong(&GATE->state, &state, RTL_GATE_TAKEN))
        return 0;
    /* from here on the worker changes nothing; before, the gate may have been opened for another probe */
    if (atomic_load(&GATE->kernel_object) != object || tracker->gpu != GATE->gpu ||
        packet->private_segment_size < GATE->private_bytes || packet->group_segment_size < GATE->group_bytes) {
        atomic_store(&GATE->state, RTL_GATE_FREE);
        return 0;
    }
    atomic_store_explicit(&GATE->due, n + GATE->every, memory_order_relaxed);
    atomic_fetch_add_explicit(&GATE->taken, 1, memory_order_relaxed);
    GATE->grid[0] = packet->grid_size_x;
    GATE->grid[1] = packet->grid_size_y;
    GATE->grid[2] = packet->grid_size_z;
    GATE->workgroup[0] = packet->workgroup_size_x;
    GATE->workgroup[1] = packet->workgroup_size_y;
    GATE->workgroup[2] = packet->workgroup_size_z;
    return GATE->probed_object;
}

static void forget(_Atomic uint64_t *field)
{
    uint64_t object = atomic_load(field);
    if (object && !rtl_map_find(&rtl_kernel_map, object))
        atomic_compare_exchange_strong(field, &object, 0);
}

void rtl_probe_gate_forget(void)
{
    forget(&GATE->wanted_object); /* first: arming stores kernel_object, then reads wanted_object */
    forget(&GATE->kernel_object);
}

void rtl_probe_gate_queue_failed(void)
{
    if (atomic_load(&GATE->state) != RTL_GATE_TAKEN)
        return;
    atomic_store(&GATE->failed, true);
    atomic_store(&GATE->kernel_object, 0);
}
