/*
 * noop_tool.cc - the smallest tool library for ROCr: every queue becomes an intercept queue whose callback passes
 * packets on and counts kernels. It tests that the software GPU supports tools on every release. C++, because the
 * header of ROCr's tables is.
 */
/* Otherwise the header looks for the other headers in a folder that Debian does not have. */
#define AMD_INTERNAL_BUILD
#include <hsa/hsa_api_trace.h>
#include <atomic>
#include <cstddef>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void **ext;                             /* the extension table as an array of slots */
static size_t moved;                           /* ROCr 5.6 inserted two slots after async_copy */
static std::atomic<unsigned long> kernels;

/* The slot of a function, by its place in ROCr 5.2's headers. */
#define SLOT(name) (offsetof(AmdExtTable, name##_fn) / sizeof(void *))
#define EXT(name)                                                                                                      \
    (reinterpret_cast<decltype(name) *>(ext[SLOT(name) + (SLOT(name) > SLOT(hsa_amd_memory_async_copy) ? moved : 0)]))

static void pass_packets(const void *packets, uint64_t n, uint64_t index, void *data, hsa_amd_queue_intercept_packet_writer writer)
{
    (void)index;
    (void)data;
    for (uint64_t i = 0; i < n; i++) {
        uint16_t header;
        memcpy(&header, static_cast<const char *>(packets) + i * 64, sizeof header);
        kernels += (header & 0xff) == HSA_PACKET_TYPE_KERNEL_DISPATCH;
    }
    writer(packets, n);
}

static hsa_status_t create_queue(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                                 void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data, uint32_t private_size,
                                 uint32_t group_size, hsa_queue_t **queue)
{
    hsa_status_t r = EXT(hsa_amd_queue_intercept_create)(agent, size, type, callback, data,
                                                         private_size == UINT32_MAX ? 0 : private_size,
                                                         group_size == UINT32_MAX ? 0 : group_size, queue);
    if (r == HSA_STATUS_SUCCESS)
        r = EXT(hsa_amd_profiling_set_profiler_enabled)(*queue, 1);
    return r == HSA_STATUS_SUCCESS ? EXT(hsa_amd_queue_intercept_register)(*queue, pass_packets, NULL) : r;
}

extern "C" __attribute__((visibility("default"))) bool OnLoad(HsaApiTable *table, uint64_t, uint64_t, const char *const *)
{
    ext = reinterpret_cast<void **>(table->amd_ext_);
    moved = table->amd_ext_->version.minor_id >= 55 * sizeof(void *) ? 2 : 0;
    table->core_->hsa_queue_create_fn = create_queue;
    return true;
}

static void write_report()
{
    const char *file = getenv("NOOP_REPORT");
    FILE *f = file ? fopen(file, "a") : NULL;
    if (f) {
        fprintf(f, "%lu\n", kernels.load());
        fclose(f);
    }
}

extern "C" __attribute__((visibility("default"))) void OnUnload()
{
}

__attribute__((destructor)) static void report_at_exit()
{
    write_report();
}
