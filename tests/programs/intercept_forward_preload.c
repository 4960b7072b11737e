/*
 * intercept_forward_preload.c - a badly behaved tool, for comparison: it replaces the application's signal on every
 * kernel by its own, and one thread forwards the completions in the order of submission.
 *
 * With FORWARD_COUNT=1 it prints at the end how many it forwarded.
 */
#include <dlfcn.h>
#include <hsa/amd_hsa_signal.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "intercept/base/hsa_table.c" /* only this file knows the layout */

__attribute__((visibility("default"))) int OnLoad(void *table, uint64_t version, uint64_t failed,
                                                  const char *const *names);
__attribute__((visibility("default"))) void OnUnload(void);

enum { ROOM = 1024 };
static struct rtl_hsa hsa;
static struct {
    hsa_signal_t original, own;
} fifo[ROOM];
static _Atomic unsigned head, tail; /* the thread reads at head; dispatches (one at a time, in tests) append at tail */
static _Atomic bool over;
static pthread_t thread;
static void (*subtract)(hsa_signal_t signal, hsa_signal_value_t value);

static void *forward(void *data)
{
    (void)data;
    while (!over) {
        if (head == tail) {
            sched_yield();
            continue;
        }
        hsa_signal_t own = fifo[head % ROOM].own;
        const amd_signal_t *memory = (const amd_signal_t *)(uintptr_t)own.handle;
        if (__atomic_load_n(&memory->value, __ATOMIC_ACQUIRE) >= 1) {
            sched_yield();
            continue;
        }
        subtract(fifo[head % ROOM].original, 1);
        hsa.signal_destroy(own);
        head++;
    }
    return NULL;
}

static void pass_on(const void *packets, uint64_t count, uint64_t index, void *data, rtl_packet_writer writer)
{
    (void)index;
    (void)data;
    for (uint64_t i = 0; i < count; i++) {
        hsa_kernel_dispatch_packet_t packet = ((const hsa_kernel_dispatch_packet_t *)packets)[i];
        unsigned type = packet.header >> HSA_PACKET_HEADER_TYPE & 0xff;
        if (type == HSA_PACKET_TYPE_KERNEL_DISPATCH && packet.completion_signal.handle) {
            fifo[tail % ROOM].original = packet.completion_signal;
            hsa.amd_signal_create(1, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &fifo[tail % ROOM].own);
            packet.completion_signal = fifo[tail % ROOM].own;
            tail++;
        }
        writer(&packet, 1);
    }
}

static hsa_status_t create_forwarding(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type, rtl_queue_error error,
                                      void *data, uint32_t private_segment, uint32_t group_segment, hsa_queue_t **queue)
{
    (void)private_segment;
    (void)group_segment;
    hsa_status_t status = hsa.amd_queue_intercept_create(agent, size, type, error, data, 0, 0, queue);
    return status == HSA_STATUS_SUCCESS ? hsa.amd_queue_intercept_register(*queue, pass_on, NULL) : status;
}

int OnLoad(void *table, uint64_t version, uint64_t failed, const char *const *names)
{
    char why[200];
    void *found = dlsym(RTLD_DEFAULT, "hsa_signal_subtract_screlease");
    (void)version;
    (void)failed;
    (void)names;
    memcpy(&subtract, &found, sizeof subtract);
    if (!found || !rtl_hsa_save(table, &hsa, why, sizeof why) || pthread_create(&thread, NULL, forward, NULL) != 0)
        return 0;
    rtl_hsa_hook(table, RTL_HSA_queue_create, (void (*)(void))create_forwarding);
    return 1;
}

void OnUnload(void)
{
    over = true;
    if (thread)
        pthread_join(thread, NULL);
    if (getenv("FORWARD_COUNT"))
        fprintf(stderr, "forward: %u passed on\n", head);
}
