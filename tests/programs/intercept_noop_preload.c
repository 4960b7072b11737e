/*
 * intercept_noop_preload.c - the cheapest possible tool, for comparison: each queue becomes an intercept queue with a
 * callback that passes everything on. Loaded with HSA_TOOLS_LIB. With NOOP_CHAIN=1 it creates its queues through the
 * function that was in the table, and registers its callback on the result, as well-behaved tools do. With NOOP_COUNT=1
 * it prints at the end how many packets it saw. With NOOP_FSIZE=BYTES it sets the process's file size limit when it is
 * loaded: after the software GPU's own files, before the next library.
 */
#include <stdlib.h>
#include <sys/resource.h>

#include "intercept/base/hsa_table.c" /* only this file knows the layout */

__attribute__((visibility("default"))) int OnLoad(void *table, uint64_t version, uint64_t failed,
                                                  const char *const *names);
__attribute__((visibility("default"))) void OnUnload(void);
__attribute__((visibility("default"))) unsigned long noop_packets(void);

static struct rtl_hsa hsa;
static _Atomic unsigned long packets_seen;

static void pass_on(const void *packets, uint64_t count, uint64_t index, void *data, rtl_packet_writer writer)
{
    (void)index;
    if (data)
        packets_seen += count;
    writer(packets, count);
}

static hsa_status_t create_noop(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type, rtl_queue_error error,
                                void *data, uint32_t private_segment, uint32_t group_segment, hsa_queue_t **queue)
{
    bool chain = getenv("NOOP_CHAIN") != NULL;
    hsa_status_t status = chain
                              ? hsa.queue_create(agent, size, type, error, data, private_segment, group_segment, queue)
                              : hsa.amd_queue_intercept_create(agent, size, type, error, data, 0, 0, queue);
    if (status != HSA_STATUS_SUCCESS)
        return status;
    hsa.amd_queue_intercept_register(*queue, pass_on, getenv("NOOP_COUNT") ? &hsa : NULL);
    return hsa.amd_profiling_set_profiler_enabled(*queue, 1);
}

unsigned long noop_packets(void)
{
    return packets_seen;
}

int OnLoad(void *table, uint64_t version, uint64_t failed, const char *const *names)
{
    char why[200];
    (void)version;
    (void)failed;
    (void)names;
    if (!rtl_hsa_save(table, &hsa, why, sizeof why)) {
        fprintf(stderr, "noop: %s\n", why);
        return 1;
    }
    if (getenv("NOOP_FSIZE"))
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){strtoul(getenv("NOOP_FSIZE"), NULL, 10), RLIM_INFINITY});
    rtl_hsa_hook(table, RTL_HSA_queue_create, (void (*)(void))create_noop);
    return 1;
}

void OnUnload(void)
{
    if (getenv("NOOP_COUNT"))
        fprintf(stderr, "noop: %lu packets\n", packets_seen);
}
