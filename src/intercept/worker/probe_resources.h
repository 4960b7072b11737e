/*
 * A probe's resources of the runtime: the block in the GPU's memory, host pages to copy it to, the loaded copy of the
 * kernel. Worker only; every call may take as long as the runtime does.
 *
 * rtl_probe_resources_load may also wait for the GPU: the runtime copies code into the GPU's memory and waits for that
 * copy, behind other work of its copy engines. Meanwhile no completion is collected; that happens once a probe.
 *
 * The GPU's copy engine copies the block; the CPU doesn't read it. Where the CPU can't reach the GPU's memory (a small
 * BAR) nothing else works, so one implementation serves all.
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
    struct rtl_probe_block *block; /* in the GPU's memory; don't access it here */
    struct rtl_probe_block *host;  /* the copied pages, one a die; behind them a cleared block with its tables */
    uint32_t dies;                 /* 1, or RTL_PROBE_DIES */
    hsa_signal_t copied;
    hsa_executable_t executable;
    hsa_code_object_reader_t reader;
    void *code;                          /* the runtime keeps no copy of it */
    uint64_t kernel_object;              /* 0: not loaded */
    bool has_its_name;                   /* the copy's kernel has the original's name */
    uint32_t private_bytes, group_bytes; /* the copy's needs */
};

/* Allocate the block and the host pages. *status: of the call that failed. False: nothing was kept. */
bool rtl_probe_resources_place(struct rtl_probe_resources *resources, hsa_agent_t gpu, hsa_status_t *status);

/* Load the copy of a kernel; takes ownership of `code`, which was malloc'ed. False: nothing was kept. */
bool rtl_probe_resources_load(struct rtl_probe_resources *resources, void *code, size_t bytes, uint64_t kernel_object,
                              hsa_status_t *status);

/* Start a copy: of the block's pages to `host`, or of the cleared block with its tables to the block. One at a time. */
bool rtl_probe_resources_read(struct rtl_probe_resources *resources, hsa_status_t *status);
bool rtl_probe_resources_clear(struct rtl_probe_resources *resources, hsa_status_t *status);
/* Return the copy's state: < 0 failed, 0 completed, > 0 in flight. */
int64_t rtl_probe_resources_copying(const struct rtl_probe_resources *resources);

/* Free everything. None of it may be in use. */
void rtl_probe_resources_free(struct rtl_probe_resources *resources);

#endif
