/*
 * intercept_late.c - activity after OnUnload: threads that dispatch during the call, work in flight, hooks called
 * later.
 *
 * A runtime that shuts down calls OnUnload while its own threads still run. This program makes the call at a known
 * moment and keeps the runtime alive. Prints "total N" (all dispatches), "before N" (those certainly completed before
 * OnUnload) and "gated N" (those in flight from before until after it); then "holding" until standard input closes.
 */
#include "intercept_hsa.h"

#include <dlfcn.h>
#include <pthread.h>

enum { RAGERS = 3, GATED = 100, BEFORE = 1000 };

static struct family family;
static _Atomic bool over;
static _Atomic unsigned long launched[RAGERS];

static void *rage_kernels(void *data)
{
    _Atomic unsigned long *mine = data;
    hsa_queue_t *queue = open_queue(1024);
    for (unsigned long i = 0; !over; i++) {
        launch(queue, family.object[i % 10]);
        (*mine)++;
        if (i % 256 == 255)
            drain(queue);
        if (i % 2000 == 1999) {
            drain(queue);
            must(hsa_queue_destroy(queue), "destroy queue");
            queue = open_queue(1024);
        }
    }
    drain(queue);
    must(hsa_queue_destroy(queue), "destroy queue");
    return NULL;
}

static void wait_for_more(void)
{
    for (int i = 0; i < RAGERS; i++) {
        unsigned long from = launched[i];
        while (launched[i] < from + 3000)
            sched_yield();
    }
}

int main(void)
{
    pthread_t thread[RAGERS];
    unsigned long total = 0;
    uint64_t index;
    hsa_signal_t gate, own;
    const char *path = getenv("HSA_TOOLS_LIB");
    if (!open_runtime())
        die("no GPU");
    void *library = dlopen(path && *path ? path : "librtl.so", RTLD_NOW | RTLD_NOLOAD);
    union { /* dlsym returns a data pointer */
        void *data;
        void (*function)(void);
    } unload = {library ? dlsym(library, "OnUnload") : NULL};
    if (!unload.data)
        die("no OnUnload");
    load_family(&family, "hsa_");

    hsa_queue_t *early = open_queue(4096), *queue = open_queue(1024);
    for (int i = 0; i < BEFORE; i++)
        launch(early, family.object[20]);
    drain(early);
    must(hsa_signal_create(1, 0, NULL, &gate), "signal");
    must(hsa_signal_create(1, 0, NULL, &own), "signal");
    hsa_barrier_and_packet_t *packet = reserve_slot(queue, &index);
    memset((char *)packet + 4, 0, sizeof *packet - 4);
    packet->dep_signal[0] = gate;
    publish_packet(queue, packet, HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE | BARRIER_BIT, 0, index, true);
    for (int i = 0; i < GATED - 1; i++)
        launch(queue, family.object[21]);
    launch_packet(queue, family.object[22], own, BARRIER_BIT, true);
    for (uintptr_t i = 0; i < RAGERS; i++)
        pthread_create(&thread[i], NULL, rage_kernels, (void *)(uintptr_t)&launched[i]);

    wait_for_more();
    unload.function();
    wait_for_more();

    /* Call every hook again, then complete the work that stayed in flight. */
    struct family late;
    load_family(&late, "late");
    hsa_queue_t *other = open_queue(64);
    for (int i = 0; i < 10; i++)
        launch(other, late.object[i]);
    drain(other);
    must(hsa_queue_destroy(other), "destroy queue");
    unload_family(&late);
    hsa_signal_store_screlease(gate, 0);
    while (hsa_signal_wait_scacquire(own, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) >= 1)
        ;
    must(hsa_signal_destroy(own), "destroy signal");
    must(hsa_signal_destroy(gate), "destroy signal");
    drain(queue);
    over = true;
    for (int i = 0; i < RAGERS; i++) {
        pthread_join(thread[i], NULL);
        total += launched[i];
    }
    must(hsa_queue_destroy(queue), "destroy queue");
    unload.function();
    must(hsa_queue_destroy(early), "destroy queue");
    printf("total %lu\nbefore %d\ngated %d\n", total + BEFORE + GATED + 10, BEFORE, GATED);
    hold();
    must(hsa_shut_down(), "shut down");
    return 0;
}
