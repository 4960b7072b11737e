/*
 * intercept_described_preload.c - makes the real runtime look like one with hsa_amd_queue_create and, in the slots
 * before it, hsa_amd_memory_async_batch_copy, hsa_amd_counted_queue_acquire and hsa_amd_counted_queue_release, which no
 * available release has. It is loaded as a tool and passes librtl.so (DESCRIBED_TOOL, if set) a table with a longer
 * amd_ext, in which the function is in slot DESCRIBED_SLOT. The application finds the function in this library too, as
 * it would in the runtime's own file.
 *
 * It follows the public header: it checks descriptors of version 1, creates each queue with its priority and mask,
 * reports the first error, and the exported function goes through the table. The real runtime's copies carry out a
 * batch, one entry after the other; the last one of an operation carries the operation's signal. All users that acquire
 * a queue share one queue.
 *
 * DESCRIBED_AS: "runtime" (the runtime's functions for intercept queues seem to be in the library of the new one),
 * "tool" (another tool seems to have hooked the new one), "hidden" (the table's file cannot be determined).
 * DESCRIBED_STEP is the table's step. At its end it prints how many queues it created itself, and how many got a low, a
 * normal and a high priority through the table.
 */
#include <dlfcn.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "intercept_described.h"

#define EXPORT __attribute__((visibility("default")))

struct table_version {
    uint32_t major, minor, step, reserved;
};
struct table_root {
    struct table_version version;
    void *core, *amd_ext, *more[8];
};
enum {
    SLOTS = 128,
    CORE_QUEUE_CREATE = 7,
    ASYNC_COPY = 15,
    CREATE = 37,
    REGISTER = 38,
    PRIORITY = 39
}; /* slot numbers from 5.6 on */

typedef void (*function)(void);
static struct {
    struct table_version version;
    function slot[SLOTS];
} table;
static int own_slot = 79;
static int made, given[3];
static void (*tool_unload)(void);
static hsa_status_t (*queue_create)(hsa_agent_t, uint32_t, hsa_queue_type32_t,
                                    void (*)(hsa_status_t, hsa_queue_t *, void *), void *, uint32_t, uint32_t,
                                    hsa_queue_t **);

EXPORT int OnLoad(void *runtime, uint64_t version, uint64_t failed, const char *const *names);
EXPORT void OnUnload(void);
EXPORT hsa_status_t hsa_amd_queue_create(hsa_agent_t agent, struct description *d, uint32_t count);
EXPORT hsa_status_t hsa_amd_memory_async_batch_copy(const struct operation *operations, uint32_t count, uint32_t n,
                                                    const hsa_signal_t *after);
EXPORT hsa_status_t hsa_amd_counted_queue_release(hsa_queue_t *queue);
EXPORT hsa_status_t hsa_amd_counted_queue_acquire(hsa_agent_t agent, uint32_t type, int priority, void *error,
                                                  void *data, uint64_t flags, hsa_queue_t **queue);

static bool zero(const void *bytes, size_t n)
{
    static const char none[32];
    return memcmp(bytes, none, n) == 0;
}

static hsa_status_t create_one(hsa_agent_t agent, struct description *d)
{
    d->queue = NULL;
    if (d->version != 1 || d->traffic_class || !zero(d->reserved_header, 3) || !zero(d->reserved, 20) ||
        !d->size_bytes || (d->size_bytes & (d->size_bytes - 1)) || d->size_bytes % 64 || d->compute.mask_bits % 32)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (d->engine > 2)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (d->engine == 2)
        return HSA_STATUS_ERROR_INVALID_QUEUE_CREATION;
    hsa_status_t status = queue_create(agent, d->size_bytes / 64, d->compute.type, d->error, d->data,
                                       d->compute.private_segment, UINT32_MAX, &d->queue);
    if (!status)
        status = hsa_amd_queue_set_priority(d->queue, d->priority);
    if (!status && d->compute.mask_bits)
        status = hsa_amd_queue_cu_set_mask(d->queue, d->compute.mask_bits, d->compute.mask);
    if (status)
        d->queue = NULL;
    else
        made++;
    return status;
}

static hsa_status_t create_described(hsa_agent_t agent, struct description *d, uint32_t count)
{
    hsa_status_t first = d && count ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (uint32_t i = 0; d && i < count; i++) {
        hsa_status_t status = create_one(agent, &d[i]);
        if (first == HSA_STATUS_SUCCESS)
            first = status;
    }
    return first;
}

