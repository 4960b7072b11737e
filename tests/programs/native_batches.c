/*
 * native_batches.c - batches of more than 256 packets behind one doorbell, as graph replays make them, on a ring around
 * which they wrap.
 *
 * native_batches [BATCHES]: reserves all slots of a batch at once, writes them and rings with one store; a barrier
 * packet signals the batch's end, and the next one begins. Every seventh kernel carries the program's signal. Prints
 * "launched hsa_NN N" for each kernel, "wrapped N" (batches), "done", then "holding".
 */
#include "intercept_hsa.h"

enum { RING = 1024, LEAST = 257, MOST = 500, KERNELS = 20, SIGNALS = MOST };

int main(int argc, char **argv)
{
    struct family family;
    hsa_signal_t signal[SIGNALS], over;
    unsigned long launched[KERNELS] = {0}, wrapped = 0;
    int batches = argc > 1 ? atoi(argv[1]) : 40;
    if (!open_runtime())
        die("no GPU");
    load_family(&family, "hsa_");
    hsa_queue_t *queue = open_queue(RING);
    for (int i = 0; i < SIGNALS; i++)
        must(hsa_amd_signal_create(0, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &signal[i]), "signal");
    must(hsa_signal_create(0, 0, NULL, &over), "signal");
    for (int batch = 0; batch < batches; batch++) {
        int n = LEAST + batch * 61 % (MOST - LEAST);
        uint64_t first = hsa_queue_add_write_index_relaxed(queue, (uint64_t)n);
        wrapped += first % RING + (uint64_t)n > RING;
        hsa_signal_store_relaxed(over, 1);
        for (int i = 0; i < n; i++) {
            bool last = i == n - 1, own = i % 7 == 0;
            int kernel = (batch + i) % KERNELS;
            char *slot = (char *)queue->base_address + 64 * ((first + (uint64_t)i) % RING);
            hsa_kernel_dispatch_packet_t packet = {
                .setup = 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS,
                .workgroup_size_x = 64,
                .workgroup_size_y = 1,
                .workgroup_size_z = 1,
                .grid_size_x = 64,
                .grid_size_y = 1,
                .grid_size_z = 1,
                .kernel_object = family.object[kernel],
                .kernarg_address = kernarg_block,
                .completion_signal = own ? signal[i] : (hsa_signal_t){0},
            };
            hsa_barrier_and_packet_t barrier = {.completion_signal = over};
            if (!last && own)
                hsa_signal_store_relaxed(signal[i], 1);
            if (!last)
                launched[kernel]++;
            memcpy(slot + 4, last ? (char *)&barrier + 4 : (char *)&packet + 4, 60);
            __atomic_store_n((uint32_t *)(void *)slot,
                             last ? HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE | BARRIER_BIT
                                  : KERNEL_HEADER | (uint32_t)packet.setup << 16,
                             __ATOMIC_RELEASE);
        }
        hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)first + n - 1);
        while (hsa_signal_wait_scacquire(over, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) >= 1)
            ;
        for (int i = 0; i < n - 1; i += 7)
            if (hsa_signal_load_scacquire(signal[i]) != 0)
                die("a barrier completed before a kernel's signal");
    }
    for (int k = 0; k < KERNELS; k++)
        printf("launched hsa_%02d %lu\n", k, launched[k]);
    printf("wrapped %lu\ndone\n", wrapped);
    hold();
    for (int i = 0; i < SIGNALS; i++)
        must(hsa_signal_destroy(signal[i]), "destroy signal");
    must(hsa_signal_destroy(over), "destroy signal");
    must(hsa_queue_destroy(queue), "destroy queue");
    must(hsa_shut_down(), "shut down");
    return 0;
}
