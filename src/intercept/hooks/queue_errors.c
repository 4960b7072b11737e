/* Publishes queue errors and passes them on. See queue_errors.h. */
#include "intercept/hooks/queue_errors.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "intercept/base/cancel.h"
#include "intercept/base/tool.h"
#include "intercept/hooks/packets.h"
#include "intercept/track/native_ring.h"
#include "intercept/track/probe_gate.h"
#include "intercept/track/queue_tracker.h"
#include "intercept/worker/worker.h"

struct rtl_queue_relay {
    struct rtl_queue_relay *next;
    const hsa_queue_t *queue; /* NULL: it is being made or destroyed */
    rtl_queue_error error;    /* the application's callback; NULL: none */
    void *data;
    bool taken;
    bool shared; /* for queues with several users: permanent, and shared by users with the same callback */
};

enum { SHARED_MAX = 256 }; /* relays of that kind; beyond it errors aren't seen */

static struct rtl_queue_relay *relays; /* create, under rtl_tool.create; as many as there were queues at once */
static int shared_relays;              /* create, under rtl_tool.create */
static bool runtime_is_silent;         /* load: HSA_ENABLE_QUEUE_FAULT_MESSAGE was 0 */

/* --- the kernel at the head --- */

/* Return the packet with that index if it is a kernel dispatch, else NULL. The GPU clears a consumed packet's header.
 */
static const hsa_kernel_dispatch_packet_t *kernel_at(const struct rtl_native *native, uint64_t index)
{
    const union rtl_packet *packet =
        (const union rtl_packet *)(const void *)(native->ring + (index & (native->slots - 1)) * sizeof *packet);
    bool kernel = rtl_packet_type(packet) == HSA_PACKET_TYPE_INVALID ? rtl_packet_was_kernel(&packet->kernel)
                                                                     : rtl_packet_is_dispatch(packet);
    return kernel ? &packet->kernel : NULL;
}

/* Under the lock. Return row + 1 of the kernel that a native queue's read index shows; 0: none or not known. Some
 * packet processors move the index when a kernel starts, others when it has ended. So the packet at the index and the
 * packet before it must not have different kernels. */
static uint32_t kernel_in_ring(const struct rtl_native *native)
{
    uint64_t read = rtl_native_read(native), end = rtl_native_real(native);
    if (read >= end)
        return 0;
    char name[1];
    const hsa_kernel_dispatch_packet_t *at = kernel_at(native, read),
                                       *before = read ? kernel_at(native, read - 1) : NULL;
    if (at && before && at->kernel_object != before->kernel_object)
        return 0;
    at = at ? at : before;
    return at ? rtl_kernels_describe(at->kernel_object, name, sizeof name) + 1 : 0;
}

/* --- publishing --- */

/* Publish the error of a live queue. `queue` is NULL for an error of the GPU, which counts only if a kernel is in
 * flight. */
static void publish_error(struct rtl_tracker *tracker, const hsa_queue_t *queue, hsa_status_t status)
{
    uint32_t kernel = rtl_worker_first_kernel(tracker);
    pthread_mutex_lock(&rtl_tool.create);
    const hsa_queue_t *now = tracker->queue;
    if (atomic_load(&tracker->state) == RTL_TRACKER_LIVE && now && (!queue || now == queue)) {
        if (!kernel && tracker->native)
            kernel = kernel_in_ring(tracker->native);
        if (queue || kernel)
            rtl_tracker_fail(tracker, status ? status : HSA_STATUS_ERROR, kernel);
    }
    pthread_mutex_unlock(&rtl_tool.create);
}

/* Publish the error of a queue, or of all queues of an agent. No lock: trackers are never freed, and publish_error
 * checks once more. */
static void publish_errors(const hsa_queue_t *queue, hsa_agent_t agent, hsa_status_t status)
{
    if (!rtl_recording())
        return;
    int held = rtl_cancel_disable();
    for (struct rtl_tracker *tracker = atomic_load(&rtl_trackers); tracker; tracker = tracker->next) {
        pthread_mutex_lock(&rtl_tool.create);
        bool its = atomic_load(&tracker->state) == RTL_TRACKER_LIVE && tracker->queue &&
                   (queue ? tracker->queue == queue : tracker->gpu->agent.handle == agent.handle);
        pthread_mutex_unlock(&rtl_tool.create);
        if (its)
            publish_error(tracker, queue, status);
    }
    rtl_cancel_restore(held);
}

