/*
 * register_sdk_preload.c - emulates librocprofiler-sdk.so: it receives the tables of the libraries that register, and
 * wraps the HSA table's queue functions. REGISTER_SDK=intercept makes each queue an intercept queue, as the library
 * before 1.3 does. At the end it writes "sdk: N queues, N packets" to standard error.
 */
#include <stdlib.h>

#include "intercept/base/hsa_table.c" /* only this file knows the layout */

__attribute__((visibility("default"))) int rocprofiler_set_api_table(const char *name, uint64_t version,
                                                                     uint64_t instance, void **tables, uint64_t count);

static struct rtl_hsa hsa;
static _Atomic unsigned long queues, packets_seen;

static void pass_on(const void *packets, uint64_t count, uint64_t index, void *data, rtl_packet_writer writer)
{
    (void)index;
    (void)data;
    packets_seen += count;
    writer(packets, count);
}

static hsa_status_t create_registered(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type, rtl_queue_error error,
                                      void *data, uint32_t private_segment, uint32_t group_segment, hsa_queue_t **queue)
{
    const char *how = getenv("REGISTER_SDK");
    queues++;
    if (!how || strcmp(how, "intercept") != 0)
        return hsa.queue_create(agent, size, type, error, data, private_segment, group_segment, queue);
    hsa_status_t status = hsa.amd_queue_intercept_create(agent, size, type, error, data, 0, 0, queue);
    return status ? status : hsa.amd_queue_intercept_register(*queue, pass_on, NULL);
}

__attribute__((destructor)) static void print_counts(void)
{
    fprintf(stderr, "sdk: %lu queues, %lu packets\n", queues, packets_seen);
}

int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance, void **tables, uint64_t count)
{
    char why[200];
    (void)version;
    (void)instance;
    if (strcmp(name, "hsa") != 0)
        return 0;
    setenv("HSA_TOOLS_ROCPROFILER_V1_TOOLS", "0", 0); /* children inherit it */
    if (count != 1 || !rtl_hsa_save(tables[0], &hsa, why, sizeof why))
        return 1;
    rtl_hsa_hook(tables[0], RTL_HSA_queue_create, (void (*)(void))create_registered);
    return 0;
}
