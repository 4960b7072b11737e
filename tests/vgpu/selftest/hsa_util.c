/* hsa_util.c - implements hsa_util.h. */
#include "hsa_util.h"

#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void fail(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    exit(1);
}

static hsa_status_t on_agent(hsa_agent_t a, void *data)
{
    struct hsa *h = data;
    hsa_device_type_t type;
    CHECK(hsa_agent_get_info(a, HSA_AGENT_INFO_DEVICE, &type));
    if (type == HSA_DEVICE_TYPE_CPU)
        h->cpu = a;
    else if (h->gpus < MAX_AGENTS)
        h->gpu[h->gpus++] = a;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t on_host_pool(hsa_amd_memory_pool_t p, void *data)
{
    struct hsa *h = data;
    hsa_amd_segment_t segment;
    uint32_t flags;
    CHECK(hsa_amd_memory_pool_get_info(p, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
    if (segment != HSA_AMD_SEGMENT_GLOBAL)
        return HSA_STATUS_SUCCESS;
    CHECK(hsa_amd_memory_pool_get_info(p, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
    if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)
        h->kernarg = p;
    else if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED)
        h->host = p;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t on_vram_pool(hsa_amd_memory_pool_t p, void *data)
{
    hsa_amd_segment_t segment;
    bool can;
    CHECK(hsa_amd_memory_pool_get_info(p, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
    CHECK(hsa_amd_memory_pool_get_info(p, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &can));
    if (segment == HSA_AMD_SEGMENT_GLOBAL && can && !((hsa_amd_memory_pool_t *)data)->handle)
        *(hsa_amd_memory_pool_t *)data = p;
    return HSA_STATUS_SUCCESS;
}

void hsa_open(struct hsa *h)
{
    memset(h, 0, sizeof *h);
    CHECK(hsa_init());
    CHECK(hsa_iterate_agents(on_agent, h));
    REQUIRE(h->gpus > 0);
    CHECK(hsa_amd_agent_iterate_memory_pools(h->cpu, on_host_pool, h));
    for (int i = 0; i < h->gpus; i++)
        CHECK(hsa_amd_agent_iterate_memory_pools(h->gpu[i], on_vram_pool, &h->vram[i]));
}

hsa_executable_t load_code(const struct hsa *h, int gpu, const char *file)
{
    hsa_code_object_reader_t reader;
    hsa_executable_t e;
    int fd = open(file, O_RDONLY);
    if (fd < 0)
        fail("%s: cannot open", file);
    CHECK(hsa_code_object_reader_create_from_file(fd, &reader));
    CHECK(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &e));
    CHECK(hsa_executable_load_agent_code_object(e, h->gpu[gpu], reader, NULL, NULL));
    CHECK(hsa_executable_freeze(e, NULL));
    CHECK(hsa_code_object_reader_destroy(reader));
    close(fd);
    return e;
}

uint64_t kernel_object(hsa_executable_t e, const struct hsa *h, int gpu, const char *name)
{
    char full[512];
    hsa_executable_symbol_t s;
    uint64_t object;
    snprintf(full, sizeof full, "%s.kd", name);
    CHECK(hsa_executable_get_symbol_by_name(e, full, &h->gpu[gpu], &s));
    CHECK(hsa_executable_symbol_get_info(s, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object));
    return object;
}

static void on_queue_error(hsa_status_t status, hsa_queue_t *q, void *data)
{
    (void)q;
    (void)data;
    fprintf(stderr, "queue error 0x%x\n", (unsigned)status);
    _exit(3);
}

hsa_queue_t *make_queue(const struct hsa *h, int gpu, uint32_t size, bool profile)
{
    hsa_queue_t *q;
    CHECK(hsa_queue_create(h->gpu[gpu], size, HSA_QUEUE_TYPE_MULTI, on_queue_error, NULL, 0, 0, &q));
    if (profile)
        CHECK(hsa_amd_profiling_set_profiler_enabled(q, 1));
    return q;
}

void *alloc(const struct hsa *h, hsa_amd_memory_pool_t pool, size_t bytes)
{
    void *p;
    CHECK(hsa_amd_memory_pool_allocate(pool, bytes, 0, &p));
    CHECK(hsa_amd_agents_allow_access((uint32_t)h->gpus, h->gpu, NULL, p));
    return p;
}

hsa_signal_t signal_new(int64_t value)
{
    hsa_signal_t s;
    CHECK(hsa_signal_create(value, 0, NULL, &s));
    return s;
}

/* Write the packet into the next slot, without ringing the doorbell. */
static uint64_t write_packet(hsa_queue_t *q, const void *packet, uint16_t header)
{
    uint64_t i = hsa_queue_add_write_index_relaxed(q, 1);
    while (i - hsa_queue_load_read_index_scacquire(q) >= q->size)
        sched_yield();
    char *slot = (char *)q->base_address + (i & (q->size - 1)) * 64;
    memcpy(slot + 4, (const char *)packet + 4, 60);
    uint32_t first;
    memcpy(&first, packet, 4);
    __atomic_store_n((uint32_t *)(void *)slot, (first & 0xffff0000u) | header, __ATOMIC_RELEASE);
    return i;
}

uint64_t submit(hsa_queue_t *q, const void *packet, uint16_t header)
{
    uint64_t i = write_packet(q, packet, header);
    hsa_signal_store_screlease(q->doorbell_signal, (hsa_signal_value_t)i);
    return i;
}

#define HEADER(type, barrier)                                                              \
    (uint16_t)((type) << HSA_PACKET_HEADER_TYPE | (barrier) << HSA_PACKET_HEADER_BARRIER | \
               HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |         \
               HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE)

uint64_t dispatch(hsa_queue_t *q, uint64_t object, hsa_signal_t done, bool barrier)
{
    hsa_kernel_dispatch_packet_t p = {
        .setup = 1,
        .workgroup_size_x = 64,
        .workgroup_size_y = 1,
        .workgroup_size_z = 1,
        .grid_size_x = 64,
        .grid_size_y = 1,
        .grid_size_z = 1,
        .kernel_object = object,
        .completion_signal = done,
    };
    return submit(q, &p, HEADER(HSA_PACKET_TYPE_KERNEL_DISPATCH, barrier));
}

uint64_t barrier_unrung(hsa_queue_t *q, hsa_signal_t done)
{
    hsa_barrier_and_packet_t p = {.completion_signal = done};
    return write_packet(q, &p, HEADER(HSA_PACKET_TYPE_BARRIER_AND, true));
}

uint64_t barrier_and(hsa_queue_t *q, const hsa_signal_t *deps, int n, hsa_signal_t done, bool barrier)
{
    hsa_barrier_and_packet_t p = {.completion_signal = done};
    for (int i = 0; i < n; i++)
        p.dep_signal[i] = deps[i];
    return submit(q, &p, HEADER(HSA_PACKET_TYPE_BARRIER_AND, barrier));
}

void wait_zero(hsa_signal_t s)
{
    if (hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_LT, 1, 120000000000ull, HSA_WAIT_STATE_BLOCKED) != 0)
        fail("a signal didn't come within two minutes");
}

hsa_amd_profiling_dispatch_time_t times(const struct hsa *h, int gpu, hsa_signal_t s)
{
    hsa_amd_profiling_dispatch_time_t t;
    CHECK(hsa_amd_profiling_get_dispatch_time(h->gpu[gpu], s, &t));
    return t;
}
