/*
 * intercept_doorbell.c - a program that rings the hardware's doorbell itself, as some drivers above HSA do: it stores
 * to the address in the queue's doorbell signal, without hsa_signal_store.
 *
 * It first checks the signal's kind: an intercept queue has a signal without hardware there, whose address field is the
 * signal's value, -1. For such a queue it uses hsa_signal_store. Prints "rings itself" or "rings by the runtime",
 * "launched hsa_00 N", "done" when all kernels have completed, then "holding".
 */
#include "intercept_hsa.h"

#include <hsa/amd_hsa_signal.h>

enum { KERNELS = 100 };

int main(void)
{
    struct family family;
    uint64_t index = 0;
    hsa_signal_t done;
    if (!open_runtime())
        die("no GPU");
    load_family(&family, "hsa_");
    hsa_queue_t *queue = open_queue(256);
    must(hsa_signal_create(1, 0, NULL, &done), "signal");
    const amd_signal_t *bell = (const amd_signal_t *)(uintptr_t)queue->doorbell_signal.handle;
    bool hardware = bell->kind == AMD_SIGNAL_KIND_DOORBELL || bell->kind == AMD_SIGNAL_KIND_LEGACY_DOORBELL;
    for (int i = 0; i <= KERNELS; i++) {
        if (i < KERNELS) {
            launch_packet(queue, family.object[0], (hsa_signal_t){0}, BARRIER_BIT, false);
        } else {
            hsa_barrier_and_packet_t *packet = reserve_slot(queue, &index);
            memset((char *)packet + 4, 0, sizeof *packet - 4);
            packet->completion_signal = done;
            publish_packet(queue, packet, HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE | BARRIER_BIT, 0, index,
                           false);
        }
        if (hardware)
            __atomic_store_n(bell->hardware_doorbell_ptr, (uint64_t)i, __ATOMIC_RELEASE);
        else
            hsa_signal_store_screlease(queue->doorbell_signal, i);
    }
    while (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) >= 1)
        ;
    printf("rings %s\nlaunched hsa_00 %d\ndone\n", hardware ? "itself" : "by the runtime", KERNELS);
    hold();
    must(hsa_signal_destroy(done), "destroy signal");
    must(hsa_queue_destroy(queue), "destroy queue");
    must(hsa_shut_down(), "shut down");
    return 0;
}
