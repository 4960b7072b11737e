/*
 * The hooks on functions of the newest releases that make queues. hsa_amd_queue_create takes an array of descriptors,
 * one for each queue; hsa_amd_counted_queue_acquire returns a counted queue.
 *
 * The function's slot in the table differs between branches of the runtime's public source, so rtl_hsa_hook_exported
 * finds it. The descriptor's layout, version 1, is that of the public header. Descriptors of another layout go to the
 * runtime unchanged, and their queues count as refused.
 *
 * An intercept queue can satisfy the descriptor of a compute queue: priority and mask of compute units are set before
 * the application gets it. Its ring is always in system memory. From ROCm 10 on HIP wants the ring in the GPU's memory
 * on some GPUs, which makes a dispatch slightly cheaper. Such an intercept queue gets its ring in system memory, as in
 * earlier releases, and a note on the screen says so; leaving the queue unwatched would be worse. Other requests leave
 * the queue plain.
 */
#include "intercept/hooks/hooks.h"

#include <errno.h>
#include <string.h>

#include "intercept/base/hsa_table.h"
#include "intercept/base/cancel.h"
#include "intercept/base/tool.h"
#include "intercept/hooks/queue_errors.h"
#include "intercept/hooks/queues.h"
#include "intercept/track/app_signals.h"
#include "intercept/track/hot_line.h"

/* hsa_amd_queue_create came with this step in the releases; the branches number differently. */
enum { STEP = 0x10 };
enum { VERSION = 1, RING_IN_DEVICE = 1, ENGINE_COMPUTE = 0, PACKET_BYTES = 64 };

/* HSA_STATUS_CU_MASK_REDUCED, which older headers lack: the mask is set as far as the system allows. */
enum { MASK_REDUCED = 44 };

struct queue_descriptor {
    uint16_t version, flags; /* flags: which parts lie in the GPU's memory; 0: none */
    uint8_t engine, reserved_header[3];
    uint32_t size_bytes;
    hsa_amd_queue_priority_t priority;
    rtl_queue_error error;
    void *data;
    hsa_queue_t *queue; /* result */
    struct {
        const uint32_t *mask;
        hsa_queue_type32_t type;
        uint32_t private_segment, mask_bits, reserved[3];
    } compute;
    uint32_t traffic_class;
    uint8_t reserved[20];
};
_Static_assert(offsetof(struct queue_descriptor, size_bytes) == 8 && offsetof(struct queue_descriptor, error) == 16 &&
                   offsetof(struct queue_descriptor, queue) == 32 && offsetof(struct queue_descriptor, compute) == 40 &&
                   offsetof(struct queue_descriptor, traffic_class) == 72 && sizeof(struct queue_descriptor) == 96,
               "the runtime's hsa_amd_queue_create_desc_t");

typedef hsa_status_t (*creator)(hsa_agent_t, struct queue_descriptor *, uint32_t);
static creator next_create; /* load: the function before our hook, the runtime's or another tool's */
static bool next_is_a_tool; /* load: it is another tool's */

static hsa_status_t create_described(const struct rtl_queue_request *r, hsa_queue_t **queue)
{
    struct queue_descriptor *d = r->descriptor;
    hsa_status_t status = next_create(r->agent, d, 1);
    *queue = d->queue;
    return status;
}

static bool apply_descriptor(const struct rtl_queue_request *r, hsa_queue_t *queue)
{
    const struct queue_descriptor *d = r->descriptor;
    if (d->priority != HSA_AMD_QUEUE_PRIORITY_NORMAL &&
        rtl_tool.hsa.amd_queue_set_priority(queue, d->priority) != HSA_STATUS_SUCCESS)
        return false;
    if (d->compute.mask_bits) {
        int set = (int)rtl_tool.hsa.amd_queue_cu_set_mask(queue, d->compute.mask_bits, d->compute.mask);
        if (set != (int)HSA_STATUS_SUCCESS && set != MASK_REDUCED)
            return false;
    }
    if (d->flags & RING_IN_DEVICE)
        rtl_segment_note(&rtl_tool.segment, RTL_NOTE_RING_MOVED);
    return true;
}

static bool is_zero(const void *bytes, size_t count)
{
    static const char none[32];
    return memcmp(bytes, none, count) == 0;
}

/* True if an intercept queue can have all properties. The runtime reports wrong arguments itself. */
static bool can_be_intercepted(const struct queue_descriptor *d)
{
    return (d->flags & ~RING_IN_DEVICE) == 0 && d->traffic_class == 0 &&
           is_zero(d->reserved_header, sizeof d->reserved_header) && is_zero(d->reserved, sizeof d->reserved) &&
           is_zero(d->compute.reserved, sizeof d->compute.reserved) && d->size_bytes >= PACKET_BYTES &&
           (d->size_bytes & (d->size_bytes - 1)) == 0 && (d->compute.mask_bits != 0) == (d->compute.mask != NULL) &&
           d->compute.mask_bits % 32 == 0;
}

