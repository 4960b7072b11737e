/* Names of GPUs and queues. See gpu_names.h. */
#include "shm/gpu_names.h"

#include <inttypes.h>
#include <stdio.h>

struct rtl_gpu_name rtl_pci_address(uint32_t bdf)
{
    struct rtl_gpu_name n = {""};
    if (bdf != RTL_NO_BDF)
        snprintf(n.text, sizeof n.text, "%04x:%02x:%02x.%x", bdf >> 16, bdf >> 8 & 0xff, bdf >> 3 & 0x1f, bdf & 7);
    return n;
}

struct rtl_gpu_name rtl_gpu_name(uint32_t gpu, uint32_t bdf)
{
    struct rtl_gpu_name n, address = rtl_pci_address(bdf);
    const char *shown = *address.text && bdf >> 16 == 0 ? address.text + 5 : address.text;
    snprintf(n.text, sizeof n.text, "G%" PRIu32 "%s%.20s", gpu, *shown ? " " : "", shown);
    return n;
}

struct rtl_gpu_name rtl_queue_name(uint32_t gpu, uint32_t bdf, uint64_t queue_id)
{
    struct rtl_gpu_name n, of = rtl_gpu_name(gpu, bdf);
    snprintf(n.text, sizeof n.text, "%.35s queue %" PRIu64, of.text, queue_id);
    return n;
}

struct rtl_gpu_name rtl_other_queues_name(uint32_t gpu, uint32_t bdf)
{
    struct rtl_gpu_name n, of = rtl_gpu_name(gpu, bdf);
    snprintf(n.text, sizeof n.text, "%.35s other queues", of.text);
    return n;
}
