/* Relays queues' errors (queue_errors.h). */
#include "intercept/hooks/queue_errors.h"

#include <pthread.h>
#include <stdlib.h>

#include "intercept/base/tool.h"
#include "intercept/track/probe_gate.h"

struct rtl_queue_relay {
    struct rtl_queue_relay *next;
    const hsa_queue_t *queue; /* NULL: it is being made or destroyed */
    rtl_queue_error error;    /* the application's */
    void *data;
    bool taken;
    bool counted; /* for a counted queue: permanent, and shared by users with the same callback */
};

enum { COUNTED_MAX = 256 }; /* relays of that kind; beyond it errors aren't seen */

static struct rtl_queue_relay *relays; /* create, under rtl_tool.create; as many as there were queues at once */
static int counted_relays;             /* create, under rtl_tool.create */

static void report_error(hsa_status_t status, hsa_queue_t *source, void *data)
{
    const struct rtl_queue_relay *relay = data;
    rtl_probe_gate_queue_failed();
    relay->error(status, source, relay->data);
}

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

/* True if the callback needs a relay; another tool behind us may pass our own. */
static bool needs_relay(rtl_queue_error error)
{
    return rtl_tool.segment.probe && error && error != report_error;
}

struct rtl_queue_relay *rtl_queue_errors_relay(rtl_queue_error *error, void **data)
{
    if (!needs_relay(*error))
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

void rtl_queue_errors_relay_counted(rtl_queue_error *error, void **data)
{
    if (!needs_relay(*error))
        return;
    pthread_mutex_lock(&rtl_tool.create);
    struct rtl_queue_relay *relay = relays;
    while (relay && !(relay->counted && relay->error == *error && relay->data == *data))
        relay = relay->next;
    if (!relay && counted_relays < COUNTED_MAX && (relay = claim_relay(*error, *data))) {
        relay->counted = true;
        counted_relays++;
    }
    pthread_mutex_unlock(&rtl_tool.create);
    if (relay) {
        *error = report_error;
        *data = relay;
    }
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
    if (!rtl_tool.segment.probe)
        return NULL;
    pthread_mutex_lock(&rtl_tool.create);
    struct rtl_queue_relay *relay = relays;
    while (relay && (!relay->taken || relay->queue != queue))
        relay = relay->next;
    if (relay)
        relay->queue = NULL;
    pthread_mutex_unlock(&rtl_tool.create);
    return relay;
}
