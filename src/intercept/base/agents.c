/* Finds and describes the GPUs (agents.h). */
#include "intercept/base/agents.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "intercept/base/tool.h"

/* Not in the headers of release 5.2. We ask every runtime; one that doesn't know them returns an error. */
enum { AGENT_INFO_UUID = 0xA011, AGENT_INFO_TIMESTAMP_FREQUENCY = 0xA016 };

static struct {
    struct rtl_gpu gpu[RTL_AGENTS_MAX]; /* create appends */
    _Atomic uint32_t count;             /* create stores (release) and loads */
} gpus;

static bool query_agent(hsa_agent_t agent, int what, void *answer)
{
    return rtl_tool.hsa.agent_get_info(agent, (hsa_agent_info_t)what, answer) == HSA_STATUS_SUCCESS;
}

void rtl_gpu_set_rate(struct rtl_gpu *gpu, uint64_t hz)
{
    gpu->rate = rtl_tick_rate(hz);
    rtl_busy_classes(&gpu->busy, hz);
}

static void publish_gpu(struct rtl_gpu *gpu, hsa_agent_t agent)
{
    struct rtl_agent *shared = gpu->shared;
    char name[RTL_AGENT_NAME_MAX + 1] = "", uuid[64] = ""; /* the runtime's is 21 bytes at most */
    uint32_t units = 0, bdf = 0, domain = 0;
    uint64_t hz = 0;

    query_agent(agent, HSA_AGENT_INFO_NAME, name); /* 64 bytes by the specification */
    query_agent(agent, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, &units);
    query_agent(agent, HSA_AMD_AGENT_INFO_BDFID, &bdf);
    query_agent(agent, HSA_AMD_AGENT_INFO_DOMAIN, &domain);
    if (!query_agent(agent, AGENT_INFO_TIMESTAMP_FREQUENCY, &hz))
        hz = 0;
    if (hz && hz != gpu->rate.hz) /* the worker of an earlier load may still use it, and the rate is the same */
        rtl_gpu_set_rate(gpu, hz);
    /* "GPU-XX": the GPU has no UUID */
    if (!query_agent(agent, AGENT_INFO_UUID, uuid) || strncmp(uuid, "GPU-XX", 6) == 0)
        memset(uuid, 0, sizeof uuid);

    memcpy(shared->name, name, sizeof shared->name);
    memcpy(shared->uuid, uuid, sizeof shared->uuid);
    shared->gpu = gpu->index;
    shared->agent_handle = agent.handle;
    shared->tick_hz = hz;
    shared->bdf = domain << 16 | (bdf & 0xffff);
    shared->compute_units = units;
    __atomic_store_n(&shared->state, 1, __ATOMIC_RELEASE);
}

static struct rtl_gpu *find_known_gpu(hsa_agent_t agent)
{
    uint32_t n = atomic_load_explicit(&gpus.count, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++)
        if (__atomic_load_n(&gpus.gpu[i].agent.handle, __ATOMIC_ACQUIRE) == agent.handle)
            return &gpus.gpu[i];
    return NULL;
}

struct rtl_gpu *rtl_gpu_known(hsa_agent_t agent)
{
    return agent.handle ? find_known_gpu(agent) : NULL;
}

struct rtl_gpu *rtl_gpu_at(uint32_t index)
{
    if (index >= atomic_load_explicit(&gpus.count, memory_order_acquire))
        return NULL;
    return __atomic_load_n(&gpus.gpu[index].agent.handle, __ATOMIC_ACQUIRE) ? &gpus.gpu[index] : NULL;
}

struct gpu_agents {
    hsa_agent_t gpu[RTL_AGENTS_MAX];
    uint32_t count;
};

static void sum_idle(const struct rtl_gpu *gpu, struct rtl_idle idle[RTL_IDLE_COUNT])
{
    for (int c = 0; c < RTL_IDLE_COUNT; c++) {
        idle[c].count = gpu->idle_before[c].count + gpu->busy.idle_count[c];
        idle[c].total_ns = gpu->idle_before[c].total_ns + rtl_ticks_to_ns(&gpu->rate, gpu->busy.idle_total[c]);
    }
}

