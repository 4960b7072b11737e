/*
 * native_direct.c - a program that uses queues without the runtime's functions, as some drivers above HSA do: it
 * increments the write index in the queue's memory and stores to the address in the doorbell signal, without checking
 * the signal's kind. That works on every hardware queue. On an intercept queue, which has no such address, the program
 * crashes (intercept_doorbell.c checks first).
 *
 * native_direct own|api-then-own|api-and-doorbell|turns
 *   own               uses none of the runtime's functions
 *   api-then-own      uses the functions for the first half, none after that
 *   api-and-doorbell  reserves by hsa_queue_add_write_index, rings the doorbell itself
 *   turns             with and without functions in turn, some packets each
 * Always one thread, which knows what it has submitted: in every mode a plain queue runs all of it.
 *
 * Prints "launched hsa_NN N", hsa_00 for packets submitted by functions alone and hsa_01 for the others, "done" when
 * all have completed, then "holding".
 */
#include "intercept_hsa.h"

#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>

enum { PACKETS = 3000, RING = 256, TURN = 37, SIGNALLED = 10, SIGNALS = 64 };

static amd_queue_t *words; /* the queue's memory, which the GPU uses too */
static volatile uint64_t *bell;
static hsa_queue_t *queue;

static uint64_t reserve_index(bool own)
{
    uint64_t index = own ? __atomic_fetch_add(&words->write_dispatch_id, 1, __ATOMIC_ACQ_REL)
                         : hsa_queue_add_write_index_screlease(queue, 1);
    while (index - __atomic_load_n(&words->read_dispatch_id, __ATOMIC_ACQUIRE) >= RING)
        sched_yield();
    return index;
}

static void submit_packet(uint64_t index, const hsa_kernel_dispatch_packet_t *packet, bool ring_own)
{
    char *slot = (char *)queue->base_address + 64 * (index & (RING - 1));
    memcpy(slot + 4, (const char *)packet + 4, 60);
    __atomic_store_n((uint32_t *)(void *)slot, packet->header | (uint32_t)packet->setup << 16, __ATOMIC_RELEASE);
    if (ring_own)
        __atomic_store_n(bell, index, __ATOMIC_RELEASE);
    else
        hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

static void wait_for(hsa_signal_t signal)
{
    while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) >= 1)
        ;
}

int main(int argc, char **argv)
{
    struct family family;
    hsa_signal_t signal[SIGNALS];
    int launched[2] = {0, 0}, signals = 0;
    const char *mode = argc > 1 ? argv[1] : "";
    if (!open_runtime())
        die("no GPU");
    load_family(&family, "hsa_");
    queue = open_queue(RING);
    words = (amd_queue_t *)(void *)queue;
    bell = ((const amd_signal_t *)(uintptr_t)queue->doorbell_signal.handle)->hardware_doorbell_ptr;
    for (int i = 0; i < SIGNALS; i++)
        must(hsa_signal_create(0, 0, NULL, &signal[i]), "signal");
    for (int i = 0; i < PACKETS; i++) {
        bool own, ring_own;
        hsa_signal_t *with = NULL;
        if (strcmp(mode, "own") == 0)
            own = ring_own = true;
        else if (strcmp(mode, "api-then-own") == 0)
            own = ring_own = i >= PACKETS / 2;
        else if (strcmp(mode, "api-and-doorbell") == 0)
            own = false, ring_own = true;
        else if (strcmp(mode, "turns") == 0)
            own = ring_own = i / TURN % 2;
        else
            die("own, api-then-own, api-and-doorbell or turns?");
        if (i % SIGNALLED == 0) {
            with = &signal[signals++ % SIGNALS];
            wait_for(*with);
            hsa_signal_store_relaxed(*with, 1);
        }
        hsa_kernel_dispatch_packet_t packet = {
            .header = KERNEL_HEADER | BARRIER_BIT,
            .setup = 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS,
            .workgroup_size_x = 64,
            .workgroup_size_y = 1,
            .workgroup_size_z = 1,
            .grid_size_x = 128,
            .grid_size_y = 1,
            .grid_size_z = 1,
            .kernel_object = family.object[ring_own],
            .kernarg_address = kernarg_block,
            .completion_signal = with ? *with : (hsa_signal_t){0},
        };
        submit_packet(reserve_index(own), &packet, ring_own);
        launched[ring_own]++;
    }
    /* Submit the last packet in the final mode. */
    wait_for(signal[0]);
    hsa_signal_store_relaxed(signal[0], 1);
    hsa_kernel_dispatch_packet_t last = {.header = HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE | BARRIER_BIT,
                                         .completion_signal = signal[0]};
    submit_packet(reserve_index(strcmp(mode, "own") == 0 || strcmp(mode, "api-then-own") == 0), &last, true);
    for (int i = 0; i < SIGNALS; i++)
        wait_for(signal[i]);
    for (int k = 0; k < 2; k++)
        if (launched[k])
            printf("launched hsa_%02d %d\n", k, launched[k]);
    puts("done");
    hold();
    for (int i = 0; i < SIGNALS; i++)
        must(hsa_signal_destroy(signal[i]), "destroy signal");
    must(hsa_queue_destroy(queue), "destroy queue");
    must(hsa_shut_down(), "shut down");
    return 0;
}
