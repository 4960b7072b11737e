/*
 * intercept_deep.c - holds as many dispatches in flight as newer runtimes allow in one queue: QUEUES queues with EACH
 * kernels behind a gate that opens when all are submitted. intercept_deep [signalled]: each kernel carries the
 * program's completion signal. Prints resident memory in kB before and with all of them in flight, then the lines of
 * intercept_scenes.
 */
#include "intercept_hsa.h"

enum { QUEUES = 8, EACH = 2048, KERNELS = 16 };

/* Submit a barrier that blocks the queue until the signal is 0. */
static void put_gate(hsa_queue_t *queue, hsa_signal_t gate)
{
    uint64_t index;
    hsa_barrier_and_packet_t *packet = reserve_slot(queue, &index);
    memset((char *)packet + 4, 0, sizeof *packet - 4);
    packet->dep_signal[0] = gate;
    publish_packet(queue, packet, HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE | BARRIER_BIT, 0, index, true);
}

static long resident(void)
{
    char line[256];
    long kb = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmRSS: %ld", &kb) == 1)
            break;
    if (status)
        fclose(status);
    return kb;
}

int main(int argc, char **argv)
{
    static struct family fast;
    static hsa_signal_t own[QUEUES][EACH];
    hsa_queue_t *queue[QUEUES];
    hsa_signal_t gate;
    bool signalled = argc > 1 && strcmp(argv[1], "signalled") == 0;
    if (!open_runtime())
        die("no GPU");
    load_family(&fast, "fast");
    must(hsa_signal_create(1, 0, NULL, &gate), "gate");
    for (int q = 0; q < QUEUES; q++) {
        queue[q] = open_queue(2 * EACH);
        for (int i = 0; signalled && i < EACH; i++)
            must(hsa_amd_signal_create(1, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &own[q][i]), "signal");
        put_gate(queue[q], gate);
    }
    printf("resident before %ld\n", resident());
    for (int q = 0; q < QUEUES; q++)
        for (int i = 0; i < EACH; i++)
            launch_packet(queue[q], fast.object[i % KERNELS], own[q][i], BARRIER_BIT, true);
    printf("resident with %ld\n", resident());
    hsa_signal_store_screlease(gate, 0);
    for (int q = 0; q < QUEUES; q++)
        drain(queue[q]);
    for (int k = 0; k < KERNELS; k++)
        printf("%s fast%02d %d\n", signalled ? "signalled" : "launched", k, QUEUES * EACH / KERNELS);
    hold();
    for (int q = 0; q < QUEUES; q++) {
        for (int i = 0; signalled && i < EACH; i++)
            must(hsa_signal_destroy(own[q][i]), "destroy");
        must(hsa_queue_destroy(queue[q]), "destroy");
    }
    must(hsa_signal_destroy(gate), "destroy");
    must(hsa_shut_down(), "shut down");
    return 0;
}
