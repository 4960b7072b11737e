/*
 * Names of a process's GPUs and queues wherever they are printed: "G1 04:00.0", "G1 04:00.0 queue 5". The number is the
 * process's own, as its runtime counts; the PCI address is the same in all processes, printed with its domain unless
 * that is 0. And names of queue paths (tables.h). Pure.
 */
#ifndef RTL_SHM_GPU_NAMES_H
#define RTL_SHM_GPU_NAMES_H

#include <stdint.h>

#define RTL_NO_BDF UINT32_MAX /* of a GPU that the process has not described */

struct rtl_gpu_name {
    char text[64];
};

struct rtl_gpu_name rtl_pci_address(uint32_t bdf);            /* "0000:04:00.0", from rtl_agent.bdf */
struct rtl_gpu_name rtl_gpu_name(uint32_t gpu, uint32_t bdf); /* "G1 04:00.0" */
struct rtl_gpu_name rtl_queue_name(uint32_t gpu, uint32_t bdf, uint64_t queue_id);
struct rtl_gpu_name rtl_other_queues_name(uint32_t gpu, uint32_t bdf); /* of the shared slot */

/* Names of paths and reasons by number; NULL for 0 (not known) and for numbers of a newer library. */
const char *rtl_queue_path_key(uint32_t way);   /* "native" */
const char *rtl_path_reason_key(uint32_t why);  /* "rings_itself" */
const char *rtl_path_reason_text(uint32_t why); /* text on screen */

#endif