static uint64_t cause_ns(const struct rtl_gpu *gpu, int cause)
{
    return gpu->cause_before_ns[cause] + rtl_ticks_to_ns(&gpu->rate, gpu->busy.cause_total[cause]);
}

uint64_t rtl_gpu_busy_ns(struct rtl_gpu *gpu)
{
    return gpu->busy_before_ns + rtl_ticks_to_ns(&gpu->rate, rtl_busy_total(&gpu->busy));
}

static hsa_status_t append_gpu_agent(hsa_agent_t agent, void *data)
{
    struct gpu_agents *stock = data;
    hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;
    if (query_agent(agent, HSA_AGENT_INFO_DEVICE, &type) && type == HSA_DEVICE_TYPE_GPU &&
        stock->count < RTL_AGENTS_MAX)
        stock->gpu[stock->count++] = agent;
    return HSA_STATUS_SUCCESS;
}

struct rtl_gpu *rtl_gpu_find(hsa_agent_t agent)
{
    pthread_mutex_lock(&rtl_tool.create);
    struct rtl_gpu *gpu = find_known_gpu(agent);
    pthread_mutex_unlock(&rtl_tool.create);
    if (gpu)
        return gpu;

    struct gpu_agents stock = {.count = 0};
    rtl_tool.hsa.iterate_agents(append_gpu_agent, &stock);

    pthread_mutex_lock(&rtl_tool.create);
    for (uint32_t i = 0; i < stock.count; i++) {
        if (find_known_gpu(stock.gpu[i]))
            continue;
        /* A GPU keeps its index when the runtime is loaded again; its handle changes. */
        uint32_t n = atomic_load_explicit(&gpus.count, memory_order_relaxed);
        uint32_t place = i < n && gpus.gpu[i].agent.handle == 0 ? i : n;
        if (place >= RTL_AGENTS_MAX || !rtl_segment_populate(&rtl_tool.segment.agents[place], sizeof(struct rtl_agent)))
            break;
        struct rtl_gpu *made = &gpus.gpu[place];
        if (place == n) {
            made->index = place;
            made->shared = &rtl_tool.segment.agents[place];
            made->gaps = &rtl_tool.segment.gaps[place];
            if (!rtl_segment_populate(made->gaps, sizeof *made->gaps))
                made->gaps = NULL;
        }
        publish_gpu(made, stock.gpu[i]);
        __atomic_store_n(&made->agent.handle, stock.gpu[i].handle,
                         __ATOMIC_RELEASE); /* from now on find_known_gpu finds it */
        if (place == n) {
            atomic_store_explicit(&gpus.count, n + 1, memory_order_release);
            __atomic_store_n(&rtl_tool.segment.header->agent_count, n + 1, __ATOMIC_RELAXED);
        }
    }
    gpu = find_known_gpu(agent);
    pthread_mutex_unlock(&rtl_tool.create);
    return gpu;
}

static uint64_t mono_at(const struct rtl_gpu *gpu, uint64_t ticks)
{
    return gpu->line.slope > 0 ? rtl_line_at(&gpu->line, ticks) : 0;
}

static struct rtl_gap_record make_gap(const struct rtl_gpu *gpu, struct rtl_busy_gap *gap)
{
    if (!gap->start_mono_ns) /* only once: readers recognise a gap by its start, but the clocks' line moves */
        gap->start_mono_ns = mono_at(gpu, gap->start);
    struct rtl_gap_record made = {.start_mono_ns = gap->start_mono_ns,
                                  .length_ns = rtl_ticks_to_ns(&gpu->rate, gap->end - gap->start),
                                  .no_work_ns = rtl_ticks_to_ns(&gpu->rate, gap->no_work),
                                  .copies_ns = rtl_ticks_to_ns(&gpu->rate, gap->copies),
                                  .kernel_before = gap->before.known ? gap->before.row + 1u : 0,
                                  .kernel_after = gap->after.known ? gap->after.row + 1u : 0,
                                  .queue_before = gap->before.queue,
                                  .queue_after = gap->after.queue,
                                  .cause = gap->cause};
    return made;
}

