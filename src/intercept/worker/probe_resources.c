/* Memory, copies and code of a probe (probe_resources.h). */
#include "intercept/worker/probe_resources.h"

#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa_ext_amd.h>
#include <stdlib.h>
#include <string.h>

#include "intercept/base/tool.h"
#include "intercept/track/kernel_rows.h"

#define HSA (&rtl_tool.hsa)

/* --- memory --- */

struct pool_search {
    uint32_t flags; /* at least one of these flags */
    hsa_amd_memory_pool_t pool;
    bool found;
};

static hsa_status_t see_pool(hsa_amd_memory_pool_t pool, void *data)
{
    struct pool_search *search = data;
    hsa_amd_segment_t segment = HSA_AMD_SEGMENT_GROUP;
    uint32_t flags = 0;
    bool allowed = false;
    if (HSA->amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment) != HSA_STATUS_SUCCESS ||
        segment != HSA_AMD_SEGMENT_GLOBAL ||
        HSA->amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &allowed) !=
            HSA_STATUS_SUCCESS ||
        !allowed ||
        HSA->amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags) != HSA_STATUS_SUCCESS ||
        !(flags & search->flags))
        return HSA_STATUS_SUCCESS;
    search->pool = pool;
    search->found = true;
    return HSA_STATUS_INFO_BREAK;
}

static bool find_pool(hsa_agent_t agent, uint32_t flags, hsa_amd_memory_pool_t *pool)
{
    struct pool_search search = {.flags = flags};
    HSA->amd_agent_iterate_memory_pools(agent, see_pool, &search);
    *pool = search.pool;
    return search.found;
}

static hsa_status_t see_agent(hsa_agent_t agent, void *data)
{
    hsa_agent_t *cpu = data;
    hsa_device_type_t type = HSA_DEVICE_TYPE_GPU;
    hsa_amd_memory_pool_t pool;
    if (HSA->agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type) != HSA_STATUS_SUCCESS || type != HSA_DEVICE_TYPE_CPU ||
        !find_pool(agent, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED, &pool))
        return HSA_STATUS_SUCCESS;
    *cpu = agent;
    return HSA_STATUS_INFO_BREAK;
}

/* GPUs that may have several dies: how many are in use is configurable. */
static uint32_t dies_of(hsa_agent_t gpu)
{
    static const char several[] = "gfx94";
    char name[64] = "";
    if (HSA->agent_get_info(gpu, HSA_AGENT_INFO_NAME, name) != HSA_STATUS_SUCCESS)
        return 1;
    return strncmp(name, several, sizeof several - 1) == 0 ? RTL_PROBE_DIES : 1;
}

static bool allocate_resources(struct rtl_probe_resources *resources, hsa_status_t *status)
{
    hsa_amd_memory_pool_t near, far;
    void *block = NULL, *host = NULL;
    *status = HSA_STATUS_SUCCESS;
    resources->dies = dies_of(resources->gpu);
    const size_t block_bytes = rtl_probe_block_bytes(resources->dies);
    const size_t host_bytes = resources->dies * sizeof *resources->host + block_bytes;
    HSA->iterate_agents(see_agent, &resources->cpu);
    if (!resources->cpu.handle || !find_pool(resources->gpu, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED, &near) ||
        !find_pool(resources->cpu, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED, &far))
        return false;
    *status = HSA->amd_memory_pool_allocate(near, block_bytes, 0, &block);
    if (*status != HSA_STATUS_SUCCESS)
        return false;
    resources->block = block;
    *status = HSA->amd_memory_pool_allocate(far, host_bytes, 0, &host);
    if (*status != HSA_STATUS_SUCCESS)
        return false;
    resources->host = host;
    *status = HSA->amd_agents_allow_access(1, &resources->gpu, NULL, host);
    if (*status != HSA_STATUS_SUCCESS)
        return false;
    memset(host, 0, host_bytes);
    for (uint32_t i = 0; i < 2 * resources->dies; i++)
        rtl_probe_block_clear(&resources->host[i]);
    *status = HSA->signal_create(0, 0, NULL, &resources->copied);
    return *status == HSA_STATUS_SUCCESS;
}

bool rtl_probe_resources_place(struct rtl_probe_resources *resources, hsa_agent_t gpu, hsa_status_t *status)
{
    memset(resources, 0, sizeof *resources);
    resources->gpu = gpu;
    if (allocate_resources(resources, status))
        return true;
    rtl_probe_resources_free(resources);
    return false;
}

/* --- copies --- */

static bool start_copy(struct rtl_probe_resources *resources, void *to, hsa_agent_t to_agent, const void *from,
                       hsa_agent_t from_agent, size_t bytes, hsa_status_t *status)
{
    HSA->signal_store_relaxed(resources->copied, 1);
    *status = HSA->amd_memory_async_copy(to, to_agent, from, from_agent, bytes, 0, NULL, resources->copied);
    return *status == HSA_STATUS_SUCCESS;
}