static hsa_status_t make_described(hsa_agent_t agent, struct queue_descriptor *d)
{
    d->queue = NULL;
    if (d->engine != ENGINE_COMPUTE) {
        hsa_status_t status = next_create(agent, d, 1);
        if (d->queue)
            rtl_app_signals_stop(); /* its packets may carry signals that kernels had before */
        return status;
    }
    /* the runtime takes its error callback from the descriptor, so the descriptor is changed meanwhile */
    const rtl_queue_error error = d->error;
    void *data = d->data;
    struct rtl_queue_relay *relay = rtl_queue_errors_relay_callback(&d->error, &d->data);
    const struct rtl_queue_request r = {.agent = agent,
                                        .size = d->size_bytes / PACKET_BYTES,
                                        .type = d->compute.type,
                                        .error = d->error,
                                        .data = d->data,
                                        .private_segment = d->compute.private_segment,
                                        .group_segment = UINT32_MAX, /* descriptors don't have it */
                                        .intercept = can_be_intercepted(d),
                                        .native = !(d->flags & RING_IN_DEVICE), /* reading that is slow */
                                        .chained = next_is_a_tool,
                                        .plain = create_described,
                                        .apply = apply_descriptor,
                                        .descriptor = d};
    hsa_queue_t *queue = NULL;
    hsa_status_t status = rtl_queue_make(&r, &queue);
    if (status == HSA_STATUS_SUCCESS)
        d->queue = queue;
    else if (d->queue) /* the runtime made a queue and returned a status that isn't SUCCESS */
        rtl_queue_not_watched();
    d->error = error;
    d->data = data;
    rtl_queue_errors_of(relay, d->queue);
    return status;
}

/* Returns the first error, as the runtime does; queues that could be made exist all the same. */
static hsa_status_t make_all_described(hsa_agent_t agent, struct queue_descriptor *descriptors, uint32_t count)
{
    if (!descriptors || !count || !rtl_recording())
        return next_create(agent, descriptors, count);
    for (uint32_t i = 0; i < count; i++)
        if (descriptors[i].version != VERSION) { /* unknown layout, unknown size: it counts as one queue */
            hsa_status_t status = next_create(agent, descriptors, count);
            if (status == HSA_STATUS_SUCCESS || i > 0)
                rtl_queue_not_watched();
            return status;
        }
    hsa_status_t first = HSA_STATUS_SUCCESS;
    for (uint32_t i = 0; i < count; i++) {
        hsa_status_t status = make_described(agent, &descriptors[i]);
        if (first == HSA_STATUS_SUCCESS)
            first = status;
    }
    return first;
}

static hsa_status_t hook_queues_create(hsa_agent_t agent, struct queue_descriptor *descriptors, uint32_t count)
{
    int held = rtl_cancel_disable();
    hsa_status_t status = make_all_described(agent, descriptors, count);
    rtl_cancel_restore(held);
    return status;
}

/* Counted queues: several users acquire one, and each of them releases it. They can't be intercept queues, but native
 * ones. */
typedef hsa_status_t (*acquirer)(hsa_agent_t, hsa_queue_type32_t, hsa_amd_queue_priority_t, rtl_queue_error, void *,
                                 uint64_t, hsa_queue_t **);
typedef hsa_status_t (*releaser)(hsa_queue_t *);
static acquirer next_acquire; /* load: the functions before our hooks */
static releaser next_release;

static hsa_status_t hook_queue_acquire(hsa_agent_t agent, hsa_queue_type32_t type, hsa_amd_queue_priority_t priority,
                                       rtl_queue_error error, void *data, uint64_t flags, hsa_queue_t **queue)
{
    if (rtl_recording())
        rtl_queue_errors_relay_counted(&error, &data);
    int held = rtl_cancel_disable();
    hsa_status_t status = next_acquire(agent, type, priority, error, data, flags, queue);
    if (status == HSA_STATUS_SUCCESS && queue && *queue && rtl_recording()) {
        int saved = errno;
        if (next_release)
            rtl_queue_acquired(agent, *queue);
        else
            rtl_queue_not_watched(); /* its release can't be seen */
        errno = saved;
    }
    rtl_cancel_restore(held);
    return status;
}

static hsa_status_t hook_queue_release(hsa_queue_t *queue)
{
    /* before the release: the queue's memory may go */
    int held = rtl_cancel_disable();
    rtl_queue_released(queue);
    hsa_status_t status = next_release(queue);
    rtl_cancel_restore(held);
    return status;
}

bool rtl_descriptors_hook(void *table)
{
    bool maybe_acquire, maybe_release, maybe;
    next_release = (releaser)rtl_hsa_hook_exported(table, "hsa_amd_counted_queue_release",
                                                   (void (*)(void))hook_queue_release, &maybe_release);
    next_acquire = (acquirer)rtl_hsa_hook_exported(table, "hsa_amd_counted_queue_acquire",
                                                   (void (*)(void))hook_queue_acquire, &maybe_acquire);
    next_create =
        (creator)rtl_hsa_hook_exported(table, "hsa_amd_queue_create", (void (*)(void))hook_queues_create, &maybe);
    if (next_create)
        next_is_a_tool = !rtl_queue_same_library((void (*)(void))next_create,
                                                 (void (*)(void))rtl_tool.hsa.amd_queue_intercept_create);
    else
        maybe |= rtl_tool.hsa.ext_step >= STEP;
    return !maybe && !maybe_acquire;
}
