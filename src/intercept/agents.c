/* Finds and describes the GPUs (agents.h). */
#include "intercept/agents.h"

#include <stdatomic.h>
#include <string.h>

#include "intercept/tool.h"

/* Not in the headers of release 5.2, asked of every runtime; those that don't know it say so. */
enum { AGENT_INFO_TIMESTAMP_FREQUENCY = 0xA016 };

static struct {
    struct rtl_gpu gpu[RTL_AGENTS_MAX]; /* create appends */
    _Atomic uint32_t count;             /* create stores (release), create loads */
} gpus;

static bool ask(hsa_agent_t agent, int what, void *answer)
{
    return rtl_tool.hsa.agent_get_info(agent, (hsa_agent_info_t)what, answer) == HSA_STATUS_SUCCESS;
}

static void describe(struct rtl_gpu *gpu)
{
    struct rtl_agent *shared = gpu->shared;
    char name[RTL_AGENT_NAME_MAX + 1] = "";
    uint32_t units = 0, bdf = 0, domain = 0;
    uint64_t hz = 0;

    ask(gpu->agent, HSA_AGENT_INFO_NAME, name); /* 64 bytes, says the specification */
    ask(gpu->agent, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, &units);
    ask(gpu->agent, HSA_AMD_AGENT_INFO_BDFID, &bdf);
    ask(gpu->agent, HSA_AMD_AGENT_INFO_DOMAIN, &domain);
    if (ask(gpu->agent, AGENT_INFO_TIMESTAMP_FREQUENCY, &hz) && hz)
        gpu->rate = rtl_tick_rate(hz);

    memcpy(shared->name, name, sizeof shared->name);
    shared->gpu = gpu->index;
    shared->agent_handle = gpu->agent.handle;
    shared->tick_hz = gpu->rate.hz;
    shared->bdf = domain << 16 | (bdf & 0xffff);
    shared->compute_units = units;
    __atomic_store_n(&shared->state, 1, __ATOMIC_RELEASE);
}

static struct rtl_gpu *find(hsa_agent_t agent)
{
    uint32_t n = atomic_load_explicit(&gpus.count, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++)
        if (gpus.gpu[i].agent.handle == agent.handle)
            return &gpus.gpu[i];
    return NULL;
}

struct stock {
    hsa_agent_t gpu[RTL_AGENTS_MAX];
    uint32_t count;
};

static hsa_status_t take_stock(hsa_agent_t agent, void *data)
{
    struct stock *stock = data;
    hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;
    if (ask(agent, HSA_AGENT_INFO_DEVICE, &type) && type == HSA_DEVICE_TYPE_GPU && stock->count < RTL_AGENTS_MAX)
        stock->gpu[stock->count++] = agent;
    return HSA_STATUS_SUCCESS;
}

struct rtl_gpu *rtl_gpu_find(hsa_agent_t agent)
{
    pthread_mutex_lock(&rtl_tool.create);
    struct rtl_gpu *gpu = find(agent);
    pthread_mutex_unlock(&rtl_tool.create);
    if (gpu)
        return gpu;

    struct stock stock = {.count = 0};
    rtl_tool.hsa.iterate_agents(take_stock, &stock);

    pthread_mutex_lock(&rtl_tool.create);
    for (uint32_t i = 0; i < stock.count; i++) {
        if (find(stock.gpu[i]))
            continue;
        /* A GPU keeps its place over a second load of the runtime, where its handle is another. */
        uint32_t n = atomic_load_explicit(&gpus.count, memory_order_relaxed);
        uint32_t place = i < n && gpus.gpu[i].agent.handle == 0 ? i : n;
        if (place >= RTL_AGENTS_MAX || !rtl_segment_populate(&rtl_tool.segment.agents[place], sizeof(struct rtl_agent)))
            break;
        struct rtl_gpu *made = &gpus.gpu[place];
        uint64_t busy_ns = __atomic_load_n(&rtl_tool.segment.agents[place].busy_ns, __ATOMIC_RELAXED);
        memset(made, 0, sizeof *made);
        made->agent = stock.gpu[i];
        made->index = place;
        made->shared = &rtl_tool.segment.agents[place];
        made->busy_before_ns = busy_ns;
        describe(made);
        if (place == n) {
            atomic_store_explicit(&gpus.count, n + 1, memory_order_release);
            __atomic_store_n(&rtl_tool.segment.header->agent_count, n + 1, __ATOMIC_RELAXED);
        }
    }
    gpu = find(agent);
    pthread_mutex_unlock(&rtl_tool.create);
    return gpu;
}

void rtl_gpus_forget(void)
{
    pthread_mutex_lock(&rtl_tool.create);
    uint32_t n = atomic_load_explicit(&gpus.count, memory_order_relaxed);
    for (uint32_t i = 0; i < n; i++)
        gpus.gpu[i].agent.handle = 0;
    pthread_mutex_unlock(&rtl_tool.create);
}