/* Publish the list of the longest gaps. The caller does this only after a change of the list. */
static void publish_gaps(struct rtl_gpu *gpu)
{
    struct rtl_gpu_gaps *to = gpu->gaps;
    struct rtl_busy *busy = &gpu->busy;
    uint64_t *version = &to->version, at = gpu->gaps_version + 1;
    uint32_t n = 0;
    __atomic_store_n(version, at, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE); /* a reader that sees a later store sees the odd version */
    for (int slice = 0; slice < 2; slice++)
        for (uint32_t i = 0; i < busy->longest_count[slice]; i++, n++) {
            struct rtl_gap_record gap = make_gap(gpu, &busy->longest[slice][i]);
            uint64_t words[sizeof gap / 8], *out = (uint64_t *)(void *)&to->gap[n];
            memcpy(words, &gap, sizeof gap);
            for (size_t w = 0; w < sizeof gap / 8; w++)
                __atomic_store_n(&out[w], words[w], __ATOMIC_RELAXED);
        }
    __atomic_store_n(&to->count, n, __ATOMIC_RELAXED);
    __atomic_store_n(version, at + 1, __ATOMIC_RELEASE);
    gpu->gaps_version = at + 1;
    gpu->gaps_published = busy->changes;
}

static void publish_causes(struct rtl_gpu *gpu)
{
    if (!gpu->gaps)
        return;
    for (int c = 0; c < RTL_CAUSE_COUNT; c++)
        __atomic_store_n(&gpu->gaps->cause_ns[c], cause_ns(gpu, c), __ATOMIC_RELAXED);
    if (gpu->gaps_published != gpu->busy.changes)
        publish_gaps(gpu);
}

void rtl_gpus_publish_idle(bool all)
{
    uint32_t n = atomic_load_explicit(&gpus.count, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++) {
        struct rtl_gpu *gpu = &gpus.gpu[i];
        struct rtl_idle idle[RTL_IDLE_COUNT];
        uint64_t settled = gpu->busy.settled;
        if (gpu->rate.hz == 0)
            continue;
        rtl_busy_settle(&gpu->busy, all ? 0 : gpu->rate.hz);
        if (gpu->gaps && gpu->busy.count)
            __atomic_store_n(&gpu->gaps->last_end_mono_ns, mono_at(gpu, gpu->busy.span[gpu->busy.count - 1].end),
                             __ATOMIC_RELAXED);
        if (gpu->busy.settled == settled)
            continue;
        sum_idle(gpu, idle);
        for (int c = 0; c < RTL_IDLE_COUNT; c++) {
            __atomic_store_n(&gpu->shared->idle[c].count, idle[c].count, __ATOMIC_RELAXED);
            __atomic_store_n(&gpu->shared->idle[c].total_ns, idle[c].total_ns, __ATOMIC_RELAXED);
        }
        publish_causes(gpu);
    }
}

void rtl_gpus_carry_over(void)
{
    uint32_t n = atomic_load_explicit(&gpus.count, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++) {
        struct rtl_gpu *gpu = &gpus.gpu[i];
        gpu->busy_before_ns = rtl_gpu_busy_ns(gpu);
        sum_idle(gpu, gpu->idle_before);
        for (int c = 0; c < RTL_CAUSE_COUNT; c++)
            gpu->cause_before_ns[c] = cause_ns(gpu, c);
        memset(&gpu->rate, 0, offsetof(struct rtl_gpu, busy_before_ns) - offsetof(struct rtl_gpu, rate));
        memset(&gpu->busy, 0, offsetof(struct rtl_busy, span)); /* the lists are empty then */
        gpu->gaps_published = 0;
    }
}

void rtl_gpus_forget(void)
{
    pthread_mutex_lock(&rtl_tool.create);
    uint32_t n = atomic_load_explicit(&gpus.count, memory_order_relaxed);
    for (uint32_t i = 0; i < n; i++)
        __atomic_store_n(&gpus.gpu[i].agent.handle, 0, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&rtl_tool.create);
}