hsa_status_t hsa_amd_queue_create(hsa_agent_t agent, struct description *d, uint32_t count)
{
    return ((hsa_status_t(*)(hsa_agent_t, struct description *, uint32_t))table.slot[own_slot])(agent, d, count);
}

static hsa_status_t (*async_copy)(void *, hsa_agent_t, const void *, hsa_agent_t, size_t, uint32_t,
                                  const hsa_signal_t *, hsa_signal_t);

static hsa_status_t check_operation(const struct operation *o)
{
    bool many = o->num_entries > 0;
    if (o->version != 1 || o->type > OPERATION_BROADCAST || o->num_entries > ENTRIES_MOST ||
        !zero(o->reserved1, sizeof o->reserved1) || o->wait.function || o->signal.operation)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT; /* swaps and indirections are not emulated */
    if (o->type == OPERATION_BROADCAST && !many)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return HSA_STATUS_SUCCESS;
}

/* Each entry but the last gets its own signal, and the next entry waits for it. */
static hsa_status_t carry_out(const struct operation *o, uint32_t n, const hsa_signal_t *after)
{
    uint16_t entries = o->num_entries ? o->num_entries : 1;
    hsa_status_t status = HSA_STATUS_SUCCESS;
    for (uint16_t i = 0; !status && i < entries; i++) {
        bool many = o->num_entries > 0, broadcast = o->type == OPERATION_BROADCAST, last = i == entries - 1;
        hsa_signal_t done = o->completion_signal;
        if (!last)
            hsa_signal_create(1, 0, NULL, &done);
        status = async_copy(many ? o->dst_list[i] : o->dst, many ? o->dst_agent_list[i] : o->dst_agent,
                            many && !broadcast ? o->src_list[i] : o->src, o->src_agent,
                            many && !broadcast ? o->size_list[i] : o->size, n, after, done);
        if (last)
            break;
        while (!status &&
               hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) >= 1)
            ;
        hsa_signal_destroy(done);
    }
    return status;
}

static hsa_status_t batch_copy(const struct operation *operations, uint32_t count, uint32_t n,
                               const hsa_signal_t *after)
{
    hsa_status_t status = operations && count ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (uint32_t i = 0; !status && i < count; i++)
        status = check_operation(&operations[i]);
    for (uint32_t i = 0; !status && i < count; i++)
        status = carry_out(&operations[i], n, after);
    return status;
}

static hsa_queue_t *lent; /* single threaded: no concurrent acquire */
static int borrowers;

static hsa_status_t acquire(hsa_agent_t agent, uint32_t type, int priority, void *error, void *data, uint64_t flags,
                            hsa_queue_t **queue)
{
    hsa_status_t status = flags ? HSA_STATUS_ERROR_INVALID_ARGUMENT : HSA_STATUS_SUCCESS;
    (void)priority;
    (void)error;
    if (!status && !lent)
        status = queue_create(agent, 1024, type, NULL, data, UINT32_MAX, UINT32_MAX, &lent);
    *queue = status ? NULL : lent;
    borrowers += !status;
    return status;
}

/* The queue stays until the runtime is shut down, as in the real function. */
static hsa_status_t release_shared(hsa_queue_t *queue)
{
    if (!queue || queue != lent || borrowers == 0)
        return HSA_STATUS_ERROR_INVALID_QUEUE;
    borrowers--;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_counted_queue_acquire(hsa_agent_t agent, uint32_t type, int priority, void *error, void *data,
                                           uint64_t flags, hsa_queue_t **queue)
{
    return ((hsa_status_t(*)(hsa_agent_t, uint32_t, int, void *, void *, uint64_t,
                             hsa_queue_t **))table.slot[own_slot - 3])(agent, type, priority, error, data, flags,
                                                                       queue);
}

hsa_status_t hsa_amd_counted_queue_release(hsa_queue_t *queue)
{
    return ((hsa_status_t(*)(hsa_queue_t *))table.slot[own_slot - 2])(queue);
}

hsa_status_t hsa_amd_memory_async_batch_copy(const struct operation *operations, uint32_t count, uint32_t n,
                                             const hsa_signal_t *after)
{
    return ((hsa_status_t(*)(const struct operation *, uint32_t, uint32_t,
                             const hsa_signal_t *))table.slot[own_slot - 1])(operations, count, n, after);
}

/* The library compares the file of the first of these with the new function's file. */
static function real_create, real_priority;
static hsa_status_t intercept_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type, void *error, void *data,
                                     uint32_t private_segment, uint32_t group_segment, hsa_queue_t **queue)
{
    return ((hsa_status_t(*)(hsa_agent_t, uint32_t, hsa_queue_type32_t, void *, void *, uint32_t, uint32_t,
                             hsa_queue_t **))real_create)(agent, size, type, error, data, private_segment,
                                                          group_segment, queue);
}

