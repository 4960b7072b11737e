/*
 * What a process's GPUs and queues are called wherever they are printed: "G1 04:00.0", "G1 04:00.0 queue 5". The number
 * is the process's own, as the runtime counts them; the PCI address is what two processes agree on, with its domain
 * where that isn't 0. And what the ways are called in which a queue's packets come to the library. Pure.
 */
#ifndef RTL_SHM_GPU_NAMES_H
#define RTL_SHM_GPU_NAMES_H

#include <stdint.h>

#define RTL_NO_BDF UINT32_MAX /* of a GPU that the process never described */

struct rtl_gpu_name {
    char text[64];
};

struct rtl_gpu_name rtl_pci_address(uint32_t bdf);            /* "0000:04:00.0", of struct rtl_agent's */
struct rtl_gpu_name rtl_gpu_name(uint32_t gpu, uint32_t bdf); /* "G1 04:00.0" */
struct rtl_gpu_name rtl_queue_name(uint32_t gpu, uint32_t bdf, uint64_t queue_id);
struct rtl_gpu_name rtl_other_queues_name(uint32_t gpu, uint32_t bdf); /* of the slot that several share */

/* Ways and reasons by number; NULL for 0 (not told) and for numbers of a newer library. */
const char *rtl_queue_path_key(uint32_t way);     /* "native" */
const char *rtl_queue_path_meaning(uint32_t way); /* what that is */
const char *rtl_path_reason_key(uint32_t why);    /* "rings_itself" */
const char *rtl_path_reason_text(uint32_t why);   /* what it means */

#endif