/* Do what the runtime's own handler does for a queue without a callback. */
static void fail_like_the_runtime(hsa_status_t status, hsa_queue_t *source)
{
    const char *message = "UNKNOWN ERROR";
    if (runtime_is_silent)
        return;
    rtl_tool.hsa.status_string(status, &message);
    fprintf(stderr, "Queue at %p inactivated due to async error:\n\t%s\n", (void *)source, message);
    abort();
}

static void report_error(hsa_status_t status, hsa_queue_t *source, void *data)
{
    const struct rtl_queue_relay *relay = data;
    rtl_probe_gate_queue_failed();
    if (source)
        publish_errors(source, (hsa_agent_t){0}, status);
    if (relay->error)
        relay->error(status, source, relay->data);
    else
        fail_like_the_runtime(status, source);
}

/* Returns an error, which leaves the event to the other handlers, or to the runtime. */
static hsa_status_t report_event(const hsa_amd_event_t *event, void *data)
{
    enum { HARDWARE_EXCEPTION = 1, MEMORY_ERROR = 2 }; /* since 6.0 and 6.3; all kinds have the agent first */
    (void)data;
    if ((int)event->event_type <= MEMORY_ERROR)
        publish_errors(NULL, event->memory_fault.agent,
                       (int)event->event_type == HARDWARE_EXCEPTION ? HSA_STATUS_ERROR
                                                                    : (hsa_status_t)HSA_STATUS_ERROR_MEMORY_FAULT);
    return HSA_STATUS_ERROR;
}

static bool is_off(const char *variable)
{
    const char *value = getenv(variable);
    return value && strcmp(value, "0") == 0;
}

void rtl_queue_errors_start(void)
{
    runtime_is_silent = is_off("HSA_ENABLE_QUEUE_FAULT_MESSAGE");
    /* without its message a runtime from 6.2 on writes a core dump only if there is a handler */
    if (!is_off("HSA_ENABLE_VM_FAULT_MESSAGE"))
        rtl_tool.hsa.amd_register_system_event_handler(report_event, NULL);
}

/* --- relays --- */

/* Under the lock. */
static struct rtl_queue_relay *claim_relay(rtl_queue_error error, void *data)
{
    struct rtl_queue_relay *relay = relays;
    while (relay && relay->taken)
        relay = relay->next;
    if (!relay && (relay = calloc(1, sizeof *relay))) {
        relay->next = relays;
        relays = relay;
    }
    if (relay)
        *relay = (struct rtl_queue_relay){.next = relay->next, .error = error, .data = data, .taken = true};
    return relay;
}

struct rtl_queue_relay *rtl_queue_errors_relay(rtl_queue_error *error, void **data)
{
    if (*error == report_error) /* another tool passes our own callback */
        return NULL;
    pthread_mutex_lock(&rtl_tool.create);
    struct rtl_queue_relay *relay = claim_relay(*error, *data);
    pthread_mutex_unlock(&rtl_tool.create);
    if (relay) {
        *error = report_error;
        *data = relay;
    }
    return relay;
}

struct rtl_queue_relay *rtl_queue_errors_relay_callback(rtl_queue_error *error, void **data)
{
    return *error ? rtl_queue_errors_relay(error, data) : NULL;
}

void rtl_queue_errors_relay_shared(rtl_queue_error *error, void **data)
{
    if (*error == report_error)
        return;
    pthread_mutex_lock(&rtl_tool.create);
    struct rtl_queue_relay *relay = relays;
    while (relay && !(relay->shared && relay->error == *error && relay->data == *data))
        relay = relay->next;
    if (!relay && shared_relays < SHARED_MAX && (relay = claim_relay(*error, *data))) {
        relay->shared = true;
        shared_relays++;
    }
    pthread_mutex_unlock(&rtl_tool.create);
    if (relay) {
        *error = report_error;
        *data = relay;
    }
}

void rtl_queue_errors_relay_counted(rtl_queue_error *error, void **data)
{
    if (*error)
        rtl_queue_errors_relay_shared(error, data);
}

void rtl_queue_errors_of(struct rtl_queue_relay *relay, const hsa_queue_t *queue)
{
    if (!relay)
        return;
    pthread_mutex_lock(&rtl_tool.create);
    relay->queue = queue;
    relay->taken = queue != NULL;
    pthread_mutex_unlock(&rtl_tool.create);
}

struct rtl_queue_relay *rtl_queue_errors_leave(const hsa_queue_t *queue)
{
    pthread_mutex_lock(&rtl_tool.create);
    struct rtl_queue_relay *relay = relays;
    while (relay && (!relay->taken || relay->queue != queue))
        relay = relay->next;
    if (relay)
        relay->queue = NULL;
    pthread_mutex_unlock(&rtl_tool.create);
    return relay;
}