static hsa_status_t set_priority(hsa_queue_t *queue, int priority)
{
    if (priority >= 0 && priority < 3)
        given[priority]++;
    return ((hsa_status_t(*)(hsa_queue_t *, int))real_priority)(queue, priority);
}

/* For the neighbouring slots, which must never be called. */
static hsa_status_t astray(void)
{
    fprintf(stderr, "intercept_described: an unexpected function was called\n");
    abort();
}

int OnLoad(void *runtime, uint64_t version, uint64_t failed, const char *const *names)
{
    struct table_root *real = runtime, root = *real;
    struct table_version *ext = real->amd_ext;
    const char *as = getenv("DESCRIBED_AS") ? getenv("DESCRIBED_AS") : "runtime";
    uint32_t slots = (ext->minor - (uint32_t)sizeof *ext) / 8;
    if (getenv("DESCRIBED_SLOT"))
        own_slot = atoi(getenv("DESCRIBED_SLOT"));
    memcpy(&queue_create, (char *)real->core + sizeof *ext + CORE_QUEUE_CREATE * 8, 8);
    memcpy(&table, ext, ext->minor);
    for (uint32_t i = slots; i < SLOTS; i++)
        table.slot[i] = (function)astray;
    table.slot[own_slot] = (function)create_described;
    table.slot[own_slot - 1] = (function)batch_copy;
    table.slot[own_slot - 2] = (function)release_shared;
    table.slot[own_slot - 3] = (function)acquire;
    memcpy(&async_copy, &table.slot[ASYNC_COPY], sizeof async_copy);
    real_create = table.slot[CREATE];
    real_priority = table.slot[PRIORITY];
    table.slot[PRIORITY] = (function)set_priority;
    if (strcmp(as, "runtime") == 0)
        table.slot[CREATE] = (function)intercept_create;
    table.version.minor = (uint32_t)sizeof table.version + ((uint32_t)own_slot + 3) * 8;
    table.version.step = getenv("DESCRIBED_STEP") ? (uint32_t)atoi(getenv("DESCRIBED_STEP")) : 0x10;
    root.amd_ext = &table; /* its address shows the library the file with the functions */
    if (strcmp(as, "hidden") == 0)
        root.amd_ext = memcpy(malloc(sizeof table), &table, sizeof table);

    if (slots < 55) {
        fprintf(stderr, "intercept_described: this release is too old\n");
        return 1;
    }
    const char *path = getenv("DESCRIBED_TOOL");
    if (!path || !*path)
        return 1;
    void *tool = dlopen(path, RTLD_NOW);
    int (*tool_load)(void *, uint64_t, uint64_t, const char *const *) = NULL;
    void *symbol = tool ? dlsym(tool, "OnLoad") : NULL;
    if (!symbol) {
        fprintf(stderr, "intercept_described: %s\n", dlerror());
        return 1;
    }
    memcpy(&tool_load, &symbol, sizeof symbol);
    symbol = dlsym(tool, "OnUnload");
    memcpy(&tool_unload, &symbol, sizeof symbol);
    int result = tool_load(&root, version, failed, names);
    for (uint32_t i = 0; i < slots; i++) /* copy the tool's hooks into the real table */
        if (i != PRIORITY && i != CREATE)
            memcpy((char *)ext + sizeof *ext + i * 8, (char *)root.amd_ext + sizeof *ext + i * 8, 8);
    return result;
}

void OnUnload(void)
{
    if (tool_unload)
        tool_unload();
}

__attribute__((destructor)) static void print_created(void)
{
    if (queue_create)
        fprintf(stderr, "made %d, gave %d %d %d\n", made, given[0], given[1], given[2]);
}