bool rtl_probe_resources_read(struct rtl_probe_resources *resources, hsa_status_t *status)
{
    return start_copy(resources, resources->host, resources->cpu, resources->block, resources->gpu,
                      resources->dies * sizeof *resources->host, status);
}

bool rtl_probe_resources_clear(struct rtl_probe_resources *resources, hsa_status_t *status)
{
    return start_copy(resources, resources->block, resources->gpu, resources->host + resources->dies, resources->cpu,
                      rtl_probe_block_bytes(resources->dies), status);
}

int64_t rtl_probe_resources_copying(const struct rtl_probe_resources *resources)
{
    const amd_signal_t *signal = (const amd_signal_t *)(uintptr_t)resources->copied.handle;
    return __atomic_load_n(&signal->value, __ATOMIC_ACQUIRE);
}

/* --- code --- */

struct kernel_search {
    struct rtl_probe_resources *resources; /* result */
    uint64_t original;                     /* kernel object of the original kernel */
    uint32_t kernels;
};

/* Query a symbol of the copy. False if a property is missing. */
static bool ask_symbol(struct rtl_probe_resources *resources, hsa_executable_symbol_t symbol, uint64_t original)
{
    hsa_status_t (*ask)(hsa_executable_symbol_t, hsa_executable_symbol_info_t, void *) =
        HSA->executable_symbol_get_info;
    uint32_t length = 0;
    if (ask(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &resources->kernel_object) != HSA_STATUS_SUCCESS ||
        ask(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &resources->private_bytes) !=
            HSA_STATUS_SUCCESS ||
        ask(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &resources->group_bytes) !=
            HSA_STATUS_SUCCESS ||
        ask(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, &length) != HSA_STATUS_SUCCESS ||
        length > RTL_PROBE_CODE_MAX)
        return false;
    char *name = calloc(1, (size_t)length + 1);
    bool known = name && ask(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name) == HSA_STATUS_SUCCESS;
    resources->has_its_name = known && rtl_kernels_is_named(original, name, strnlen(name, length));
    free(name);
    return known;
}

static hsa_status_t find_kernel_symbol(hsa_executable_t executable, hsa_executable_symbol_t symbol, void *data)
{
    struct kernel_search *search = data;
    hsa_symbol_kind_t kind = HSA_SYMBOL_KIND_VARIABLE;
    (void)executable;
    if (HSA->executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kind) == HSA_STATUS_SUCCESS &&
        kind == HSA_SYMBOL_KIND_KERNEL && ask_symbol(search->resources, symbol, search->original))
        search->kernels++;
    return HSA_STATUS_SUCCESS;
}

static void unload_code(struct rtl_probe_resources *resources)
{
    if (resources->executable.handle)
        HSA->executable_destroy(resources->executable);
    if (resources->reader.handle)
        HSA->code_object_reader_destroy(resources->reader);
    free(resources->code);
    resources->executable.handle = resources->reader.handle = resources->kernel_object = 0;
    resources->code = NULL;
}

static bool load_code(struct rtl_probe_resources *resources, size_t bytes, uint64_t kernel_object, hsa_status_t *status)
{
    struct kernel_search search = {resources, kernel_object, 0};
    *status = HSA->code_object_reader_create_from_memory(resources->code, bytes, &resources->reader);
    if (*status == HSA_STATUS_SUCCESS)
        *status = HSA->executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL,
                                             &resources->executable);
    if (*status == HSA_STATUS_SUCCESS)
        *status = HSA->executable_load_agent_code_object(resources->executable, resources->gpu, resources->reader, NULL,
                                                         NULL);
    /* the runtime's own function: the copy's name must not get a row */
    if (*status == HSA_STATUS_SUCCESS)
        *status = HSA->executable_freeze(resources->executable, NULL);
    if (*status == HSA_STATUS_SUCCESS)
        *status = HSA->executable_iterate_symbols(resources->executable, find_kernel_symbol, &search);
    return *status == HSA_STATUS_SUCCESS && search.kernels == 1 && resources->kernel_object;
}

bool rtl_probe_resources_load(struct rtl_probe_resources *resources, void *code, size_t bytes, uint64_t kernel_object,
                              hsa_status_t *status)
{
    resources->code = code;
    if (load_code(resources, bytes, kernel_object, status))
        return true;
    unload_code(resources);
    return false;
}

void rtl_probe_resources_free(struct rtl_probe_resources *resources)
{
    unload_code(resources);
    if (resources->copied.handle)
        HSA->signal_destroy(resources->copied);
    if (resources->host)
        HSA->amd_memory_pool_free(resources->host);
    if (resources->block)
        HSA->amd_memory_pool_free(resources->block);
    memset(resources, 0, sizeof *resources);
}
