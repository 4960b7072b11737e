/*
 * What a probe takes of the runtime: the block in the GPU's memory, pages of the host's to copy it to, the loaded copy
 * of the kernel. Worker only; every call may take the runtime's time.
 * rtl_probe_resources_load may wait for the GPU, too: the runtime copies code into its memory and waits for that copy,
 * behind whatever its copy engines do. For so long no completion is looked at; that happens once a probe.
 *
 * The block is copied by the GPU's copy engine, not read: where the CPU can't reach the GPU's memory (a small BAR)
 * there is no other way, and where it can, one way is enough.
 */
#ifndef RTL_INTERCEPT_PROBE_RESOURCES_H
#define RTL_INTERCEPT_PROBE_RESOURCES_H

#include <hsa/hsa.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm/probe.h"

struct rtl_probe_resources {
    hsa_agent_t gpu, cpu;
    struct rtl_probe_block *block; /* the GPU's; not to be touched from here */
    struct rtl_probe_block *host;  /* a page a die as they were copied; behind them a clear block, tables and all */
    uint32_t dies;                 /* 1, or RTL_PROBE_DIES */
    hsa_signal_t copied;
    hsa_executable_t executable;
    hsa_code_object_reader_t reader;
    void *code;                          /* the runtime keeps no copy of its own */
    uint64_t kernel_object;              /* 0: not loaded */
    bool has_its_name;                   /* the copy's kernel is called as the one that it was loaded for */
    uint32_t private_bytes, group_bytes; /* what the copy needs of a packet, at least */
};

/* The block, and what it is copied with. *status: of what was refused. False: nothing was kept. */
bool rtl_probe_resources_place(struct rtl_probe_resources *resources, hsa_agent_t gpu, hsa_status_t *status);

/* Loads the copy of a kernel; `code` was allocated, and is the parts' from now on. False: none of it was kept. */
bool rtl_probe_resources_load(struct rtl_probe_resources *resources, void *code, size_t bytes, uint64_t kernel_object,
                              hsa_status_t *status);

/* Begins a copy: of the block's pages to `host`, or of a clear one to the block, tables and all. One at a time. */
bool rtl_probe_resources_read(struct rtl_probe_resources *resources, hsa_status_t *status);
bool rtl_probe_resources_clear(struct rtl_probe_resources *resources, hsa_status_t *status);
/* Whether it is over: below 0 it failed, 0: it is, above: it isn't. */
int64_t rtl_probe_resources_copying(const struct rtl_probe_resources *resources);

/* Gives all back. Nothing of it may be in use. */
void rtl_probe_resources_free(struct rtl_probe_resources *resources);

#endif
